"""Several entailers as one: all must agree, all are combined, or borderline cases go to the stronger one.

In: entailers behind their port. Out: an entailer whose maker names each member, and whose answers record who
gave them, so that each gets its own calibration (:mod:`citewell.verification.support`). Independent of
particular models.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.errors import ConfigError
from citewell.core.identity import hash_value
from citewell.core.ports import Entailer
from citewell.core.records import Entailment, Maker, Voice
from citewell.verification.support import UNCALIBRATED, card_of, support

BORDERLINE = (0.2, 0.8)


class AgreementEntailer:
    """Takes the lowest entailment and the highest contradiction of all members; unchecked if any member
    cannot check."""

    def __init__(self, members: Sequence[Entailer]) -> None:
        self.members = _distinct(members)
        self.maker = _maker(" + ", self.members)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair the lowest probability of entailment and, within the remainder, the highest of
        contradiction."""
        answers = [_voiced(member, pairs) for member in self.members]
        return [_agreed(row) for row in zip(*answers, strict=True)]


class JointEntailer:
    """The last member's answer, together with all the others: support comes from the line fitted to all of
    them."""

    def __init__(self, members: Sequence[Entailer]) -> None:
        self.members = _distinct(members)
        self.maker = _maker(" & ", self.members)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair the last member's probabilities; unchecked if any member cannot check."""
        answers = [_voiced(member, pairs) for member in self.members]
        return [_weighed(row) for row in zip(*answers, strict=True)]


class EscalatingEntailer:
    """The first member decides clear cases; if its probability of support is borderline (or it could not
    check), the next one is asked, and so on. A later answer replaces an earlier one."""

    def __init__(self, members: Sequence[Entailer]) -> None:
        self.members = _distinct(members)
        self.maker = _maker(" > ", self.members)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair the answer of the member asked last."""
        voices = _voiced(self.members[0], pairs)
        for member in self.members[1:]:
            open_cases = [i for i, voice in enumerate(voices) if self._is_open(pairs[i], voice)]
            stronger = _voiced(member, [pairs[i] for i in open_cases]) if open_cases else []
            for i, voice in zip(open_cases, stronger, strict=True):
                voices[i] = voice
        return [msgspec.structs.replace(voice.said, voices=(voice,)) for voice in voices]

    def _is_open(self, pair: tuple[str, str], voice: Voice) -> bool:
        if voice.said.entailment is None:
            return True
        low, high = BORDERLINE
        return low <= support(pair[0], voice.said, pair[1], maker=voice.maker) <= high


def _voiced(member: Entailer, pairs: Sequence[tuple[str, str]]) -> list[Voice]:
    return [Voice(maker=member.maker, said=said) for said in member.entail(pairs)]


def _weighed(row: Sequence[Voice]) -> Entailment:
    return _silent(row) or msgspec.structs.replace(row[-1].said, voices=tuple(row), weighed=True)


def _agreed(row: Sequence[Voice]) -> Entailment:
    silent = _silent(row)
    if silent is not None:
        return silent
    entailment = min(voice.said.entailment or 0.0 for voice in row)
    contradiction = min(max(voice.said.contradiction or 0.0 for voice in row), 1.0 - entailment)
    in_part = [voice.said for voice in row if voice.said.units]
    least = min(in_part, key=lambda said: said.read / said.units, default=row[0].said)
    return Entailment(
        entailment=entailment,
        neutral=1.0 - entailment - contradiction,
        contradiction=contradiction,
        read=least.read,
        units=least.units,
        voices=tuple(row),
    )


def _silent(row: Sequence[Voice]) -> Entailment | None:
    return next((voice.said for voice in row if voice.said.entailment is None), None)


def _distinct(members: Sequence[Entailer]) -> list[Entailer]:
    names = [member.maker.name for member in members]
    if len(members) < 2 or len(set(names)) != len(names):
        raise ConfigError(f"a panel of {names}", hint="name at least two different models")
    return list(members)


def _maker(joint: str, members: Sequence[Entailer]) -> Maker:
    """Its card is the last calibration card among the members; "" if there is none."""
    makers = [member.maker for member in members]
    cards = [card for maker in makers if (card := card_of(maker)) != UNCALIBRATED]
    return Maker(
        name=joint.join(maker.name for maker in makers), hash=hash_value(makers), card="".join(cards[-1:])
    )
