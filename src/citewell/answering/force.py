"""What is in force on the day in question: passages without superseded text, and its disclosure.

In: supersessions from the last ingest, the day in question (``as_of``, else the end of a past period that
the question names, else today), passages, checked claims. Out: passages, for gate and writer, that keep only
the text in force; a :class:`Conflict` for each superseded span that would have answered, with its
replacement. Nothing is hidden: an older edition is disclosed with the newer one. A document's statement about
another that it has no authority over changes nothing and is shown as a conflict. A question limited to one
document reads all of it. Independent of models and the log.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from citewell.core.errors import EvidenceError
from citewell.core.prompts.loading import load_prompt
from citewell.core.records import (
    Amending,
    Chunk,
    Citation,
    Claim,
    Conflict,
    Document,
    Passage,
    Standing,
    Supersession,
)
from citewell.questions.evidence import Answer, answer_place
from citewell.questions.naming import usable
from citewell.questions.parsing import read_question
from citewell.questions.quotable import cite

if TYPE_CHECKING:
    from citewell.retrieval import Filters, Retrieved

MOST, LONGEST = 3, 300
"""MOST documents are searched for replacements and MOST superseded spans disclosed per aspect; LONGEST: the
characters of a quote."""
CONFLICT = load_prompt("frame_conflict", ("about", "sides"))
SIDE = load_prompt("frame_side", ("quote", "document", "date"))
SUPERSEDED = load_prompt("frame_superseded", ("when", "old", "reason"))
_ENDED = {
    Standing.DELETED: "; deleted{by}",
    Standing.REPLACED: "; replaced{by}",
    Standing.EDITION: "; superseded{by}",
    Standing.EXPIRED: "; it expired",
    Standing.EARLY: "",
}

Place = tuple[int, int]


@dataclass(frozen=True)
class InForce:
    """``superseded`` returns the supersessions stated about the given documents; ``counts`` whether the
    operator gives the stating document authority over the other; ``access`` the access lists; ``document``
    the stored document of a (version, id); it raises EvidenceError."""

    superseded: Callable[[Iterable[str]], Sequence[Supersession]]
    counts: Callable[[Supersession], bool]
    access: Callable[[Iterable[str]], Mapping[str, tuple[str, ...] | None]]
    document: Callable[[str, str], Document]


def _none(version: str, document_id: str) -> Document:
    raise EvidenceError(f"{document_id} is not stored", hint="ingest it")


NOTHING = InForce(lambda ids: (), lambda one: True, lambda ids: {}, _none)


@dataclass(frozen=True)
class Force:
    """For one ``day`` and an asker in ``groups`` (None: all). ``asked``: the day as given, or the last one of
    the period that the question names (``period``: it names one), "" for today. ``whole``: the question is
    limited to one document, which is read in full."""

    known: InForce
    day: str = ""
    asked: str = ""
    period: bool = False
    groups: tuple[str, ...] | None = None
    whole: bool = False
    _held: dict[str, tuple[Supersession, ...]] = field(default_factory=dict)
    _documents: dict[tuple[str, ...], Document] = field(default_factory=dict)

    def of(self, document_id: str, version: str) -> tuple[Supersession, ...]:
        """What is not in force in this version on that day, according to documents with authority over it."""
        return tuple(one for one in self._said_of(document_id, version) if self.known.counts(one))

    def _said_of(self, document_id: str, version: str) -> tuple[Supersession, ...]:
        """The supersessions of it stated by any document that the asker may see."""
        if document_id not in self._held:
            found = [one for one in self.known.superseded([document_id]) if one.holds(self.day)]
            acls = self.known.access([one.by for one in found if one.by])
            self._held[document_id] = tuple(
                one for one in found if (self._sees(acls.get(one.by)) if one.by else self._ends(one))
            )
        return tuple(one for one in self._held[document_id] if one.what_version == version)

    def at(self, place: Citation) -> Supersession | None:
        """What supersedes the cited span; None if it is in force."""
        found = self.of(place.document_id, place.document_version)
        return next((one for one in found if place.start < one.end and one.start < place.end), None)

    def only_in_force(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages with text not in force blanked out, without those that are left empty."""
        if self.whole:
            return tuple(passages)
        places = [[(one.start, one.end) for one in self._on(passage.chunk)] for passage in passages]
        pairs = zip(passages, places, strict=True)
        kept = [_blanked(passage, at) if at else passage for passage, at in pairs]
        return tuple(passage for passage in kept if passage.chunk.content.strip())

    def superseded_text(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The usable passages with only the text not in force; the rest is blanked out."""
        found = []
        for passage in usable(passages):
            chunk = passage.chunk
            places = _merged(
                (max(one.start, chunk.start_offset), min(one.end, chunk.end_offset))
                for one in self._on(chunk)
            )
            edges = [chunk.start_offset, *(edge for place in places for edge in place), chunk.end_offset]
            between = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]
            found += [_blanked(passage, between)] if places else []
        return tuple(found)

    def _on(self, chunk: Chunk) -> list[Supersession]:
        found = self.of(chunk.document_id, chunk.document_version)
        return [one for one in found if one.start < chunk.end_offset and chunk.start_offset < one.end]

    def _ends(self, one: Supersession) -> bool:
        """For a question about the past, text that takes effect later is out of force only if something else
        was in force before it."""
        return one.standing is not Standing.EARLY or not self.period

    def _sees(self, acl: tuple[str, ...] | None) -> bool:
        return acl is not None and (self.groups is None or not acl or bool({*acl} & {*self.groups}))

    def rests_on_it(self, claims: Iterable[Claim]) -> bool:
        """Whether a shown claim cites text that is not in force."""
        return any(
            self.at(citation) is not None for claim in claims if claim.shown for citation in claim.citations
        )

    def replacements(
        self, passages: Sequence[Passage], search: Callable[[str], Retrieved]
    ) -> tuple[tuple[Passage, ...], list[str]]:
        """``passages`` and the replacements of usable ones that are not in force, now relevant, and notes on
        them. ``search`` searches one document."""
        wanted: dict[str, list[Supersession]] = {}
        for passage in () if self.whole else usable(passages):
            for one in self._on(passage.chunk):
                if one.by:
                    wanted.setdefault(one.by, []).append(one)
        here = {(p.chunk.document_id, p.chunk.chunk_id): p for p in passages}
        for document_id in [*wanted][:MOST]:
            read = {key for key, passage in here.items() if passage.relevant}
            found = [p for p in search(document_id).pool if (document_id, p.chunk.chunk_id) not in read]
            # The words that replace a relevant span are read instead of it, whatever their rank.
            fresh = [p for p in found if p.relevant or _states(p.chunk, wanted[document_id])]
            for passage in fresh[:MOST]:
                known = here.get((document_id, passage.chunk.chunk_id), passage)
                here[document_id, passage.chunk.chunk_id] = msgspec.structs.replace(known, relevant=True)
        told = [f"{name} supersedes part of what was found" for name in [*wanted][:MOST]]
        return tuple(here.values()), told

    def with_old_wording(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages, each with what its statements change in the usable ones: the amending words alone
        rarely say what they are about."""
        changed: dict[str, list[Amending]] = {}
        for passage in () if self.whole else usable(passages):
            for one in self._on(passage.chunk):
                if one.by and one.section:
                    old = self._document(one.what_version, one.what).text[one.start : one.end][:LONGEST]
                    place = {"start": one.source_start, "end": one.source_end}
                    changed.setdefault(one.by, []).append(Amending(**place, old=old, chunk=passage.chunk))
        return tuple(_amending(passage, changed.get(passage.chunk.document_id, ())) for passage in passages)

    def disclosed_conflicts(
        self,
        conflicts: Sequence[Conflict],
        aspects: Sequence[str],
        passages: Sequence[Passage],
        claims: Sequence[Claim],
        reader: Callable[[str, Sequence[Passage]], Sequence[Answer]],
    ) -> tuple[Conflict, ...]:
        """``conflicts``, and each superseded span that is shown, is in conflict with what is shown or would,
        according to ``reader``, have answered an aspect, with its replacement."""
        shown = [citation for claim in claims if claim.shown for citation in claim.citations]
        dates = {p.chunk.document_id: p.chunk.published_at for p in passages}
        said = [
            (conflict.about, side, [other for other in conflict.sides if self.at(other) is None])
            for conflict in conflicts
            if any(_overlap(side, citation) for side in conflict.sides for citation in shown)
            for side in conflict.sides
        ]
        said += [(citation.quote[:160], citation, shown) for citation in shown]
        struck = self.superseded_text(passages)
        for aspect in aspects if struck else ():
            said += [(aspect, _cited(answer), shown) for answer in reader(aspect, struck)[:MOST]]
        told = [self._told(about, old, one, new, dates) for about, old, new in said if (one := self.at(old))]
        kept = [one for one in conflicts if all(self.at(side) is None for side in one.sides)]
        kept += self._contested(shown, dates)
        apart: list[Conflict] = []
        for conflict in told:
            if not any(_overlap(conflict.sides[0], other.sides[0]) for other in apart):
                apart.append(conflict)
        found = (*apart, *kept)
        return tuple(msgspec.structs.replace(one, sides=self.located(one.sides)) for one in found)

    def located(self, places: Iterable[Citation]) -> tuple[Citation, ...]:
        """``places`` with their rectangles, which also say what was read by OCR; without, if the document
        was erased since."""
        found = []
        for place in places:
            try:
                document = self._document(place.document_version, place.document_id)
                found.append(msgspec.structs.replace(place, boxes=document.boxes_in(place.start, place.end)))
            except EvidenceError:
                found.append(place)
        return tuple(found)

    def _document(self, *of: str) -> Document:
        if of not in self._documents:
            self._documents[of] = self.known.document(*of)
        return self._documents[of]

    def _contested(self, shown: Sequence[Citation], dates: Mapping[str, str]) -> list[Conflict]:
        """Shown text that a document without authority over it declares not in force: both sides are
        disclosed, and nothing is decided."""
        found: dict[tuple[str, int], Conflict] = {}
        for citation in shown:
            for one in self._said_of(citation.document_id, citation.document_version):
                over = citation.start < one.end and one.start < citation.end
                if one.by and over and not self.known.counts(one):
                    conflict = Conflict(
                        about=citation.quote[:160],
                        sides=(citation, *self._source(one)),
                        dates=(dates.get(citation.document_id, ""), dates.get(one.by) or one.from_date),
                    )
                    found.setdefault((one.by, one.source_start), conflict)
        return list(found.values())

    def _told(
        self,
        about: str,
        old: Citation,
        one: Supersession,
        shown: Sequence[Citation],
        dates: Mapping[str, str],
    ) -> Conflict:
        fitting = [
            citation
            for citation in shown
            if citation.document_id == one.by and self.at(citation) is None
            if not one.section or (citation.start < one.source_end and one.source_start < citation.end)
        ]
        new = fitting[:1] or self._source(one)
        day = dates.get(one.by) or one.from_date
        return Conflict(
            about=about,
            sides=(old, *new),
            dates=(dates.get(old.document_id, ""), *(day for _ in new)),
            supersession=one,
        )

    def _source(self, one: Supersession) -> list[Citation]:
        """The superseding statement; for an edition, its first line."""
        if not one.by:
            return []
        text = self._document(one.by_version, one.by).text
        end = min(one.source_end, one.source_start + LONGEST, len(text))
        return [
            Citation(
                chunk_id="",
                document_id=one.by,
                document_version=one.by_version,
                start=one.source_start,
                end=end,
                quote=text[one.source_start : end],
                answer_start=-1,
                answer_end=-1,
                mode="superseding",
            )
        ]


NONE = Force(NOTHING)


def force_on(known: InForce, question: str, as_of: str, filters: Filters, today: str) -> Force:
    """For a question asked ``today``, an ISO date."""
    period = "" if as_of else _day_of(question, today)
    return Force(
        known,
        day=as_of or period or today,
        asked=as_of or period,
        period=bool(period),
        groups=filters.groups,
        whole=filters.document_id is not None,
    )


def describe_conflicts(conflicts: Sequence[Conflict]) -> str:
    """One sentence per conflict, with the quotes, documents and dates, for an answer that must not choose."""
    sentences = []
    for conflict in conflicts:
        if conflict.supersession is not None:
            sentences.append(_superseded(conflict, conflict.supersession))
            continue
        dates = [*conflict.dates, *[""] * len(conflict.sides)]
        sides = [_side(side, date) for side, date in zip(conflict.sides, dates, strict=False)]
        sentences.append(CONFLICT.fill(about=conflict.about, sides="; ".join(sides)).strip())
    return "\n".join(sentences)


def _superseded(conflict: Conflict, one: Supersession) -> str:
    old, *new = (_side(side, date) for side, date in zip(conflict.sides, conflict.dates, strict=True))
    since = f" since {one.from_date}" if one.from_date else ""
    when = f" before {one.until}" if one.until else since
    by = f" by {new[0]}" if new else ""
    return SUPERSEDED.fill(when=when, old=old, reason=_ENDED[one.standing].format(by=by)).strip()


def _side(side: Citation, date: str) -> str:
    quote = " ".join(side.quote.split())
    dated = f", {date}" if date else ", no date"
    told = f"{dated}, {side.ocr}" if side.ocr else dated
    return SIDE.fill(quote=quote, document=side.document_id, date=told).strip()


def _blanked(passage: Passage, places: Sequence[Place]) -> Passage:
    """Blanks the places except for line breaks, and drops the likeliest answer if it lies in one of them."""
    chunk, content = passage.chunk, passage.chunk.content
    for start, end in places:
        a, b = max(0, start - chunk.start_offset), min(len(content), end - chunk.start_offset)
        if a < b:
            content = content[:a] + "".join("\n" if c == "\n" else " " for c in content[a:b]) + content[b:]
    rows = tuple(row for row in chunk.rows if not any(row.start < b and a < row.end for a, b in places))
    best = passage.likeliest
    return msgspec.structs.replace(
        passage,
        chunk=msgspec.structs.replace(chunk, content=content, rows=rows),
        likeliest=None if best and any(best.start < b and a < best.end for a, b in places) else best,
    )


def _amending(passage: Passage, changed: Sequence[Amending]) -> Passage:
    chunk = passage.chunk
    amends = {
        (one.start, one.end): one
        for one in changed
        if chunk.start_offset <= one.start and one.end <= chunk.end_offset
    }
    return msgspec.structs.replace(passage, amends=tuple(amends.values())) if amends else passage


def _merged(places: Iterable[Place]) -> list[Place]:
    """Sorted and disjoint."""
    merged: list[Place] = []
    for start, end in sorted(places):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _states(chunk: Chunk, all_: Sequence[Supersession]) -> bool:
    """Whether the chunk contains the statement, with the new wording, of one of them."""
    return any(
        one.section and one.source_start < chunk.end_offset and chunk.start_offset < one.source_end
        for one in all_
    )


def _cited(answer: Answer) -> Citation:
    start, end, _ = answer_place(answer)
    return cite(answer.passage.chunk, start, end, "superseded")


def _overlap(one: Citation, other: Citation) -> bool:
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


def _day_of(question: str, today: str) -> str:
    """The last day of the latest period that the question names if it is past, else ""."""
    ends = []
    for period in read_question(question).periods:
        month = period.month or (3 * period.quarter if period.quarter else 12)
        day = period.day or calendar.monthrange(period.year, month)[1]
        ends.append(f"{period.year:04}-{month:02}-{day:02}")
    return max(ends) if ends and max(ends) < today else ""
