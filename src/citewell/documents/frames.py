"""What frames every page of a site: navigation, page footers, cookie notices.

In: an HTML element and those it stands in. Out: what it is, "" for part of the content. By the elements, the
ARIA roles and the names of classes that are made for them; a name alone counts only if it can mean nothing
else. Knows nothing about how text is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NAVIGATION, FOOTERS, COOKIES = "navigation", "page footers", "cookie notices"
_ROLES = {
    "navigation": NAVIGATION,
    "menubar": NAVIGATION,
    "doc-pagelist": NAVIGATION,
    "contentinfo": FOOTERS,
}
_OWN_FOOTER = frozenset(("article", "section", "main", "blockquote", "figure", "aside", "dialog", "td", "li"))
"""Inside of these a footer is theirs, not the page's."""
_NAMES = {
    NAVIGATION: re.compile(
        r"(?:wiki)?(?:bread)?crumbs?|(?:top|side|main|site|page|global|local|sub|primary|secondary)[-_]?"
        r"nav(?:igation|bar)?|navbar|nav[-_]?(?:menu|links|bar)|skip[-_]?(?:links?|nav|to[-_]content)|"
        r"pagination|pager|rellinks|mw-navigation|mw-editsection|sphinxsidebar|prev[-_]next"
    ),
    FOOTERS: re.compile(r"(?:site|page|global|main)[-_]?footer|footer[-_](?:links|nav|bottom)|colophon"),
}
_COOKIE_WORDS = ("cookie", "consent", "gdpr", "onetrust", "cmplz")
_BOX_WORDS = ("banner", "bar", "notice", "popup", "modal", "dialog", "overlay", "prompt", "sdk", "window")


def frame(tag: str, attributes: Mapping[str, str], inside: Iterable[str]) -> str:
    """NAVIGATION, FOOTERS or COOKIES; "" for content. ``inside`` are the elements around it."""
    if tag in ("html", "body", "main", "article"):
        return ""
    if tag == "nav":
        return NAVIGATION
    if tag == "footer":
        return "" if _OWN_FOOTER.intersection(inside) else FOOTERS
    if reason := _ROLES.get(attributes.get("role", "").strip().lower()):
        return reason
    names = (*attributes.get("class", "").split(), attributes.get("id", ""), attributes.get("aria-label", ""))
    for name in map(str.lower, names):
        if any(word in name for word in _COOKIE_WORDS) and any(word in name for word in _BOX_WORDS):
            return COOKIES
        for reason, pattern in _NAMES.items():
            if pattern.fullmatch(name):
                return reason
    return ""
