"""A walk through sequences as a newcomer takes it: names that can be read, what is written, lessons on their panels."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QGraphicsSimpleTextItem
from pytestqt.qtbot import QtBot

import widgets
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.spaces.sequence.drawing.answers import written_text
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.state.session import load_session
from explorer.state.state import State
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.driving.windows import Open, settle
from tests.widgets.parts.frames.sample_catalogue import make_catalogue, make_info
from tests.widgets.parts.frames.time_parts import shift_part, time_frame
from widgets.spaces.pairs.views.pairs import PairsView
from widgets.spaces.sequence.timeline.rows import block_of, rows_of, short_names
from widgets.spaces.sequence.views.timeline import TimelineView
from widgets.views.charts.output import OutputView
from widgets.views.inspector import InspectorView
from widgets.window.lessons.course import LESSONS
from widgets.window.main_window import MainWindow

SEQUENCE_LESSONS = sorted(LESSONS.glob("5*.json")) + sorted(LESSONS.glob("6[0-3]*.json"))


def timeline(window: MainWindow) -> TimelineView:
    return next(view for _, view in window.panes.views if isinstance(view, TimelineView))


# names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["recurrent.input_gate", "recurrent.cell", "prediction"], ["input gate", "cell", "prediction"]),
        (["a.x.norm", "a.y.norm", "a.out"], ["x norm", "y norm", "out"]),
        (["encoder.0.norm", "decoder.0.norm"], ["encoder 0 norm", "decoder 0 norm"]),
        (["s.0", "s.1"], ["s 0", "s 1"]),  # a number alone names nothing
        (["norm", "a.norm"], ["norm", "a norm"]),
        (["one.gate", "one.gate"], ["gate", "gate"]),
        ([], []),
    ],
)
def test_names_are_as_short_as_tells_them_apart(names: list[str], wanted: list[str]) -> None:
    assert short_names(names) == wanted


def test_the_block_of_a_layer_is_its_first_number() -> None:
    assert block_of("stacks.encoder.0.self_attention.query") == "stacks.encoder.0"
    assert block_of("recurrent.hidden") == block_of("layers.0") == block_of("0.weight") == ""


def test_blocks_that_are_built_alike_stand_under_headings(qtbot: QtBot) -> None:
    one = np.zeros((200, 3), np.float32)
    gates = {f"stacks.{side}.{k}.norm": one for side in ("encoder", "decoder") for k in (0, 1)} | {"letter": one}
    part = shift_part(gates=gates, moved_gates=gates, kind="pair", values=np.zeros((1, 200, 200), np.float32))
    view = TimelineView()
    opened(qtbot, view, 1100, 700)
    view.set_frame(time_frame(part))
    rows = [row for row in view.canvas.shown.rows if row.side == "before"]
    heads = [row.name for row in rows if row.kind == "head"]
    assert [h.partition(" · ")[2] for h in heads][1:5] == ["encoder 0", "encoder 1", "decoder 0", "decoder 1"]
    assert [row.name for row in rows if row.layer] == ["norm"] * 4 + ["letter"]
    assert next(row.title for row in rows if row.layer) == "encoder 0 norm", "alone it is told with its block"


# what is drawn ------------------------------------------------------------------------------------------------


def test_one_number_a_step_is_a_curve_and_more_are_colours() -> None:
    wave = np.sin(np.arange(200, dtype=np.float32))[:, None]
    part = shift_part(by=3)
    part = replace(part, gates=dict(part.gates) | {"prediction": wave}, values=wave, moved=wave, difference=wave)
    square = time_frame(part).squares[0]
    square = replace(square, layer=replace(square.layer, name="prediction"))
    from widgets.spaces.sequence.timeline.pyramids.pyramid import Pyramid

    kinds = {row.key: row.kind for row in rows_of([(square, part)], ("before", "difference"), Pyramid)}
    assert kinds["before/0/prediction"] == kinds["difference/0"] == "line"
    assert kinds["before/0/lstm.cell"] == "heat"


def test_a_gradient_that_is_zero_says_so(qtbot: QtBot) -> None:
    view = TimelineView()
    opened(qtbot, view, 1100, 700)
    view.set_frame(time_frame(shift_part(gradient=np.zeros(200, np.float32))))
    told = [item.text() for item in view.canvas.scene().items() if isinstance(item, QGraphicsSimpleTextItem)]
    assert len(told) == 1 and told[0].startswith("0 at every step"), told


# what is written ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "labels", "wanted"),
    [
        ([*"2026-09-07", *["blank"] * 7], [*"0123456789-", "blank"], "2026-09-07 blank ×7"),
        ([*["_"] * 86, "i", "teach", "kids", "."], [*"_i.", "teach", "kids", "you", "we"], "_ ×86 i teach kids ."),
        ([*"abba"], [*"abc"], "abba"),
        ([], [], ""),
    ],
)
def test_what_stands_at_the_steps_is_one_text(names: list[str], labels: list[str], wanted: str) -> None:
    assert written_text(names, labels) == wanted


@pytest.mark.slow
def test_a_date_that_is_rewritten_can_be_read(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="bahdanau-dates", sample="date"))
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].of(TimePart) is not None
    asked = "".join(frame.squares[0].of(TimePart).names).strip()
    wanted = datetime.strptime(asked, "%d %B %Y").date().isoformat()
    row = next(r for r in timeline(window).canvas.shown.rows if r.written)
    assert "".join(row.written).replace("blank", "") == wanted and row.name == "answer"
    output = next(view for _, view in window.panes.views if isinstance(view, OutputView))
    window.show_view("output")
    qtbot.waitUntil(lambda: output.bars[0].written is not None)
    written = output.bars[0].written
    assert written is not None and written[0].startswith(f"{wanted} blank ×")
    assert output.bars[0].whose == f"mean over {frame.squares[0].of(TimePart).steps} steps"


@pytest.mark.slow
def test_a_matrix_over_steps_moves_with_the_steps(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="bahdanau-dates", sample="date", layer="alignment"))
    window.show_view("pairs")
    pairs = next(view for _, view in window.panes.views if isinstance(view, PairsView))
    qtbot.waitUntil(lambda: "moves with the steps" in pairs.words.text())
    assert "nodes" not in pairs.words.text()


@pytest.mark.slow
def test_classes_that_are_no_words_of_the_sequence_are_not_written(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="strand-cnn", sample="planted-dna"))
    assert not any(row.written for row in timeline(window).canvas.shown.rows)


# the window round it ------------------------------------------------------------------------------------------


def test_lessons_on_sequences_name_a_view() -> None:
    known = {spec.name for spec in scan(widgets, "VIEW", "views").values()}
    views = {path.stem: load_session(path).view for path in SEQUENCE_LESSONS}
    assert len(views) == 14 and all(views.values())
    assert {load_session(path).view for path in LESSONS.glob("*.json")} - {""} <= known


@pytest.mark.slow
def test_a_lesson_opens_on_the_panel_it_talks_about(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="simple-rnn", sample="sine"))
    window.show_view("log")
    for number, name in ((53, "gradient"), (58, "gates")):
        window.controller.open_session(str(next(LESSONS.glob(f"{number}-*.json"))))
        qtbot.waitUntil(lambda: not window.docks.docks[name].visibleRegion().isEmpty())  # noqa: B023
        settle(qtbot, window)
    assert window.docks.docks["log"].visibleRegion().isEmpty()


def test_what_was_under_the_cursor_goes_with_its_network(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="simple-rnn", sample="sine"))
    text = "step 3 · " + "a value of some layer " * 40
    window.status.read(text)
    assert window.status.reading.text().endswith("…") and window.status.reading.toolTip() == text
    window.controller.set_model("gru")
    assert window.status.reading.text() == "" == window.status.reading.toolTip()
    settle(qtbot, window)


def test_a_transform_that_comes_into_use_is_opened_and_closed_again(qtbot: QtBot) -> None:
    view = InspectorView()
    opened(qtbot, view, 300, 700)
    view.show_catalogue(replace(make_catalogue(), models=(make_info("rnn", domain="sequence"),)))
    warp, rescale = view.sections["warp"], view.sections["rescale"]
    view.set_state(State(model="rnn"))
    rescale.head.setChecked(True)  # by hand
    used = parse_chain("warp:0.1+rescale:0.5")
    view.set_state(State(model="rnn", steps=used))
    QApplication.processEvents()
    assert warp.head.isChecked() and rescale.head.isChecked()
    view.set_state(State(model="rnn"))
    assert not warp.head.isChecked(), "what came into use by itself goes by itself"
    assert rescale.head.isChecked(), "what the person opened stays open"
