"""The page that asks how data are read and fitted to a network, with a picture of what comes of it."""

from __future__ import annotations

import html
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QRadioButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.data.finding import base_of, split_part
from explorer.declare.telling.choices import AS, Choice, split_asked, with_asked
from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.base.look.pixels import rgb_image
from widgets.base.text.kinds_of_data import one_of

if TYPE_CHECKING:  # the worker makes it, with torch
    from explorer.app.answering.importing import Look

SIZE = (860, 560)
SIDE = 300
MOST_ROWS = 6  # of a list of columns before it scrolls


class ImportPage(Dialog):
    """Shows what the worker has found; each change asks it again, and what is accepted is a signal."""

    about = "Read data"
    asked = Signal(str)  # the data, as a state names them
    accepted_data = Signal(str, bool)  # the same, and whether to read such files so from now on

    def __init__(self, parent: QWidget, text: str, remembered: bool) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("import-page")
        self.setWindowTitle("Read data")
        self.resize(*SIZE)
        self.file, self.part = base_of(text), split_part(text)[1]
        self.said = split_asked(split_part(text)[0])[1]
        self.editors: dict[str, QComboBox | QListWidget] = {}
        self.ways: dict[str, QRadioButton] = {}
        self._choices: tuple[Choice, ...] = ()
        self._filling = self._begun = False
        self.heading = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.remember = QCheckBox(f"Read every {Path(self.file).suffix or 'such file'} of this folder like this")
        self.remember.setChecked(remembered)
        self.remember.setVisible(Path(self.file).is_file())
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(12)
        column.addWidget(self.heading)
        row = QHBoxLayout()
        row.setSpacing(18)
        row.addWidget(self._left())
        row.addLayout(self._right(), 1)
        column.addLayout(row, 1)
        column.addWidget(self.remember)
        column.addLayout(self._buttons())
        theme.changes.changed.connect(self.apply_theme)
        self.finished.connect(lambda: theme.changes.changed.disconnect(self.apply_theme))
        self.apply_theme()
        self.heading.setText(f"Reading <b>{html.escape(Path(self.file).name)}</b>…")
        for empty in (self.ways_title, self.table, self.picture):  # until there is something to show
            empty.hide()

    # building ---------------------------------------------------------------------------------------------
    def _left(self) -> QWidget:
        side = QWidget()
        side.setFixedWidth(SIDE)
        column = QVBoxLayout(side)
        column.setContentsMargins(3, 3, 3, 3)  # the ring round what has the keyboard
        column.setSpacing(6)
        self.ways_title = _bold("Read it as")
        self.group = QButtonGroup(self)
        self.ways_box = QVBoxLayout()
        self.form = QFormLayout()
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        column.addWidget(self.ways_title)
        column.addLayout(self.ways_box)
        column.addSpacing(6)
        column.addLayout(self.form)
        column.addStretch(1)
        return side

    def _right(self) -> QVBoxLayout:
        self.table = QTableWidget()
        self.table.setAccessibleName("The first lines of the file")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table.verticalHeader().setDefaultSectionSize(22)
        self.picture = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.picture.setAccessibleName("Preview")
        self.picture.setMinimumSize(200, 200)
        self.told = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.told.setAccessibleName("What comes of it")
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = QVBoxLayout()
        column.setSpacing(10)
        column.addWidget(self.table, 1)
        below = QHBoxLayout()
        below.setSpacing(12)
        below.addWidget(self.picture)
        below.addWidget(self.told, 1)
        column.addLayout(below)
        return column

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel, self.go = QPushButton("Cancel"), QPushButton("Open")
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        self.go.setDefault(True)
        self.go.setEnabled(False)
        self.go.clicked.connect(self._accept)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    # what is chosen ---------------------------------------------------------------------------------------
    @property
    def text(self) -> str:
        """Return the data with what is chosen of them."""
        return with_asked(self.file, self.said, self.part)

    def _accept(self) -> None:
        self.accepted_data.emit(self.text, self.remember.isChecked())
        self.accept()

    def _way_chosen(self, name: str, on: bool) -> None:
        if on and not self._filling:
            self.said, self.part = {AS: name}, ""
            self._ask()

    def _changed(self, choice: Choice) -> None:
        if self._filling:
            return
        editor = self.editors[choice.name]
        if isinstance(editor, QComboBox):
            value = str(editor.currentData())
        else:
            items = [editor.item(k) for k in range(editor.count())]
            checked = [i.data(Qt.ItemDataRole.UserRole) for i in items if i.checkState() is Qt.CheckState.Checked]
            value = ",".join(checked)
            if not value:  # nothing is no choice: what was chosen stays
                self._fill_again(choice)
                return
        way = next((name for name, button in self.ways.items() if button.isChecked()), "")
        self.said = ({AS: way} if way else {}) | {**self.said, choice.name: value}
        if choice.name == "header":  # the columns are counted anew
            self.said = {name: self.said[name] for name in (AS, "header") if name in self.said}
        self._ask()

    def _fill_again(self, choice: Choice) -> None:
        self._filling = True
        _check(self.editors[choice.name], choice)
        self._filling = False

    def _ask(self) -> None:
        self.go.setEnabled(False)
        self.told.setText("Reading…")
        self.told.setStyleSheet(f"color: {theme.current().muted};")
        self.asked.emit(self.text)

    # what was found ---------------------------------------------------------------------------------------
    def show_look(self, look: Look, model: str) -> None:
        """Show what comes of reading the data in one way; `model` is the title of the network that takes them."""
        self._filling = True
        name = html.escape(Path(self.file).name)
        several = sum(way.likely for way in look.ways) > 1
        self.heading.setText(
            f"<b>{name}</b> can be read in more than one way." if several else f"<b>{name}</b> is read like this."
        )
        self._show_ways(look)
        self._show_choices(look.choices)
        self._show_head(look)
        self.picture.setVisible(look.picture is not None)
        if look.picture is not None:
            self.picture.setPixmap(QPixmap.fromImage(rgb_image(look.picture)))
        else:
            self.picture.clear()
        said = [
            look.size[:1].upper() + look.size[1:],
            *look.notes,
            f"Shown in “{model}”" if model else "",
            look.problem,
        ]
        self.told.setText("\n".join(filter(None, said)))
        self.told.setStyleSheet(f"color: {theme.current().bad if look.problem else theme.current().text};")
        self.go.setEnabled(not look.problem)
        self._filling = False
        self._order()

    def _order(self) -> None:
        """Let Tab go from above to below: the ways and fields came after the buttons. The chosen way comes first."""
        chain = [*self.ways.values(), *self.editors.values(), self.remember, self.cancel, self.go]
        for one, two in pairwise(chain):
            self.setTabOrder(one, two)
        if not self._begun:
            self._begun = True
            (next((button for button in self.ways.values() if button.isChecked()), None) or chain[0]).setFocus()

    def _show_ways(self, look: Look) -> None:
        if not self.ways:
            for way in look.ways:
                button = QRadioButton(f"{way.title}{'' if way.likely else ' (unlikely)'}")
                button.setToolTip(f"{one_of(way.kind)}: as={way.name}")
                button.toggled.connect(partial(self._way_chosen, way.name))
                self.ways[way.name] = button
                self.group.addButton(button)
                self.ways_box.addWidget(button)
                button.show()  # layouts show what is new later, and what is not on screen yet gets no keyboard
        if look.way in self.ways:
            self.ways[look.way].setChecked(True)
            if AS not in self.said and look.way != look.ways[0].name:  # the first could not be read
                self.said = {**self.said, AS: look.way}
        self.ways_title.setVisible(bool(self.ways))

    def _show_choices(self, choices: tuple[Choice, ...]) -> None:
        same = [(c.name, c.options) for c in choices] == [(c.name, c.options) for c in self._choices]
        self._choices = choices
        if not same:
            while self.form.rowCount():
                self.form.removeRow(0)
            self.editors = {}
            for choice in choices:
                editor = _editor(choice)
                editor.setAccessibleName(choice.title)
                self.editors[choice.name] = editor
                label = QLabel(choice.title)
                label.setBuddy(editor)
                self.form.addRow(label, editor)
                editor.show()
        for choice in choices:
            editor = self.editors[choice.name]
            _check(editor, choice)
            if same:
                continue
            changed = editor.currentIndexChanged if isinstance(editor, QComboBox) else editor.itemChanged
            changed.connect(lambda *_, name=choice.name: self._changed(self._choice(name)))

    def _choice(self, name: str) -> Choice:
        return next(c for c in self._choices if c.name == name)

    def _show_head(self, look: Look) -> None:
        rows, columns = len(look.head), max(map(len, look.head), default=0)
        self.table.setVisible(bool(rows))
        self.table.setRowCount(rows)
        self.table.setColumnCount(columns)
        used = {int(k) for c in look.choices if c.several for k in c.value.split(",") if k.isdigit()}
        meant = {int(c.value): c.title.lower() for c in look.choices if c.value.isdigit() and not c.several}
        self.table.setHorizontalHeaderLabels(
            [f"{k}{f' {meant[k]}' if k in meant else ''}" for k in range(1, columns + 1)]
        )
        t = theme.current()
        tint = QColor(t.accent)
        tint.setAlpha(45)
        for r, cells in enumerate(look.head):
            for c in range(columns):
                item = QTableWidgetItem(cells[c] if c < len(cells) else "")
                if c + 1 in used:
                    item.setBackground(tint)
                elif c + 1 not in meant and (used or meant):
                    item.setForeground(QColor(t.muted))
                self.table.setItem(r, c, item)
        self.table.resizeColumnsToContents()

    def apply_theme(self) -> None:
        self.picture.setStyleSheet(f"background: {theme.current().panel}; border: 1px solid {theme.current().line};")


def _bold(text: str) -> QLabel:
    label = QLabel(text)
    font = label.font()
    font.setBold(True)
    label.setFont(font)
    return label


def _editor(choice: Choice) -> QComboBox | QListWidget:
    if not choice.several:
        combo = QComboBox()
        for value, title in choice.options:
            combo.addItem(title, value)
        return combo
    listed = QListWidget()
    listed.setFrameShape(QFrame.Shape.NoFrame)
    for value, title in choice.options:
        item = QListWidgetItem(title)
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable)
        item.setCheckState(Qt.CheckState.Unchecked)
        listed.addItem(item)
    rows = min(max(listed.count(), 1), MOST_ROWS)
    listed.setFixedHeight(rows * max(22, listed.sizeHintForRow(0)) + 8)
    return listed


def _check(editor: QComboBox | QListWidget, choice: Choice) -> None:
    """Show what is in use."""
    if isinstance(editor, QComboBox):
        editor.setCurrentIndex(max(0, editor.findData(choice.value)))
        return
    for k in range(editor.count()):
        item = editor.item(k)
        on = item.data(Qt.ItemDataRole.UserRole) in choice.value.split(",")
        item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
