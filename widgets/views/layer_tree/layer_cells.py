"""Draw an error and edit a field type in the tree of layers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from explorer.declare.space import kinds, space_of_kind
from explorer.declare.types.field_text import parse_field
from explorer.square.frame import Measure
from widgets.base.look import theme
from widgets.base.text.words import figure, inherited
from widgets.charts.axis.scales import scale_for

MEASURE = Qt.ItemDataRole.UserRole + 1  # Measure or None
GUILTY = Qt.ItemDataRole.UserRole + 2
BEFORE = Qt.ItemDataRole.UserRole + 5  # Measure before the network's file was edited, or None
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_REGULAR = re.compile(r"regular\((\w+)\)")
Index = QModelIndex | QPersistentModelIndex


def former_figure(measure: Measure | None, before: Measure | None) -> str:
    """Return the error of before the edit, "" where it is not known or has not changed much."""
    if measure is None or before is None or measure.cumulative is None or before.cumulative is None:
        return ""
    larger, smaller = max(measure.cumulative, before.cumulative), min(measure.cumulative, before.cumulative)
    changed = measure.verdict != before.verdict or larger > 1.05 * smaller + max(measure.tolerance, measure.floor)
    return figure(before.cumulative) if changed else ""


def _figure_within(room: float, value: float | None, metrics: QFontMetricsF) -> str:
    """Return a number in words, in short where they do not fit: of "not a number" the end alone would be read."""
    told = figure(value)
    cut = value is not None and math.isnan(value) and metrics.horizontalAdvance(told) > room
    return "NaN" if cut else told


class ErrorDelegate(QStyledItemDelegate):
    """The cumulative error as a number in the verdict's colour, beside a small bar on a logarithmic axis."""

    low = 1e-9

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(p, option, index)  # its ground alone, as `displayText` has it
        measure: Measure | None = index.data(MEASURE)
        if measure is None:
            return
        t, rect = theme.current(), QRectF(option.rect).adjusted(4, 0, -6, 0)
        colour = {"holds": t.good, "broken": t.bad}.get(measure.verdict, t.muted)
        if inherited(measure):
            colour = t.text  # neither good nor its fault
        p.save()
        font, guilty = option.font, bool(index.data(GUILTY))
        if guilty or measure.cumulative is None:
            font = QFont(font)
            font.setBold(guilty)
            font.setItalic(measure.cumulative is None)
        p.setFont(font)
        p.setPen(QColor(t.muted if measure.cumulative is None else colour))
        p.drawText(rect, RIGHT, _figure_within(rect.width(), measure.cumulative, QFontMetricsF(font)))
        if former := former_figure(measure, index.data(BEFORE)):
            wide = QFontMetricsF(font).horizontalAdvance(figure(measure.cumulative))
            p.setFont(option.font)
            p.setPen(QColor(t.muted))
            p.drawText(rect.adjusted(0, 0, -wide - 3, 0), RIGHT, f"{former} →")
        elif measure.cumulative is not None:
            scale = scale_for("float64" if self.low < 1e-9 else "float32")
            wide = max(44.0, QFontMetricsF(font).horizontalAdvance(figure(measure.cumulative)))
            bar = QRectF(rect.left(), rect.center().y() - 2, rect.width() - wide - 6, 4)
            if bar.width() < 12:  # the number alone fits
                p.restore()
                return
            p.fillRect(bar, QColor(t.line))
            p.fillRect(QRectF(bar.left(), bar.top(), bar.width() * scale.fraction(measure.cumulative), bar.height()),
                       QColor(colour))  # fmt: skip
        p.restore()

    def displayText(self, value: Any, locale: Any) -> str:
        """Return nothing: what is written is painted above, in colours of its own."""
        return ""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hint = super().sizeHint(option, index)
        return QSize(hint.width(), hint.height() + 7)


class FieldDelegate(QStyledItemDelegate):
    """Edits a field type: a combo of suggestions that takes any text `parse_field` reads.

    Args:
        kind: gives the kind of data that is looked at, whose space suggests fields.
    """

    def __init__(
        self, parent: QWidget, say: Callable[[str], None], grant: Callable[[Index, str], None], kind: Callable[[], str]
    ) -> None:
        super().__init__(parent)
        self._say, self._grant, self._kind = say, grant, kind

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Write the field in short where there is no room: "D4 /2" for "grid regular(D4) /2"."""
        super().initStyleOption(option, index)
        text, room = option.text, option.rect.width() - 8
        if option.fontMetrics.horizontalAdvance(text) > room:
            text = text.removeprefix("grid ")
            option.text = _REGULAR.sub(r"\1", text)
        option.textElideMode = Qt.TextElideMode.ElideRight  # a field is read by its beginning

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QComboBox(parent)
        editor.setEditable(True)
        editor.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        known = space_of_kind(kind).examples if (kind := self._kind()) in kinds() else ()
        editor.addItems([*known, "invariant"])
        editor.setMinimumWidth(190)
        such = f" such as “{known[-1]}”" if known else ""
        editor.setToolTip(f"A field type{such}; leave it empty to take a correction back")
        line = editor.lineEdit()
        assert isinstance(line, QLineEdit)
        line.textEdited.connect(lambda _text: self._say(""))
        editor.activated.connect(lambda _i: self.commitData.emit(editor))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        # called again whenever a frame rewrites the cell: what is being typed is not touched
        if isinstance(editor, QComboBox) and editor.property("filled") is None:
            editor.setProperty("filled", True)
            editor.setEditText(str(index.data()).removesuffix(" ?"))
            if (line := editor.lineEdit()) is not None:
                line.selectAll()

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        if not isinstance(editor, QComboBox):
            return
        text = editor.currentText().strip()
        if text == str(index.data()).removesuffix(" ?"):
            return
        if complaint := complaint_about(text):
            self._say(complaint)
            return
        self._say("")
        self._grant(index, text)

    def eventFilter(self, editor: Any, event: QEvent) -> bool:
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        pressed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in keys
        if pressed and isinstance(editor, QComboBox):
            if complaint := complaint_about(editor.currentText().strip()):
                self._say(complaint)  # and the editor stays open with what was typed
                return True
            self.commitData.emit(editor)
            self.closeEditor.emit(editor)
            return True
        return super().eventFilter(editor, event)

    def updateEditorGeometry(self, editor: QWidget, option: Any, index: Index) -> None:
        rect = QRect(option.rect)
        parent = editor.parentWidget()
        width = max(rect.width(), 190)
        if parent is not None:
            width = min(width, parent.width())
            rect.moveLeft(max(0, min(rect.left(), parent.width() - width)))
        rect.setWidth(width)
        editor.setGeometry(rect)


def complaint_about(text: str) -> str:
    """Return why `text` is no field type, or "" when it is one (or empty: no correction)."""
    if not text:
        return ""
    try:
        parse_field(text)
    except ValueError as error:
        sentence = str(error)
        return sentence[0].upper() + sentence[1:] + "."
    return ""
