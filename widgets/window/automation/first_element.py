"""Begin with an element that shows something: the identity proves nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject

from explorer.declare.elements import Step
from explorer.state.state import State, orbit_for
from widgets.window.controller import Controller


class FirstElement(QObject):
    """Takes the first element of a program that was started without one, as soon as the kind of data is known."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._controller = controller
        controller.catalogue_ready.connect(self._look)
        controller.frame_ready.connect(self._look)

    def _look(self, _: object) -> None:
        controller = self._controller
        if controller.state.steps:
            self._done()
        elif controller.domain:
            self._done()
            state = controller.state
            controller.held = True  # a frame of the identity would be thrown away
            controller.do(lambda e: _first(e, state), "Reading the data…", self._take, lambda _: self._take(()))

    def _take(self, steps: tuple[Step, ...]) -> None:
        """Take the element, unless another one has been chosen meanwhile, and ask for the first frame."""
        controller = self._controller
        controller.held = False
        state = controller.state
        if not state.steps:
            controller.start_from(replace(state, steps=steps, orbit=orbit_for(state, steps)))
        controller.refresh()

    def _done(self) -> None:
        self._controller.catalogue_ready.disconnect(self._look)
        self._controller.frame_ready.disconnect(self._look)


def _first(engine: Any, state: State) -> tuple[Step, ...]:
    try:
        steps: tuple[Step, ...] = engine.first_steps(state)
    except (ValueError, OSError):  # the frame that is asked for next says it
        return ()
    return steps
