"""Choice of the cases of a sweep that run every day, and parts of a long run.

A test over all cards, samples or files has hundreds of cases, and each of them says almost the same. A few, spread
evenly, run with `make test`; the others are marked `slow`. `@pytest.mark.daily(n)` says how many where a few are too
few.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict

import pytest

DAILY = 12  # cases of a test that run every day
PART = "EQUISCOPE_TEST_PART"  # environment: "2/6" runs the second of six parts, by the names of the files


def spread(count: int, most: int) -> set[int]:
    """Return the numbers of at most so many of `count` cases, evenly spaced, the first and the last among them."""
    if count <= most:
        return set(range(count))
    return {round(k * (count - 1) / max(1, most - 1)) for k in range(most)}


def mark_sweeps(items: list[pytest.Item]) -> None:
    """Mark the cases slow that do not run every day."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    for some in cases.values():
        said = some[0].get_closest_marker("daily")
        kept = spread(len(some), said.args[0] if said is not None else DAILY)
        for k, item in enumerate(some):
            if k not in kept:
                item.add_marker(pytest.mark.slow)


def part_of(items: list[pytest.Item], part: str) -> list[pytest.Item]:
    """Return those of the tests that a part of a run consists of; the tests of a file stay together."""
    number, _, count = part.partition("/")
    return [i for i in items if zlib.crc32(str(i.path.name).encode()) % int(count) == int(number) - 1]


def chosen(items: list[pytest.Item]) -> None:
    """Mark what does not run every day, and keep the part of the run that the environment asks for."""
    mark_sweeps(items)
    if part := os.environ.get(PART, ""):
        items[:] = part_of(items, part)
