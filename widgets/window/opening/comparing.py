"""Choose the run that the present one is compared with: other weights, another input, or the one shown now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from explorer.declare.space import same_space
from explorer.state.runs import run_text
from widgets.base.controls.one_of import ask_one_of
from widgets.window.room.shell import Shell

WEIGHTS = "Weights (*.safetensors *.pt *.pth);;All files (*)"
FILE = "A file…"
TITLE = "Compare with another input"


class Comparing(QObject):
    """Asks what to compare with, and changes the state so; every choice can be undone.

    Args:
        ask_open: (title, filters) -> a path, or "" where the person has thought better of it.
    """

    def __init__(self, shell: Shell, ask_open: Callable[[str, str], str]) -> None:
        super().__init__(shell)
        self._shell, self._ask_open = shell, ask_open

    def ask_weights(self) -> None:
        """Show the same network with the weights of a file beside it."""
        if path := self._ask_open("Compare with other weights", WEIGHTS):
            self.with_weights(path)

    def with_weights(self, path: str) -> None:
        """Show the network in use with the weights of a file beside it, once they are seen to fit."""
        c, state = self._shell.controller, self._shell.controller.state

        def work(engine: Any) -> str:
            opened = engine.open(path, state)
            if "model" not in opened:  # what is no weights is data, whatever its name
                raise ValueError(f"{Path(path).name} holds data and no weights: choose a file of weights")
            if opened["model"] == state.model:  # a run beside itself would be shown as none
                raise ValueError(f"{Path(path).name} holds the weights in use: choose other ones to compare with")
            return str(opened["model"])

        def done(name: str) -> None:
            c.change({"compare": name, "against": ""})
            self._shell.show_view("differences")

        c.do(work, f"Opening {Path(path).name}…", done)

    def ask_input(self) -> None:
        """Compare with the same network on other data."""
        c = self._shell.controller
        samples = c.catalogue.samples if c.catalogue is not None else ()
        fit = {s.title: s.name for s in samples if same_space(s.domain, c.domain) and s.name != c.state.sample}

        def chosen(title: str) -> None:
            sample = self._ask_open(TITLE, "All files (*)") if title == FILE else title
            if sample:
                self.with_input(fit.get(sample, sample))

        ask_one_of(self._shell, TITLE, "Data, the name of a sample, or a file:", [*fit, FILE], chosen)

    def with_input(self, sample: str) -> None:
        """Compare with the same network on a sample."""
        self._shell.controller.change({"against": run_text(sample=sample)})
        self._shell.show_view("differences")

    def hold(self) -> None:
        """Keep the run that is shown, and compare what comes with it."""
        c, state = self._shell.controller, self._shell.controller.state

        def done(text: str) -> None:
            c.change({"against": text})
            self._shell.show_view("differences")
            c.told.emit("This run is held: whatever you change now is compared with it, layer by layer.")

        c.do(lambda engine: engine.hold(state), "Holding this run…", done)

    def stop(self) -> None:
        """Compare with nothing any more."""
        self._shell.controller.change({"against": "", "compare": ""})
