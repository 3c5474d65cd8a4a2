"""Several entailers as one: all must agree, or only borderline cases go to the stronger.

In: entailers behind their port. Out: an entailer whose maker names each member. Knows no model.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import ConfigError
from citewell.identity import hash_value
from citewell.ports import Entailer
from citewell.records import Entailment, Maker

BORDERLINE = (0.2, 0.8)


class AgreementEntailer:
    """Entailed only as far as the most doubtful member says so; one that cannot check makes it unchecked."""

    def __init__(self, members: Sequence[Entailer]) -> None:
        self._members = _distinct(members)
        self.maker = _maker(" + ", self._members)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """For each pair the answer of the member with the lowest probability of entailment."""
        answers = [member.entail(pairs) for member in self._members]
        return [_most_doubtful(row) for row in zip(*answers, strict=True)]


class EscalatingEntailer:
    """The first member decides clear cases; where its probability of entailment lies in ``borderline`` (or it
    could not check) the next one is asked, and so on. A later answer replaces an earlier one."""

    def __init__(self, members: Sequence[Entailer], borderline: tuple[float, float] = BORDERLINE) -> None:
        self._members = _distinct(members)
        self._low, self._high = borderline
        self.maker = _maker(" > ", self._members)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        answers = self._members[0].entail(pairs)
        for member in self._members[1:]:
            open_cases = [i for i, answer in enumerate(answers) if self._is_open(answer)]
            stronger = member.entail([pairs[i] for i in open_cases]) if open_cases else []
            for i, answer in zip(open_cases, stronger, strict=True):
                answers[i] = answer
        return answers

    def _is_open(self, answer: Entailment) -> bool:
        return answer.entailment is None or self._low <= answer.entailment <= self._high


def _most_doubtful(row: Sequence[Entailment]) -> Entailment:
    return min(row, key=lambda answer: -1.0 if answer.entailment is None else answer.entailment)


def _distinct(members: Sequence[Entailer]) -> list[Entailer]:
    names = [member.maker.name for member in members]
    if len(members) < 2 or len(set(names)) != len(names):
        raise ConfigError(f"a panel of {names}", hint="name at least two different models")
    return list(members)


def _maker(joint: str, members: Sequence[Entailer]) -> Maker:
    makers = [member.maker for member in members]
    return Maker(name=joint.join(maker.name for maker in makers), hash=hash_value(makers))
