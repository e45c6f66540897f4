"""The line over the tree of layers: what is searched for, what is shown alone, in which order, in which columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QMenu, QToolButton, QWidget

from explorer.declare.telling.summaries import ModuleInfo
from explorer.square.frame import LayerInfo, Square
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.settings import open_settings
from widgets.views.layer_tree.layer_columns import COLUMNS, USUAL
from widgets.views.layer_tree.layer_model import Passes

TYPING_MS = 120  # after the last letter, before a large tree is made anew
CHOSEN = "layers/columns"


class FilterBar(QWidget):
    """Takes words of a name, a type or a field, and switches for what is shown."""

    changed = Signal()  # what passes, or the order
    columns_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText("Search")
        self.line.setAccessibleName("Search the layers")
        self.line.setClearButtonEnabled(True)
        self.line.setToolTip("Shows the layers whose name, type or field has all of these words")
        self.guilty = self._switch("!", "Guilty only: the layers that make a fault", "Guilty layers only")
        self.watched = self._switch("", "Watched only (W watches the selected layers)", "Watched layers only")
        self.in_order = self._switch("≡", "All calls in the order in which they are made", "Calls in execution order")
        self.columns = QToolButton(self)
        self.columns.setText("⋯")
        self.columns.setToolTip("Choose the columns")
        self.columns.setAccessibleName("Columns")
        self.columns.setAutoRaise(True)
        self.columns.clicked.connect(self._open_columns)
        self.count = QLabel(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 3, 4, 3)
        row.setSpacing(2)
        row.addWidget(self.line, 1)
        for widget in (self.count, self.guilty, self.watched, self.in_order, self.columns):
            row.addWidget(widget)
        self._typed = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typed.timeout.connect(self.changed)
        self.line.textChanged.connect(lambda _text: self._typed.start())
        for switch in (self.guilty, self.watched, self.in_order):
            switch.toggled.connect(lambda _on: self.changed.emit())
        kept = open_settings().value(CHOSEN)
        self.chosen: tuple[str, ...] | None = tuple(str(kept).split(",")) if kept else None

    def _switch(self, text: str, tip: str, name: str) -> QToolButton:
        made = QToolButton(self)
        made.setText(text)
        made.setToolTip(tip)
        made.setAccessibleName(name)
        made.setCheckable(True)
        made.setAutoRaise(True)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return made

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())  # a narrow dock cuts it off

    # what passes ----------------------------------------------------------------------------------------------
    @property
    def follows_watched(self) -> bool:
        """Return whether the rows depend on what is watched."""
        return self.watched.isChecked()

    def told(self, squares: Sequence[Square], watched: Collection[str]) -> tuple[Any, ...]:
        """Return what the rows depend on beside the layers: the filter, and what changes with frames or watching."""
        guilty = tuple(s.guilty for s in squares) if self.guilty.isChecked() else ()
        seen = tuple(watched) if self.follows_watched else ()
        return (self.line.text().strip().lower(), self.in_order.isChecked(), guilty, seen)

    def passes(self, watched: Collection[str]) -> Passes | None:
        """Return which layers pass; None where all do."""
        words, only_guilty, only_watched = (
            self.line.text().lower().split(),
            self.guilty.isChecked(),
            self.follows_watched,
        )
        if not (words or only_guilty or only_watched):
            return None
        seen = frozenset(watched)

        def passes(square: Square, layer: LayerInfo | ModuleInfo) -> bool:
            if (only_guilty and layer.name not in square.guilty) or (only_watched and layer.name not in seen):
                return False
            field = layer.field if isinstance(layer, LayerInfo) else ""
            text = f"{layer.name} {layer.kind} {field}".lower()
            return all(word in text for word in words)

        return passes

    def tell(self, text: str) -> None:
        """Say how many layers are shown, where not all are."""
        self.count.setText(text)

    # columns --------------------------------------------------------------------------------------------------
    def columns_menu(self, parent: QWidget) -> QMenu:
        """Return the menu in which columns are chosen."""
        menu = QMenu("Columns", parent)
        chosen = self.chosen if self.chosen is not None else USUAL
        for column in COLUMNS[1:]:
            action = menu.addAction(column.title)
            action.setCheckable(True)
            action.setChecked(column.key in chosen)
            action.setToolTip(column.tip)
            action.toggled.connect(lambda on, key=column.key: self.choose(key, on))
        menu.addSeparator()
        menu.addAction("As many as fit", self.forget).setEnabled(self.chosen is not None)
        menu.setToolTipsVisible(True)
        return menu

    def choose(self, key: str, on: bool) -> None:
        """Show a column or no longer, now and when the program starts again."""
        before = self.chosen if self.chosen is not None else USUAL
        self.chosen = tuple(c.key for c in COLUMNS[1:] if (on if c.key == key else c.key in before))
        open_settings().setValue(CHOSEN, ",".join(self.chosen))
        self.columns_changed.emit()

    def forget(self) -> None:
        """Show as many of the usual columns as fit."""
        self.chosen = None
        open_settings().remove(CHOSEN)
        self.columns_changed.emit()

    def _open_columns(self) -> None:
        menu = self.columns_menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.columns.mapToGlobal(self.columns.rect().bottomLeft()))

    def apply_theme(self) -> None:
        t = theme.current()
        self.watched.setIcon(icon("watch"))
        self.setStyleSheet(f"FilterBar {{ background: {t.panel}; }}")
        self.count.setStyleSheet(f"color: {t.muted};")
