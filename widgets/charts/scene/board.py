"""Boards: scenes whose items a widget makes once, places when something has changed, and draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene, QWidget

from widgets.base.look import theme
from widgets.base.look.switched_parts import terms
from widgets.base.text.glossary import plain
from widgets.charts.library import pg

Item = TypeVar("Item", bound=QGraphicsItem)


class Board(QGraphicsScene):
    """A scene without a view: a widget places its items and has them drawn into itself, or into a file."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.root = pg.ItemGroup()  # of all items, to be hidden at once
        self.addItem(self.root)

    def draw(self, p: QPainter, rect: QRectF) -> None:
        """Draw the part `rect` of the scene at the same place of a painter."""
        p.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        self.render(p, rect, rect)


def words_now() -> tuple[object, ...]:
    """Return what all text and colours depend on: items that were placed for the same are placed still."""
    return theme.current(), plain(), terms()


class Pool(Generic[Item]):
    """Items of one kind, as many as were ever needed at a time; those that are not taken this time are hidden."""

    def __init__(self, make: Callable[[], Item], parent: QGraphicsItem | None = None) -> None:
        self._make, self._parent = make, parent
        self.items: list[Item] = []
        self.taken = 0

    def __enter__(self) -> Pool[Item]:
        self.taken = 0
        return self

    def take(self) -> Item:
        """Return an item that can be seen, and is nobody else's until the pool is entered again."""
        if self.taken == len(self.items):
            self.items.append(self._make())
            if self._parent is not None:
                self.items[-1].setParentItem(self._parent)
        self.taken += 1
        self.items[self.taken - 1].setVisible(True)
        return self.items[self.taken - 1]

    def __exit__(self, *_: object) -> None:
        for item in self.items[self.taken :]:
            item.setVisible(False)

    @property
    def shown(self) -> list[Item]:
        return self.items[: self.taken]


class BoardWidget(QWidget):
    """A widget that shows a board. Subclasses make items at the start and set them in `place`."""

    GROUND = "panel"  # role of the theme; "" is the ground of the widget below

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.board = Board(self)
        self._placed: tuple[object, ...] = ()

    def place(self) -> None:
        """Place all items: what they show, the size, the font or the theme is another one."""
        raise NotImplementedError

    def changed(self) -> None:
        """Have the items placed before they are drawn again."""
        self._placed = ()
        self.update()

    def placed(self) -> None:
        """Place the items if something has changed since."""
        key = (*words_now(), self.width(), self.height(), self.font().key())
        if key != self._placed:
            self._placed = key
            if self.GROUND:
                self.board.setBackgroundBrush(QColor(getattr(theme.current(), self.GROUND)))
            self.place()

    def small(self, bold: bool = False) -> QFont:
        """Return the font of labels, somewhat smaller than the widget's."""
        font = QFont(self.font())
        if font.pointSizeF() > 0:
            font.setPointSizeF(max(6.5, font.pointSizeF() * 0.88))
        font.setBold(bold)
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        self.placed()
        self.board.draw(QPainter(self), QRectF(event.rect()))
