"""Open the page of a training for the network in use, and show what comes of it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import WEIGHTS_MARK, split_name
from widgets.window.room.shell import Shell
from widgets.window.training.page import TrainPage


class Trainer(QObject):
    """Has at most one page open."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell = shell
        self.page: TrainPage | None = None

    def card(self) -> ModelInfo | None:
        """Return the card in use if it can be trained, also one that is shown with other weights."""
        controller = self._shell.controller
        name, _ = split_name(controller.state.model)
        models = controller.catalogue.models if controller.catalogue is not None else ()
        return next((m for m in models if m.name == name and m.trainable), None)

    def open(self) -> None:
        if (info := self.card()) is None:
            self._shell.say("info", "This network has no training of its own.")
            return
        if self.page is not None and self.page.info.name != info.name:
            self.close()
        if self.page is None:
            self.page = TrainPage(self._shell, info, str(self._shell.settings.value("folder", "")))
            self.page.trained.connect(self._trained)
        self.page.show()
        self.page.raise_()

    def _trained(self, card: str, path: str) -> None:
        """Show the card with its new weights; the element, and the layer where it is the same network, stay."""
        controller = self._shell.controller
        state = controller.state
        same = split_name(state.model)[0] == card
        kept = {"params": state.params, "layer": state.layer, "sample": state.sample} if same else {}
        controller.change({"model": f"{card}{WEIGHTS_MARK}{path}", **kept})

    def close(self) -> None:
        """End what runs."""
        if self.page is not None:
            self.page.close()
            self.page.deleteLater()
            self.page = None
