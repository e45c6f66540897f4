"""The layers as a tree: what each one is, what field it carries, and how far its square is from commuting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLabel,
    QMenu,
    QStackedLayout,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.telling.summaries import ModuleInfo
from explorer.square.frame import LayerInfo, Outline, Square
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.text.words import counterpart, read_out, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.axis.scales import scale_for
from widgets.charts.inks import quiet_selection
from widgets.views.layer_tree.layer_cells import GUILTY, MEASURE, ErrorDelegate, FieldDelegate, Index, former_figure
from widgets.views.layer_tree.layer_columns import COLUMNS, ERROR, FIELD, NAME, PARAMS, SHAPE
from widgets.views.layer_tree.layer_filter import FilterBar
from widgets.views.layer_tree.layer_model import LAYER, ROOT, LayerModel
from widgets.views.layer_tree.layer_numbers import numbers_of

Rows = tuple[tuple[str, tuple[LayerInfo, ...], tuple[ModuleInfo, ...]], ...]
UNFOLDED = 400  # layers up to which the whole tree is open at first


class Tree(QTreeView):
    """A tree that moves what is painted already when it is scrolled, and paints the rows that come into sight alone."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        # Qt holds the distance in pixels against the number of rows in sight, and paints all of them where it is larger
        if 2 * abs(dy) < self.viewport().height():
            most = max(1, self.viewport().height() // max(1, self.sizeHintForRow(0)))
            while abs(dy) > most:
                step = most if dy > 0 else -most
                super().scrollContentsBy(0, step)
                dy -= step
        super().scrollContentsBy(dx, dy)


class LayersView(FrameView[Square]):
    """Tree of layers, one root a model when two are compared; updated in place, what is folded stays folded."""

    NOTHING = "The layers stand here once the network has answered, with the error of each."
    NONE = "This network has no layers."
    FOLLOWS = ("watched",)

    requested = Signal(str)  # "source" of the selected layer
    menu_opened = Signal(object, str)  # the menu of a row, which the window may add to, and its layer

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._edited = False  # whether former errors stand beside those of now
        self._told: tuple[Any, ...] | None = None  # the filter that the tree was built for
        self._built: Rows = ()  # and the layers
        self._folds: dict[tuple[int, str], bool] = {}  # rows that the person has folded or opened
        self._building = False
        self._correcting = False  # whether a field is being written
        self._outlined: tuple[object, ...] = ()  # the network whose modules are shown before it has run
        self.model = LayerModel(self)
        self.bar = FilterBar(self)
        self.tree = Tree(self)
        self.tree.setModel(self.model)
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setIndentation(12)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # what a layer is stands at the end of its name
        self.tree.setMouseTracking(True)
        self.tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._open_menu)
        self.error_delegate = ErrorDelegate(self.tree)
        self.field_delegate = FieldDelegate(self.tree, self._say, self._override, self._kind)
        self.tree.setItemDelegateForColumn(ERROR, self.error_delegate)
        self.tree.setItemDelegateForColumn(FIELD, self.field_delegate)
        self.field_delegate.closeEditor.connect(self._corrected)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(36)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(lambda at: self._popup(self.bar.columns_menu(self), header, at))
        self.tree.selectionModel().currentChanged.connect(self._chosen)
        self.tree.doubleClicked.connect(self._double_clicked)
        self.tree.collapsed.connect(lambda index: self._folded(index, True))
        self.tree.expanded.connect(lambda index: self._folded(index, False))
        self.tree.entered.connect(self._entered)
        self.tree.viewport().installEventFilter(self)
        self.tree.setAccessibleName("Layers")
        self.bar.setProperty("chrome", True)  # left out of exported figures
        self.bar.changed.connect(self._filtered)
        self.bar.columns_changed.connect(lambda: self._share_width(self.tree.viewport().width()))
        self.empty = QLabel(self.NOTHING, self)
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setMargin(16)
        self.sentence = QLabel(self)  # what is wrong with a field type as typed, or with the values
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
        column.addWidget(self.bar)
        column.addWidget(pages, 1)
        column.addWidget(self.sentence)
        self.apply_theme()

    # frames ---------------------------------------------------------------------------------------------------
    def parts(self) -> list[Square]:
        """Return the squares with layers."""
        return [s for s in self.squares if s.layers]

    def show_empty(self, sentence: str) -> None:
        self._outlined = ()
        self.empty.setText(sentence)
        self._pages.setCurrentWidget(self.empty)
        self._fill_tree(self.squares)

    def draw(self, parts: list[Square]) -> None:
        self._outlined = ()
        self._pages.setCurrentWidget(self.tree)
        self._fill_tree(self.squares)

    def show_outline(self, outline: Outline) -> None:
        """Show the modules of a network that has not run yet: a tree to open and to read, with nothing measured."""
        self._outlined = (outline.state.model, outline.state.params)
        self._pages.setCurrentWidget(self.tree)
        self._fill_tree((outline.square(),))

    def show_stale(self, text: str) -> bool:
        """Leave the modules of the network that is awaited undimmed: they are what was asked for."""
        return self._outlined == (self.state.model, self.state.params)

    def follow(self) -> None:
        """Mark what is watched at once, before the frame that measures it."""
        self.model.watched = frozenset(self.state.watched)
        if self.bar.follows_watched:
            self._fill_tree(self.squares)
        self.tree.viewport().update()

    def _fill_tree(self, squares: tuple[Square, ...]) -> None:
        self.model.watched = frozenset(self.state.watched)
        # a filter on what changes with frames is asked again, of the layers themselves it is not
        told = self.bar.told(squares, self.state.watched)
        built = tuple((s.model, s.layers, _modules(s)) for s in squares)
        if told != self._told or not _alike(built, self._built):
            self._build(squares)
            self._told, self._built = told, built
            self._share_width(self.tree.viewport().width())
        else:
            self.model.set_squares(squares)
        edited = any(former_figure(s.measures.get(n), m) for s in squares for n, m in s.before.items())
        if edited != self._edited:
            self._edited = edited
            self._share_width(self.tree.viewport().width())
        if squares:
            self._mark(squares[0].layer.name)
        strange = next((s.figures.strange for s in squares if s.figures is not None and s.figures.strange), "")
        if strange:
            self._say(strange)
        self.error_delegate.low = scale_for(self.frame.state.dtype).low if self.frame is not None else 1e-9
        self.tree.viewport().update()

    def choice_row(self, field: str, name: str, told: str) -> QModelIndex | None:
        index = self.model.index_of(name) if field == "layer" and name in told else QModelIndex()
        return index if index.isValid() else None

    def bring_row(self, index: QModelIndex) -> None:
        self.tree.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _mark(self, layer: str) -> None:
        """Make the selected layer the current row, without an answer to it."""
        index, now = self.model.index_of(layer), self.tree.currentIndex()
        if not index.isValid() or self.tree.state() == QAbstractItemView.State.EditingState:
            return
        if not now.isValid() or self.model.node(now) is not self.model.node(index):
            self._building = True
            chosen = QItemSelectionModel.SelectionFlag
            self.tree.selectionModel().setCurrentIndex(index, chosen.ClearAndSelect | chosen.Rows)
            self._building = False

    def _build(self, squares: tuple[Square, ...]) -> None:
        """Make the rows of other layers than before; nothing is made while only numbers change."""
        self._building = True
        passes = self.bar.passes(self.state.watched)
        self.model.set_font(self.font())
        self.model.rebuild(squares, self.bar.in_order.isChecked(), passes)
        many = sum(len(s.layers or _modules(s)) for s in squares) > UNFOLDED and passes is None
        if not many:
            self.tree.expandAll()
        for key, folded in self._folds.items():
            if folded != many and key in self.model.nodes:
                self.tree.setExpanded(self.model.index_of(key[1], key[0]), not folded)
        for node in self.model.top.children if many else []:
            self.tree.setExpanded(self.model.createIndex(node.row, 0, node), len(squares) > 1)
        for node in self.model.top.children if len(squares) > 1 else []:
            self.tree.setFirstColumnSpanned(node.row, QModelIndex(), True)
        self._building = False

    def _folded(self, index: QModelIndex, folded: bool) -> None:
        if not self._building and self.bar.passes(self.state.watched) is None:
            node = self.model.node(index)
            self._folds[node.k, node.path] = folded

    def _filtered(self) -> None:
        """Show the rows that the filter lets pass."""
        self._told = None
        self._fill_tree(self.squares)
        shown = sum(node.layer is not None for node in self.model.nodes.values())
        whole = sum(len(s.layers) for s in self.squares)
        idle = sum(n.layer is None and not n.children for n in self.model.nodes.values()) if shown != whole else 0
        more = f" + {idle} not called" if idle else ""
        self.bar.tell(f"{shown} of {whole}{more}" if shown != whole else "")

    # what the person does -------------------------------------------------------------------------------------
    def _chosen(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        node = self.model.node(index)
        if self._building or self.frame is None or node.layer is None:
            return
        layer = counterpart(self.frame, node.k, node.layer.name)
        if layer != self.frame.squares[0].layer.name:
            self.wished.emit(Wish(changes={"layer": layer}))

    def chosen_layers(self) -> list[str]:
        """Return the names of the selected layers of the first model."""
        rows = self.tree.selectionModel().selectedRows(NAME)
        return [n.layer.name for n in map(self.model.node, rows) if n.layer is not None and n.k == 0]

    def watch(self, names: list[str], on: bool) -> None:
        """Wish to watch layers, or no longer."""
        kept = tuple(n for n in self.state.watched if n not in names)
        watched = (*kept, *names) if on else kept
        if watched != self.state.watched:
            self.wished.emit(Wish(changes={"watched": watched}))

    def _open_menu(self, at: QPoint) -> None:
        self._popup(self.menu_at(self.tree.indexAt(at)), self.tree.viewport(), at)

    def _popup(self, menu: QMenu, where: QWidget, at: QPoint) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(where.mapToGlobal(at))

    def menu_at(self, index: QModelIndex) -> QMenu:
        """Return the menu of a row."""
        menu, node, names = QMenu(self), self.model.node(index), self.chosen_layers()
        what = "these layers" if len(names) > 1 else names[0] if names else "a layer"
        watched = set(self.state.watched)
        add = menu.addAction(f"Watch {what}", lambda: self.watch(names, True))
        add.setShortcut(QKeySequence("W"))
        add.setEnabled(bool(set(names) - watched))
        remove = menu.addAction("Watch no longer", lambda: self.watch(names, False))
        remove.setEnabled(bool(set(names) & watched))
        menu.addSeparator()
        edit = menu.addAction("Correct the field type…", lambda: self._edit(index.siblingAtColumn(FIELD)))
        edit.setEnabled(node.layer is not None and node.k == 0)
        back = menu.addAction("Take the correction back", lambda: self._override(index, ""))
        name = node.layer.name if node.layer is not None else ""
        back.setEnabled(name in dict(self.state.overrides))
        source = menu.addAction("Show its source", lambda: self.requested.emit("source"))
        source.setEnabled(bool(name))
        menu.addSeparator()
        if name:
            self.menu_opened.emit(menu, "" if node.k else name)
            menu.addSeparator()
        menu.addAction("Open all", self.tree.expandAll)
        menu.addAction("Fold all", self.tree.collapseAll)
        menu.addMenu(self.bar.columns_menu(menu))
        return menu

    def keyPressEvent(self, event: Any) -> None:
        if event.key() == Qt.Key.Key_W and (names := self.chosen_layers()):
            self.watch(names, not set(names) <= set(self.state.watched))
        else:
            super().keyPressEvent(event)

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() == FIELD and index.data(LAYER):
            self._edit(index)

    def _edit(self, index: QModelIndex) -> None:
        if index.data(ROOT):
            self._say("Field types are edited on the first model. Choose this one alone to edit its fields.")
            return
        self._correcting = True
        self._share_width(self.tree.viewport().width())  # no other column leaves so little room that it goes again
        self._building = True
        self.tree.setCurrentIndex(index)
        self._building = False
        self.tree.edit(index)

    def _corrected(self, *_: object) -> None:
        """Show the columns again that made way for a field being corrected."""
        self._correcting = False
        self._share_width(self.tree.viewport().width())

    def _override(self, index: Index, text: str) -> None:
        """Wish for a corrected field type; an empty text takes the correction back."""
        layer = index.data(LAYER)
        if self.frame is None or not layer:
            return
        kept = tuple((name, field) for name, field in self.frame.state.overrides if name != layer)
        overrides = (*kept, (layer, text)) if text else kept
        if overrides != self.frame.state.overrides:
            self.wished.emit(Wish(changes={"overrides": overrides}))

    def _kind(self) -> str:
        """Return the kind of data that is looked at, "" while there is none."""
        return self.squares[0].domain if self.squares else ""

    def _say(self, sentence: str) -> None:
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))

    def _entered(self, index: QModelIndex) -> None:
        if name := index.data(LAYER):
            self.hovered.emit(read_out(name, index.data(MEASURE), accused=bool(index.data(GUILTY))))

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit("")
        super().leaveEvent(event)

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        # the viewport, because a scroll bar that comes takes of the width too
        if watched is self.tree.viewport() and event.type() == QEvent.Type.Resize:
            self._share_width(self.tree.viewport().width())
        elif watched is self.tree.viewport() and event.type() == QEvent.Type.Leave:
            self.hovered.emit("")  # to the controls above, for one, which are no layer
        return super().eventFilter(watched, event)

    def _share_width(self, width: int) -> None:
        """Show the columns that were chosen; where nobody has, as many as fit, the most telling first."""
        em = self.fontMetrics().horizontalAdvance("0")
        chosen = self.bar.chosen
        errors = 15 if self._edited else 11 if width > 36 * em else 8  # two figures and an arrow, one with a bar, one
        wanted = {k: COLUMNS[k].em * em for k in range(1, len(COLUMNS))} | {ERROR: errors * em}
        if chosen is not None:
            for k, room in wanted.items():
                self.tree.setColumnHidden(k, COLUMNS[k].key not in chosen and not (k == FIELD and self._correcting))
                self.tree.setColumnWidth(k, int(room))
            taken = sum(int(room) for k, room in wanted.items() if COLUMNS[k].key in chosen)
            self.tree.setColumnWidth(NAME, max(int(14 * em), width - taken))
            return
        # a name that is nested deep is pushed to the right; without it no figure says what it is of
        indent = self.tree.indentation()
        names = max(self.model.deepest * indent + 9.5 * em, self.model.widest(self.fontMetrics(), indent) + 1.5 * em)
        left = width - max(9.5 * em, min(0.42 * width, 24 * em), min(0.7 * width, names))
        for k in range(PARAMS + 1, len(COLUMNS)):
            self.tree.setColumnHidden(k, True)
        for column in (FIELD, ERROR, SHAPE, PARAMS) if self._correcting else (ERROR, FIELD, SHAPE, PARAMS):
            # the field is worth showing short: it is read by its beginning, and whole in the tool tip
            least = 7 * em if column == FIELD else wanted[column]
            fits = left >= least
            self.tree.setColumnHidden(column, not fits)
            if fits:
                room = int(min(wanted[column], left))
                self.tree.setColumnWidth(column, room)
                left -= room
            else:
                left = -1
        shown = sum(self.tree.columnWidth(c) for c in range(1, len(COLUMNS)) if not self.tree.isColumnHidden(c))
        self.tree.setColumnWidth(NAME, max(60, width - shown))

    # exports --------------------------------------------------------------------------------------------------
    def figure_size(self) -> QSize:
        """Return the size at which every row and column is seen, for exported figures."""
        rows = len(self.model.nodes) + len(self.model.top.children)
        height = max(20, self.tree.sizeHintForRow(0)) * (rows + 1) + self.tree.header().height() + 8
        return QSize(max(self.width(), 640), min(16_000, max(80, height)))

    def numbers(self) -> dict[str, NDArray[Any]]:
        return numbers_of(self.squares)

    def caption(self) -> str:
        if self.frame is None or not self.frame.squares:
            return ""
        return f"Layers with field types (guesses in italics) and cumulative relative error: {subject(self.frame)}."

    def apply_theme(self) -> None:
        t = theme.current()
        self.sentence.setStyleSheet(f"color: {t.bad}; background: {t.panel};")
        self.empty.setStyleSheet(f"color: {t.muted}; background: {t.panel};")
        self.tree.setPalette(quiet_selection(t))
        self.bar.apply_theme()
        self.tree.viewport().update()


def _modules(square: Square) -> tuple[ModuleInfo, ...]:
    return square.figures.modules if square.figures is not None else ()


def _alike(one: Rows, other: Rows) -> bool:
    """Say whether two trees have the same rows; names are compared only where the layers are told anew."""
    return len(one) == len(other) and all(
        a[0] == b[0] and _named(a[1], b[1]) and _named(a[2], b[2]) for a, b in zip(one, other)
    )


def _named(one: Sequence[LayerInfo | ModuleInfo], other: Sequence[LayerInfo | ModuleInfo]) -> bool:
    return one is other or [n.name for n in one] == [n.name for n in other]


VIEW = ViewSpec("layers", "Layers", LayersView, "left", 1, "Every layer with its field type, error and statistics.")

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(LayersView, lambda view, samples: view.set_frame(samples.make_frame(compare=True)))
