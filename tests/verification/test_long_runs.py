"""A run of digits that no number is: it is no quantity, and it does not hold the machine."""

from __future__ import annotations

import time

from citewell.verification.quantities import extract_quantities


def test_a_run_of_more_than_forty_digits_is_no_number() -> None:
    assert extract_quantities(f"Sales were {'9' * 41}.") == ()
    assert extract_quantities(f"Sales were {'9' * 40}.")[0].value == int("9" * 40)


def test_three_hundred_thousand_digits_are_passed_over_at_once() -> None:
    started = time.process_time()
    assert extract_quantities("1" * 300_000) == ()
    assert time.process_time() - started < 5
