"""A row of widgets that goes on in the next line where it does not fit."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

GAP = 6  # pixels


class Flow(QLayout):
    """Lays out as words in a paragraph are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._words: list[QLayoutItem] = []  # which do not stand apart from what comes behind them
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def add_word(self, word: QWidget) -> None:
        """Add what stays in one line with that which is added next."""
        self.addWidget(word)
        self._words.append(self._items[-1])

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._placed(QRect(0, 0, width, 0), False)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._items]
        return QSize(max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._placed(rect, True)

    def _placed(self, rect: QRect, move: bool) -> int:
        """Put every item in its place, or only return the height that they take."""
        x, y, high = rect.x(), rect.y(), 0
        line: list[tuple[QLayoutItem, QRect]] = []
        shown = [one for one in self._items if not one.isEmpty()]  # what is hidden takes no room
        for k, item in enumerate(shown):
            size = item.sizeHint()
            more = GAP + shown[k + 1].sizeHint().width() if item in self._words and k + 1 < len(shown) else 0
            if x > rect.x() and x + size.width() + more > rect.right() + 1:
                _level(line, high, move)
                x, y, high, line = rect.x(), y + high + GAP, 0, []
            line.append((item, QRect(QPoint(x, y), size)))
            x, high = x + size.width() + GAP, max(high, size.height())
        _level(line, high, move)
        return y + high - rect.y()


def _level(line: list[tuple[QLayoutItem, QRect]], high: int, move: bool) -> None:
    """Put what stands in one line at the middle of its height: words beside boxes."""
    for item, place in line if move else ():
        item.setGeometry(place.translated(0, (high - place.height()) // 2))
