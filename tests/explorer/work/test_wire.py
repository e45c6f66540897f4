"""Values of another process: nothing is run for them, and each is of the kind and size that was expected."""

from __future__ import annotations

import json
import os
import pickle
import time
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from explorer.app.remote.answers import ANSWERS, said
from explorer.app.remote.block import Block
from explorer.app.remote.crossing import Receiver, Sender
from explorer.declare.elements import parse_chain
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.fields import grid
from explorer.square.frame import Frame, Measure
from explorer.state.state import State
from explorer.work.processes.hearing import Hearing
from explorer.work.processes.wire import DEEPEST, Reader, Refused, Unwritable, Writer


def there_and_back(value: object, hint: Any = object) -> Any:
    writer = Writer({})
    text = writer.text(value)
    memory = bytearray(writer.size)
    for at, raw in writer.parts:
        memory[at : at + raw.nbytes] = raw
    return Reader(bytes(memory)).value(text, hint)


PLAIN = [
    None, True, 3, -(10**30), 0.1, float("inf"), "ä\udc80\n\x1b", b"", b"ab" * 999, 1 + 2j, (1, (2, [3, {}])),
    {"a": 1, 2: (None,), (1, "b"): "c"}, {1, 2}, frozenset({"x"}), State(seed=3, steps=parse_chain("rotate:90")),
    grid(rep=Scalar()), np.float32(1.5), np.int64(-7), np.str_("ab"), MappingProxyType({"k": 1}),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=str)
def test_plain_values_come_back_as_they_were(value: object) -> None:
    back = there_and_back(value)
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3), np.arange(600.0).reshape(2, 300).T, np.array(3), np.zeros((0, 4), np.int8),
        np.array(["ä", "b"]), np.array([True]), np.array(["2024-01-01"], "M8[D]"), np.zeros(99, ">f4"),
        np.zeros(9, "c16"),
    ],
)  # fmt: skip
def test_arrays_come_back_and_cannot_be_written_to(array: np.ndarray[Any, Any]) -> None:
    back = there_and_back((array, array))[0]
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype and back.shape == array.shape and not back.flags.writeable


@pytest.mark.parametrize("value", [object(), print, os, Path("a"), np.array([None]), iter(()), State])
def test_what_is_not_plain_is_not_written(value: object) -> None:
    with pytest.raises(Unwritable):
        Writer().text((1, value))


@dataclass
class Elsewhere:
    """Of no module of the program: in a plug-in it would be one's own."""

    value: int


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("executed",)


def message(told: object, *named: str) -> bytes:
    return json.dumps([list(named), told]).encode()


DEEP = b"[" * 100_000 + b"]" * 100_000
LEVELS = f"[[],{'[0,' * (DEEPEST + 9)}1{']' * (DEEPEST + 9)}]".encode()
STEP, STATE = "explorer.declare.elements:Step", "explorer.state.state:State"
HOSTILE = {
    "nothing": b"",
    "pickle": pickle.dumps(Evil(), 5),
    "pickle of plain values": pickle.dumps(("done", 1)),
    "another text": b"{}",
    "deep text": DEEP,
    "deep values": LEVELS,
    "a number of 5,000 digits": b"[[]," + b"9" * 5000 + b"]",
    "an object of JSON": message({"a": 1}),
    "no kind": message([]),
    "an unknown kind": message([99, 1]),
    "a negative kind": message([-1, 1]),
    "a kind that is a text": message(["0", 1]),
    "half a mapping": message([2, 1]),
    "a key that cannot be one": message([2, [1], 1]),
    "a key beyond all numbers": message([2, 2**200, 1]),
    "os.mkdir": message([14, "executed"], "os:mkdir"),
    "a module that nobody has imported": message([14], "antigravity:fly"),
    "a module with a path": message([14], "explorer.../etc/passwd:x"),
    "a function of ours": message([14, "x"], "explorer.work.files.replacing:replacing"),
    "a class of ours with code": message([14, "x"], "explorer.app.remote.process:Worker"),
    "a class that ours imports": message([14, "x"], "explorer.app.remote.process:Connection"),
    "a data class of a test": message([14, 1], f"{__name__}:Elsewhere"),
    "a data class of a library": message([14, 1], "dataclasses:Field"),
    "a class without a name": message([14, 1], ""),
    "too few fields": message([14], STEP),
    "too many fields": message([14, "rotate", [0], 1, 2, 3, 4, 5], STEP),
    "a field of another kind": message([14, 7, [0]], STEP),
    "a list for a tuple": message([14, "rotate", [1, 90]], STEP),
    "an array without numbers": message([7, "<f8", [10**12], 0]),
    "an array of no shape": message([7, "<f8", [-1], ""]),
    "an array of half a shape": message([7, "<f8", [1.5], ""]),
    "objects": message([7, "|O", [1], "AAAAAAAAAAA="]),
    "numbers with names": message([7, "f8,O", [1], "AAAAAAAAAAA="]),
    "numbers of 10^9 letters": message([7, "<U999999999", [0], ""]),
    "another size": message([7, "<f8", [1], "AAAA"]),
    "an array that was not sent": message([8, 7]),
    "the last array": message([8, -1]),
    "letters that are no bytes": message([6, "\u00e9"]),
    "bytes that are not there": message([6, 10**9, 0]),
    "a member that is none": message([11, 0, "__class__"], "explorer.declare.types.fields:Scalar"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused_and_runs_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    began = time.process_time()
    with pytest.raises(Refused) as caught:
        Reader().value(HOSTILE[name])
    assert time.process_time() - began < 1 and len(str(caught.value)) < 300
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("answer", None), ("answer", "text"), ("answer", State()), ("outline", 1), ("next", (1,)), ("next", [1]),
        ("movable", ()), ("movable", (1, 2, 3, 4, 5)), ("tried", None), ("hold", b"x"), ("export_data", (1,)),
        ("report", ({}, "x")), ("trust", 1), ("open", ()), ("nearest_exact", (1,)),
    ],
)  # fmt: skip
def test_an_answer_of_another_kind_is_refused(request_: str, answer: object) -> None:
    with pytest.raises(Refused, match="where something else was expected"):
        there_and_back(("done", answer), said(ANSWERS[request_]))


@pytest.mark.parametrize(
    "told",
    [
        ("told", 1, 0.5), ("told", "x"), ("changed", None), ("failed", "a", "b", "c"), ("failed", "a", "b", "c", (1,)),
        ("seen", 1), ("cancelled", 1), ("what",), (), "done", {"done": 1},
    ],
)  # fmt: skip
def test_a_word_of_another_kind_is_refused(told: object) -> None:
    with pytest.raises(Refused):
        there_and_back(told, said(ANSWERS["answer"]))


def test_each_field_of_what_is_told_is_looked_at() -> None:
    fine = Measure(0.1, None, 0.0, None, True, "holds", channels=np.zeros(3, np.float32))
    assert there_and_back(fine).channels.shape == (3,)
    for wrong in ({"verdict": 1}, {"exact": "yes"}, {"channels": (1, 2)}, {"cumulative": "0"}, {"kept": None}):
        with pytest.raises(Refused, match=f"the {next(iter(wrong))} of a Measure"):
            there_and_back(replace(fine, **wrong))
    with pytest.raises(Refused, match="the squares of a Frame"):
        there_and_back(Frame(State(), ("square",), 1.0, 1.0, "cpu"))  # type: ignore[arg-type]


def test_a_message_in_a_block_is_bounded(tmp_path: Path) -> None:
    number = Block.made()
    ours, theirs = Block(number), Block(os.dup(number))
    value = np.arange(100_000.0)
    packed = Sender(theirs).packed(value)
    assert np.array_equal(Receiver(ours).unpacked(packed), value)
    for head in (b"[1e3,1,true]", b"[-1,5,true]", b"[900000,5,true]", b"[4611686018427387904,4611686018427387904,1]",
                 b"x", b"[" * 99, b"", b"null", b"[1,2]"):  # fmt: skip
        with pytest.raises(Refused):
            Receiver(ours).unpacked(head + packed[packed.index(b"\n") :])
    with pytest.raises(Refused, match="of no size"):
        Receiver(ours, most=1000).unpacked(packed)
    os.ftruncate(number, 2**40)  # claims a terabyte that nobody has written
    with pytest.raises(Refused):
        Receiver(ours).unpacked(json.dumps([2**40, 2**40, True]).encode() + packed[packed.index(b"\n") :])
    os.ftruncate(number, 10)  # cut off while it is used: an error, and no death by SIGBUS
    with pytest.raises(Refused):
        Receiver(ours).unpacked(packed)
    ours.write([(0, memoryview(b"x" * 5000))], 5000)
    ours.close()
    theirs.close()


def test_half_a_message_keeps_nobody_waiting() -> None:
    ours, theirs = Pipe()
    hearing = Hearing(ours, most=1000)
    theirs.send_bytes(b"first")
    theirs.send_bytes(b"second")
    assert hearing.poll(1) and hearing.take() == b"first"
    assert hearing.poll() and hearing.take() == b"second" and not hearing.poll()
    os.write(theirs.fileno(), b"\0\0\0\x64half")
    began = time.monotonic()
    assert not hearing.poll(0.05) and time.monotonic() - began < 5
    theirs.close()
    assert hearing.poll()
    with pytest.raises(EOFError):
        hearing.take()


@pytest.mark.parametrize("head", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xfe", b"\xff\xff\xff\xff" + b"\x7f" * 8])
def test_a_message_that_claims_gigabytes_is_refused(head: bytes) -> None:
    ours, theirs = Pipe()
    os.write(theirs.fileno(), head + b"x")
    hearing = Hearing(ours)
    assert hearing.poll(1)
    with pytest.raises(ValueError, match="no length"):
        hearing.take()
