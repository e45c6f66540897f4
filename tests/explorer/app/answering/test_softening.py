"""Blurring before a stride, measured: shifts between its steps change the answer less, and nothing else is claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.experiments import proposals, tried
from explorer.app.answering.subpixel_shifts import apart
from explorer.app.command.audit import audit
from explorer.declare.elements import parse_chain
from explorer.declare.states.interventions import parse_intervention
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, stride=2):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv2d(1, 8, 3, padding=1, padding_mode="circular")
        self.second = nn.Conv2d(8, 16, 3, padding=1, stride=stride, padding_mode="circular")
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.second(self.first(x).relu()).relu().mean((2, 3)))
"""


@pytest.fixture
def engine() -> LocalEngine:
    return LocalEngine(CARDS, trust=True)


@pytest.fixture
def state(tmp_path: Path) -> State:
    (tmp_path / "net.py").write_text(NET)
    return State(f"{tmp_path / 'net.py'}:Net", sample="random:1x1x16x16", device="cpu", dtype="float64")


def test_a_blur_lowers_what_a_shift_by_one_pixel_does(engine: LocalEngine, state: State) -> None:
    (report,) = audit(engine, state, "translation", "float64", None, {}, details=False)
    assert report.verdict == "holds"  # in steps of the stride
    (found,) = tried(engine, state, [report], "float64", {})
    assert found.layer == "second" and found.title == "Blur before its stride" and found.useful and not found.mended
    assert found.shift_was is not None and found.shift_now is not None
    assert 1e-4 < found.shift_now < 0.7 * found.shift_was
    assert found.sentence.endswith("no law becomes exact") and "% less" in found.sentence
    # the figures are those of the output under these shifts, by another way
    changed = State(
        **{n: getattr(state, n) for n in ("model", "sample", "device", "dtype")},
        interventions=(parse_intervention(found.intervention),),
    )
    p, shift = engine.prepared(changed, changed.model), parse_chain("translate:1,0")
    frame = engine.answer(State(**{**_kept(changed), "steps": shift}), lambda: False)
    square = frame.squares[0]
    assert apart(p, ["translate:1,0"]) == pytest.approx(
        float(((square.output_g - square.output) ** 2).sum() ** 0.5 / (square.output**2).sum() ** 0.5), rel=1e-5
    )


def test_the_window_is_offered_it_for_a_layer_with_a_stride(engine: LocalEngine, state: State) -> None:
    shifted = State(**{**_kept(state), "steps": parse_chain("translate:1,0")})
    *_, found = proposals(engine, shifted, "second")
    assert isinstance(found, tuple) and [one.useful for one in found] == [True]
    *_, found = proposals(engine, shifted, "first")
    assert isinstance(found, tuple) and not any(one.useful for one in found)
    assert found[-1].reason == "it has no stride that drops places"


def _kept(state: State) -> dict[str, object]:
    names = ("model", "sample", "device", "dtype", "interventions")
    return {name: getattr(state, name) for name in names}
