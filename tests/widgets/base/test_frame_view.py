"""The ritual of a frame view: whose state counts, when it draws, and which sentence stands in place of the parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from explorer.declare.states.model_name import LIVE
from explorer.square.frame import Square
from explorer.state.state import State
from tests.widgets.parts.frames.fake_engine import make_catalogue
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.frame_view import FrameView


class Filtered(FrameView[Square]):
    """Draws the squares with filters; writes down what it does."""

    NOTHING, NONE, FOLLOWS = "nothing", "none", ("channel",)

    def __init__(self) -> None:
        super().__init__()
        self.done: list[object] = []

    def parts(self) -> list[Square]:
        return [s for s in self.squares if s.filters is not None]

    def missing(self, parts: list[Square]) -> str:
        return "two models" if len(parts) > 1 else ""

    def draw(self, parts: list[Square]) -> None:
        self.done.append((len(parts), self.state.channel))

    def show_empty(self, sentence: str) -> None:
        self.done.append(sentence)


@pytest.fixture
def view(qtbot: QtBot) -> Filtered:
    made = Filtered()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_what_is_missing_is_said(view: Filtered) -> None:
    frame = make_frame()
    bare = replace(frame, squares=(replace(frame.squares[0], filters=None),))
    for given in (None, replace(frame, squares=()), bare, make_frame(compare=True), frame):
        view.set_frame(given)
    assert view.done == ["nothing", "nothing", "none", "two models", (1, None)]


def test_nobody_is_asked_to_choose_a_network_while_one_is_computed(view: Filtered) -> None:
    view.set_state(State(model="d4-cnn"))
    assert view.done == ["This is drawn once the network has answered."]
    view.set_frame(make_frame())
    view.set_frame(None)
    assert view.done[1:] == [(1, None), "This is drawn once the network has answered."]


def test_the_state_of_frames_counts_until_a_state_is_told(view: Filtered) -> None:
    frame = make_frame()
    assert not view.known
    view.set_frame(replace(frame, state=replace(frame.state, channel=1)))
    assert view.known and not view.told
    view.set_state(State(channel=2))
    view.set_frame(replace(frame, state=replace(frame.state, channel=3)))
    assert view.done == [(1, 1), (1, 2), (1, 2)]


def test_only_what_is_followed_draws_at_once(view: Filtered) -> None:
    view.set_frame(make_frame())
    view.set_state(State(channel=2))
    view.done.clear()
    view.set_state(State(channel=2, node=5))
    assert view.done == [] and view.state.node == 5
    view.set_state(State(channel=4, node=5))
    assert view.done == [(1, 4)]


def test_a_hidden_view_draws_when_it_is_seen(view: Filtered) -> None:
    view.hide()
    view.set_state(State(channel=2))
    view.set_frame(make_frame())
    assert view.done == [] and view.state.channel == 2
    view.show()
    assert view.done[-1] == (1, 2)


def test_the_catalogue_is_kept(view: Filtered) -> None:
    catalogue = make_catalogue()
    view.show_catalogue(catalogue)
    assert view.catalogue is catalogue and view.done == []


def test_what_was_drawn_of_a_network_that_learns_stays_until_its_next_state_is_there(view: Filtered) -> None:
    view.awaits = lambda frame: frame.serial < 9  # type: ignore[method-assign]
    frame = make_frame()
    bare = (replace(frame.squares[0], filters=None),)
    learning = replace(frame.state, model=f"tiny@/some/where/{LIVE}")
    for state, squares, serial in (
        (learning, bare, 1),  # nothing is drawn of it yet
        (learning, frame.squares, 2),
        (learning, bare, 3),
        (learning, frame.squares, 4),
        (learning, bare, 9),  # nothing more will come
        (frame.state, frame.squares, 5),
        (frame.state, bare, 6),  # it does not learn
    ):
        view.set_frame(replace(frame, state=state, squares=squares, serial=serial))
    drawn = (1, None)
    assert view.done == ["none", drawn, drawn, "none", drawn, "none"]
