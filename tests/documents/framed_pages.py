"""Pages as written by twelve kinds of site: content says "keep", page boilerplate says "drop"."""

from __future__ import annotations

_TEXT = """<h1>Pump BW-310, keep</h1><p>The pump delivers 40 litres a minute, keep.</p>
<h2>Replace the seal, keep</h2><p>You need two wrenches, keep:</p><ol><li>Close the valve, keep.</li>
<li>Remove the cover, keep:<ul><li>loosen both bolts, keep</li><li>lift it, keep</li></ul></li>
<li>Replace the seal, keep.</li></ol>
<dl><dt>Head, keep</dt><dd>The height to which it lifts water, keep.</dd></dl>
<table><caption>Prices in euros, keep</caption><tr><th>Model, keep</th><th>Price, keep</th></tr>
<tr><td>BW-310, keep</td><td>1,360, keep</td></tr><tr><td>BW-420, keep</td><td>1,910, keep</td></tr></table>
<blockquote><p>It runs for years, keep.</p><footer>Ann Bee, keep</footer></blockquote>
<figure><img src="a.png"><figcaption>Figure 1: the seal, keep</figcaption></figure>
<p>The warranty ends after five years, keep, unless the seal was changed by others, keep.</p>"""
_LINKS = "<ul><li><a href=/a>Products drop</a></li><li><a href=/b>Support drop</a></li></ul>"
_LEGAL = "<p>© 2026 Seller Ltd, drop.</p><a href=/i>Imprint drop</a>"

PAGES = {
    "plain": f"<body>{_TEXT}</body>",
    "semantic": f"<body><header><nav>{_LINKS}</nav></header><main>{_TEXT}</main>"
    f"<footer>{_LEGAL}</footer></body>",
    "docs": f"<body><a class=skip-link href=#m>Skip, drop</a><div class=sphinxsidebar>{_LINKS}</div>"
    f"<div class=body role=main>{_TEXT}</div><div role=navigation aria-label=related>{_LINKS}</div>"
    f"<div role=contentinfo>{_LEGAL}</div></body>",
    "book": f"<body><nav class=navbar>{_LINKS}</nav><article>{_TEXT}<nav class=pagination-nav>{_LINKS}</nav>"
    f"</article><footer class=footer>{_LEGAL}</footer></body>",
    "blog": f"<body class=single-post><div id=site-navigation>{_LINKS}</div><article>{_TEXT}</article>"
    f"<div class=site-footer>{_LEGAL}</div></body>",
    "wiki": f"<body><div id=mw-navigation>{_LINKS}</div><div id=content>{_TEXT}<span class=mw-editsection>"
    f"[edit, drop]</span></div><div id=footer role=contentinfo>{_LEGAL}</div></body>",
    "cookies": "<body><div id=onetrust-consent-sdk><p>We use cookies to improve your visit, drop.</p>"
    f"<button>Accept drop</button></div><div class=breadcrumbs><a>Home drop</a> › <a>Pumps drop</a></div>"
    f"{_TEXT}</body>",
    "policy": "<body><div class=cookie-banner>Accept all, drop.</div><section id=cookies>"
    f"<h2>Cookies, keep</h2><p>We keep cookies for a year, keep.</p></section>{_TEXT}</body>",
    "crumbs": f"<body><ol class=breadcrumb><li>Home drop</li></ol><main>{_TEXT}</main></body>",
    "intranet": f"<body><div class=top-nav>{_LINKS}</div><div class=content>{_TEXT}</div>"
    f"<div class=page-footer>{_LEGAL}</div></body>",
    "columns": "<body><table><tr><td><ul role=navigation><li>Products drop</ul></td>"
    f"<td>{_TEXT}</td></tr></table></body>",
    "lunch": f"<body><nav>{_LINKS}</nav><div class=menu><h2>Menu of the canteen, keep</h2><ul>"
    f"<li><a href=/s>Soup, keep</a></li><li><a href=/p>Pasta, keep</a></li></ul></div>{_TEXT}</body>",
}
