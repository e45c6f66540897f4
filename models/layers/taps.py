"""Name a value inside a forward pass: pass it through a one-line identity module that says what field it is.

self.attention = Tap(EDGE)          # in __init__
alpha = self.attention(alpha)       # in forward: now a layer called "attention", captured, drawn and measured
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.types.fields import FieldType
from explorer.spaces.sequence.fields import ANSWER


class Tap(nn.Module):
    """Hands on what it gets; `out_field` declares it, for example EDGE for messages of shape (edges, channels)."""

    def __init__(self, field: FieldType) -> None:
        super().__init__()
        if not isinstance(field, FieldType):
            raise TypeError(f"a tap is given a FieldType, as equiscope.fields has them, not {field!r}")
        self.out_field = field

    def forward(self, value: Tensor) -> Tensor:
        """Return `value` itself."""
        return value


class Alignment(Tap):
    """A tap of a field on pairs whose rows are steps of the answer, and whose columns are those of what is read.

    Any layer on pairs of steps may say so by attributes of these names, `rows` and `columns`: ANSWER, or NUMBERS of
    steps that are neither those of x nor those of the answer.
    """

    rows = ANSWER


class Mark(Tap):
    """A tap of a (nodes, 1) field that says which nodes are meant: those kept by a pooling, critical points.

    Views draw it as a set of nodes and not as a feature.
    """

    marks = True
