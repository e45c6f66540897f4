"""Networks that other people might have written: the truth about each by hand, and what Equiscope says of it."""

from __future__ import annotations

import pytest

from tests.foreign.case import BROKEN, HOLDS, REFUSED, Case
from tests.foreign.catalogue import by_name
from tests.foreign.contract import RIGHT, answer
from tests.foreign.known import KNOWN
from tests.foreign.oracle import Oracle, blamed

CASES = by_name()
DAILY = 8  # every eighth network of each kind is judged every day, the others by the slow tests


def _others() -> set[str]:
    """Return the names of those that wait for the slow tests: seven of eight of each kind, in the order of its file."""
    seen: dict[str, int] = {}
    found = set()
    for name, (kind, _) in CASES.items():
        seen[kind] = seen.get(kind, -1) + 1
        if seen[kind] % DAILY:
            found.add(name)
    return found


OTHERS = _others()


class KnownMistake(AssertionError):
    """A case that is listed in known.py, and is wrong in the way that is said there."""


def _marked(name: str, case: Case) -> object:
    word = KNOWN.get(name)
    marks = [] if word is None else [pytest.mark.xfail(reason=word, strict=True, raises=KnownMistake)]
    marks += [pytest.mark.slow] if name in OTHERS else []
    return pytest.param(name, case, id=name, marks=marks)


@pytest.mark.parametrize("name", [n for n, (_, c) in CASES.items() if c.truth != REFUSED])
def test_the_truth_is_what_the_group_does_by_hand(name: str) -> None:
    case = CASES[name][1]
    oracle = Oracle(case)
    share = oracle.share()
    if case.truth == HOLDS:
        assert share < case.limit
        return
    assert share > 5 * case.limit
    if case.culprit and case.hooks:
        assert blamed(oracle.first(), case), f"the first layer that leaves its law is {oracle.first()!r}"


@pytest.mark.daily(len(CASES))  # those that wait are marked already
@pytest.mark.parametrize(("name", "case"), [_marked(n, c) for n, (_, c) in CASES.items()])
def test_equiscope_judges_as_the_truth_is(name: str, case: Case) -> None:
    given = answer(case)
    if given.word != RIGHT and given.word == KNOWN.get(name):
        raise KnownMistake(f"{given.word}: {given.said}")
    assert given.word == RIGHT, f"{given.word}: {given.said}"


def test_there_are_enough_of_them() -> None:
    truths = [case.truth for _, case in CASES.values()]
    assert len(truths) - len(OTHERS) >= 120
    assert len(truths) >= 300
    assert truths.count(HOLDS) >= 150 and truths.count(BROKEN) >= 150


def test_every_fault_has_a_sound_twin_of_the_same_kind() -> None:
    for name, (kind, case) in CASES.items():
        if not case.twin:
            continue
        twin = CASES[f"{kind}: {case.twin}"][1]
        assert (twin.truth, twin.group) == (HOLDS, case.group), name


def test_what_is_known_is_there() -> None:
    assert set(KNOWN) <= set(CASES)
