"""Networks on clouds that look like networks on images or sequences: what they run with is told, and soon."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.input_trial import settled
from explorer.network.input.patience import Patience
from explorer.network.opening.refusals import Unknown
from explorer.state.state import State

CLOUDS = """
import torch
from torch import nn

class Shared(nn.Module):  # of the kind of PointNet
    def __init__(self):
        super().__init__()
        self.one, self.two, self.out = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 8, 1), nn.Linear(8, 4)

    def forward(self, x):
        return self.out(self.two(self.one(x).relu()).amax(2))

class Spectral(nn.Module):  # filters of width one beside a transform over all steps: the order is something to it
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv1d(1, 8, 1), nn.Conv1d(8, 1, 1)

    def forward(self, x):
        h = self.one(x)
        f = torch.fft.rfft(h)
        f = f * (torch.arange(f.shape[-1]) < 4)
        return self.two(torch.fft.irfft(f, n=h.shape[-1]).relu())
"""

SQUEEZED = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.norm, self.pool = nn.Conv1d(3, 8, 3), nn.BatchNorm1d(8), nn.AdaptiveMaxPool1d(1)

    def forward(self, x):
        return self.norm(self.pool(self.one(x)).squeeze())  # of a batch of one it takes that axis too
"""


@pytest.fixture
def clouds(tmp_path: Path) -> str:
    path = tmp_path / "clouds.py"
    path.write_text(CLOUDS)
    return str(path)


def test_what_a_network_on_a_cloud_runs_with_is_told(clouds: str) -> None:
    with pytest.raises(Unknown) as told:
        settled(LocalEngine({}, trust=True), State(f"{clouds}:Shared", device="cpu"), "")
    assert "--input 'points signals=position" in str(told.value) and "axes=1CN' (E3)" in str(told.value)
    assert "--input 'set channels=3 axes=1CN' (permutation)" in str(told.value)


def test_a_network_that_needs_two_samples_is_refused_for_that(tmp_path: Path) -> None:
    path = tmp_path / "squeezed.py"
    path.write_text(SQUEEZED)
    with pytest.raises(Unknown, match=r"it runs on two samples at once and not on one alone.*squeeze\(\)"):
        LocalEngine({}, trust=True).card(f"{path}:Net")


def test_filters_of_width_one_beside_a_transform_are_of_a_sequence(clouds: str) -> None:
    card = LocalEngine({}, trust=True).card(f"{clouds}:Spectral")
    assert card.domain == "sequence"


def test_trials_that_fail_and_make_too_much_are_not_gone_on_with() -> None:
    def failing() -> bool:
        torch.ones(100, 10).t().expand(10, 100)  # views make no numbers
        return False

    patience = Patience(numbers=5000)
    assert not patience.allows(failing, 16)
    assert patience.allows(lambda: bool(torch.ones(10_000).any()), 16), "what runs may make more"
    assert not patience.allows(lambda: True, 32), "at worst sixteen times as many: more than are left"
    assert patience.allows(lambda: True)
    for _ in range(5):
        patience.allows(failing)
    assert not patience.allows(lambda: True)


def test_no_memory_is_a_refusal() -> None:
    def starved() -> bool:
        raise torch.OutOfMemoryError

    patience = Patience()
    assert not patience.allows(starved) and not patience.allows(lambda: True)


FAILING = """
from torch import nn

class Unready(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(7, 3)

    def forward(self, x):
        raise RuntimeError("call .fit() first")

class Forgetful(Unready):
    def forward(self, x):
        return self.dense(x) + self.missing
"""


@pytest.mark.parametrize(
    ("name", "said"), [("Unready", r"call \.fit\(\) first \(line 10"), ("Forgetful", r"'missing' \(line 14")]
)
def test_what_the_forward_says_itself_is_told(name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "failing.py"
    path.write_text(FAILING)
    with pytest.raises(Unknown, match=said):
        LocalEngine({}, trust=True).card(f"{path}:{name}")
