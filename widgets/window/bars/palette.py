"""The command palette: every action by a few letters of its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import shiboken6
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QColor, QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QMenu, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from widgets.base.look import theme

WIDTH, ROWS = 640, 12
ROOM = 40  # pixels round the text of a column
PLACE = 340  # pixels at most of the menus in which an action is found; the rest is in the tool tip
# points for each letter of what is found here and there: the initials of words; of longer ones also whole pieces, fewer
# are letters that happen to occur
INITIALS, SHORT, PIECES = 0.59, 4, 0.8
WHOLE = 1.0  # points more for a word that is a whole one: "4" in "digit 4", not in "40 digits"
BEGUN = 1.5  # points more where a name begins with all that was typed
NAMED = 1.0  # points more for a word that begins one of the action's own name, not only one of the menus it is in
TOLD = -4.0  # points where only the sentence about an action has a word
FILE, CHOICE = 6.0, 0.5  # what a name of a file, and one of several choices, lies behind an action


def score(query: str, text: str, tip: str = "") -> float | None:
    """Return how well `query` fits `text`, or None when its letters do not occur there in this order.

    Every word of the query must be found; those of the `tip`, which says more, count least, and whole. Letters in a row
    count, and so does the start of a word: "ro 9" finds "Transform › Rotate by 90°" before "Turn round".
    """
    total, name = 0.0, text.lower().rpartition(" › ")[2]
    for word in query.lower().split():
        found = _best(word, text.lower())
        if found is None:
            told = f"{text} {tip}".lower()
            return TOLD - 0.01 * len(text) if all(one in told for one in query.lower().split()) else None
        total += found + (NAMED if _begins(word, name) else 0.0)
    return total + (BEGUN if name.startswith(query.strip().lower()) else 0.0) - 0.01 * len(text)


def _best(word: str, text: str) -> float | None:
    """Return the best of: the word as it stands (better at a word's start), its letters here and there."""
    at = text.find(word)
    if _begins(word, text):
        return 4.0 * len(word) + 2.0 + (WHOLE if _begins(word, text, whole=True) else 0.0)
    if at >= 0:
        return 3.0 * len(word)
    total, position, previous = 0.0, 0, -2
    for letter in word:
        position = text.find(letter, position)
        if position < 0:
            return None
        fresh = position == 0 or not text[position - 1].isalnum()
        total += 1.0 if position == previous + 1 else 0.6 if fresh else 0.1
        previous = position
        position += 1
    return total if total >= (INITIALS if len(word) <= SHORT else PIECES) * len(word) else None


def _begins(word: str, text: str, whole: bool = False) -> bool:
    """Return whether a word of the text begins so, or is that as a whole."""
    starts = (i for i in range(len(text)) if text.startswith(word, i) and (i == 0 or not text[i - 1].isalnum()))
    return any(not whole or not text[i + len(word) : i + len(word) + 1].isalnum() for i in starts)


def actions_of(menus: Sequence[QMenu], usable: bool = True) -> Iterator[tuple[str, QAction]]:
    """Yield every action under the menus, with its path such as "Edit › Undo"; the `usable` ones or all."""
    for menu in menus:
        if menu.property("twice"):  # what is in another menu too
            continue
        menu.aboutToShow.emit()  # menus that are filled when opened
        title = _plain(menu.title())
        for action in menu.actions():
            inner = action.menu()
            if isinstance(inner, QMenu):
                if usable and not action.isEnabled():
                    continue  # of a hidden menu, the actions inside do not know it
                for path, one in actions_of([inner], usable):
                    yield f"{title} › {path}", one
            elif not action.isSeparator() and action.text() and (action.isEnabled() or not usable):
                action.setProperty("file", menu.property("files"))
                yield f"{title} › {_plain(action.text())}", action


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")


def _keys(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


class Palette(QFrame):
    """A line to type in and the actions that fit, over the upper part of the window."""

    def __init__(self, parent: QWidget, opener: QAction) -> None:
        super().__init__(parent)
        self._window = parent
        self._opener = opener
        self.setObjectName("palette")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self._actions: list[tuple[str, QAction]] = []
        self._listed: list[tuple[str, QAction]] = []  # the rows
        self._collect: Callable[[], Iterable[tuple[str, QAction]]] = tuple
        self.line = _Line(self)
        self.line.setPlaceholderText("What do you want to do?")
        self.line.setAccessibleName("Command")
        self.line.textChanged.connect(self._filter)
        self.list = QTreeWidget()
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setColumnCount(3)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformRowHeights(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(lambda item: self._run(item))
        self.nothing = QLabel(self.list.viewport(), textFormat=Qt.TextFormat.PlainText)
        self.nothing.setContentsMargins(8, 8, 8, 8)
        self.list.header().setStretchLastSection(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.line)
        column.addWidget(self.list)
        self.hide()

    def open(self, collect: Callable[[], Iterable[tuple[str, QAction]]]) -> None:
        """Show the palette over the actions that `collect` gives, which is asked again when menus were filled anew."""
        self._collect = collect
        self._actions = list(collect())
        t = theme.current()
        self.setStyleSheet(
            f"#palette {{ background: {t.panel}; border: 1px solid {t.line}; border-radius: 8px; }}"
            f"#palette QLineEdit {{ padding: 6px 8px; border: 1px solid {t.line}; border-radius: 4px; }}"
            f"#palette QTreeWidget::item {{ padding: 4px 6px; }}"
        )
        self.line.clear()
        self._filter("")
        names, places, keys = self._longest()
        outside = 20 + self.list.verticalScrollBar().sizeHint().width()
        width = min(max(WIDTH, names + places + keys + outside), self._window.width() - 32)
        inside = width - outside
        # where it is found may be cut before its name is
        names = min(names, inside - keys - 60)
        self.list.setColumnWidth(0, names)
        self.list.setColumnWidth(1, inside - names - keys)
        self.list.setColumnWidth(2, keys)
        row = max(20, self.list.sizeHintForRow(0))
        self.list.setFixedHeight(row * ROWS + 4)
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((self._window.width() - width) // 2, 48)
        self.show()
        self.raise_()
        self.line.setFocus()

    def _longest(self) -> tuple[int, int, int]:
        """Return the widths of the columns: names of actions (those of files may be cut), their menus, their keys."""
        rows = [(*path.rpartition(" › ")[::2], _keys(one)) for path, one in self._actions if not one.property("file")]
        long = [max(map(self.list.fontMetrics().horizontalAdvance, texts), default=0) for texts in zip(*rows)]
        places, names, keys = long or (0, 0, 0)
        return names + ROOM, min(places, PLACE) + ROOM // 2, keys + ROOM // 2

    def opens(self, event: QKeyEvent) -> bool:
        """Open it afresh, without what was typed, where its own keys are pressed once more; say whether they are."""
        own = QKeySequence(event.keyCombination()) in self._opener.shortcuts()
        if own:
            self._opener.trigger()
        return own

    def dismiss(self) -> None:
        """Close it, and give the keyboard back to the window."""
        if self.isVisible():
            self.hide()
            self._actions, self._listed, self._collect = [], [], tuple
            self.list.clear()
            self._window.setFocus()

    @property
    def offered(self) -> list[tuple[str, QAction]]:
        """Return the path of every action, and the action."""
        return list(self._actions)

    def shown(self) -> list[str]:
        """Return the paths of what is in the list, the best first."""
        return [path for path, _ in self._listed]

    def move_by(self, rows: int) -> None:
        count = self.list.topLevelItemCount()
        self._select((self.list.currentIndex().row() + rows) % count if count else 0)

    def run_current(self) -> None:
        self._run(self.list.currentItem())

    def _run(self, item: QTreeWidgetItem | None) -> None:
        if item is None:
            return
        path, chosen = self._listed[self.list.indexOfTopLevelItem(item)]
        found: QAction | None = chosen
        if not shiboken6.isValid(chosen):
            self._renew()
            found = dict(self._actions).get(path)
        self.dismiss()
        if found is not None:
            found.trigger()

    def _renew(self) -> None:
        """Collect the actions again if a menu was filled anew since, as when more models have been found."""
        if not all(shiboken6.isValid(action) for _, action in self._actions):
            self._actions = list(self._collect())

    def _filter(self, query: str) -> None:
        self._renew()
        fits = []
        for i, (path, action) in enumerate(self._actions):
            if (found := score(query, path, action.statusTip())) is not None:
                behind = FILE if action.property("file") else CHOICE if action.isCheckable() else 0.0
                # nothing typed yet: what one does comes first, in the order of the menus, then what one chooses
                fits.append((found - behind if query.strip() else -behind, -i, path, action))
        self.list.clear()
        self._listed.clear()
        muted = QColor(theme.current().muted)
        for _, _, path, action in sorted(fits, key=lambda f: (f[0], f[1]), reverse=True)[:100]:
            where, _, name = path.rpartition(" › ")
            item = QTreeWidgetItem([("✓ " if action.isChecked() else "") + name, where, _keys(action)])
            for column, told in enumerate((path, where)):
                item.setToolTip(column, told)
            for column in (1, 2):
                item.setForeground(column, muted)
            item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._listed.append((path, action))  # an item that held the action itself would outlive it
            self.list.addTopLevelItem(item)
        self.nothing.setText("" if fits else f"Nothing here is called “{query.strip()}”.")
        self.nothing.setStyleSheet(f"color: {theme.current().muted};")
        self.nothing.adjustSize()
        self._select(0)

    def _select(self, row: int) -> None:
        item = self.list.topLevelItem(row)
        if item is None:
            return
        # the whole chosen row has the colour of what is chosen: grey could not be read on it
        for one, colour in ((self.list.currentItem(), theme.current().muted), (item, None)):
            for column in (1, 2):
                if one is not None:
                    one.setData(column, Qt.ItemDataRole.ForegroundRole, QColor(colour) if colour else None)
        self.list.setCurrentItem(item)


class _Line(QLineEdit):
    """Keeps its keys to itself: Escape closes the palette and cancels nothing else."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette)
        self._palette = palette

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape:
                self._palette.dismiss()
            case Qt.Key.Key_Down:
                self._palette.move_by(1)
            case Qt.Key.Key_Up:
                self._palette.move_by(-1)
            case Qt.Key.Key_PageDown | Qt.Key.Key_PageUp:
                self._palette.move_by(ROWS if event.key() == Qt.Key.Key_PageDown else -ROWS)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._palette.run_current()
            case _ if not self._palette.opens(event):
                super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        # a popup (the line's own context menu) takes the focus for a moment only
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.MenuBarFocusReason):
            self._palette.dismiss()
