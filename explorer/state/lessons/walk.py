"""The way of a person through a lesson: what was seen once stays done, also when it is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from explorer.state.lessons.pattern import Sight, holds
from explorer.state.lessons.tasks import Task
from explorer.state.state import State


class Walk:
    """Keeps which steps are done, and of each step which of its patterns have been seen."""

    def __init__(self, tasks: Sequence[Task], done: str = "") -> None:
        """Begin; `done` is what `marks` gave the last time, and counts only where the steps are as many."""
        self.tasks = tuple(tasks)
        self._seen = [[False] * len(task.patterns) for task in self.tasks]
        self._since: dict[int, State] = {}  # of steps in order: what was there when the last pattern was seen
        fits = len(done) == len(self.tasks)
        self.done = [fits and done[k] == "1" for k in range(len(self.tasks))]

    @property
    def current(self) -> int:
        """The first step that is not done; as many as there are when all are."""
        return next((k for k, done in enumerate(self.done) if not done), len(self.done))

    @property
    def finished(self) -> bool:
        return all(self.done)

    @property
    def marks(self) -> str:
        """Return what is done as text, to be kept."""
        return "".join("1" if done else "0" for done in self.done)

    def parts(self, k: int) -> tuple[int, int]:
        """Return how many of a step's patterns have been seen, and of how many."""
        return sum(self._seen[k]), len(self._seen[k])

    def since(self, k: int, start: State) -> State:
        """Return what a change of step `k` is counted from: in order, the state at which the pattern before was seen.

        What the steps before have changed would else be taken for what this one asks for.
        """
        return self._since.get(k, start)

    def see(self, sight: Sight) -> bool:
        """Take note of what is seen now; return whether anything of that is new."""
        new = False
        for k, task in enumerate(self.tasks):
            if self.done[k] or not task.patterns:
                continue
            seen, asked = self._seen[k], replace(sight, start=self.since(k, sight.start))
            for i, pattern in enumerate(task.patterns):
                if seen[i]:
                    continue
                if holds(pattern, asked):
                    seen[i] = new = True
                    if task.in_order:
                        self._since[k] = sight.state
                if task.in_order:
                    break  # what comes later is seen at a later state
            self.done[k] = all(seen)
        return new

    def tick(self, k: int) -> None:
        """Take the person's word that a step is done."""
        self.done[k] = True
