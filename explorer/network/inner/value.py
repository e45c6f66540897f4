"""Say what a value inside a forward is, where it arose, and how it is made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

ATTENTION, GATE, MESSAGES = "Attention", "Gate", "Messages"


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """A value that arose in the forward of a module.

    Attributes:
        owner: name of the module, as in named_modules().
        what: what it is called there, "attention" or "l0.forget_gate".
        kind: for reading: ATTENTION, GATE, MESSAGES.
        make: computes it, when somebody wants it.
        on: lies on the places of this tensor, along the same axis; None: of two axes of places, the last ones, or of
            places on axis 0 where `made` is no pair field.
        pairs: whether the last two axes are (to, from).
        fed: what it is computed of where that can be moved: queries and keys, places on the last axis but one.
        again: computes it of other such tensors.
        masks: what else it was computed of; of those that are the same for every input nothing moves.
        passed: what the network goes on with, in the shape of the value, where that may be other numbers.
    """

    owner: str
    what: str
    kind: str
    make: Callable[[], Tensor]
    on: Tensor | None = None
    pairs: bool = False
    fed: tuple[Tensor, ...] = ()
    again: Callable[..., Tensor] | None = None
    masks: tuple[Tensor, ...] = ()
    passed: Callable[[], Tensor] | None = None


Emit = Callable[[Inner], Tensor | None]  # returns what the network is to go on with instead, None for what it has
