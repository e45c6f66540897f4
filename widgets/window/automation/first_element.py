"""Begin with an element that shows something: the identity proves nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject

from explorer.declare.elements import Step, parse_chain
from explorer.declare.space import kinds
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
        kind = kinds().get(controller.domain)
        if controller.state.steps:
            self._done()
        elif kind is not None:
            self._done()
            state = controller.state
            if controller.frame is None:
                controller.held = True  # a frame of the identity would be thrown away
            else:  # the network may be slow, and measured meanwhile: it is turned now, and otherwise where need be
                self._begin(parse_chain(kind.showcase))
            shown = controller.state.steps
            controller.do(
                lambda engine: _first(engine, state, shown), "Reading the data…",
                lambda steps: self._take(steps, shown), lambda _: self._take(shown, shown),
            )  # fmt: skip

    def _take(self, steps: tuple[Step, ...], shown: tuple[Step, ...]) -> None:
        """Take the element, unless another one has been chosen meanwhile, and ask for the first frame."""
        held, self._controller.held = self._controller.held, False
        if self._controller.state.steps == shown != steps:
            self._begin(steps)
        elif held:
            self._controller.refresh()

    def _begin(self, steps: tuple[Step, ...]) -> None:
        state = self._controller.state
        self._controller.start_from(replace(state, steps=steps, orbit=orbit_for(state, steps)))
        self._controller.refresh()

    def _done(self) -> None:
        self._controller.catalogue_ready.disconnect(self._look)
        self._controller.frame_ready.disconnect(self._look)


def _first(engine: Any, state: State, shown: tuple[Step, ...]) -> tuple[Step, ...]:
    try:
        steps: tuple[Step, ...] = engine.first_steps(state)
    except (ValueError, OSError):  # the frame that is asked for next says it
        return shown
    return steps
