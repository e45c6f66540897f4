"""Networks that round to a low precision in their forward: judged without it, so that no fault passes as rounding."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import equiscope
from equiscope import check_equivariance


class Pool(nn.Module):
    """The mean of all members, with a little of the first one."""

    def __init__(self, of_first: float) -> None:
        super().__init__()
        self.of_first = of_first

    def forward(self, h: Tensor) -> Tensor:
        return h.mean(0, keepdim=True) + self.of_first * h[:1]


class Half(nn.Module):
    """A network on a set whose features are rounded on the way, in the way that is asked for."""

    def __init__(self, how: str, of_first: float = 0.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.how, self.inner, self.pool, self.out = how, nn.Linear(4, 8), Pool(of_first), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.inner(x).tanh()
        match self.how:
            case "to":
                h = h.to(torch.bfloat16).to(h.dtype)
            case "method":
                h = h.bfloat16().to(x.dtype)
            case "argument":
                h = h.softmax(-1, dtype=torch.bfloat16).to(x.dtype)
            case "zeros":
                made = torch.zeros(h.shape, dtype=torch.bfloat16, device=h.device)
                made[:] = h
                h = made.to(x.dtype)
            case "bits":
                h = (h.float().view(torch.int32) & -65536).view(torch.float32).to(x.dtype)
        return self.out(self.pool(h))


WAYS = ("to", "method", "argument", "zeros")
SET = torch.randn(9, 4, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("how", WAYS)
def test_a_fault_below_the_rounding_of_a_cast_is_found(how: str) -> None:
    sound = check_equivariance(Half(how), equiscope.graph(SET), "permutation")
    assert sound.verdict == "holds" and sound.layers[-1].tolerance < 1e-9
    (note,) = (n for n in sound.warnings if "bfloat16" in n)
    assert "tested without that rounding, and with it the last layer is off by" in note
    broken = check_equivariance(Half(how, 1e-4), equiscope.graph(SET), "permutation")
    assert (broken.verdict, broken.guilty) == ("broken", ("pool",))


def test_what_reads_digits_is_judged_as_it_is() -> None:
    """Four bytes are read as a whole number: eight bytes are none of it."""
    report = check_equivariance(Half("bits"), equiscope.graph(SET), "permutation")
    assert report.verdict == "holds" and any("to that precision only" in note for note in report.warnings)


class Residues(nn.Module):
    """Parts of places that rounding leaves over, made large: they do not turn with them."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.out = nn.Linear(4, 3)

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        left = 1e3 * (position.bfloat16().to(position.dtype) - position)
        return self.out(x) * (1 + left.norm(dim=-1, keepdim=True))


def test_what_breaks_by_its_rounding_alone_is_broken() -> None:
    given = equiscope.points(x=SET, position=torch.randn(9, 3, generator=torch.Generator().manual_seed(2)))
    report = check_equivariance(Residues(), given, "O3")
    assert report.verdict == "broken" and any("to that precision only" in note for note in report.warnings)


def test_the_program_itself_may_round_while_casts_are_lifted() -> None:
    from explorer.equivariance.trial.precision.lifting import Lifted

    x = torch.ones(3, dtype=torch.float64)
    with Lifted(torch.float64):
        assert x.to(torch.float32).dtype == torch.float64  # as this file is none of the program's
        assert equiscope.graph(SET.double()).to(dtype=torch.float32).x.dtype == torch.float32
    assert x.to(torch.float32).dtype == torch.float32
