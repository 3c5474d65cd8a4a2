"""No pattern of the package takes time quadratic in the length of its text.

Every pattern is run as the code runs it: one that is only ever matched at a position is not searched with.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from benchmarks.hostile_shapes import shapes

import citewell

SMALL, LARGE = shapes(5_000), shapes(20_000)
SCANS = {"search", "finditer", "findall", "sub", "subn", "split"}
ANCHORED = {"match", "fullmatch"}
NOTICED = 0.05  # CPU seconds for 20 kB, below which growth cannot be told from noise
GROWTH = 8  # four times the text: linear work grows by 4, quadratic by 16
PATIENCE = 1.0  # CPU seconds for one run: any run stopped then is slow
WORTH_A_LOOK = 0.0007  # CPU seconds for 5 kB: cubic growth reaches NOTICED from there


@cache
def modules() -> tuple[ModuleType, ...]:
    """All modules of the package, except those that need a library that is not installed."""
    found = []
    for info in pkgutil.walk_packages(citewell.__path__, "citewell."):
        if not info.name.endswith("__main__"):
            try:
                found.append(importlib.import_module(info.name))
            except ImportError as error:
                assert not str(error.name).startswith("citewell"), error  # noqa: PT017 - which library it is
    return tuple(found)


@cache
def trees() -> tuple[tuple[str, ast.Module], ...]:
    return tuple(
        (module.__name__, ast.parse(Path(module.__file__).read_text(encoding="utf-8")))
        for module in modules()
        if module.__file__
    )


def inside(value: object, depth: int = 4) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for key, item in value.items():
            yield from inside(key, depth - 1)
            yield from inside(item, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from inside(item, depth - 1)
    elif depth and not isinstance(value, type) and type(value).__module__.startswith("citewell."):
        for name in getattr(value, "__struct_fields__", None) or getattr(value, "__dict__", ()):
            yield from inside(getattr(value, name), depth - 1)


@cache
def uses() -> dict[tuple[str, str], set[str]]:
    """How a module calls what a name refers to: methods, or "any" where it is passed on."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in trees():
        called = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found[module, node.value.id].add(node.attr if node.attr in SCANS | ANCHORED else "any")
                called.add(id(node.value))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
                found[module, node.id].add("any")
    return found


def written_in_place() -> Iterator[tuple[str, str, re.Pattern[str] | re.Pattern[bytes]]]:
    """``re.search(r"...", text)`` and the like: where, the method, the pattern."""
    for module, tree in trees():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in SCANS | ANCHORED
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                flags = [a for a in node.args[2:] if "re." in ast.unparse(a)]
                flags += [k.value for k in node.keywords if k.arg == "flags"]
                bits = re.NOFLAG
                for flag in flags:
                    for name in re.findall(r"re\.([A-Z]+)", ast.unparse(flag)):
                        bits |= getattr(re, name)
                yield f"{module}:{node.lineno}", node.func.attr, re.compile(node.args[0].value, bits)


def every() -> dict[tuple[str, str], tuple[re.Pattern[str] | re.Pattern[bytes], set[str], set[str]]]:
    """Each pattern once, with how it is run and where it is."""
    found: dict[tuple[str, str], tuple[re.Pattern[str] | re.Pattern[bytes], set[str], set[str]]] = {}
    for module in modules():
        for name, value in vars(module).items():
            if name.startswith("__"):
                continue
            for pattern in inside(value):
                key = repr(pattern.pattern), str(pattern.flags)
                _, ways, places = found.setdefault(key, (pattern, set(), set()))
                ways |= uses()[module.__name__, name] if isinstance(value, re.Pattern) else {"any"}
                places.add(f"{module.__name__}.{name}")
    for place, way, pattern in written_in_place():
        _, ways, places = found.setdefault(
            (repr(pattern.pattern), str(pattern.flags)), (pattern, set(), set())
        )
        ways.add(way)
        places.add(place)
    return found


def seconds(pattern: re.Pattern[str] | re.Pattern[bytes], ways: set[str], text: str) -> float:
    """CPU seconds of one run over ``text``; ``PATIENCE`` if it would take longer."""
    given = text.encode() if isinstance(pattern.pattern, bytes) else text
    former = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    started = time.process_time()
    try:
        if ways - ANCHORED or not ways:
            for _ in pattern.finditer(given):  # type: ignore[arg-type] - bytes for bytes
                pass
        if ways - SCANS or not ways:
            pattern.match(given)  # type: ignore[arg-type]
            pattern.fullmatch(given)  # type: ignore[arg-type]
    except TimeoutError:
        return PATIENCE
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
    return time.process_time() - started


def _give_up(*_: object) -> None:
    raise TimeoutError


def own_shapes(pattern: re.Pattern[str] | re.Pattern[bytes], size: int) -> Iterator[tuple[str, str]]:
    """Texts that begin as the pattern does: words from it, followed by what may slow it down."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    words = re.findall(r"[A-Za-z]{3,}", re.sub(r"\\[a-zA-Z]|\(\?P<\w+>", "", written))
    for word in list(dict.fromkeys(words))[:4]:
        yield f"{word} and blanks", word + " " * size
        yield f"{word} again and again", f"{word} " * (size // (len(word) + 1))
        yield f"{word} and words", f"{word} " + "a " * (size // 2)


def slow_on(pattern: re.Pattern[str] | re.Pattern[bytes], ways: set[str]) -> Iterator[str]:
    small_ones, large_ones = [*SMALL.items(), *own_shapes(pattern, 5_000)], dict(LARGE)
    large_ones |= own_shapes(pattern, 20_000)
    for name, text in small_ones:
        small = seconds(pattern, ways, text)
        if small < WORTH_A_LOOK:
            continue
        large = PATIENCE if small > PATIENCE / 4 else seconds(pattern, ways, large_ones[name])
        # Measured again before it is called slow: another process may have evicted the caches.
        if large == PATIENCE or (
            large > max(NOTICED, GROWTH * small) and seconds(pattern, ways, large_ones[name]) > NOTICED
        ):
            yield f"{name}: {small:.3f} s for 5 kB, {large:.3f} s for 20 kB"


def test_no_pattern_grows_with_the_square_of_its_text() -> None:
    patterns = every()
    assert len(patterns) > 500
    slow = [
        f"{', '.join(sorted(places))} {str(pattern.pattern)[:80]!r} ({', '.join(sorted(ways))}) on {found[0]}"
        + (f" and {len(found) - 1} more" if len(found) > 1 else "")
        for pattern, ways, places in patterns.values()
        if (found := list(slow_on(pattern, ways)))
    ]
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize("pattern", [r"\s*\d", r"(?:a|b)*\d", r"(?P<n>\d*[½])"])
def test_a_pattern_that_grows_with_the_square_is_found(pattern: str) -> None:
    assert list(slow_on(re.compile(pattern), {"search"}))
