"""Paint the card of a model: its picture, its title on two lines, what it claims, and whether it is trained."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import several
from widgets.base.look import theme
from widgets.base.look.alignment import LEFT
from widgets.base.text.groups import written
from widgets.base.text.kinds_of_data import title_of
from widgets.charts.inks import faded, mixed
from widgets.views.choosing.cards import INFO, Cards, paint_heading
from widgets.views.choosing.filters import Favourites
from widgets.views.choosing.pictures import SIZE, thumbnail

MARGIN = 8
MOST_LINES = 4  # of a title
NARROW = 250  # pixels of a list below which pictures are smaller
Index = QModelIndex | QPersistentModelIndex


class CardDelegate(QStyledItemDelegate):
    """A model, or the heading of a kind of data."""

    def __init__(self, parent: Cards, favourites: Favourites) -> None:
        super().__init__(parent)
        self._list, self._favourites = parent, favourites

    def picture_size(self) -> tuple[int, int]:
        width, height = SIZE
        return (width, height) if self._list.viewport().width() >= NARROW else (width * 5 // 8, height * 5 // 8)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = self._list.fontMetrics().height()
        if (info := index.data(INFO)) is None:
            return QSize(120, round(1.9 * line))
        words = round((self._lines(info) + 1.4) * line)
        return QSize(120, max(self.picture_size()[1], words) + 2 * MARGIN)

    def title_box(self, rect: QRect) -> QRectF:
        """Return where a card's title stands, in its rectangle: beside the picture, left of the star."""
        line = self._list.fontMetrics().height()
        left = rect.left() + 2 * MARGIN + self.picture_size()[0] + 2
        return QRectF(left, rect.top() + MARGIN - 2, rect.right() + 1 - MARGIN - line - left, MOST_LINES * line + 2)

    def _lines(self, info: ModelInfo) -> int:
        """Return how many lines a title takes: two, or more where it is longer, so that it is not cut."""
        box = self.title_box(QRect(0, 0, self._list.viewport().width(), 0))
        return max(2, min(MOST_LINES, len(list(_layout(info.title, box.width(), self._list.font())))))

    def star_rect(self, rect: QRect) -> QRect:
        """Return the place of the star in a card's rectangle."""
        side = self._list.fontMetrics().height()
        return QRect(rect.right() - side - 6, rect.top() + MARGIN - 2, side, side)

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        info, t = index.data(INFO), theme.current()
        small = QFont(self._list.font())
        small.setPointSizeF(max(6.5, small.pointSizeF() * 0.88))
        p.save()
        if info is None:
            paint_heading(p, QRectF(rect), index, small)
            p.restore()
            return
        state = option.state
        over = bool(state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_HasFocus))
        mine, second = info.name == self._list.current, info.name in several(self._list.second)
        if mine or second:
            colour = t.first if mine else t.second
            p.fillRect(rect, mixed(colour, t.panel, theme.CHOSEN))
            p.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(colour))
        elif over:
            p.fillRect(rect, QColor(t.raised))
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, height = self.picture_size()
        picture = QRectF(rect.left() + MARGIN + 2, rect.top() + MARGIN, width, height)
        self._paint_picture(p, info, picture, small)
        box = QRectF(rect).adjusted(MARGIN + width + 10, MARGIN - 2, -MARGIN, -MARGIN + 2)
        if over or info.name in self._favourites:
            p.setPen(QColor(t.accent if info.name in self._favourites else t.muted))
            star = "★" if info.name in self._favourites else "☆"
            p.drawText(self.star_rect(rect), Qt.AlignmentFlag.AlignCenter, star)
        line = self._list.fontMetrics().height()
        p.setPen(QColor(t.text))
        paint_lines(p, info.title, self.title_box(rect), self._list.font(), MOST_LINES)
        offered = self._list.can_compare(info) and (over or second)
        foot = QRectF(box.left(), box.bottom() - line, box.width(), line)
        if offered:
            self._paint_compare(p, self._list.compare_rect(rect), small, second)
            foot.setRight(self._list.compare_rect(rect).left() - 4)
        self._paint_foot(p, info, foot, small)
        p.restore()

    def _paint_picture(self, p: QPainter, info: ModelInfo, place: QRectF, small: QFont) -> None:
        t = theme.current()
        image = thumbnail(info.name, t.name)
        if image is not None:
            p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            p.drawImage(place, image)
        else:  # a network of somebody's own, or a card whose picture is not made yet
            p.fillRect(place, QColor(t.raised))
            p.setPen(QColor(t.muted))
            words, room = title_of(info.domain) if info.domain else "your own", place.adjusted(4, 4, -4, -4)
            p.setFont(fitted(small, words, room.width()))
            p.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)
        p.setPen(QPen(QColor(t.line), 1))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawRect(place)

    def _paint_compare(self, p: QPainter, place: QRect, small: QFont, second: bool) -> None:
        t = theme.current()
        p.setFont(small)
        p.setPen(QPen(QColor(t.second), 1))
        p.setBrush(QColor(t.panel))
        p.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        p.drawText(place, Qt.AlignmentFlag.AlignCenter, "comparing ×" if second else "compare")

    def _paint_foot(self, p: QPainter, info: ModelInfo, box: QRectF, small: QFont) -> None:
        """Write rows, claimed groups and "trained" from the left, as many as there is room for."""
        t, metrics = theme.current(), QFontMetricsF(small)
        p.setFont(small)
        x = box.left()
        words = [(row, t.muted, False) for row in info.rows]
        words += [(written(group), t.accent, True) for group in info.groups]
        words += [("trained", t.good, False)] if info.trained else []
        for text, colour, pill in words:
            width = metrics.horizontalAdvance(text) + (10 if pill else 0)
            if x + width > box.right():
                break
            place = QRectF(x, box.top(), width, box.height())
            if pill:
                p.setPen(Qt.PenStyle.NoPen)
                p.setBrush(faded(colour, theme.PILL))
                p.drawRoundedRect(place, 5, 5)
            p.setPen(QColor(colour))
            p.drawText(place, Qt.AlignmentFlag.AlignCenter if pill else LEFT, text)
            x += width + 6


def fitted(font: QFont, text: str, width: float) -> QFont:
    """Return a font, made smaller where the longest word of a text would be wider than that."""
    metrics = QFontMetricsF(font)
    longest = max((metrics.horizontalAdvance(word) for word in text.split()), default=0.0)
    if longest <= width:
        return font
    smaller = QFont(font)
    smaller.setPointSizeF(max(1.0, font.pointSizeF() * width / longest))
    return smaller


def paint_lines(p: QPainter, text: str, box: QRectF, font: QFont, most: int = 2) -> int:
    """Write a text in at most so many lines, the last of them elided; return how many there are."""
    p.setFont(font)
    metrics = QFontMetricsF(font)
    k = 0
    for start, end in islice(_layout(text, box.width(), font), most):
        last = k == most - 1 and end < len(text)
        shown = metrics.elidedText(text[start:], Qt.TextElideMode.ElideRight, box.width()) if last else text[start:end]
        p.drawText(QPointF(box.left(), box.top() + k * metrics.height() + metrics.ascent()), shown)
        k += 1
    return k


def _layout(text: str, width: float, font: QFont) -> Iterator[tuple[int, int]]:
    """Yield where the lines of a text begin and end that is broken between words, and in a word that is too long."""
    layout, option = QTextLayout(text, font), QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(width, 1.0))
        yield line.textStart(), line.textStart() + line.textLength()
    layout.endLayout()
