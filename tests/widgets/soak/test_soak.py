"""A short soak: nobody in particular uses the window, and nothing goes wrong or is left behind."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import main
from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.widgets.soak.draws import COUNT, Draws, Interaction, sequence
from tests.widgets.soak.interactions import DONE
from tests.widgets.soak.run import shortest
from tests.widgets.soak.world import Broken, World

LEFT_OUT = {"model_file", "film", "close_and_open", "beside", "other_window"}  # seconds each; `make soak` has them
NAMES = sorted({name for name, (share, _) in DONE.items() if share} - LEFT_OUT)
RUNS, STEPS = 2, 45


class Person(RuleBasedStateMachine):
    """Does anything, in any order; hypothesis makes a failing sequence short."""

    world: World

    @rule(
        name=st.sampled_from(NAMES),
        numbers=st.lists(st.integers(0, 99), min_size=COUNT, max_size=COUNT),
    )
    def do(self, name: str, numbers: list[int]) -> None:
        self.world.do(Interaction(name, tuple(n / 100 for n in numbers)))

    def teardown(self) -> None:
        self.world.controller.open_state(State())
        self.world.settle()
        self.world.check()


@pytest.fixture
def world(tmp_path: Path, qapp: object, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))
    return World(lambda: LocalEngine(main.cards()), tmp_path / "files")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_anything_in_any_order(world: World) -> None:
    try:
        world.open_window(State())
        Person.world = world
        chosen = settings(max_examples=RUNS, stateful_step_count=STEPS, deadline=None, derandomize=True, database=None)
        run_state_machine_as_test(Person, settings=chosen)
        assert sum(world.done.values()) > STEPS
        before = world.figures()
        world.close_window()
        after = world.figures()
        assert after.windows < before.windows and after.hooks == 0 and after.timers <= 1, after.text()
    finally:
        world.close()


def test_a_seed_gives_the_same_interactions() -> None:
    weights = {name: share for name, (share, _) in DONE.items()}
    assert sequence(3, weights, 50) == sequence(3, weights, 50) != sequence(4, weights, 50)
    assert {one.name for one in sequence(0, weights, 5_000)} == {name for name, share in weights.items() if share}


def test_what_fails_is_made_short() -> None:
    tried = []

    def fails(items: Sequence[int]) -> bool:
        tried.append(items)
        return 3 in items and 17 in items

    assert shortest(range(40), fails) == [3, 17]
    assert len(tried) < 120


def test_draws_stay_within_what_there_is() -> None:
    draw = Draws((0.999999, 0.0, 0.5))
    assert draw.pick("abc") == "c" and draw.whole(2, 4) == 2 and draw.pick("abc") == "b"
    assert draw.pick(()) is None and draw.number(1, 3) == 2


@pytest.mark.parametrize("what", ["raises", "warns", "KeyError: 'x'", "SystemError: bad argument to internal function"])
def test_what_must_not_happen_is_seen(world: World, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtCore import QTimer, qWarning

    def doing(world: World, draw: Draws) -> None:
        if what == "raises":
            QTimer.singleShot(0, lambda: int("x"))
        elif what == "warns":
            qWarning("a timer was touched from another thread")
        else:
            from explorer.square.frame import Failure

            world.fail(Failure(State(), what, "", ""))

    monkeypatch.setitem(DONE, "wrong", (1.0, doing))
    monkeypatch.setattr(World, "open_window", lambda self, state: None)
    try:
        with pytest.raises(Broken):
            world.do(Interaction("wrong", (0.5,)))
    finally:
        world.close()


def test_a_menu_that_a_button_opens_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A button with a menu waits within its click for the choice, and nobody chooses here."""
    from PySide6.QtWidgets import QApplication, QMenu, QToolButton

    seen: list[object] = []

    def doing(world: World, draw: Draws) -> None:
        button = QToolButton(popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        menu.aboutToShow.connect(lambda: seen.append("open"))
        menu.addAction("one")
        button.setMenu(menu)
        button.show()
        button.click()
        seen.append(QApplication.activePopupWidget())

    monkeypatch.setitem(DONE, "wrong", (1.0, doing))
    monkeypatch.setattr(World, "open_window", lambda self, state: None)
    try:
        world.do(Interaction("wrong", (0.5,)))
    finally:
        world.close()
    assert seen == ["open", None]


def test_what_was_put_aside_is_counted(world: World) -> None:
    """The window's collector puts aside what there is, and what was put aside is not listed among all objects."""
    import gc

    from PySide6.QtCore import QTimer

    try:
        before = world.figures().timers
        timer = QTimer(interval=10**6)
        timer.start()
        gc.freeze()
        assert world.figures().timers == before + 1
        timer.stop()
        ring: list[object] = []
        ring.append(ring)
        ring.append(gone := Marked())
        left = weakref.ref(gone)
        gc.freeze()
        del ring, gone
        world.figures()
        assert left() is None, "a cycle of what was put aside is garbage like any other"
    finally:
        world.close()


class Marked:
    """Something that can be watched."""


class Lazy:
    """Imports what it stands for as soon as it is asked for its class, as some of torch's names do."""

    asked = 0

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        Lazy.asked += 1
        return object


def test_looking_for_arrays_asks_nobody(world: World) -> None:
    import numpy as np

    from tests.widgets.soak.holdings import arrays

    try:
        before, array = arrays(), np.zeros(2**20)
        kept, asked = [array, Lazy()], Lazy.asked
        more = arrays() - before
        assert Lazy.asked == asked and more >= array.nbytes and kept
    finally:
        world.close()


def test_what_one_kind_leaves_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An interaction that keeps a megabyte each time is seen by the probe, round after round."""
    from tests.widgets.soak.probe import probe

    kept: list[bytearray] = []
    monkeypatch.setitem(DONE, "leaking", (1.0, lambda world, draw: kept.append(bytearray(2**20))))
    monkeypatch.setattr(World, "open_window", lambda self, state: None)
    try:
        probe(world, "leaking", times=20, rounds=3, seed=0, same_window=True)
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("leaking")]
        found = [float(line.split(" MB")[0].split()[-1]) for line in lines]
        assert len(found) == 3 and all(19.0 < more < 30.0 for more in found), lines
    finally:
        world.close()
