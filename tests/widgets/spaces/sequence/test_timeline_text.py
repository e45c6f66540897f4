"""The timeline of irregular times and of texts: steps where their times are, words in the colour of what they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from tests.widgets.parts.driving.view_driving import click, gather, opened
from tests.widgets.parts.frames.time_parts import shift_part, token_part
from tests.widgets.spaces.sequence.test_timeline_view import give, point, wheel
from widgets.base.look import theme
from widgets.spaces.sequence.timeline.axes.names import between
from widgets.spaces.sequence.timeline.items.painting import limits
from widgets.spaces.sequence.timeline.items.tiles import table
from widgets.spaces.sequence.views.timeline import TimelineView
from widgets.spaces.sequence.words import step_text


@pytest.fixture(autouse=True)
def in_light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


@pytest.fixture
def view(qtbot: Any) -> Any:
    return opened(qtbot, TimelineView(), 1100, 700)


# true times ---------------------------------------------------------------------------------------------------------
def irregular(steps: int = 40) -> np.ndarray:
    return np.cumsum(np.r_[0.0, np.where(np.arange(steps - 1) == 19, 10.0, 0.5)]).astype(np.float32)


def test_steps_lie_at_their_true_times_in_lines_and_cells(view):
    times = irregular()
    part = shift_part(40, 4, times=times)
    gates = {"lstm.forget_gate": np.tile((np.arange(40) % 2)[:, None], 4).astype(np.float32)}
    give(view, replace(part, gates=gates, moved_gates={}, values=gates["lstm.forget_gate"]), layer="lstm.forget_gate")
    canvas = view.canvas
    at = [0, 10, 19, 20, 30, 39]
    x = np.array([canvas.axis.x_of(k + 0.5) for k in at])
    np.testing.assert_allclose((x - x[0]) / (x[-1] - x[0]), (times[at] - times[0]) / (times[-1] - times[0]), atol=1e-6)
    picture, box = canvas.grab().toImage(), canvas.area(canvas.slot("before/0/lstm.forget_gate"))
    for step in range(40):  # each cell from half-way to half-way has one colour
        inner = [canvas.axis.x_of(step + share) for share in (0.15, 0.5, 0.85)]
        level = table("gate")[252 if step % 2 else 0]
        for place in inner:
            assert picture.pixelColor(int(place), int(box.center().y())) == QColor(*level.tolist()), (step, place)


def test_ticks_are_round_times_and_a_click_finds_the_step(view):
    give(view, shift_part(40, 4, times=irregular()))
    canvas = view.canvas
    ((_, places),) = canvas.foot.tickValues(canvas.axis.low, canvas.axis.high, canvas.box.width())
    for place, word in zip(places, canvas.foot.tickStrings(places, 1, 1), strict=True):
        t = np.interp(canvas.foot.step(place) - 0.5, np.arange(40), irregular())
        assert float(word) == pytest.approx(t, abs=1e-3)
    wishes = gather(view)
    at = point(view, "before/0/lstm.hidden", 33)
    click(canvas.viewport(), at.x(), at.y())
    assert wishes[-1].changes["node"] == 33
    wide = canvas.axis.width(19)
    wheel(view, at, 4)
    assert canvas.axis.at(at.x()) == pytest.approx(33.5, abs=0.05) and canvas.axis.width(19) > 1.5 * wide
    view.canvas.fit()
    give(view, shift_part(40, 4))
    assert canvas.axis.scale is None and canvas.foot.tickStrings([0.5], 1, 1) == ["0"]


# text ---------------------------------------------------------------------------------------------------------------
def ground(view, step: int) -> QColor:
    """Return the colour behind a word of the text, read at its lower left corner."""
    box = next(box for box, k in view.text.cells if k == step)
    return view.text.grab().toImage().pixelColor(round(box.left()) + 3, round(box.bottom()) - 2)


def colour_by(view, name: str) -> None:
    view.colour.setCurrentIndex(view.colour.findData(name))
    view.colour.activated.emit(view.colour.currentIndex())
    QApplication.processEvents()


def test_words_have_the_colour_of_the_chosen_gate_or_of_what_the_step_attends_to(view):
    view.resize(500, 700)
    part = token_part("step")
    give(view, part, layer="lstm.forget_gate")
    assert view.text.isVisible() and view.colour.currentData() == "layer", "the layer on the stage to begin with"
    colour_by(view, "gate:lstm.input_gate")
    gate = part.gates["lstm.input_gate"].mean(1)
    for step in (0, 5, 14):
        assert ground(view, step) == QColor(*table("gate")[int(gate[step] * 252 + 0.5)].tolist()), step
    give(view, part, layer="lstm.forget_gate", channel=3)
    unit = part.gates["lstm.input_gate"][:, 3]
    assert ground(view, 5) == QColor(*table("gate")[int(unit[5] * 252 + 0.5)].tolist())
    assert view.canvas.shown.tint_name == "input gate, unit 3"

    pairs = token_part("pair")
    give(view, pairs, layer="encoder.attention", node=9)
    assert view.colour.currentData() == "gate:lstm.input_gate", "what was chosen stays while it is offered"
    colour_by(view, "attention")
    row = pairs.values.mean(0)[9]
    wanted = table("positive")[(row / row.max() * 252 + 0.5).astype(int)]
    for step in (0, 4, 8):
        found, expected = ground(view, step), QColor(*wanted[step].tolist())
        assert abs(found.green() - expected.green()) <= 3 and abs(found.red() - expected.red()) <= 3, step
    assert view.canvas.shown.tint_name == "attention of step 9, mean of 2 heads"


def test_the_text_has_a_legend_with_the_values_at_both_ends_and_the_read_out_says_the_value(view):
    view.resize(500, 700)
    part = token_part("step")
    gate = part.gates["lstm.forget_gate"]
    give(view, replace(part, values=gate, moved=gate), layer="lstm.forget_gate")
    with_legend = view.text.sizeHint().height()
    picture = view.text.grab().toImage()
    y = round(view.text.height() - 2 - 10)
    inks = [picture.pixelColor(x, y) for x in range(12, 160)]
    for level in (6, 246):  # both ends of the colours from 0 to 1
        end = QColor(*table("gate")[level].tolist())
        assert any(abs(c.red() - end.red()) + abs(c.green() - end.green()) < 16 for c in inks), level
    said = step_text(view.canvas.shown, "before", 4)
    assert f"forget gate, mean of 16 units {gate.mean(1)[4]:.3g}" in said
    colour_by(view, "")
    assert view.text.sizeHint().height() < with_legend


def test_a_click_on_a_word_selects_it_and_its_ring_is_seen_on_any_ground(view):
    view.resize(500, 700)
    part = token_part("step")
    for name in ("light", "dark"):
        theme.use(name)
        give(view, part, layer="lstm.forget_gate")
        wishes = gather(view)
        box = next(box for box, k in view.text.cells if k == 6)
        click(view.text, box.center().x(), box.center().y())
        assert wishes[-1].changes == {"node": 6, "other": None}
        give(view, part, layer="lstm.forget_gate", node=6)
        picture, accent = view.text.grab().toImage(), QColor(theme.current().accent)
        row = [picture.pixelColor(round(box.left()) + k, round(box.center().y())) for k in range(-3, 2)]
        assert any(abs(c.red() - accent.red()) + abs(c.blue() - accent.blue()) < 50 for c in row), name


def test_letters_of_a_word_stay_together_at_the_end_of_a_line(view):
    view.resize(420, 700)
    text = "the rabbit took a watch out of its waistcoat pocket and hurried on across the field " * 2
    x = np.eye(128, dtype=np.float32)[[ord(c) for c in text]]
    part = token_part("step")
    base = replace(
        part, steps=len(text), names=tuple(text), x=x, gx=x, order=np.arange(len(text), dtype=float), gates={},
        moved_gates={}, known=np.ones(len(text), bool), values=x, moved=x, difference=x * 0,
    )  # fmt: skip
    give(view, base)
    lines: dict[float, str] = {}
    for box, step in view.text.cells:
        lines[box.top()] = lines.get(box.top(), "") + text[step]
    assert len(lines) > 2 and "".join(lines.values()) == text[: len("".join(lines.values()))]
    for line in list(lines.values())[:-1]:
        assert line.strip().split()[-1] in text.split(), line
    assert all(box.right() <= view.text.width() for box, _ in view.text.cells)


def test_colours_that_go_as_far_to_both_sides_are_told_short() -> None:
    """The whole words stood across the name of the row, which is a third as wide."""
    assert between(*limits("signed", 0.00685)) == "±0.00685"
    assert between(*limits("positive", 2.0)).startswith("0 to ")
