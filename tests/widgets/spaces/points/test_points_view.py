"""The Points view in real windows, on frames of real networks: what is drawn, what hands ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox

from explorer.declare.elements import parse_chain
from explorer.spaces.points.elements.isometry import rotation
from explorer.square.frame import BACK
from tests.widgets.parts.driving.mouse import move
from tests.widgets.parts.driving.view_driving import gather, odd_frames, opened
from tests.widgets.parts.frames.points_frames import MOVING, TURN, give, points_frame
from widgets.base.look import theme
from widgets.base.view import Wish
from widgets.spaces.mesh.drawing.board import Cell
from widgets.spaces.points.looks import at_points, point_words, standing_out, value_names
from widgets.spaces.points.solids import solids
from widgets.spaces.points.views.points import PointsView

LEFT, ALT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def view(qtbot: Any) -> PointsView:
    made = opened(qtbot, PointsView(), 960, 480)
    assert isinstance(made, PointsView)
    return made


def choose(view: PointsView, sides: str = "", block: int = -1) -> None:
    view.sides.setCurrentIndex(view.sides.findData(sides))
    view.value.setCurrentIndex(view.value.findData(block))
    view.sides.activated.emit(0)


@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_points_say_what_to_do(view: PointsView, name: str) -> None:
    view.set_frame(odd_frames()[name])
    view.grab()
    assert view.canvas.message and not view.canvas.looks
    assert view.numbers() == {} and view.caption() == ""


def test_the_identity_has_two_panels_and_an_element_three(view: PointsView) -> None:
    give(view, points_frame())
    assert [look.title for look in view.canvas.looks] == ["x", "F(x) · layer1.gate"]
    part = give(view, points_frame(chain=TURN))
    assert [look.title for look in view.canvas.looks] == ["F(x) · layer1.gate", "F(ρ(g)x)", "difference"]
    assert part.difference is not None and np.abs(part.difference).max() < 1e-4 * np.abs(part.values).max()
    assert "ethanol" in view.caption().lower() and view.numbers()["places"].shape == (9, 3)


def test_atoms_are_balls_and_vectors_turn_with_them(view: PointsView) -> None:
    part = give(view, points_frame(chain=TURN))
    before, after, _ = view.canvas.looks
    turn = rotation(np.array([40.0, 25.0, 10.0]))
    np.testing.assert_allclose(before.vertices[:9], part.position)
    np.testing.assert_allclose(after.vertices[:9], part.position @ turn.T, atol=1e-6)
    np.testing.assert_allclose(after.glyphs[0].directions, before.glyphs[0].directions @ turn.T, atol=1e-5)
    owner = view.canvas.pictures.owners[0]
    assert set(owner.tolist()) == set(range(9)) and len(owner) == len(before.vertices)
    # oxygen is red, as chemists have it, and the two ends of a bond have the colours of their atoms
    oxygen = int(np.flatnonzero(part.numbers == 8)[0])
    assert before.colours is not None and before.colours[oxygen].tolist() == [255, 13, 13]


def test_the_cell_can_be_chosen_where_it_is_drawn(view: PointsView, tmp_path: Path) -> None:
    cell = 'Lattice="5 0 0 0 6 0 0 0 7" Properties=species:S:1:pos:R:3 pbc="T T T"'
    (tmp_path / "cell.extxyz").write_text(f"2\n{cell}\nO 1 1 1\nH 2 1 1\n")
    turned = points_frame(chain=TURN, sample=str(tmp_path / "cell.extxyz"))
    give(view, turned)
    assert view.cell.isVisibleTo(view) and not view.cell.isEnabled(), "no panel shows the data"
    choose(view, "x,ρ(g)x")
    assert view.cell.isEnabled() and all(look.glyphs for look in view.canvas.looks)


def test_atoms_are_coloured_by_their_charges_where_a_person_wants_it(view: PointsView, tmp_path: Path) -> None:
    path = tmp_path / "water.extxyz"
    path.write_text(
        "3\nProperties=species:S:1:pos:R:3:initial_charges:R:1\nO 0 0 0.119 -0.8\nH 0 0.763 -0.477 0.4\n"
        "H 0 -0.763 -0.477 0\n"
    )
    give(view, points_frame(sample=str(path)))
    assert view.charges.isVisible() and view.canvas.looks[0].colours[0].tolist() == [255, 13, 13]  # type: ignore[index]
    view.charges.setChecked(True)
    look = view.canvas.looks[0]
    assert look.colours is not None and "from -0.8 to 0.4" in look.note.replace("−", "-")
    assert look.colours[:3].tolist() == [[0, 114, 178], [182, 122, 75], [150, 150, 150]]
    assert "charge -0.8" in point_words(view.parts()[0][0], view.parts()[0][1], "x", 0).replace("−", "-")
    give(view, points_frame())  # ethanol, of which no charges are known
    assert not view.charges.isVisible() and view.canvas.looks[0].note == ""


SALT = (
    '2\nLattice="3 0 0 0 3 0 0 0 3" Properties=species:S:1:pos:R:3:forces:R:3:magmoms:R:3 pbc="T T T"\n'
    "Na 0 0 0 0.1 0.2 0.3 0 0 1\nCl 1.5 1.5 1.5 -0.1 -0.2 -0.6 0 0 0\n"
)


def test_vectors_of_the_data_are_arrows_that_turn_with_it_and_can_be_left_out(view: PointsView, tmp_path: Path) -> None:
    path = tmp_path / "salt.extxyz"
    path.write_text(SALT)
    part = give(view, points_frame(sample=str(path), chain=TURN))
    assert view.arrows.isVisible() and view.cell.isVisible()
    choose(view, "x,ρ(g)x")
    before, after = view.canvas.looks
    assert [look.title for look in (before, after)] == ["x", "ρ(g)x"] and before.note.startswith("forces, at most 0.64")
    turn = rotation(np.array([40.0, 25.0, 10.0]))
    (arrows, cell), (turned, moved) = before.glyphs, after.glyphs
    np.testing.assert_allclose(arrows.directions[1] / arrows.directions[0], [-1.0, -1.0, -2.0], rtol=1e-9)
    np.testing.assert_allclose(turned.directions, arrows.directions @ turn.T, atol=1e-9)
    assert len(cell.points) == 12 and np.allclose(np.linalg.norm(cell.directions, axis=1), 3.0)
    np.testing.assert_allclose(moved.directions, cell.directions @ turn.T, atol=1e-9)
    words = point_words(view.parts()[0][0], part, "x", 1).replace("−", "-")
    assert "forces (-0.1, -0.2, -0.6)" in words
    QTest.keyClicks(view.arrows, "magmoms")
    view.arrows.activated.emit(0)
    assert view.canvas.looks[0].note.startswith("magmoms, at most 1")
    view.arrows.setCurrentIndex(view.arrows.findText("none"))
    view.arrows.activated.emit(0)
    view.cell.click()
    assert not view.canvas.looks[0].glyphs and view.canvas.looks[0].note == ""
    assert view.numbers()["forces at x"].shape == (2, 3) and view.numbers()["cell"].shape == (8, 3)
    give(view, points_frame())  # ethanol has none of both
    assert not view.arrows.isVisible() and not view.cell.isVisible()


def test_moments_keep_their_sign_in_a_mirror_and_forces_are_mirrored(view: PointsView, tmp_path: Path) -> None:
    path = tmp_path / "salt.extxyz"
    path.write_text(SALT)
    part = give(view, points_frame(sample=str(path), chain="reflection:z"))
    np.testing.assert_allclose(part.vectors_after["forces"][1], [-0.1, -0.2, 0.6], atol=1e-12)
    np.testing.assert_allclose(part.vectors_after["magmoms"][0], [0.0, 0.0, 1.0], atol=1e-12)


def test_of_many_atoms_those_with_a_formal_charge_are_named(view: PointsView, tmp_path: Path) -> None:
    path = tmp_path / "long.sdf"
    atoms = "".join(f"{1.5 * k:10.4f}{0.3 * (k % 2):10.4f}{0.1 * k:10.4f} C   0  0\n" for k in range(42))
    bonds = "".join(f"{k + 1:3d}{k + 2:3d}  1  0\n" for k in range(41))
    path.write_text(
        f"long\n\n\n 42 41  0  0  0  0  0  0  0  0999 V2000\n{atoms}{bonds}M  CHG  1   7  -1\nM  END\n$$$$\n"
    )
    part = give(view, points_frame("schnet", "", "interactions.0", str(path)))
    assert len(part.names) == 42 and [text.words for text in view.canvas.looks[0].texts] == ["C7⁻"]
    view.names.setChecked(False)
    assert not view.canvas.looks[0].texts


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_no_colour_of_a_point_vanishes_on_the_ground(qtbot: Any, choice: str) -> None:
    theme.use(choice)
    try:
        ground = light(np.array([QColor(theme.current().raised).getRgb()[:3]]))
        for table in (theme.signed_map(), theme.error_map()):
            made = standing_out(table)
            before, after = (contrast(light(colours[:, :3]), ground) for colours in (table, made))
            assert before.min() < 1.3 and after.min() > 1.45, "those near zero were nearly the ground"
            kept = before >= 1.5
            assert kept.mean() > 0.5 and np.array_equal(made[kept], table[kept])
    finally:
        theme.use("light")


def light(colours: np.ndarray) -> np.ndarray:
    """Return the relative luminance of colours, as WCAG 2 defines it."""
    share = colours / 255
    return np.where(share <= 0.03928, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def contrast(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)


def test_values_of_degree_two_are_surfaces_that_turn(view: PointsView) -> None:
    part = give(view, points_frame(chain=TURN))
    names = value_names(part)
    block = next(k for k, name in enumerate(names) if name.endswith("degree 2"))
    choose(view, "ρ′(g)F(x),F(ρ(g)x)", block)
    one, other = view.canvas.looks
    assert (
        one.bar == names[block].removesuffix(" degree 2")
        and one.scalars is not None
        and float(np.nanmin(one.scalars)) < 0
    )
    # both ways round give the same surfaces, and they are not those of F(x)
    np.testing.assert_allclose(one.vertices, other.vertices, atol=1e-4)
    choose(view, "F(x)", block)
    still = view.canvas.looks[0]
    away = still.vertices - still.vertices[view.canvas.pictures.owners[0]]
    turned = one.vertices - one.vertices[view.canvas.pictures.owners[0]]
    assert np.abs(np.linalg.norm(away, axis=1) - np.linalg.norm(turned, axis=1)).max() > 0.02


def test_colours_of_surfaces_mean_the_same_on_both_sides(view: PointsView) -> None:
    """A fault makes one side larger; a scale for each side would hide that."""
    part = give(view, points_frame("fault-tensor-field", TURN))
    block = next(k for k, name in enumerate(value_names(part)) if name.endswith("degree 2"))
    choose(view, "x,F(x),F(ρ(g)x),difference", block)
    _, one, other, _ = view.canvas.looks
    most = [float(np.nanmax(np.abs(look.scalars))) for look in (one, other) if look.scalars is not None]
    assert abs(most[0] - most[1]) > 1e-3 * max(most), "the sides differ"
    assert one.scale == other.scale and one.scale[1] == pytest.approx(max(most))


def test_the_number_of_a_value_is_forgotten_where_it_is_another_kind(view: PointsView) -> None:
    part = give(view, points_frame(chain=TURN))
    number = max(k for k, name in enumerate(value_names(part)) if name.endswith("degree 2"))
    choose(view, "", number)
    give(view, points_frame(chain=TURN, layer="layer1"))  # the same values under the same numbers
    assert view.value.currentData() == number
    part = give(view, points_frame(chain=TURN, layer="layer1.mixed"))
    assert not value_names(part)[number].endswith("degree 2")
    assert view.value.currentText() == "strongest"
    give(view, points_frame(chain=TURN))
    assert view.value.currentText() == "strongest", "and the arrows are back"


def test_a_chosen_value_is_read_whole(view: PointsView) -> None:
    part = give(view, points_frame(chain=TURN))
    choose(view, "", len(value_names(part)) - 1)
    wide = (
        view.value.style()
        .subControlRect(
            QStyle.ComplexControl.CC_ComboBox, _options(view.value), QStyle.SubControl.SC_ComboBoxEditField, view.value
        )
        .width()
    )
    assert wide >= view.value.fontMetrics().horizontalAdvance(view.value.currentText())


def _options(box: QComboBox) -> QStyleOptionComboBox:
    options = QStyleOptionComboBox()
    box.initStyleOption(options)
    return options


def test_scaled_points_stay_in_sight_unless_a_person_has_looked_elsewhere(view: PointsView) -> None:
    def outside() -> int:
        size = view.canvas.cells()[0].width(), view.canvas.cells()[0].height()
        at = np.concatenate([view.canvas.eye.screen(look.vertices, *size)[:, :2] for look in view.canvas.looks])
        return int(((at < 0) | (at > size)).any(1).sum())

    give(view, points_frame(chain=TURN))
    still = view.canvas.eye
    give(view, points_frame(chain="rotation:41,25,10"))
    assert view.canvas.eye is still, "a turn that needs no more room moves no eye"
    give(view, points_frame(chain=f"{TURN}+dilation:1.8+displacement:3,0,0"))
    assert view.canvas.eye.distance > still.distance and outside() == 0
    give(view, points_frame(chain=f"{TURN}+dilation:1.3"))
    give(view, points_frame(chain=TURN))
    assert view.canvas.eye.distance == pytest.approx(still.distance, rel=1e-9), "it comes back as the points do"
    view.canvas.look_with(still)  # as a hand does
    give(view, points_frame(chain=f"{TURN}+dilation:1.9+displacement:3,0,0"))
    assert view.canvas.eye is still and outside() > 0


@pytest.mark.parametrize("layer", ["layer1.gate", "layer1.product", "lengths", "layers.0.moved", "layers.0.features"])
def test_answers_that_are_taken_back_lie_on_those_of_x(view: PointsView, layer: str) -> None:
    """A turn, a mirror, a shift and another order of the points: the inverse undoes all of them."""
    model = "egnn" if layer.startswith("layers.") else "tensor-field-network"
    chain = f"{TURN}+reflection:z+displacement:1,2,3+permute:3"
    part = give(view, points_frame(model, chain, layer, untransform=True))
    assert [look.title for look in view.canvas.looks][1] == BACK
    assert part.back is not None
    np.testing.assert_allclose(part.back, part.values, atol=1e-5 * np.abs(part.values).max())
    before, back, _ = view.canvas.looks
    np.testing.assert_allclose(back.vertices, before.vertices, atol=1e-4)
    assert BACK in view.numbers()


def test_a_fault_is_seen_in_what_is_taken_back(view: PointsView) -> None:
    part = give(view, points_frame("fault-tensor-field", TURN, untransform=True))
    assert part.back is not None and np.abs(part.back - part.values).max() > 1e-2 * np.abs(part.values).max()


def test_titles_of_panels_that_have_no_room_keep_their_ends(view: PointsView) -> None:
    view.resize(520, 400)
    give(view, points_frame("fault-tensor-field", TURN, compare="tensor-field-network"))
    items = view.canvas.board.items()
    titles = [item.title.text() for item in items if isinstance(item, Cell) and item.isVisible()]
    del items  # a failed assertion would show them, which the library does not survive
    assert len(titles) == 4 and all("…" in title for title in titles)
    assert len(set(titles)) == 4, "two networks are told apart by the ends of their names"


def test_a_fault_is_seen_in_the_difference(view: PointsView) -> None:
    give(view, points_frame("fault-tensor-field", TURN))
    look = view.canvas.looks[2]
    assert look.scalars is not None and float(np.nanmax(look.scalars)) > 1e-2 and not look.note


def test_points_that_a_layer_moves_are_drawn_where_it_moves_them(view: PointsView) -> None:
    part = give(view, points_frame(MOVING, layer="layers.3.moved", sample="bodies"))
    x, moved = view.canvas.looks
    np.testing.assert_allclose(x.vertices[:5], part.position)
    np.testing.assert_allclose(moved.vertices[:5], part.values, atol=1e-6)
    assert part.target is not None and len(moved.marks.paths) == 15, "three rings where each will be"
    assert len(x.glyphs[0].points) == 5, "velocities"


def test_renumbered_points_keep_their_places(view: PointsView) -> None:
    give(view, points_frame(chain="permute:3"))
    before, after, difference = view.canvas.looks
    np.testing.assert_allclose(before.vertices, after.vertices)
    np.testing.assert_allclose(before.glyphs[0].directions, after.glyphs[0].directions, atol=1e-5)
    assert difference.scalars is not None and float(np.nanmax(difference.scalars)) < 1e-5


def test_edges_are_told_at_the_points_they_lead_to(view: PointsView) -> None:
    part = give(view, points_frame(chain="permute:3", layer="layer1.product"))
    one, other = at_points(part, part.values), at_points(part, part.answer, moved=True)
    np.testing.assert_allclose(one, other[part.order], atol=1e-5)
    assert one.shape[0] == 9 and view.canvas.looks[0].glyphs


def test_a_click_selects_the_atom_whatever_is_hit_of_it(view: PointsView, qtbot: Any) -> None:
    give(view, points_frame())
    wishes = gather(view)
    spot = view.canvas.vertex_at(2).toPoint() + QPoint(3, 3)  # beside the middle of the oxygen's ball
    move(view.canvas, spot)
    QTest.mouseClick(view.canvas, LEFT, Qt.KeyboardModifier.NoModifier, spot)
    assert wishes and wishes[-1] == Wish({"node": 2})
    give(view, points_frame(node=2))
    assert len(view.canvas.looks[0].marks.paths) == 3
    lines = view.canvas.looks[0].glyphs[-1]
    assert len(lines.points) == 8, "what the selected atom hears"


def test_alt_and_a_drag_turn_the_points(view: PointsView) -> None:
    give(view, points_frame(chain="rotation:0,30,0"))
    wishes = gather(view)
    start = view.canvas.cells()[0].center().toPoint()
    QTest.mousePress(view.canvas, LEFT, ALT, start)
    for step in (10, 30):
        move(view.canvas, start + QPoint(step, 0), LEFT, ALT)
    QTest.mouseRelease(view.canvas, LEFT, ALT, start + QPoint(30, 0))
    steps = [wish.step for wish in wishes if wish.step]
    assert steps and all(step[0] == "rotation" for step in steps)
    assert steps[-1][1] != (0.0, 30.0, 0.0) and wishes[-1].done
    assert parse_chain(f"rotation:{','.join(map(str, steps[-1][1]))}")


def test_two_networks_stand_beside_each_other(view: PointsView) -> None:
    give(view, points_frame(chain=TURN, compare="egnn"))
    assert [look.title.split(" · ")[0] for look in view.canvas.looks] == ["F(ρ(g)x)", "difference"] * 2


@pytest.mark.parametrize("name", ["dark", "light"])
def test_themes(view: PointsView, name: str) -> None:
    give(view, points_frame(chain=TURN))
    before = theme.current().name
    theme.use(name)
    try:
        view.apply_theme()
        image = view.grab().toImage()
        assert not image.isNull() and view.canvas.looks
    finally:
        theme.use(before)


def test_many_points_have_few_triangles() -> None:
    """Four triangles for each of 100,000, and of each it is known whose it is."""
    places = np.random.default_rng(0).normal(size=(100_000, 3))
    made = solids(places, np.full(100_000, 0.01), np.zeros((2, 0), np.int64), 0.01)
    assert len(made.faces) == 400_000 and made.owner[100_000 + 4 * 7] == 7


def test_pairs_that_a_layer_joins_are_lines(view: PointsView) -> None:
    """The graph that DGCNN infers: eight neighbours each, the same after a turn and a renumbering."""
    part = give(view, points_frame("dgcnn-distances", f"{TURN}+permute:3", "joined2", "torus-3d"))
    assert part.links is not None and part.answer_links is not None and part.links.shape[1] >= 8 * 256
    pairs = [set(zip(*links.tolist(), strict=True)) for links in (part.links, part.answer_links)]
    assert pairs[0] == pairs[1]
    before, after, difference = view.canvas.looks
    assert len(before.glyphs[0].points) == len(after.glyphs[0].points) == part.links.shape[1]
    assert "Matrix" in difference.empty
    give(view, points_frame("dgcnn-distances", f"{TURN}+permute:3", "joined2", "torus-3d", node=5))
    assert 8 <= len(view.canvas.looks[0].glyphs[0].points) < 20


def test_a_double_bond_is_two_tubes_in_the_plane_of_its_neighbours() -> None:
    """Ethene: carbons 0 and 1, hydrogens 2 to 5, all in the plane z = 0."""
    places = np.array([[-0.67, 0, 0], [0.67, 0, 0], [-1.2, 0.9, 0], [-1.2, -0.9, 0], [1.2, 0.9, 0], [1.2, -0.9, 0]])
    bonds, kinds = np.array([[0, 0, 0, 1, 1], [1, 2, 3, 4, 5]]), np.array([2, 1, 1, 1, 1])
    single = solids(places, np.full(6, 0.2), bonds, 0.1)
    made = solids(places, np.full(6, 0.2), bonds, 0.1, kinds=kinds)
    assert made.bonded.sum() == single.bonded.sum() * 6 // 5, "one tube more"
    tubes = made.vertices[made.bonded]
    middle = tubes[np.abs(tubes[:, 0]) < 1e-9]  # where the halves of the double bond meet
    heights = np.unique(np.round([ring.mean(0) for ring in middle.reshape(-1, 8, 3)], 6), axis=0)
    assert len(heights) == 2 and np.allclose(heights[:, 2], 0) and np.allclose(heights[:, 1], [-0.095, 0.095])
    turned = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    again = solids(places @ turned.T, np.full(6, 0.2), bonds, 0.1, kinds=kinds)
    assert np.allclose(again.vertices[again.bonded].mean(0), (tubes @ turned.T).mean(0))
