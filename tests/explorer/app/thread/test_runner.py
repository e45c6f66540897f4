"""The runner: newest wins, a drag is shown, other epochs are cancelled, long work gives way, close() ends."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from explorer.app.thread.failures import sentence
from explorer.app.thread.orbit_key import orbit_key
from explorer.app.thread.orders import Engine, NoEngine, Printed, TaskDone
from explorer.app.thread.runner import COMPUTING, MEASURING, STOP_AFTER, Runner
from explorer.declare.elements import parse_chain
from explorer.square.frame import Failure, Frame, Glimpse, OrbitCurve, Outline
from explorer.state.catalogue import Busy, Catalogue
from explorer.state.state import State
from explorer.work.memory import RESTED
from explorer.work.progress import Cancelled, giving_way, printed, seen, step, waited

WAIT = 10.0  # only ever reached by a test that fails
CATALOGUE = Catalogue((), (), ("cpu",), (), ())
START = State(sample="a")


def turned(angle: float, sample: str = "a") -> State:
    return State(sample=sample, steps=parse_chain(f"rotate:{angle}"))


def curve(state: State, done: int) -> OrbitCurve:
    nothing = np.zeros(3)
    return OrbitCurve(state, state.model, "rotate", "angle", "°", nothing, {}, {}, nothing > 1, nothing, (), done)


@dataclass
class FakeEngine:
    """Answers at once, unless `gate` is closed: then it waits for that, asking whether it is cancelled."""

    gate: threading.Event = field(default_factory=threading.Event)
    entered: queue.Queue[State] = field(default_factory=queue.Queue)
    ended: list[tuple[State, str]] = field(default_factory=list)
    raises: BaseException | None = None
    orbit_parts: int = 3
    orbit_gate: threading.Semaphore | None = None
    orbits: list[State] = field(default_factory=list)
    orbit_closed: list[State] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    closed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def catalogue(self) -> Catalogue:
        self.threads.add(threading.get_ident())
        return CATALOGUE

    def illustrate(self, catalogue: Catalogue) -> Iterator[Catalogue | None]:
        return iter(())

    def answer(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        self.threads.add(threading.get_ident())
        self.entered.put(state)
        while not self.gate.wait(0.001):
            if cancelled():
                self.ended.append((state, "cancelled"))
                raise Cancelled
        if self.raises is not None:
            raise self.raises
        self.ended.append((state, "finished"))
        return Frame(state, (), 1.0, 1.0, "cpu")

    def refine(self, frame: Frame) -> Iterator[Frame]:
        return iter(())

    def orbit(self, state: State) -> Iterator[OrbitCurve]:
        self.orbits.append(state)
        try:
            for done in range(self.orbit_parts):
                if self.orbit_gate is not None:
                    self.orbit_gate.acquire(timeout=WAIT)
                yield curve(state, done + 1)
        finally:
            self.orbit_closed.append(state)

    def close(self) -> None:
        self.threads.add(threading.get_ident())
        self.closed.set()


class Bench:
    """A runner with a fake engine, and what it delivered."""

    def __init__(self, engine: Engine | None = None, **kwargs: Any) -> None:
        self.engine: Any = engine or FakeEngine()
        self.messages: queue.Queue[object] = queue.Queue()
        self.now = 0.0
        start = kwargs.pop("start", lambda: self.engine)
        kwargs.setdefault("quiet", 0.0)
        self.runner = Runner(start, self.messages.put, clock=lambda: self.now, **kwargs)

    def next(self, *kinds: type) -> Any:
        """Return the next message of one of the kinds (any but Busy when none is given)."""
        while True:
            message = self.messages.get(timeout=WAIT)
            if isinstance(message, kinds) if kinds else not isinstance(message, Busy):
                return message

    def rest(self) -> list[object]:
        """Return what else was delivered, after everything asked for is done."""
        self.runner.task(lambda engine: None, "barrier")
        found = []
        while not isinstance(message := self.messages.get(timeout=WAIT), TaskDone) or message.tag != "barrier":
            found.append(message)
        return found


@pytest.fixture
def bench() -> Iterator[Bench]:
    it = Bench()
    it.runner.begin()
    assert it.next() is CATALOGUE
    yield it
    it.engine.gate.set()
    if it.engine.orbit_gate is not None:
        it.engine.orbit_gate.release(1000)
    assert it.runner.close(WAIT)


# ---- requests


def test_memory_is_given_back_once_when_nobody_has_asked_for_a_while() -> None:
    given: queue.Queue[bool] = queue.Queue()
    bench = Bench(tidy=lambda: given.put(True))
    bench.runner.begin()
    bench.runner.submit(START)
    bench.next(Frame)
    bench.rest()
    assert given.empty(), "the next request may come at once"
    bench.now = RESTED
    bench.rest()
    assert given.get(timeout=WAIT)
    assert bench.runner.close(WAIT)
    assert given.empty()


def test_a_request_is_answered_with_its_frame(bench: Bench) -> None:
    bench.runner.submit(START)
    assert bench.next(Frame).state == START


def test_the_modules_of_a_network_are_told_once_before_its_first_frame(bench: Bench) -> None:
    told = []

    def outline(state: State, cancelled: Callable[[], bool]) -> Outline | None:
        told.append(state.model)
        return Outline(state, "large", ()) if state.model == "large" else None

    bench.engine.outline = outline
    for state, kinds in (
        (State("large"), [Outline, Frame]), (State("large", seed=1), [Frame]), (State("small"), [Frame]),
        (State("large"), [Outline, Frame]),
    ):  # fmt: skip
        bench.runner.submit(state)
        found = [bench.next() for _ in kinds]
        assert [type(message) for message in found] == kinds and all(m.state == state for m in found)
    assert told == ["large", "small", "large"]


def test_a_request_made_before_the_engine_is_there_is_answered() -> None:
    bench = Bench()
    bench.runner.submit(START)
    bench.runner.begin()
    assert bench.next(Catalogue) is CATALOGUE
    assert bench.next(Frame).state == START
    assert bench.runner.close(WAIT)


def test_nothing_queues_and_the_newest_wins(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.runner.submit(turned(0))
    assert bench.engine.entered.get(timeout=WAIT) == turned(0)
    for angle in range(1, 100):
        bench.runner.submit(turned(angle))
    bench.engine.gate.set()
    assert [bench.next(Frame).state, bench.next(Frame).state] == [turned(0), turned(99)]
    assert bench.rest() == []
    assert [state for state, _ in bench.engine.ended] == [turned(0), turned(99)]


def test_a_drag_shows_the_frame_that_was_running(bench: Bench) -> None:
    """The same epoch: dropping all but the newest would show a frozen picture while the mouse moves."""
    bench.engine.gate.clear()
    bench.runner.submit(turned(10))
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.submit(turned(20))
    bench.engine.gate.set()
    assert bench.next(Frame).state == turned(10)
    assert bench.next(Frame).state == turned(20)


def test_another_epoch_cancels_what_runs(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.runner.submit(turned(10, "a"))
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.submit(turned(10, "b"))
    assert bench.engine.entered.get(timeout=WAIT) == turned(10, "b")
    bench.engine.gate.set()
    assert bench.next(Frame).state == turned(10, "b")
    assert bench.engine.ended == [(turned(10, "a"), "cancelled"), (turned(10, "b"), "finished")]
    assert bench.rest() == []


def test_what_is_made_anew_cancels_what_runs(bench: Bench) -> None:
    """The file of a network that hangs was mended: its epoch is the same, and its answer will never come."""
    bench.engine.gate.clear()
    bench.runner.submit(turned(10))
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.submit(turned(20), anew=True)
    bench.runner.submit(turned(30))  # a drag goes on meanwhile
    assert bench.engine.entered.get(timeout=WAIT) == turned(30)
    bench.engine.gate.set()
    assert bench.next(Frame).state == turned(30)
    assert bench.engine.ended == [(turned(10), "cancelled"), (turned(30), "finished")]
    assert bench.rest() == []


def test_a_finished_frame_of_a_stale_epoch_is_dropped(bench: Bench) -> None:
    def deaf(state: State, cancelled: Callable[[], bool]) -> Frame:
        bench.engine.entered.put(state)
        assert bench.engine.gate.wait(WAIT)
        return Frame(state, (), 1.0, 1.0, "cpu")

    bench.engine.answer = deaf
    bench.engine.gate.clear()
    bench.runner.submit(turned(10, "a"))
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.submit(turned(10, "b"))
    bench.engine.gate.set()
    assert bench.next(Frame).state.sample == "b"
    assert bench.rest() == []


def test_a_failure_of_a_stale_epoch_is_dropped(bench: Bench) -> None:
    bench.engine.gate.clear()

    def fails_when_told(state: State, cancelled: Callable[[], bool]) -> Frame:
        bench.engine.entered.put(state)
        if state.sample == "a":
            while not cancelled():
                bench.engine.gate.wait(0.001)
            raise RuntimeError("half a network")
        return Frame(state, (), 1.0, 1.0, "cpu")

    bench.engine.answer = fails_when_told
    bench.runner.submit(turned(10, "a"))
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.submit(turned(10, "b"))
    assert bench.next().state.sample == "b"
    assert bench.rest() == []


def test_the_frame_carries_the_state_that_was_asked_for(bench: Bench) -> None:
    """Whatever the engine made of "auto" or "", the window compares with what it asked."""
    bench.engine.answer = lambda state, cancelled: Frame(replace(state, device="cpu"), (), 1.0, 1.0, "cpu")
    bench.runner.submit(START)
    assert bench.next(Frame).state == START


def test_everything_happens_on_one_thread(bench: Bench) -> None:
    bench.runner.submit(START)
    bench.next(Frame)
    bench.runner.task(lambda engine: threading.get_ident(), "where")
    thread = bench.next(TaskDone).result
    assert bench.runner.close(WAIT)
    assert bench.engine.threads == {thread} != {threading.get_ident()}


# ---- failures


class Located(ValueError):
    where = "conv2"


class Ours(Exception):
    """Written for a person, as those of explorer are."""


Ours.__module__ = "explorer.somewhere"


@pytest.mark.parametrize(
    ("error", "said", "where"),
    [
        (ValueError("the image is too small"), "the image is too small", ""),
        (Located("no such channel"), "no such channel", "conv2"),
        (Ours("the mesh is not closed"), "the mesh is not closed", ""),
        (TypeError("bad operand"), "TypeError: bad operand", ""),
        (MemoryError(), "There is not enough memory for this", ""),
        (RuntimeError("could not create a primitive"), "There is not enough memory for this", ""),
        (RuntimeError("could not create a primitive descriptor"), "RuntimeError: could not create a primitive d", ""),
        (type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory. Tried"), "memory on the GPU", ""),
        (
            RuntimeError("[enforce fail] not enough memory: you tried to allocate 9 bytes"),
            "not enough memory",
            "",
        ),
        (
            FileNotFoundError(2, "No such file or directory", "/x.png"),
            "No such file or directory: /x.png",
            "",
        ),
        (KeyError("conv9"), "KeyError: 'conv9' is missing", ""),
        (SystemExit(3), "SystemExit: the code asked the program to exit", ""),
        (AssertionError(), "AssertionError was raised without a message.", ""),
        (ValueError("two\nlines   of it"), "two lines of it", ""),
    ],
)
def test_an_exception_becomes_a_sentence(bench: Bench, error: BaseException, said: str, where: str) -> None:
    bench.engine.raises = error
    bench.runner.submit(START)
    failure = bench.next(Failure)
    assert said in failure.sentence
    assert (failure.where, failure.state) == (where, START)
    assert "Traceback" in failure.detail and "\n" not in failure.sentence
    bench.engine.raises = None
    bench.runner.submit(START)
    assert bench.next().state == START, "the worker goes on"


def test_a_sentence_is_never_a_page() -> None:
    assert len(sentence(ValueError("x" * 5000))) <= 300
    own = sentence(type("Stop\nnow", (BaseException,), {})("\x1b[31m two\nlines" * 500))
    assert len(own) <= 300 and own.startswith("Stop now: ?[31m two lines")
    long = sentence(OSError(36, "File name too long", f"/{'folder/' * 500}two\nlines.json"))
    assert len(long) <= 300 and long.startswith("File name too long: /folder") and long.endswith("two lines.json.")


@pytest.mark.parametrize("error", [ImportError("No module named 'torch'"), OSError("libcuda"), SystemExit(1)])
def test_a_start_that_fails_is_said_and_ends_the_thread(error: BaseException) -> None:
    def start() -> Engine:
        raise error

    bench = Bench(start=start)
    bench.runner.submit(START)
    bench.runner.begin()
    assert bench.messages.get(timeout=WAIT) == Busy("Loading PyTorch…")
    lost = bench.next()
    assert isinstance(lost, NoEngine) and lost.failure.sentence and "Traceback" in lost.failure.detail
    assert bench.messages.get(timeout=WAIT) == Busy("")
    bench.runner.submit(START)  # answered by nobody, harmless
    assert bench.runner.close(WAIT)


def test_an_engine_without_a_catalogue_is_closed_again() -> None:
    bench = Bench()
    bench.engine.catalogue = lambda: 1 / 0
    bench.runner.begin()
    assert isinstance(bench.next(), NoEngine)
    assert bench.engine.closed.wait(WAIT)
    assert bench.runner.close(WAIT)


# ---- busy


def test_loading_is_announced_and_over(bench: Bench) -> None:
    fresh = Bench()
    fresh.runner.begin()
    kinds = [fresh.messages.get(timeout=WAIT) for _ in range(3)]
    assert kinds == [Busy("Loading PyTorch…"), CATALOGUE, Busy("")]
    assert fresh.runner.close(WAIT)


def test_a_quick_request_says_nothing(bench: Bench) -> None:
    bench.rest()
    bench.runner.submit(START)
    bench.next(Frame)
    bench.runner.check_busy()
    assert bench.rest() == []


def test_a_slow_request_is_announced_once_and_ends(bench: Bench) -> None:
    bench.rest()
    bench.engine.gate.clear()
    bench.runner.submit(START)
    bench.engine.entered.get(timeout=WAIT)
    bench.now = 0.1
    bench.runner.check_busy()
    assert bench.messages.empty()
    bench.now = 0.2  # whoever notices first says it: the engine between two layers, or the window's timer
    bench.runner.check_busy()
    assert bench.messages.get(timeout=WAIT) == Busy("Computing…")
    bench.now = 5.0
    bench.runner.check_busy()
    bench.engine.gate.set()
    assert bench.messages.get(timeout=WAIT).state == START  # type: ignore[attr-defined]
    assert bench.messages.get(timeout=WAIT) == Busy("")
    assert bench.rest() == []


# ---- refining


def refining(state: State, parts: int, ended: list[str]) -> Iterator[Frame]:
    try:
        for k in range(parts):
            yield Frame(state, (), float(k), 1.0, "cpu")
        ended.append("all")
    finally:
        ended.append("closed")


def test_what_was_not_measured_in_time_follows_before_the_orbit(bench: Bench) -> None:
    ended: list[str] = []
    bench.engine.refine = lambda frame: refining(frame.state, 3, ended)
    bench.runner.want_orbit(START)
    assert [bench.next().done for _ in range(3)] == [1, 2, 3]
    bench.engine.gate.clear()
    bench.runner.submit(START)
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.want_orbit(replace(START, orbit="translate"))
    bench.engine.gate.set()
    kinds = [bench.next() for _ in range(5)]
    assert [type(k) for k in kinds] == [Frame, Frame, Frame, Frame, OrbitCurve]
    assert [k.milliseconds for k in kinds[1:4]] == [0.0, 1.0, 2.0]
    assert "all" in ended


def test_a_frame_that_only_waits_is_not_shown_again(bench: Bench) -> None:
    """While an embedding was computed the window drew the same frame fifty times a second."""

    def refine(frame: Frame) -> Iterator[Frame]:
        for k in (1.0, 2.0):
            told = replace(frame, milliseconds=k)
            yield from (told, told, told)

    bench.engine.refine = refine
    bench.runner.submit(START)
    assert [bench.next(Frame).milliseconds for _ in range(3)][1:] == [1.0, 2.0]
    assert not [message for message in bench.rest() if isinstance(message, Frame)]


def test_a_newer_request_ends_the_refining(bench: Bench) -> None:
    ended: list[str] = []
    inside, go = threading.Event(), threading.Event()

    def refine(frame: Frame) -> Iterator[Frame]:
        if frame.state != turned(1):
            return
        try:
            inside.set()
            assert go.wait(WAIT)
            yield replace(frame, milliseconds=77.0)
            yield replace(frame, milliseconds=78.0)
        finally:
            ended.append("closed")

    bench.engine.refine = refine
    bench.runner.submit(turned(1))
    assert inside.wait(WAIT)
    bench.runner.submit(turned(2))
    go.set()
    assert [bench.next(Frame).state, bench.next(Frame).state] == [turned(1), turned(2)]
    assert bench.rest() == [], "what was measured of the frame before is not shown any more"
    assert ended == ["closed"]


def test_a_newer_request_ends_a_long_part_of_the_refining(bench: Bench) -> None:
    ended: list[str] = []
    inside, go = threading.Event(), threading.Event()

    def refine(frame: Frame) -> Iterator[Frame]:
        if frame.state != turned(1):
            return
        inside.set()
        assert go.wait(WAIT)
        try:
            step("Computing", 0.0)  # as between two layers of a slow network that meets the unrelated input
            ended.append("went on")
        finally:
            ended.append("closed")
        yield frame

    bench.engine.refine = refine
    bench.runner.submit(turned(1))
    assert inside.wait(WAIT)
    bench.runner.submit(turned(2))
    go.set()
    assert [bench.next(Frame).state, bench.next(Frame).state] == [turned(1), turned(2)]
    assert bench.rest() == [] and ended == ["closed"]


def test_refining_that_fails_is_said_and_the_frame_stays(bench: Bench) -> None:
    def refine(frame: Frame) -> Iterator[Frame]:
        yield frame
        raise ValueError("no floor for this layer")

    bench.engine.refine = refine
    bench.runner.submit(START)
    assert [type(bench.next()) for _ in range(3)] == [Frame, Frame, Failure]
    assert bench.rest() == []


# ---- orbit


def test_the_orbit_comes_after_the_frame_and_is_not_begun_twice(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.runner.submit(START)
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.want_orbit(START)
    bench.engine.gate.set()
    got = [bench.next() for _ in range(4)]
    assert isinstance(got[0], Frame)
    assert [c.done for c in got[1:] if isinstance(c, OrbitCurve)] == [1, 2, 3]
    bench.runner.want_orbit(replace(START, layer="conv2"))
    bench.runner.want_orbit(turned(33))
    assert bench.rest() == []
    assert bench.engine.orbits == [START]


def test_a_request_overtakes_the_orbit_which_then_goes_on(bench: Bench) -> None:
    gate = bench.engine.orbit_gate = threading.Semaphore(1)
    bench.runner.want_orbit(START)
    assert bench.next().done == 1
    bench.runner.submit(turned(5))
    gate.release()  # the worker may be inside part 2 by now; the frame comes before part 3 at the latest
    kinds = [type(bench.next()) for _ in range(2)]
    assert sorted(kinds, key=str) == sorted([Frame, OrbitCurve], key=str)
    gate.release()
    assert bench.next().done == 3
    assert len(bench.engine.orbits) == 1, "it went on, it did not start again"


def test_a_request_overtakes_a_part_of_the_orbit_which_is_done_again(bench: Bench) -> None:
    """It stood in the way of going back to a checkpoint for up to two seconds, until its part was over."""
    tried: list[str] = []
    inside, go = threading.Event(), threading.Event()

    def part() -> int:
        tried.append("begun")
        inside.set()
        assert go.wait(WAIT)
        waited()  # as between two layers
        tried.append("done")
        return 1

    def orbit(state: State) -> Iterator[OrbitCurve | None]:
        yield curve(state, (yield from giving_way(part)))

    bench.engine.orbit = orbit
    bench.runner.want_orbit(START)
    assert inside.wait(WAIT)
    bench.runner.submit(turned(5))
    go.set()
    got = [bench.next() for _ in range(2)]
    assert isinstance(got[0], Frame) and isinstance(got[1], OrbitCurve) and got[1].done == 1
    assert bench.rest() == [] and tried == ["begun", "begun", "done"]


def test_between_two_frames_of_a_drag_the_orbit_does_not_begin() -> None:
    bench = Bench(quiet=100.0)
    bench.runner.begin()
    bench.now = 1000.0
    bench.runner.want_orbit(START)
    for angle in range(5):
        bench.runner.submit(turned(angle))
        assert bench.next(Frame).state == turned(angle)
        bench.runner.want_orbit(turned(angle))
    assert bench.rest() == []
    bench.now = 1101.0
    bench.runner.task(lambda engine: None, "wake up")  # in place of the time that has passed
    assert bench.next().tag == "wake up"
    assert bench.next().done == 1
    assert bench.runner.close(WAIT)


def test_what_is_idle_waits_until_the_first_frame_can_have_been_drawn() -> None:
    """Thumbnails were made while the window drew its first frame, and took the interpreter from it."""
    bench = Bench(quiet=100.0)
    bench.runner.begin()
    bench.now = 1000.0
    bench.runner.want_orbit(START)
    bench.runner.submit(START)
    assert bench.next(Frame).state == START
    bench.now = 1101.0
    assert bench.rest() == []
    bench.now = 1501.0
    bench.runner.task(lambda engine: None, "wake up")
    assert bench.next().tag == "wake up"
    assert bench.next().done == 1
    assert bench.runner.close(WAIT)


def test_when_it_is_quiet_the_orbit_begins_of_itself() -> None:
    messages: queue.Queue[object] = queue.Queue()
    runner = Runner(FakeEngine, messages.put, quiet=0.02)
    runner.begin()
    runner.submit(START)
    runner.want_orbit(START)
    while not isinstance(messages.get(timeout=WAIT), OrbitCurve):
        pass
    assert runner.close(WAIT)


def test_another_epoch_starts_the_orbit_again(bench: Bench) -> None:
    gate = bench.engine.orbit_gate = threading.Semaphore(1)
    bench.runner.want_orbit(START)
    assert bench.next().state == START
    other = replace(START, sample="b")
    bench.runner.want_orbit(other)
    gate.release(10)
    assert [(c.state.sample, c.done) for c in (bench.next(), bench.next(), bench.next())] == [
        ("b", 1), ("b", 2), ("b", 3)
    ]  # fmt: skip
    assert bench.engine.orbit_closed[0] == START


def test_what_fails_has_no_orbit_that_fails_by_the_same(bench: Bench) -> None:
    bench.engine.raises = ValueError("this file cannot be read")
    bench.runner.submit(START)
    bench.runner.want_orbit(START)
    assert bench.next(Failure).where == ""
    assert bench.rest() == [] and bench.engine.orbits == []
    bench.engine.raises = None
    bench.runner.submit(turned(33))  # of the same orbit, which is due now
    assert isinstance(bench.next(), Frame) and bench.next(OrbitCurve).done == 1


def test_no_orbit_wanted_stops_it_and_wanting_it_again_starts_afresh(bench: Bench) -> None:
    bench.runner.want_orbit(START)
    assert [bench.next().done for _ in range(3)] == [1, 2, 3]
    bench.runner.want_orbit(None)
    assert bench.rest() == []
    bench.runner.want_orbit(START)
    assert [bench.next().done for _ in range(3)] == [1, 2, 3]


def test_an_orbit_that_fails_is_said_once(bench: Bench) -> None:
    def orbit(state: State) -> Iterator[OrbitCurve]:
        yield curve(state, 1)
        raise ValueError("this layer has no action")

    bench.engine.orbit = orbit
    bench.runner.want_orbit(START)
    assert bench.next().done == 1
    failure = bench.next()
    assert (failure.sentence, failure.where) == ("this layer has no action", "orbit")
    assert bench.rest() == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {"layer": "x", "channel": 3, "pixel": (1, 2), "untransform": True}, True),
        ({}, {"steps": parse_chain("rotate:30")}, True),
        ({"steps": parse_chain("rotate:10")}, {"steps": parse_chain("rotate:30")}, True),
        (
            {"steps": parse_chain("translate:3+rotate:10")},
            {"steps": parse_chain("translate:3")},
            True,
        ),
        ({"steps": parse_chain("translate:3")}, {"steps": parse_chain("translate:4+reflect")}, False),
        (
            {"orbit": "translate", "steps": parse_chain("translate:3,1")},
            {"orbit": "translate", "steps": parse_chain("translate:5,1")},
            True,
        ),
        (
            {"orbit": "translate", "steps": parse_chain("translate:3,1")},
            {"orbit": "translate", "steps": parse_chain("translate:5,2")},
            False,
        ),
        (
            {"orbit": "translate", "steps": parse_chain("translate:3,1")},
            {"orbit": "translate", "steps": parse_chain("translate:3,1,zero")},
            False,
        ),
        (
            {"orbit": "brightness", "steps": parse_chain("brightness:2,0.5")},
            {"orbit": "brightness", "steps": parse_chain("brightness:2,0")},
            False,
        ),
        ({}, {"orbit": "translate"}, False),
        ({"orbit": "nothing"}, {"orbit": "reflect"}, False),
        ({}, {"seed": 4}, False),
    ],
)
def test_what_the_orbit_depends_on(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    assert (orbit_key(State(**one)) == orbit_key(State(**other))) is same


# ---- tasks


def test_a_task_gets_the_engine_and_its_result_comes_back(bench: Bench) -> None:
    bench.runner.task(lambda engine: (engine is bench.engine, 42), "open")
    assert bench.next() == TaskDone("open", (True, 42))


def test_a_task_that_fails_says_so(bench: Bench) -> None:
    bench.runner.submit(START)
    bench.next(Frame)
    bench.runner.task(lambda engine: int("x"), "open")
    done = bench.next()
    assert done.tag == "open" and isinstance(done.result, Failure) and done.result.state == START


def test_tasks_are_done_in_order(bench: Bench) -> None:
    for number in range(5):
        bench.runner.task(lambda engine, n=number: n, "count")
    assert [bench.next().result for _ in range(5)] == list(range(5))


def test_a_generator_reports_progress_and_gives_way_to_requests(bench: Bench) -> None:
    reached, go = threading.Event(), threading.Event()

    def train(engine: Any) -> Any:
        yield Busy("Training…", 0.0)
        reached.set()
        assert go.wait(WAIT)
        yield Busy("Training…", 0.5)
        yield None
        return "trained"

    bench.rest()
    bench.runner.task(train, "train")
    assert bench.messages.get(timeout=WAIT) == Busy("Training…", 0.0)
    assert reached.wait(WAIT)
    bench.runner.submit(START)
    go.set()
    assert bench.messages.get(timeout=WAIT) == Busy("Training…", 0.5)
    frame = bench.messages.get(timeout=WAIT)
    assert isinstance(frame, Frame), "the request was answered between two parts"
    assert bench.messages.get(timeout=WAIT) == TaskDone("train", "trained")
    assert bench.messages.get(timeout=WAIT) == Busy("")


def test_the_next_task_waits_for_a_generator(bench: Bench) -> None:
    def slow(engine: Any) -> Any:
        bench.runner.task(lambda e: "second", "second")
        yield Busy("one")
        yield Busy("two")
        return "first"

    bench.runner.task(slow, "first")
    assert [bench.next().result, bench.next().result] == ["first", "second"]


# ---- cancel


def test_cancel_ends_a_request_and_the_next_is_answered(bench: Bench) -> None:
    bench.engine.gate.clear()
    bench.runner.submit(turned(1))
    bench.engine.entered.get(timeout=WAIT)
    bench.runner.cancel()
    bench.runner.submit(turned(2))
    assert bench.engine.entered.get(timeout=WAIT) == turned(2)
    bench.engine.gate.set()
    assert bench.next(Frame).state == turned(2)
    assert bench.engine.ended[0] == (turned(1), "cancelled")


def test_cancel_ends_a_generator_where_it_stands(bench: Bench) -> None:
    cleaned = threading.Event()

    def train(engine: Any) -> Any:
        try:
            yield Busy("Training…", 0.1)
            bench.runner.cancel()
            yield Busy("Training…", 0.2)
            raise AssertionError("went on")
        finally:
            cleaned.set()

    bench.runner.task(train, "train", "Training…")
    done = bench.next(TaskDone)
    assert done.tag == "train" and done.result.sentence == "Training: cancelled."
    assert cleaned.is_set()
    assert not [m for m in bench.rest() if m != Busy("")]


def test_cancel_takes_back_tasks_that_wait_but_not_what_has_run(bench: Bench) -> None:
    def first(engine: Any) -> str:
        bench.runner.task(lambda e: "never", "second")
        bench.runner.cancel()
        return "done"

    bench.runner.task(first, "first")
    second, one = bench.next(), bench.next()
    assert isinstance(second.result, Failure) and second.tag == "second"
    assert one == TaskDone("first", "done")
    assert bench.rest() == []


def test_cancel_with_nothing_to_cancel_is_harmless(bench: Bench) -> None:
    bench.runner.cancel()
    bench.runner.submit(START)
    assert bench.next(Frame).state == START
    bench.runner.task(lambda engine: 1, "one")
    assert bench.next() == TaskDone("one", 1)


def test_cancel_stops_the_orbit_until_it_is_wanted_again(bench: Bench) -> None:
    gate = bench.engine.orbit_gate = threading.Semaphore(1)
    bench.runner.want_orbit(START)
    assert bench.next().done == 1
    bench.runner.cancel()
    gate.release(10)
    assert bench.rest() == []
    bench.runner.want_orbit(START)
    assert bench.next().done == 1


# ---- close


def test_close_ends_the_thread_and_the_engine(bench: Bench) -> None:
    assert bench.runner.running
    assert bench.runner.close(WAIT)
    assert not bench.runner.running
    assert bench.engine.closed.is_set()
    assert bench.runner.close(WAIT), "twice is once"


def test_close_cancels_what_runs_and_delivers_nothing_more(bench: Bench) -> None:
    bench.rest()
    bench.engine.gate.clear()
    bench.engine.orbit_gate = threading.Semaphore(0)
    bench.runner.want_orbit(START)
    bench.runner.submit(START)
    bench.engine.orbit_gate.release(100)
    bench.engine.entered.get(timeout=WAIT)
    while not bench.messages.empty():
        bench.messages.get()
    assert bench.runner.close(WAIT)
    assert bench.messages.empty()
    assert bench.engine.ended == [(START, "cancelled")]


def test_close_closes_generators(bench: Bench) -> None:
    closed, there = threading.Event(), threading.Event()

    def work(engine: Any) -> Any:
        try:
            while True:
                there.set()
                yield None
        finally:
            closed.set()

    bench.runner.want_orbit(START)
    bench.runner.task(work, "endless")
    assert there.wait(WAIT)
    assert bench.runner.close(WAIT)
    assert closed.is_set()


def test_close_says_when_something_will_not_stop() -> None:
    bench, release, inside = Bench(), threading.Event(), threading.Event()

    def hang(engine: Any) -> None:
        inside.set()
        release.wait(WAIT)

    bench.runner.begin()
    bench.runner.task(hang, "hang")
    assert inside.wait(WAIT)
    assert bench.runner.close(0.01) is False
    release.set()
    assert bench.runner.close(WAIT)


def test_close_before_begin() -> None:
    bench = Bench()
    assert bench.runner.close()
    bench.runner.begin()
    assert not bench.runner.running


def test_close_while_the_engine_is_being_made() -> None:
    making, go = threading.Event(), threading.Event()
    bench = Bench()

    def start() -> Engine:
        making.set()
        assert go.wait(WAIT)
        return bench.engine  # type: ignore[no-any-return]

    slow = Bench(start=start)
    slow.runner.begin()
    assert making.wait(WAIT)
    assert slow.runner.close(0.01) is False
    go.set()
    assert slow.runner.close(WAIT)
    assert bench.engine.closed.is_set()


def test_many_submissions_from_another_thread_end_in_the_last(bench: Bench) -> None:
    """Hammer it: the last state asked for is always the last one answered."""
    for round_ in range(20):
        for angle in range(50):
            bench.runner.submit(turned(angle, sample="ab"[angle % 2]))
            bench.runner.want_orbit(turned(angle, sample="ab"[angle % 2]))
        last = turned(360 + round_, "c")
        bench.runner.submit(last)
        while bench.next(Frame).state != last:
            pass
        bench.rest()


# Progress that the work itself tells.


@dataclass
class SteppingEngine(FakeEngine):
    """Tells of its steps while its gate is closed, in answers and in the orbit."""

    def answer(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        self.entered.put(state)
        share = 0.0
        while not self.gate.wait(0.001):
            share = min(1.0, share + 0.01)
            step("Eigenvectors", share)
        return Frame(state, (), 1.0, 1.0, "cpu")

    def orbit(self, state: State) -> Iterator[OrbitCurve]:
        self.orbits.append(state)
        while self.orbit_gate is not None and not self.orbit_gate.acquire(timeout=0.001):
            step("Eigenvectors", 0.5)
        yield curve(state, 1)


@pytest.fixture
def stepping() -> Iterator[Bench]:
    it = Bench(SteppingEngine())
    it.runner.begin()
    assert it.next() is CATALOGUE
    yield it
    it.engine.gate.set()
    if it.engine.orbit_gate is not None:
        it.engine.orbit_gate.release(1000)
    assert it.runner.close(WAIT)


def test_a_long_answer_says_how_far_it_is(stepping: Bench) -> None:
    it = stepping
    it.engine.gate.clear()
    it.runner.submit(START)
    assert it.engine.entered.get(timeout=WAIT) == START
    it.now = 1.0
    while (busy := it.next(Busy)).fraction is None:
        pass
    assert busy.text == "Eigenvectors…" and 0 < busy.fraction <= 1
    it.engine.gate.set()
    assert it.next(Frame).state == START
    assert it.next(Busy).text == ""


def test_a_step_ends_what_nobody_waits_for(stepping: Bench) -> None:
    it = stepping
    it.engine.gate.clear()
    it.runner.submit(START)
    it.engine.entered.get(timeout=WAIT)
    other = State(sample="b")
    it.runner.submit(other)
    assert it.engine.entered.get(timeout=WAIT) == other  # the first one has given way
    it.engine.gate.set()
    assert it.next(Frame).state == other
    it.engine.gate.clear()
    it.runner.submit(START)
    it.engine.entered.get(timeout=WAIT)
    assert it.runner.close(WAIT)  # and so does the last one when the window closes


def test_an_orbit_gives_way_in_the_middle_of_a_part_and_begins_again(stepping: Bench) -> None:
    it = stepping
    it.engine.orbit_gate = threading.Semaphore(0)
    it.runner.submit(START)
    it.runner.want_orbit(START)
    it.next(Frame)
    while not it.engine.orbits:
        pass
    it.runner.submit(turned(3))
    assert it.next(Frame).state == turned(3)
    it.engine.orbit_gate.release()
    assert it.next(OrbitCurve).done == 1 and len(it.engine.orbits) >= 2


class SlowEngine(FakeEngine):
    """Refines until it is ended by force; that a request waits is no reason, as for a process beside this one."""

    def __init__(self) -> None:
        super().__init__()
        self.refining, self.waited_for = threading.Event(), threading.Event()
        self.urgent: list[bool] = []

    def refine(self, frame: Frame) -> Iterator[Frame]:
        self.refining.set()
        printed("said\n")
        while True:
            try:
                step("", 0.0)
            except Cancelled as why:
                if why.urgent not in self.urgent:
                    self.urgent.append(why.urgent)
                self.waited_for.set()
                if why.urgent:
                    raise Cancelled(told="It was stopped.") from None
        yield frame


def test_what_does_not_answer_is_offered_to_be_stopped_once(bench: Bench) -> None:
    bench.rest()
    bench.engine.gate.clear()
    bench.runner.submit(START)
    bench.engine.entered.get(timeout=WAIT)
    bench.now = 1.0
    bench.runner.check_busy()
    assert bench.next(Busy) == Busy(COMPUTING)
    bench.now = STOP_AFTER + 0.5
    bench.runner.check_busy()
    bench.runner.check_busy()
    assert bench.next(Busy) == Busy(COMPUTING, stop=True)
    bench.engine.gate.set()
    assert bench.next(Busy) == Busy("")


def test_idle_work_is_no_answer_that_is_wanting() -> None:
    """A slow network is measured while nobody waits; whoever asks meanwhile has waited since then alone."""
    bench = Bench(engine := SlowEngine())
    bench.runner.begin()
    bench.runner.submit(START)
    assert bench.next(Frame).state == START
    assert engine.refining.wait(WAIT)
    bench.now = 2 * STOP_AFTER
    bench.runner.check_busy()
    bench.runner.submit(turned(90.0))
    bench.now += STOP_AFTER / 2
    bench.runner.check_busy()
    assert bench.next(Busy) == Busy(MEASURING)
    bench.now += STOP_AFTER
    bench.runner.check_busy()
    assert bench.next(Busy) == Busy(MEASURING, stop=True)
    bench.runner.cancel()
    assert bench.runner.close(WAIT)


def test_idle_work_is_stopped_by_force_and_that_is_said() -> None:
    bench = Bench(engine := SlowEngine())
    bench.runner.begin()
    bench.runner.submit(START)
    assert bench.next(Frame).state == START
    assert engine.refining.wait(WAIT)
    assert bench.next(Printed) == Printed("said\n")
    assert not engine.urgent
    bench.runner.submit(turned(90.0))  # of the same epoch: it is waited for
    assert engine.waited_for.wait(WAIT)
    bench.runner.check_busy()
    assert engine.urgent == [False]
    bench.runner.cancel()
    assert bench.next(Failure).sentence == "It was stopped."
    assert engine.urgent == [False, True]
    assert bench.runner.close(WAIT)


def test_a_task_that_is_unwanted_ends_where_it_stands_and_makes_room_for_the_next_request() -> None:
    bench = Bench()
    begun = threading.Event()

    def work(engine: Any) -> Any:
        yield Busy("Trying…")
        begun.set()
        while True:
            step("", 0.0)

    bench.runner.begin()
    job = bench.runner.task(work, "long", "Trying versions…")
    other = bench.runner.task(lambda engine: 1, "other")
    late = bench.runner.task(lambda engine: 2, "late")
    assert begun.wait(WAIT)
    other.unwanted = True
    bench.runner.submit(START)
    job.unwanted = True
    long, second, frame, third = [bench.next(TaskDone, Frame) for _ in range(4)]
    assert (long.tag, long.result.cancelled, second.tag, second.result.cancelled) == ("long", True, "other", True)
    assert isinstance(frame, Frame) and third == TaskDone("late", 2)
    assert late.begun and not other.begun
    assert bench.runner.close(WAIT)


def test_a_task_hears_of_a_cancellation() -> None:
    bench = Bench()
    begun = threading.Event()

    def work(engine: Any) -> None:
        begun.set()
        while True:
            step("", 0.0)

    bench.runner.begin()
    bench.runner.task(work, "long", "Opening net.py…")
    assert begun.wait(WAIT)
    bench.runner.cancel()
    done = bench.next(TaskDone)
    assert done.result.sentence == "Opening net.py: cancelled." and done.result.cancelled
    bench.runner.submit(START)
    assert bench.next(Frame).state == START
    assert bench.runner.close(WAIT)


def test_what_is_seen_meanwhile_comes_before_the_answer_and_before_the_end_of_a_task(bench: Bench) -> None:
    glimpse = Glimpse("large", np.zeros((2, 2, 3), np.uint8))

    def task(engine: object) -> str:
        seen(glimpse)
        return "done"

    bench.runner.task(task, "open")
    kinds = []
    while not isinstance(message := bench.next(Glimpse, TaskDone), TaskDone):
        kinds.append(message)
    assert kinds == [glimpse]
