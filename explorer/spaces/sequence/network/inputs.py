"""Make the arguments of networks on sequences."""

from __future__ import annotations

from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Representation, Scalar
from explorer.spaces.sequence.fields import Steps
from explorer.spaces.sequence.network.form import LAYOUTS


def sequence_inputs(x: Tensor, layout: str = "TC", rep: Representation | None = None) -> Inputs:
    """Return a sequence as a network takes it that has its axes in another order; (steps, channels) -> one of LAYOUTS.

    Raises:
        ValueError: x is no matrix, or there is no such layout.
    """
    if x.ndim != 2 or layout not in LAYOUTS:
        raise ValueError(f"a sequence is (steps, channels) and its layout one of {', '.join(LAYOUTS)}, not {layout!r}")
    axes = [letter for letter in "NTC" if letter in layout]
    batched = x[None] if "N" in layout else x
    field = FieldType(Steps(layout.index("T")), Scalar(intensity=True) if rep is None else rep)
    return Inputs((batched.permute([axes.index(letter) for letter in layout]).contiguous(),), (field,))
