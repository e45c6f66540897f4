"""Opening is done whole or not at all, and what cannot be shown is said where it is asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot
from torch import Tensor, nn

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.square.frame import Failure
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS, card
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.main_window import MainWindow


class Raising(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("the planted failure")


def unbuildable() -> nn.Module:
    raise RuntimeError("the planted failure")


FAILING = {c.name: c for c in (card("raising", Raising), card("unbuildable", unbuildable))}


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS | FAILING | {name: main.cards()[name] for name in ("gcn", "transformer")})


def message(window: MainWindow) -> str:
    return window.infobar.text.text() if window.infobar.isVisible() else ""


@pytest.mark.parametrize("name", sorted(FAILING))
def test_what_cannot_be_opened_leaves_everything_as_it_was(qtbot: QtBot, open_window: Open, name: str) -> None:
    before = State("fine", device="cpu", steps=parse_chain("rotate:90"), layer="2", channel=1)
    window = open_window(before)
    before, title = window.controller.state, window.windowTitle()
    frame = window.controller.frame
    window.controller.set_model(name)
    assert window.windowTitle() != title
    qtbot.waitUntil(lambda: window.controller.state == before, timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    assert window.windowTitle() == title and "the planted failure" in message(window)
    assert window.controller.frame is not None and frame is not None
    assert window.controller.frame.squares[0].layer == frame.squares[0].layer
    assert not window.controller.can_undo and not window.controller.can_redo and window.staleness.text == ""
    window.controller.set_model("faulty")  # and the window goes on
    settle(qtbot, window)
    assert window.controller.frame.squares[0].model == "faulty"


def test_why_nothing_was_opened_stays_when_its_orbit_fails_as_well(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu", steps=parse_chain("rotate:90")))
    c = window.controller
    c.set_model("faulty")  # whose own answer is not waited for
    failed = c.state
    c.take(Failure(failed, "the planted failure"))
    c.take(Failure(failed, "the planted failure", where="orbit"))  # was on its way when the window went back
    settle(qtbot, window, measured=True)
    assert c.state.model == "fine" and message(window) == "the planted failure"


def test_a_failure_that_comes_late_takes_back_nothing_that_was_asked_for_since(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu", steps=parse_chain("rotate:90")))
    c = window.controller
    c.set_model("faulty")
    failed = c.state
    c.set_steps(())
    c.take(Failure(failed, "the planted failure"))  # was on its way while the element was changed
    assert c.state.model == "faulty" and c.state.steps == ()
    settle(qtbot, window)
    assert c.frame is not None and c.frame.squares[0].model == "faulty"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (State("fine", layer="nonsense"), "fine has no layer 'nonsense'; it has: 0, 1,"),
        (
            State("fine", steps=parse_chain("permute:3")),
            "permute acts on a graph or a set or a mesh or a cloud of points, and fine lives on an image: "
            "it is left out.",
        ),
        (State("fine", node=3), "places of 'digit-3' have no numbers: leave out --node and --step; none is selected."),
        (
            State("gcn", sample="karate", node=99, other=2),
            "'karate' has 34 places, 0 to 33, and --node or --step says 99; none is selected.",
        ),
        (State("fine", sample="karate"), "'karate' lies on a graph, and fine takes an image: digit-3 is shown."),
    ],
)
def test_what_a_start_asks_for_and_cannot_be_shown_is_said(
    qtbot: QtBot, open_window: Open, state: State, sentence: str
) -> None:
    window = open_window(state)
    assert sentence in message(window)
    settle(qtbot, window, measured=True)
    assert sentence in message(window)  # until it is read
    assert not window.controller.can_undo
    assert (window.controller.state.layer, window.controller.state.node, window.controller.state.other) == ("",) + 2 * (
        None,
    )


def test_a_layer_that_goes_with_a_parameter_is_no_misspelt_name(qtbot: QtBot, open_window: Open) -> None:
    """A lesson's own step was answered by "has no layer …; did you mean …?"."""
    window = open_window(State("transformer", sample="letters-12", layer="embed_input.positions", device="cpu"))
    settle(qtbot, window, measured=True)
    assert window.controller.info is not None
    params = window.controller.info.params
    positions = next(p for p in params if p.name == "positions")
    window.controller.change({"params": (("positions", float(positions.choices.index("without"))),)})
    said = "That leaves out embed_input.positions: embed_input.letter is shown."
    qtbot.waitUntil(lambda: said in message(window))
    assert window.controller.state.layer == ""
