"""The tree of layers as a model that Qt asks for what it shows: 20,000 modules cost as little as the rows in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon

from explorer.declare.telling.summaries import ModuleInfo
from explorer.square.frame import LayerInfo, Measure, Square
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.text.words import read_before, read_out
from widgets.views.layer_tree.layer_cells import BEFORE, GUILTY, MEASURE
from widgets.views.layer_tree.layer_columns import COLUMNS, ERROR, FIELD, NAME, Row

LAYER = Qt.ItemDataRole.UserRole + 3  # name of the layer, "" on a mere group of names
ROOT = Qt.ItemDataRole.UserRole + 4  # index of the square
PATH = Qt.ItemDataRole.UserRole
MOST_MEASURED = 500  # names
Index = QModelIndex | QPersistentModelIndex
RIGHT = (Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter).value  # a number crosses to Qt at once


# made once: Qt asks for each cell that it paints, and to join enumerations takes Python longer than all the rest
_FLAGS = {
    (layer, edited, above): Qt.ItemFlag.ItemIsEnabled
    | (Qt.ItemFlag.ItemIsSelectable if layer else Qt.ItemFlag.NoItemFlags)
    | (Qt.ItemFlag.ItemIsEditable if edited else Qt.ItemFlag.NoItemFlags)
    | (Qt.ItemFlag.NoItemFlags if above else Qt.ItemFlag.ItemNeverHasChildren)
    for layer in (False, True)
    for edited in (False, True)
    for above in (False, True)
}


class Node:
    """One row: a layer, a module without values of its own, or the title of a network."""

    __slots__ = ("above", "children", "k", "layer", "module", "path", "row", "title")

    def __init__(self, above: Node | None, k: int, path: str, title: str) -> None:
        self.above, self.k, self.path, self.title = above, k, path, title
        self.layer: LayerInfo | None = None
        self.module: ModuleInfo | None = None
        self.children: list[Node] = []
        self.row = 0 if above is None else len(above.children)
        if above is not None:
            above.children.append(self)

    def walk(self) -> Iterator[Node]:
        """Yield everything below, in the order in which it stands."""
        for child in self.children:
            yield child
            yield from child.walk()

    def depth(self) -> int:
        """Return how many rows this one is the end of, from the edge of the tree on."""
        return 0 if self.above is None else 1 + self.above.depth()


Passes = Callable[[Square, LayerInfo | ModuleInfo], bool]
Nodes = dict[tuple[int, str], Node]  # by the index of the square and the name


def tree_of(
    squares: Sequence[Square], in_order: bool, passes: Passes | None
) -> tuple[Node, dict[tuple[int, str], Node]]:
    """Return the root of all rows, and each row by its square and name.

    Args:
        in_order: a flat list of calls in the order of execution, in place of the tree of modules.
        passes: which layers are wanted, and which modules that are not called; None: all of them.
    """
    top = Node(None, 0, "", "")
    found: Nodes = {}
    for k, square in enumerate(squares):
        root = Node(top, k, "", square.title) if len(squares) > 1 else top
        modules = {m.name: m for m in square.figures.modules} if square.figures is not None else {}

        def node(path: str, k: int = k, root: Node = root, modules: dict[str, ModuleInfo] = modules) -> Node:
            if (k, path) in found:
                return found[k, path]
            above, dot, name = path.rpartition(".")
            made = found[k, path] = Node(
                root if in_order or not dot else node(above), k, path, path if in_order else name
            )
            made.module = modules.get(path)
            return made

        for layer in square.layers:
            if passes is None or passes(square, layer):
                made = node(layer.name)
                made.layer = layer
                if made.module is None and not layer.call:
                    made.module = modules.get(layer.module)
        for name, module in modules.items() if not in_order else ():
            if passes is None or (module.calls <= 0 and passes(square, module)):
                node(name)
    return top, found


class LayerModel(QAbstractItemModel):
    """Answers for the rows of some squares; a frame with the same layers only changes what is answered."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.top = Node(None, 0, "", "")
        self.nodes: Nodes = {}
        self.titles: dict[str, int] = {}  # of the rows, and how deep each stands at most
        self.squares: tuple[Square, ...] = ()
        self._layers: tuple[tuple[LayerInfo, ...], ...] = ()  # that the rows describe
        self.watched: frozenset[str] = frozenset()
        self._guilty: list[frozenset[str]] = []
        self._changed: list[frozenset[str]] = []  # layers that were intervened in
        self.set_font(QFont())
        role = Qt.ItemDataRole
        self._answers: dict[int, Callable[[Node, int], Any]] = {
            int(role.DisplayRole): self._text, int(role.EditRole): self._text, int(role.FontRole): self._font,
            int(role.TextAlignmentRole): self._alignment, int(role.ForegroundRole): self._colour,
            int(role.DecorationRole): self._picture, int(role.ToolTipRole): partial(_tip, self),
            int(LAYER): self._name, int(ROOT): lambda node, column: node.k, int(PATH): lambda node, column: node.path,
            int(MEASURE): self._measure, int(BEFORE): self._before, int(GUILTY): self._is_guilty,
        }  # fmt: skip

    def set_squares(self, squares: tuple[Square, ...]) -> None:
        """Take a frame of the same layers: what is in sight is asked for again."""
        self.squares = squares
        self._guilty = [frozenset(s.guilty) for s in squares]
        self._changed = [frozenset(one.layer for one in s.interventions) for s in squares]
        now, before = tuple(s.layers for s in squares), self._layers
        self._layers = now
        if len(now) == len(before) and all(a is b for a, b in zip(now, before)):
            return  # within an epoch the tuple is the same
        for k, layers in enumerate(now):
            for layer in layers:
                if (node := self.nodes.get((k, layer.name))) is not None:
                    node.layer = layer

    def rebuild(self, squares: tuple[Square, ...], in_order: bool, passes: Passes | None) -> None:
        """Make the rows anew: of other layers, in another order, or of fewer of them."""
        self.beginResetModel()
        self.top, self.nodes = tree_of(squares, in_order, passes)
        self.titles = {}
        for node in self.nodes.values():
            self.titles[node.title] = max(node.depth(), self.titles.get(node.title, 0))
        self.set_squares(squares)
        self.endResetModel()

    @property
    def deepest(self) -> int:
        """Return how deep the rows are nested."""
        return max(self.titles.values(), default=0)

    def widest(self, metrics: QFontMetrics, indent: float) -> float:
        """Return the room that the names need, or the first of very many."""
        some = islice(self.titles.items(), MOST_MEASURED)
        return max((depth * indent + metrics.horizontalAdvance(title) for title, depth in some), default=0.0)

    def node(self, index: Index) -> Node:
        """Return the row of an index; of an invalid one that of all rows."""
        return index.internalPointer() or self.top

    def index_of(self, path: str, root: int = 0, column: int = NAME) -> QModelIndex:
        """Return the index of a layer or module; an invalid one where it has no row."""
        node = self.nodes.get((root, path))
        return QModelIndex() if node is None else self.createIndex(node.row, column, node)

    def row_of(self, node: Node) -> Row:
        """Return what there is to say of a row."""
        return Row(self.squares[node.k], node.layer, node.module)

    # what Qt asks ---------------------------------------------------------------------------------------------
    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        children = self.node(parent).children
        return self.createIndex(row, column, children[row]) if 0 <= row < len(children) else QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008
        above = self.node(index).above
        return QModelIndex() if above is None or above is self.top else self.createIndex(above.row, 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self.node(parent).children)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(COLUMNS)

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        return bool(self.node(parent).children)

    def flags(self, index: Index) -> Qt.ItemFlag:
        node = self.node(index)
        edited = node.layer is not None and node.k == 0 and index.column() == FIELD
        return _FLAGS[node.layer is not None, edited, bool(node.children)]

    def headerData(self, section: int, side: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if side == Qt.Orientation.Horizontal and 0 <= section < len(COLUMNS):
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section].title
            if role == Qt.ItemDataRole.ToolTipRole:
                return COLUMNS[section].tip or None
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        # Qt asks for eight roles of each cell that it paints: most have no answer, which is told at once
        answer = self._answers.get(role)
        if answer is None or not self.squares or (node := index.internalPointer()) is None:
            return None
        return answer(node, index.column())

    def _text(self, node: Node, column: int) -> str | None:
        if column == NAME:
            return node.title
        return COLUMNS[column].text(Row(self.squares[node.k], node.layer, node.module)) if node.path else None

    def _alignment(self, node: Node, column: int) -> int | None:
        return RIGHT if COLUMNS[column].right else None

    def _picture(self, node: Node, column: int) -> QIcon | None:
        if column != NAME or node.layer is None:
            return None
        if node.layer.name in self._changed[node.k]:
            return icon("intervene", theme.current().second)
        return icon("watch", theme.current().accent) if node.layer.name in self.watched else None

    def _name(self, node: Node, column: int) -> str:
        return node.layer.name if node.layer is not None else ""

    def _measure(self, node: Node, column: int) -> Measure | None:
        return self.squares[node.k].measures.get(node.layer.name) if node.layer is not None else None

    def _before(self, node: Node, column: int) -> Measure | None:
        return self.squares[node.k].before.get(node.layer.name) if node.layer is not None else None

    def _is_guilty(self, node: Node, column: int) -> bool:
        return node.layer is not None and node.layer.name in self._guilty[node.k]

    def _font(self, node: Node, column: int) -> QFont | None:
        if not node.path:
            return self._bold
        return self._italic if column == FIELD and node.layer is not None and node.layer.guessed else None

    def set_font(self, font: QFont) -> None:
        """Take the font of the view, in bold for titles and in italics for guesses."""
        self._bold, self._italic = QFont(font), QFont(font)
        self._bold.setBold(True)
        self._italic.setItalic(True)

    def _colour(self, node: Node, column: int) -> QColor | None:
        """Return the colour of a network's title, and a quiet one of what is never called."""
        if not node.path:
            return QColor(theme.current().second if node.k else theme.current().first)
        unknown = bool(node.module and node.module.calls < 0 and self.squares[node.k].message)  # behind a NaN
        idle = node.layer is None and node.module is not None and (unknown or not node.module.calls)
        return QColor(theme.current().muted) if idle else None


def _tip(model: LayerModel, node: Node, column: int) -> str:
    layer, module, square = node.layer, node.module, model.squares[node.k]
    if layer is None:
        if module is None:
            return node.path
        if module.first:
            return f"{module.name}: {module.kind}, {module.shared}"
        if module.varies:
            return f"{module.name}: {module.kind}, called on some inputs alone: judged with the code around it"
        if module.calls < 0:
            return f"{module.name}: {module.kind}" + (f", not looked at: {square.message}" if square.message else "")
        # a list of modules is not called itself, its members are
        return f"{module.name}: {module.kind}, " + ("not called itself" if node.children else "never called")
    measure: Measure | None = square.measures.get(layer.name)
    if column == ERROR:
        told = read_out(layer.name, measure, "\n", layer.name in square.guilty)
        return "\n".join(filter(None, (told, read_before(square.before.get(layer.name)))))
    if column == FIELD:
        kind = "a guess" if layer.guessed else "known"
        why = f": {layer.reason}" if layer.reason else ""
        return f"{layer.field}: {kind}{why}.\nDouble-click to correct it."
    shared = f", {module.shared}" if module is not None and module.shared else ""
    lines = [f"{layer.name}: {layer.kind}{shared}", f"{' × '.join(map(str, layer.shape))}, {layer.params} parameters"]
    if (values := model.row_of(node).values) is not None and values.strange:
        lines.append(values.strange)
    return "\n".join(lines)
