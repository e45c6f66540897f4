"""Begin with data of the model's own where those that the program was started with cannot be shown."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from explorer.square.frame import Failure
from widgets.window.room.shell import Shell


class FirstData(QObject):
    """Says why a file given at the start is not shown, and shows the model with its own data: else nothing would be.

    Later there is something on the stage, which stays. A network of a person's own has no data of its own to show.
    """

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self._shell, self._controller = shell, shell.controller
        self._last: Failure | None = None
        self._controller.failed.connect(self._hear)
        self._controller.request_failed.connect(self._look)
        self._controller.frame_ready.connect(self._done)

    def _hear(self, failure: Failure) -> None:
        self._last = failure

    def _look(self) -> None:
        controller, failed, catalogue = self._controller, self._last, self._controller.catalogue
        if failed is None or failed.cancelled or catalogue is None or failed.state.epoch != controller.state.epoch:
            return
        info = catalogue.by_name.get(controller.state.model)
        file = controller.state.sample not in {one.name for one in catalogue.samples}
        if info is None or not info.sample or not file:
            return
        controller.start_from(replace(controller.state, sample=info.sample))
        self._shell.say("warning", f"{failed.sentence.rstrip('.')}. In its place {info.sample} is shown.")
        self._shell.stack.setCurrentWidget(self._shell.loading)  # and no empty panels meanwhile
        controller.refresh()

    def _done(self, _: object) -> None:
        self._controller.failed.disconnect(self._hear)
        self._controller.request_failed.disconnect(self._look)
        self._controller.frame_ready.disconnect(self._done)
