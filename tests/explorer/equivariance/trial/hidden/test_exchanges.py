"""Exchanged channels are found element by element: what all elements do to all layers fits into no memory at once."""

from __future__ import annotations

import gc
import weakref

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiscope.inputs import image
from explorer.declare.elements import chain_element, parse_chain
from explorer.declare.inputs import Inputs
from explorer.equivariance.trial.hidden.exchanges import Exchange, Seen, exchanged
from explorer.network.tracing.capture import capture
from explorer.network.tracing.trace import trace


class Lift(nn.Module):
    """Filters in four orientations that no declaration tells of."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 1, 3, 3))

    def forward(self, x: Tensor) -> Tensor:
        filters = [self.weight.rot90(k, (-2, -1)) for k in range(4)]
        return torch.stack([F.conv2d(x, w, padding=1) for w in filters], 2).flatten(1, 2)


def test_no_more_than_one_element_is_held_at_a_time() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(Lift(), nn.ReLU(), nn.Conv2d(12, 2, 1)).double().eval()
    inputs = [image(torch.randn(2, 1, 9, 9, dtype=torch.float64)) for _ in range(2)]
    traced = trace(model, inputs[0])
    names = [layer.name for layer in traced.layers]
    made: list[weakref.ref[Tensor]] = []
    most = 0

    def run(x: Inputs) -> Seen:
        nonlocal most
        gc.collect()
        most = max(most, sum(one() is not None for one in made))
        values, fed = capture(model, x, names, clone=True, inputs=True)
        made.extend(weakref.ref(value) for value in values.values())
        return values, fed

    elements = [chain_element(parse_chain(f"rotate:{angle}")) for angle in (90, 180, 270)]
    with torch.no_grad():
        found = exchanged(model, traced, inputs, elements, run)
    field = found["0"].field
    assert field is not None and isinstance(field.rep, Exchange) and len(field.rep.orders) == 3
    assert len(made) == len(names) * len(inputs) * (1 + len(elements))
    assert most <= 2 * len(names) * len(inputs)
