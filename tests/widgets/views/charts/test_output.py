"""The network's answer: bars that are the outputs, the leading classes, and lines along the orbit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from explorer.spaces.graph.drawing.values import GraphPart
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened, outputs, with_square
from tests.widgets.parts.frames.graph_frames import karate, pair_frame
from tests.widgets.parts.frames.sample_frames import make_frame, make_orbit
from widgets.charts.output_chart import top, top_rows
from widgets.views.charts.output import OutputView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, OutputView())


def test_bars_end_at_the_outputs(view):
    frame = make_frame()
    view.set_frame(frame)
    bars = view.bars[0]
    plot = bars.plotted
    assert np.array_equal(bars.before, frame.squares[0].output.astype(float))
    drawn = bars.bars[1].rectangles()
    for value, (left, right, _, _) in zip(bars.after, drawn, strict=True):
        assert bars.at(left, 0).x() == pytest.approx(plot.left())
        assert bars.at(right, 0).x() == pytest.approx(plot.left() + value * plot.width())
    assert bars.rows == list(range(10))


def test_of_a_network_without_an_answer_it_says_why(view):
    frame = with_square(make_frame(), output=np.zeros(0), output_g=np.zeros(0), message="layer 1 gave NaN")
    view.set_frame(frame)
    assert view.bars[0].message == "There is no answer: layer 1 gave NaN." and not view.bars[0].rows


def test_the_figure_of_the_answer_which_is_bold_is_read_in_full(view):
    sure = np.eye(10)[3]
    view.set_frame(make_frame())
    QApplication.processEvents()  # laid out
    view.set_frame(with_square(make_frame(), output=sure, output_g=sure, probabilities=True))
    QApplication.processEvents()
    for figures in view.bars[0].figures:
        _, written = figures.generateDrawSpecs(None)
        assert "1.000" in [text for *_, text in written]


def test_the_leading_classes_of_many_are_shown(view):
    rng = np.random.default_rng(1)
    before, after = rng.random(1000), rng.random(1000)
    after[77] = 5.0
    view.set_frame(with_square(make_frame(), output=before, output_g=after, labels=(), probabilities=False))
    rows = view.bars[0].rows
    assert len(rows) == 10 and 77 in rows
    either = np.maximum(before, after)
    assert set(rows) == set(np.argsort(-either)[:10].tolist())
    assert [before[i] for i in rows] == sorted((before[i] for i in rows), reverse=True)


def test_rows_keep_still_while_the_element_changes():
    before = np.linspace(0, 1, 100)
    rows = [top_rows(before, np.roll(before, k) * 0.5) for k in range(5)]
    assert all(r == rows[0] for r in rows)


def test_as_many_rows_as_there_is_room_for(qtbot):
    view = opened(qtbot, OutputView(), 400, 90)
    frame = make_frame()
    view.set_frame(frame)
    shown = view.bars[0].shown
    assert 1 <= len(shown) < 10
    assert top(frame.squares[0].output) in shown and top(frame.squares[0].output_g) in shown


def test_the_axis_of_values_only_grows_while_one_model_is_shown(view):
    small = with_square(make_frame(), output=np.arange(-2.0, 3), output_g=np.ones(5), labels=(), probabilities=False)
    large = with_square(small, output_g=np.full(5, 9.0))
    view.set_frame(small)
    assert view.bars[0].extent == (-2.0, 2.0)
    view.set_frame(large)
    assert view.bars[0].extent == (-2.0, 9.0)
    view.set_frame(small)
    assert view.bars[0].extent == (-2.0, 9.0)
    view.set_frame(replace(small, state=replace(small.state, model="another")))
    assert view.bars[0].extent == (-2.0, 2.0)


def test_two_models_have_bars_of_their_own(view):
    view.set_frame(make_frame(compare=True))
    assert view.bars[1].isVisible()
    assert not np.array_equal(view.bars[0].before, view.bars[1].before)
    view.set_frame(make_frame())
    assert not view.bars[1].isVisible()


def test_lines_along_the_orbit_come_with_a_curve_and_go_with_the_button(view):
    view.set_frame(make_frame())
    assert not view.lines[0].isVisible() and not view.along.isVisible()
    curve = make_orbit()
    view.set_orbit((curve,))
    lines = view.lines[0]
    assert lines.isVisible() and view.along.isVisible()
    assert lines.classes == np.argsort(-curve.outputs.max(axis=0))[:5].tolist()
    view.along.click()
    assert not lines.isVisible()


def test_the_line_of_the_element_can_be_dragged_here_too(view):
    view.set_frame(make_frame(transform="rotate:0"))
    view.set_orbit((make_orbit(),))
    wishes = gather(view)
    lines = view.lines[0]
    mouse = PlotMouse(lines)
    mouse.drag(mouse.middle(0), mouse.middle(45))
    assert wishes[-1].step == ("rotate", (45.0,)) and wishes[-1].done and wishes[-1].tag == "orbit"
    view.set_state(make_frame(transform="rotate:45").state)
    view.set_frame(make_frame(transform="rotate:0"))
    assert lines.value == 45


def test_the_read_out_names_class_and_values(view):
    frame = with_square(make_frame(), **outputs(4))
    view.set_frame(frame)
    plot = view.bars[0].plotted
    text = PlotMouse(view.bars[0]).read(QPointF(plot.center().x(), plot.top() + 2.5 / 4 * plot.height()))
    assert text.startswith("a class with a long name, number 2 · F(x) ")


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("size", [(1280, 180), (260, 300), (90, 60)])
def test_odd_frames_are_drawn(qtbot, name, size):
    view = opened(qtbot, OutputView(), *size)
    view.set_frame(ODD[name])
    view.set_orbit((make_orbit(),))
    view.grab()
    view.numbers(), view.caption()
    mouse = PlotMouse(view.bars[0])
    for x in range(0, 90, 9):
        mouse.move(QPointF(x, x))


def test_the_empty_state_says_what_is_awaited_and_asks_for_nothing_that_is_done(view):
    assert "once the network has answered" in view.bars[0].message


@pytest.mark.slow
def test_nothing_is_made_anew_on_a_frame(view):
    view.set_frame(make_frame(compare=True))
    view.set_orbit((make_orbit(), make_orbit("plain-cnn")))
    before = objects(view)
    for i in range(50):
        view.set_frame(make_frame(compare=True, seed=i))
        view.set_orbit((make_orbit(done=i), make_orbit("plain-cnn", done=i)))
        view.grab()
    assert objects(view) == before


def test_numbers_are_those_of_the_frame(view):
    frame = make_frame(compare=True)
    view.set_frame(frame)
    numbers = view.numbers()
    assert np.array_equal(numbers["F(x)"], frame.squares[0].output)
    assert np.array_equal(numbers["compare.F(gx)"], frame.squares[1].output_g)
    assert list(numbers["label"]) == list(frame.squares[0].labels)


def of_layer(frame, field, shape, output, outputs=None, labels=()):
    """Return a graph's frame whose network ends in a layer of that field."""
    square = frame.squares[0]
    last = replace(square.layers[-1], name="readout", field=field, shape=shape)
    part = replace(square.of(GraphPart), outputs=outputs)
    changed = replace(
        square, layers=(*square.layers, last), output=np.asarray(output, float), output_g=np.asarray(output, float),
        labels=labels, part=part, probabilities=False,
    )  # fmt: skip
    return replace(frame, squares=(changed,))


def header(view):
    """Return what is written above the bars."""
    return view.bars[0].whose


def test_answers_of_nodes_say_whose_they_are(view):
    view.set_frame(of_layer(karate(), "node scalar", (34, 4), range(4)))
    assert header(view) == "mean over 34 nodes"
    frame = karate(node=0)
    view.set_frame(of_layer(frame, "node scalar", (34, 4), range(4)))
    name = frame.squares[0].of(GraphPart).structure.names[0]
    assert header(view) == f"{name} (0)" and f"{name} (0)" in view.caption()
    part = frame.squares[0].of(GraphPart)
    gone = replace(frame.squares[0], part=replace(part, order=np.where(np.arange(34) == 0, -1, part.order)))
    view.set_frame(of_layer(replace(frame, squares=(gone,)), "node scalar", (34, 4), range(4)))
    assert "left out" in header(view)
    view.set_frame(of_layer(karate(), "edge scalar", (156, 2), range(2)))
    assert header(view) == "mean over 156 edges"
    view.set_frame(make_frame())
    assert header(view) == "", "an image has one answer"


def test_one_answer_for_each_named_node_is_ranked(view):
    view.resize(1280, 300)
    frame = of_layer(karate(), "node scalar", (34, 1), [0.5])
    square = frame.squares[0]
    names = square.of(GraphPart).structure.names
    each = np.random.default_rng(0).permutation(68).reshape(2, 34) / 68
    each[1, 7] = np.nan  # left out of rho(g) x
    ranked = replace(square, part=replace(square.of(GraphPart), answers=each))
    view.set_frame(replace(frame, squares=(ranked,)))
    bars = view.bars[0]
    assert header(view) == "each of 34 nodes, ranked" and header(view) in view.caption()
    best = sorted(range(34), key=lambda i: -np.nanmax(each[:, i]))[: len(bars.rows)]
    assert set(bars.rows) == set(best) and bars.rows == sorted(bars.rows, key=lambda i: -each[0, i])
    assert [bars.label(i) for i in bars.rows] == [names[i] for i in bars.rows]
    assert view.numbers()["label"].tolist() == list(names)
    np.testing.assert_array_equal(view.numbers()["F(gx)"], each[1])
    view.set_orbit((make_orbit(),))
    assert not view.lines[0].isVisibleTo(view), "a curve would be that of the mean"
    few = np.array([[0.1, 0.3, 0.2]] * 2)
    part = replace(
        square.of(GraphPart),
        answers=few,
        structure=replace(square.of(GraphPart).structure, nodes=3, names=tuple("abc")),
    )
    view.set_frame(replace(frame, squares=(replace(square, part=part),)))
    assert view.bars[0].rows == [1, 2, 0], "few of them are ranked as well"
    selected = replace(frame.state, node=0)
    view.set_frame(replace(frame, state=selected, squares=(ranked,)))
    assert names[0] in header(view) and not view.bars[0].ranked, "a selected node has its own answer"


def test_the_answers_for_two_graphs_stand_one_below_the_other(view):
    both = np.array([[1.0, 2.0], [3.0, 4.0]])
    view.set_frame(of_layer(pair_frame(), "graph invariant", (2, 2), both.ravel(), both, ("in", "out")))
    bars = view.bars[0]
    assert [bars.label(i) for i in bars.rows] == ["graph 0: in", "graph 0: out", "graph 1: in", "graph 1: out"]
    assert view.numbers()["label"].tolist() == list(bars.labels)
    view.set_frame(of_layer(pair_frame(), "graph invariant", (2, 1), [1.0, 2.0], both[:, :1]))
    assert [view.bars[0].label(i) for i in view.bars[0].rows] == ["graph 0", "graph 1"]
    many = np.ones((5, 3))
    view.set_frame(of_layer(pair_frame(), "graph invariant", (5, 3), [1.0, 2.0, 3.0], many))
    assert header(view) == "mean over 5 graphs"


@pytest.mark.parametrize("highest", [1.0, 7.0])
def test_the_frame_hides_no_curve(view, highest):
    view.resize(1280, 300)
    view.set_frame(make_frame())
    answers = np.stack([np.full(72, highest), np.zeros(72)], axis=1)
    view.set_orbit((replace(make_orbit(), outputs=answers, labels=()),))
    chart = view.lines[0]
    top, bottom = chart.at(0, highest).y(), chart.at(0, 0.0).y()
    assert chart.plotted.top() + 2 < top < bottom < chart.plotted.bottom() - 2


def test_rounding_of_a_constant_does_not_fill_the_axis(view):
    view.resize(1280, 300)
    view.set_frame(make_frame())
    still = 411 + 1e-4 * np.random.default_rng(0).standard_normal((72, 1))
    view.set_orbit((replace(make_orbit(), outputs=still, labels=()),))
    chart = view.lines[0]
    low, high = chart.extent
    assert low < 411 < high and high - low > 1
    heights = [chart.at(0, v).y() for v in chart.lines[0].getOriginalDataset()[1]]
    assert max(heights) - min(heights) < 2
    texts = chart.left.tickStrings(chart.left.ticks(low, high, 6), 1, 1)
    assert len(set(texts)) == len(texts) > 1
