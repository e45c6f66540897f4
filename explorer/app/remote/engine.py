"""An engine whose built-in networks run here, and those of a person's own files in a process beside it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from explorer.app.remote.movable import Movable, movable_from
from explorer.app.remote.process import Worker
from explorer.app.remote.settings import memory_limit
from explorer.app.thread.failures import Relayed, is_kind
from explorer.app.thread.orders import new_only
from explorer.declare.elements import Step
from explorer.declare.states.model_name import code_of
from explorer.square.analyses.outcome import Outcome
from explorer.square.frame import Frame, Moved, OrbitCurve, Outline
from explorer.state.catalogue import Busy, Catalogue
from explorer.state.runs import models_of
from explorer.state.state import State

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.app.answering.engine import LocalEngine
    from explorer.app.answering.importing import Look
    from explorer.app.answering.own_inputs import InputAsked
    from explorer.declare.card import ModelInfo
    from explorer.declare.telling.asking import Declared
    from explorer.network.opening.files.trust import Trust


def foreign(*names: str) -> bool:
    """Return whether one of these networks is made by a person's own file."""
    return any(code_of(name) is not None for name in names)


class DividedEngine:
    """Runs networks from files in a process of their own. Its methods are called on the worker thread only.

    A process is started when a network of a file is first wanted, or expected, and in idle time a second one, which
    takes over at once when the first has died or had to be ended. What is trusted is decided here; the process is told
    with every change, and looks at the content of a file again before it runs it.
    """

    def __init__(self, local: LocalEngine, program: str, limit: int | None = None, spare: bool = True) -> None:
        """Divide the work between this process and another.

        Args:
            program: the module whose `cards` gives the built-in models.
            limit: bytes of memory that the other process may take, 0 for no limit.
            spare: keep a second process for when the first has died.
        """
        self.local = local
        self._program = program
        self._limit = memory_limit() if limit is None else limit
        self._worker: Worker | None = None
        self._spare: Worker | None = None
        self._keeps_spare = spare
        self._numbers = itertools.count()
        self._shown: tuple[object, Movable] | None = None  # the inputs of the epoch that the process answers
        self._serial = 0

    @property
    def trust(self) -> Trust:
        return self.local.trust

    @property
    def processes(self) -> tuple[int, ...]:
        """Return the ids of the processes: of the one in use and of the spare one."""
        return tuple(worker.pid for worker in (self._worker, self._spare) if worker is not None and worker.alive)

    @property
    def place(self) -> str:
        """Return the layer that runs in the other process, "" for none."""
        return self._worker.note.place if self._worker is not None and self._worker.alive else ""

    # what there is --------------------------------------------------------------------------------------------
    def catalogue(self) -> Catalogue:
        return self.local.catalogue()

    def illustrate(self, catalogue: Catalogue) -> Iterator[Catalogue | None]:
        return self.local.illustrate(catalogue)

    # processes ------------------------------------------------------------------------------------------------
    def expect_code(self) -> None:
        """Have a process ready: a person is about to run a file."""
        if self._worker is None or not self._worker.alive:
            self._keep_spare()

    def _keep_spare(self) -> None:
        if self._keeps_spare and (self._spare is None or not self._spare.alive):
            self._spare = Worker(self._program, self._limit)

    def _present(self, names: Sequence[str]) -> Worker:
        """Return the process in use; the spare one, where it has died or is not as other networks should find it."""
        # what ran there before the one that has changed it is another one too
        if self._worker is not None and not set(names) <= self._worker.asked and self._worker.spoilt:
            self._worker.kill()
        if self._worker is None or not self._worker.alive:
            if self._worker is not None:
                self._worker.kill()
            spare, self._spare = self._spare, None
            self._worker = spare if spare is not None and spare.alive else Worker(self._program, self._limit)
        return self._worker

    def _ask(
        self, names: tuple[str, ...], what: str, *given: object,
        cancelled: Callable[[], bool] = lambda: False, fresh: bool = False, further: bool = False,
    ) -> Any:  # fmt: skip
        worker = self._present(names)
        trust = self.trust
        told = trust.everything, tuple(sorted(trust.contents)), tuple(sorted(map(str, trust.followed)))
        if worker.sent != told:
            worker.ask(("trust", *told), names, cancelled, further=True)
            worker.sent = told
        try:
            return worker.ask((what, *given), names, cancelled, fresh, further)
        except Relayed as error:
            if is_kind(error, "MemoryError"):  # what it holds would be in the way of the next network
                worker.kill()
            raise

    def _each(self, names: tuple[str, ...], what: str, *given: object) -> Iterator[Any]:
        """Yield what a generator in the other process yields; it ends when that process has died meanwhile."""
        number = next(self._numbers)
        self._ask(names, what, number, *given)
        worker, over = self._worker, False
        try:
            while worker is not None and worker.alive:
                found = worker.ask(("next", number), names)
                if not found:
                    over = True
                    return
                yield found[0]
        finally:
            if not over and worker is not None and worker.alive:
                worker.ask(("drop", number), names)

    # one state ------------------------------------------------------------------------------------------------
    def answer(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        """Return the frame of `state`."""
        if foreign(*models_of(state)):
            names = models_of(state)
            frame: Frame = self._ask(names, "answer", state, cancelled=cancelled, fresh=True)
            if self._shown is None or self._shown[0] != state.epoch:
                self._shown = state.epoch, movable_from(self._ask(names, "movable", state, further=True))
        else:
            frame = self.local.answer(state, cancelled)
        self._serial += 1
        return replace(frame, serial=self._serial)

    def outline(self, state: State, cancelled: Callable[[], bool]) -> Outline | None:
        """Return the modules of a large network before it answers; None of another one."""
        if not foreign(state.model):
            return self.local.outline(state, cancelled)
        found: Outline | None = self._ask((state.model,), "outline", state, cancelled=cancelled)
        return found

    def refine(self, frame: Frame) -> Iterator[Frame]:
        """Yield the same frame with ever more layers measured, until all are; advanced in idle time."""
        state, told = frame.state, frame
        own = foreign(*models_of(state))
        for more in self._each(models_of(state), "refine", state) if own else new_only(self.local.refine(frame)):
            told = told if more is None else replace(more, serial=frame.serial)
            yield told
        if own:
            self._keep_spare()

    def orbit(self, state: State) -> Iterator[OrbitCurve | None]:
        """Yield ever more complete curves, of one model each."""
        if not foreign(*models_of(state)):
            return self.local.orbit(state)
        return self._each(models_of(state), "orbit", state)

    def moved(self, state: State) -> Moved | None:
        """Return rho(g) x of the epoch that is being answered; None of another one. Any thread may call this.

        It is made here: the process may be busy with its network.
        """
        if not foreign(state.model):
            return self.local.moved(state)
        shown = self._shown
        return Moved(state, shown[1].picture(state)) if shown is not None and shown[0] == state.epoch else None

    def nearest_exact(self, state: State) -> tuple[Step, ...] | None:
        """Return the steps nearest to those of a state that permute places; None where there are none."""
        if not foreign(state.model):
            return self.local.nearest_exact(state)
        found: tuple[Step, ...] | None = self._ask((state.model,), "nearest_exact", state)
        return found

    def first_steps(self, state: State) -> tuple[Step, ...]:
        """Return steps that show something of the data of a state: its own, where they do."""
        if not foreign(state.model):
            return self.local.first_steps(state)
        found: tuple[Step, ...] = self._ask((state.model,), "first_steps", state)
        return found

    def proposals(self, state: State, layer: str) -> Iterator[Busy | tuple[Outcome, ...]]:
        """Yield what is being done, and at last what each symmetric version of a layer would do."""
        if not foreign(state.model):
            return self.local.proposals(state, layer)
        return self._each((state.model,), "proposals", state, layer)

    # one-off work ---------------------------------------------------------------------------------------------
    def open(self, path: str, state: State, into: str = "", partly: bool = False) -> dict[str, object]:
        """Return the changes of State that opening a file means: weights are put into the model in use."""
        if foreign(into or state.model):
            changes: dict[str, object] = self._ask((into or state.model,), "open", path, state, into, partly)
            return changes
        return self.local.open(path, state, into, partly)

    def open_model(self, name: str, state: State | None = None) -> dict[str, object]:
        """Return the changes of State that show a model of that name, made once to see that it can be."""
        if foreign(name):
            changes: dict[str, object] = self._ask((name,), "open_model", name, state)
            return changes
        return self.local.open_model(name, state)

    def first_taking(self, names: Sequence[str], state: State) -> str:
        """Return the first model that takes a state's sample, of those that come with the program."""
        return self.local.first_taking(names, state)

    def info(self, name: str) -> ModelInfo:
        """Return what is said of a model; one of a file is executed."""
        found: ModelInfo = self._ask((name,), "info", name) if foreign(name) else self.local.info(name)
        return found

    def asked(self, name: str) -> InputAsked:
        """Return what to ask about the input of a model of a file, which is executed."""
        found: InputAsked = self._ask((name,), "asked", name)
        return found

    def tried(self, name: str, said: Declared) -> str:
        """Run a model of a file once on an input of that kind; return what went in and what came out."""
        told: str = self._ask((name,), "tried", name, said)
        return told

    def fillings(self, state: State) -> tuple[str, ...]:
        """Return texts of numbers in the shape of the present data."""
        found: tuple[str, ...] = (
            self._ask((state.model,), "fillings", state) if foreign(state.model) else self.local.fillings(state)
        )
        return found

    def look(self, state: State, models: Sequence[str]) -> Look:
        """Return what the data of a state look like to the first of several networks that takes them."""
        from explorer.app.answering.importing import look

        own = tuple(filter(foreign, models))
        found: Look = self._ask(own, "look", state, list(models)) if own else look(self.local, state, models)
        return found

    def hold(self, state: State) -> str:
        """Keep the present run for comparison; return the text that names it."""
        text: str = self._ask(models_of(state), "hold", state) if foreign(*models_of(state)) else self.local.hold(state)
        return text

    def export_data(self, state: State, path: str) -> tuple[str, ...]:
        """Write the sample as it was read; return notes of what was left out."""
        if foreign(state.model) and not state.sample:  # the network chooses
            notes: tuple[str, ...] = self._ask((state.model,), "export_data", state, path)
            return notes
        return self.local.export_data(state, path)

    def report(self, state: State, layers: str = "all") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the report of `state` and the captured tensors of the wanted layers."""
        if not foreign(state.model):
            return self.local.report(state, layers)
        from safetensors.torch import load

        report, tensors = self._ask((state.model,), "report", state, layers)
        return report, load(tensors)

    def export_captures(self, state: State, path: str) -> None:
        """Write every layer of F(x) and F(rho(g) x)."""
        if foreign(state.model):
            self._ask((state.model,), "export_captures", state, path)
        else:
            self.local.export_captures(state, path)

    def close(self) -> None:
        for worker in (self._worker, self._spare):
            if worker is not None:
                worker.kill()
        self._worker = self._spare = None
        self.local.close()
