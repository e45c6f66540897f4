"""The one object that knows both state and runner: it grants wishes, asks for frames, hands them out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from explorer.app.thread.failures import failure_of
from explorer.app.thread.newest import Newest
from explorer.app.thread.orbit_key import orbit_key
from explorer.app.thread.orders import Engine, NoEngine, Printed, Task, TaskDone
from explorer.app.thread.runner import Runner
from explorer.data.finding import split_part
from explorer.declare.card import ModelInfo
from explorer.declare.elements import NoAction, Step, transforms
from explorer.declare.states.model_name import code_of, files_of
from explorer.square.frame import Failure, Frame, LayerInfo, OrbitCurve
from explorer.state.catalogue import Busy, Catalogue
from explorer.state.random_element import random_steps
from explorer.state.resolve import corrected, resolve, without_missing
from explorer.state.runs import models_of
from explorer.state.session import Session, SessionError, is_session, load_session
from explorer.state.state import History, State, orbit_for
from explorer.work.files.places import no_file
from explorer.work.files.stamps import stamp
from widgets.base.view import Wish
from widgets.window.automation.choosing import model_for, open_otherwise, open_sample, other_part, sample_for, switched
from widgets.window.automation.playing import Player
from widgets.window.automation.watching import FileWatch

WATCH_MS = 150
UNKNOWN_SIZE = (28, 28)  # of an input that has not been seen yet


class Controller(QObject):
    """Lives on the GUI thread. Views send wishes and hear of frames; nothing else changes the state."""

    state_changed = Signal(object, object)  # old State, new State
    retraced = Signal(object)  # State to which undo or redo has led
    warned = Signal(str)  # what was asked for and cannot be shown, and what is shown instead
    told = Signal(str)  # what happened beside what was asked for
    frame_ready = Signal(object)  # Frame
    orbit_ready = Signal(object)  # tuple of OrbitCurve, () when there is none of this epoch yet
    catalogue_ready = Signal(object)  # Catalogue
    engine_lost = Signal(object)  # Failure: there will be no frame any more
    failed = Signal(object)  # Failure
    request_failed = Signal()  # after it, where a frame was asked for: the next frame answers it
    gave_up = Signal(object)  # after it: this State is not shown, and what was before is again
    busy = Signal(object)  # Busy
    played = Signal(object)  # whether the orbit is playing
    session_opened = Signal(object, str)  # Session, path
    code_asked = Signal(object, str)  # Session that runs code, path: it never runs by itself, whoever hears of it asks
    log = Signal(str, str)  # "info", "warning" or "error"; a line
    delivered = Signal(object)  # from the worker thread, whatever it is

    def __init__(
        self, start_engine: Callable[[], Engine], state: State | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._history = History(state or State())
        self._newest = Newest(self.delivered.emit)
        self._runner = Runner(start_engine, self._newest)
        self.delivered.connect(self.take, Qt.ConnectionType.QueuedConnection)
        self._then: dict[str, tuple[Callable[[Any], None], Callable[[Failure], None]]] = {}
        self._numbered = 0
        self._curves: dict[str, OrbitCurve] = {}
        self._rng = np.random.default_rng(self.state.seed)
        self._to_open: list[str] = []
        self.catalogue: Catalogue | None = None
        self.frame: Frame | None = None
        self.waiting = self.held = False  # whether the newest state is not answered; not asked for, being chosen still
        self._watch = QTimer(self, interval=WATCH_MS)
        self._watch.timeout.connect(self._runner.check_busy)
        self.files = FileWatch(self)
        self.files.changed.connect(lambda: self.refresh(anew=True))  # what was saved may hang
        self._watched_told = False
        self.player = Player(self, self)
        self.player.changed.connect(self.played)

    # what there is ----------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        return self._history.state

    @property
    def can_undo(self) -> bool:
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        return self._history.can_redo

    @property
    def info(self) -> ModelInfo | None:
        """The model in use, when it is one of the catalogue."""
        return self.catalogue.by_name.get(self.state.model) if self.catalogue is not None else None

    @property
    def domain(self) -> str:
        known = self.catalogue.domain_of(self.state.model) if self.catalogue is not None else ""
        # a model from a file: its frame says what it lives on
        return known or (self.frame.squares[0].domain if self.frame is not None and self.frame.squares else "")

    @property
    def curves(self) -> tuple[OrbitCurve, ...]:
        """The curves of the orbit so far, that of the model first."""
        order = dict.fromkeys([self.state.model, *self.state.compared, *sorted(self._curves)])
        return tuple(self._curves[name] for name in order if name in self._curves)

    # life -------------------------------------------------------------------------------------------------
    def begin(self) -> None:
        """Start the worker; call this when the window is on screen."""
        self._runner.begin()
        self._watch.start()

    def close(self, timeout: float = 10.0) -> bool:
        """Stop everything; return whether the worker ended in time."""
        self.player.stop()
        self._watch.stop()
        self.files.stop()
        self._then.clear()
        return self._runner.close(timeout)

    # wishes -----------------------------------------------------------------------------------------------
    def grant(self, wish: Wish) -> None:
        """Change the state as a view asks."""
        state = self.state
        try:
            if wish.step is not None:
                state = state.with_step(*wish.step)
        except (KeyError, ValueError) as error:
            self.log.emit("warning", f"ignored: {error}")
        self.change(wish.changes, wish.tag or None, state)
        if wish.done:
            self._history.end_gesture()

    def change(self, changes: Mapping[str, Any], tag: str | None = None, state: State | None = None) -> None:
        """Replace fields of the state, and with them what has lost its meaning."""
        state = state or self.state
        changes = dict(changes)
        if changes.get("sample", state.sample) != state.sample:
            changes = {"node": None, "other": None, **changes}
            sample = str(changes["sample"])
            if "model" not in changes:
                changes["model"] = model_for(sample, self.state.model, self.catalogue)
            if sentence := switched(sample, self.state.model, changes["model"], self.catalogue):
                self.told.emit(sentence)
        if changes.get("model", state.model) != state.model:
            fresh = {"layer": "", "channel": None, "pixel": None, "node": None, "other": None, "latent": ""}
            empty = dict.fromkeys(("params", "overrides", "interventions", "watched"), ())
            changes = {**fresh, **empty, "laws": False} | changes
            changes.setdefault("sample", sample_for(changes["model"], self.state, self.catalogue))
        elif changes.get("layer", state.layer) != state.layer:
            changes = {"channel": None, "pixel": None} | changes
        changes = {"orbit": orbit_for(self.state, changes.get("steps", state.steps))} | changes
        self._become(replace(state, **changes), tag)

    def set_model(self, name: str) -> None:
        self.change({"model": name})

    def set_compare(self, name: str) -> None:
        self.change({"compare": name})  # beside the first, "" for none

    def set_steps(self, steps: tuple[Step, ...], tag: str | None = None) -> None:
        self.change({"steps": steps}, tag)

    def undo(self) -> None:
        self._announce(self.state, self._history.undo(), retraced=True)

    def redo(self) -> None:
        self._announce(self.state, self._history.redo(), retraced=True)

    def invert(self) -> None:
        try:
            self.set_steps(self.state.inverted().steps)
        except NoAction as error:
            self.log.emit("warning", f"{error}")

    def reset(self) -> None:
        self.set_steps(())  # the identity

    def randomise(self, exact: bool = True) -> None:
        """Draw another element: one that permutes places, or (not `exact`) any angle and shift."""
        height, width = self.frame.squares[0].x.shape[-2:] if self.frame and self.frame.squares else UNKNOWN_SIZE
        steps = random_steps(self._rng, (int(height), int(width)), self.domain, exact, self.state)
        self.change({"steps": steps, "orbit": self.state.orbit})  # one curve to compare them on

    @property
    def pieces(self) -> int:
        """Return how many there are in the data that are shown, 1 while that is not known."""
        frame, base = self.frame, split_part(self.state.sample)[0]
        return frame.sample_parts if frame is not None and split_part(frame.state.sample)[0] == base else 1

    def go_on(self, by: int) -> None:
        """Show the next one, or one before, of several sequences in the data; round and round."""
        shown = self.state.sample or (self.info.sample if self.info is not None else "")
        self.change({"sample": other_part(shown, by, self.pieces)} if self.pieces > 1 else {})

    def apply(self, name: str, values: tuple[float, ...] | None = None) -> None:
        """Let a transform act once more; twice the same mirror is nothing."""
        transform = transforms()[name]
        step = Step(name, values if values is not None else transform.defaults)
        steps = self.state.steps
        own_inverse = transform.inverse is not None and transform.inverse(*step.values) == step.values
        self.set_steps(steps[:-1] if steps and steps[-1] == step and own_inverse else (*steps, step))

    def add_to(self, name: str, *amounts: float, tag: str = "") -> None:
        """Add to the first parameters of a transform's step, which is made when there is none."""
        transform, step = transforms()[name], self.state.step(name)
        values = step.values if step is not None else transform.defaults
        added = tuple(v + a for v, a in zip(values, amounts)) + values[len(amounts) :]
        self.grant(Wish(step=(name, added), tag=tag))

    def toggle_untransform(self) -> None:
        self.change({"untransform": not self.state.untransform})

    # opening ----------------------------------------------------------------------------------------------
    def open_path(self, path: str) -> None:
        """Open a session, data, or whatever else the engine can make sense of."""
        if self.catalogue is None:  # which files there are readers for is not known yet
            self._to_open.append(path)
        elif told := no_file(path):
            self._fail(Failure(self.state, told, path))
        elif Path(path).suffix.lower() == ".json" and is_session(path):
            self.open_session(path)
        elif Path(path).suffix.lower() in self.catalogue.extensions:
            open_sample(self, path)
        else:
            open_otherwise(self, path)

    def open_session(self, path: str) -> None:
        """Open a session file; what is wrong with it is said, and the state stays."""
        try:
            session = load_session(path, damaged=True)
        except (SessionError, OSError) as error:
            self._fail(failure_of(error, self.state))
            return
        code = any(map(code_of, models_of(session.state)))
        (self.code_asked.emit if code else self.take_session)(session, path)

    def take_session(self, session: Session, path: str) -> None:
        """Go to the state of a session, whose code may run."""
        self.open_state(session.state)
        self.session_opened.emit(session, path)
        self.log.emit("info", f"opened {path}")

    def open_state(self, state: State) -> None:
        """Go to a whole new state, as one entry of the history."""
        self._become(state)
        self._tell_corrected(state)

    # one-off work -----------------------------------------------------------------------------------------
    def do(
        self, work: Task, text: str, then: Callable[[Any], None] = lambda result: None,
        ended: Callable[[Failure], None] = lambda failure: None,
    ) -> Callable[[], None]:  # fmt: skip
        """Do something on the worker thread; `then` gets the result, on this one. What is returned gives it up.

        Args:
            ended: hears in its place of what went wrong, as of a person's cancelling it.
        """
        self._numbered += 1
        tag = f"{self._numbered} {text}"
        self._then[tag] = then, ended
        job = self._runner.task(work, tag, text)

        def give_up() -> None:
            self._then.pop(tag, None)
            job.unwanted = True

        return give_up

    def cancel(self) -> None:
        """Give up what is running: the request, tasks, the orbit and its play."""
        self.player.stop()
        self._runner.cancel()
        self.waiting = False

    def refresh(self, anew: bool = False) -> None:
        """Ask again for the present state, whose answer has become another one; `anew`: end what still runs of it."""
        self._runner.want_orbit(None)
        self._ask(anew)

    # inside -----------------------------------------------------------------------------------------------
    def _become(self, state: State, tag: str | None = None) -> None:
        old, catalogue = self.state, self.catalogue
        state = state if catalogue is None else resolve(state, catalogue, self._layers(state))
        if self._history.change(state, tag):
            self._announce(old, self.state)

    def _tell_corrected(self, wanted: State) -> None:
        """Say what of a state that somebody has given cannot be shown."""
        if self.catalogue is not None and (said := corrected(wanted, self.state, self.catalogue)):
            self.warned.emit(" ".join(said))  # a second message would take the place of the first

    def _announce(self, old: State, new: State, retraced: bool = False) -> None:
        if new == old:
            return
        if new.epoch != old.epoch:
            self._curves.clear()
            self.orbit_ready.emit(())
        elif orbit_key(new) != orbit_key(old):
            self._curves.clear()  # the old ones stay in sight until the first part of the new comes
        self.state_changed.emit(old, new)
        if retraced:
            self.retraced.emit(new)
        self._ask()

    def _ask(self, anew: bool = False) -> None:
        if self.catalogue is not None:
            self.waiting = True
            if not self.held:
                self._runner.submit(self.state, anew)
                self._runner.want_orbit(self.state)

    def _layers(self, state: State) -> tuple[LayerInfo, ...]:
        """Return the layers of the state's model, or () while they are not known."""
        if self.frame is None or not self.frame.squares:
            return ()
        shown = self.frame.state
        same = (shown.model, shown.params, shown.sample) == (state.model, state.params, state.sample)
        return self.frame.squares[0].layers if same else ()

    def take(self, message: object) -> None:
        """Take what the worker delivered."""
        match message:
            case Frame() if not self._newest.overtakes(message):
                self._show(message)
            case OrbitCurve():
                if orbit_key(message.state) == orbit_key(self.state):
                    self._curves[message.model] = message
                    self.orbit_ready.emit(self.curves)
            case Busy():
                self.busy.emit(message)
            case Printed(text):
                self.log.emit("info", text.rstrip("\n"))
            case Failure() if message.state.epoch != self.state.epoch:  # what was asked for meanwhile is awaited still
                if message.where != "orbit":
                    self._log_failure(message)
            case Failure():
                self.waiting = self.waiting and message.where == "orbit"
                self.player.stop()
                self._fail(message)
                self.request_failed.emit()
                self._give_up(message)
                if self.frame is None or self.frame.state.epoch != self.state.epoch:  # it may be mended there
                    names = (self.state.model, *self.state.compared)
                    self.files.watch((path, stamp(path)) for name in names for path in files_of(name))
            case TaskDone():
                self._finish(message)
            case Catalogue() if self.catalogue is None:
                self.begin_with(message)
            case Catalogue():  # the same with pictures
                self.catalogue = message
                self.catalogue_ready.emit(message)
            case NoEngine():
                self.waiting = False
                self._log_failure(message.failure)
                self.engine_lost.emit(message.failure)

    def _give_up(self, failure: Failure) -> None:
        """Restore the shown state after a request that gave nothing: opening happens completely or not at all."""
        shown, state = self.frame.state if self.frame is not None else None, self.state
        if shown is None or failure.where == "orbit" or not failure.state.epoch == state.epoch != shown.epoch:
            return
        if failure.state.steps != state.steps:
            return  # another element was asked for meanwhile, and may be answered
        self._history.give_up(shown)
        self._announce(state, shown)
        self.gave_up.emit(state)

    def _show(self, frame: Frame) -> None:
        if frame.state.epoch != self.state.epoch:
            return  # the state has moved on while the frame was on its way to this thread
        for square in frame.squares[:1]:
            was = self.frame.state if self.frame is not None else None
            there, sentence = without_missing(self.state, square.layers, square.layer.name, square.places, was)
            if sentence:
                self.warned.emit(sentence)
                self.start_from(there)
                self._ask()
                return
        self.waiting = self.waiting and frame.state != self.state
        before, self.frame = self.frame, frame
        known = before.model_notes if before is not None else ()
        for note in (n for n in frame.model_notes if n not in (*known, *frame.weights_notes)):
            self.log.emit("warning", note)
        self.frame_ready.emit(frame)
        self._follow_files(before, frame)
        if lacking := ". ".join(n for n in frame.weights_notes if n not in known):  # it is not what was trained
            self.warned.emit(lacking)

    def _follow_files(self, before: Frame | None, frame: Frame) -> None:
        """Watch the files that the frame was made of, and say what became of those that were saved."""
        self.files.watch(frame.files)
        code = next((Path(path).name for path, _ in frame.files if path.endswith(".py")), "")
        if code and not self._watched_told:
            self._watched_told = True
            again = "you are asked before it is run" if frame.asks else "it is run again without asking"
            self.told.emit(f"{code} is watched: whenever you save it, {again}, while this window is open.")
        if frame.reloaded and (before is None or before.serial != frame.serial):
            self._runner.want_orbit(None)  # that of the former network
            self._runner.want_orbit(self.state)
            for sentence in frame.reloaded:
                self.told.emit(sentence)
        if frame.stale is not None and (before is None or before.stale != frame.stale):
            self._fail(frame.stale)
            self.request_failed.emit()

    def start_from(self, state: State) -> None:
        """Replace the state that the program was started with, which is no step that could be undone."""
        old, self._history.state = self.state, state
        if state != old:
            self.state_changed.emit(old, state)

    def begin_with(self, catalogue: Catalogue) -> None:
        fresh, self.catalogue = self.catalogue is None, catalogue
        self.catalogue_ready.emit(catalogue)
        self.start_from(resolve(wanted := self.state, catalogue, self._layers(self.state)))
        self._tell_corrected(wanted)
        if fresh:
            versions = "; " * bool(catalogue.versions) + ", ".join(f"{name} {v}" for name, v in catalogue.versions)
            self.log.emit("info", f"ready: {len(catalogue.models)} models, {len(catalogue.samples)} samples{versions}")
        self._ask()
        while self._to_open:
            self.open_path(self._to_open.pop(0))

    def _finish(self, done: TaskDone) -> None:
        if (found := self._then.pop(done.tag, None)) is None:  # it was given up
            return
        if isinstance(done.result, Failure):
            self._fail(done.result)
            found[1](done.result)
        else:
            found[0](done.result)

    def _fail(self, failure: Failure) -> None:
        self._log_failure(failure)
        self.failed.emit(failure)

    def _log_failure(self, failure: Failure) -> None:
        said = f"{failure.sentence} ({failure.where})" if failure.where else failure.sentence
        self.log.emit("info" if failure.cancelled else "error", said)
        if failure.detail:
            self.log.emit("detail", failure.detail.rstrip())
