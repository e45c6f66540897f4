"""The list of what a person has trusted, to be taken back."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.app.thread.failures import sentence
from explorer.network.opening.files.trust import Trusted, listed, revoke
from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.window.controller import Controller

SIZE = (860, 420)
HEAD = ["File", "Folder", "Trusted on", "SHA-256"]


class TrustedFiles(Dialog):
    """Shows each content once, the newest first."""

    about = "Trusted files"

    def __init__(self, parent: QWidget, controller: Controller) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("trusted-files")
        self.setWindowTitle("Trusted files")
        self.resize(*SIZE)
        self._controller = controller
        self.told = QLabel(wordWrap=True)
        self.told.setText(
            "These contents may run without a question, each exactly as it was read; an edited file is asked about "
            "again. What is taken back is asked about when it is opened next."
        )
        self.list = QTreeWidget()
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setAccessibleName("Trusted files")
        self.list.setHeaderLabels(HEAD)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setAllColumnsShowFocus(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.itemSelectionChanged.connect(self._fit)
        self.revoke = QPushButton("Take back")
        self.revoke.setAutoDefault(False)
        self.revoke.clicked.connect(lambda: self._take_back(self.list.selectedItems()))
        self.revoke_all = QPushButton("Take back all")
        self.revoke_all.setAutoDefault(False)
        self.revoke_all.clicked.connect(lambda: self._take_back(self._items()))
        close = QPushButton("Close")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.addWidget(self.revoke)
        row.addWidget(self.revoke_all)
        row.addStretch(1)
        row.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(10)
        column.addWidget(self.told)
        column.addWidget(self.list, 1)
        column.addLayout(row)
        theme.changes.changed.connect(self.apply_theme)
        self.finished.connect(lambda: theme.changes.changed.disconnect(self.apply_theme))
        self.fill()
        self.apply_theme()
        close.setFocus()  # a list with the focus marks a row, though none is chosen

    def fill(self) -> None:
        """Read the list anew."""
        self.list.clear()
        for one in reversed(listed()):
            self.list.addTopLevelItem(_item(one))
        header = self.list.header()
        for column in range(len(HEAD)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._fit()

    def _items(self) -> list[QTreeWidgetItem]:
        every = (self.list.topLevelItem(k) for k in range(self.list.topLevelItemCount()))
        return [item for item in every if item is not None]

    def _fit(self) -> None:
        self.revoke.setEnabled(bool(self.list.selectedItems()))
        self.revoke_all.setEnabled(self.list.topLevelItemCount() > 0)

    def _take_back(self, items: list[QTreeWidgetItem]) -> None:
        digests = {str(item.data(0, Qt.ItemDataRole.UserRole)) for item in items}
        try:
            revoke(digests)
        except OSError as error:
            self.told.setText(f"Nothing was taken back: {sentence(error)}")
            return
        self._controller.do(partial(_forget, digests), "Taking it back…", lambda _: None)
        self.fill()
        # else the focus falls on "Take back all", and one more press of a key takes back what nobody meant
        self.list.setFocus()

    def apply_theme(self) -> None:
        t = theme.current()
        self.told.setStyleSheet(f"color: {t.muted};")
        self.list.setStyleSheet(f"QTreeWidget {{ border: 1px solid {t.line}; border-radius: 4px; }}")


def _item(one: Trusted) -> QTreeWidgetItem:
    folder = one.path.replace("\\", "/").rpartition("/")[0]
    item = QTreeWidgetItem([one.name, folder or "–", one.when[:16].replace("T", " ") or "–", one.digest[:12] + "…"])
    item.setData(0, Qt.ItemDataRole.UserRole, one.digest)
    item.setToolTip(1, one.path)
    item.setToolTip(3, one.digest)
    return item


def _forget(digests: set[str], engine: Any) -> None:
    engine.trust.contents.difference_update(digests)
