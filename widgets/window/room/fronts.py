"""Keep what was in front of each place of the window while data were shown, for an undo that leads back to them."""

from __future__ import annotations

from PySide6.QtCore import QObject

from explorer.square.frame import Frame
from explorer.state.state import State
from widgets.window.controller import Controller
from widgets.window.room.docks import Docks
from widgets.window.room.panes import Panes

KEPT = 100  # epochs


class Fronts(QObject):
    """Knows for each epoch that was left which views were in front, and brings them back there after an undo.

    Data of another kind put panels away that have nothing to say of them, and bring their own view to the front.
    """

    def __init__(self, controller: Controller, panes: Panes, docks: Docks) -> None:
        super().__init__(controller)
        self._controller, self._panes, self._docks = controller, panes, docks
        self._kept: dict[object, tuple[str, tuple[str, ...]]] = {}  # the view of the centre, and the panels
        self._wanted: object = None  # the epoch to which a person goes back
        controller.state_changed.connect(self._keep)
        controller.retraced.connect(self._want)

    def _keep(self, old: State, new: State) -> None:
        if new.epoch == old.epoch:
            return
        self._wanted = None
        frame = self._controller.frame
        if frame is None or frame.state.epoch != old.epoch:
            return  # it was never seen
        self._kept.pop(old.epoch, None)
        self._kept[old.epoch] = self._panes.in_front(), self._docks.in_front()
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def _want(self, state: State) -> None:
        self._wanted = state.epoch

    def bring_back(self, frame: Frame) -> None:
        """Bring to the front what was there when a frame of this epoch was shown last, if a person went back to it."""
        if frame.state.epoch != self._wanted:
            return
        self._wanted = None
        center, panels = self._kept.get(frame.state.epoch, ("", ()))
        if center and self._panes.offered(center):
            self._panes.raise_tab(center)
        self._docks.raise_again(panels)
