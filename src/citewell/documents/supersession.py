"""What is no longer in force: amendments, editions, expiry dates, resolved to places in documents.

In: the documents of a home, what each states (:mod:`citewell.documents.statements`). Out: values of
:class:`Supersession`, and notes on statements that match nothing here: a statement that does not resolve to
one place has no effect. Two documents with one title are editions if each has a number or an effective date
and they share enough words. Knows nothing about questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from citewell.core.addresses import source_of
from citewell.core.environment import environment
from citewell.core.errors import EvidenceError
from citewell.core.records import Document, Standing, Supersession
from citewell.documents.evidence.catalogue import WITHDRAWN
from citewell.documents.statements import (
    ALIASES,
    SKETCH,
    DocumentName,
    DocumentStatements,
    Statement,
    find_section,
    name_of,
    read_statements,
    readable_id,
    sentence_with,
)

if TYPE_CHECKING:
    from citewell.documents.evidence.sqlite import SqliteEvidence

_ALIKE = 0.3
"""The least share of words that two editions of one document have in common."""

_STATED, _GIVEN, _FOUND = "stated", "superseding", "superseded"


def settle(evidence: SqliteEvidence) -> tuple[tuple[str, str], ...]:
    """Works out what is superseded among the documents that are not withdrawn, and stores it. Returns
    (document id, note) for each statement that matches no place here. A release reads each version once."""
    known, release = _known(evidence), environment()["citewell"]
    current = {e.document_id: e.version for e in evidence.catalogue() if e.state != WITHDRAWN}
    kept = {}
    for document_id, version in current.items():
        held = known.get(document_id)
        if held is None or held.version != version:
            with suppress(EvidenceError):  # erased or damaged, which is reported when it is read
                read = read_statements(evidence.get(version, document_id))
                kept[document_id] = msgspec.structs.replace(read, release=release)
        else:
            kept[document_id] = held

    def document_of(document_id: str) -> Document:
        return evidence.get(current[document_id], document_id)

    given = [(newer, older) for newer, olders in declared_replacements(evidence).items() for older in olders]
    found, notes = resolve(list(kept.values()), given, document_of)
    by_what: dict[str, list[Supersession]] = {}
    for one in found:
        by_what.setdefault(one.what, []).append(one)
    evidence.derive(_STATED, {name: msgspec.msgpack.encode(one) for name, one in kept.items()})
    evidence.derive(_FOUND, {name: msgspec.json.encode(all_) for name, all_ in by_what.items()})
    return notes


def _known(evidence: SqliteEvidence) -> dict[str, DocumentStatements]:
    """What this release stored of each document's statements."""
    release, known = environment()["citewell"], {}
    for name, body in evidence.derived(_STATED).items():
        with suppress(msgspec.MsgspecError):  # written by another release
            held = msgspec.msgpack.decode(body, type=DocumentStatements)
            if held.release == release:
                known[name] = held
    return known


def stale_statements(evidence: SqliteEvidence) -> Iterator[tuple[str, str]]:
    """The documents (id, version) whose stored statements differ from their text: the next :func:`settle`
    would trust what is stored."""
    current = {entry.document_id: entry.version for entry in evidence.catalogue()}
    for name, held in _known(evidence).items():
        if current.get(name) == held.version:
            with suppress(EvidenceError):
                read = read_statements(evidence.get(held.version, name))
                if held != msgspec.structs.replace(read, release=held.release):
                    yield name, held.version


def find_superseded(
    evidence: SqliteEvidence, documents: Iterable[str] | None = None
) -> tuple[Supersession, ...]:
    """What is or will be superseded in these documents, or in all, as of the last ingest."""
    found = evidence.derived(_FOUND, documents)
    return tuple(
        one for name in sorted(found) for one in msgspec.json.decode(found[name], type=list[Supersession])
    )


def declared_replacements(evidence: SqliteEvidence) -> dict[str, tuple[str, ...]]:
    """The ids that each document replaces, as declared by a person."""
    found = evidence.derived(_GIVEN)
    return {name: msgspec.json.decode(body, type=tuple[str, ...]) for name, body in found.items()}


def declare_replacement(evidence: SqliteEvidence, newer: str, older: Sequence[str]) -> None:
    """Records a person's word that ``newer`` replaces these; it holds for all its versions."""
    all_ = declared_replacements(evidence)
    all_[newer] = tuple(dict.fromkeys((*all_.get(newer, ()), *older)))
    evidence.derive(_GIVEN, {name: msgspec.json.encode(ids) for name, ids in all_.items()})


def speaks_for(evidence: SqliteEvidence, rank: Callable[[str], int]) -> Callable[[Supersession], bool]:
    """Decides whether one document's statement counts against another document: within one source, against a
    source of lower ``rank``, and against what a person paired it with. Trust is the owner's to give."""

    def counts(one: Supersession) -> bool:
        if one.standing is Standing.EARLY or not one.by:
            return True
        if rank(one.by) != rank(one.what):
            return rank(one.by) > rank(one.what)
        return source_of(one.by) == source_of(one.what) or one.what in declared_replacements(evidence).get(
            one.by, ()
        )

    return counts


class _Home:
    """The documents that a name may mean."""

    def __init__(self, all_: Iterable[DocumentStatements]) -> None:
        self.all = {one.document_id: one for one in all_}
        self.names = {one.document_id: name_of(one.title) for one in self.all.values()}

    def words(self, one: DocumentStatements) -> frozenset[str]:
        return self.names[one.document_id].words

    def called(self, phrase: str, by: DocumentStatements, *, least: int) -> list[DocumentStatements]:
        """The documents that ``phrase`` means, other than ``by``: by id or file name, else by exact title,
        else by a title that contains its words, of which there must be at least ``least``."""
        others = [one for one in self.all.values() if one.document_id != by.document_id]
        plain = phrase.strip(" .,:;“”\"'")
        exact = [
            one
            for one in others
            if plain in (one.document_id, one.document_id.rsplit("/", 1)[-1])
            or plain.casefold() == readable_id(one.document_id).casefold()
        ]
        if exact:
            return exact
        wanted = name_of(phrase)
        fit = [one for one in others if self._fits(wanted, one)]
        whole = [one for one in fit if self.words(one) == wanted.words]
        # An amendment's title contains the title of what it amends.
        longer = [one for one in fit if len(one.amends) == 1]
        return whole or (longer if least <= len(wanted.words) else [])

    def _fits(self, wanted: DocumentName, one: DocumentStatements) -> bool:
        name = self.names[one.document_id]
        dates = {one.effective, one.published, name.date} - {""}
        years = name.years | {day[:4] for day in dates}
        return bool(
            wanted.words
            and wanted.words <= name.words
            and wanted.years <= years
            and (not wanted.date or wanted.date in dates)
            and (not wanted.edition or wanted.edition in (one.edition.casefold(), name.edition))
        )

    def amended(self, by: DocumentStatements) -> list[DocumentStatements]:
        """What ``by`` amends: as it says, or because its own title contains the other's."""
        for phrase in by.amends[:-1]:
            if found := self.called(phrase, by, least=1):
                return found
        held = [
            one for one in self.all.values() if len(self.words(one)) > 1 and self.words(one) < self.words(by)
        ]
        most = max((len(self.words(one)) for one in held), default=0)
        return [one for one in held if len(self.words(one)) == most]

    def meant(self, statement: Statement, by: DocumentStatements) -> DocumentStatements | None:
        """The one document that a statement about a section refers to; of several editions, the newest that
        is not newer than the statement."""
        base = self.amended(by)
        found = self.called(statement.document, by, least=1) if statement.document else base
        if not found and name_of(statement.document).words <= ALIASES:
            found = base
        if base and any(one in base for one in found):
            found = [one for one in found if one in base]
        titles = {self.words(one) for one in found}
        dated = sorted((one for one in found if _not_newer(one, by)), key=lambda one: one.dated)
        return dated[-1] if dated and len(titles) == 1 and (len(dated) == 1 or dated[-1].dated) else None


def _not_newer(one: DocumentStatements, other: DocumentStatements) -> bool:
    return not (one.dated and other.dated and one.dated > other.dated)


def resolve(
    all_: Sequence[DocumentStatements],
    given: Iterable[tuple[str, str]],
    document_of: Callable[[str], Document],
) -> tuple[tuple[Supersession, ...], tuple[tuple[str, str], ...]]:
    """What is superseded among these documents, and (document id, note) for each statement that matches no
    place here. ``given`` are (newer, older) ids as paired by a person."""
    home = _Home(all_)
    found: list[Supersession] = []
    notes: list[tuple[str, str]] = []
    for by in home.all.values():
        for statement in by.statements:
            made = _resolved(home, statement, by, document_of)
            found += made
            if not made and statement.sections:
                text = document_of(by.document_id).text[statement.start : statement.end]
                told = f"nothing in this home matches what this names: “{text[:160]}”"
                notes.append((by.document_id, told))
        for phrase in by.replaces:
            older = home.called(phrase, by, least=2)
            found += [_edition(one, by) for one in older]
            if not older:
                told = f"no document in this home matches the “{phrase}” that it supersedes"
                notes.append((by.document_id, told))
        if by.retired is not None:
            found.append(_retired(home, by, by.retired))
        if by.expires:
            after = (date.fromisoformat(by.expires) + timedelta(1)).isoformat()
            found.append(_whole(by, Standing.EXPIRED, from_date=after))
        if by.effective:
            found.append(_whole(by, Standing.EARLY, until=by.effective))
    found += [_edition(home.all[old], home.all[new]) for new, old in given if {new, old} <= home.all.keys()]
    said = {(one.what, one.by) for one in found if one.standing is Standing.EDITION}
    pairs = [(old, new) for old, new in _editions(home) if (old.document_id, new.document_id) not in said]
    found += [_edition(older, newer) for older, newer in pairs]
    found = list(dict.fromkeys(found))
    found += _overtaken(found)
    return tuple(sorted(found + _early(found), key=lambda one: msgspec.json.encode(one))), tuple(notes)


def _resolved(
    home: _Home, statement: Statement, by: DocumentStatements, document_of: Callable[[str], Document]
) -> list[Supersession]:
    if not statement.sections:
        subject = home.called(statement.by, by, least=2) if statement.by else [by]
        own = statement.by and name_of(statement.by).words <= home.words(by)
        newer = by if own or not statement.by else subject[0] if len(subject) == 1 else None
        least = len(statement.document) if statement.exact else 2
        older = home.called(statement.document, by, least=least)
        older = [one for one in older if newer and one is not newer and _not_newer(one, newer)]
        if newer is None or len({home.words(one) for one in older}) != 1:
            return []
        return [_edition(one, newer, statement if newer is by else None) for one in older]
    what = home.meant(statement, by)
    if what is None:
        return []
    document = document_of(what.document_id)
    places = [find_section(document, section) for section in statement.sections]
    if statement.old:
        places = [sentence_with(document.text, place, statement.old) for place in places]
    return [
        Supersession(
            standing=statement.standing,
            what=what.document_id,
            what_version=what.version,
            start=place[0],
            end=place[1],
            section=(section,),
            from_date=statement.from_date or by.dated,
            by=by.document_id,
            by_version=by.version,
            source_start=statement.start,
            source_end=statement.end,
        )
        for section, place in zip(statement.sections, places, strict=True)
        if place is not None
    ]


def _retired(home: _Home, one: DocumentStatements, newer: str) -> Supersession:
    """A document whose own title says that it is superseded, by the one it names if that is here."""
    wanted = name_of(newer)
    words = wanted.words or home.words(one)
    same = [other for other in home.all.values() if other is not one and home.words(other) == words]
    if not wanted.words:  # "the edition of 2024"
        said = {wanted.edition, *wanted.years} - {""}
        same = [other for other in same if said & {other.edition.casefold(), other.dated[:4]}]
    return _edition(one, same[0]) if len(same) == 1 else _whole(one, Standing.EDITION)


def _whole(
    what: DocumentStatements, standing: Standing, *, from_date: str = "", until: str = ""
) -> Supersession:
    return Supersession(
        standing=standing,
        what=what.document_id,
        what_version=what.version,
        start=0,
        end=what.length,
        from_date=from_date,
        until=until,
    )


def _edition(
    older: DocumentStatements, newer: DocumentStatements, statement: Statement | None = None
) -> Supersession:
    from_date = (statement.from_date if statement else "") or newer.dated
    return msgspec.structs.replace(
        _whole(older, Standing.EDITION, from_date=from_date),
        by=newer.document_id,
        by_version=newer.version,
        source_start=statement.start if statement else 0,
        source_end=statement.end if statement else newer.head,
    )


def _editions(home: _Home) -> Iterator[tuple[DocumentStatements, DocumentStatements]]:
    """Each edition with the next one."""
    titled: dict[frozenset[str], list[DocumentStatements]] = {}
    for one in home.all.values():
        if one.edition or one.effective or one.expires:
            titled.setdefault(home.words(one), []).append(one)
    for words, group in titled.items():
        key = _dated if all(map(_dated, group)) else _numbered
        ordered = sorted(group, key=key) if words and all(map(key, group)) else []
        for older, newer in pairwise(ordered):
            same = older.author == newer.author or not (older.author and newer.author)
            if key(older) != key(newer) and same and _alike(older.sketch, newer.sketch):
                yield older, newer


def _dated(one: DocumentStatements) -> tuple[str, ...]:
    day = one.effective or one.published or one.expires
    return (day,) if day else ()


def _numbered(one: DocumentStatements) -> tuple[str, ...]:
    return tuple(part.zfill(8) for part in one.edition.casefold().split(".") if part)


def _alike(one: Sequence[int], other: Sequence[int]) -> bool:
    smallest = sorted({*one, *other})[:SKETCH]
    return len({*one} & {*other} & {*smallest}) >= _ALIKE * max(1, len(smallest))


def _overtaken(found: Sequence[Supersession]) -> Iterator[Supersession]:
    """The wording of an earlier amendment, if a later one changes the same place."""
    amending = [one for one in found if one.section and one.standing in (Standing.DELETED, Standing.REPLACED)]
    for one in amending:
        for later in amending:
            same = (one.what, one.start) == (later.what, later.start) and one.by != later.by
            if same and one.from_date < later.from_date:
                place = {"start": one.source_start, "end": one.source_end}
                yield msgspec.structs.replace(later, what=one.by, what_version=one.by_version, **place)


def _early(found: Iterable[Supersession]) -> list[Supersession]:
    """The wording of a later amendment or edition, which is not in force before its date."""
    return [
        Supersession(
            standing=Standing.EARLY,
            what=one.by,
            what_version=one.by_version,
            start=0 if one.standing is Standing.EDITION else one.source_start,
            end=(1 << 40) if one.standing is Standing.EDITION else one.source_end,
            section=one.section,
            until=one.from_date,
            by=one.what,
            by_version=one.what_version,
            source_start=one.start,
            source_end=one.end,
        )
        for one in found
        if one.by and one.from_date
    ]
