"""The controls of the group element: they say what the person does, and never answer the state."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionSlider

from explorer.declare.elements import parse_chain, transforms
from explorer.declare.params import Param
from explorer.state.state import State
from tests.widgets.parts.driving.mouse import double_click, move
from tests.widgets.parts.driving.view_driving import gather, measure, objects, odd_frames, opened, with_layers
from tests.widgets.parts.frames.graph_frames import graph_frame, graph_square, karate, structure_of
from tests.widgets.parts.frames.sample_catalogue import make_catalogue, make_info
from tests.widgets.parts.frames.sample_frames import make_frame
from tests.widgets.parts.frames.time_parts import shift_part, time_frame
from widgets.base.controls.param_control import ParamControl
from widgets.views.inspector import InspectorView, with_unit

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    view = opened(qtbot, InspectorView(), 270, 700)
    view.show_catalogue(make_catalogue())
    view.set_state(State(steps=parse_chain("rotate:90")))
    return view


def control(view, transform, param):
    section = view.sections[transform]
    section.head.setChecked(True)
    return section.controls[param]


def handle(slider):
    """Return the middle of the slider's handle."""
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    rect = slider.style().subControlRect(
        QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider
    )
    return rect.center()


def test_every_declared_parameter_has_a_control(view):
    for name, transform in transforms().items():
        assert list(view.sections[name].controls) == [p.name for p in transform.params if not p.quiet]


def test_what_comes_into_use_is_scrolled_to(qtbot, view):
    view.resize(270, 320)
    bar, area = view.area.verticalScrollBar(), view.area.viewport()
    qtbot.waitUntil(lambda: bar.maximum() > 100)
    bar.setValue(bar.maximum())

    def seen(name):
        section = view.sections[name]
        top = section.mapTo(area, QPoint(0, 0)).y()
        return 0 <= top < area.height() - section.head.height()

    assert not seen("rotate")
    view.set_state(State(steps=parse_chain("rotate:91")))
    QApplication.processEvents()
    assert not seen("rotate")  # it was in use before: the panel stays where the person has it
    view.set_state(State(steps=()))
    view.set_state(State(steps=parse_chain("rotate:91")))
    qtbot.waitUntil(lambda: seen("rotate"))
    bar.setValue(0)
    view.set_state(State(steps=parse_chain("rotate:91+dilate:1.5")))
    qtbot.waitUntil(lambda: seen("dilate"))


def test_the_least_number_is_called_by_its_name(qtbot, view):
    vertex = ParamControl(Param("vertex", "Vertex", -1, -1, 99, whole=True, least="all"))
    qtbot.addWidget(vertex)
    assert vertex.spin.text() == "all"
    vertex.set_value(3)
    assert vertex.spin.text() == "3"
    vertex.spin.lineEdit().setText("−1")
    vertex.spin.editingFinished.emit()
    vertex.spin.interpretText()
    assert (vertex.value(), vertex.spin.text()) == (-1, "all")


def test_handles_without_a_control_stay_when_another_is_moved(view):
    view.set_state(State(model="lstm", steps=parse_chain("warp:0.1,0,0,0.6,0.05")))
    wishes = gather(view)
    control(view, "warp", "middle").changed.emit(0.2, True)
    assert wishes[-1].step == ("warp", (0.1, 0.0, 0.0, 0.6, 0.05, *[0.0] * 6))
    assert view.sections["warp"].summary.text() == "0.1, …"


def test_what_is_hidden_is_written_when_it_is_shown(qtbot):
    view = opened(qtbot, InspectorView(), 270, 700)
    view.show_catalogue(make_catalogue(models=4))  # the last is a network on graphs
    section, written = view.sections["rotate"], []
    known, section.show_values = section.show_values, lambda *a: (written.append(a), known(*a))
    view.set_state(State(model="model-3", steps=parse_chain("permute:3")))
    assert section.isHidden() and not [values for values, on in written if on]
    written.clear()
    view.set_state(State(model="model-3", steps=parse_chain("permute:4")))
    assert not written  # a drag changes the state with every turn
    view.set_state(State(steps=parse_chain("rotate:90")))
    assert not section.isHidden() and section.controls["angle"].value() == 90
    assert view.sections["permute"].isHidden()


def test_long_values_do_not_push_the_boxes_out_of_the_panel(qtbot):
    view = InspectorView()
    qtbot.addWidget(view)
    view.resize(284, 500)
    view.show()
    section = view.sections["rotate3d"]
    view.set_state(State(model="gem-cnn", steps=parse_chain("rotate3d:0,0,10")))
    least = section.minimumSizeHint().width()
    view.set_state(State(model="gem-cnn", steps=parse_chain("rotate3d:-105.55,129.25,-113.45")))
    assert section.minimumSizeHint().width() == least
    assert section.summary.text().endswith("…") and section.summary.toolTip() == "−105.55°, 129.25°, −113.45°"


def test_dragging_a_slider_wishes_until_it_is_released(view):
    wishes = gather(view)
    slider = control(view, "rotate", "angle").slider
    start = handle(slider)
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=start)
    for dx in (-6, -12, -18):
        move(slider, start + QPoint(dx, 0), Qt.MouseButton.LeftButton)
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=start + QPoint(-18, 0))
    values = [w.step[1][0] for w in wishes]
    assert len(wishes) >= 3 and values == sorted(values, reverse=True) and values[-1] < 90
    assert {(w.step[0], w.tag) for w in wishes} == {("rotate", "inspector:rotate:angle")}
    assert [w.done for w in wishes] == [False] * (len(wishes) - 1) + [True]


def test_a_state_that_lags_behind_does_not_move_what_is_held(view):
    control_ = control(view, "rotate", "angle")
    start = handle(control_.slider)
    QTest.mousePress(control_.slider, Qt.MouseButton.LeftButton, pos=start)
    move(control_.slider, start + QPoint(-20, 0), Qt.MouseButton.LeftButton)
    held = control_.value()
    assert held != 90
    view.set_state(State(steps=parse_chain("rotate:90")))
    assert control_.value() == held
    QTest.mouseRelease(control_.slider, Qt.MouseButton.LeftButton, pos=start + QPoint(-20, 0))


def test_a_typed_number_is_one_wish(view):
    wishes = gather(view)
    spin = control(view, "translate", "right").spin
    spin.setFocus()
    spin.lineEdit().selectAll()
    QTest.keyClicks(spin.lineEdit(), "12.5")
    assert not wishes
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert wishes[0].step == ("translate", (12.5, 0.0, 0.0))
    assert {w.step for w in wishes} == {wishes[0].step} and wishes[-1].done


def test_typing_is_not_overwritten_by_frames(view):
    spin = control(view, "translate", "right").spin
    spin.setFocus()
    spin.lineEdit().selectAll()
    QTest.keyClicks(spin.lineEdit(), "12")
    view.set_state(State(steps=parse_chain("translate:3")))
    assert spin.lineEdit().text().startswith("12")


def test_choices_are_a_combo(view):
    wishes = gather(view)
    combo = control(view, "translate", "boundary").combo
    combo.activated.emit(1)
    combo.setCurrentIndex(1)
    assert wishes[0].step == ("translate", (0.0, 0.0, 0.0)) or wishes[0].step == ("translate", (0.0, 0.0, 1.0))
    QTest.keyClick(combo, Qt.Key.Key_Up)
    assert wishes[-1].step == ("translate", (0.0, 0.0, 0.0)) and wishes[-1].done


def test_the_state_sets_every_control_without_an_answer(view):
    wishes = gather(view)
    states = ["", "rotate:-45", "rotate:30+translate:4,-2,zero+reflect:diagonal", "dilate:2+brightness:0.5,1"]
    for text in states * 25:
        state = State(steps=parse_chain(text), untransform="dilate" in text)
        view.set_state(state)
        for name, transform in transforms().items():
            step = state.step(name)
            wanted = step.values if step is not None else transform.defaults
            assert view.sections[name].values() == pytest.approx(wanted)
        assert view.chain.text() == text
        assert view.untransform.isChecked() == state.untransform
    assert not wishes


def test_the_chain_is_read(view):
    wishes = gather(view)
    view.chain.selectAll()
    QTest.keyClicks(view.chain, "rotate:30+translate:4,0")
    QTest.keyClick(view.chain, Qt.Key.Key_Return)
    assert [w.changes for w in wishes] == [{"steps": parse_chain("rotate:30+translate:4,0")}]
    assert view.complaint.isHidden() and view.chain.text() == "rotate:30+translate:4"


def test_a_wrong_chain_is_explained_and_not_lost(view):
    wishes = gather(view)
    view.chain.selectAll()
    QTest.keyClicks(view.chain, "rotat:30")
    QTest.keyClick(view.chain, Qt.Key.Key_Return)
    assert not wishes and view.complaint.isVisible()
    assert "did you mean 'rotate'" in view.complaint.text()
    view.set_state(State(steps=parse_chain("dilate:2")))
    assert view.chain.text() == "rotat:30"
    QTest.keyClick(view.chain, Qt.Key.Key_Backspace)
    assert view.complaint.isHidden()


def test_the_buttons_ask(view):
    asked = []
    view.requested.connect(asked.append)
    for button in view.buttons.values():
        button.click()
    assert asked == ["identity", "inverse", "random"]
    view.set_state(State())
    assert not view.buttons["identity"].isEnabled() and view.buttons["random"].isEnabled()


def test_a_transform_is_taken_out_of_the_chain_and_put_in(view):
    wishes = gather(view)
    view.set_state(State(steps=parse_chain("rotate:30+dilate:2")))
    view.sections["rotate"].clear.click()
    assert wishes[-1].changes == {"steps": parse_chain("dilate:2")}
    view.sections["reflect"].clear.click()
    assert wishes[-1].step == ("reflect", (0.0,)) and wishes[-1].done


def test_untransform_is_asked_for(view):
    wishes = gather(view)
    view.untransform.click()
    assert [w.changes for w in wishes] == [{"untransform": True}]


def test_the_parameters_of_the_model(view):
    wishes = gather(view)
    section = view.model_section
    assert list(section.controls) == ["depth", "rate", "pool"]
    section.controls["depth"].spin.setValue(4)
    assert wishes[-1].changes == {"params": (("depth", 4.0),)}
    assert wishes[-1].tag == "inspector:model:depth"
    view.set_state(State(params=(("depth", 3.0), ("pool", 1.0))))
    assert section.values() == (3.0, 0.1, 1.0) and view.model_section is section
    section.clear.click()
    assert wishes[-1].changes == {"params": ()}
    weighed = State(model=f"{State().model}@/somewhere/mine.safetensors", params=(("depth", 3.0),))
    view.set_state(weighed)
    assert view.model_section is not None and view.model_section.values()[0] == 3.0, "with other weights too"
    view.set_state(State(model="plain-cnn"))
    assert view.model_section is None


def test_transforms_of_another_domain_are_hidden(view):
    catalogue = replace(make_catalogue(), models=(make_info("gnn", domain="graph"),))
    view.show_catalogue(catalogue)
    for model in ("gnn", "gnn@other.safetensors"):
        view.set_state(State(model=model))
        for name, section in view.sections.items():
            assert section.isHidden() == ("graph" not in transforms()[name].domains), (model, name)
    assert view.sections["rotate"].isHidden() and not view.sections["permute"].isHidden()


def test_a_model_from_a_file_shows_the_transforms_of_what_its_frame_lives_on(view):
    own = State(model="net.py:Net", steps=parse_chain("shift:3"))
    view.set_state(own)
    shown = [name for name, section in view.sections.items() if not section.isHidden()]
    assert shown == ["shift"], "not known yet: what the chain holds"
    frame = time_frame(shift_part(), steps=own.steps)
    view.show_frame(replace(frame, state=own))
    for name, section in view.sections.items():
        assert section.isHidden() == ("sequence" not in transforms()[name].domains), name
    view.set_state(State(model="other.py:Net"))
    assert all(section.isHidden() for section in view.sections.values()), "another model may live elsewhere"


def on_karate(view):
    view.show_catalogue(replace(make_catalogue(), models=(make_info("gnn", domain="graph", params=()),)))
    view.set_state(State(model="gnn"))
    view.set_frame(karate())
    return view


@pytest.mark.parametrize("name", ["swap", "move"])
def test_numbers_of_nodes_go_as_far_as_there_are_nodes(view, name):
    on_karate(view)
    i = control(view, name, "i")
    assert i.spin.maximum() == 33 and i.limits() == (0, 33)
    wishes = gather(view)
    i.slider.setValue(i.slider.maximum())
    assert wishes[-1].step == (name, (33.0, 0.0))
    i.slider.setValue(i.slider.maximum() - 1)
    assert wishes[-1].step == (name, (32.0, 0.0)), "one step of the slider is one node"
    # a smaller graph: what is shown is clamped, and nothing is said
    count = len(wishes)
    view.set_frame(graph_frame(graph_square(structure_of(nx.path_graph(5)))))
    assert i.spin.maximum() == 4 and len(wishes) == count
    view.set_frame(graph_frame(graph_square(structure_of(nx.path_graph(1)))))
    view.grab()
    assert i.value() == 0


def test_a_seed_is_drawn_anew(view):
    on_karate(view)
    section = view.sections["permute"]
    assert section.head.isChecked(), "open from the start"
    wishes = gather(view)
    seen = []
    for _ in range(12):
        before = section.controls["seed"].value()
        section.controls["seed"].draw.click()
        name, (seed, back) = wishes[-1].step
        assert (name, back) == ("permute", 0.0) and wishes[-1].done
        assert seed != before and 1 <= seed <= 9999
        seen.append(seed)
    assert len(set(seen)) > 6


def test_names_of_parameters_have_the_room_they_need(view):
    params = (Param("a", "Position encoding", 0, 0, 1, choices=("random walk", "Laplacian eigenvectors of the graph")),
              Param("b", "The title of this one has no end at all, nor a middle", 1, 0, 5, whole=True),
              Param("c", "Longest dependency", 1, 0, 5, whole=True))  # fmt: skip
    view.show_catalogue(replace(make_catalogue(), models=(make_info("gnn", domain="graph", params=params),)))
    view.set_state(State(model="gnn"))
    QApplication.processEvents()
    first, second, third = view.model_section.controls.values()
    assert first.label.text() == "Position encoding" and second.label.text().endswith("…")
    assert third.label.text() == "Longest dependency" and third.label.wordWrap(), "on two lines"
    room, metrics = first.label.width(), first.label.fontMetrics()
    words = first.label.text().split() if first.label.wordWrap() else [first.label.text()]
    assert all(metrics.horizontalAdvance(word) <= room for word in words), "on two lines where one has no room"
    port = view.area.viewport().width()
    for c in (first, second, third):
        right = max(w.mapTo(view.area.viewport(), w.rect().topRight()).x() for w in (c.combo, c.spin) if w is not None)
        assert right < port, "nothing is cut at the right"


def test_the_name_of_a_layer_is_not_cut_by_figures_that_are_wider_than_the_verdict(view):
    name = "layer2.product.paths.1o_x_1o_to_1e"
    one = measure(cumulative=8.8e-7, local=8.6e-8, verdict="holds")
    view.set_frame(with_layers([name], {name: one}))
    for width in range(240, 300, 3):
        view.resize(width, 700)
        QApplication.processEvents()  # figures came: the columns are laid out in the turn after it
        title = view.table.title
        assert title.fontMetrics().horizontalAdvance(title.text()) <= title.width(), width
        assert title.text().endswith("1e") and title.text().startswith(("…", "1o", "layer2", "l"))


def test_names_of_elements_keep_their_hyphens():
    param = Param("which", "Element", 0.0, 0.0, 1.0, choices=("identity", "mirror-z"))
    assert with_unit(param, 1.0) == "mirror-z"
    assert with_unit(Param("angle", "Angle", 0.0, -180.0, 180.0, unit="°"), -3.0) == "−3°"


def test_the_measure_is_read_out(view):
    odd = measure(cumulative=0.123, local=None, kept=0.5, decibel=-18.2, verdict="broken", chance=None)
    view.set_frame(with_layers(["only"], {"only": odd}))
    texts = {key: view.table.cells[key, 0].text() for key, *_ in
             (("cumulative",), ("local",), ("floor",), ("chance",), ("kept",), ("decibel",))}  # fmt: skip
    assert texts == {"cumulative": "0.123", "local": "–", "floor": "1.0e−7", "chance": "–", "kept": "50%",
                     "decibel": "−18.2"}  # fmt: skip
    view.set_frame(make_frame(compare=True))
    assert view.table.cells["cumulative", 1].isVisible() and view.table.cells["cumulative", 1].text() == "0.2"


def test_alone_it_follows_frames(qtbot):
    view = opened(qtbot, InspectorView(), 270, 600)
    view.set_frame(make_frame(transform="rotate:35"))
    assert view.sections["rotate"].values() == (35.0,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_drawn(view, name):
    view.set_frame(ODD[name])
    view.grab()
    view.numbers(), view.caption(), view.figure_size()


def test_nothing_is_made_anew_on_a_frame(view):
    view.set_frame(make_frame(compare=True))
    view.grab()
    before = objects(view)
    for i in range(50):
        frame = make_frame(compare=True, transform=f"rotate:{i}+translate:{i}")
        view.set_frame(frame)
        view.set_state(replace(frame.state, params=(("depth", 1.0 + i % 5),)))
        view.grab()
    assert objects(view) == before


def test_the_wheel_changes_only_what_has_the_focus(view):
    wishes = gather(view)
    slider = control(view, "rotate", "angle").slider

    def turn():
        centre = slider.rect().center()
        event = QWheelEvent(centre, slider.mapToGlobal(centre), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
                            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False)  # fmt: skip
        QApplication.sendEvent(slider, event)

    view.chain.setFocus()
    turn()
    assert not wishes
    slider.setFocus()
    turn()
    assert wishes


def test_a_double_click_on_the_name_takes_the_default(view):
    wishes = gather(view)
    double_click(control(view, "rotate", "angle").label)
    assert wishes[-1].step == ("rotate", (0.0,)) and wishes[-1].done


def test_a_guessed_field_says_why_under_the_measures(view):
    frame = make_frame()
    guess = replace(frame.squares[0].layer, guessed=True, reason="by its shape alone")
    view.set_frame(replace(frame, squares=(replace(frame.squares[0], layer=guess),)))
    assert view.table.field.isVisible() and view.table.field.text() == "grid regular(D4) is a guess: by its shape alone"
    view.set_frame(frame)
    assert not view.table.field.isVisible()
