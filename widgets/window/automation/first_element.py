"""Begin with an element that shows something: the identity proves nothing."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from explorer.declare.elements import parse_chain
from explorer.declare.space import kinds
from explorer.state.state import orbit_for
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
        elif (kind := kinds().get(controller.domain)) is not None:
            self._done()
            steps = parse_chain(kind.showcase)
            controller.start_from(replace(controller.state, steps=steps, orbit=orbit_for(controller.state, steps)))
            if controller.frame is not None:  # else the state is asked for when all is known of it
                controller.refresh()

    def _done(self) -> None:
        self._controller.catalogue_ready.disconnect(self._look)
        self._controller.frame_ready.disconnect(self._look)
