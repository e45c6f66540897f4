"""A plot in the program's colours and fonts: pyqtgraph's view box, axes and mouse, with a header above."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from widgets.base.look import theme
from widgets.base.text.glossary import say
from widgets.charts.axis.axes import Axis, LogAxis, NameAxis, ValueAxis
from widgets.charts.items.header import Header
from widgets.charts.library import pg
from widgets.charts.scene.box import Box
from widgets.charts.scene.sheet import Sheet
from widgets.charts.stepping import CHOOSES, STEPS, Stepping, marked

ZOOMS = {Qt.Key.Key_Plus: 0.8, Qt.Key.Key_Equal: 0.8, Qt.Key.Key_Minus: 1.25}  # by how much the range grows
PANS = {
    Qt.Key.Key_Left: (-0.1, 0.0),
    Qt.Key.Key_Right: (0.1, 0.0),
    Qt.Key.Key_Down: (0.0, -0.1),
    Qt.Key.Key_Up: (0.0, 0.1),
}


class Plot(Sheet):
    """A header over a plot with an axis on its left and one below.

    Subclasses add items once (`add`), update them by setData, take colours in `dress`, and answer the mouse in data
    coordinates: `read`, `pointed`, `clicked_at`, `grabbed` and `dragged`.
    """

    hovered = Signal(str)
    BY_MARKS = True  # whether arrows go from mark to mark; else they choose at once
    BY_KEYS = True  # whether keys zoom and pan it; else the view round it has keys of its own

    def __init__(self, parent: QWidget | None = None, *, left: Axis | None = None, bottom: Axis | None = None) -> None:
        super().__init__(parent)
        self.viewport().setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(0, 0)
        self.left, self.bottom = left or LogAxis("left"), bottom or ValueAxis("bottom")
        self.box = Box(self._grabbed, self._dragged)
        self.item = pg.PlotItem(
            viewBox=self.box, axisItems={"left": self.left, "bottom": self.bottom}, enableMenu=False
        )
        self.item.ctrlMenu.setParent(self, Qt.WindowType.Popup)  # else it outlives the plot
        self.header = Header()
        self.header.flows = True
        self.header.grown.connect(self._regrown)
        self.frame = pg.GraphicsLayout()
        self.frame.layout.setContentsMargins(0, 0, 6, 0)
        self.frame.layout.setSpacing(0)
        self.frame.addItem(self.item, 0, 0)
        self.setCentralItem(self.frame)
        self.item.layout.removeItem(self.item.titleLabel)
        self.item.layout.addItem(self.header, 0, 1)
        for axis in (self.left, self.bottom):
            axis.setZValue(-200)  # grid lines lie under what is drawn
        self.item.layout.setContentsMargins(0, 0, 0, 0)
        self._holding = False
        self.stepping = Stepping(self)
        self.set_fonts()
        self.dress()
        self.box.sigRangeChanged.connect(self._reshape)
        self.box.sigResized.connect(self._reshape)
        self.scene().sigMouseClicked.connect(self._clicked)

    # what a subclass uses -------------------------------------------------------------------------------------
    def add(self, item: Any, z: float = 0.0, key: str = "") -> Any:
        """Add an item to the plot, with a place in the legend where it has a `key`; return it."""
        self.box.addItem(item, ignoreBounds=True)
        item.setZValue(z)
        if key:
            self.header.add_key(item, key)
        return item

    def set_ranges(self, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> None:
        """Set what "Show the whole range" shows; a zoom is kept unless its range is another one."""
        self.box.set_whole(x, y)

    def message_changed(self) -> None:
        self.frame.setVisible(not self._message)
        self.arrange()  # an axis that cannot be seen takes no room

    @property
    def plotted(self) -> QRectF:
        """Return the plot rectangle in pixels of the widget."""
        return self.box.mapRectToScene(self.box.rect())

    def pixels(self) -> QPointF:
        """Return the width and the height of one unit of the axes, in pixels."""
        (x0, x1), (y0, y1) = self.box.viewRange()
        size = self.box.size()
        return QPointF(size.width() / (x1 - x0), size.height() / (y1 - y0))

    # what a subclass overrides --------------------------------------------------------------------------------
    def dress(self) -> None:
        """Take the colours of the theme; called at the start and when it changes."""
        t = theme.current()
        for axis in (self.left, self.bottom):
            axis.dress()
        self.box.borderRect.setPen(QPen(QColor(t.line), 1))
        self.header.dress()
        self.arrange()  # on paper names may stand upright
        self.item.autoBtn.hide()  # until the mouse moves: no control in an exported figure
        self.viewport().update()

    def reshaped(self) -> None:
        """Place what depends on pixels: the range or the size is another one."""

    def read(self, at: QPointF) -> str:
        """Return the read-out at a position, "" when there is none; lines are split by newlines."""
        return ""

    def pointed(self, at: QPointF | None) -> None:
        """Highlight what is under the mouse, None when it has left."""

    def clicked_at(self, at: QPointF) -> None:
        """Answer a click."""

    def stops(self) -> list[QPointF]:
        """Return where keys stop: at each mark and column, else along the lines."""
        return marked(self.box, self.stepping.ring)

    def doubled(self, at: QPointF) -> bool:
        """Answer a double click; where that returns False, the whole range is shown."""
        return False

    def grabbed(self, at: QPointF) -> bool:
        """Return whether a drag from there moves something in the chart; then `dragged` follows."""
        return False

    def dragged(self, at: QPointF, done: bool) -> None:
        """Follow the drag of what was grabbed."""

    # size, fonts, ground --------------------------------------------------------------------------------------
    def minimumSizeHint(self) -> QSize:
        return QSize(80, 60)

    def sizeHint(self) -> QSize:
        return QSize(420, 160)

    def set_fonts(self) -> None:
        font = self.small()
        self.header.set_font(font)
        for axis in (self.left, self.bottom):
            axis.set_font(font)

    def changeEvent(self, event: Any) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "frame"):
            self.set_fonts()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if hasattr(self, "frame"):
            self.arrange()

    def arrange(self) -> None:
        """Lay out at once what else would wait for the event loop: a picture may be taken before."""
        for axis in (self.left, self.bottom):
            axis.fit()
        for layout in (self.frame.layout, self.item.layout):
            layout.activate()

    def _regrown(self) -> None:
        if hasattr(self, "stepping"):  # it is made as a whole
            self.arrange()

    @property
    def extra_height(self) -> float:
        """Return by how much what is written round the plot is higher on paper than on the screen."""
        return 0.0 if self._message else self.header.extra_height + self.bottom.extra_height

    @property
    def left_out(self) -> int:
        """Return how many names below the plot have no room."""
        return 0 if self._message else self.bottom.left_out

    def drawBackground(self, p: QPainter, rect: QRectF) -> None:
        if self._message:
            super().drawBackground(p, rect)  # a sentence has one ground, in place of whatever it stands
        else:
            p.fillRect(self.plotted, QColor(theme.current().plot))

    def _reshape(self, *changed: Any) -> None:
        if not self._message:
            self.reshaped()

    # the mouse ------------------------------------------------------------------------------------------------
    def at(self, x: float, y: float) -> QPointF:
        """Return the place of a pair of coordinates in pixels of the widget."""
        return self.box.mapViewToScene(QPointF(x, y))

    def _grabbed(self, at: QPointF) -> bool:
        self._holding = self.grabbed(at)
        return self._holding

    def _dragged(self, at: QPointF, done: bool) -> None:
        self._holding = not done
        self.dragged(at, done)

    def _clicked(self, event: Any) -> None:
        if self._message or event.isAccepted() or event.button() != Qt.MouseButton.LeftButton:
            return
        at = self.box.mapSceneToView(event.scenePos())
        if not event.double():
            self.clicked_at(at)
        elif not self.doubled(at):
            self.box.autoRange()

    def mouseMoveEvent(self, event: Any) -> None:
        super().mouseMoveEvent(event)
        place = event.position()
        self.stepping.leave()
        text = "" if self._message else say(self._told(place))
        self.hovered.emit(text.replace("\n", " · "))
        if text and not self._holding:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()
        if not self._message:
            self.pointed(self.box.mapSceneToView(place))

    def _told(self, place: QPointF) -> str:
        """Return the read-out at a pixel: that of the plot, or the whole name on an axis of names."""
        if text := self.read(self.box.mapSceneToView(place)):
            return text
        for axis in (self.left, self.bottom):
            if isinstance(axis, NameAxis) and axis.sceneBoundingRect().contains(place):
                index = axis.index_at(axis.mapFromScene(place))
                return axis.names[index].text if index is not None else ""
        return ""

    def wheelEvent(self, event: Any) -> None:
        if self._message or not any(self.box.state["mouseEnabled"]):
            event.ignore()  # the list round it scrolls
            return
        super().wheelEvent(event)

    # the keyboard ---------------------------------------------------------------------------------------------
    def keyPressEvent(self, event: Any) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if (
            self.BY_KEYS
            and plain
            and not self._message
            and (self._moved_by(event.key(), shift) or self._stepped_by(event.key()))
        ):
            event.accept()
        else:
            super().keyPressEvent(event)

    def _stepped_by(self, key: Any) -> bool:
        """Go from mark to mark, or answer as to a click there; return whether the key asks for that."""
        if key in STEPS and self.BY_MARKS:
            return self.stepping.step(key)
        if key in CHOOSES and self.stepping.at is not None and self.stepping.ring.isVisible():
            self.clicked_at(self.stepping.at)
            return True
        return False

    def answers(self, at: QPointF) -> bool:
        """Say whether there is something to read or to click at a place."""
        return bool(self.read(at))

    def tell(self, at: QPointF) -> None:
        """Show the read-out of a place beside it."""
        text = say(self.read(at))
        self.hovered.emit(text.replace("\n", " · "))
        place = self.at(at.x(), at.y()).toPoint()
        QToolTip.showText(self.viewport().mapToGlobal(place), text, self)

    def focusOutEvent(self, event: Any) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:  # its own menu
            self.stepping.leave()

    def _moved_by(self, key: Any, shift: bool) -> bool:
        """Zoom, pan or show the whole range, as a key asks for; return whether it does."""
        box = self.box
        if key in ZOOMS and any(box.state["mouseEnabled"]):
            box.zoom(ZOOMS[key])
        elif key == Qt.Key.Key_Home and box.zoomed:
            box.autoRange()
        elif key in PANS and box.zoomed and not shift:
            box.pan(*PANS[key])
        else:
            return False
        return True

    def contextMenuEvent(self, event: Any) -> None:
        if event.reason() == event.Reason.Keyboard:
            here = self.stepping.at if self.stepping.ring.isVisible() else None
            place = self.plotted.center() if here is None else self.at(here.x(), here.y())
            self.box.open_menu(self.viewport().mapToGlobal(place.toPoint()))
            event.accept()
        else:
            super().contextMenuEvent(event)

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self.hovered.emit("")
        self.pointed(None)
