"""What the core must know of sequences: a tensor with a row for each step is a step field, and so on."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.fields import INVARIANT, PAIR, STEP, FieldType, Pairs, Point, Steps
from explorer.inputs import Inputs
from explorer.spaces import Known, Space

_POINTWISE = (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.GELU, nn.Identity, nn.Dropout, nn.Softmax, nn.LayerNorm)


class SequenceSpace(Space):
    """A sequence of so many steps."""

    def __init__(self, inputs: Inputs) -> None:
        self.steps = len(inputs.x)

    def fits(self, field: FieldType, value: Tensor) -> bool:
        match field.domain:
            case Steps():
                return tuple(value.shape[:1]) == (self.steps,)
            case Pairs():
                return tuple(value.shape[-2:]) == (self.steps, self.steps)
            case Point():
                return True
            case _:
                return False

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        if isinstance(declared, FieldType):
            return declared
        guessed = not isinstance(module, _POINTWISE) or in_field is None or in_field.guessed
        if in_field is not None and shape[:1] == shape_in[:1] and not isinstance(in_field.domain, Pairs):
            return FieldType(in_field.domain, guessed=guessed)
        return self.functional(shape)

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        if len(shape) > 2 and shape[-2:] == (self.steps, self.steps):
            return PAIR.guess()
        if shape[:1] == (self.steps,) and self.steps > 1:
            return STEP.guess()
        return INVARIANT.guess() if shape and len(shape) <= 2 else None

    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        return math.inf  # a recurrent state has seen everything before it

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        found = self.functional(shape)
        return None if found is None or found.invariant else (found, math.inf, known[2])

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return the sequence backwards and a third of it further on; noise where that is the same again."""
        x = inputs.x
        other = x.flip(0).roll(max(1, len(x) // 3), 0) if len(x) else x
        size = float(x.norm())
        if size == 0.0 or float((other - x).norm()) <= 1e-3 * size:
            generator = torch.Generator().manual_seed(seed)
            drawn = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
            other = drawn * max(float(x.abs().mean()), 1e-3) + x
        return inputs.with_x(other)
