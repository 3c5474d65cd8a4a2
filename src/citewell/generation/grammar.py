"""Grammars in which a quote can only be a contiguous run of words from the passage that its label names.

In: passages in the order of their labels. Out: grammar text for the inline form, in llguidance's Lark dialect
(vLLM structured outputs, transformers, llama.cpp built with it) and in GBNF (any llama.cpp). Text outside the
quotes is free, except for brackets and line breaks. Independent of models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from citewell.core.records import Passage
from citewell.generation.sources import sanitise_source
from citewell.verification.claims.phrases import ABSTENTIONS

_STATEMENT = r'/[^\[\]\n"\u201c\u201d]{1,400}[.!?]/'


def quotable(passage: Passage) -> str:
    """The passage's words as its block shows them, with white space collapsed."""
    return " ".join(sanitise_source(passage.chunk.content)[0].split())


def quote_grammar(passages: Sequence[Passage]) -> str:
    """For llguidance: ``start`` is lines of evidence and statement, inferences and missing things."""
    names = [f"from_{number}" for number in range(1, len(passages) + 1)]
    rules = [
        "start: answer | ABSTENTION",
        'answer: line ("\\n" line)*',
        "line: stated | missing",
        'stated: evidence (" " evidence)* " " STATEMENT reasoned?',
        'reasoned: " [inference: " WORDS "]"',
        'missing: "[missing: " WORDS "]"',
        f"evidence: {' | '.join(names)}",
        f"STATEMENT: {_STATEMENT}",
        r'WORDS: /[^\[\]\n"]{1,200}/',
        f"ABSTENTION: {json.dumps(ABSTENTIONS[0])}",
    ]
    for number, (name, passage) in enumerate(zip(names, passages, strict=True), 1):
        # Our own words, each with its blank: the library's own split allows double blanks.
        chunks = [f" {word}" for word in quotable(passage).split()]
        words = json.dumps({"substring_chunks": chunks}, ensure_ascii=False)
        rules.append(f'{name}: "[SOURCE_{number}: \\"" quote_{number} "\\"]"')
        rules.append(f"quote_{number}: %regex {words}")
    return "\n".join(rules) + "\n"


def quote_gbnf(passages: Sequence[Passage]) -> str:
    """The same for llama.cpp: each word may be followed by the next one of its passage, or by the end.

    Size is linear in the words of the passages.
    """
    numbers = range(1, len(passages) + 1)
    rules = [
        f"root ::= answer | {_literal(ABSTENTIONS[0])}",
        'answer ::= line ("\\n" line)*',
        "line ::= stated | missing",
        'stated ::= evidence (" " evidence)* " " statement (" [inference: " words "]")?',
        'missing ::= "[missing: " words "]"',
        f"evidence ::= {' | '.join(f'from-{number}' for number in numbers)}",
        r'statement ::= [^\[\]\n"]{1,400} [.!?]',
        r'words ::= [^\[\]\n"]{1,200}',
    ]
    for number, passage in zip(numbers, passages, strict=True):
        words = quotable(passage).split()
        starts = " | ".join(f"w-{number}-{place}" for place in range(len(words)))
        rules.append(f'from-{number} ::= "[SOURCE_{number}: \\"" quote-{number} "\\"]"')
        rules.append(f"quote-{number} ::= {starts}")
        for place, word in enumerate(words):
            last = place == len(words) - 1
            follows = "" if last else f' (" " w-{number}-{place + 1})?'
            rules.append(f"w-{number}-{place} ::= {_literal(word)}{follows}")
    return "\n".join(rules) + "\n"


def _literal(word: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", word) + '"'


GRAMMARS: dict[str, Callable[[Sequence[Passage]], str]] = {"lark": quote_grammar, "gbnf": quote_gbnf}
