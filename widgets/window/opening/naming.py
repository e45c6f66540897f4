"""The page on which a network is named as on the command line: timm:resnet18, a folder, net.py:Net(3)."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from explorer.declare.states.model_name import code_of, split_call, split_name
from explorer.square.frame import Failure
from explorer.state.catalogue import Busy
from explorer.work.files.places import at_home
from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.window.opening.trouble import Trouble, caught, problem_style
from widgets.window.room.shell import Shell

if TYPE_CHECKING:  # the worker makes it, with torch
    from explorer.network.opening.way import Offer

WIDTH = 620
ROWS = 12  # of the list below the line
FILES = "net.py:Net(3), net.pt2, d4-cnn@weights.safetensors: what a command takes behind --model"


class NamePage(Dialog):
    """Takes a name and completes it; what is opened is a signal, and what then goes wrong is said here."""

    about = "Open model by name"
    accepted_name = Signal(str)
    listing = Signal(str)  # the prefix whose names are to be listed, each once

    def __init__(self, parent: QWidget, name: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("name-page")
        self.setWindowTitle("Open model by name")
        self.setMinimumWidth(WIDTH)
        self._offers: tuple[Offer, ...] = ()
        self._asked: set[str] = set()
        self._names = QStringListModel(self)
        self.line = QLineEdit(name)
        self.line.setAccessibleName("Name of the model")
        self.line.setPlaceholderText("timm:resnet18")
        self.completer = QCompleter(self._names, self)
        self.completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.completer.setMaxVisibleItems(ROWS)
        self.line.setCompleter(self.completer)
        self.line.textChanged.connect(self._typed)
        self.line.returnPressed.connect(self._go)
        self.folder = QPushButton("Folder…")
        self.folder.setToolTip("Choose the folder of a model")
        self.folder.setAutoDefault(False)
        self.folder.clicked.connect(self._choose)
        self.told = QLabel(textFormat=Qt.TextFormat.RichText, wordWrap=True)
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.problem.setAccessibleName("What went wrong")
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem.hide()
        self.working = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.working.setAccessibleName("What is being done")
        self.cancel = QPushButton("Cancel")
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        self.go = QPushButton("Open")
        self.go.setAutoDefault(False)  # Return in the line opens, and not what has the focus by chance
        self.go.clicked.connect(self._go)
        above, below = QHBoxLayout(), QHBoxLayout()
        above.addWidget(self.line, 1)
        above.addWidget(self.folder)
        below.addWidget(self.working, 1)
        below.addWidget(self.cancel)
        below.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(12)
        column.addLayout(above)
        column.addWidget(self.told)
        column.addWidget(self.problem)
        column.addStretch(1)
        column.addLayout(below)
        theme.changes.changed.connect(self.apply_theme)
        self.finished.connect(lambda: theme.changes.changed.disconnect(self.apply_theme))
        self.apply_theme()
        self._typed()
        self.line.setFocus()

    # what is known ----------------------------------------------------------------------------------------
    def show_offers(self, offers: Sequence[Offer]) -> None:
        """Say what can be opened, and what has to be installed for it."""
        self._offers = tuple(offers)
        self._complete()
        self.apply_theme()
        self._typed()

    def show_names(self, prefix: str, names: Sequence[str]) -> None:
        """Complete to these from now on."""
        self._complete(names)
        if self.line.text().startswith(prefix) and self.line.hasFocus():
            self.completer.complete()

    def _complete(self, names: Sequence[str] = ()) -> None:
        known = [*self._names.stringList(), *names] or [offer.prefix for offer in self._offers if offer.prefix]
        self._names.setStringList(list(dict.fromkeys(known)))

    # what is typed ----------------------------------------------------------------------------------------
    def _typed(self) -> None:
        text = self.line.text().strip()
        self.go.setEnabled(bool(text))
        self.problem.hide()
        for offer in self._offers:
            if offer.prefix and text.startswith(offer.prefix) and offer.prefix not in self._asked:
                self._asked.add(offer.prefix)
                if offer.ready:
                    self.listing.emit(offer.prefix)
            if offer.prefix and text.startswith(offer.prefix) and not offer.ready:
                self.say(f"{offer.told}. Start the program again once it is.")

    def _choose(self) -> None:
        if path := self.ask_folder():
            self.line.setText(path)

    def ask_folder(self) -> str:
        """Return the folder that a person chooses; tests answer in their place."""
        return QFileDialog.getExistingDirectory(self, "Folder of a model", self.line.text())

    def _go(self) -> None:
        text = self.line.text().strip()
        if not self.go.isEnabled() or not text:
            return
        self.problem.hide()
        self.go.setEnabled(False)
        self.accepted_name.emit(text)

    def tell(self, text: str, fraction: float | None) -> None:
        """Say how far what was asked for is."""
        share = "" if fraction is None or not text else f" {fraction:.0%}"
        self.working.setText(f"{text}{share}")

    def say(self, sentence: str, *_: Any) -> None:
        """Say what went wrong; another name may be given."""
        self.working.clear()
        self.problem.setText(sentence)
        self.problem.show()
        self.go.setEnabled(bool(self.line.text().strip()))

    # what is shown ----------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        t = theme.current()
        rows = []
        for offer in self._offers:
            if not offer.told:  # a file, of which the last line speaks
                continue
            ink = t.muted if offer.ready else t.second
            more = f"<br><span style='color:{ink}'>{html.escape(offer.told)}</span>"
            rows.append(f"<p style='margin:0 0 6px 0'>{html.escape(offer.form)}{more}</p>")
        rows.append(f"<p style='margin:0; color:{t.muted}'>{html.escape(FILES)}</p>")
        self.told.setText("".join(rows))
        self.problem.setStyleSheet(problem_style())


class ByName(QObject):
    """Has at most one page open, and makes what is named on the worker thread.

    Args:
        reopen: opens what lies in a file or a folder, and asks first where that is code.
        shown: (changes of the state, name): shows a network that was made.
    """

    def __init__(self, shell: Shell, reopen: Callable[[str], None], shown: Callable[[Any, str], None]) -> None:
        super().__init__(shell)
        self._shell, self._controller = shell, shell.controller
        self._reopen, self._shown = reopen, shown
        self.page: NamePage | None = None
        self._controller.busy.connect(self._tell)

    def ask(self, name: str = "") -> None:
        """Show the page."""
        if self.page is not None:
            self.page.close()
        page = NamePage(self._shell, name)
        page.listing.connect(partial(self._list, page))
        page.accepted_name.connect(partial(self._accept, page))
        page.finished.connect(self._closed)
        self.page = page
        page.open()
        self._do(page, lambda _: _offers(), "Looking at what is installed…", page.show_offers)

    def _closed(self) -> None:
        self.page = None

    def _tell(self, busy: Busy) -> None:
        if self.page is not None:
            self.page.tell(busy.text, busy.fraction)

    def _list(self, page: NamePage, prefix: str) -> None:
        self._do(page, lambda _: _listed(prefix), f"Listing {prefix}…", partial(page.show_names, prefix))

    def _accept(self, page: NamePage, name: str) -> None:
        file = split_call(split_name(name)[0])[0]
        there = os.path.exists(at_home(file))
        if code_of(name) is not None and not there:
            page.say(f"There is no file {file}.")
        elif there:
            page.accept()
            self._reopen(name)
        else:
            self.make(name, page)

    def make(self, name: str, page: NamePage | None = None) -> None:
        """Make a network that needs no word of trust, or has it, and show it; what goes wrong is said on the page."""
        state = self._controller.state

        def done(changes: Any) -> None:
            if page is not None and page is self.page:
                page.accept()
            self._shown(changes, name)

        self._do(page, lambda engine: engine.open_model(name, state), f"Opening {name}…", done)

    def _do(self, page: NamePage | None, work: Callable[[Any], object], text: str, done: Callable[[Any], None]) -> None:
        """Do what is asked for on the worker thread, until the page is closed."""

        def ended(failure: Failure) -> None:
            if page is not None and page is self.page:
                page.say(failure.sentence)

        def answered(result: Any) -> None:
            if not isinstance(result, Trouble):
                done(result)
            elif page is not None and page is self.page:
                self._controller.log.emit("error", result.sentence)
                page.say(result.sentence)
            else:
                self._shell.say("error", result.sentence)

        give_up = self._controller.do(caught(work), text, answered, ended)
        if page is not None:
            page.rejected.connect(give_up)


def _offers() -> object:
    from explorer.network.opening.way import offers

    return offers()


def _listed(prefix: str) -> object:
    from explorer.network.opening.way import listed

    return listed(prefix)
