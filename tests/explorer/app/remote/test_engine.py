"""Networks of files in a process of their own: the same frames, every death in one sentence, nothing left behind."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.importing import look
from explorer.app.remote.engine import DividedEngine
from explorer.app.remote.life import watching
from explorer.app.remote.life.deaths import Died
from explorer.app.remote.life.watching import MOST_PRINTED, Output
from explorer.app.thread.failures import Relayed, failure_of, is_kind
from explorer.declare.elements import parse_chain
from explorer.declare.states.interventions import parse_interventions
from explorer.network.opening.files.trust import Trust
from explorer.network.tracing.layers import LayerError
from explorer.square.frame import Frame, Glimpse
from explorer.state.state import State
from explorer.work.progress import Cancelled, listening
from tests.explorer.parts.misbehaving import ENDINGS, FINE, LINE, network, ramp
from tests.explorer.parts.process_program import PROGRAM, cards

LONGEST = 60.0  # seconds; only ever reached by a test that fails
GB = 10**9


@pytest.fixture(scope="module")
def engine() -> Iterator[DividedEngine]:
    made = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)
    yield made
    made.close()


def never() -> bool:
    return False


def upright(folder: Path, name: str) -> State:
    return State(name, sample=ramp(folder), device="cpu", steps=parse_chain("rotate:90"))


def upside_down(folder: Path, name: str) -> State:
    return replace(upright(folder, name), steps=parse_chain("rotate:180"))


def whole(engine: LocalEngine | DividedEngine, state: State) -> Frame:
    frame = engine.answer(state, never)
    return [frame, *engine.refine(frame)][-1]


def alike(one: object, other: object, path: str = "frame") -> None:
    """Assert that two values of plain data are equal, arrays too, but for rounding and what a clock has measured.

    Where a block of memory begins decides on some processors in which order a sum is made.
    """
    assert type(one) is type(other), path
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        assert one.dtype == other.dtype and one.shape == other.shape, path
        if one.dtype.kind == "f":
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6, err_msg=path)
        else:
            assert np.array_equal(one, other), path
        assert not other.flags.writeable, path
    elif isinstance(one, tuple | list):
        assert isinstance(other, tuple | list) and len(one) == len(other), path
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            alike(a, b, f"{path}[{k}]")
    elif isinstance(one, dict):
        assert isinstance(other, dict)
        alike(list(one.items()), list(other.items()), path)
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            if name not in ("milliseconds", "forward_milliseconds", "serial"):
                alike(getattr(one, name), getattr(other, name), f"{path}.{name}")
    elif isinstance(one, float):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-6, nan_ok=True), path
    else:
        assert one == other, path


def test_a_frame_is_the_same_as_in_this_process(engine: DividedEngine, tmp_path: Path) -> None:
    name = network(tmp_path)
    state = replace(upright(tmp_path, name), compare="fine", layer="conv", orbit="rotate")
    local = LocalEngine(cards(), trust=True)
    here, there = whole(local, state), whole(engine, state)
    alike(here, there)
    here_last, there_last = ({c.model: c for c in e.orbit(state)} for e in (local, engine))
    alike(here_last, there_last)
    assert engine.processes and "fine" in [s.model for s in there.squares]
    report, tensors = engine.report(state)
    assert report["model"] == name and set(tensors) == set(local.report(state)[1])
    engine.export_captures(state, str(tmp_path / "out.safetensors"))
    assert (tmp_path / "out.safetensors").stat().st_size
    looks = [look(e, state, ["fine", name][k:]) for e in (local, engine) for k in (0, 1)]
    assert [(found.model, found.problem) for found in looks] == [("fine", ""), (name, "")] * 2
    alike(looks[1], looks[3])
    assert engine.open_model(name) == {"model": name}
    with pytest.raises(Relayed, match=r"defines no 'Nut'; did you mean 'Net'\?"):
        engine.open_model(name.replace(":Net", ":Nut"))
    local.close()


def test_the_moved_picture_needs_no_process(engine: DividedEngine, tmp_path: Path) -> None:
    name = network(tmp_path)
    local = LocalEngine(cards(), trust=True)
    shown, wanted = upright(tmp_path, name), upside_down(tmp_path, name)
    assert engine.moved(replace(shown, seed=7)) is None  # of an epoch that nobody has answered
    for one in (local, engine):
        one.answer(shown, never)
    here, there = local.moved(wanted), engine.moved(wanted)
    assert here is not None and there is not None and there.state == wanted
    alike(here, there)
    assert np.array_equal(there.gx, engine.answer(wanted, never).squares[0].gx)
    steps = parse_chain("rotate:80")
    assert engine.nearest_exact(replace(shown, steps=steps)) == local.nearest_exact(replace(shown, steps=steps))
    local.close()


def test_large_data_are_seen_before_a_network_of_another_process_has_answered(
    engine: DividedEngine, tmp_path: Path
) -> None:
    path = tmp_path / "large.npy"
    np.save(path, np.random.default_rng(0).random((256, 256), np.float32))
    found: list[object] = []
    with listening(lambda *_: None, viewer=found.append):
        engine.answer(State(network(tmp_path), sample=str(path), device="cpu"), never)
    (glimpse,) = found
    assert isinstance(glimpse, Glimpse) and glimpse.picture.shape[2] == 3 and np.ptp(glimpse.picture) > 0


def test_the_modules_of_a_large_network_are_there_before_it_runs(engine: DividedEngine, tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    path.write_text(
        "import torch\n\nclass Large(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.acts = torch.nn.ModuleList(torch.nn.ReLU() for _ in range(1200))\n"
        "    def forward(self, x):\n        raise RuntimeError('it has run')\n"
    )
    outline = engine.outline(State(f"{path}:Large", device="cpu"), never)
    assert outline is not None and [m.name for m in outline.modules] == ["acts", *(f"acts.{k}" for k in range(1200))]
    assert {m.calls for m in outline.modules} == {-1}
    small = network(tmp_path, FINE)
    assert engine.outline(State(small, device="cpu"), never) is None
    assert engine.outline(State(f"{path}:Missing", device="cpu"), never) is None


def test_built_in_networks_start_no_process() -> None:
    engine = DividedEngine(LocalEngine(cards()), PROGRAM)
    whole(engine, State("fine", steps=parse_chain("rotate:90")))
    assert engine.processes == ()
    engine.close()


@pytest.mark.slow
def test_trust_is_decided_here_and_looked_at_there(tmp_path: Path) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=Trust()), PROGRAM, spare=False)
    state = upright(tmp_path, name := network(tmp_path))
    try:
        with pytest.raises(Relayed, match="add --trust") as refused:
            engine.answer(state, never)
        assert is_kind(refused.value, "Untrusted") and failure_of(refused.value, state).where == name.rpartition(":")[0]
        from explorer.network.opening.files.python_text import code_files

        engine.trust.contents.update(digest for _, digest in code_files(tmp_path / "net.py"))
        assert engine.answer(state, never).squares
        network(tmp_path, "return x + 1")  # another content
        frame = engine.answer(state, never)
        assert frame.stale is not None and "saved with other code than you have allowed" in frame.stale.sentence
        assert frame.asks, "the window offers to look at what has changed"
    finally:
        engine.close()


def test_a_saved_file_is_run_again_there(engine: DividedEngine, tmp_path: Path) -> None:
    state = upright(tmp_path, network(tmp_path))
    first = whole(engine, state)
    network(tmp_path, "return ) x")
    stale = whole(engine, state)
    assert stale.stale is not None and stale.stale.sentence.startswith(f"net.py, line {LINE}: SyntaxError")
    network(tmp_path, "return x + 1")
    frame = whole(engine, state)
    assert frame.reloaded and frame.stale is None and frame.serial > stale.serial > first.serial
    assert frame.squares[0].before


LINES = "from multiprocessing.connection import Connection as C;"


class Impatient:
    """Gives up once the network has been in the trap at so many looks in a row."""

    def __init__(self, engine: DividedEngine, patience: int) -> None:
        self.engine, self.patience, self.looks = engine, patience, 0

    def __call__(self) -> bool:
        self.looks = self.looks + 1 if self.engine.place == "trap" else 0
        return self.looks >= self.patience


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("exit", f"ended its own process with exit code 7 in layer trap (net.py, line {LINE})"),
        ("abort", f"was aborted by a library that it uses in layer trap (net.py, line {LINE})"),
        ("segfault", f"crashed (segmentation fault) in layer trap (net.py, line {LINE})"),
        ("kill", "was killed by its own code or by another program (SIGKILL) in layer trap"),
        ("parent", "was ended: its parent process was killed in layer trap"),
        ("group", "was ended: its parent process was killed in layer trap"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "stopped its own process by a signal, and was ended in layer trap."),
        ("import struct; struct.pack = None; return x", "has broken what Python itself needs"),
        (
            "from explorer.work.progress import Cancelled; raise Cancelled",
            "broke off though nobody had asked it to, and was ended",
        ),
        (f"{LINES} C.send_bytes = lambda *a: None; return x", "has replaced what sends its answers, and was ended."),
        (f"{LINES} C._send = lambda *a: None; return x", "has replaced what sends its answers, and was ended."),
        ("hang", f"did not answer and was stopped in layer trap (net.py, line {LINE})"),
        ("wait", f"did not answer and was stopped in layer trap (net.py, line {LINE})"),
    ],
)
@pytest.mark.slow
def test_a_death_is_one_sentence_and_leaves_nothing(tmp_path: Path, how: str, sentence: str) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)
    before = resources()
    try:
        state = upside_down(tmp_path, network(tmp_path, ENDINGS.get(how, how)))
        with pytest.raises((Died, Cancelled)) as end:
            engine.answer(state, Impatient(engine, 20) if how in ("hang", "wait") else never)
        told = end.value.told if isinstance(end.value, Cancelled) else str(end.value)
        assert told.startswith(f"Net in net.py {sentence}"), told
        assert engine.processes == ()
        again = upside_down(tmp_path, network(tmp_path, FINE, "other.py"))
        assert engine.answer(again, never).squares
    finally:
        engine.close()
    del state, again
    assert resources() == before


@pytest.mark.slow
def test_nobody_waits_for_one_that_hears_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MOST_UNHEARD", 1.0)
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)
    try:
        state = upside_down(tmp_path, network(tmp_path, f"{LINES} C.recv_bytes = lambda *a: time.sleep(1e6); return x"))
        with pytest.raises(Died, match=r"Net in net\.py has replaced what hears what it is asked, and was ended"):
            engine.answer(state, never)
        assert engine.processes == ()
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "how, told",
    [
        ("torch.linalg.vector_norm = lambda *a, **k: torch.zeros(()); return x", "replaced torch.linalg.vector_norm"),
        ("import traceback; vars(traceback).clear(); raise ValueError('x')", "emptied the module traceback"),
        ("import json; vars(json).clear(); return x", "emptied the module json"),
    ],
)
def test_a_network_does_not_judge_itself(tmp_path: Path, how: str, told: str) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)
    try:
        with pytest.raises(Relayed, match=f"Net in net.py has {told}"):
            engine.answer(upside_down(tmp_path, network(tmp_path, how)), never)
        assert engine.answer(upside_down(tmp_path, network(tmp_path, FINE, "other.py")), never).squares
    finally:
        engine.close()


def test_one_that_ran_before_is_not_told_to_have_replaced_what_another_one_has(tmp_path: Path) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)
    fine = upside_down(tmp_path, network(tmp_path, FINE, "other.py"))
    try:
        assert engine.answer(fine, never).squares
        with pytest.raises(Relayed, match=r"Net in net\.py has replaced numpy\.abs"):
            engine.answer(upside_down(tmp_path, network(tmp_path, "import numpy; numpy.abs = 0; return x")), never)
        assert engine.answer(fine, never).squares
    finally:
        engine.close()


def test_a_layer_that_gives_nothing_on_the_moved_data_is_named(tmp_path: Path) -> None:
    local = LocalEngine(cards(), trust=True)
    state = replace(upside_down(tmp_path, network(tmp_path, "return x[:0]")), layer="trap")
    with pytest.raises(
        LayerError, match=r"layer trap of .* gave no value on the moved data.*: its shape there is \(0,"
    ):
        local.answer(state, never)
    local.close()


@pytest.mark.parametrize(
    "how",
    [
        "torch.nn.functional.conv2d = None; return x",
        "sys.modules.pop('json'); return x",
        "os.chdir('/'); return x",
        "from torch.utils._python_dispatch import TorchDispatchMode as M; M().__enter__(); return x",
        "os.environ.clear(); return x",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); return x",
        "sys.setrecursionlimit(300); return x",
        "os.umask(0o777); return x",
        "os.nice(5); return x",
        "os.setgroups([]) or os.setuid(65534) if os.getuid() == 0 else os.umask(0o777); return x",
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]); return x",
        "signal.signal(signal.SIGHUP, signal.SIG_IGN); return x",
        "TURNED.extend(os.open('/dev/null', 0) for _ in range(600)); return x",
        "[os.set_blocking(f, False) for f in range(64) if os.path.exists(f'/dev/fd/{f}')]; return x",
        "sys.setswitchinterval(1.0); return x",
        "sys.stdout.close(); return x",
        "os.getpid = os.kill = os.getcwd = None; return x",
        "time.monotonic = time.time = lambda: 0; return x",
        "threading.Thread = None; return x",
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10 ** 9, 10 ** 9)); return x",
        "torch.set_flush_denormal(True); return x",
        "torch.nn.modules.module.register_module_forward_hook(lambda *_: None); return x",
        "subprocess = __import__('subprocess'); subprocess.Popen(['sleep', '86124'], start_new_session=True); return x",
        "subprocess = __import__('subprocess'); subprocess.run('sleep 86124 &', shell=True); return x",
    ],
)
@pytest.mark.slow
def test_what_a_network_has_changed_meets_no_other(tmp_path: Path, how: str) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, spare=False)
    try:
        first = upside_down(tmp_path, network(tmp_path, how))
        with contextlib.suppress(Relayed):
            engine.answer(first, never)
        used = engine.processes
        with contextlib.suppress(Relayed):
            engine.answer(replace(first, seed=1), never)
        assert engine.processes == used, "the network itself goes on in its process"
        other = upside_down(tmp_path, network(tmp_path, FINE, "other.py"))
        square = engine.answer(other, never).squares[0]
        assert np.isfinite(square.fx).all() and engine.processes != used
        used = engine.processes
        assert engine.answer(upside_down(tmp_path, network(tmp_path, FINE, "third.py")), never).squares
        assert engine.processes == used, "who has changed nothing shares a process"
    finally:
        engine.close()


@pytest.mark.parametrize("name", ["__hash__", "parameters", "named_modules", "buffers"])
def test_a_network_that_cannot_be_asked_for_its_parts_stands_in_no_others_way(tmp_path: Path, name: str) -> None:
    engine = LocalEngine(cards(), trust=True)
    bad = network(tmp_path, f"type(self).{name} = Net.{name} = lambda *a, **k: 1 / 0; return x")
    for state in (upside_down(tmp_path, bad), replace(upright(tmp_path, bad), seed=1)):
        with contextlib.suppress(LayerError, ZeroDivisionError):
            engine.answer(state, never)
    for k in range(2):
        assert whole(engine, upside_down(tmp_path, network(tmp_path, FINE, f"fine{k}.py"))).squares


HEARD = 5.0  # seconds


def resources() -> tuple[object, ...]:
    """Return what may leak: descriptors by what they are of, threads, shared memory, children."""
    for thread in threading.enumerate():
        if thread.name == "equiscope-output":  # of a process that has ended, heard of late on a busy machine, or of
            thread.join(HEARD)  # one that goes on: that of an engine which several tests share
    gc.collect()
    descriptors = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the one that lists them
            descriptors.append(re.sub(r"\d+", "#", os.readlink(f"/proc/self/fd/{number}")))
    shared = sorted(os.listdir("/dev/shm")) if Path("/dev/shm").is_dir() else []
    children = Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children")
    return (
        sorted(descriptors),
        sorted(thread.name for thread in threading.enumerate()),
        [name for name in shared if "equiscope" in name or name.startswith("psm_")],
        children.read_text() if children.exists() else "",
    )


@pytest.mark.slow
def test_too_much_memory_is_told_and_given_back(tmp_path: Path) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM, limit=2 * GB, spare=False)
    try:
        state = upside_down(tmp_path, network(tmp_path, ENDINGS["memory"]))
        with pytest.raises((Died, Relayed)) as end:
            engine.answer(state, never)
        told = failure_of(end.value, state).sentence
        assert "There is not enough memory for this" in told or "took more memory than the 2 GB" in told
        assert failure_of(end.value, state).where == "trap"
        assert engine.processes == ()  # what it holds would be in the way
    finally:
        engine.close()


@pytest.mark.parametrize("how", ["base", "generator", "leave"])
def test_what_is_no_exception_is_told(engine: DividedEngine, tmp_path: Path, how: str) -> None:
    state = upside_down(tmp_path, network(tmp_path, ENDINGS[how]))
    with pytest.raises(Relayed) as end:
        engine.answer(state, never)
    failure = failure_of(end.value, state)
    kind = {"base": "BaseException: no more", "generator": "GeneratorExit", "leave": "SystemExit: 3"}[how]
    assert failure.sentence.startswith(f"layer trap raised {kind}") and failure.where == "trap"
    assert f"line {LINE}, in spring" in failure.detail and engine.processes


def test_what_it_prints_is_read_up_to_a_bound(engine: DividedEngine, tmp_path: Path) -> None:
    heard: list[str] = []
    state = upside_down(tmp_path, network(tmp_path, "[print('y' * 10 ** 6) for _ in range(10)]; return x"))
    with listening(lambda text, share: None, heard.append):
        engine.answer(state, never)
    text = "".join(heard)
    shown, _, rest = text.partition("\n…")
    assert shown == "y" * MOST_PRINTED and "more bytes of output are left out" in rest


@pytest.mark.parametrize("after", ["return x", "time.sleep(60)"])
def test_what_prints_without_end_is_ended(engine: DividedEngine, tmp_path: Path, after: str) -> None:
    printing = f"[os.write(1, b'y' * 10 ** 6) for _ in range(100)]; {after}"
    heard: list[str] = []
    with pytest.raises(Died) as end, listening(lambda text, share: None, heard.append):
        engine.answer(upside_down(tmp_path, network(tmp_path, printing)), never)
    assert str(end.value).startswith("Net in net.py printed more than 50 MB") and engine.processes == ()
    assert len("".join(heard)) < MOST_PRINTED + 100
    fine = engine.answer(upside_down(tmp_path, network(tmp_path, FINE, "other.py")), never)
    assert fine.squares  # the next network is answered


def test_a_frame_has_one_bound_of_what_is_printed(
    engine: DividedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.answer(upright(tmp_path, network(tmp_path)), never)
    rooms: list[Output] = []
    monkeypatch.setattr(Output, "fresh", lambda output: rooms.append(output))
    engine.answer(upright(tmp_path, network(tmp_path, name="other.py")), never)  # another epoch, with its inputs
    assert len(rooms) == 1


def test_it_has_no_toolkit_and_its_numbers_are_its_own(engine: DividedEngine, tmp_path: Path) -> None:
    qt = "assert not {'PySide6', 'pyqtgraph', 'pyvista'} & set(sys.modules); return x"
    frame = whole(engine, upside_down(tmp_path, network(tmp_path, qt)))
    kept = frame.squares[0].x.copy()
    whole(engine, upright(tmp_path, network(tmp_path, FINE, "other.py")))  # overwrites the shared block
    assert np.array_equal(frame.squares[0].x, kept)


@pytest.mark.slow
def test_a_spare_one_takes_over(tmp_path: Path) -> None:
    engine = DividedEngine(LocalEngine(cards(), trust=True), PROGRAM)
    try:
        state = upright(tmp_path, network(tmp_path, ENDINGS["exit"]))
        whole(engine, state)
        first, spare = engine.processes
        with pytest.raises(Died):
            engine.answer(replace(state, steps=parse_chain("rotate:180")), never)
        assert engine.answer(state, never).squares
        assert engine.processes[0] == spare != first
    finally:
        engine.close()


SCRIPT = """
import sys
from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.importing import look
from explorer.app.remote.engine import DividedEngine
from explorer.state.state import State
from explorer.declare.elements import parse_chain
from explorer.declare.states.interventions import parse_interventions
from tests.explorer.parts.process_program import PROGRAM

engine = DividedEngine(LocalEngine({}, trust=True), PROGRAM, spare=False)
def waits():
    if engine.place == "trap":
        print(*engine.processes, flush=True)
    return False
engine.answer(State(sys.argv[1], sample=sys.argv[2], device="cpu", steps=parse_chain("rotate:180")), waits)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for the end of a process that is not its child")
def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    tells = "import pathlib; pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid()))"
    name = network(tmp_path, f"{tells}\n        {ENDINGS['hang']}")
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, name, ramp(tmp_path)], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        guard = os.pidfd_open(int(parent.stdout.readline()))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert not select.select([guard], [], [], 0.01)[0]
        child = os.pidfd_open(int((tmp_path / "pid").read_text()))
        parent.send_signal(signal.SIGKILL)
        for process in (guard, child):
            assert select.select([process], [], [], LONGEST)[0], "it has outlived its parent"
            os.close(process)


def test_a_wish_to_stop_reaches_it_between_two_layers(engine: DividedEngine, tmp_path: Path) -> None:
    action = "nn.Identity()(x); time.sleep(0.3); return x"
    state = upside_down(tmp_path, network(tmp_path, action))
    engine.answer(replace(state, steps=()), never)
    (before,) = engine.processes
    with pytest.raises(Cancelled) as end:
        engine.answer(state, Impatient(engine, 1))
    assert end.value.told == "" and engine.processes == (before,)  # it has given way by itself
    assert engine.answer(state, never).squares


@pytest.mark.slow
def test_interventions_and_symmetric_versions_are_the_same_as_in_this_process(
    engine: DividedEngine, tmp_path: Path
) -> None:
    name = network(tmp_path)
    some = parse_interventions(["conv[0]:scale=0.5"])
    state = replace(upright(tmp_path, name), interventions=some, saliency="occlusion")
    local = LocalEngine(cards(), trust=True)
    here, there = whole(local, state), whole(engine, state)
    assert there.squares[0].interventions == some
    assert there.squares[0].changes["conv"].on_x > 0
    assert there.squares[0].saliency is not None and there.squares[0].saliency.done == 1.0
    alike(here, there)
    plain = replace(state, interventions=())
    *_, here_last = local.proposals(plain, "conv")
    *_, there_last = engine.proposals(plain, "conv")
    assert here_last == there_last and isinstance(there_last, tuple)
    with pytest.raises(Relayed, match="did you mean 'conv'"):
        engine.answer(replace(state, interventions=parse_interventions(["conf:zero"])), never)
    local.close()
