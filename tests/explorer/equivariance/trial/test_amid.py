"""A network that only begins and ends otherwise is told from one that counts steps."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance, sequence


class Clock(nn.Module):
    """Adds what hangs on the number of a step."""

    def forward(self, h: Tensor) -> Tensor:
        return h + 0.1 * torch.sin(torch.arange(h.shape[1]).to(h))[None, :, None]


class Remembers(nn.Module):
    """A state in a loop of one's own, which starts at zero and is moved by a bias."""

    def __init__(self, clock: bool = False) -> None:
        super().__init__()
        self.inp, self.last, self.out = nn.Linear(2, 4), Clock() if clock else nn.Identity(), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        u = self.inp(x)
        h, states = torch.zeros_like(u[:, 0]), []
        for t in range(u.shape[1]):
            h = 0.6 * h + torch.tanh(u[:, t])
            states.append(h)
        return self.out(self.last(torch.stack(states, 1)))


class Attends(nn.Module):
    """Attention of all steps, without places."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(2, 4) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        weights: Tensor = (self.q(x) @ self.k(x).transpose(1, 2)).softmax(-1)
        return weights @ self.v(x)


@pytest.mark.parametrize("network", [Remembers(), Attends()])
def test_what_breaks_a_delay_at_the_ends_alone_is_said_to(network: nn.Module) -> None:
    torch.manual_seed(0)
    report = check_equivariance(network, sequence(torch.randn(24, 2), "NTC"), "shift")
    assert report.verdict == "broken"
    assert any("zeros on either side" in hint for hint in report.hints)


def test_a_clock_is_not_laid_to_the_ends() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Remembers(clock=True), sequence(torch.randn(24, 2), "NTC"), "shift")
    assert report.verdict == "broken"
    assert not any("zeros on either side" in hint for hint in report.hints)
