"""The symmetries that a network keeps: each candidate group, how far its law holds, and what breaks it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QStackedLayout,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.telling.summaries import Law
from widgets.base.frame_view import StateView
from widgets.base.look import theme
from widgets.base.text.words import counterpart, figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.inks import quiet_selection

ASK, STOP = "Which symmetries does it keep?", "Stop"
HEADS = ("Symmetry", "Verdict", "Error", "Holds up to", "In words")
WORDS = {"holds": "holds", "broken": "broken", "no law": "not testable"}
NOTHING = (
    "Tries every group that acts on this kind of data, with the network and the data shown, whenever there is nothing "
    "else to compute: shifts, turns, mirrors, renumberings, reading backwards. Exact elements only."
)


class LawsView(StateView):
    """Asks for the test of all candidate groups and shows what was found, group by group."""

    FOLLOWS = ("laws",)
    only_told = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: list[tuple[int, Law]] = []
        self.button = QPushButton(ASK, self)
        self.button.clicked.connect(self._ask)
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.about = QLabel(NOTHING, self)
        self.about.setWordWrap(True)
        self.about.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.about.setMargin(16)
        self.table = QTableWidget(0, len(HEADS), self)
        self.table.setHorizontalHeaderLabels(list(HEADS))
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.table.setWordWrap(True)
        self.table.setAccessibleName("Symmetries that the network keeps")
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(len(HEADS) - 1, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.itemDoubleClicked.connect(lambda item: self._go(item.row()))
        pages = QWidget(self)
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.about)
        self._pages.addWidget(self.table)
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.button)
        row.addWidget(self.note, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for control in (self.button, self.note):
            control.setProperty("chrome", True)  # left out of exported figures
        column.addLayout(row)
        column.addWidget(pages, 1)
        self.apply_theme()

    # frames ---------------------------------------------------------------------------------------------------
    def refresh(self) -> None:
        found = [(k, law) for k, square in enumerate(self.squares) for law in square.laws]
        if found != self._shown:
            self._shown = found
            self._fill()
        self.button.setText(STOP if self.state.laws and not found else ASK if not self.state.laws else "Forget")
        self.button.setEnabled(self.known)
        busy = self.state.laws and not found
        self.note.setText("Testing in idle time…" if busy else "Double-click a row to see the layer." if found else "")
        self._pages.setCurrentIndex(1 if found else 0)
        self.only_told = not found

    def _fill(self) -> None:
        t, several = theme.current(), len(self.squares) > 1
        self.table.setRowCount(len(self._shown))
        for row, (k, law) in enumerate(self._shown):
            name = f"{law.title} — {self.squares[k].title}" if several else law.title
            told = law.sentence.removeprefix(f"{law.title}: ")
            error = "" if law.error is None else figure(law.error)
            texts = (name, WORDS[law.verdict], error, law.upto, told[:1].upper() + told[1:])
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(law.sentence)
                if column == 1:
                    colours = {"holds": t.good, "broken": t.bad}
                    item.setForeground(QColor(colours.get(law.verdict, t.muted)))
                self.table.setItem(row, column, item)

    # what the person does -------------------------------------------------------------------------------------
    def _ask(self) -> None:
        self.wished.emit(Wish(changes={"laws": not self.state.laws}))

    def _go(self, row: int) -> None:
        """Select the layer that breaks the law of a row, or the last one up to which it holds."""
        k, law = self._shown[row]
        if self.frame is not None and (layer := law.breaker or law.upto):
            self.wished.emit(Wish(changes={"layer": counterpart(self.frame, k, layer)}))

    # exports --------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        if not (laws := [law for _, law in self._shown]):
            return {}
        found: dict[str, NDArray[Any]] = {
            key: np.array([getattr(law, key) for law in laws], dtype=np.str_)
            for key in ("group", "verdict", "upto", "breaker", "sentence")
        }
        found["error"] = np.array([np.nan if law.error is None else law.error for law in laws], dtype=float)
        return found

    def caption(self) -> str:
        return f"Which symmetries are kept, and up to which layer: {subject(self.frame)}." if self.frame else ""

    def apply_theme(self) -> None:
        t = theme.current()
        self.about.setStyleSheet(f"color: {t.muted}; background: {t.panel}; font-size: {theme.SENTENCE}px;")
        self.note.setStyleSheet(f"color: {t.muted};")
        self.table.setPalette(quiet_selection(t))
        self._fill()


VIEW = ViewSpec("laws", "Symmetries", LawsView, "bottom", 6, "Which symmetries the network keeps, and up to where.")

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(LawsView, lambda view, samples: view.set_frame(samples.make_frame()))
