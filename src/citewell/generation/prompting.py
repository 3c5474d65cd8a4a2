"""Builds the prompt for a language model: rules, form, example, sources, question, and earlier failures; and
the grammar in which a quote can only be a contiguous run of words from the passage that its label names.

In: a request for a draft and the form to ask for. Out: a :class:`Prompted`, and the prompt files it uses;
grammar text for the inline form, in llguidance's Lark dialect (vLLM structured outputs, transformers,
llama.cpp built with it) and in GBNF (any llama.cpp). Text outside the quotes is free, except for brackets and
line breaks. Independent of who answers and how the answer is parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from citewell.core.config import Writer
from citewell.core.ports import Form, GenerationRequest, Prompted
from citewell.core.prompts.loading import Prompt, load_prompt
from citewell.core.records import Passage
from citewell.generation.sources import BLOCK, LabelledSources, sanitise_source
from citewell.generation.structured import SCHEMA
from citewell.verification.claims.pieces import ABSTENTIONS

RULES = load_prompt("writer_rules", ("abstention",))
QUESTION = load_prompt("writer_question", ("sources", "strict", "question", "parts"))
QUESTION_NATIVE = load_prompt("writer_question_native", ("strict", "question", "parts"))
STRICT = load_prompt("writer_strict", ("failures",))
REQUOTE = load_prompt("writer_requote", ("statements",))
_INLINE, _STRUCTURED = load_prompt("writer_inline", ()), load_prompt("writer_schema", ())
FORMS: dict[Form, Prompt] = {
    Form.GRAMMAR: _INLINE,
    Form.NATIVE: load_prompt("writer_native", ()),
    Form.SCHEMA: _STRUCTURED,
    Form.INLINE: _INLINE,
}
_INLINE_EXAMPLE = load_prompt("writer_example_inline", ())
EXAMPLES: dict[Form, Prompt] = {
    Form.GRAMMAR: _INLINE_EXAMPLE,
    Form.SCHEMA: load_prompt("writer_example_schema", ()),
    Form.INLINE: _INLINE_EXAMPLE,
}


def prompt_for(
    request: GenerationRequest, sources: LabelledSources, form: Form, settings: Writer
) -> Prompted:
    """Seed 0 uses the temperature of the shown draft, other seeds that of sampling."""
    example = EXAMPLES.get(form) if settings.example else None
    parts = [RULES.fill(abstention=ABSTENTIONS[0]), FORMS[form].fill()]
    parts += [example.fill()] if example else []
    strict = "".join(
        (
            STRICT.fill(failures="\n".join(f"- {text}" for text in request.strict)) if request.strict else "",
            REQUOTE.fill(statements=_requoted(request, sources)) if request.requote else "",
        )
    )
    aspects = request.aspects if len(request.aspects) > 1 else ()
    listed = "\n".join(f"Part {number}: {aspect}" for number, aspect in enumerate(aspects, 1))
    native = form is Form.NATIVE
    if native:
        user = QUESTION_NATIVE.fill(strict=strict, question=request.question, parts=listed)
    else:
        user = QUESTION.fill(sources=sources.blocks, strict=strict, question=request.question, parts=listed)
    return Prompted(
        system="\n".join(parts).strip(),
        user=user.strip(),
        schema=SCHEMA if form is Form.SCHEMA else None,
        grammar=GRAMMARS[settings.dialect](sources.passages) if form is Form.GRAMMAR else "",
        dialect=settings.dialect,
        sources=sources.texts if native else (),
        temperature=settings.sampling_temperature if request.seed else settings.temperature,
        seed=request.seed,
        max_tokens=settings.max_tokens,
    )


def _requoted(request: GenerationRequest, sources: LabelledSources) -> str:
    """Each statement with the words that support it, under the label of their source in the prompt."""
    labels = {passage.chunk.chunk_id: f"SOURCE_{n}" for n, passage in enumerate(sources.passages, 1)}
    return "\n".join(
        f"- {one.claim}\n  {labels[one.quote.source]}: "
        f'"{sanitise_source(" ".join(one.quote.text.split()))[0]}"'
        for one in request.requote
        if one.quote.source in labels
    )


def prompt_files(form: Form, settings: Writer) -> tuple[Prompt, ...]:
    """Every file that ``form`` may use; a draft in that form carries the hash over them."""
    files = [RULES, FORMS[form], STRICT, REQUOTE, QUESTION_NATIVE if form is Form.NATIVE else QUESTION]
    files += [] if form is Form.NATIVE else [BLOCK]
    files += [EXAMPLES[form]] if settings.example and form in EXAMPLES else []
    return tuple(files)


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
