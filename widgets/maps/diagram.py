"""The drawn parts of a diagram: labels, arrows, the read-out of an error. Text is real text.

Labels read the theme when they paint; arrows and read-outs take its colours in `dress`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QGraphicsObject, QGraphicsPathItem, QGraphicsSceneMouseEvent

from explorer.square.frame import Measure
from widgets.base.look.switched_parts import badges, terms
from widgets.base.look.theme import current
from widgets.base.text.glossary import meaning, say, words_in
from widgets.base.text.words import figure
from widgets.charts.library import pg
from widgets.charts.scene.labels import NO_PEN, Tag

FORMULA = "‖ρ′(g)F(x) − F(ρ(g)x)‖ / ‖ρ′(g)F(x)‖, from the input to this layer"
BADGE = 18.0  # pixels, its height
# of the number; that of an element that moves nothing is grey: it proves nothing
ROLES = {
    "holds": "good",
    "broken": "bad",
    "broken earlier": "bad",
    "broken up to here": "bad",
    "nothing to test": "muted",
}
SIGNS = {
    "holds": "✓",
    "broken": "✗",
    "broken earlier": "✗",
    "broken up to here": "✗",
    "no law": "–",
    "no verdict": "–",
    "nothing to test": "–",
}
TERSE = 32  # characters of a text whose words are explained; in a sentence they would be too many
SMALLEST = 9.0  # pixels of letters
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
        self.brief: tuple[str, ...] = ()  # shorter texts for less and less room, rather than one that is cut
        self.hint = ""  # what a click does, for the tool tip
        self.level = 0  # how many of them are passed over, since another label that says the same has no room for them
        self.size, self.role, self.align = size, role, align
        self.bold = False
        self.wrap = False
        self.frame = False  # a dashed frame round the box: something is absent here
        self.dot = ""  # role of a coloured dot before the text
        self.fixed = False  # the digits of changing numbers stay in place
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

    def set_text(self, text: str, *brief: str) -> None:
        """Show a text; where it does not fit the first of shorter ones that does."""
        if (text, brief) != (self.text, self.brief):
            self.text, self.brief = text, brief
            self.setToolTip(self._told())
            self.update()

    def set_hint(self, hint: str) -> None:
        """Say first in the tool tip what a click does."""
        self.hint = hint
        self.setToolTip(self._told())

    def _texts(self) -> list[str]:
        return [say(text) for text in (self.text, *self.brief)]

    def needed(self) -> int:
        """Return which of its texts has room: 0 the whole one, then shorter and shorter ones; of none the last."""
        texts, width = self._texts(), self._box.width() - (DOT if self.dot else 0.0)
        metrics = QFontMetricsF(font(self.size, self.bold, self.fixed))
        fits = (k for k, text in enumerate(texts) if k >= self.level and metrics.horizontalAdvance(text) <= width)
        return next(fits, len(texts) - 1)

    def pass_over(self, level: int) -> None:
        """Show none of the first `level` texts."""
        if level != self.level:
            self.level = level
            self.update()

    def make_clickable(self, on: bool = True) -> None:
        self.setCursor(Qt.CursorShape.PointingHandCursor if on else Qt.CursorShape.ArrowCursor)
        self.setAcceptedMouseButtons(Qt.MouseButton.LeftButton if on else Qt.MouseButton.NoButton)

    def mousePressEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        event.accept()

    def mouseReleaseEvent(self, event: QGraphicsSceneMouseEvent) -> None:
        if self.boundingRect().contains(event.pos()):
            self.clicked.emit()

    def _too_long(self) -> bool:
        used = font(self.size, self.bold, self.fixed)
        return QFontMetricsF(used).horizontalAdvance(say(self.text)) > self._box.width()

    def _told(self) -> str:
        """Return the tool tip: the whole of what is cut, and what its words mean."""
        self._terms = words_in(self.text) if len(self.text) <= TERSE else []
        whole = [self.text] if self._too_long() else []
        said = [self.hint] if self.hint else []
        return "\n".join([*said, *whole, *(f"{word}: {meaning(word)}" for word in self._terms)])

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
        key = (say(self.text), self.brief, self.level, self.size, self.bold, self.wrap, self.dot, box.getRect())
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
        metrics = QFontMetricsF(font(size, self.bold, self.fixed))
        if self.wrap:
            text = next((text for text in self._texts() if self._smallest(text, box)), self._texts()[-1])
        while self.wrap and size > SMALLEST and not _has_room(text, metrics, box):
            size -= 1
            metrics = QFontMetricsF(font(size, self.bold, self.fixed))
        width = box.width() - (DOT if self.dot else 0.0)
        if not self.wrap:
            text = self._texts()[self.needed()]
        while not self.wrap and size > SMALLEST and len(text) <= TERSE and metrics.horizontalAdvance(text) > width:
            size -= 1  # a name is written small before it is cut
            metrics = QFontMetricsF(font(size, self.bold, self.fixed))
        if not self.wrap:
            lines = [metrics.elidedText(text, elided, width)]
        else:
            # whole lines only: half a line of letters at the edge of the box is worse than an ellipsis
            lines = _wrapped(text, metrics, width)
            room = max(1, int(box.height() // metrics.lineSpacing()))
            if len(lines) > room:
                lines = [*lines[: room - 1], metrics.elidedText(" ".join(lines[room - 1 :]), elided, width)]
        return font(size, self.bold, self.fixed), lines, metrics.lineSpacing()

    def _smallest(self, text: str, box: QRectF) -> bool:
        """Return whether a text has room in lines, at least in the smallest letters."""
        return _has_room(text, QFontMetricsF(font(min(self.size, SMALLEST), self.bold, self.fixed)), box)


def _has_room(text: str, metrics: QFontMetricsF, box: QRectF) -> bool:
    """Return whether a text that is broken into lines fits into a box, and each of its words into a line."""
    widest = max(map(metrics.horizontalAdvance, text.split(" ")))
    return widest <= box.width() and len(_wrapped(text, metrics, box.width())) * metrics.lineSpacing() <= box.height()


def _wrapped(text: str, metrics: QFontMetricsF, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):  # not at the other blanks: they do not break
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]


def agree(labels: Sequence[Label]) -> None:
    """Let labels that stand for the same thing of several models be equally short: names beside names."""
    for label in labels:
        label.pass_over(0)
    most = max((label.needed() for label in labels), default=0)
    for label in labels:
        label.pass_over(most)


class Arrow(QGraphicsPathItem):
    """A line through points with a head at its end."""

    def __init__(self, role: str = "muted") -> None:
        super().__init__()
        self.role = role
        self.setPen(NO_PEN)
        self._stroker = QPainterPathStroker()
        self._stroker.setWidth(1.5)
        self._stroker.setCapStyle(Qt.PenCapStyle.FlatCap)
        self._stroker.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        self.dress()

    def dress(self, role: str = "") -> None:
        """Take the colours of the theme, of another role where one is named."""
        self.role = role or self.role
        self.setBrush(colour(self.role))

    def place(self, *points: QPointF) -> None:
        if len(points) < 2:
            self.setPath(QPainterPath())
            return
        last, tip = points[-2:]
        length = math.hypot(tip.x() - last.x(), tip.y() - last.y()) or 1.0
        along = QPointF((tip.x() - last.x()) / length, (tip.y() - last.y()) / length)
        base = tip - along * 8
        side = QPointF(-along.y(), along.x()) * 4
        line = QPainterPath(points[0])
        for point in (*points[1:-1], base):
            line.lineTo(point)
        path = self._stroker.createStroke(line)
        path.addPolygon(QPolygonF([tip, base + side, base - side]))
        path.setFillRule(Qt.FillRule.WindingFill)
        self.setPath(path)


class ReadOut(pg.ItemGroup):
    """The relative error of a layer, large, with its verdict, its floor and the layer's own (local) error."""

    def __init__(self) -> None:
        super().__init__()
        self.title, self.brief, self.role = "", "", ""  # the model's name, a shorter one, its colour, of two
        self.value: float | None = None
        self.local: float | None = None
        self.floor: float | None = None
        self.verdict = ""
        self.stale = ""  # why the numbers are not those of what is asked for
        self._box, self._lying = QRectF(), False
        self.head, self._number = Label(11), Label(26)
        self._floor, self._local, self._badge = Label(11, "muted"), Label(11, "muted"), Tag(BADGE / 2)
        self._number.bold = True
        for item in (self.head, self._number, self._floor, self._local, self._badge):
            item.setParentItem(self)
        for label in (self.head, self._number, self._floor, self._local):
            label.fixed = True

    def place(self, box: QRectF, lying: bool = False) -> None:
        """Stand in a box; lying, with the verdict and the further figures to the right of the error."""
        self._box, self._lying = box, lying
        self.dress()

    def show_measure(
        self, measure: Measure | None, verdict: str, title: str = "", role: str = "", brief: str = ""
    ) -> None:
        """Show figures; with the name and the colour of their model, where there are two.

        Args:
            brief: a shorter name, for where there is no room.
        """
        found = (None, None, None) if measure is None else (measure.cumulative, measure.local, measure.floor)
        new = (*found, verdict, title, role)
        if new != (self.value, self.local, self.floor, self.verdict, self.title, self.role):
            self.value, self.local, self.floor, self.verdict, self.title, self.role = new
            self.brief = brief
            self.dress()

    def show_stale(self, text: str) -> None:
        """Show `text` in place of the numbers, which belong to another element; "" shows them again."""
        if text != self.stale:
            self.stale = text
            self.dress()

    def _leave(self) -> None:
        """Have the places painted where the parts are now.

        The scene tells later what has moved, and a paint of a part of the view before that counts all in it as painted
        where it is by then: the end of a longer badge would stay on the screen.
        """
        if (scene := self.scene()) is not None:
            for view in scene.views():
                left = view.mapFromScene(self.mapRectToScene(self.childrenBoundingRect())).boundingRect()
                view.viewport().update(left.adjusted(-1, -1, 1, 1))

    def dress(self) -> None:
        """Place all parts, in the colours of the theme, or none where verdicts are not shown."""
        self._leave()
        shown, compact, fresh = bool(self.verdict) and badges(), bool(self.title), not self.stale
        y, role = self._box.top(), "muted" if self.stale else ROLES.get(self.verdict, "text")
        for item in (self.head, self._number, self._badge):
            item.setVisible(shown)
        for item in (self._floor, self._local):
            item.setVisible(shown and fresh)

        left = self._box.left()

        def line(label: Label, text: str, size: float, role: str) -> float:
            """Write below what is there, and return where the text ends."""
            nonlocal y
            metrics = QFontMetricsF(font(size, label.bold, fixed=True))
            label.size, label.role = size, role
            label.place(QRectF(left, y, self._box.right() - left, metrics.height()))
            label.set_text(text, *((self.brief,) if label is self.head and self.brief else ()))
            y += metrics.height()
            return left + min(self._box.right() - left, metrics.horizontalAdvance(say(text)))

        self.head.bold, self.head.dot = compact, self.role
        line(self.head, self.title or "relative error", 11, "text" if compact else "muted")
        # three more lines and the badge go below it
        room = self._box.height() - 3 * QFontMetricsF(font(11, fixed=True)).height() - BADGE - 6
        size = (
            17.0
            if compact
            else 22.0
            if self._lying
            else min(max(26.0, self._box.height() / 9), 44.0, max(17.0, room / 1.3))
        )
        middle = y + QFontMetricsF(font(size, True, fixed=True)).height() / 2
        number = "–" if self.value is None and self.verdict == "no verdict" else figure(self.value)
        end = line(self._number, number if fresh else "…", size, role)
        self._number.setToolTip(FORMULA)
        text = self.stale or f"{SIGNS.get(self.verdict, '')} {self.verdict}"
        faces = [font(points, bold=True) for points in (11, 10, 9, 8, 7)]
        sizes = [(face, QFontMetricsF(face).horizontalAdvance(text) + 14) for face in faces]
        # of two models each has few lines: the badge stands beside the number, if need be in smaller letters
        aside = compact or self._lying
        beside = [pair for pair in sizes if aside and end + 8 + pair[1] <= self._box.right()]
        face, wide = next(iter([*beside, *(pair for pair in sizes if pair[1] <= self._box.width()), sizes[-1]]))
        badge = QRectF(self._box.left(), y + 2, wide, BADGE)
        if beside:
            badge.moveTo(end + 8, middle - BADGE / 2)
        else:
            y += BADGE + 6
        self._badge.write(text, badge, face, colour("panel"), colour("muted" if role == "text" else role))
        if self._lying:
            left, y = badge.right() + 12, middle - QFontMetricsF(font(11, fixed=True)).height()
        self._floor.setVisible(shown and fresh and (not compact or y + 14 <= self._box.bottom()))
        line(self._floor, f"floor {figure(self.floor)}", 11, "muted")
        self._local.setVisible(shown and fresh and not compact and y + 16 <= self._box.bottom())
        # one that was not measured alone is no layer without a law
        local = "–" if self.local is None and number != "no law" else figure(self.local)
        line(self._local, f"local {local}", 11, "muted")
        for label in (self.head, self._number, self._floor, self._local):
            label.update()
