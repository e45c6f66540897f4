"""Declare what the worker thread is asked for, what it asks of an engine, and what it says in between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from explorer.declare.elements import Step
from explorer.square.frame import Failure, Frame, OrbitCurve
from explorer.state.catalogue import Catalogue
from explorer.state.state import State


class Engine(Protocol):
    """The half of the program that the worker thread runs. Every method is called on that thread only."""

    def catalogue(self) -> Catalogue:
        """Return what there is to choose from, without what takes long."""

    def illustrate(self, catalogue: Catalogue) -> Iterator[Catalogue | None]:
        """Yield fuller catalogues, and None in between: a request may be answered there."""

    def first_steps(self, state: State) -> tuple[Step, ...]:
        """Return steps that show something of the data of a state: its own, where they do."""

    def answer(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        """Return the frame of `state`; ask `cancelled` between layers and raise `Cancelled` if it is so."""

    def refine(self, frame: Frame) -> Iterator[Frame]:
        """Yield the same frame with ever more measured, or the one before; between two a request may be answered."""

    def orbit(self, state: State) -> Iterator[OrbitCurve | None]:
        """Yield ever more complete curves, of one model each; between two a request may be answered."""

    def close(self) -> None:
        """Let go of processes, files and memory."""


Task = Callable[[Any], object]
"""One-off work: takes the engine, returns a result, or a generator that yields Busy and returns a result."""


@dataclass(frozen=True, slots=True)
class TaskDone:
    """The end of a task: its result, or a Failure."""

    tag: str
    result: object


@dataclass(frozen=True, slots=True)
class NoEngine:
    """The engine could not be made, or broke down: nothing will be answered any more."""

    failure: Failure


def new_only(frames: Iterator[Frame]) -> Iterator[Frame | None]:
    """Yield None in place of a frame that came before: something is waited for, and nothing is to be drawn again."""
    last: Frame | None = None
    for frame in frames:
        yield None if frame is last else frame
        last = frame


@dataclass(frozen=True, slots=True)
class Printed:
    """Text that the code of a network has printed, up to a bound."""

    text: str


@dataclass(slots=True, eq=False)
class Job:
    """A task that waits or is under way; any thread may say that it is unwanted."""

    work: Task
    tag: str
    text: str
    begun: bool = False
    told: bool = False  # whether the person reads about it already
    unwanted: bool = False
    steps: Generator[object, None, object] | None = None

    def cancelled(self, state: State) -> TaskDone:
        return TaskDone(self.tag, Failure(state, f"{self.text.rstrip('…. ')}: cancelled.", cancelled=True))
