"""The view of which pixels an answer depends on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from explorer.square.frame import Frame, Saliency
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.base.view import Wish
from widgets.spaces.grid.views.saliency import NO_FRAME, NOTHING, SOON, SaliencyView


def asked(frame: Frame, text: str, **changes: object) -> Frame:
    square = frame.squares[0]
    maps = {key: np.full((1, 5, 5), k + 1.0, np.float32) for k, key in enumerate(("on_x", "expected", "on_gx"))}
    maps["difference"] = maps["expected"] - maps["on_gx"]
    found = Saliency("gradient", 1, "one", len(square.output), error=0.25, exact=True, done=1.0, **maps)
    found = replace(found, **changes)  # type: ignore[arg-type]
    squares = (replace(square, saliency=found),)
    return replace(frame, squares=squares, state=replace(frame.state, saliency=text))


@pytest.fixture
def view(qtbot: QtBot) -> SaliencyView:
    made = SaliencyView()
    qtbot.addWidget(made)
    made.resize(800, 400)
    with qtbot.waitExposed(made):
        made.show()
    return made


def choose(qtbot: QtBot, box: QComboBox, index: int) -> None:
    """Choose an entry by keys, as a person does."""
    box.setFocus()
    for _ in range(index - box.currentIndex()):
        qtbot.keyClick(box, Qt.Key.Key_Down)


def test_nothing_is_shown_unasked(view: SaliencyView) -> None:
    assert view.pages.label.text() == NO_FRAME
    view.set_frame(make_frame())
    assert view.pages.label.text() == NOTHING
    assert not view.entry.isEnabled()
    assert view.numbers() == {}
    view.set_state(replace(make_frame().state, saliency="smooth"))
    assert view.pages.label.text() == SOON


def test_a_person_chooses_how_and_of_what(qtbot: QtBot, view: SaliencyView) -> None:
    frame = make_frame()
    view.set_frame(frame)
    wishes: list[Wish] = []
    view.wished.connect(wishes.append)
    choose(qtbot, view.method, 1)
    assert wishes[-1] == Wish(changes={"saliency": "gradient"})
    view.set_state(replace(frame.state, saliency="gradient"))
    assert view.entry.isEnabled()
    assert view.entry.count() == 1 + len(frame.squares[0].output)
    choose(qtbot, view.entry, 3)
    assert wishes[-1] == Wish(changes={"saliency": "gradient:2"})
    view.set_state(replace(frame.state, saliency=""))
    assert view.method.currentIndex() == 0


def test_both_sides_are_drawn_on_one_scale_with_their_distance(view: SaliencyView) -> None:
    view.set_frame(asked(make_frame(), "gradient:1"))
    values = view.grid.item.values
    assert values is not None
    assert [float(v.mean()) for v in values] == [1.0, 2.0, 3.0, -1.0]
    assert view.scale == 3.0
    assert "one: S(ρ(g)x) is 0.25 away" in view.said.text()
    assert theme.current().bad in view.said.styleSheet()
    assert set(view.numbers()) == {"S(x)", "ρ(g)S(x)", "S(ρ(g)x)", "difference"}
    assert "Gradient of one, relative error 0.25" in view.caption()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"done": 0.5}, "50% done"),
        ({"error": None}, "no law"),
        ({"exact": False}, "a curve without a verdict"),
        ({"error": 1e-7}, "is 1.0e−7 away"),
        ({"expected": None, "difference": None, "error": None}, "no law"),
    ],
)
def test_what_is_said(view: SaliencyView, changes: dict[str, object], said: str) -> None:
    view.set_frame(asked(make_frame(), "gradient:1", **changes))
    assert said in view.said.text()


def test_beside_another_network_it_is_said_whose_map_it_is(view: SaliencyView) -> None:
    first, frame = asked(make_frame(), "gradient:1"), make_frame(compare=True)
    view.set_frame(replace(first, squares=(first.squares[0], frame.squares[1])))
    assert view.said.text().startswith(f"{first.squares[0].title}: one: ")


def test_where_there_is_no_map_the_view_says_why(view: SaliencyView) -> None:
    why = "The answer of net has no such map: sizes of tensors must match."
    none = dict.fromkeys(("on_x", "expected", "on_gx", "difference", "error"))
    view.set_frame(asked(make_frame(), "occlusion", problem=why, **none))
    assert view.pages.label.text() == why
