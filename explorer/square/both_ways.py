"""The two ways round the square at the selected layer, as one request has gone them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.network.tracing.layers import Layer
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State


@dataclass(frozen=True, slots=True, eq=False)
class BothWays:
    """Everything that a frame is made of, as tensors on the device.

    Attributes:
        p, state: F(x) with all its layers, and what was asked.
        element: g, bound to x.
        layer: the selected one.
        gx: the moved inputs, rho(g) x.
        answers: {layer: F(rho(g) x)}.
        expected: rho'(g) F(x) at the layer; None where its field has no such action.
        difference: expected - answer.
        no_action: why there is no `expected`.
        back: rho'(g)^-1 F(rho(g) x) where State.untransform is on and the element can be taken back.
    """

    p: Prepared
    state: State
    element: Element
    layer: Layer
    gx: Inputs
    answers: Mapping[str, Tensor]
    expected: Tensor | None = None
    difference: Tensor | None = None
    no_action: str = ""
    back: Tensor | None = None

    @property
    def value(self) -> Tensor:
        """Return F(x) at the layer."""
        return self.p.values[self.layer.name]

    @property
    def answer(self) -> Tensor:
        """Return F(rho(g) x) at the layer."""
        return self.answers[self.layer.name]
