"""Networks that choose their layers by the input: those that are not always called are code of the forward."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.equivariance.check import check_equivariance
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import UncalledError
from explorer.state.state import State
from tests.explorer.parts.networks import conv

ROUND = {"padding_mode": "circular"}
ROUTER = """
import torch
from torch import nn

INPUT_SHAPE = (1, 16, 16)

def conv(a, b):
    return nn.Conv2d(a, b, 3, padding=1, padding_mode="circular")

class Router(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = conv(1, 4)
        self.experts = nn.ModuleList([conv(4, 4) for _ in range(5)])

    def forward(self, x):
        y = torch.relu(self.first(x))
        return self.experts[int(y.mean() * 1000) % 5](y)
"""


class Rounds(nn.Module):
    """A layer that is called once or twice, by the top of the image or by all of it."""

    def __init__(self, by_top: bool, end: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.by_top, self.first, self.again = by_top, conv(1, 4, **ROUND), conv(4, 4, **ROUND)
        self.end = nn.Conv2d(4, 2, 1) if end else None

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.first(x))
        for _ in range(1 + int((x[:1, :, :3] if self.by_top else x[:1]).mean() > 0.15)):
            y = torch.relu(self.again(y)) if self.end else self.again(y)
        return y if self.end is None else self.end(y)


@pytest.fixture
def images() -> Tensor:
    made = torch.zeros(1, 1, 16, 16)
    made[..., 4:9, 5:11] = 1 - 0.4 * torch.rand(5, 6, generator=torch.Generator().manual_seed(0))
    return made


@pytest.mark.parametrize("bright_first", [False, True])
def test_an_answer_of_another_call_is_not_compared_with_one_of_before(images: Tensor, bright_first: bool) -> None:
    """The first round of each was compared, which obeys its law, and the answer, of one more round, was not."""
    if bright_first:
        images = torch.roll(images, -4, -2)  # two rounds here, and one where the top is dark
    report = check_equivariance(Rounds(by_top=True), images, "translation", count=12)
    assert report.verdict == "broken" and report.guilty == ("output",)
    assert any("does not call again in the same way" in note for note in report.warnings)


def test_a_choice_that_is_the_same_under_every_element_keeps_its_law(images: Tensor) -> None:
    for by_top, verdict in ((False, "holds"), (True, "broken")):
        report = check_equivariance(Rounds(by_top, end=True), images, "translation", count=12)
        assert report.verdict == verdict, report.text()


@torch.no_grad()
def test_capture_names_what_was_not_called_and_whose_answer_is_another_ones() -> None:
    network = Rounds(by_top=True).eval()
    once, twice = torch.zeros(1, 1, 8, 8), torch.ones(1, 1, 8, 8)
    with pytest.raises(UncalledError, match="layer again#2 was not called") as caught:
        capture(network, once, ["first", "again", "again#2"])
    assert caught.value.names == {"again"}
    assert set(capture(network, twice, ["again"], clone=True)[0]) == {"again"}
    for clone in (False, True):
        with pytest.raises(UncalledError, match="layer again was not called"):
            capture(network, twice, ["again"], clone=clone, ends=("again",))
        capture(network, once, ["again"], clone=clone, ends=("again",))


def test_the_engine_goes_on_without_layers_that_another_input_does_not_call(tmp_path: Path) -> None:
    path = tmp_path / "router.py"
    path.write_text(ROUTER)
    engine = LocalEngine({}, trust=True)
    for sample in ("digit-3", "digit-6", "digit-8"):
        state = State(f"{path}:Router", sample=sample, steps=parse_chain("translate:3,2,circular"))
        frame = engine.answer(state, lambda: False)
        *_, measured = engine.refine(frame)
        assert measured.squares[0].layers[0].name == "first" and not measured.squares[0].guilty
        report, _ = engine.report(state)
        assert report["layers"][-1]["name"] in ("output", *(f"experts.{k}" for k in range(5)))
    assert any("does not call experts." in note for note in frame.model_notes)
    engine.close()
