"""The tree of layers: filled in place, folded as it was left, and the place where field types are corrected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QStyleOptionViewItem

from explorer.declare.telling.summaries import LayerFigures, ModuleInfo, Silent, Statistics
from explorer.square.frame import Outline
from explorer.state.state import State
from tests.widgets.parts.driving import mouse
from tests.widgets.parts.driving.view_driving import click, gather, objects, odd_frames, opened, with_layers
from tests.widgets.parts.frames.sample_frames import LAYERS, make_frame
from widgets.base.look import theme
from widgets.views.layer_tree.layer_cells import MEASURE
from widgets.views.layer_tree.layer_columns import COLUMNS, ERROR, FIELD, KEYS, NAME, PARAMS, SHAPE
from widgets.views.layer_tree.layers import LayersView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, LayersView(), 640, 400)


def cell(view, name, column=NAME, root=0):
    index = view.model.index_of(name, root, column)
    assert index.isValid(), name
    return index


def text(view, name, column=NAME, root=0):
    return cell(view, name, column, root).data()


def names(view, parent=None):
    parent = parent or QModelIndex()
    return [view.model.index(i, NAME, parent).data() for i in range(view.model.rowCount(parent))]


def italic(view, name):
    font = cell(view, name, FIELD).data(Qt.ItemDataRole.FontRole)
    return font is not None and font.italic()


def rect_of(view, name, column=NAME, root=0):
    return view.tree.visualRect(cell(view, name, column, root))


def double_click(view, name, root=0):
    at = rect_of(view, name, FIELD, root).center()
    click(view.tree.viewport(), at.x(), at.y())
    mouse.double_click(view.tree.viewport(), at)


def edit(view, name, text):
    """Double-click the field of a layer and type over it."""
    double_click(view, name)
    editor = view.tree.findChild(QComboBox)
    assert editor is not None
    editor.lineEdit().selectAll()
    QTest.keyClicks(editor.lineEdit(), text)
    return editor


def test_a_large_network_is_a_tree_before_it_has_answered(view):
    modules = tuple(ModuleInfo(f"stages.{k}.conv", "Conv2d", 72, 72, -1) for k in range(500))
    view.show_outline(Outline(State("large"), "Large", modules))
    view.grab()
    assert names(view) == ["stages"] and view.tree.isVisible()
    assert text(view, "stages.7.conv", PARAMS) == "72" and text(view, "stages.7.conv", KEYS.index("calls")) == ""
    assert not view.tree.isExpanded(cell(view, "stages.7"))  # so many rows are folded
    assert view.chosen_layers() == []
    view.set_frame(make_frame())
    assert names(view) == ["lift", "relu1", "block", "group_pool", "head"]


def test_the_tree_follows_the_dotted_names(view):
    view.set_frame(make_frame())
    assert names(view) == ["lift", "relu1", "block", "group_pool", "head"]
    assert cell(view, "block.conv").parent().data() == "block"
    assert text(view, "block.conv", SHAPE) == "64×15×15" and text(view, "block.conv", PARAMS) == "36 928"
    assert text(view, "block.conv", FIELD) == "grid regular(D4) /2 ?" and italic(view, "block.conv")
    assert not italic(view, "lift")


def test_the_errors_are_those_of_the_frame(view):
    frame = make_frame()
    view.set_frame(frame)
    for layer in LAYERS:
        assert cell(view, layer.name, ERROR).data(MEASURE) == frame.squares[0].measures[layer.name]


def test_a_click_selects_the_layer(view):
    view.set_frame(make_frame())
    wishes = gather(view)
    for layer in LAYERS[1:]:
        at = rect_of(view, layer.name).center()
        click(view.tree.viewport(), at.x(), at.y())
        assert wishes[-1].changes == {"layer": layer.name}
    assert len(wishes) == len(LAYERS) - 1
    at = rect_of(view, "block").center()
    click(view.tree.viewport(), at.x(), at.y())
    assert len(wishes) == len(LAYERS) - 1  # a mere part of a name is no layer


def test_the_selected_layer_is_marked_without_an_answer(view):
    wishes = gather(view)
    frame = make_frame()
    for layer in LAYERS:
        view.set_frame(replace(frame, squares=(replace(frame.squares[0], layer=layer),)))
        assert view.tree.currentIndex().siblingAtColumn(NAME) == cell(view, layer.name)
    assert not wishes


def test_items_stay_while_numbers_change(view):
    view.set_frame(make_frame(compare=True))
    before, nodes = objects(view), dict(view.model.nodes)
    for i in range(50):
        view.set_frame(make_frame(compare=True, seed=i))
        view.grab()
    assert view.model.nodes == nodes and objects(view) == before


def test_what_is_folded_stays_folded(view):
    view.set_frame(make_frame(compare=True))
    view.tree.setExpanded(cell(view, "block"), False)
    view.set_frame(make_frame(compare=True, seed=1))
    assert not view.tree.isExpanded(cell(view, "block")) and view.tree.isExpanded(cell(view, "block", root=1))
    view.set_frame(with_layers(["a", "b.c"]))
    view.set_frame(make_frame(compare=True))
    assert not view.tree.isExpanded(cell(view, "block")) and view.tree.isExpanded(cell(view, "block", root=1))


def test_a_second_model_is_a_second_root(view):
    view.set_frame(make_frame(compare=True))
    assert names(view) == ["d4-cnn", "plain-cnn"]
    wishes = gather(view)
    at = rect_of(view, "group_pool", root=1).center()
    click(view.tree.viewport(), at.x(), at.y())
    assert wishes[-1].changes == {"layer": "group_pool"}


def test_a_field_type_is_corrected(view):
    frame = make_frame()
    view.set_frame(replace(frame, state=replace(frame.state, overrides=(("head", "invariant"),))))
    wishes = gather(view)
    editor = edit(view, "block.conv", "grid scalar /2")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert [w.changes for w in wishes if "overrides" in w.changes] == [
        {"overrides": (("head", "invariant"), ("block.conv", "grid scalar /2"))}
    ]
    assert view.sentence.isHidden()


@pytest.mark.parametrize(("kind", "offered"), [("grid", "grid regular(D4) /2"), ("graph", "edge scalar")])
def test_fields_of_the_space_that_is_looked_at_are_suggested(view, kind, offered):
    frame = make_frame()
    view.set_frame(replace(frame, squares=tuple(replace(square, kind=kind, part=None) for square in frame.squares)))
    editor = edit(view, "block.conv", "")
    texts = [editor.itemText(k) for k in range(editor.count())]
    assert offered in texts and texts[-1] == "invariant"
    assert all(text.startswith(("grid", "point")) is (kind == "grid") for text in texts[:-1])


def test_a_wrong_field_type_is_explained_and_not_lost(view):
    view.set_frame(make_frame())
    wishes = gather(view)
    editor = edit(view, "block.conv", "grid vector")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert not [w for w in wishes if "overrides" in w.changes]
    assert view.sentence.isVisible() and "unknown field type 'grid vector'" in view.sentence.text().lower()
    assert editor.isVisible() and editor.currentText() == "grid vector"
    view.set_frame(make_frame(seed=1))  # a frame in between takes nothing away
    assert editor.currentText() == "grid vector"
    QTest.keyClick(editor.lineEdit(), Qt.Key.Key_Backspace)
    assert view.sentence.isHidden()
    QTest.keyClick(editor, Qt.Key.Key_Escape)


def test_an_empty_field_type_takes_the_correction_back(view):
    frame = make_frame()
    view.set_frame(replace(frame, state=replace(frame.state, overrides=(("lift", "grid scalar"),))))
    wishes = gather(view)
    editor = edit(view, "lift", "x")
    editor.setEditText("")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert wishes[-1].changes == {"overrides": ()}


def test_fields_of_the_second_model_are_not_edited(view):
    view.set_frame(make_frame(compare=True))
    double_click(view, "lift", root=1)
    assert view.tree.findChild(QComboBox) is None and view.sentence.isVisible()


@pytest.mark.parametrize("width", [120, 250, 400, 1000])
def test_columns_fit_the_width(qtbot, width):
    view = opened(qtbot, LayersView(), width, 300)
    view.set_frame(make_frame())
    seen = [c for c in range(len(COLUMNS)) if not view.tree.isColumnHidden(c)]
    assert seen[0] == NAME and (width < 200 or ERROR in seen)
    assert sum(view.tree.columnWidth(c) for c in seen) <= max(width, 120)


def test_names_without_room_keep_their_ends_and_fields_their_beginnings(view):
    view.set_frame(make_frame())
    assert view.tree.textElideMode() == Qt.TextElideMode.ElideMiddle
    option = QStyleOptionViewItem()
    option.textElideMode = view.tree.textElideMode()
    view.field_delegate.initStyleOption(option, view.model.index(0, FIELD, QModelIndex()))
    assert option.textElideMode == Qt.TextElideMode.ElideRight


def test_above_the_rows_no_layer_is_read_out(view):
    view.set_frame(make_frame())
    said = []
    view.hovered.connect(said.append)
    mouse.move(view.tree.viewport(), rect_of(view, LAYERS[0].name).center())
    assert said[-1].startswith(LAYERS[0].name)
    QApplication.sendEvent(view.tree.viewport(), QEvent(QEvent.Type.Leave))
    assert said[-1] == ""


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_nested_names_have_room(qtbot, depth):
    view = opened(qtbot, LayersView(), 230, 300)
    frame = make_frame()
    square = frame.squares[0]
    above = ".".join("encoder" for _ in range(depth - 1))
    layers = tuple(replace(one, name=f"{above}.{one.name}".lstrip(".")) for one in square.layers)
    named = replace(square, layers=layers, layer=layers[0], measures={}, figures=None)
    view.set_frame(replace(frame, squares=(named,)))
    room = view.tree.columnWidth(NAME) - view.model.deepest * view.tree.indentation()
    assert view.model.deepest >= depth
    assert room >= view.fontMetrics().horizontalAdvance("x") * 7


def test_fields_are_shown_where_names_are_whole(qtbot):
    view = opened(qtbot, LayersView(), 232, 300)
    frame = make_frame()
    square = frame.squares[0]
    layers = tuple(replace(one, name=f"recurrent.cell_candidate{k}") for k, one in enumerate(square.layers))
    named = replace(square, layers=layers, layer=layers[0], measures={}, figures=None)
    view.set_frame(replace(frame, squares=(named,)))
    needed = view.model.deepest * view.tree.indentation() + view.fontMetrics().horizontalAdvance("cell_candidate0")
    assert view.tree.columnWidth(NAME) >= needed and view.tree.isColumnHidden(FIELD)
    view.resize(500, 300)
    assert view.tree.columnWidth(NAME) >= needed and not view.tree.isColumnHidden(FIELD)


@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_drawn(view, name):
    view.set_frame(ODD[name])
    view.grab()
    view.numbers(), view.caption(), view.figure_size()
    view.set_frame(make_frame())
    view.grab()


def test_before_the_first_answer_it_says_what_will_stand_there(view):
    view.set_frame(None)
    assert view.empty.isVisible() and "once the network has answered" in view.empty.text()


def shown(view):
    """Return the names of the layers that have a row."""
    return [node.layer.name for node in view.model.top.walk() if node.layer is not None]


def figured(**changes):
    """Return a frame whose layers have figures: a module that is never called, a shared one, statistics."""
    frame = make_frame()
    modules = tuple(
        ModuleInfo(n, kind, 10, 10, calls, first)
        for n, kind, calls, first in (
            ("lift", "LiftingConv2d", 1, ""), ("relu1", "ReLU", 2, ""), ("block", "Sequential", 0, ""),
            ("block.conv", "GroupConv2d", 1, ""), ("block.again", "ReLU", 2, "relu1"), ("idle", "Linear", 0, ""),
        )
    )  # fmt: skip
    values = {
        "lift": Statistics(0.25, 1.5, -2.0, 3.0, 0.125, 0, 0, 800),
        "relu1": Statistics(1, 1, 0, 2, 0.5, 3, 1, 80),
    }
    figures = LayerFigures(modules, {"": 5_000_000, "lift": 4_200_000, "relu1": 0}, values, {},
                           {"relu1": Silent((1, 4), 64, 9)}, "F(x) has 3 NaN values of relu1.")  # fmt: skip
    return replace(frame, squares=(replace(frame.squares[0], figures=replace(figures, **changes)),))


def column(key):
    return KEYS.index(key)


def test_figures_stand_in_their_columns(view):
    view.set_frame(figured())
    said = {k: text(view, "lift", column(k)) for k in ("kind", "flops", "calls", "mean", "std", "low", "high", "zeros")}
    assert said == {"kind": "LiftingConv2d", "flops": "4.2 M", "calls": "1×", "mean": "0.25", "std": "1.5",
                    "low": "−2", "high": "3", "zeros": "12.5%"}  # fmt: skip
    assert text(view, "relu1", column("strange")) == "3 NaN and 1 infinite"
    assert text(view, "relu1", column("dead")) == "2 of 64" and text(view, "relu1", column("calls")) == "2×"
    assert text(view, "block.again", column("calls")) == "= relu1" and text(view, "idle", column("calls")) == "never"
    assert view.sentence.isVisible() and view.sentence.text() == "F(x) has 3 NaN values of relu1."
    found = view.numbers()
    assert found["mean"][0] == 0.25 and found["flops"][0] == 4_200_000 and found["dead"].tolist() == [0, 2, 0, 0, 0]


def test_what_lies_behind_a_nan_is_not_said_to_be_never_called(view):
    frame = figured(modules=(ModuleInfo("idle", "Linear", 0, 0, -1),))
    view.set_frame(replace(frame, squares=(replace(frame.squares[0], message="layer head gave NaN"),)))
    assert (
        cell(view, "idle", NAME).data(Qt.ItemDataRole.ToolTipRole) == "idle: Linear, not looked at: layer head gave NaN"
    )
    assert text(view, "idle", column("calls")) == ""


def test_an_expert_that_some_inputs_are_sent_to_is_not_said_to_be_never_called(view):
    view.set_frame(figured(modules=(ModuleInfo("idle", "Linear", 0, 0, 0, varies=True),)))
    assert "called on some inputs alone" in cell(view, "idle", NAME).data(Qt.ItemDataRole.ToolTipRole)
    assert text(view, "idle", column("calls")) == "varies"


@pytest.mark.parametrize("typed, wanted", [
    ("conv", ["lift", "block.conv"]), ("BLOCK group", ["block.conv"]), ("invariant", ["head"]), ("xyz", []),
    ("", ["lift", "relu1", "block.conv", "group_pool", "head"]),
])  # fmt: skip
def test_a_search_goes_through_names_types_and_fields(qtbot, view, typed, wanted):
    view.set_frame(figured())
    QTest.keyClicks(view.bar.line, "q")
    view.bar.line.setText(typed)
    qtbot.waitUntil(lambda: shown(view) == wanted)
    assert view.bar.count.text() == ("" if len(wanted) == 5 else f"{len(wanted)} of 5")


def test_a_search_finds_modules_that_are_not_called_as_well(qtbot, view):
    frame = make_frame()
    modules = tuple(ModuleInfo(name, "Linear", 6, 6, 0) for name in ("spare", "spare.one", "spare.two"))
    figures = LayerFigures(modules, {}, {}, "")
    view.set_frame(replace(frame, squares=(replace(frame.squares[0], figures=figures),)))
    view.bar.line.setText("two")
    qtbot.waitUntil(lambda: ("spare.two" in {path for _, path in view.model.nodes}) and len(view.model.nodes) == 2)
    assert view.bar.count.text() == f"0 of {len(LAYERS)} + 1 not called"
    view.bar.line.setText("")
    qtbot.waitUntil(lambda: view.bar.count.text() == "")


def test_guilty_layers_alone_follow_the_verdict(view):
    view.set_frame(make_frame())
    QTest.mouseClick(view.bar.guilty, Qt.MouseButton.LeftButton)
    assert shown(view) == ["block.conv"]
    view.set_frame(make_frame(broken=False))
    assert shown(view) == []


def test_calls_stand_in_the_order_of_execution(view):
    view.set_frame(figured())
    QTest.mouseClick(view.bar.in_order, Qt.MouseButton.LeftButton)
    assert names(view) == [layer.name for layer in LAYERS]
    QTest.mouseClick(view.bar.in_order, Qt.MouseButton.LeftButton)
    assert "block" in names(view) and "idle" in names(view)


def test_several_layers_are_watched_at_once(view):
    view.set_frame(make_frame())
    wishes = gather(view)
    at = rect_of(view, "relu1").center()
    click(view.tree.viewport(), at.x(), at.y())
    QTest.mouseClick(view.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier,
                     rect_of(view, "head").center())  # fmt: skip
    QTest.keyClick(view, Qt.Key.Key_W)
    assert wishes[-1].changes == {"watched": ("relu1", "head")}
    state = replace(make_frame().state, watched=("relu1", "head"))
    view.set_state(state)
    assert cell(view, "head").data(Qt.ItemDataRole.DecorationRole) is not None
    assert cell(view, "lift").data(Qt.ItemDataRole.DecorationRole) is None
    view.bar.watched.setChecked(True)
    assert shown(view) == ["relu1", "head"]
    view.set_state(replace(state, watched=("lift",)))
    assert shown(view) == ["lift"]


def test_chosen_columns_are_remembered(qtbot, view):
    view.set_frame(figured())
    assert view.tree.isColumnHidden(column("mean"))
    view.bar.choose("mean", True)
    view.bar.choose("params", False)
    assert not view.tree.isColumnHidden(column("mean")) and view.tree.isColumnHidden(PARAMS)
    again = opened(qtbot, LayersView(), 640, 400)
    again.set_frame(figured())
    assert not again.tree.isColumnHidden(column("mean")) and again.tree.isColumnHidden(PARAMS)
    again.bar.forget()
    assert again.tree.isColumnHidden(column("mean")) and not again.tree.isColumnHidden(PARAMS)


def test_the_menu_of_a_row_takes_a_correction_back(view):
    frame = make_frame()
    view.set_frame(replace(frame, state=replace(frame.state, overrides=(("head", "invariant"),))))
    wishes = gather(view)
    actions = {a.text(): a for a in view.menu_at(cell(view, "head")).actions()}
    actions["Take the correction back"].trigger()
    assert wishes[-1].changes == {"overrides": ()}


def test_the_reason_of_a_guess_is_told(view):
    frame = make_frame()
    layers = tuple(replace(n, reason="by its shape alone") if n.guessed else n for n in LAYERS)
    view.set_frame(replace(frame, squares=(replace(frame.squares[0], layers=layers),)))
    tip = cell(view, "block.conv", FIELD).data(Qt.ItemDataRole.ToolTipRole)
    assert "a guess: by its shape alone." in tip and "correct" in tip


@pytest.fixture(params=["light", "dark"])
def themed(request):
    """Choose a theme as every start does: a style sheet can make Qt paint all of a view that is scrolled."""
    theme.use(request.param)
    yield
    theme.use("light")


def test_a_turn_of_the_wheel_paints_the_rows_that_come_into_sight(themed, view, qtbot):
    frame = make_frame()
    square = frame.squares[0]
    many = tuple(replace(square.layers[0], name=f"layer{k:03}", module=f"layer{k:03}") for k in range(300))
    square = replace(square, layers=many, measures={n.name: square.measures[square.layer.name] for n in many})
    view.set_frame(replace(frame, squares=(replace(square, layer=many[0]),)))
    bar, high, viewport = view.tree.verticalScrollBar(), view.tree.sizeHintForRow(0), view.tree.viewport()
    for rows in (17, 3):  # the first turn does what making the rows has left
        bar.setValue(bar.value() + rows * high)
        QApplication.processEvents()
    painted = []

    class Paints(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.Paint:
                painted[-1] += sum(rect.height() for rect in event.region())
            return False

    paints = Paints()
    viewport.installEventFilter(paints)
    for _ in range(5):  # the desktop may ask for all of it at any time
        painted.append(0)
        bar.setValue(bar.value() + 3 * high)
        QApplication.processEvents()
    assert view.tree.indexAt(viewport.rect().topLeft()).data() == "layer035"
    assert 0 < min(painted) < viewport.height() / 2, "a notch of the wheel painted all rows"
