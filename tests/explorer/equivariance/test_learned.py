"""Actions that were fitted: found where there is one, refused where there is none, judged on held-out pairs."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from explorer.declare.elements import chain_element, parse_chain
from explorer.equivariance.learned import learn_action
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.network.stimulus import noise


class Quarters(nn.Module):
    """Four copies of one filter, each turned a quarter more: regular(C4), but nobody says so."""

    def __init__(self, broken: bool = False) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        base = torch.randn(1, 1, 3, 3, generator=generator, dtype=torch.float64)
        turned = [torch.rot90(base, k, (-2, -1)) for k in range(4)]
        if broken:
            turned[2] = torch.randn(1, 1, 3, 3, generator=generator, dtype=torch.float64)
        self.conv = nn.Conv2d(1, 4, 3, padding=1, bias=False, dtype=torch.float64)
        self.conv.weight.data = torch.cat(turned)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.conv(x)
        return out


def learned(broken: bool, samples: int, size: int = 15):  # type: ignore[no-untyped-def]
    model = Quarters(broken).eval()
    x = noise((samples, 1, size, size), seed=1)
    element = chain_element(parse_chain("rotate:90"))
    layer = trace(model, x, grid()).layers[0]
    with torch.no_grad():
        return learn_action(element, layer, model(x), model(element.act(x, grid())))


@pytest.mark.parametrize("samples", [1, 6])
def test_a_hidden_permutation_of_channels_is_found(samples: int) -> None:
    found = learned(False, samples)
    assert found is not None and found.residual < 1e-4
    # F(gx) = M g.F(x): the turned filters trade places, which is a permutation matrix
    assert found.matrix.round(decimals=2).abs().sum(0).tolist() == pytest.approx([1.0] * 4, abs=0.02)
    assert torch.allclose(found.matrix @ found.matrix.t(), torch.eye(4, dtype=torch.float64), atol=0.02)


@pytest.mark.parametrize("samples", [1, 6])
def test_where_there_is_no_action_the_held_out_pairs_say_so(samples: int) -> None:
    found = learned(True, samples)
    assert found is not None and found.residual > 0.1


def test_a_fit_with_more_freedom_than_pairs_is_betrayed_by_the_held_out_ones() -> None:
    # on 2 x 2 places with one sample, four channels fit two training pairs perfectly and mean nothing
    found = learned(True, 1, size=2)
    assert found is not None and found.pairs == 2
    assert found.fitted < 1e-2 < found.residual
