"""The lower row of the commuting square for one model: F(x), rho'(g) F(x), F(rho(g) x), their difference."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtWidgets import QGraphicsScene

from explorer.declare.groups import group
from explorer.square.frame import BACK, Square
from widgets.base.camera import Camera
from widgets.base.text.words import badge, figure, named_in_brief
from widgets.base.veil import DIMMED
from widgets.maps.colour_bar import ColourBar
from widgets.maps.diagram import Arrow, Label, ReadOut
from widgets.maps.linking import Link, Place, Places, precise, spacing_of
from widgets.maps.map_item import MapItem
from widgets.maps.mosaic import counted, shares
from widgets.stage.boxes import CAPTION, Boxes, RowBoxes, below
from widgets.stage.hands import Hands

CENTRE = Qt.AlignmentFlag.AlignHCenter
NAMES = {
    "back": BACK,
    "fx": "F(x)",
    "rho_fx": "ρ′(g)F(x)",
    "f_gx": "F(ρ(g)x)",
    "difference": "difference",
}
READ = 136.0  # pixels of height of the figures beside the ring, at most
BRIEF = {"back": ("ρ′⁻¹F(ρx)",), "difference": ("diff.",)}  # where there is no room
SOURCES = ("fx", "back")  # panels whose places are those of F(x); the others' are moved by g


class StageRow:
    """The items of one model. They are made once and live as long as the stage."""

    def __init__(self, scene: QGraphicsScene, camera: Camera, index: int) -> None:
        self.role = ("first", "second")[index]
        self.square: Square | None = None
        self.hands: Hands | None = None
        self._summed = True  # the panels stand in one line, with signs between them
        self.pooled = False  # the difference as its size over places, channels pooled
        self.panels = {name: MapItem(camera) for name in NAMES}
        self.captions = {name: Label(12, "text", CENTRE) for name in NAMES}
        self.captions["difference"].make_clickable()
        self.heading = Label(12, "text")
        self.heading.bold, self.heading.dot = True, self.role
        self.absent = Label(11, "muted", CENTRE)  # why there is no rho'(g) F(x)
        self.absent_too = Label(11, "muted", CENTRE)
        for label in (self.absent, self.absent_too):
            label.wrap = label.frame = True
        self.across = Arrow()
        self.across_label = Label(12, "text", CENTRE)
        self.across_label.set_text("ρ′(g)")
        self.down_left, self.down_right = Arrow(), Arrow()
        self.down_labels = (Label(12, "text"), Label(12, "text"))
        self.minus, self.equals = Label(15, "muted", CENTRE), Label(15, "muted", CENTRE)
        self.minus.set_text("−")
        self.equals.set_text("=")
        self._scene, self.readout = scene, ReadOut()
        items: tuple[Any, ...] = (
            *self.panels.values(),
            *self.captions.values(),
            *(
                self.heading,
                self.absent,
                self.absent_too,
                self.across,
                self.across_label,
                self.readout,
            ),
            *(self.down_left, self.down_right, *self.down_labels, self.minus, self.equals),
        )
        for item in items:
            scene.addItem(item)

    @cached_property
    def bar(self) -> ColourBar:
        """Return the colour bar, made with the first frame: the program starts without it."""
        made = ColourBar()
        made.adopt(self._scene.views()[0])
        self._scene.addItem(made)
        made.dress()
        return made

    def dress(self) -> None:
        """Take the colours of the theme."""
        for item in (self.readout, self.across, self.down_left, self.down_right):
            item.dress()
        if "bar" in self.__dict__:
            self.bar.dress()

    # layout -----------------------------------------------------------------------------------------------
    def place(self, row: RowBoxes, boxes: Boxes, index: int, models: int) -> None:
        for name, box in zip(NAMES, row.panels(), strict=True):
            self.panels[name].place(box)
            self.captions[name].place(below(box))
        self.heading.place(row.heading)
        self.heading.setVisible(models > 1)
        self.absent.place(row.rho_fx)
        self.absent_too.place(row.difference)
        self.bar.place(row.bar)
        self.readout.place(boxes.readouts[index], lying=boxes.upright)
        middle = row.fx.center().y()
        self.across_label.align = Qt.AlignmentFlag.AlignLeft if boxes.upright else CENTRE
        if boxes.upright:
            x, start, end = row.fx.center().x(), row.fx.bottom() + CAPTION + 3, row.rho_fx.top() - 5
            self.across.place(QPointF(x, start), QPointF(x, end))
            self.across_label.place(QRectF(x + 8, (start + end) / 2 - 10, row.f_gx.left() - x - 8, 17))
        else:
            self.across.place(QPointF(row.fx.right() + 6, middle), QPointF(row.rho_fx.left() - 6, middle))
            gap = QRectF(row.fx.right(), middle - 19, row.rho_fx.left() - row.fx.right(), 17)
            self.across_label.place(gap)
        self.minus.place(QRectF(row.rho_fx.right(), middle - 12, row.f_gx.left() - row.rho_fx.right(), 24))
        self.equals.place(QRectF(row.f_gx.right(), middle - 12, row.difference.left() - row.f_gx.right(), 24))
        # with two models the gaps belong to the second model's arrow, and two lines are no sum
        self._summed = models == 1 and not boxes.upright
        for sign in (self.minus, self.equals):
            sign.setVisible(self._summed)
        self._place_down(row, boxes, index)

    def _place_down(self, row: RowBoxes, boxes: Boxes, index: int) -> None:
        role = self.role if self.heading.isVisible() else "muted"
        for arrow in (self.down_left, self.down_right, self.across):
            arrow.dress(role)
        first = boxes.rows[0]
        start_x, end_x = boxes.x.bottom() + 5, first.fx.top() - 5 - row.heading.height()
        start_g = boxes.ring_centre.y() + boxes.ring_radius + 13
        if index == 0:
            x, g = row.fx.center().x(), row.f_gx.center().x()
            self.down_left.place(QPointF(x, start_x), QPointF(x, end_x))
            self.down_right.place(QPointF(g, start_g), QPointF(g, end_x))
            until = row.f_gx.left() if boxes.upright else row.rho_fx.center().x()
            self.down_labels[0].place(QRectF(x + 8, end_x - 28, until - x - 8, 17))
            top, read = end_x - 21, boxes.readouts[0]
            beside = read.top() + min(READ, read.height()) > top  # in little height
            right = read.left() - 6 if beside else boxes.header.right()
            self.down_labels[1].place(QRectF(g + 8, top, right - g - 8, 17))
            return
        # the second model's arrows leave from the same pictures and pass by the first model's row
        for arrow, panel, start, above, target in (
            (self.down_left, first.fx, start_x, boxes.x, row.fx),
            (self.down_right, first.f_gx, start_g, boxes.gx, row.f_gx),
        ):
            side, out = target.left() - 9, panel.center().x() - 12
            turn = end_x - 24 if above is boxes.gx else max(start, end_x - 24)
            down = target.center().y()
            corners = ((out, start), (out, max(turn, start)), (side, max(turn, start)), (side, down))
            arrow.place(*(QPointF(*corner) for corner in corners), QPointF(target.left() - 1, down))

    # content ----------------------------------------------------------------------------------------------
    def set_visible(self, visible: bool, back: bool, framed: bool) -> None:
        """Show or hide the row. The heading is the layout's to show, what is absent the frame's."""
        always: list[Any] = [self.down_left, self.down_right, self.across, self.across_label, self.readout]
        if framed or "bar" in self.__dict__:
            always.append(self.bar)
        for item in (*self.panels.values(), *self.captions.values(), *always):
            item.setVisible(visible)
        self.panels["back"].setVisible(visible and back)
        self.captions["back"].setVisible(visible and back)
        for label in self.down_labels:
            label.setVisible(visible and self.role == "first")
        if not visible:
            for item in (self.heading, self.absent, self.absent_too, self.minus, self.equals):
                item.setVisible(False)

    def show(self, square: Square, models: int, hands: Hands) -> None:
        """Write a square's values into the items."""
        self.square, self.hands = square, hands
        fibre = group(square.group) if square.group else None
        order, labels = (fibre.order, fibre.labels) if fibre else (1, ())
        names = next((told for told in (square.layer.names, square.labels) if len(told) == len(square.fx)), ())
        scale = square.scale
        numbers = counted(square.fx) and counted(square.f_gx)  # members of a set, names of colours: no sign
        low, kind = (0.0, "grey") if numbers else (-scale, "signed")
        if not numbers and shares(square.fx) and shares(square.f_gx):
            low, kind = 0.0, "error"  # from the ground colour on, as in Attention and pairs
        for name in ("fx", "back", "rho_fx", "f_gx", "difference"):
            values = getattr(square, name)
            if name == "difference" and self.pooled and square.error_map is not None:
                top = float(np.nanmax(square.error_map, initial=0.0))
                self.panels[name].set_values(square.error_map[None], 0.0, top or 1.0, "error")
            else:
                # all panels alike: a matrix keeps its shape when nodes are left out of one side
                wide = hands.wide(square.layer.kind_of_places, *square.fx.shape[1:])
                ends = (-scale, scale, "signed") if name == "difference" else (low, scale, kind)
                self.panels[name].set_values(values, *ends, order, labels, names, wide)
        self.bar.set_levels(low, scale, kind)
        acts = square.rho_fx is not None
        self.absent.setVisible(not acts)
        self.absent_too.setVisible(not acts)
        self.absent.set_text(square.no_action or "This layer has no action of this element.", "No action, so no law.")
        self.absent.setToolTip(square.no_action)
        self.absent_too.set_text("Nothing to compare without ρ′(g)F(x).", "Nothing to compare.")
        for sign in (self.minus, self.equals):
            sign.setVisible(acts and self._summed)
        for name, caption in self.captions.items():
            caption.set_text(NAMES[name], *BRIEF.get(name, ()))
        if self.pooled and square.error_map is not None:
            peak = figure(float(np.nanmax(square.error_map, initial=0.0)))
            self.captions["difference"].set_text(f"|difference| ≤ {peak}")
        self.captions["difference"].setToolTip("Click (or E): the difference of each channel, or its size over places")
        short = named_in_brief(square)
        layer = square.layer.name
        self.heading.set_text(f"{layer}  ·  {square.title}", f"{layer} · {short}", layer)
        for label in self.down_labels:
            label.set_text(*((f"F to {square.layer.name}", "F") if models == 1 else ("F",)))
        measure = square.measures.get(square.layer.name)
        named = (square.title, self.role) if models > 1 else ("", "")
        self.readout.show_measure(measure, badge(measure), *named, brief=short if models > 1 else "")

    @property
    def of_rows(self) -> bool:
        """Return whether places are rows and channels columns: then no channel has a picture of its own."""
        return (
            self.square is not None and self.hands is not None and self.square.layer.kind_of_places in self.hands.rows
        )

    def dim(self, stale: str, source_stays: bool) -> None:
        """Dim the maps of another element and say why; F(x) stays where it is still that of the layer."""
        self.readout.show_stale(stale)
        for name, panel in self.panels.items():
            panel.setOpacity(DIMMED if stale and not (name == "fx" and source_stays) else 1.0)

    def set_channel(self, channel: int | None) -> None:
        for name, panel in self.panels.items():
            panel.set_channel(None if self.of_rows or (name == "difference" and self.pooled) else channel)

    def place_names(self, name: str) -> Places:
        """Return the places of a panel, for linking."""
        square, values = self.square, self.panels[name].values
        assert square is not None
        shape = values.shape if values is not None else square.fx.shape
        kind = square.layer.kind_of_places
        return Places(shape[1], shape[2], spacing_of(square.layer.field), square.group, kind)

    def linked(self, name: str, place: Place, link: Link) -> dict[str, Place | None]:
        """Return, for every panel, the place that belongs to `place` of the panel `name`."""
        here = self.place_names(name)
        result: dict[str, Place | None] = {}
        for other in NAMES:
            there = self.place_names(other)
            if (other in SOURCES) == (name in SOURCES):
                result[other] = place
            elif name in SOURCES:
                result[other] = link.forward(place, here, there)
            else:
                result[other] = link.back(place, here, there)
        return result

    def values_text(self, name: str, places: dict[str, Place | None]) -> str:
        """Return the values of all panels at linked places, the hovered panel's first."""
        words = []
        for other in (name, *(n for n in NAMES if n != name)):
            panel, place = self.panels[other], places[other]
            if panel.values is None or not panel.isVisible():
                continue
            if other == "difference" and self.pooled and place is not None:
                place = (0, *place[1:])
            value = None if place is None else panel.value_at(place)
            words.append(f"{NAMES[other]} {'outside' if value is None else precise(value)}")
        return "  ·  ".join(words)
