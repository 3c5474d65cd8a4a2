"""Several entailers as one: all must agree, all are combined, or borderline cases go to the stronger one.

In: entailers behind their port. Out: an entailer whose maker names each member, and whose answers record who
gave them, so that each gets its own calibration (:mod:`citewell.verification.support`). Independent of
particular models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from citewell.core.errors import ConfigError
from citewell.core.identity import hash_value
from citewell.core.ports import Entailer
from citewell.core.records import Entailment, Maker, Voice
from citewell.verification.support import UNCALIBRATED, card_of, support

BORDERLINE = (0.2, 0.8)
_Rule = Callable[[tuple[Voice, ...]], Entailment]


class _Panel:
    """``joint`` stands between the members' names. Raises ConfigError unless there are two different ones."""

    joint: ClassVar[str]

    def __init__(self, members: Sequence[Entailer]) -> None:
        makers = [member.maker for member in members]
        names = [maker.name for maker in makers]
        if len(members) < 2 or len(set(names)) != len(names):
            raise ConfigError(f"a panel of {names}", hint="name at least two different models")
        self.members = list(members)
        # Its card is the last calibration card among the members; "" if there is none.
        cards = [card for maker in makers if (card := card_of(maker)) != UNCALIBRATED]
        self.maker = Maker(name=self.joint.join(names), hash=hash_value(makers), card="".join(cards[-1:]))


class AgreementEntailer(_Panel):
    """Takes the lowest entailment and, within the remainder, the highest contradiction of all members."""

    joint = " + "

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair, the members' answers as one; unchecked if any member cannot check."""
        return _all_asked(self.members, pairs, _lowest)


class JointEntailer(_Panel):
    """The last member's answer, together with all the others: support comes from the line fitted to all of
    them."""

    joint = " & "

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair, the last member's answer; unchecked if any member cannot check."""
        return _all_asked(self.members, pairs, _weighed)


class EscalatingEntailer(_Panel):
    """The first member decides clear cases; if its probability of support is borderline (or it could not
    check), the next one is asked, and so on. A later answer replaces an earlier one."""

    joint = " > "

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair the answer of the member asked last."""
        voices = _voiced(self.members[0], pairs)
        for member in self.members[1:]:
            open_cases = [i for i, voice in enumerate(voices) if _is_open(pairs[i], voice)]
            stronger = _voiced(member, [pairs[i] for i in open_cases]) if open_cases else []
            for i, voice in zip(open_cases, stronger, strict=True):
                voices[i] = voice
        return [msgspec.structs.replace(voice.said, voices=(voice,)) for voice in voices]


PANELS: dict[str, Callable[[Sequence[Entailer]], Entailer]] = {
    panel.joint: panel for panel in (JointEntailer, AgreementEntailer, EscalatingEntailer)
}


def _all_asked(
    members: Sequence[Entailer], pairs: Sequence[tuple[str, str]], together: _Rule
) -> list[Entailment]:
    rows = zip(*(_voiced(member, pairs) for member in members), strict=True)
    return [
        next((voice.said for voice in row if voice.said.entailment is None), None) or together(row)
        for row in rows
    ]


def _lowest(row: tuple[Voice, ...]) -> Entailment:
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
        voices=row,
    )


def _weighed(row: tuple[Voice, ...]) -> Entailment:
    return msgspec.structs.replace(row[-1].said, voices=row, weighed=True)


def _is_open(pair: tuple[str, str], voice: Voice) -> bool:
    if voice.said.entailment is None:
        return True
    low, high = BORDERLINE
    return low <= support(pair[0], voice.said, pair[1], maker=voice.maker) <= high


def _voiced(member: Entailer, pairs: Sequence[tuple[str, str]]) -> list[Voice]:
    return [Voice(maker=member.maker, said=said) for said in member.entail(pairs)]
