"""The base of all views: a widget that shows frames, emits wishes, and can give its numbers and a caption."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPoint, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from explorer.square.frame import Frame, Moved, OrbitCurve, Outline, Square
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.pointer import Pointer, point_again


@dataclass(frozen=True, slots=True)
class Wish:
    """The wish of a person. A view changes no state itself; the controller grants wishes.

    Attributes:
        changes: fields of State to replace, such as {"layer": "conv2", "channel": None}.
        step: (transform name, values) to set, or None.
        tag: successive wishes with the same tag are one undo entry (a drag); "" is an entry of its own.
        done: the gesture is over (mouse released).
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    step: tuple[str, tuple[float, ...]] | None = None
    tag: str = ""
    done: bool = False


class View(QWidget):
    """Base of all views. Subclasses override what they show; hidden views are only marked dirty.

    `show_frame(None)` is the designed empty state. Views update existing items; they never rebuild on a frame.
    """

    MOST = 2  # models that are shown beside each other; the first ones of a frame
    only_told = False  # whether a sentence stands in place of what the view shows
    POINTS_AT = ""  # the kind of place under its cursor: "step", "vertex"; views of one kind point together

    wished = Signal(object)  # Wish
    hovered = Signal(str)  # read-out under the cursor, "" when it leaves
    # a layer, "" for one of another model than the first; "channel", "head", "node" or "" for all of it; which; where
    menu_asked = Signal(str, str, int, QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._waiting: dict[str, Callable[[], None]] = {}
        self.pointer = Pointer(self)  # linked with those of the other views by the window
        self._reads = False  # whether it has told what is under the cursor, which is another thing in the next frame
        self.hovered.connect(self._has_told)

    # what the main window calls -------------------------------------------------------------------------------
    def set_frame(self, frame: Frame | None) -> None:
        self._when_visible("frame", lambda: self.show_frame(frame))

    def keep_frame(self, frame: Frame) -> None:
        """Take `frame`, in place of one that still waits, without drawing it: that is done by `catch_up`."""
        self._waiting["frame"] = lambda: self.show_frame(frame)

    @property
    def behind(self) -> bool:
        """Say whether a frame waits to be drawn."""
        return "frame" in self._waiting

    def catch_up(self) -> None:
        """Draw what waits, when the view can be seen."""
        if self.isVisible():
            self._flush()

    def set_orbit(self, curves: tuple[OrbitCurve, ...]) -> None:
        self._when_visible("orbit", lambda: self.show_orbit(curves))

    # what a view overrides ------------------------------------------------------------------------------------
    def show_frame(self, frame: Frame | None) -> None:
        """Draw `frame`."""

    def show_orbit(self, curves: tuple[OrbitCurve, ...]) -> None:
        """Draw the (partial) curves along the orbit, one per model."""

    def awaits(self, frame: Frame) -> bool:
        """Return whether more of `frame` is still being computed that this view will draw."""
        return False

    def show_moved(self, moved: Moved) -> None:
        """Show the picture of rho(g) x, whose frame comes later."""

    def show_outline(self, outline: Outline) -> None:
        """Show the modules of a large network, whose first frame comes later."""

    def show_stale(self, text: str) -> bool:
        """Dim what no longer belongs to what was asked for, and say `text`; "" ends it.

        Returns:
            whether the view does so itself; else all of it is dimmed.
        """
        return False

    def set_state(self, state: State) -> None:
        """Follow what the person has chosen at once: the frame that answers it comes later."""

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Take note of what there is to choose from."""

    def settle(self) -> None:
        """Wait for what is still being drawn in the background (a layout): a picture is about to be taken."""

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return what is shown as named arrays, for CSV and NPZ."""
        return {}

    def reveal(self, layer: str) -> None:
        """Turn to a layer, where a view shows more than that."""

    def choice_row(self, field: str, name: str, told: str) -> QModelIndex | None:
        """Return the row at which a person chooses `name` for a field of the state, where a text has told its title.

        A view that lists what can be chosen says so: a lesson points at the row. None where there is none.
        """
        return None

    def bring_row(self, index: QModelIndex) -> None:
        """Bring such a row into sight."""

    def turntable(self, count: int) -> Iterator[QImage] | None:
        """Return `count` pictures of one full turn of what is shown, made one by one; None where nothing can turn."""
        return None

    def looks(self) -> dict[str, Any]:
        """Return what a person has chosen about the picture alone, as plain JSON values: a session keeps it."""
        return {}

    def take_looks(self, looks: Mapping[str, Any], sample: str) -> None:
        """Show what is drawn of `sample` as `looks` say; what in them is unknown or impossible is left as it is."""

    def forget_choices(self) -> None:
        """Choose again by itself what of its data is drawn: a lesson begins as it is written."""

    def caption(self) -> str:
        """Return one line that says what is shown with which parameters, for exported figures."""
        return ""

    def snapshot(self) -> QPixmap:
        """Return what the view shows, on the screen or not.

        Qt counts parts that moved as painted again by this, and would leave their old places on the screen.
        """
        taken = self.grab()
        for area in (self, *self.findChildren(QAbstractScrollArea)):
            (area.viewport() if isinstance(area, QAbstractScrollArea) else area).update()
        return taken

    def apply_theme(self) -> None:
        """Take the colours of `widgets.base.look.theme.current()`; called at start and when light/dark changes."""

    # hidden views wait until they are seen --------------------------------------------------------------------
    def _when_visible(self, key: str, show: Callable[[], None]) -> None:
        self._waiting[key] = show
        self.catch_up()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for show in waiting.values():
            show()
        if self._reads:
            point_again(self)

    def _has_told(self, text: str) -> None:
        self._reads = bool(text)

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        try:
            self._flush()
        except Exception:  # one that leaves an event handler of Qt can end the program
            sys.excepthook(*sys.exc_info())


def numbers_of(sides: Iterable[tuple[Square, Mapping[str, Any]]]) -> dict[str, NDArray[Any]]:
    """Return what is known of each side as arrays: where there are several, under the name of its network."""
    told = list(sides)
    several = len({id(square) for square, _ in told}) > 1
    return {
        f"{square.model}/{name}" if several else name: np.asarray(values)
        for square, known in told
        for name, values in known.items()
        if values is not None
    }


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """The description by which the window finds and places a view.

    `area` is "center", "left", "right" or "bottom"; views of one area are tabbed in the order of `order`. A view
    that can show some `domains` only has no tab while another is looked at. `prepare` is called once, when data
    of its `domains` are chosen: it starts, in a thread of its own, what the first picture would wait for. One that
    has something to draw of some squares only has no tab either where the first one does not fit.
    """

    name: str
    title: str
    make: Callable[[], View]
    area: str
    order: int = 0
    summary: str = ""
    key: str = ""
    domains: tuple[str, ...] = ()  # empty: all
    prepare: Callable[[], None] | None = None
    fits: Callable[[Square], bool] | None = None

    def tells(self, square: Square | None) -> bool:
        """Say whether the view has something to draw of a square; of none, where it needs to be asked, it has not."""
        return self.fits is None or (square is not None and self.fits(square))
