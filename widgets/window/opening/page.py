"""The page that shows a model file before anything of it is executed: what it is, what it says, what it may do."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.network.opening.files.contents import BLANK, CallableEntry, Contents
from explorer.network.opening.files.edits import Edit
from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.base.text.code_view import CodeView
from widgets.window.opening.edits import CARD, EditView, called, missing, said
from widgets.window.opening.trouble import problem_style

SIZE = (1040, 700)
SIDE = 350
MOST_ROWS = 20_000  # tensors that are listed
MOST_FACTS = 12
MEANS = {
    "code": "Running this file gives it all that you may do on this computer: read and delete files, use the network, "
    "start programs. Run it only if you know where it comes from.",
    "weights": "These are numbers. They are read into a network without executing anything.",
    "inspect": "It can be looked at here. It is not opened as a network, and nothing of it is executed.",
}
REFUSED = "It would run commands as soon as it is opened. It is refused, and nothing of it is executed."
WHOLE = "whole"  # of what the weights of a folder are put into: its own network


class ModelPage(Dialog):
    """Shows one file; what a person decides is a signal, and what then goes wrong is said here."""

    about = "Open model"
    accepted_code = Signal(str, bool)  # the callable, whether to run what is saved later as well
    asked_input = Signal(str, bool)  # the same, to say first what the network takes
    accepted_weights = Signal(str, bool)  # the model they go into ("" for the one in use), whether in part

    def __init__(
        self, parent: QWidget, found: Contents, trusted: bool = False, chosen: str = "", why: str = "",
        targets: Sequence[tuple[str, str]] = (), edits: Sequence[Edit] = (),
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("model-page")
        self.setWindowTitle("Open model")
        self.resize(*SIZE)
        self.found, self._trusted = found, trusted
        self._python = found.tier == "code" and bool(found.text)
        self._whole, self._code = found.whole, found.tier == "code"
        self.heading = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.heading.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._why, self._edits = " ".join(filter(None, (why, said(edits), missing(chosen, found)))), tuple(edits)
        self.changed: EditView | None = None
        self.source = CodeView()
        self.tensors = QTreeWidget()
        self.tensors.setFrameShape(QFrame.Shape.NoFrame)
        self.listing = QPlainTextEdit(readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
        self.listing.hide()
        self.listing.setAccessibleName(found.listed)
        split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        split.addWidget(self._left())
        split.addWidget(self._right(chosen, targets))
        split.setStretchFactor(0, 1)
        split.setSizes([SIZE[0] - SIDE, SIDE])
        self.problem = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.problem.setAccessibleName("What went wrong")
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(12)
        column.addWidget(self.heading)
        column.addWidget(split, 1)
        column.addWidget(self.problem)
        column.addLayout(self._buttons())
        theme.changes.changed.connect(self.apply_theme)
        self.finished.connect(lambda: theme.changes.changed.disconnect(self.apply_theme))
        self.apply_theme()
        self._fit_buttons()
        (self.go if self.go.isDefault() else self.cancel).setFocus()
        if found.error:
            self.say(found.error)

    # building ---------------------------------------------------------------------------------------------
    def _left(self) -> QWidget:
        """Return the text of a Python file, else the list of tensors."""
        if self._python:
            self.source.show_source(self.found.text)
            self.listing.setParent(self)
            self.tensors.setParent(self)
            self.tensors.hide()
            return self.source if not self._edits else self._with_edits()
        self.source.setParent(self)
        self.source.hide()
        self.listing.setParent(self)
        tree = self.tensors
        tree.setAccessibleName("Tensors")
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setAlternatingRowColors(True)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        tree.setAllColumnsShowFocus(True)
        tree.setHeaderLabels(["Tensor", "Shape", "Type"])
        shown = self.found.tensors[:MOST_ROWS]
        tree.addTopLevelItems([QTreeWidgetItem([t.name, _shape(t.shape), t.dtype]) for t in shown])
        if not shown:
            tree.addTopLevelItem(QTreeWidgetItem(["No tensors can be seen without executing it."]))
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        tree.setFont(fixed)
        head = tree.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)  # names are long, shapes and types are not
        tree.setColumnWidth(1, 150)
        tree.setColumnWidth(2, 72)
        return tree if not self.found.listing else self._with_listing(tree)

    def _with_listing(self, tree: QTreeWidget) -> QWidget:
        """Return the tensors beside what the archive and its pickles are made of, line by line."""
        tabs = QTabWidget()
        self.listing.setPlainText("\n".join(self.found.listing))
        self.listing.setFont(tree.font())
        tabs.addTab(tree, "Tensors")
        tabs.addTab(self.listing, self.found.listed)
        if self.found.attacks or not self.found.tensors:
            tabs.setCurrentWidget(self.listing)
        return tabs

    def _with_edits(self) -> QWidget:
        """Return the text of the file beside what has changed in it since it was trusted, which comes first."""
        tabs = QTabWidget()
        self.changed = EditView(self._edits)
        tabs.addTab(self.changed, "What has changed")
        tabs.addTab(self.source, "The whole file")
        return tabs

    def _right(self, chosen: str, targets: Sequence[tuple[str, str]]) -> QWidget:
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(14, 0, 0, 0)
        column.setSpacing(6)
        self.callables = QListWidget()
        self.callables.setFrameShape(QFrame.Shape.NoFrame)
        self.callables.setAccessibleName("What makes the network")
        self.follow = QCheckBox("Also run what I save in it later,\nuntil the window is closed")
        self.follow.setToolTip("For a file that you are writing: each save is another content, which asks again.")
        self.target = QComboBox()
        self.target.setAccessibleName("Put the weights into")
        self.partly = QCheckBox("Load what fits, leave the rest untrained")
        self.partly.hide()
        self.arguments, self._proposed = QLineEdit(), ""
        self.arguments.setAccessibleName("Arguments of what makes the network")
        self.arguments.setToolTip("Numbers, texts, lists and objects of settings, as in 3, width=64 or Config(depth=2)")
        self.arguments.textChanged.connect(self._typed)
        self.told = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if self._python:
            self._headline(column, "The network is made by")
            self._list_callables(chosen)
            column.addWidget(self.callables)
            column.addWidget(self.arguments)
            column.addWidget(self.follow)
        elif self._whole and self._code:
            pass
        elif self.found.tier == "weights":
            self._headline(column, "Put the weights into")
            if self._whole:
                self.target.addItem("the network of this folder", WHOLE)
            for name, title in targets:
                self.target.addItem(title, name)
            self.target.currentIndexChanged.connect(self._typed)
            column.addWidget(self.target)
            column.addWidget(self.partly)
        for unused in (self.callables, self.arguments, self.follow, self.target, self.partly):
            if unused.parent() is None and column.indexOf(unused) < 0:
                unused.setParent(self)
                unused.hide()
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.told.setContentsMargins(0, 0, 10, 0)
        scroll.setWidget(self.told)
        column.addSpacing(6)
        column.addWidget(scroll, 1)
        return side

    def _headline(self, column: QVBoxLayout, text: str) -> None:
        label = QLabel(text)
        font = label.font()
        font.setBold(True)
        label.setFont(font)
        column.addWidget(label)

    def _list_callables(self, chosen: str) -> None:
        entries = self.found.callables
        if self._exports:
            item = QListWidgetItem("CARD   what the file exports")
            item.setData(Qt.ItemDataRole.UserRole, CARD)
            self.callables.addItem(item)
        for entry in entries:
            item = QListWidgetItem(_title(entry))
            item.setData(Qt.ItemDataRole.UserRole, entry.name)
            item.setToolTip(f"{entry.kind}, line {entry.line}")
            if not entry.usable:
                item.setToolTip(f"It needs {', '.join(entry.needs)}: give them below")
            self.callables.addItem(item)
        if not entries and not self.found.error and not self._exports:
            empty = QListWidgetItem("Nothing in it makes a network")
            empty.setFlags(Qt.ItemFlag.NoItemFlags)
            self.callables.addItem(empty)
        rows = min(max(self.callables.count(), 1), 7)
        self.callables.setFixedHeight(rows * max(22, self.callables.sizeHintForRow(0)) + 8)
        self.callables.currentItemChanged.connect(self._picked)
        self.callables.itemDoubleClicked.connect(self._go)
        names = [*([CARD] if self._exports else []), *(entry.name for entry in entries)]
        chosen, bracket, given = called(chosen)
        wanted = chosen if chosen in names else next(iter(names), "")
        for row in range(self.callables.count()):
            if self.callables.item(row).data(Qt.ItemDataRole.UserRole) == wanted:
                self.callables.setCurrentRow(row)
        if bracket and chosen == wanted:
            self.arguments.setText(given.removesuffix(")"))

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self.reject)
        self.working = QLabel(textFormat=Qt.TextFormat.PlainText)  # how far what was asked for is
        self.working.setAccessibleName("What is being done")
        self.working.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.go = QPushButton()
        self.go.clicked.connect(self._go)
        self.input = QPushButton()
        self.input.setToolTip("Run this code, then say what kind of input the network is called with, and try it")
        self.input.setAutoDefault(False)
        self.input.setVisible(self._python)
        self.input.clicked.connect(lambda: self._go(ask=True))
        row.addWidget(self.input)
        row.addWidget(self.working, 1)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    # what is chosen ---------------------------------------------------------------------------------------
    @property
    def chosen(self) -> str:
        """Return the callable that is selected, with the arguments that are given, or ""."""
        item = self.callables.currentItem()
        name = str(item.data(Qt.ItemDataRole.UserRole) or "") if item is not None else ""
        given = self.arguments.text().strip()
        return f"{name}({given})" if name and given else name

    @property
    def _exports(self) -> bool:
        """Return whether the file's text says that it exports a CARD."""
        return any(name == CARD for name, _ in self.found.facts)

    def _entry(self) -> CallableEntry | None:
        item = self.callables.currentItem()
        name = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        return next((e for e in self.found.callables if e.name == name), None)

    def _picked(self) -> None:
        entry = self._entry()
        self.source.mark(entry.line if entry is not None else 0)
        takes = entry is not None and entry.kind != "network"
        self.arguments.setEnabled(takes)
        needs = ", ".join(f"{name}={BLANK}" for name in entry.needs) if entry is not None else ""
        self.arguments.setPlaceholderText(needs or "arguments, if it is to have others than its own")
        if self.arguments.text() == self._proposed:  # nobody has changed it
            self._proposed = entry.proposed if entry is not None else ""
            self.arguments.setText(self._proposed)
            self.arguments.setCursorPosition(0)
        if not takes:
            self.arguments.clear()
        if hasattr(self, "go"):
            self._fit_buttons()

    def _typed(self) -> None:
        if hasattr(self, "go"):
            self._fit_buttons()

    def _fit_buttons(self) -> None:
        """Offer what can be done with this file, and make the careful answer the one that Return gives."""
        if self._python:
            self.go.setText("Open" if self._trusted else "Run this code")
            self.input.setText("Say what it takes…" if self._trusted else "Run it, then say what it takes…")
            entry = self._entry()
            given = self.arguments.text()
            lacks = BLANK in given or (entry is not None and not entry.usable and not given.strip())
            self.go.setEnabled(bool(self.chosen) and not self.found.error and not lacks)
            self.input.setEnabled(self.go.isEnabled())
        elif self._whole and self._code:
            self.go.setText("Open" if self._trusted else "Run what is in it")
        elif self.found.tier == "weights":
            self.go.setText("Open" if self.target.currentData() == WHOLE else "Load weights")
        else:
            self.go.hide()
            self.cancel.setText("Close")
        careful = self._code and not self._trusted
        self.go.setAutoDefault(not careful)
        self.go.setDefault(not careful)
        self.cancel.setAutoDefault(careful)
        self.cancel.setDefault(careful or self.go.isHidden())

    def _go(self, *_: object, ask: bool = False) -> None:
        if not self.go.isEnabled():
            return
        self.problem.hide()
        self.go.setEnabled(False)
        self.go.setText("Opening…")
        if self._whole and (self._code or self.target.currentData() == WHOLE):
            self.accepted_code.emit("", False)
        elif self._python:
            (self.asked_input if ask else self.accepted_code).emit(self.chosen, self.follow.isChecked())
        else:
            self.accepted_weights.emit(str(self.target.currentData() or ""), self.partly.isChecked())

    def tell(self, text: str, fraction: float | None) -> None:
        """Say how far what was asked for is; the status bar, which says so too, cannot be clicked meanwhile."""
        share = "" if fraction is None or not text else f" {fraction:.0%}"
        self.working.setText("" if self.go.isEnabled() else f"{text}{share}")

    def say(self, sentence: str, misfit: bool = False) -> None:
        """Say what went wrong; the person may choose otherwise."""
        self.working.clear()
        self.problem.setText(sentence)
        self.problem.show()
        if self._python and (line := re.search(r"\(line (\d+)\)", sentence)):
            self.source.mark(int(line[1]))
        self.partly.setVisible(misfit or self.partly.isChecked())
        self.go.setEnabled(True)
        self._fit_buttons()

    def now_trusted(self) -> None:
        """Know that the person has said yes to this content, whatever happened then."""
        self._trusted = True
        self.apply_theme()

    # what is shown ----------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        t, found = theme.current(), self.found
        name = found.path.replace("\\", "/").rstrip("/").rpartition("/")[2]
        why = f"<p style='margin:0 0 6px 0'>{html.escape(self._why)}</p>" if self._why else ""
        self.heading.setText(
            f"{why}<span style='font-size:15pt; font-weight:600'>{html.escape(name)}</span>"
            f"<br><span style='color:{t.muted}'>{html.escape(found.kind)} · {_bytes(found.size)} · "
            f"{html.escape(found.path)}<br>SHA-256 {found.sha256}</span>"
        )
        self.told.setText(self._facts())
        self.problem.setStyleSheet(problem_style())
        box = f"border: 1px solid {t.line}; border-radius: 4px;"
        self.source.setStyleSheet(f"QPlainTextEdit {{ {box} }}")
        self.tensors.setStyleSheet(f"QTreeWidget {{ {box} }}")
        self.callables.setStyleSheet(
            f"QListWidget {{ background: {t.panel}; {box} padding: 2px; }}"
            f"QListWidget::item {{ padding: 2px 4px; }}"
            f"QListWidget::item:selected {{ background: {t.accent}; color: white; border-radius: 3px; }}"
        )
        self.source.apply_theme()
        if self.changed is not None:
            self.changed.apply_theme()

    def _facts(self) -> str:
        """Return what it may do and what it says, for the side of the page."""
        t, found = theme.current(), self.found
        means = f"{MEANS[found.tier]} {found.instead}".strip()
        if found.attacks:
            means = REFUSED
        elif self._code and self._trusted:
            means = "You have trusted exactly this content before."
        ink = t.bad if self._code and not self._trusted else t.text
        parts = [f"<b style='color:{ink}'>What it may do</b><p style='margin:4px 0'>{html.escape(means)}</p>"]
        if found.dangers:
            listed = "".join(f"<li style='margin-bottom:3px'>{html.escape(d)}</li>" for d in found.dangers[:20])
            seen = "Seen in its text" if self._python else "Seen in it"
            parts.append(f"<p style='margin:8px 0 2px 0'>{seen}</p><ul style='margin:0 0 0 -22px'>{listed}</ul>")
        elif self._python:
            parts.append(
                f"<p style='margin:8px 0;color:{t.muted}'>Nothing that reaches beyond it is seen in its text, "
                "which proves nothing.</p>"
            )
        facts = list(found.facts[:MOST_FACTS])
        if found.tensors:
            facts.insert(0, ("tensors", f"{len(found.tensors):,} with {found.numel:,} numbers"))
        if facts:
            rows = "".join(
                f"<p style='margin:3px 0'><span style='color:{t.muted}'>{html.escape(what)}</span><br>"
                f"{html.escape(_broken(value))}</p>"
                for what, value in facts
            )
            parts.append(f"<p style='margin:12px 0 2px 0'><b>What it says</b></p>{rows}")
        return "".join(parts)


def _title(entry: CallableEntry) -> str:
    needs = f"   needs {', '.join(entry.needs)}" if entry.needs else ""
    return f"{entry.name}   {entry.kind}{needs}"


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "one number"


def _broken(value: str) -> str:
    """Return a text that can be broken after what paths and lists are made of."""
    return value.replace("/", "/\u200b").replace("_", "_\u200b")


def _bytes(size: int) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        size = size / 1024  # type: ignore[assignment]
    return ""
