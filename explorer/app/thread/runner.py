"""One worker thread between a window that never waits and a network that takes its time.

There is one pending slot and the newest request wins: nothing queues. A running request of the same epoch is
left to finish and is shown, so that a drag shows every frame that the network can compute; one of another
epoch (another model, sample, precision, ...) is cancelled. Long work is a generator that advances only while
no request waits.

Neither torch nor Qt is imported here: a function given from outside makes the engine, on the worker thread.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace

from explorer.app.thread.failures import failure_of
from explorer.app.thread.moving import Mover
from explorer.app.thread.orbit_key import orbit_key
from explorer.app.thread.orders import Engine, Job, NoEngine, Printed, Task, TaskDone, new_only
from explorer.square.frame import Failure, Frame, Moved, OrbitCurve
from explorer.state.catalogue import Busy, Catalogue
from explorer.state.state import State
from explorer.work.memory import RESTED, give_back, give_back_much
from explorer.work.progress import Cancelled, listening

BUSY_AFTER = 0.15  # seconds; what is quicker than this needs no word
QUIET, FIRST = 0.2, 4.0  # seconds of quiet before the orbit goes on; so many times more after the first answer
LOADING = "Loading PyTorch…"
COMPUTING = "Computing…"
MEASURING = "Measuring…"
STOP_AFTER = 10.0  # seconds without a word: from then on the person is offered to stop it


class Runner:
    """Answers the newest state on a thread of its own and delivers what comes of it.

    `deliver` is called (on the worker thread, but for what `check_busy` and `cancel` say) with a Catalogue, Frame,
    Glimpse, OrbitCurve, Failure, Busy, TaskDone or NoEngine; a lock is held, so it must not wait. `clock`: seconds.
    """

    def __init__(
        self,
        start: Callable[[], Engine],
        deliver: Callable[[object], None],
        clock: Callable[[], float] = time.monotonic,
        quiet: float = QUIET,
        tidy: Callable[[], None] = give_back,
    ) -> None:
        self._start, self._deliver, self._clock = start, deliver, clock
        self._quiet, self._tidy = quiet, tidy
        self._asked, self._first = -math.inf, True  # when the last request came, or its answer; before the first one
        self._thread: threading.Thread | None = None
        self._mover: Mover | None = None  # where the engine can draw rho(g) x by itself
        # Guards everything below. It is held while delivering, so that nothing is delivered after close() and
        # no Busy comes after the word that all is done.
        self._change = threading.Condition(threading.RLock())
        self._closing = self._renewed = False
        self._latest: State | None = None
        self._pending: State | None = None
        self._cancel = False  # for what is running now
        self._jobs = deque[Job]()
        self._orbit_state: State | None = None
        self._orbit_key: object = None
        self._orbit_round = 0  # counts the orbits wanted, so that a stale part is known from a fresh one
        self._orbit_over = True
        self._activity: tuple[str, float] | None = None
        self._idle = False  # whether it is one that nobody waits for
        self._untidy = False  # whether something was done since memory was given back
        self._announced = self._offered = False
        self._failed = False  # what was answered last: its orbit would fail by the same, and say so a second time
        self._told = -math.inf  # when it was last said how far a request is
        # This belongs to the worker alone: what is still missing of the frame shown, the generator of the orbit
        # and the round it was made for.
        self._rest: Iterator[Frame | None] | None = None
        self._outlined: object = None  # the network whose modules were told last
        self._catalogues: Iterator[Catalogue | None] | None = None
        self._curves: tuple[int, Iterator[OrbitCurve | None]] | None = None

    # called by the window ---------------------------------------------------------------------------------
    def begin(self) -> None:
        """Start the thread; what was submitted before is answered as soon as the engine is there."""
        if self._thread is None and not self._closing:
            self._thread = threading.Thread(target=self._work, name="equiscope-worker", daemon=True)
            self._thread.start()

    def submit(self, state: State, anew: bool = False) -> None:
        """Ask for the frame of `state`, in place of what was not begun; where it is made `anew`, of all that runs."""
        with self._change:
            self._renewed = self._renewed or anew
            self._asked = self._clock()
            self._latest = self._pending = state
            if self._mover is not None:
                self._mover.want(state)
            self._change.notify()

    def want_orbit(self, state: State | None) -> None:
        """Ask for the orbit of `state` in idle time; the same is not begun twice. None: none is wanted."""
        key = None if state is None else orbit_key(state)
        with self._change:
            if key == self._orbit_key:
                return
            self._orbit_key, self._orbit_state, self._orbit_over = key, state, state is None
            self._orbit_round += 1
            self._change.notify()

    def task(self, work: Task, tag: str, text: str = "") -> Job:
        """Do one piece of work after the newest frame; `text` is what the person reads while it lasts."""
        job = Job(work, tag, text or f"{tag.capitalize()}…")
        with self._change:
            if not self._closing:
                self._jobs.append(job)
                self._change.notify()
        return job

    def cancel(self) -> None:
        """Give up everything that runs or waits: the request, the tasks and the orbit."""
        with self._change:
            self._pending = None
            self._cancel = True
            self._orbit_key, self._orbit_over = None, True
            self._orbit_round += 1
            waiting = [job for job in self._jobs if not job.begun]
            # the one under way is ended by the worker, whose generator it is
            self._jobs = deque(job for job in self._jobs if job.begun)
            for job in waiting:
                self._say(job.cancelled(self._latest or State()))
            self._change.notify()

    def check_busy(self) -> None:
        """Deliver Busy once when what runs now takes long, and again when too long; any thread may call it any time."""
        with self._change:
            if self._activity is None:
                return
            text, begun = self._activity
            # what runs while nobody waits is told of when somebody does, who has waited since then
            begun, now = max(begun, self._asked) if self._idle else begun, self._clock()
            awaited = not self._idle or self._pending is not None
            shown = now - begun >= BUSY_AFTER and awaited
            stop = now - max(begun, self._told) >= STOP_AFTER and awaited
            if (shown and not self._announced) or (stop and not self._offered):
                self._announced, self._offered = True, stop
                self._say(Busy(text, stop=stop))

    @property
    def running(self) -> bool:
        """Return whether the thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    def close(self, timeout: float = 10.0) -> bool:
        """Stop; return whether the thread ended within `timeout` seconds. Nothing is delivered afterwards."""
        with self._change:
            self._closing = True
            self._pending = None
            self._change.notify()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    # on the worker thread ---------------------------------------------------------------------------------
    def _work(self) -> None:
        self._say(Busy(LOADING))
        try:
            engine = self._start()
            try:
                catalogue = engine.catalogue()
                self._say(catalogue)
                self._catalogues = engine.illustrate(catalogue)
            except BaseException:
                engine.close()
                raise
        except (Exception, SystemExit) as error:  # foreign code may call sys.exit()
            self._say(NoEngine(failure_of(error, self._latest or State())))
            self._say(Busy(""))
            return
        self._say(Busy(""))
        if (move := getattr(engine, "moved", None)) is not None:
            self._mover = Mover(move, self._moved)
        try:
            while self._turn(engine):
                pass
        except Exception as error:  # a generator's clean-up, or a defect here: better said than silent
            self._say(NoEngine(failure_of(error, self._latest or State())))
        finally:
            if self._mover is not None:
                self._mover.close()
            self._drop_curves()
            self._rest = self._catalogues = None
            for job in self._jobs:
                if job.steps is not None:
                    job.steps.close()
            engine.close()

    def _turn(self, engine: Engine) -> bool:
        """Do the most urgent thing there is; return False when it is time to stop."""
        with self._change:
            self._wait()
            if self._closing:
                return False
            # a cancellation is for what ran when it was called; a task between two parts has not heard of it
            given_up, self._cancel = self._cancel, False
            self._rest = None if given_up else self._rest
            job = self._jobs[0] if self._jobs else None
            if job is not None and (job.unwanted or (given_up and job.begun)):
                self._end(job, job.cancelled(self._latest or State()))
                return True
            state, self._pending, self._renewed = self._pending, None, False
            wanted, turn = self._orbit_state, self._orbit_round
            if state is None and job is not None:
                job.begun = True
        if state is not None:
            self._answer(engine, state)
        elif job is not None:
            self._step(engine, job)
        elif self._rest is not None:
            self._refine()
        elif self._catalogues is not None:
            self._illustrate(self._catalogues)
        elif wanted is not None and not (self._orbit_over or self._failed):
            self._advance(engine, wanted, turn)
        else:
            self._untidy = False
            self._tidy()
        give_back_much()
        return True

    def _wait(self) -> None:
        """Wait until there is something to do; the lock is held."""
        while not (self._closing or self._pending is not None or self._jobs or self._rest is not None):
            more = not (self._orbit_over or self._failed) or (self._catalogues is not None and self._latest is not None)
            left = self._asked + (self._quiet if more else RESTED) - self._clock()
            if (more or self._untidy) and left <= 0:
                return
            self._change.wait(left if more or self._untidy else None)

    def _answer(self, engine: Engine, state: State) -> None:
        self._enter(COMPUTING)
        answer: object = None
        self._rest = None  # of a frame that is about to be replaced

        def cancelled() -> bool:
            self.check_busy()
            return self._given_up(state)

        try:
            with self._heard(lambda: self._given_up(state)):
                self._tell_outline(engine, state, cancelled)
                frame = engine.answer(state, cancelled)
            answer = frame if frame.state == state else replace(frame, state=state)
            self._rest = new_only(engine.refine(answer))
        except Cancelled as end:
            answer = self._ended(end, state)
        except (Exception, SystemExit) as error:
            # Whatever breaks on the way out of a cancelled request is of no interest.
            answer = None if self._given_up(state) else failure_of(error, state)
        with self._change:
            if self._mover is not None:
                self._mover.answered(state)
            self._failed = isinstance(answer, Failure)
            # idle work waits until the window has drawn, the first time with all that it imports for that
            self._asked, self._first = self._clock() + self._first * FIRST * self._quiet, False
            if answer is not None and self._latest is not None and self._latest.epoch == state.epoch:
                self._say(answer)
            self._leave()

    def _tell_outline(self, engine: Engine, state: State, cancelled: Callable[[], bool]) -> None:
        """Tell of the modules of a large network before it has answered for the first time."""
        network, before = (state.model, state.params), self._outlined
        self._outlined = network
        if network == before or (make := getattr(engine, "outline", None)) is None:
            return
        if (outline := make(state, cancelled)) is not None and not self._given_up(state):
            self._say(outline)

    def _refine(self) -> None:
        """Measure a little more of the frame that is shown."""
        assert self._rest is not None
        shown = self._latest or State()
        answer: object = None

        def unwanted() -> bool:
            with self._change:
                return self._pending is not None or self._given_up(shown)

        self._enter(MEASURING, idle=True)
        try:
            with self._heard(unwanted, lambda: self._given_up(shown)):
                answer = next(self._rest)
        except StopIteration:
            self._rest = None
        except Cancelled as end:  # it is replaced by what is pending
            self._rest, answer = None, self._ended(end, shown)
        except (Exception, SystemExit) as error:
            self._rest, answer = None, failure_of(error, shown)
        with self._change:
            if isinstance(answer, Failure) or (isinstance(answer, Frame) and self._latest == answer.state):
                self._say(answer)
            self._leave()

    def _illustrate(self, catalogues: Iterator[Catalogue | None]) -> None:
        """Make a little more of the catalogue."""
        try:
            catalogue = next(catalogues)
        except StopIteration:
            self._catalogues = None
        except (Exception, SystemExit) as error:  # of a sample or a card: the others can still be chosen
            self._catalogues = None
            self._say(failure_of(error, self._latest or State()))
        else:
            if catalogue is not None:
                self._say(catalogue)

    def _step(self, engine: Engine, job: Job) -> None:
        """Do a task, or the next part of one that is a generator."""
        self._enter(job.text, job.told)
        try:
            with self._heard(lambda: self._closing or self._cancel or job.unwanted):
                if job.steps is None:
                    result = job.work(engine)
                    if isinstance(result, Generator):
                        job.steps = result
                        return  # even its first part waits for the newest request
                else:
                    part = next(job.steps)
                    if isinstance(part, Busy):
                        job.text, job.told = part.text or job.text, True
                        self._say(part)
                    return
        except StopIteration as end:
            result = end.value
        except Cancelled as end:
            if end.told:
                result = Failure(self._latest or State(), end.told)
            else:
                result = job.cancelled(self._latest or State()).result
            with self._change:
                self._cancel = self._cancel and job.unwanted  # it was for this
        except (Exception, SystemExit) as error:
            result = failure_of(error, self._latest or State())
        self._end(job, TaskDone(job.tag, result))

    def _end(self, job: Job, done: TaskDone) -> None:
        if job.steps is not None:
            job.steps.close()
        with self._change:
            if job in self._jobs:
                self._jobs.remove(job)
            self._announced = self._announced or job.told
            self._say(done)
            self._leave()

    def _advance(self, engine: Engine, state: State, turn: int) -> None:
        """Compute the next part of the orbit, in its round `turn`."""
        answer: object = None
        forced: Failure | None = None
        over = True

        def unwanted() -> bool:
            with self._change:
                return self._closing or self._pending is not None or turn != self._orbit_round

        self._enter(MEASURING, idle=True)
        try:
            if self._curves is None or self._curves[0] != turn:
                self._drop_curves()
                self._curves = (turn, iter(engine.orbit(state)))
            with self._heard(unwanted, lambda: self._given_up(state)):
                curve = next(self._curves[1])
            answer = curve if curve is None or curve.state == state else replace(curve, state=state)
            over = False
        except StopIteration:
            pass
        except Cancelled as end:  # a request came meanwhile: the orbit begins again after it
            forced, over = self._ended(end, state), False
            self._drop_curves()
        except (Exception, SystemExit) as error:
            failure = failure_of(error, state)
            answer = failure if failure.where else replace(failure, where="orbit")
        if over:
            self._drop_curves()
        with self._change:
            if turn == self._orbit_round:
                self._orbit_over = over
            if (said := answer if turn == self._orbit_round else forced) is not None:
                self._say(said)
            self._leave()

    def _drop_curves(self) -> None:
        curves, self._curves = self._curves, None
        if curves is not None and isinstance(curves[1], Generator):
            curves[1].close()

    def _given_up(self, state: State) -> bool:
        """Say whether the answer to `state` would be shown to nobody."""
        with self._change:
            given_up = self._closing or self._cancel or self._renewed
            return given_up or (self._pending is not None and self._pending.epoch != state.epoch)

    def _heard(
        self, unwanted: Callable[[], bool], urgent: Callable[[], bool] | None = None
    ) -> AbstractContextManager[None]:
        """Hear how far the work within is, and end it when it is `unwanted`; at once where that is `urgent` too."""

        def told(text: str, share: float) -> None:
            self.check_busy()
            if unwanted():
                raise Cancelled(urgent is None or urgent())
            if text and not self._idle:
                self._tell(text, share)

        return listening(told, lambda text: self._say(Printed(text)) if text else None, self._say)

    def _ended(self, end: Cancelled, state: State) -> Failure | None:
        """Return the message on cancelled work: none, unless the person has ended it by force."""
        with self._change:
            return Failure(state, end.told) if end.told and self._cancel else None

    def _enter(self, text: str, told: bool = False, idle: bool = False) -> None:
        with self._change:
            self._activity, self._idle = (text, self._clock()), idle
            self._announced, self._offered = told, False

    def _tell(self, text: str, share: float) -> None:
        """Say how far the present request is, once it takes long, and not more often than can be read."""
        with self._change:
            now = self._clock()
            if self._activity is not None and now - self._activity[1] >= BUSY_AFTER and now >= self._told + BUSY_AFTER:
                self._announced, self._told, self._offered = True, now, False
                self._say(Busy(f"{text}…", None if math.isnan(share) else share))

    def _leave(self) -> None:
        with self._change:
            if self._announced:
                self._say(Busy(""))
            self._announced, self._activity, self._untidy = False, None, True

    def _moved(self, moved: Moved) -> None:
        with self._change:
            if self._latest == moved.state:
                self._say(moved)

    def _say(self, message: object) -> None:
        with self._change:
            if not self._closing:
                self._deliver(message)
