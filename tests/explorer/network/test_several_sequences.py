"""Networks that take several sequences of values, by position, by name or in a dict: from their file, and as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.own_inputs import asked, tried
from explorer.declare.elements import parse_chain
from explorer.declare.telling.asking import parse_declared
from explorer.state.state import State
from tests.explorer.parts.own_files import checked_under, written

NETWORKS = """
import torch
from torch import nn

class Ramped(nn.Conv1d):
    def forward(self, x):
        y = super().forward(x)
        return y * torch.linspace(0.5, 1.5, y.shape[-1], dtype=y.dtype)

class Base(nn.Module):
    kind = nn.Conv1d
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.hear = nn.Conv1d(8, 6, 3, padding=1)
        self.read = self.kind(4, 6, 5, padding=2)
        self.head = nn.Conv1d(6, 2, 1)
    def both(self, a, t):
        return self.head((self.hear(a.transpose(1, 2)) + self.read(t.transpose(1, 2))).relu()).transpose(1, 2)

class Ordered(Base):
    def forward(self, audio, text):
        return self.both(audio, text)

class Faulty(Ordered):
    kind = Ramped

class ByKeyword(Base):
    def forward(self, *, audio, text):
        return self.both(audio, text)

class InOrderAlone(Base):
    def forward(self, audio, text, /):
        return self.both(audio, text)

class Dict(Base):
    input_channels = {"audio": 8, "text": 4}
    def forward(self, batch, scale=1.0):
        return {"out": self.both(batch["audio"], batch["text"]) * scale}

class Unsaid(Base):
    def forward(self, batch):
        return self.both(batch["audio"], batch["text"])

class Sees(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.near, self.far = nn.Conv1d(8, 6, 1), nn.Conv1d(4, 6, 1)
    def forward(self, audio, text):
        a, t = self.near(audio.transpose(1, 2)), self.far(text.transpose(1, 2))
        return a + nn.functional.avg_pool1d(t, 9, 1, 4)

class Unlike(nn.Module):
    def __init__(self):
        super().__init__()
        self.hear, self.read = nn.Linear(8, 6), nn.Linear(4, 6)
    def forward(self, audio, text):
        return self.hear(audio) + self.read(text)
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    return written(tmp_path, NETWORKS)


DATA = "audio=random:40x8,text=ramp:40x4"


@pytest.mark.parametrize("data", ["", DATA, "sine"])
@pytest.mark.parametrize("name", ["Ordered", "ByKeyword", "InOrderAlone", "Dict"])
def test_they_are_given_as_the_network_takes_them(name: str, data: str, file: str) -> None:
    assert checked_under("shift", f"{file}:{name}", data).verdict == "holds"


@pytest.mark.parametrize("data", ["", DATA])
def test_a_fault_on_the_way_of_the_second_one_is_named(data: str, file: str) -> None:
    report = checked_under("shift", f"{file}:Faulty", data)
    assert report.verdict == "broken" and report.guilty == ("read",)
    (read,) = (layer for layer in report.layers if layer.name == "read")
    assert read.attributed is not None  # its effect is followed from the second argument on


def test_how_far_is_seen_of_the_second_one_counts(file: str) -> None:
    """The pool is code of a forward: near values of the first argument, and nine steps of the second."""
    assert checked_under("shift", f"{file}:Sees", DATA).verdict == "holds"


def test_all_of_them_move_together(file: str) -> None:
    engine = LocalEngine({}, trust=True)
    state = State(f"{file}:Ordered", sample=DATA, steps=parse_chain("shift:3"))
    frame = engine.answer(state, lambda: False)
    last = [frame, *engine.refine(frame)][-1]
    measure = last.squares[0].measures["output"]
    assert measure.verdict == "holds" and measure.chance is not None and measure.chance > 0.1
    assert [*engine.orbit(state)]
    (note,) = (n for n in engine.prepared(State(state.model, sample="sine"), state.model).sample.notes if "noise" in n)
    assert note == "the data is one sequence: text is noise"


def test_the_form_asks_for_several_sequences(file: str) -> None:
    line = tried(f"{file}:Unsaid", parse_declared("sequence sequences=audio:8,text:4"), True)
    assert line.startswith("audio 1×64×8, text 1×64×4 → 1×64×2")
    (rows,) = (k.rows for k in asked(f"{file}:Ordered", True).kinds if k.name == "sequence")
    told = {r.question.name: (r.text, r.why) for r in rows}
    assert told["sequences"] == ("audio:8,text:4", "its forward takes (audio, text)")
    assert told["layout"][0] == "NTC"


def test_what_lacks_is_told(file: str) -> None:
    with pytest.raises(ValueError, match="takes audio, text: text is missing"):
        checked_under("shift", f"{file}:Ordered", "audio=random:40x8")
    with pytest.raises(ValueError, match=r"INPUT_CHANNELS = \{'audio': 8, \.\.\.\} of sequences, INPUT_SIGNALS"):
        checked_under("shift", f"{file}:Unlike")
    with pytest.raises(ValueError, match=r"\{'name': 1, \.\.\.\} for a dict"):
        checked_under("shift", f"{file}:Unsaid")


class Ramped(nn.Conv1d):
    """A convolution that weighs steps by where they are."""

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        return y * torch.linspace(0.5, 1.5, y.shape[-1], dtype=y.dtype)


class Both(nn.Module):
    """Add two sequences; what is read may depend on its place."""

    def __init__(self, read: type[nn.Conv1d] = nn.Conv1d) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.hear, self.read = nn.Conv1d(8, 6, 3, padding=1), read(4, 6, 3, padding=1)

    def forward(self, audio: Tensor, text: Tensor) -> Tensor:
        return self.hear(audio.mT).mT + self.read(text.mT).mT


@pytest.mark.parametrize("by_name", [True, False])
def test_tensors_are_taken_without_a_file(by_name: bool) -> None:
    audio, text = torch.randn(1, 24, 8), torch.randn(1, 24, 4)
    data: Any = {"audio": audio, "text": text} if by_name else (audio, text)
    assert check_equivariance(Both(), data, "shift").holds
    assert check_equivariance(Both(Ramped), data, "shift").guilty == ("read",)


def test_sequences_may_differ_in_length() -> None:
    class Attends(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.q, self.k = nn.Linear(8, 6), nn.Linear(4, 6)

        def forward(self, audio: Tensor, text: Tensor) -> Tensor:
            q, k = self.q(audio), self.k(text)
            return (q @ k.mT).softmax(-1) @ k

    data = {"audio": torch.randn(1, 24, 8), "text": torch.randn(1, 15, 4)}
    report = check_equivariance(Attends(), data, "reversal")
    assert report.holds and {layer.name: layer.verdict for layer in report.layers}["k"] == "holds"


def test_an_axis_of_time_that_nothing_tells_is_asked_for() -> None:
    class Any_(nn.Module):
        def forward(self, audio: Tensor, text: Tensor) -> Tensor:
            return audio + text

    same = torch.randn(1, 24, 8)
    with pytest.raises(ValueError, match=r"which axis of audio: .* is time is not known"):
        check_equivariance(Any_(), {"audio": same, "text": same}, "shift")
