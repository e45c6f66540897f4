"""Lists of what can be chosen: a click or Return, a button to compare, a star; samples as tiles; the loading state."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.declare.card import ModelInfo
from explorer.declare.space import same_space
from explorer.state.catalogue import SampleInfo
from widgets.base.look import theme
from widgets.base.look.alignment import LEFT, RIGHT
from widgets.charts.inks import faded, mixed

INFO = Qt.ItemDataRole.UserRole + 1  # ModelInfo, SampleInfo, or None on a heading
IMAGE = Qt.ItemDataRole.UserRole + 2
DOMAIN = Qt.ItemDataRole.UserRole + 3  # of what stands under a heading
COUNT = Qt.ItemDataRole.UserRole + 4  # how much of it is shown
FAINT = 0.42  # opacity of samples that the model cannot take
Index = QModelIndex | QPersistentModelIndex


class Cards(QListWidget):
    """A list whose items are chosen by a click or Return; a card may carry a "compare" button."""

    chosen = Signal(str)
    compared = Signal(str)
    starred = Signal(str)
    left = Signal()  # by the mouse

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.current, self.second = "", ""  # names of the model (or sample) shown, and of the one beside it
        self.domain = ""  # of the model in use; "" when it is not known
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(False)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QListWidget.EditTrigger.NoEditTriggers)
        self._pressed: Any = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()  # in a wider list pictures are larger, and rows higher

    def info(self, item: QListWidgetItem | None) -> Any:
        return item.data(INFO) if item is not None else None

    def named(self, name: str) -> Any:
        """Return what there is to know of the card with that name, or None."""
        infos = (self.info(self.item(k)) for k in range(self.count()))
        return next((i for i in infos if i is not None and i.name == name), None)

    def mark(self, current: str, second: str) -> None:
        """Show which one is in use; the keyboard's place in the list stays where it is."""
        if (current, second) != (self.current, self.second):
            self.current, self.second = current, second
            self.viewport().update()
            self.bring_into_sight()

    def suit(self, domain: str) -> None:
        """Let what a model of that domain cannot take step back."""
        if domain != self.domain:
            self.domain = domain
            self.viewport().update()

    def suits(self, domain: str) -> bool:
        return not self.domain or same_space(domain, self.domain)

    def bring_into_sight(self) -> bool:
        """Scroll for the one in use to be seen, with what stands round it; say whether it is in the list."""
        for row in range(self.count()):
            item = self.item(row)
            if (info := self.info(item)) is not None and info.name == self.current and not item.isHidden():
                seen = self.viewport().rect().contains(self.visualItemRect(item))
                hint = QListWidget.ScrollHint
                self.scrollToItem(item, hint.EnsureVisible if seen else hint.PositionAtCenter)
                return True
        return False

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        self.bring_into_sight()  # while it was hidden it had no size to scroll in

    def compare_rect(self, rect: QRect) -> QRect:
        """Return the place of the compare button in a card's rectangle."""
        width = self.fontMetrics().horizontalAdvance("comparing ×") + 10
        height = self.fontMetrics().height() + 2
        return QRect(rect.right() - width - 6, rect.bottom() - height - 4, width, height)

    def can_compare(self, info: Any) -> bool:
        return isinstance(info, ModelInfo) and bool(self.current) and info.name != self.current

    def mousePressEvent(self, event: Any) -> None:
        self._pressed = self.itemAt(event.position().toPoint())
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: Any) -> None:
        super().mouseReleaseEvent(event)
        at: QPoint = event.position().toPoint()
        item, self._pressed = self.itemAt(at), None if self.itemAt(at) is not self._pressed else self._pressed
        info = self.info(item) if self._pressed is not None else None
        if event.button() != Qt.MouseButton.LeftButton or info is None:
            return
        delegate = self.itemDelegate()
        if (
            item is not None
            and hasattr(delegate, "star_rect")
            and delegate.star_rect(self.visualItemRect(item)).contains(at)
        ):
            self.starred.emit(info.name)
        elif item is not None and self.can_compare(info) and self.compare_rect(self.visualItemRect(item)).contains(at):
            self.compared.emit(info.name)
        else:
            self.chosen.emit(info.name)

    def keyPressEvent(self, event: Any) -> None:
        info = self.info(self.currentItem())
        if info is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(info.name)
            return
        super().keyPressEvent(event)

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self.viewport().update()
        self.left.emit()


class ThumbnailDelegate(QStyledItemDelegate):
    """A sample: its picture with the pixels as they are, and its title."""

    SIDE = 60

    def __init__(self, parent: Cards) -> None:
        super().__init__(parent)
        self._list = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        width, line = max(self.SIDE + 10, self._list.viewport().width() - 2), self._list.fontMetrics().height()
        if index.data(INFO) is None:
            return QSize(width, round(2.1 * line))
        # the tiles of a row share the width evenly
        return QSize(width // max(1, width // (self.SIDE + 10)), self.SIDE + 12 + round(1.9 * line))

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect, t = QRectF(option.rect), theme.current()
        info: SampleInfo | None = index.data(INFO)
        small = QFont(self._list.font())
        small.setPointSizeF(max(6.5, small.pointSizeF() * 0.88))
        p.save()
        if info is None:
            note = "" if self._list.suits(str(index.data(DOMAIN))) else "changes the model"
            paint_heading(p, rect, index, small, note)
            p.restore()
            return
        state = option.state
        if not self._list.suits(info.domain) and not state & QStyle.StateFlag.State_MouseOver:
            p.setOpacity(FAINT)
        mine = info.name == self._list.current
        if mine or state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus):
            p.fillRect(rect.adjusted(1, 1, -1, -1), mixed(t.first, t.panel, theme.CHOSEN) if mine else QColor(t.raised))
        place = QRectF(rect.center().x() - self.SIDE / 2, rect.top() + 5, self.SIDE, self.SIDE)
        image = index.data(IMAGE)
        if isinstance(image, QImage) and not image.isNull():
            size = QSize(image.size())
            size.scale(self.SIDE, self.SIDE, Qt.AspectRatioMode.KeepAspectRatio)
            drawn = QRectF(0, 0, size.width(), size.height())
            drawn.moveCenter(place.center())
            smooth = image.width() > self.SIDE * 1.5
            p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
            p.drawImage(drawn, image, QRectF(image.rect()))
            place = drawn
        else:
            p.fillRect(place, QColor(t.raised))
            p.setPen(QColor(t.muted))
            p.drawText(place, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, info.domain)
        if mine:
            p.setPen(QPen(QColor(t.first), 2))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRect(place.adjusted(-1, -1, 1, 1))
        p.setFont(small)
        p.setPen(QColor(t.text if mine else t.muted))
        caption = QRectF(rect.left() + 1, rect.top() + self.SIDE + 7, rect.width() - 2, rect.height() - self.SIDE - 8)
        room = 1.7 * caption.width()  # two lines, of which the first rarely ends at the edge
        shown = QFontMetricsF(small).elidedText(info.title, Qt.TextElideMode.ElideMiddle, room)
        wrapped = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWrapAnywhere
        fits = max(map(QFontMetricsF(small).horizontalAdvance, shown.split()), default=0.0) <= caption.width()
        p.drawText(caption, wrapped if not fits else wrapped ^ Qt.TextFlag.TextWrapAnywhere | Qt.TextFlag.TextWordWrap,
                   shown)  # fmt: skip
        p.restore()


def paint_heading(p: QPainter, rect: QRectF, index: Index, small: QFont, note: str = "") -> None:
    """Write what stands below and how much of it, over a line."""
    t = theme.current()
    bold = QFont(small)
    bold.setBold(True)
    text, count = str(index.data()), index.data(COUNT)
    line = rect.adjusted(10, 4, -8, -2)
    p.setFont(bold)
    p.setPen(QColor(t.text))
    p.drawText(line, LEFT, text)
    left = line.left() + QFontMetricsF(bold).horizontalAdvance(text) + 7
    p.setFont(small)
    p.setPen(QColor(t.muted))
    if count:
        p.drawText(line.adjusted(left - line.left(), 0, 0, 0), LEFT, str(count))
        left += QFontMetricsF(small).horizontalAdvance(str(count)) + 8
    p.drawText(QRectF(left, line.top(), line.right() - left, line.height()), RIGHT, note)
    p.fillRect(QRectF(line.left(), rect.bottom() - 2, line.width(), 1), QColor(t.line))


class Loading(QWidget):
    """Grey cards where the models will be, and why they are not there yet."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text

    def paintEvent(self, event: Any) -> None:
        p, t = QPainter(self), theme.current()
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.fillRect(self.rect(), QColor(t.panel))
        line = self.fontMetrics().height()
        p.setPen(QColor(t.muted))
        text = QRectF(12, 8, self.width() - 24, 3 * line)
        p.drawText(text, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap, self.text)
        y, k = text.bottom() + 6, 0
        p.setPen(Qt.PenStyle.NoPen)
        while y + 2.9 * line < self.height() and k < 6:
            fade = 1 - k / 6  # the list goes on, nobody knows yet how far
            p.setBrush(faded(t.line, round(190 * fade)))
            p.drawRoundedRect(QRectF(12, y + 6, 0.58 * (self.width() - 24), 0.7 * line), 3, 3)
            p.setBrush(faded(t.line, round(110 * fade)))
            p.drawRoundedRect(QRectF(12, y + 6 + 1.2 * line, 0.34 * (self.width() - 24), 0.55 * line), 3, 3)
            y, k = y + 2.9 * line, k + 1
        p.end()
