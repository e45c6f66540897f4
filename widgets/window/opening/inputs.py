"""Ask in the window what a network of a person's own takes, try it on the worker thread, and remember it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from explorer.declare.states.model_name import with_input
from explorer.declare.telling.asking import Declared
from explorer.square.frame import Failure
from explorer.state.state import State
from widgets.window.opening.input_page import InputPage
from widgets.window.opening.trouble import Trouble, caught
from widgets.window.room.shell import Shell

if TYPE_CHECKING:
    from explorer.app.answering.own_inputs import InputAsked


class Inputs(QObject):
    """Has at most one page open."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell, self._controller = shell, shell.controller
        self.page: InputPage | None = None

    def open(self, asked: InputAsked, then: Callable[[Any, str], None]) -> None:
        """Show what is asked; `then` gets the changes of the state, and the name, of the network that takes it."""
        if self.page is not None:
            self.page.close()
        page = InputPage(self._shell, asked)
        page.tried.connect(partial(self._try, page))
        page.accepted_input.connect(partial(self._accept, page, then))
        page.finished.connect(partial(self._closed, page))
        self.page = page
        page.open()

    def _closed(self, page: InputPage, result: int) -> None:
        if page is self.page:
            self.page = None

    def _try(self, page: InputPage, said: Declared) -> None:
        def done(result: Any) -> None:
            if page is self.page:
                bad = isinstance(result, Trouble)
                page.say(result.sentence if isinstance(result, Trouble) else f"It runs: {result}.", bad=bad)

        self._do(page, partial(_tried, page.asked.name, said), "Trying the network…", done)

    def _accept(self, page: InputPage, then: Callable[[Any, str], None], said: Declared, remember: bool) -> None:
        name = page.asked.name

        def done(result: Any) -> None:
            if isinstance(result, Trouble):
                if page is self.page:
                    page.say(result.sentence, bad=True)
                return
            changes, shown = result
            if page is self.page:
                page.accept()
            then(changes, shown)
            if remember:
                self._controller.told.emit(f"What it takes is remembered in {page.asked.beside}.")

        work = partial(_opened, name, said, remember, self._controller.state)
        self._do(page, work, "Opening the network…", done)

    def _do(self, page: InputPage, work: Callable[[Any], object], text: str, done: Callable[[Any], None]) -> None:
        """Do what the page asks for on the worker thread, until it is closed."""

        def ended(failure: Failure) -> None:
            if page is self.page:
                page.say(failure.sentence, bad=True)

        page.rejected.connect(self._controller.do(caught(work), text, done, ended))


def _tried(name: str, said: Declared, engine: Any) -> str:
    told: str = engine.tried(name, said)
    return told


def _opened(name: str, said: Declared, remember: bool, state: State, engine: Any) -> tuple[dict[str, object], str]:
    """Make the network with that input, and remember it if that is wanted: then its name needs not say it."""
    from explorer.app.answering.own_inputs import remembered

    engine.tried(name, said)
    if remember:
        remembered(name, said)
    shown = name if remember else with_input(name, said.text())
    return engine.open_model(shown, state), shown
