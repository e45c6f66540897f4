"""x and ρ(g) x on the stage: of a network that takes several images, the one that a person chooses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QGraphicsView, QMenu

from explorer.square.frame import InputPicture, Square
from widgets.base.camera import Camera
from widgets.maps.diagram import Label
from widgets.maps.map_item import MapItem
from widgets.stage.hands import Hands
from widgets.stage.row import CENTRE

TIP = "The network takes several images. Click to choose which of them is drawn; the element acts on all."


class InputPair(QObject):
    """The two pictures and their captions; clicked, these offer the images that the network takes."""

    changed = Signal()

    def __init__(self, camera: Camera, parent: QObject) -> None:
        super().__init__(parent)
        self.before, self.after = MapItem(camera), MapItem(camera)
        self.after.draggable = True
        self.after.setCursor(Qt.CursorShape.OpenHandCursor)
        self.captions = (Label(12, "text", CENTRE), Label(12, "text", CENTRE))
        self.chosen = ""  # the name of the image that is drawn; the first one where the network takes no such image
        self.inputs: tuple[InputPicture, ...] = ()
        for label in self.captions:
            label.clicked.connect(self.ask)
        self._name()

    def of(self, square: Square) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return x and rho(g) x as they are drawn."""
        one = self._picture(square)
        return (square.x, square.gx) if one is None else (one.x, one.gx)

    def _picture(self, square: Square) -> InputPicture | None:
        """Return the picture of the chosen image where it is not the first one."""
        return next((one for one in square.inputs[1:] if one.name == self.chosen), None)

    def show(
        self, squares: Sequence[Square], moved: NDArray[Any] | None, hands: Hands, roles: Sequence[str]
    ) -> None:  # fmt: skip
        """Draw both.

        Args:
            moved: rho(g) x of the first image before its frame.
            roles: the colour of each network's field of view.
        """
        first = squares[0]
        x, gx = self.of(first)
        gx = moved if moved is not None and self._picture(first) is None else gx
        finite = x.size > 0 and bool(np.isfinite(x).all())
        low, high = (float(x.min()), float(x.max())) if finite else (0.0, 1.0)
        if low < -1e-6:  # a field, not a picture
            top = max(-low, high)
            low, high, kind = -top, top, "signed"
        else:
            low, high, kind = 0.0, 1.0 if high <= 1.001 else high, "rgb" if len(x) == 3 else "grey"
        wide = hands.wide(hands.kind_of_x, *x.shape[1:])
        if hands.kind_of_x:
            kind = kind if kind == "signed" else "grey"
        self.before.set_values(x, low, high, kind, wide=wide)
        self.after.set_values(gx, low, high, kind, wide=wide)
        seen = [(s.field_of_view, role) for s, role in zip(squares, roles) if s.field_of_view is not None]
        heat, role = seen[0] if seen and self._picture(first) is None else (None, "accent")
        self.before.set_heat(heat, role if len(squares) > 1 else "accent")
        self.inputs = first.inputs
        self._name()

    def _drawn(self) -> str:
        """Return the name of the image that is drawn."""
        names = [one.name for one in self.inputs]
        return self.chosen if self.chosen in names else names[0] if len(names) > 1 else "x"

    def _name(self) -> None:
        """Name what is drawn, with a sign that it can be chosen where there are several."""
        several, name = len(self.inputs) > 1, self._drawn()
        sign = " ▾" if several else ""
        for label, text in zip(self.captions, (name, f"ρ(g){name}" if name == "x" else f"ρ(g) {name}")):
            label.set_text(f"{text}{sign}", text)
            label.set_hint(TIP if several else "")
            label.make_clickable(several)

    def ask(self) -> None:
        """Offer the images."""
        if len(self.inputs) < 2 or not (views := self.before.scene().views()):
            return
        self.menu(views[0]).popup(QCursor.pos())

    def menu(self, parent: QGraphicsView) -> QMenu:
        """Return the menu of the images that the network takes."""
        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        now = self._drawn()
        for one in self.inputs:
            size = "×".join(map(str, one.x.shape))
            action = menu.addAction(f"{one.name.replace('&', '&&')}   {size}", partial(self.choose, one.name))
            action.setCheckable(True)
            action.setChecked(one.name == now)
        return menu

    def choose(self, name: str) -> None:
        """Draw the image of that name."""
        self.chosen = name
        self.changed.emit()
