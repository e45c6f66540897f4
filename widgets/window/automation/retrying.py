"""Try again what could not be opened, once its file has been mended."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from explorer.declare.states.model_name import files_of
from explorer.state.state import State
from explorer.work.files.stamps import stamp
from widgets.window.automation.watching import FileWatch
from widgets.window.controller import Controller


class Hopes(QObject):
    """Watches the files of the last state that was given up, until another one is chosen."""

    again = Signal()  # it is tried again: what was said about it is over

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._controller = controller
        self._wanted: State | None = None
        self.files = FileWatch(self)
        self.files.changed.connect(self._try_again)
        controller.gave_up.connect(self._hope)
        controller.state_changed.connect(self._moved_on)

    def _hope(self, state: State) -> None:
        self._wanted = state
        names = (state.model, *state.compared)
        self.files.watch((path, stamp(path)) for name in names for path in files_of(name))

    def _moved_on(self, old: State, new: State) -> None:
        if new.epoch != old.epoch:
            self._wanted = None
            self.files.stop()

    def _try_again(self) -> None:
        if self._wanted is not None:
            self.again.emit()
            self._controller.open_state(self._wanted)

    def stop(self) -> None:
        self.files.stop()
