"""Fill the input of a network with numbers of its shape: noise, a ramp, one number, or a file for each input."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from widgets.base.controls.one_of import ask_one_of
from widgets.window.room.shell import Shell

TITLE = "Fill the input"
ASKED = "Numbers of this shape; another shape or file may stand in their place:"
NONE = "Data of this kind have no such fillings: choose a sample, or open a file."


class Filling(QObject):
    """Asks what x is filled with, and shows it; it can be undone like any other choice of data."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell = shell

    def ask(self) -> None:
        """Offer fillings of the shape that the network is given now."""
        state = self._shell.controller.state

        def work(engine: Any) -> tuple[str, ...]:
            found: tuple[str, ...] = engine.fillings(state)
            return found

        self._shell.controller.do(work, "Looking at the shape…", self._offer)

    def _offer(self, texts: tuple[str, ...]) -> None:
        if not texts:
            self._shell.say("info", NONE)
        else:
            ask_one_of(self._shell, TITLE, ASKED, texts, lambda text: self._shell.controller.change({"sample": text}))
