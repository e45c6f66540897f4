"""The drawn parts of a diagram: labels, arrows, the read-out of an error. Text is real text.

Items read the theme when they paint, so that a change of theme is one `scene.update()`.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QGraphicsItem, QGraphicsObject, QGraphicsSceneMouseEvent

from widgets.base.look.shown import badges, terms
from widgets.base.look.theme import current
from widgets.base.text.glossary import meaning, say, words_in
from widgets.base.text.words import figure

# of the number; that of an element that moves nothing is grey: it proves nothing
BADGE = 18.0  # pixels, its height
ROLES = {"holds": "good", "broken": "bad", "broken earlier": "bad", "nothing to test": "muted"}
SIGNS = {"holds": "✓", "broken": "✗", "broken earlier": "✗", "no law": "–", "no verdict": "–", "nothing to test": "–"}
TERSE = 32  # characters of a text whose words are explained; in a sentence they would be too many
DOT = 14.0  # pixels that a dot takes before a text


def font(size: float, bold: bool = False, fixed: bool = False) -> QFont:
    """Return the window's font in that many pixels; `fixed` keeps the digits of changing numbers in place."""
    f = QFont()
    f.setPixelSize(round(size))
    f.setBold(bold)
    if fixed:
        f.setFeature(QFont.Tag("tnum"), 1)
    return f


def colour(role: str) -> QColor:
    """Return the theme's colour of that name ("text", "muted", "first", ...)."""
    return QColor(getattr(current(), role))


class Label(QGraphicsObject):
    """Text in a box: elided on one line, or wrapped and cut at the last line that fits."""

    clicked = Signal()

    def __init__(
        self, size: float = 12, role: str = "text", align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft
    ) -> None:
        super().__init__()
        self.text = ""
        self.size, self.role, self.align = size, role, align
        self.bold = False
        self.wrap = False
        self.frame = False  # a dashed frame round the box: something is absent here
        self.dot = ""  # role of a coloured dot before the text
        self._box = QRectF()
        self._terms: list[str] = []  # words of the glossary that stand in it
        self._typeset: tuple[object, QFont, list[str], float] | None = None  # for what, and how it is written

    @property
    def lines(self) -> list[str]:
        """Return the text as it was painted, line by line."""
        return [] if self._typeset is None else self._typeset[2]

    def place(self, box: QRectF) -> None:
        if box != self._box:
            self.prepareGeometryChange()
            self._box = box
            self.setToolTip(self._told())

    def set_text(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.setToolTip(self._told())
            self.update()

    def make_clickable(self) -> None:
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAcceptedMouseButtons(Qt.MouseButton.LeftButton)

    def mousePressEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        event.accept()

    def mouseReleaseEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        if self.boundingRect().contains(event.pos()):
            self.clicked.emit()

    def _too_long(self) -> bool:
        return QFontMetricsF(font(self.size, self.bold)).horizontalAdvance(say(self.text)) > self._box.width()

    def _told(self) -> str:
        """Return the tool tip: the whole of what is cut, and what its words mean."""
        self._terms = words_in(self.text) if len(self.text) <= TERSE else []
        whole = [self.text] if self._too_long() else []
        return "\n".join([*whole, *(f"{word}: {meaning(word)}" for word in self._terms)])

    def boundingRect(self) -> QRectF:
        return self._box

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        if not self.text or self._box.isEmpty():
            return
        box = QRectF(self._box)
        if self.frame:
            painter.setPen(QPen(colour("line"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
            box.adjust(6, 5, -6, -5)
        key = (say(self.text), self.bold, self.wrap, self.dot, box.getRect())
        if self._typeset is None or key != self._typeset[0]:
            self._typeset = (key, *self._set(box))
        _, used, lines, spacing = self._typeset
        painter.setFont(used)
        if self.dot:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(self.dot))
            painter.drawEllipse(QPointF(box.left() + 4.5, box.center().y()), 4.5, 4.5)
            box.setLeft(box.left() + DOT)
        painter.setPen(colour(self.role))
        if not self.wrap:
            flags = int(self.align | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(box, flags, lines[0])
            if self._terms and terms():
                under = painter.boundingRect(box, flags, lines[0])
                painter.setPen(QPen(colour("muted"), 1, Qt.PenStyle.DotLine))
                painter.drawLine(under.bottomLeft(), under.bottomRight())
            return
        top = box.top() if self.align & Qt.AlignmentFlag.AlignTop else box.center().y() - len(lines) * spacing / 2
        across = self.align & Qt.AlignmentFlag.AlignHorizontal_Mask
        for i, line in enumerate(lines):
            row = QRectF(box.left(), top + i * spacing, box.width(), spacing)
            painter.drawText(row, int(across | Qt.AlignmentFlag.AlignVCenter), line)

    def _set(self, box: QRectF) -> tuple[QFont, list[str], float]:
        """Return the font, the lines as they fit into `box`, and the distance from one to the next."""
        size, elided, text = self.size, Qt.TextElideMode.ElideRight, say(self.text)
        metrics = QFontMetricsF(font(size, self.bold))
        while self.wrap and size > 9 and _lines_high(text, metrics, box.width()) > box.height():
            size -= 1
            metrics = QFontMetricsF(font(size, self.bold))
        width = box.width() - (DOT if self.dot else 0.0)
        while not self.wrap and size > 9 and len(text) <= TERSE and metrics.horizontalAdvance(text) > width:
            size -= 1  # a name is written small before it is cut
            metrics = QFontMetricsF(font(size, self.bold))
        if not self.wrap:
            lines = [metrics.elidedText(text, elided, width)]
        else:
            # whole lines only: half a line of letters at the edge of the box is worse than an ellipsis
            lines = _wrapped(text, metrics, width)
            room = max(1, int(box.height() // metrics.lineSpacing()))
            if len(lines) > room:
                lines = [*lines[: room - 1], metrics.elidedText(" ".join(lines[room - 1 :]), elided, width)]
        return font(size, self.bold), lines, metrics.lineSpacing()


def _lines_high(text: str, metrics: QFontMetricsF, width: float) -> float:
    return len(_wrapped(text, metrics, width)) * metrics.lineSpacing()


def _wrapped(text: str, metrics: QFontMetricsF, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):  # not at the other blanks: they do not break
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]


class Arrow(QGraphicsItem):
    """A line through points with a head at its end."""

    def __init__(self, role: str = "muted") -> None:
        super().__init__()
        self.role = role
        self._points: list[QPointF] = []
        self._line, self._head = QPainterPath(), QPolygonF()

    def place(self, *points: QPointF) -> None:
        self.prepareGeometryChange()
        self._points = list(points)
        if len(points) < 2:
            return
        last, tip = points[-2:]
        length = math.hypot(tip.x() - last.x(), tip.y() - last.y()) or 1.0
        along = QPointF((tip.x() - last.x()) / length, (tip.y() - last.y()) / length)
        base = tip - along * 8
        side = QPointF(-along.y(), along.x()) * 4
        self._line = QPainterPath(points[0])
        for point in (*points[1:-1], base):
            self._line.lineTo(point)
        self._head = QPolygonF([tip, base + side, base - side])

    def boundingRect(self) -> QRectF:
        return QPolygonF(self._points).boundingRect().adjusted(-6, -6, 6, 6) if self._points else QRectF()

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        if len(self._points) < 2:
            return
        ink = colour(self.role)
        painter.setPen(QPen(ink, 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawPolygon(self._head)


class ReadOut(QGraphicsItem):
    """The relative error of a layer, large, with its verdict, its floor and the layer's own (local) error."""

    def __init__(self) -> None:
        super().__init__()
        self.title, self.role = "", ""  # the model's name and colour, when there are two
        self.value: float | None = None
        self.local: float | None = None
        self.floor: float | None = None
        self.verdict = ""
        self.stale = ""  # why the numbers are not those of what is asked for
        self._box = QRectF()

    def place(self, box: QRectF) -> None:
        self.prepareGeometryChange()
        self._box = box

    def show_measure(self, value: float | None, local: float | None, floor: float | None, verdict: str) -> None:
        new = (value, local, floor, verdict)
        if new != (self.value, self.local, self.floor, self.verdict):
            self.value, self.local, self.floor, self.verdict = new
            self.setToolTip("‖ρ′(g)F(x) − F(ρ(g)x)‖ / ‖ρ′(g)F(x)‖, from the input to this layer")
            self.update()

    def show_stale(self, text: str) -> None:
        """Show `text` in place of the numbers, which belong to another element; "" shows them again."""
        if text != self.stale:
            self.stale = text
            self.update()

    def boundingRect(self) -> QRectF:
        return self._box

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        if not self.verdict or not badges():
            return
        left, top, width = self._box.left(), self._box.top(), self._box.width()
        compact = bool(self.title)
        y = top

        def line(text: str, size: float, role: str, bold: bool = False, indent: float = 0.0) -> QRectF:
            nonlocal y
            used = font(size, bold, fixed=True)
            metrics = QFontMetricsF(used)
            painter.setFont(used)
            painter.setPen(colour(role))
            row = QRectF(left + indent, y, width - indent, metrics.height())
            text = metrics.elidedText(say(text), Qt.TextElideMode.ElideRight, row.width())
            painter.drawText(row, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), text)
            y += metrics.height()
            row.setWidth(min(row.width(), metrics.horizontalAdvance(text)))
            return row

        if compact:
            heading = line(self.title, 11, "text", bold=True, indent=14)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(self.role))
            painter.drawEllipse(QPointF(left + 4.5, heading.center().y()), 4.5, 4.5)
        else:
            line("relative error", 11, "muted")
        # three more lines and the badge go below it
        room = self._box.height() - 3 * QFontMetricsF(font(11, fixed=True)).height() - BADGE - 6
        size = 17.0 if compact else min(max(26.0, self._box.height() / 9), 44.0, max(17.0, room / 1.3))
        role = "muted" if self.stale else ROLES.get(self.verdict, "text")
        number = line("…" if self.stale else figure(self.value), size, role, bold=True)
        text = self.stale or f"{SIGNS.get(self.verdict, '')} {self.verdict}"
        badge_font, wide = next(
            (f, w) for points in (11, 10, 9, 8, 7)
            if (w := QFontMetricsF(f := font(points, bold=True)).horizontalAdvance(text) + 14) <= width or points == 7
        )  # fmt: skip
        badge = QRectF(0, 0, wide, BADGE)
        if compact and number.right() + 8 + badge.width() <= self._box.right():
            badge.moveTo(number.right() + 8, number.center().y() - BADGE / 2)
        else:
            badge.moveTo(left, y + 2)
            y += BADGE + 6
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour("muted" if role == "text" else role))
        painter.drawRoundedRect(badge, BADGE / 2, BADGE / 2)
        painter.setFont(badge_font)
        painter.setPen(colour("panel"))
        painter.drawText(badge, int(Qt.AlignmentFlag.AlignCenter), text)
        if self.stale:
            return
        line(f"floor {figure(self.floor)}", 11, "muted")
        if not compact and y + 16 <= self._box.bottom():
            line(f"local {figure(self.local)}", 11, "muted")
