"""The stage: gestures become the right wishes, panels are linked, and odd frames are drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QCursor, QFontMetricsF, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication, QGraphicsSimpleTextItem
from pytestqt.qtbot import QtBot

from explorer.declare.elements import Step, parse_chain
from explorer.declare.groups import group
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Frame
from explorer.state.state import State
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.frames.graph_frames import graph_frame, graph_square, structure_of
from tests.widgets.parts.frames.sample_frames import make_frame, make_square
from widgets.base.look import theme
from widgets.base.view import Wish
from widgets.maps.diagram import colour, font
from widgets.maps.linking import Places, element_text
from widgets.maps.ring import Ring, snap
from widgets.spaces.grid.link import PlaneLink
from widgets.stage.boxes import above, below
from widgets.stage.layout import arrange, figure_height
from widgets.views.stage import VIEW, Stage

SHIFT, ALT, CTRL = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
)
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


class Stand:
    """A stage on the screen, what it wishes and says, and a mouse."""

    def __init__(self, qtbot: QtBot, frame: Frame | None, size: tuple[int, int] = (900, 640)) -> None:
        self.stage = Stage()
        qtbot.addWidget(self.stage)
        self.stage.resize(*size)
        with qtbot.waitExposed(self.stage):
            self.stage.show()
        self.wishes: list[Wish] = []
        self.words: list[str] = []
        self.stage.wished.connect(self.wishes.append)
        self.stage.hovered.connect(self.words.append)
        self.mouse = Mouse(self.stage.canvas)
        self.stage.set_frame(frame)

    def on_ring(self, degrees: float, off: float = 0.0) -> QPointF:
        ring = self.stage.ring
        turn = math.radians(degrees)
        radius = ring.radius + off
        return ring.mapToScene(QPointF(radius * math.cos(turn), -radius * math.sin(turn)))

    def pixel(self, name: str, place: tuple[int, int, int], row: int = 0) -> QPointF:
        """Return where a data pixel of a panel is in the scene."""
        panel = {"x": self.stage.before, "gx": self.stage.after}.get(name) or self.stage.rows[row].panels[name]
        return panel.mapToScene(panel.rect_of(place).center())

    def steps(self) -> list[tuple[str, tuple[float, ...]]]:
        return [wish.step for wish in self.wishes if wish.step is not None]


# the ring -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("start", "turn", "keys", "expected"),
    [
        (0.0, 31.2, PLAIN, 31.0),  # whole degrees
        (0.0, 88.6, PLAIN, 90.0),  # drawn to the quarter turn
        (0.0, 86.9, PLAIN, 87.0),  # but no further
        (30.0, -29.0, PLAIN, 0.0),
        (0.0, 52.0, SHIFT, 45.0),
        (10.0, 0.0, SHIFT, 15.0),
        (0.0, 178.9, PLAIN, 180.0),
        (170.0, 30.0, PLAIN, -160.0),  # across the seam
    ],
)
def test_dragging_the_ring_gives_the_angle(
    qtbot: QtBot, start: float, turn: float, keys: Qt.KeyboardModifier, expected: float
) -> None:
    stand = Stand(qtbot, make_frame(transform=f"rotate:{start}"))
    # taken hold of 2 degrees beside the handle: it must not jump there
    grip = 90 + start + 2
    # a large circle, since the scene is hit in whole pixels
    far = 120
    path = [stand.on_ring(grip + turn * k / 8, far) for k in range(1, 9)]
    stand.mouse.press(stand.on_ring(grip), keys)
    first = stand.stage.ring.hold[1]
    stand.stage.ring.hold = (start, grip)  # what the press would be without rounding to pixels
    assert abs((first - grip + 180) % 360 - 180) < 1.0
    for point in path:
        stand.mouse.move(point, keys)
    stand.mouse.release(path[-1], keys)
    assert stand.wishes[-1] == Wish(step=("rotate", (expected,)), tag="ring", done=True)
    assert all(wish.tag == "ring" and not wish.done for wish in stand.wishes[:-1])
    angles = [values[0] for _, values in stand.steps()][:-1]
    assert all(a != b for a, b in pairwise(angles))  # no wish says the same again


def test_the_handle_itself_is_dragged_by_the_real_mouse(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="rotate:0"))
    port, ring = stand.stage.canvas.viewport(), stand.stage.ring
    handle = stand.stage.canvas.mapFromScene(ring.mapToScene(ring.handle().center()))
    aim = stand.stage.canvas.mapFromScene(stand.on_ring(180))
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=handle)
    stand.mouse.down = Qt.MouseButton.LeftButton
    stand.mouse.move(QPointF(aim))
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=aim)
    assert stand.wishes[-1] == Wish(step=("rotate", (90.0,)), tag="ring", done=True)


def test_a_press_on_the_ring_without_a_move_wishes_nothing(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="rotate:30"))
    stand.mouse.click(stand.on_ring(120))
    assert stand.wishes == []


def test_the_ring_follows_the_state_before_the_frame_comes(qtbot: QtBot) -> None:
    frame = make_frame(transform="rotate:0")
    stand = Stand(qtbot, frame)
    stand.stage.set_state(replace(frame.state, steps=parse_chain("rotate:42")))
    ring = stand.stage.ring
    assert ring.angle == 42.0 and ring.text() == "42°"
    assert ring.up == pytest.approx(132.0)
    centre = ring.handle().center()
    assert math.degrees(math.atan2(-centre.y(), centre.x())) == pytest.approx(132.0)
    stand.stage.set_frame(frame)  # an older frame must not pull the handle back
    assert ring.angle == 42.0


def test_the_ring_turns_with_the_picture_when_a_mirror_acts_after_it(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="rotate:30+reflect:horizontal"))
    ring = stand.stage.ring
    assert ring.angle == 30.0
    assert ring.up == pytest.approx(60.0)  # the mirror image of 120
    stand.mouse.drag(stand.on_ring(60), stand.on_ring(50), stand.on_ring(30))
    name, (angle,) = stand.steps()[-1]
    assert name == "rotate" and abs(angle - 60.0) <= 1.0  # the mouse moves by whole screen pixels


@pytest.mark.parametrize(
    ("angle", "keys", "expected"),
    [
        *[(91.9, PLAIN, 90.0), (92.4, PLAIN, 92.0), (-179.0, PLAIN, 180.0), (540.0, PLAIN, 180.0)],
        *[(7.0, SHIFT, 0.0), (8.0, SHIFT, 15.0), (91.26, ALT, 91.3), (91.26, CTRL, 91.3)],
    ],
)
def test_angles_snap(angle: float, keys: Qt.KeyboardModifier, expected: float) -> None:
    assert snap(angle, keys) == pytest.approx(expected)


# dragging the picture -------------------------------------------------------------------------------------
def test_dragging_the_picture_shifts_it_by_whole_pixels(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="translate:2,1,zero"))
    size = stand.stage.after.pixel()
    start = stand.pixel("gx", (0, 10, 10))
    stand.mouse.drag(start, start + QPointF(1.2 * size, 0), start + QPointF(3.4 * size, -2.2 * size))
    assert stand.wishes[-1] == Wish(step=("translate", (5.0, -1.0, 1.0)), tag="drag", done=True)
    assert stand.steps()[0] == ("translate", (3.0, 1.0, 1.0))
    assert all(wish.tag == "drag" for wish in stand.wishes)


def test_alt_shifts_by_parts_of_a_pixel(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="translate:2"))
    size = stand.stage.after.pixel()
    start = stand.pixel("gx", (0, 10, 10))
    stand.mouse.drag(start, start + QPointF(round(2.5 * size), round(0.5 * size)), keys=ALT)
    name, (right, down, boundary) = stand.steps()[-1]
    assert (name, boundary) == ("translate", 0.0)
    assert right == pytest.approx(2 + round(2.5 * size) / size, abs=0.1) and right != round(right)
    assert down == pytest.approx(round(0.5 * size) / size, abs=0.1)


def test_a_drag_after_a_rotation_goes_where_the_hand_goes(qtbot: QtBot) -> None:
    """The shift acts first, then a quarter turn: a drag to the right is a shift upwards... of what is turned."""
    stand = Stand(qtbot, make_frame(transform="translate:0+rotate:90"))
    size = stand.stage.after.pixel()
    start = stand.pixel("gx", (0, 10, 10))
    stand.mouse.drag(start, start + QPointF(4 * size, 0))
    step = Step(*stand.steps()[-1])
    # the wish must move the *displayed* picture right by four pixels
    moved = PlaneLink((step, *parse_chain("rotate:90"))).forward((0, 14, 14), Places(29, 29), Places(29, 29))
    assert moved == (0, 14, 18)


def test_a_click_on_the_picture_shifts_nothing(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    stand.mouse.click(stand.pixel("gx", (0, 10, 10)))
    assert stand.wishes == []


# keys and wheel -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (Qt.Key.Key_Left, (2.0, 1.0, 0.0)),
        (Qt.Key.Key_Right, (4.0, 1.0, 0.0)),
        (Qt.Key.Key_Up, (3.0, 0.0, 0.0)),
        (Qt.Key.Key_Down, (3.0, 2.0, 0.0)),
    ],
)
def test_arrow_keys_shift_by_one_pixel(qtbot: QtBot, key: Qt.Key, expected: tuple[float, ...]) -> None:
    stand = Stand(qtbot, make_frame(transform="translate:3,1"))
    qtbot.keyPress(stand.stage, key)
    assert stand.wishes == [Wish(step=("translate", expected), tag="arrows")]
    qtbot.keyRelease(stand.stage, key)
    assert stand.wishes[-1].done and stand.wishes[-1].tag == "arrows"


@pytest.mark.parametrize(
    ("chain", "key", "expected"),
    [
        ("rotate:0", Qt.Key.Key_BracketLeft, 90.0),
        ("rotate:0", Qt.Key.Key_BracketRight, -90.0),
        ("rotate:135", Qt.Key.Key_BracketLeft, -135.0),
        ("rotate:10+reflect", Qt.Key.Key_BracketLeft, -80.0),  # seen counter-clockwise all the same
        ("translate:1", Qt.Key.Key_BracketLeft, 90.0),
    ],
)
def test_brackets_turn_by_quarters(qtbot: QtBot, chain: str, key: Qt.Key, expected: float) -> None:
    stand = Stand(qtbot, make_frame(transform=chain))
    qtbot.keyClick(stand.stage, key)
    assert stand.wishes == [Wish(step=("rotate", (expected,)), done=True)]


def test_f_mirrors_and_mirrors_back(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="rotate:30"))
    qtbot.keyClick(stand.stage, Qt.Key.Key_F)
    steps = stand.wishes[-1].changes["steps"]
    assert steps == parse_chain("rotate:30+reflect:horizontal")
    stand.stage.set_state(replace(stand.stage.state, steps=steps))
    qtbot.keyClick(stand.stage, Qt.Key.Key_F)
    assert stand.wishes[-1].changes["steps"] == parse_chain("rotate:30")


def test_ctrl_and_wheel_dilate_and_come_back_to_exactly_one(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    centre = stand.pixel("gx", (0, 14, 14))
    stand.mouse.wheel(centre, 1, CTRL)
    assert stand.wishes == [Wish(step=("dilate", (1.05,)), tag="dilate")]
    stand.stage.set_state(stand.stage.state.with_step("dilate", (1.05,)))
    stand.mouse.wheel(centre, -1, CTRL)
    assert stand.steps()[-1] == ("dilate", (1.0,))
    stand.mouse.wheel(centre, 1000, CTRL)
    assert stand.steps()[-1] == ("dilate", (4.0,))
    assert stand.stage.after.camera.zoom == 1.0


def test_keys_do_nothing_without_a_frame(qtbot: QtBot) -> None:
    stand = Stand(qtbot, None)
    for key in (Qt.Key.Key_F, Qt.Key.Key_Left, Qt.Key.Key_BracketLeft, Qt.Key.Key_Escape, Qt.Key.Key_E):
        qtbot.keyClick(stand.stage, key)
    stand.mouse.wheel(QPointF(200, 200), 1, CTRL)
    assert stand.wishes == []


# selection ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", [(0, 0, 0), (13, 4, 7), (63, 28, 28)])
def test_a_click_on_a_map_picks_its_channel_and_pixel(qtbot: QtBot, place: tuple[int, int, int]) -> None:
    stand = Stand(qtbot, make_frame(), (1800, 1300))
    stand.mouse.click(stand.pixel("fx", place))
    assert stand.wishes == [Wish(changes={"pixel": place[1:], "channel": place[0]}, done=True)]


def test_a_click_on_a_moved_map_picks_the_unit_that_is_seen_there(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="rotate:90"), (1800, 1300))
    stand.mouse.click(stand.pixel("rho_fx", (13, 4, 7)))
    # a quarter turn takes (row, column) to (28 - column, row), so (4, 7) comes from (7, 24)
    assert stand.wishes[-1].changes == {"pixel": (7, 24), "channel": 13}


def test_the_enlarged_channel_comes_with_the_state_and_escape_asks_it_to_go(qtbot: QtBot) -> None:
    frame = make_frame()
    stand = Stand(qtbot, frame)
    stand.stage.set_state(replace(frame.state, channel=13, pixel=(4, 7)))
    for panel in stand.stage.rows[0].panels.values():
        assert panel.channel == 13
    panel = stand.stage.rows[0].panels["fx"]
    assert panel.pixel() > 4
    stand.mouse.click(stand.pixel("fx", (13, 20, 3)))
    assert stand.wishes[-1].changes == {"pixel": (20, 3), "channel": 13}
    qtbot.keyClick(stand.stage, Qt.Key.Key_Escape)
    assert stand.wishes[-1].changes == {"channel": None, "pixel": None}


def test_hovering_tells_the_values_of_all_linked_panels(qtbot: QtBot) -> None:
    """With an equivariant layer, what is linked is equal: the places and the orientations are the right ones."""
    square = make_square()
    fibre = group("D4")
    turn = fibre.find(PlaneLink(parse_chain("rotate:90")).linear)
    assert turn is not None
    fields = square.fx.reshape(8, 8, 29, 29)[:, fibre.regular_permutation(turn)]
    moved = np.rot90(fields, axes=(2, 3)).reshape(64, 29, 29).copy()
    square = replace(square, rho_fx=moved, f_gx=moved, difference=moved - moved)
    frame = replace(make_frame(), squares=(square,))
    stand = Stand(qtbot, frame, (1800, 1300))
    for name, values in (("fx", square.fx), ("rho_fx", moved)):
        for place in ((13, 4, 7), (63, 0, 28)):
            stand.mouse.move(stand.pixel(name, place))
            value = f"{values[place]:.5g}".replace("-", "−")
            text = stand.words[-1]
            assert f"row {place[1]}, column {place[2]}" in text
            for title in ("F(x)", "ρ′(g)F(x)", "F(ρ(g)x)"):
                assert f"{title} {value}" in text, text
            assert "difference 0" in text
    stand.mouse.move(QPointF(3, 3))
    assert stand.words[-1] == ""


def test_a_cursor_that_rests_tells_the_values_of_the_next_frame(qtbot: QtBot) -> None:
    """After a turn by a key, the line below the stage kept the numbers of the element before."""
    frame = make_frame()
    stand = Stand(qtbot, frame, (1800, 1300))
    there = stand.pixel("f_gx", (13, 4, 7))
    port = stand.stage.canvas.viewport()
    QCursor.setPos(port.mapToGlobal(stand.stage.canvas.mapFromScene(there)))
    stand.mouse.move(there)
    square = frame.squares[0]
    assert f"F(ρ(g)x) {square.f_gx[13, 4, 7]:.5g}".replace("-", "−") in stand.words[-1]
    stand.stage.set_frame(replace(frame, squares=(replace(square, f_gx=square.f_gx + 3),)))
    assert f"F(ρ(g)x) {square.f_gx[13, 4, 7] + 3:.5g}".replace("-", "−") in stand.words[-1]
    stand.mouse.move(QPointF(3, 3))
    told = len(stand.words)
    stand.stage.set_frame(frame)
    assert len(stand.words) == told, "and says nothing unasked"


def test_hovering_marks_the_same_place_in_every_panel(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(transform="rotate:90"), (1800, 1300))
    panels = stand.stage.rows[0].panels
    stand.mouse.move(stand.pixel("fx", (13, 7, 24)))
    assert panels["fx"].marks == ((-1, 7, 24),)
    assert {panels[name].marks for name in ("rho_fx", "f_gx", "difference")} == {((-1, 4, 7),)}
    assert stand.stage.before.marks == ((0, 7, 24),)
    assert stand.stage.after.marks == ((0, 4, 7),)
    turned = np.flatnonzero(group("D4").regular_permutation(1) == 13 % 8)[0]
    assert panels["fx"].tile == 13
    assert {panels[name].tile for name in ("rho_fx", "f_gx", "difference")} == {8 + turned}, "in another column"
    stand.mouse.move(stand.pixel("x", (0, 3, 5)))
    assert panels["fx"].tile is None
    x = stand.stage.frame.squares[0].x if stand.stage.frame else None
    assert x is not None and stand.words[-1] == f"x, row 3, column 5:  {x[0, 3, 5]:.5g}"
    assert stand.stage.after.marks == ((0, 23, 3),)
    assert panels["fx"].marks == ()


def test_the_field_of_view_lies_over_x(qtbot: QtBot) -> None:
    seen = np.zeros((29, 29), np.float32)
    seen[4:7, 10:13] = 1.0
    with_faint = seen.copy()
    with_faint[5, 11] = 2e-4  # a weight far from the middle
    frame = replace(make_frame(), squares=(replace(make_square(), field_of_view=seen),))
    stand = Stand(qtbot, frame)
    lines = stand.stage.before.heat_lines
    assert lines is not None and len(lines) == 12
    stand.stage.set_frame(replace(frame, squares=(replace(make_square(), field_of_view=with_faint),)))
    assert stand.stage.before.heat_lines is not None and len(stand.stage.before.heat_lines) == 12, "no hole in it"
    stand.stage.set_frame(frame)
    inside, outside = stand.pixel("x", (0, 5, 11)), stand.pixel("x", (0, 20, 20))
    before = [stand.stage.grab().toImage().pixelColor(p.toPoint()) for p in (inside, outside)]
    stand.stage.set_frame(make_frame())
    after = [stand.stage.grab().toImage().pixelColor(p.toPoint()) for p in (inside, outside)]
    assert before[0] != after[0] and before[1] == after[1]


# odd frames -----------------------------------------------------------------------------------------------
def points(n: int) -> Frame:
    square = make_square(channels=n, size=1)
    x = make_square().x
    layer = replace(square.layer, shape=(1, n), field="invariant", name="head")
    return replace(make_frame(), squares=(replace(square, x=x, gx=x, layer=layer, group=""),))


def odd_frames() -> dict[str, Frame]:
    square = make_square()
    bad = square.fx.copy()
    bad[3] = np.nan
    huge = np.full_like(bad, 3e38)

    def one(**changes: object) -> Frame:
        return replace(make_frame(), squares=(replace(square, **changes),))  # type: ignore[arg-type]

    return {
        "one channel": make_frame(channels=1),
        "512 channels": make_frame(channels=512, size=14),
        "one value": points(1),
        "ten values": points(10),
        "512 values": points(512),
        "zeros": one(fx=0 * square.fx, f_gx=0 * square.fx, rho_fx=0 * square.fx, scale=0.0),
        "not numbers": one(fx=bad, f_gx=bad, rho_fx=bad, difference=bad, error_map=bad[3], scale=float("nan")),
        "huge": one(fx=huge, f_gx=-huge, rho_fx=huge, difference=huge, scale=3e38),
        "no action": one(rho_fx=None, difference=None, error_map=None, no_action="No mirrors here. " * 20),
        "no measure": one(measures={}),
        "signed colour x": one(x=np.repeat(square.x, 3, 0) - 0.5, gx=np.repeat(square.gx, 3, 0) - 0.5),
        "colour x": one(x=np.repeat(square.x, 3, 0), gx=np.repeat(square.gx, 3, 0)),
        "untransformed": one(back=square.fx, shown=8),
        "compared": make_frame(compare=True),
        "long names": one(layer=replace(square.layer, name="a.very.long.layer.name." * 9), title="model " * 30),
        "identity": make_frame(transform=""),
        "oblong": make_frame(channels=3),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", odd_frames())
@pytest.mark.parametrize("choice", ["light", "dark"])
def test_odd_frames_are_drawn(qtbot: QtBot, name: str, choice: str) -> None:
    theme.use(choice)
    frame = odd_frames()[name]
    stand = Stand(qtbot, frame, (620, 430))
    stage = stand.stage
    for size in ((620, 430), (360, 280), (1200, 800)):
        stage.resize(*size)
        assert not stage.grab().isNull()
    for panel in stage.rows[0].panels.values():
        if panel.tiling is not None:
            stand.mouse.move(panel.mapToScene(panel.frame().center()))
            stand.mouse.click(panel.mapToScene(panel.frame().center()))
    for key in (Qt.Key.Key_E, Qt.Key.Key_Escape, Qt.Key.Key_0, Qt.Key.Key_E):
        qtbot.keyClick(stage, key)
    stage.set_state(replace(frame.state, channel=900, pixel=(500, 500)))
    assert not stage.grab().isNull()
    assert stage.caption() and stage.numbers()
    stage.set_frame(None)
    assert not stage.grab().isNull()
    stage.set_frame(make_frame())
    assert not stage.grab().isNull()


def test_what_has_no_action_is_said_in_its_place(qtbot: QtBot) -> None:
    stand = Stand(qtbot, odd_frames()["no action"])
    row = stand.stage.rows[0]
    assert row.absent.isVisible() and row.absent.text.startswith("No mirrors here.")
    assert row.absent.sceneBoundingRect() == row.panels["rho_fx"].sceneBoundingRect()
    stand.stage.set_frame(make_frame())
    assert not row.absent.isVisible() and not row.absent_too.isVisible()


def test_the_hint_is_there_while_a_hand_moves_over_the_stage(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    hint = stand.stage.hint
    assert not hint.isVisible()
    stand.mouse.move(QPointF(5, 5))
    assert hint.isVisible() and "ring" in hint.text
    stand.stage.set_state(replace(stand.stage.state, channel=3))
    assert "Esc" in hint.text
    stand.stage.set_frame(None)
    assert not hint.isVisible()
    stand.mouse.move(QPointF(6, 6))
    assert not hint.isVisible()


def test_without_a_frame_it_says_what_to_do(qtbot: QtBot) -> None:
    stand = Stand(qtbot, None)
    shown = [item for item in stand.stage.canvas.scene().items() if item.isVisible()]
    assert {getattr(item, "text", "") for item in shown} >= {"Drop an image here or pick a digit"}
    assert not stand.stage.ring.isVisible()
    assert stand.stage.caption() == "" and stand.stage.numbers() == {}


def test_the_read_out_tells_error_verdict_and_floor(qtbot: QtBot) -> None:
    frame = make_frame(broken=True)
    layer = frame.squares[0].layers[2]
    frame = replace(frame, squares=(replace(frame.squares[0], layer=layer),))
    stand = Stand(qtbot, frame)
    readout = stand.stage.rows[0].readout
    measure = frame.squares[0].measures[layer.name]
    assert (readout.value, readout.verdict, readout.floor) == (measure.cumulative, "broken", measure.floor)
    caption = stand.stage.caption()
    for word in ("d4-cnn", "block.conv", "rotate 90°", "0.6", "broken", "±3"):
        assert word in caption
    assert stand.stage.numbers()["relative_error"] == pytest.approx(measure.cumulative)
    assert np.array_equal(stand.stage.numbers()["F_x"], frame.squares[0].fx)


def test_two_models_have_their_own_rows_and_colours(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(compare=True), (1800, 1300))
    first, second = stand.stage.rows
    assert first.heading.isVisible() and second.heading.isVisible()
    assert (first.role, second.role) == ("first", "second")
    for row in (first, second):  # arrows and read-outs have the colour of their model, in either theme
        for name in ("light", "dark"):
            theme.use(name)
            stand.stage.apply_theme()
            assert row.across.brush().color() == row.down_left.brush().color() == colour(row.role)
            assert row.readout.isVisible() and row.readout.title == row.square.title
    assert first.panels["fx"].scenePos().x() == second.panels["fx"].scenePos().x()
    assert first.panels["fx"].boundingRect().size() == second.panels["fx"].boundingRect().size()
    stand.mouse.click(stand.pixel("fx", (13, 4, 7), row=1))
    assert stand.wishes[-1].changes == {"pixel": (4, 7), "channel": 13}
    assert set(stand.stage.numbers()) > {"d4-cnn/F_x", "plain-cnn/F_x"}
    assert "; plain-cnn" in stand.stage.caption()
    stand.stage.set_frame(make_frame())
    assert not second.heading.isVisible() and not second.panels["fx"].isVisible()


def test_nothing_is_made_anew_on_a_frame(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    frames = [make_frame(compare=True), make_frame(), None, points(10)]
    for frame in frames:  # each bar is made when it is first needed
        stand.stage.set_frame(frame)
    items = [id(item) for item in stand.stage.canvas.scene().items()]
    for k in range(52):
        stand.stage.set_frame(frames[k % 4])
    assert [id(item) for item in stand.stage.canvas.scene().items()] == items


def test_the_pooled_difference_replaces_the_channels(qtbot: QtBot) -> None:
    frame = make_frame()
    stand = Stand(qtbot, frame)
    caption = stand.stage.rows[0].captions["difference"]
    stand.mouse.click(caption.mapToScene(caption.boundingRect().center()))
    panel = stand.stage.rows[0].panels["difference"]
    assert panel.values is not None and frame.squares[0].error_map is not None
    assert np.array_equal(panel.values[0], frame.squares[0].error_map)
    stand.mouse.move(stand.pixel("difference", (0, 3, 4)))
    assert "all channels" in stand.words[-1]
    qtbot.keyClick(stand.stage, Qt.Key.Key_E)
    assert panel.values is not None and np.array_equal(panel.values, frame.squares[0].difference)  # type: ignore[arg-type]


# layout and export ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "size", [(362, 524), (400, 800), (620, 430), (480, 380), (700, 900), (1100, 520), (1800, 1100), (2560, 1300)]
)
@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("back", [False, True])
def test_nothing_overlaps(size: tuple[int, int], models: int, back: bool) -> None:
    boxes = arrange(*map(float, size), models, back)
    used = [boxes.header, boxes.x, above(boxes.x), boxes.hint]
    ring = QRectF(0, 0, 2 * boxes.ring_radius, 2 * boxes.ring_radius)
    ring.moveCenter(boxes.ring_centre)
    used.append(ring.adjusted(-Ring.MARGIN_X, -Ring.MARGIN_Y, Ring.MARGIN_X, Ring.MARGIN_Y))
    for row in boxes.rows:
        panels = row.panels() if back else row.panels()[1:]
        assert len({(p.width(), p.height()) for p in panels}) == 1
        used += [*panels, row.bar]
        used += [below(panel).adjusted(10, 0, -10, 0) for panel in panels]
    window = QRectF(-0.5, -0.5, size[0] + 1, size[1] + 1)
    for i, a in enumerate(used):
        assert window.contains(a), (i, a)
        for j, b in enumerate(used[i + 1 :]):
            overlap = a.intersected(b)
            assert overlap.width() < 1 or overlap.height() < 1, (i, i + 1 + j, a, b)
    for readout in boxes.readouts:
        assert not readout.intersects(boxes.header) or readout.top() >= boxes.header.bottom() - 2


def test_the_panels_are_large_enough_to_read_in_a_small_window() -> None:
    assert arrange(620, 430, 1, False).rows[0].fx.width() >= 95
    assert arrange(620, 430, 2, False).rows[0].fx.width() >= 65
    assert arrange(1800, 1100, 1, False).rows[0].fx.width() >= 300


@pytest.mark.parametrize("width", [340.0, 362.0, 420.0])
def test_a_figure_of_one_column_has_maps_of_two_centimetres_with_their_names_apart(width: float) -> None:
    """Four panels in a line were 10.6 mm of 85, their names as wide as they and the gap together."""
    boxes = arrange(width, figure_height(width, 1, False), 1, False)
    row = boxes.rows[0]
    assert boxes.upright and row.fx.width() / width * 85 >= 18
    named = [below(panel) for panel in row.panels()[1:]]
    assert not any(a.intersects(b) for i, a in enumerate(named) for b in named[i + 1 :])
    assert boxes.ring_centre.x() - boxes.ring_radius - Ring.MARGIN_X - boxes.x.right() >= 60
    assert boxes.x.center().x() == row.fx.center().x() and boxes.ring_centre.x() == row.f_gx.center().x()


def test_a_column_shows_the_error_above_the_square_and_a_wide_stage_lies_again(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame(), (362, 524))
    stand.stage.canvas.grab()
    row = stand.stage.rows[0]
    seen = [item for item in row.readout.childItems() if item.isVisible()]
    boxes = [item.sceneBoundingRect() for item in seen]
    assert len(seen) == 5 and max(box.bottom() for box in boxes) < stand.stage.before.sceneBoundingRect().top()
    number, floor, local, badge = boxes[1:]
    assert number.left() < badge.left() and floor.left() == local.left() > badge.right()
    assert not row.minus.isVisible() and row.captions["rho_fx"].lines == ["ρ′(g)F(x)"]
    stand.stage.resize(900, 500)
    QApplication.processEvents()
    assert row.minus.isVisible() and row.panels["fx"].pos().y() == row.panels["rho_fx"].pos().y()


def test_nothing_of_the_former_verdict_stays_on_the_screen(qtbot: QtBot) -> None:
    """A part was painted before the scene had told what changed, and the end of a longer badge stood beside the new."""
    stage = Stand(qtbot, make_frame(), (700, 430)).stage
    read = stage.rows[0].readout

    def on_screen() -> QImage:
        return stage.screen().grabWindow(stage.winId()).toImage().convertToFormat(QImage.Format.Format_RGB32)

    def whole() -> QImage:
        return stage.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)

    read.show_measure(None, "a verdict of several words")
    long = whole()
    qtbot.waitUntil(lambda: on_screen() == long)
    read.show_measure(None, "holds")
    badge = read.childItems()[-1].sceneBoundingRect().toAlignedRect()
    stage.canvas.viewport().repaint(badge)
    short = whole()
    assert short != long
    qtbot.waitUntil(lambda: on_screen() == short)


def svg_of(stage: Stage, path: Path) -> str:
    svg = QSvgGenerator()
    svg.setFileName(str(path))
    svg.setSize(stage.size())
    painter = QPainter(svg)
    stage.render(painter, QPoint())
    painter.end()
    del painter, svg  # in this order: left to the collector, the device may go first
    return path.read_text("utf-8").replace("\xa0", " ")


def test_the_export_has_real_text_and_the_whole_maps(qtbot: QtBot, tmp_path: Path) -> None:
    stand = Stand(qtbot, make_frame())
    text = svg_of(stand.stage, tmp_path / "stage.svg")
    assert text.count("<image") == 6
    # a formula is several pieces of text, one for each script: what counts is that all its letters are letters
    letters = "".join(re.sub(r"<[^>]*>", "", text).split())
    for word in ("x", "ρ(g)x", "F(x)", "ρ′(g)F(x)", "F(ρ(g)x)", "difference", "relative error", "rotate 90°"):
        assert word.replace(" ", "") in letters, word


def test_the_view_is_found_by_its_constant(qtbot: QtBot) -> None:
    assert (VIEW.name, VIEW.area, VIEW.order) == ("stage", "center", 0)
    stage = VIEW.make()
    qtbot.addWidget(stage)
    assert isinstance(stage, Stage) and stage.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_elements_are_written_for_reading() -> None:
    text = element_text(parse_chain("rotate:30+translate:4,-2+reflect+dilate:1.2+translate:1,0,zero"))
    expected = "rotate 30°, translate 4, −2 px, reflect horizontal, dilate 1.2×, translate 1, 0 px (zero)"
    assert text.replace("\xa0", " ") == expected
    assert element_text(parse_chain("random-gauge:3")).startswith("random-gauge"), "a hyphen is no minus sign"
    assert element_text(State().steps) == "identity"


# other kinds of data --------------------------------------------------------------------------------------
def test_rows_of_a_graph_are_dragged_and_picked_and_a_picture_gets_its_ring_back(qtbot: QtBot) -> None:
    square = graph_square(structure_of(nx.cycle_graph(6)))
    part = square.of(GraphPart)
    assert part is not None
    rows = {"x": part.x, "gx": part.gx, "fx": part.values, "f_gx": part.moved, "rho_fx": part.expected}
    stand = Stand(qtbot, graph_frame(replace(square, **{name: values[None] for name, values in rows.items()})))
    stage = stand.stage
    assert not stage.ring.isVisible()
    start = stage.after.mapToScene(stage.after.rect_of((0, 1, 0)).center())
    stand.mouse.drag(start, start + QPointF(0, 2.1 * stage.after.pixel()))
    assert stand.wishes[-1].changes == {"steps": (Step("move", (1.0, 3.0)),)} and stand.wishes[-1].done
    place = stage.rows[0].panels["fx"].rect_of((0, 4, 2)).center()
    stand.mouse.click(stage.rows[0].panels["fx"].mapToScene(place))
    assert stand.wishes[-1].changes == {"node": 4, "other": None, "channel": 2}
    stage.set_frame(make_frame())
    assert stage.ring.isVisible()
    start = stage.after.mapToScene(stage.after.rect_of((0, 10, 10)).center())
    stand.mouse.drag(start, start + QPointF(2.1 * stage.after.pixel(), 0))
    step = stand.wishes[-1].step
    assert step is not None and step[0] == "translate"


@pytest.mark.parametrize("width", [440, 520, 640, 900, 1400])
@pytest.mark.parametrize("height", [320, 440, 620])
def test_a_large_picture_leaves_room_for_the_element_and_the_error(width: int, height: int) -> None:
    """In a narrow stage that is high the pictures grew until "3.5e-8" was cut to "3.5..."."""
    boxes = arrange(float(width), float(height), 1, False)
    ring = boxes.ring_radius + Ring.MARGIN_X
    assert boxes.ring_centre.x() - ring - boxes.x.right() >= 60
    assert width - boxes.ring_centre.x() - ring >= 84


@pytest.mark.parametrize("size", [(506, 240), (506, 290), (560, 330), (900, 640)])
def test_the_figures_and_the_arrow_beside_them_do_not_cover_each_other(qtbot: QtBot, size: tuple[int, int]) -> None:
    frame = make_frame()
    square = frame.squares[0]
    name = "block.with_a_name"
    layer = replace(square.layer, name=name)
    square = replace(square, layer=layer, measures={**square.measures, name: square.measures[square.layer.name]})
    stage = Stand(qtbot, replace(frame, squares=(square,)), size).stage
    stage.canvas.grab()
    row = stage.rows[0]
    label, read = row.down_labels[1], row.readout
    wide = QFontMetricsF(font(label.size)).horizontalAdvance(label.lines[0])
    arrow = QRectF(label.boundingRect().topLeft(), QSizeF(wide, label.boundingRect().height()))
    seen = [item for item in read.childItems() if item.isVisible()]
    assert seen and not any(item.boundingRect().intersects(arrow) for item in seen)
    assert label.lines[0] == (f"F to {name}" if size[1] > 600 else "F")
    assert row.down_labels[0].lines == label.lines


def test_attention_is_drawn_from_the_ground_colour_on(qtbot: QtBot) -> None:
    shared = np.full((2, 4, 4), 0.25)
    attention = {"fx": shared, "rho_fx": shared, "f_gx": shared, "difference": 0 * shared}
    square = replace(make_square(), **attention)
    stand = Stand(qtbot, replace(make_frame(), squares=(square,)))
    assert (stand.stage.rows[0].bar.low, stand.stage.rows[0].bar.kind) == (0.0, "error")
    signed = replace(square, fx=shared - 0.5)
    stand.stage.set_frame(replace(make_frame(), squares=(signed,)))
    assert (stand.stage.rows[0].bar.low, stand.stage.rows[0].bar.kind) == (-square.scale, "signed")


def test_numbers_are_named_as_the_layer_names_them(qtbot: QtBot) -> None:
    square = make_square(channels=4, size=1)
    layer = replace(square.layer, names=("change", "square", "sparse", "asymmetry"))
    stand = Stand(qtbot, replace(make_frame(), squares=(replace(square, layer=layer),)))
    panel = stand.stage.rows[0].panels["fx"]
    assert panel.names == layer.names
    written = {item.text() for item in stand.stage.canvas.scene().items() if isinstance(item, QGraphicsSimpleTextItem)}
    assert written.issuperset(layer.names), "and none of them is cut"


def test_page_keys_go_through_the_maps(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    for key, shown, expected in ((Qt.Key.Key_PageDown, None, 0), (Qt.Key.Key_PageDown, 0, 1),
                                 (Qt.Key.Key_PageUp, 0, 63), (Qt.Key.Key_PageUp, None, 63)):  # fmt: skip
        stand.stage.set_state(replace(make_frame().state, channel=shown))
        qtbot.keyClick(stand.stage, key)
        assert stand.wishes[-1].changes == {"channel": expected}


def test_arrows_with_shift_go_through_the_places_of_a_map(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    for key, at, expected in ((Qt.Key.Key_Down, None, (14, 14)), (Qt.Key.Key_Down, (14, 14), (15, 14)),
                              (Qt.Key.Key_Left, (3, 0), (3, 0)), (Qt.Key.Key_Up, (0, 5), (0, 5))):  # fmt: skip
        stand.stage.set_state(replace(make_frame().state, channel=2, pixel=at))
        qtbot.keyClick(stand.stage, key, SHIFT)
        assert [w.changes for w in stand.wishes if w.changes][-1] == {"channel": 2, "pixel": expected}
    assert not stand.steps()  # the picture stays where it is


def test_an_arrow_that_went_down_elsewhere_shifts_nothing(qtbot: QtBot) -> None:
    stand = Stand(qtbot, make_frame())
    qtbot.keyRelease(stand.stage, Qt.Key.Key_Down)  # pressed in a menu
    assert not stand.wishes
