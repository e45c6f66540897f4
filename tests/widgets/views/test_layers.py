"""The tree of layers: filled in place, folded as it was left, and the place where field types are corrected."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from tests.widgets.parts.driving import mouse
from tests.widgets.parts.driving.view_driving import click, gather, objects, odd_frames, opened, with_layers
from tests.widgets.parts.frames.sample_frames import LAYERS, make_frame
from widgets.views.layers import ERROR, FIELD, MEASURE, NAME, PARAMS, SHAPE, LayersView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, LayersView(), 640, 400)


def item(view, name, root=0):
    return view.items[root, name]


def rect_of(view, name, column=NAME, root=0):
    index = view.tree.indexFromItem(item(view, name, root), column)
    return view.tree.visualRect(index)


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


def test_the_tree_follows_the_dotted_names(view):
    view.set_frame(make_frame())
    top = [view.tree.topLevelItem(i).text(NAME) for i in range(view.tree.topLevelItemCount())]
    assert top == ["lift", "relu1", "block", "group_pool", "head"]
    conv = item(view, "block.conv")
    assert conv.parent().text(NAME) == "block"
    assert conv.text(SHAPE) == "64×15×15" and conv.text(PARAMS) == "36 928"
    assert conv.text(FIELD) == "grid regular(D4) /2 ?" and conv.font(FIELD).italic()
    assert not item(view, "lift").font(FIELD).italic()


def test_the_errors_are_those_of_the_frame(view):
    frame = make_frame()
    view.set_frame(frame)
    for layer in LAYERS:
        assert item(view, layer.name).data(ERROR, MEASURE) == frame.squares[0].measures[layer.name]


def test_a_click_selects_the_layer(view):
    view.set_frame(make_frame())
    wishes = gather(view)
    for layer in LAYERS[1:]:
        at = rect_of(view, layer.name).center()
        click(view.tree.viewport(), at.x(), at.y())
        assert wishes[-1].changes == {"layer": layer.name}
    assert len(wishes) == len(LAYERS) - 1
    at = view.tree.visualRect(view.tree.indexFromItem(item(view, "block"))).center()
    click(view.tree.viewport(), at.x(), at.y())
    assert len(wishes) == len(LAYERS) - 1  # a mere part of a name is no layer


def test_the_selected_layer_is_marked_without_an_answer(view):
    wishes = gather(view)
    frame = make_frame()
    for layer in LAYERS:
        view.set_frame(replace(frame, squares=(replace(frame.squares[0], layer=layer),)))
        assert view.tree.currentItem() is item(view, layer.name)
    assert not wishes


def test_items_stay_while_numbers_change(view):
    view.set_frame(make_frame(compare=True))
    before, items = objects(view), dict(view.items)
    for i in range(50):
        view.set_frame(make_frame(compare=True, seed=i))
        view.grab()
    assert view.items == items and objects(view) == before


def test_what_is_folded_stays_folded(view):
    view.set_frame(make_frame(compare=True))
    item(view, "block").setExpanded(False)
    view.set_frame(make_frame(compare=True, seed=1))
    assert not item(view, "block").isExpanded() and item(view, "block", 1).isExpanded()
    view.set_frame(with_layers(["a", "b.c"]))
    view.set_frame(make_frame(compare=True))
    assert not item(view, "block").isExpanded() and item(view, "block", 1).isExpanded()


def test_a_second_model_is_a_second_root(view):
    view.set_frame(make_frame(compare=True))
    assert [view.tree.topLevelItem(i).text(NAME) for i in range(2)] == ["d4-cnn", "plain-cnn"]
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
    shown = [c for c in range(5) if not view.tree.isColumnHidden(c)]
    assert shown[0] == NAME and (width < 200 or ERROR in shown)
    assert sum(view.tree.columnWidth(c) for c in shown) <= max(width, 120)


@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_drawn(view, name):
    view.set_frame(ODD[name])
    view.grab()
    view.numbers(), view.caption(), view.figure_size()
    view.set_frame(make_frame())
    view.grab()


def test_the_empty_state_says_what_to_do(view):
    view.set_frame(None)
    assert view.empty.isVisible() and "Choose a model" in view.empty.text()
