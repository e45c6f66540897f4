"""The process that reads files: whatever a reader does, one sentence; nothing is executed for an answer."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from explorer.data.opening import read_file
from explorer.data.reader_process import asking, bounds
from explorer.data.reader_process.asking import Pool, Process
from explorer.data.reader_process.carrying import receive, send
from explorer.data.readers import ReadError
from explorer.declare import registry
from explorer.declare.registry import PLUGINS
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.fields import grid
from explorer.work.processes.starting import PROCESS
from explorer.work.processes.wire import Refused
from explorer.work.progress import Cancelled, listening

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the system")
READERS = """
import os, signal, time
from explorer.data.readers import Reader, ReadError
from explorer.spaces.grid.sample import image_sample
import numpy as np

def read(path):
    match path.read_text():
        case "crash": os.kill(os.getpid(), signal.SIGSEGV)
        case "abort": os.abort()
        case "leave": os._exit(0)
        case "loop":
            while True: pass
        case "wait": time.sleep(1000)
        case "memory": return len(bytearray(3 * 2**30))
        case "slowly":
            kept = []
            while True: kept.append(bytearray(2**20) + b"x")
        case "files":
            kept = [open(path) for _ in range(1000)]
        case "defect": raise KeyError("b'\\\\x00'")
        case "exit": raise SystemExit(3)
    return image_sample(np.ones((1, 3, 4), np.float32), "a")

READER = Reader("misbehaving", "Misbehaving", (".bad",), "grid", lambda head: False, read)
"""


@pytest.fixture
def readers_that_misbehave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    room = tmp_path / "plugins" / "misbehaving" / "readers"
    room.mkdir(parents=True)
    for folder in (room, room.parent):
        (folder / "__init__.py").touch()
    (room / "bad.py").write_text(READERS)
    monkeypatch.setenv(PLUGINS, str(tmp_path / "plugins"))
    monkeypatch.setattr(asking, "pool", pool := Pool())
    monkeypatch.setattr("explorer.data.opening.pool", pool)
    monkeypatch.setattr(bounds, "SECONDS", 1.0)
    registry.forget()
    yield
    pool.close()
    monkeypatch.undo()
    registry.forget()
    for name in [name for name in sys.modules if name.partition(".")[0] == "misbehaving"]:
        del sys.modules[name]


def place(folder: Path, content: str) -> Path:
    path = folder / "a.bad"
    path.write_text(content)
    return path


@LINUX
@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("crash", "crashed (a segmentation fault)"), ("abort", "crashed (an abort)"), ("leave", "crashed"),
        ("loop", "takes longer than 1 s"), ("memory", "MB of memory"), ("slowly", "MB of memory"),
        ("files", "too many open files"), ("defect", "failed"), ("exit", "crashed"),
    ],
)  # fmt: skip
def test_whatever_a_reader_does_is_one_sentence(
    content: str, says: str, tmp_path: Path, readers_that_misbehave: None
) -> None:
    path = place(tmp_path, content)
    with pytest.raises(ReadError) as caught:
        read_file(path)
    text = str(caught.value)
    assert says in text and text.startswith("cannot read a.bad: ") and len(text) <= 300 and "\\x" not in text
    assert read_file(place(tmp_path, "fine")).x.values.shape == (1, 3, 4), "the next file finds a process"


def test_a_process_that_waits_without_end_is_ended(
    tmp_path: Path, readers_that_misbehave: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "IDLE", 1.5)
    with pytest.raises(ReadError, match="takes longer than 1 s"):
        read_file(place(tmp_path, "wait"))


def test_reading_is_cancelled_at_once(tmp_path: Path, readers_that_misbehave: None) -> None:
    path = place(tmp_path, "loop")
    pool = asking.pool
    pool.expect()
    (process,) = pool.idle
    asked: list[float] = []

    def nobody_waits(text: str, share: float) -> None:
        if process.ready and text == "Reading a.bad":
            asked.append(time.monotonic())
            raise Cancelled

    with listening(nobody_waits), pytest.raises(Cancelled):
        read_file(path)
    assert time.monotonic() - asked[0] < 1 and not process.alive and not pool.idle


def test_several_threads_read_at_once(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((5, 6)))
    found: list[tuple[int, ...]] = []
    threads = [
        threading.Thread(target=lambda: found.append(read_file(tmp_path / "a.npy").x.values.shape)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [(1, 5, 6)] * 4


def test_a_relative_name_means_the_folder_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", np.ones((5, 6)))
    read_file(tmp_path / "a.npy")
    monkeypatch.chdir(tmp_path)
    assert read_file(Path("a.npy")).x.values.shape == (1, 5, 6)


def test_one_process_for_all_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESS, "0")
    monkeypatch.setattr(Process, "__init__", lambda self: 1 / 0)
    np.save(tmp_path / "a.npy", np.ones((5, 6)))
    assert read_file(tmp_path / "a.npy").x.values.shape == (1, 5, 6)


# what crosses


def crossed(value: object) -> object:
    one, other = Pipe()
    send(one, value)
    return receive(other)


def test_plain_values_and_arrays_cross() -> None:
    shared = np.arange(6.0).reshape(2, 3)
    value = {
        "arrays": (shared, shared.T, np.array(3), np.zeros((0, 4), np.int64), np.array(["ä", "b"])),
        "field": grid(rep=Scalar()),
        "mapping": MappingProxyType({"a": shared[:, 1]}),
        "number": np.float64(1.5),
    }
    back = crossed(value)
    assert isinstance(back, dict) and back["field"] == value["field"] and back["number"] == 1.5
    for had, got in zip(value["arrays"], back["arrays"], strict=True):  # type: ignore[arg-type]
        np.testing.assert_array_equal(had, got)
        assert got.dtype == had.dtype and got.shape == had.shape and not got.flags.writeable
    assert isinstance(back["mapping"], MappingProxyType) and back["mapping"]["a"].tolist() == [1, 4]


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("executed",)


@pytest.mark.parametrize("message", [Evil(), eval, os.mkdir, Path("a"), {1: Evil()}, object()])
def test_an_answer_executes_nothing(message: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = Pipe()
    one.send_bytes(b"0" + pickle.dumps(message, 5))
    with pytest.raises(Refused):
        receive(other)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("message", [b"", b"0", b"0garbage", b"2[[],1]"])
def test_a_damaged_answer_is_refused(message: bytes) -> None:
    one, other = Pipe()
    one.send_bytes(message)
    one.send_bytes(b"")
    if message[:1] == b"2":
        assert receive(other) == 1
    else:
        with pytest.raises(Refused):
            receive(other)
