"""Films: of a view along the orbit, one picture for each element once its frame is drawn, and of a mesh that turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QImage

from explorer.declare.elements import transforms
from explorer.declare.params import Param
from explorer.square.frame import Failure, Frame
from explorer.state.catalogue import Busy
from widgets.base.view import View, Wish
from widgets.window.controller import Controller

PICTURES = 72  # at most
FRAMES_PER_SECOND = 18.0
GIVEN_UP = "The film was given up, and nothing is written: what it is of was changed while it was taken."


class Recorder(QObject):
    """Steps through the orbit and grabs the view; the pictures are written on the worker thread.

    Anything that moves the state elsewhere, or a cancellation, ends the film. The element is as before then, unless it
    was moved.
    """

    finished = Signal()

    def __init__(self, controller: Controller, view: View, path: str) -> None:
        super().__init__(controller)
        self._controller = controller
        self._view = view
        self._path = path
        self._pictures: list[NDArray[np.uint8]] = []
        self._start = controller.state
        self._filming = False
        transform = transforms()[self._start.orbit]
        index = transform.orbit or 0
        param = transform.params[index]
        step = self._start.step(transform.name)
        held = step.values if step is not None else transform.defaults
        self.elements = [(*held[:index], v, *held[index + 1 :]) for v in along(param, *controller.player.span(param))]
        self._grab = QTimer(self, singleShot=True, interval=0)
        self._grab.timeout.connect(self._take_picture)

    def begin(self) -> None:
        self._filming = True
        self._controller.player.stop()
        self._controller.frame_ready.connect(self._frame_came)
        self._controller.failed.connect(self._request_failed)
        self._next()

    def stop(self) -> None:
        """End it; what is being written already is written."""
        if self._filming:
            self._end()

    def _next(self) -> None:
        done = len(self._pictures)
        if done == len(self.elements):
            self._write()
            return
        self._controller.busy.emit(Busy("Filming the orbit…", done / len(self.elements)))
        self._asked = self._start.with_step(self._start.orbit, self.elements[done])
        self._controller.grant(Wish(step=(self._start.orbit, self.elements[done]), tag="film"))
        if not self._controller.waiting:  # this is where the window stands already
            self._grab.start()

    def _frame_came(self, frame: Frame) -> None:
        moved = replace(frame.state, layer="", channel=None) != replace(self._asked, layer="", channel=None)
        if self._controller.state.steps != self._asked.steps or frame.state.epoch != self._asked.epoch:
            self._give_up()
        elif not moved:
            self._grab.start()  # after the views have drawn it

    def _request_failed(self, failure: Failure) -> None:
        if failure.where != "orbit":  # the curve is no part of the film
            self._end()

    def _take_picture(self) -> None:
        if self._controller.state.steps != self._asked.steps:
            self._give_up()
            return
        self._view.catch_up()
        self._view.settle()  # a stage in space is coarse while it moves
        picture = self._view.snapshot().toImage()
        if self._pictures:
            # a message that comes or goes above the stage changes its height; all pictures have one size
            height, width, _ = self._pictures[0].shape
            picture = picture.copy(0, 0, width, height)
        self._pictures.append(as_array(picture))
        self._next()

    def _write(self) -> None:
        self._end()
        write(self._controller, self._pictures, self._path, self.finished.emit)

    def _give_up(self) -> None:
        self._end()
        self._controller.told.emit(GIVEN_UP)

    def _end(self) -> None:
        self._filming = False
        self._grab.stop()
        self._controller.frame_ready.disconnect(self._frame_came)
        self._controller.failed.disconnect(self._request_failed)
        self._controller.busy.emit(Busy(""))
        self._controller.grant(Wish(done=True))
        if self._controller.state.steps == self._asked.steps:  # else somebody has moved it elsewhere meanwhile
            self._controller.set_steps(self._start.steps)


def along(param: Param, low: float, high: float) -> list[float]:
    """Return the values of a film: multiples of the parameter's step, so that what is exact is met, evenly apart."""
    step = param.step or (high - low) / PICTURES
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if param.periodic:
        last -= 1  # both ends are the same element
    stride = math.ceil((last - first + 1) / PICTURES) or 1
    begin = first + (-first) % stride if first <= 0 <= last else first  # the identity is one of them
    return [param.clamp(k * step) for k in range(begin, last + 1, stride)]


class Turntable(QObject):
    """Takes the pictures of a full turn, one in a turn of the event loop; they are written on the worker thread.

    A frame of another state, or `stop`, ends the film: nothing is written.
    """

    finished = Signal()

    def __init__(self, controller: Controller, pictures: Iterator[QImage], count: int, path: str) -> None:
        super().__init__(controller)
        self._controller, self._turn, self._count, self._path = controller, pictures, count, path
        self._state = controller.state
        self._pictures: list[NDArray[np.uint8]] = []
        self._next = QTimer(self, interval=0)
        self._next.timeout.connect(self._take_picture)

    def begin(self) -> None:
        self._controller.player.stop()
        self._controller.frame_ready.connect(self._frame_came)
        self._next.start()

    def stop(self) -> None:
        """End it; what is being written already is written."""
        if self._next.isActive():
            self._next.stop()
            self._controller.frame_ready.disconnect(self._frame_came)
            self._controller.busy.emit(Busy(""))

    def _frame_came(self, frame: Frame) -> None:
        if frame.state != self._state:  # not only measured more closely
            self.stop()
            self._controller.told.emit(GIVEN_UP)

    def _take_picture(self) -> None:
        picture = next(self._turn, None)
        if picture is not None:
            self._pictures.append(as_array(picture))
            self._controller.busy.emit(Busy("Filming a full turn…", len(self._pictures) / self._count))
            return
        self.stop()
        pictures, self._pictures = self._pictures, []
        write(self._controller, pictures, self._path, self.finished.emit)


def write(controller: Controller, pictures: Sequence[NDArray[np.uint8]], path: str, then: Callable[[], None]) -> None:
    """Write a film on the worker thread."""
    from widgets.figures import export

    def work(engine: Any) -> None:
        export.save_animation(pictures, path, FRAMES_PER_SECOND)

    controller.do(work, "Writing the film…", lambda _: then())


def as_array(image: QImage) -> NDArray[np.uint8]:
    """Return a picture as (height, width, 3) uint8."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()
