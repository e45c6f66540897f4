"""The layers as a tree: what each one is, what field it carries, and how far its square is from commuting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.square.frame import LayerInfo, Measure, Square
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.text.words import counterpart, read_before, read_out, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.axis.scales import scale_for
from widgets.charts.inks import quiet_selection
from widgets.views.layer_cells import BEFORE, GUILTY, MEASURE, ErrorDelegate, FieldDelegate, Index, former_figure

NAME, ERROR, FIELD, SHAPE, PARAMS = range(5)
HEADS = ("Layer", "Error", "Field", "Shape", "Params")
LAYER = Qt.ItemDataRole.UserRole + 3  # name of the layer, "" on a mere group of names
ROOT = Qt.ItemDataRole.UserRole + 4  # index of the square
CHANGED = Qt.ItemDataRole.UserRole + 5  # colour of the mark of a layer that was intervened in


class LayersView(FrameView[Square]):
    """Tree of layers, one root a model when two are compared; updated in place, what is folded stays folded."""

    NOTHING = NONE = "No layers yet. Choose a model; its layers appear here with the error of each."

    menu_asked = Signal(str, str, int, QPoint)  # layer, "" or the kind of a part of it, its number, where on screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edited = False  # whether former errors stand beside those of now
        self._shape: tuple[Any, ...] = ()  # what the tree was built for
        self.items: dict[tuple[int, str], QTreeWidgetItem] = {}
        self._described: dict[tuple[int, str], LayerInfo] = {}  # whose cells are written
        self._folded: set[tuple[int, str]] = set()
        self.tree = QTreeWidget(self)
        self.tree.setHeaderLabels(list(HEADS))
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setEditTriggers(QTreeWidget.EditTrigger.NoEditTriggers)
        self.tree.setIndentation(12)
        self.tree.setMouseTracking(True)
        self.error_delegate = ErrorDelegate(self.tree)
        self.field_delegate = FieldDelegate(self.tree, self._say, self._override)
        self.tree.setItemDelegateForColumn(ERROR, self.error_delegate)
        self.tree.setItemDelegateForColumn(FIELD, self.field_delegate)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(36)
        self.tree.currentItemChanged.connect(self._chosen)
        self.tree.itemDoubleClicked.connect(self._double_clicked)
        self.tree.itemCollapsed.connect(lambda item: self._folded.add(_key(item)))
        self.tree.itemExpanded.connect(lambda item: self._folded.discard(_key(item)))
        self.tree.itemEntered.connect(self._entered)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._ask_menu)
        self.tree.viewport().installEventFilter(self)
        self.tree.setAccessibleName("Layers")
        self.empty = QLabel(self.NOTHING, self)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setMargin(16)
        self.sentence = QLabel(self)  # what is wrong with a field type as typed
        self.sentence.setWordWrap(True)
        self.sentence.setMargin(6)
        self.sentence.hide()
        pages = QWidget(self)
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.tree)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(pages, 1)
        column.addWidget(self.sentence)
        self.apply_theme()

    # frames ---------------------------------------------------------------------------------------------------
    def parts(self) -> list[Square]:
        """Return the squares with layers."""
        return [s for s in self.squares if s.layers]

    def show_empty(self, sentence: str) -> None:
        self._pages.setCurrentWidget(self.empty)
        self._fill_tree(self.squares)

    def draw(self, parts: list[Square]) -> None:
        self._pages.setCurrentWidget(self.tree)
        self._fill_tree(self.squares)

    def _fill_tree(self, squares: tuple[Square, ...]) -> None:
        shape = tuple((s.model, tuple(layer.name for layer in s.layers)) for s in squares)
        blocker = QSignalBlocker(self.tree)
        if shape != self._shape:
            self._build(squares)
            self._shape = shape
        for k, square in enumerate(squares):
            self._fill(k, square)
        edited = any(former_figure(s.measures.get(n), m) for s in squares for n, m in s.before.items())
        if edited != self._edited:
            self._edited = edited
            self._share_width(self.tree.viewport().width())
        if squares and (item := self.items.get((0, squares[0].layer.name))) is not None:
            if item is not self.tree.currentItem() and self.tree.state() != QTreeWidget.State.EditingState:
                self.tree.setCurrentItem(item)
        blocker.unblock()
        self.error_delegate.low = scale_for(self.frame.state.dtype).low if self.frame is not None else 1e-9
        self.tree.viewport().update()

    def _build(self, squares: tuple[Square, ...]) -> None:
        """Make the items of other layers than before; nothing is made while only numbers change."""
        self.tree.clear()
        self.items.clear()
        self._described.clear()
        for k, square in enumerate(squares):
            root = self.tree.invisibleRootItem()
            if len(squares) > 1:
                root = QTreeWidgetItem(root, [square.title])
                self._mark(root, k, "", "")
                root.setFirstColumnSpanned(True)
                self._colour_root(root)
                root.setExpanded((k, "") not in self._folded)
            named = {layer.name for layer in square.layers}
            for layer in square.layers:
                self._item(k, layer.name, root, named)

    def _item(self, k: int, path: str, root: QTreeWidgetItem, named: set[str]) -> QTreeWidgetItem:
        if (k, path) in self.items:
            return self.items[k, path]
        above, dot, name = path.rpartition(".")
        parent = self._item(k, above, root, named) if dot else root
        item = self.items[k, path] = QTreeWidgetItem(parent, [name])
        self._mark(item, k, path, path if path in named else "")
        item.setExpanded((k, path) not in self._folded)
        return item

    def _mark(self, item: QTreeWidgetItem, k: int, path: str, layer: str) -> None:
        item.setData(NAME, Qt.ItemDataRole.UserRole, path)
        item.setData(NAME, LAYER, layer)
        item.setData(NAME, ROOT, k)
        if not layer:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsSelectable)

    def _fill(self, k: int, square: Square) -> None:
        guilty = set(square.guilty)
        changed = {one.layer for one in square.interventions}
        for layer in square.layers:
            self._mark_changed(self.items[k, layer.name], layer.name in changed)
            item, measure = self.items[k, layer.name], square.measures.get(layer.name)
            before = square.before.get(layer.name)
            if item.data(ERROR, MEASURE) is not measure or item.data(ERROR, BEFORE) is not before:
                item.setData(ERROR, MEASURE, measure)
                item.setData(ERROR, BEFORE, before)
                item.setToolTip(ERROR, _tip(layer, measure, ERROR, before))
            if item.data(ERROR, GUILTY) != (layer.name in guilty):
                item.setData(ERROR, GUILTY, layer.name in guilty)
            if self._described.get((k, layer.name)) == layer:
                continue  # a frame of a drag changes errors only
            self._described[k, layer.name] = layer
            item.setText(SHAPE, layer.size_text)
            item.setText(PARAMS, f"{layer.params:,}".replace(",", " ") if layer.params else "")
            item.setText(FIELD, layer.field + (" ?" if layer.guessed else ""))
            font = QFont(self.font())
            font.setItalic(layer.guessed)
            item.setFont(FIELD, font)
            item.setTextAlignment(PARAMS, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column in range(len(HEADS)):
                item.setToolTip(column, _tip(layer, measure, column, before))

    def _mark_changed(self, item: QTreeWidgetItem, changed: bool) -> None:
        """Put a mark before the name of a layer that was intervened in."""
        colour = theme.current().second if changed else ""
        if (item.data(NAME, CHANGED) or "") != colour:
            item.setData(NAME, CHANGED, colour)
            item.setIcon(NAME, icon("intervene", colour) if changed else QIcon())

    # what the person does -------------------------------------------------------------------------------------
    def _chosen(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None = None) -> None:
        if item is None or self.frame is None or not item.data(NAME, LAYER):
            return
        layer = counterpart(self.frame, item.data(NAME, ROOT), item.data(NAME, LAYER))
        if layer != self.frame.squares[0].layer.name:
            self.wished.emit(Wish(changes={"layer": layer}))

    def _double_clicked(self, item: QTreeWidgetItem, column: int) -> None:
        if column != FIELD or not item.data(NAME, LAYER):
            return
        if item.data(NAME, ROOT):
            self._say("Field types are edited on the first model. Choose this one alone to edit its fields.")
            return
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        with QSignalBlocker(self.tree):
            self.tree.setCurrentItem(item, FIELD)
        self.tree.editItem(item, FIELD)

    def _ask_menu(self, at: QPoint) -> None:
        item = self.tree.itemAt(at)
        if item is not None and item.data(NAME, LAYER) and self.frame is not None:
            layer = "" if item.data(NAME, ROOT) else item.data(NAME, LAYER)
            self.menu_asked.emit(layer, "", -1, self.tree.viewport().mapToGlobal(at))

    def _override(self, index: Index, text: str) -> None:
        """Wish for a corrected field type; an empty text takes the correction back."""
        layer = index.sibling(index.row(), NAME).data(LAYER)
        if self.frame is None or not layer:
            return
        kept = tuple((name, field) for name, field in self.frame.state.overrides if name != layer)
        overrides = (*kept, (layer, text)) if text else kept
        if overrides != self.frame.state.overrides:
            self.wished.emit(Wish(changes={"overrides": overrides}))

    def _say(self, sentence: str) -> None:
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))

    def _entered(self, item: QTreeWidgetItem) -> None:
        if item.data(NAME, LAYER):
            self.hovered.emit(read_out(item.data(NAME, LAYER), item.data(ERROR, MEASURE)))

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit("")
        super().leaveEvent(event)

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        # the viewport, because a scroll bar that comes takes of the width too
        if watched is self.tree.viewport() and event.type() == QEvent.Type.Resize:
            self._share_width(self.tree.viewport().width())
        return super().eventFilter(watched, event)

    def _share_width(self, width: int) -> None:
        """Show as many columns as fit, the most telling first; all are there when the dock is wide."""
        em = self.fontMetrics().horizontalAdvance("0")
        errors = 15 if self._edited else 11 if width > 36 * em else 8  # two figures and an arrow, one with a bar, one
        wanted = {ERROR: errors * em, FIELD: 19 * em, SHAPE: 10 * em, PARAMS: 9 * em}
        left = width - max(9.5 * em, min(0.42 * width, 24 * em))
        for column in (ERROR, FIELD, SHAPE, PARAMS):
            # the field is worth showing short: it is read by its beginning, and whole in the tool tip
            least = 7 * em if column == FIELD else wanted[column]
            fits = left >= least
            self.tree.setColumnHidden(column, not fits)
            if fits:
                taken = int(min(wanted[column], left))
                self.tree.setColumnWidth(column, taken)
                left -= taken
            else:
                left = -1
        shown = sum(self.tree.columnWidth(c) for c in range(1, len(HEADS)) if not self.tree.isColumnHidden(c))
        self.tree.setColumnWidth(NAME, max(60, width - shown))

    # exports --------------------------------------------------------------------------------------------------
    def figure_size(self) -> QSize:
        """Return the size at which every row and column is seen, for exported figures."""
        rows = sum(1 for _ in _walk(self.tree.invisibleRootItem()))
        height = max(20, self.tree.sizeHintForRow(0)) * (rows + 1) + self.tree.header().height() + 8
        return QSize(max(self.width(), 640), max(80, height))

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self.squares):
            before = "compare." if k else ""
            measures = [square.measures.get(layer.name) for layer in square.layers]
            for key in ("name", "kind", "field"):
                found[before + key] = np.array([getattr(layer, key) for layer in square.layers], dtype=np.str_)
            found[f"{before}shape"] = np.array(["x".join(map(str, n.shape)) for n in square.layers], dtype=np.str_)
            found[f"{before}parameters"] = np.array([layer.params for layer in square.layers], dtype=int)
            errors = [m.cumulative if m is not None else None for m in measures]
            found[f"{before}cumulative"] = np.array([np.nan if e is None else e for e in errors], dtype=float)
        return found

    def caption(self) -> str:
        if self.frame is None or not self.frame.squares:
            return ""
        return f"Layers with field types (guesses in italics) and cumulative relative error: {subject(self.frame)}."

    def apply_theme(self) -> None:
        t = theme.current()
        self.sentence.setStyleSheet(f"color: {t.bad}; background: {t.panel};")
        self.empty.setStyleSheet(f"color: {t.muted}; background: {t.panel};")
        self.tree.setPalette(quiet_selection(t))
        for i in range(self.tree.topLevelItemCount()):
            if (item := self.tree.topLevelItem(i)) is not None:
                self._colour_root(item)
        self.tree.viewport().update()

    def _colour_root(self, item: QTreeWidgetItem) -> None:
        """Write a model's name in its colour; the layers of a single model have no such root."""
        if not item.data(NAME, Qt.ItemDataRole.UserRole):
            font = QFont(self.font())
            font.setBold(True)
            item.setFont(NAME, font)
            t = theme.current()
            item.setForeground(NAME, QColor(t.second if item.data(NAME, ROOT) else t.first))


def _key(item: QTreeWidgetItem) -> tuple[int, str]:
    return item.data(NAME, ROOT), item.data(NAME, Qt.ItemDataRole.UserRole)


def _walk(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for i in range(item.childCount()):
        if (child := item.child(i)) is not None:
            yield child
            yield from _walk(child)


def _tip(layer: LayerInfo, measure: Measure | None, column: int, before: Measure | None) -> str:
    if column == ERROR:
        return "\n".join(filter(None, (read_out(layer.name, measure, "\n"), read_before(before))))
    if column == FIELD:
        kind = "a guess from the shape" if layer.guessed else "declared by the model"
        return f"{layer.field}: {kind}.\nDouble-click to correct it."
    return f"{layer.name}: {layer.kind}\n{' × '.join(map(str, layer.shape))}, {layer.params} parameters"


VIEW = ViewSpec("layers", "Layers", LayersView, "left", 1, "Every layer with its field type and error.")

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(LayersView, lambda view, samples: view.set_frame(samples.make_frame(compare=True)))
