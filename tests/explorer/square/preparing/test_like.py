"""A network that learns is traced once; where its weights change what it gives, it is traced anew."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import explorer.square.preparing.prepare as preparing
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.writing import save_tensors
from explorer.data.finding import find_sample
from explorer.declare.states.model_name import LIVE
from explorer.spaces.grid.network.form import InputSpec
from explorer.state.state import State
from tests.explorer.parts.small_cards import card


class Kept(nn.Module):
    """Keep as many features as the weight says."""

    def __init__(self) -> None:
        super().__init__()
        self.flatten = nn.Flatten()
        self.count = nn.Parameter(torch.tensor(5.0))
        self.some = Some()

    def forward(self, x: Tensor) -> Tensor:
        return self.some(self.flatten(x), int(self.count))


class Some(nn.Module):
    def forward(self, x: Tensor, count: int) -> Tensor:
        return x[:, :count]


def made(model: nn.Module, like: preparing.Trace | None = None) -> preparing.Prepared:
    given = card("net", lambda: model, input=InputSpec((1, None, None)))
    device = torch.device("cpu")
    return preparing.prepare(given, model, find_sample("digit-3"), device=device, dtype=torch.float32, like=like)


def test_a_trace_is_taken_where_all_shapes_are_the_same() -> None:
    first = made(Kept())
    assert made(Kept(), first.trace).trace is first.trace
    other = Kept()
    other.count.data.fill_(7.0)
    found = made(other, first.trace)
    assert found.trace is not first.trace and found.trace["some"].shape == (1, 7) == tuple(found.output.shape)


def test_weights_in_training_are_traced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "equiscope-training-1"
    folder.mkdir()
    traced = []
    original = preparing.traced_run
    monkeypatch.setattr(preparing, "traced_run", lambda *a, **k: traced.append(1) or original(*a, **k))

    def build() -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(841, 3))

    def write(value: float) -> None:
        tensors = {"1.weight": torch.full((3, 841), value), "1.bias": torch.zeros(3)}
        save_tensors(folder / LIVE, tensors, {"model": "net"}, lasting=False)

    engine = LocalEngine({"net": card("net", build, input=InputSpec((1, None, None)))})
    state = State(f"net@{folder / LIVE}", sample="digit-3", device="cpu")
    answers = []
    for value in (0.1, 0.2, 0.3):
        write(value)
        answers.append(engine.answer(state, lambda: False).squares[0].output)
    assert len(traced) == 1
    for value, answer in zip((0.1, 0.2, 0.3), answers, strict=True):
        assert answer == pytest.approx(answers[0] * value / 0.1, rel=1e-5)
    engine.close()
