"""The error per layer: what is drawn is what was measured, whatever was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtTest import QTest

from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, measure, objects, odd_frames, opened, with_layers
from tests.widgets.parts.frames.sample_frames import LAYERS, make_frame
from widgets.base.text.layer_names import alike, endings, shortened, told_apart
from widgets.base.text.words import (
    figure,
    guilty,
    inherited,
    read_out,
    verdict_colour_role,
    verdict_sentence,
    words_before,
)
from widgets.charts.axis.scales import ABOVE, LogScale
from widgets.views.charts.errors import ErrorsView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, ErrorsView())


def test_a_click_selects_the_layer(view):
    wishes = gather(view)
    view.set_frame(make_frame())
    chart = view.panels[0].layers
    mouse = PlotMouse(chart)
    for i, layer in enumerate(LAYERS):
        mouse.click(mouse.middle(i))
        assert wishes[-1].changes == {"layer": layer.name}
    assert len(wishes) == len(LAYERS)


def test_a_click_on_the_second_model_selects_the_layer_at_its_relative_depth(view):
    wishes = gather(view)
    frame = make_frame(compare=True)
    short = replace(frame.squares[1], layers=LAYERS[:3], layer=LAYERS[0])
    view.set_frame(replace(frame, squares=(frame.squares[0], short)))
    mouse = PlotMouse(view.panels[1].layers)
    for i, name in enumerate((LAYERS[0].name, LAYERS[2].name, LAYERS[4].name)):
        mouse.click(mouse.middle(i))
        assert wishes[-1].changes == {"layer": name}


def test_arrow_keys_walk_through_the_layers(view):
    wishes = gather(view)
    view.set_frame(make_frame())
    chart = view.panels[0].layers
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert not wishes  # the first layer is selected
    QTest.keyClick(chart, Qt.Key.Key_Right)
    assert wishes[-1].changes == {"layer": LAYERS[1].name}


def test_a_click_on_a_channel_selects_it(view):
    wishes = gather(view)
    view.set_frame(make_frame())
    mouse = PlotMouse(view.panels[0].channels)
    mouse.click(mouse.middle(5))
    assert wishes[-1].changes == {"channel": 5}


def test_drawn_heights_are_the_measured_errors(view):
    view.set_frame(make_frame())
    chart = view.panels[0].layers
    measures = [column.measure for column in chart.columns]
    plot = chart.plotted
    for marks, key in ((chart.cumulative, "cumulative"), (chart.local, "local")):
        for x, y, m in zip(*marks.getData(), measures, strict=True):
            height = (plot.bottom() - chart.at(x, y).y()) / plot.height()
            assert height == pytest.approx(np.log10(getattr(m, key) / 1e-9) / (10 + ABOVE))
    tops = chart.floor.rectangles()[:, 3]
    assert tops == pytest.approx(np.log10([m.floor for m in measures]))


def test_the_read_out_gives_every_number(view, qtbot):
    view.set_frame(make_frame())
    mouse = PlotMouse(view.panels[0].layers)
    said = []
    view.hovered.connect(said.append)
    mouse.move(mouse.middle(2))
    text = said[-1]
    for part in ("block.conv", "cumulative 0.6", "local 0.2", "floor 2.0e−7", "chance 1.2", "guilty"):
        assert part in text
    mouse.move(QPointF(1, 1))
    assert said[-1] == ""


def test_a_block_that_holds_a_guilty_layer_is_not_called_guilty_itself(view, qtbot):
    frame = make_frame()
    square = frame.squares[0]
    around = {**square.measures, "block": replace(square.measures["block.conv"])}
    layers = (replace(square.layers[2], name="block"), *square.layers)
    view.set_frame(replace(frame, squares=(replace(square, layers=layers, measures=around),)))
    mouse = PlotMouse(view.panels[0].layers)
    said = []
    view.hovered.connect(said.append)
    mouse.move(mouse.middle(0))
    assert said[-1].startswith("block ") and said[-1].endswith("broken")


def test_only_the_layer_that_makes_the_fault_is_guilty():
    square = make_frame().squares[0]
    assert verdict_sentence(square) == "broken by block.conv"


def test_an_element_that_cuts_something_off_is_not_called_resampled():
    curve = measure(cumulative=0.5, exact=False, verdict="no law")
    square = with_layers(["only"], {"only": curve}).squares[0]
    assert verdict_sentence(replace(square, verdict="no law")) == "resampled element: a curve, no verdict"
    cut = replace(square, verdict="no law", cut_off="a part of x that counts in the answer is cut off")
    assert verdict_sentence(cut) == "a curve, no verdict"


def test_why_there_is_no_verdict_is_said_in_a_few_words():
    square = replace(make_frame().squares[0], verdict="no law", guilty=(), message="the first reason at length")
    assert verdict_sentence(square) == "no verdict: its answers vary from call to call"
    assert verdict_sentence(replace(square, brief="values tie")) == "no verdict: values tie"


def test_what_broke_the_law_before_an_edit_is_the_layer_that_was_named_then():
    square = make_frame().squares[0]
    held = {name: measure() for name in square.measures}
    mended = replace(square, measures=held, guilty=(), before=square.measures, guilty_before=square.guilty)
    assert words_before(mended) == "before the edit broken by block.conv"
    assert words_before(replace(square, before=square.measures, guilty_before=square.guilty)) == ""


def test_the_sentence_says_what_is_known_and_no_more():
    bad, seen = measure(cumulative=0.5, local=0.5, verdict="broken"), measure(cumulative=0.5)
    square = with_layers(["first", "block", "last"], {"first": measure(), "block": bad, "last": seen}).squares[0]
    assert verdict_sentence(square) == "broken by block"
    assert verdict_sentence(replace(square, guilty=())) == "broken from block on"
    unasked = {**square.measures, "block": measure(cumulative=0.5, local=None, verdict="broken")}
    assert verdict_sentence(replace(square, measures=unasked)) == "broken from block on", "it may be made before it"
    guessed = replace(square, verdict="holds", guilty=())
    assert verdict_sentence(guessed) == "the output holds; block does not follow its guessed field"
    assert verdict_colour_role(guessed) == "good"
    fine = with_layers(["first", "last"]).squares[0]
    assert verdict_sentence(fine) == "holds at every layer"
    assert verdict_sentence(replace(fine, verdict="")).startswith("being measured: ")
    begun = with_layers(["first", "block", "last"], {"first": measure(), "block": bad}).squares[0]
    assert verdict_sentence(begun) == "broken by block so far (2 of 3 layers measured)"
    assert verdict_sentence(replace(begun, guilty=())).startswith("broken from block on so far (2 of 3")
    assert verdict_sentence(replace(fine, verdict="unmoved")) == "nothing to test yet: turn it"
    assert verdict_sentence(replace(fine, verdict="no law")) == "the output has no law"
    assert {verdict_colour_role(replace(fine, verdict=v)) for v in ("", "unmoved", "no law")} == {"muted"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_drawn(view, name):
    view.set_frame(ODD[name])
    view.grab()
    view.numbers(), view.caption()
    for panel in view.panels:
        for chart in (panel.layers, panel.channels):
            mouse = PlotMouse(chart)
            for i in range(0, 60, 7):
                mouse.move(QPointF(10.0 * i, 60.0))


def test_the_empty_state_says_what_comes(view):
    view.set_frame(None)
    assert "once the network has answered" in view.panels[0].layers.message
    view.set_frame(make_frame())
    assert view.panels[0].layers.message == ""


def test_nothing_is_made_anew_on_a_frame(view):
    frames = [make_frame(compare=True, seed=seed) for seed in range(2)]
    view.set_frame(frames[0])
    before = objects(view)
    for i in range(50):
        view.set_frame(frames[i % 2])
        view.grab()
    assert objects(view) == before


def test_the_wheel_zooms_and_a_frame_keeps_the_zoom(view):
    view.set_frame(ODD["200 layers"])
    chart = view.panels[0].layers
    assert np.diff(chart.box.viewRange()[0]) == pytest.approx(200)
    mouse = PlotMouse(chart)
    for _ in range(4):
        mouse.wheel(mouse.middle(70), 1)
    low, high = chart.box.viewRange()[0]
    assert 0 < low < 70 < high < 150 and high - low < 100
    view.set_frame(ODD["200 layers"])
    assert chart.box.viewRange()[0] == pytest.approx([low, high])
    wishes = gather(view)
    mouse.click(mouse.middle(70))
    assert wishes[-1].changes == {"layer": "features.7.block.70"}
    mouse.double_click(chart.plotted.center())
    assert not chart.box.zoomed


def test_the_axis_holds_zero_and_what_lies_outside():
    scale = LogScale()
    assert [scale.outside(v) for v in (0.0, 1e-10, 1e-9, 1.0, 10.0, 11.0)] == [-1, -1, 0, 0, 0, 1]
    assert scale.fraction(0.0) == scale.fraction(float("nan")) == 0.0
    assert scale.fraction(float("inf")) == scale.fraction(1e9) == 1.0


def test_a_mark_of_an_error_beyond_the_axis_is_not_cut(view):
    """The diamond of a layer that is off by more than ten times its values was cut in halves by the edge."""
    frame = make_frame()
    square = frame.squares[0]
    name = square.layers[0].name
    off = replace(square.measures[name], cumulative=300.0, local=300.0)
    view.set_frame(replace(frame, squares=(replace(square, measures={**square.measures, name: off}),)))
    chart = view.panels[0].layers
    for marks in (chart.cumulative, chart.local):
        x, y = (values[0] for values in marks.getData())
        assert chart.at(x, y).y() - 5 >= chart.plotted.top()


def test_numbers_are_those_of_the_frame(view):
    frame = make_frame(compare=True)
    view.set_frame(frame)
    numbers = view.numbers()
    measures = [frame.squares[0].measures[layer.name] for layer in LAYERS]
    assert list(numbers["layer"]) == [layer.name for layer in LAYERS]
    assert list(numbers["cumulative"]) == [m.cumulative for m in measures]
    assert list(numbers["compare.local"]) == [m.local for m in frame.squares[1].measures.values()]
    assert "rotate:90" in view.caption() and "handwritten 3" in view.caption()


def test_a_hidden_view_waits(qtbot):
    view = ErrorsView()
    qtbot.addWidget(view)
    view.set_frame(make_frame())
    assert not view.panels[0].layers.columns
    view.show()
    assert len(view.panels[0].layers.columns) == len(LAYERS)


@pytest.mark.parametrize("width, height", [(1280, 180), (250, 500), (90, 70), (2560, 400)])
def test_every_size_can_be_drawn(qtbot, width, height):
    view = opened(qtbot, ErrorsView(), width, height)
    view.set_frame(make_frame(compare=True))
    assert not view.grab().isNull()


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "no law"), (0.0, "0"), (0.2134, "0.213"), (2e-7, "2.0e−7"), (float("nan"), "not a number"),
     (float("inf"), "∞"), (-0.5, "−0.5"), (12345.0, "1.2e4"), (-1e-5, "−1.0e−5")],
)  # fmt: skip
def test_numbers_as_text(value, text):
    assert figure(value) == text


def test_an_inherited_error_is_no_fault_and_no_praise():
    passed_on = measure(cumulative=0.9, local=2e-7)
    assert inherited(passed_on) and not guilty(passed_on)
    assert "broken earlier; this layer holds" in read_out("relu", passed_on)
    assert not inherited(measure()) and not inherited(measure(cumulative=None)) and not inherited(None)


def test_what_a_layer_is_is_kept_of_its_name(qapp):
    metrics = QFontMetricsF(QFont())
    whole = metrics.horizontalAdvance("block1.conv1.attention")
    assert shortened(metrics, "block1.conv1.attention", whole) == "block1.conv1.attention"
    assert shortened(metrics, "block1.conv1.attention", whole - 1) == "…conv1.attention"
    assert shortened(metrics, "block1.conv1.attention", metrics.horizontalAdvance("…attention")) == "…attention"
    blocks = [f"layer{k}.{m}.conv{n}" for k in (1, 2) for m in (0, 1) for n in (1, 2)]
    room = max(map(metrics.horizontalAdvance, ("l2.0.conv2", "…1.conv1"))) + 1
    short = [shortened(metrics, name, room, endings([*blocks, "head.out"])) for name in blocks]
    assert short[0] == "l1.0.conv1" and len(set(short)) == len(blocks)  # none could be another's
    for name in ("layers.12.mlp.0", "a" * 50, "", "x.0"):
        for room in (5.0, 20.0, 50.0):
            text = shortened(metrics, name, room)
            assert metrics.horizontalAdvance(text) <= max(room, metrics.horizontalAdvance("…")) and text != "…0"


def test_names_beside_each_other_are_shortened_alike(qapp):
    metrics = QFontMetricsF(QFont())
    gates = ["recurrent.input_gate", "recurrent.cell", "recurrent.hidden", "recurrent", "prediction"]
    room = metrics.horizontalAdvance("recurrent.hidden") + 1
    texts = ["…input_gate", "…cell", "…hidden", "recurrent", "prediction"]
    assert alike(metrics, gates, room, endings(gates)) == texts
    assert alike(metrics, gates[1:], room, endings(gates)) == gates[1:]  # all have room
    ways = [f"rnn.{way}.{gate}" for way in ("left_to_right", "right_to_left") for gate in ("input_gate", "cell")]
    ways = [*ways, "rnn.left_to_right.h", "answer"]
    room = metrics.horizontalAdvance("rnn.left_to_right.h") + 1
    texts = ["r.l.input_gate", "r.l.cell", "r.r.input_gate", "r.r.cell", "r.l.h", "answer"]
    assert alike(metrics, ways, room, endings(ways)) == texts


def test_no_two_names_are_cut_to_the_same(qtbot):
    metrics = QFontMetricsF(QFont())
    names = ["embed input positions", "embed input with positions", "embed output positions", "gate"]
    room = metrics.horizontalAdvance("embed in…ositions")
    shown = [told_apart(metrics, name, room, names) for name in names]
    assert len(set(shown)) == len(names) and shown[-1] == "gate"
    assert all(metrics.horizontalAdvance(name) <= room for name in shown)
