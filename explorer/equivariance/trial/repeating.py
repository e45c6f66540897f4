"""Find out whether a network repeats itself: before it is measured, and after."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.network.changing.conduct import CALLS, varies
from explorer.network.input.inputs import called
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.layers import OUTPUT, LayerError
from explorer.network.tracing.running import tensors_in


class Repeats:
    """Runs a network on the same input again and again, with the same random numbers of torch."""

    def __init__(self, model: nn.Module, given: Inputs, seed: int) -> None:
        self._model, self._given, self._seed = model, given, seed
        try:
            self._answers = [self._answer() for _ in range(CALLS)]
        except (Exception, SystemExit):  # the trace says what is wrong, and where
            self._answers = []

    def _answer(self) -> list[Tensor]:
        reseed(self._seed)
        return [t.detach().clone() for t in tensors_in(called(self._model, self._given, clone=True))]

    def require_one_shape(self) -> None:
        """Raise LayerError where the answers have several shapes."""
        told, shapes = varies(self._answers, math.inf) if self._answers else ("", False)
        if shapes:
            raise LayerError(OUTPUT, f"the network {told}: nothing can be compared")

    @property
    def began_finite(self) -> bool:
        """Return whether the first answer has finite numbers alone."""
        return bool(self._answers) and all(bool(t.isfinite().all()) for t in self._answers[0])

    def unsteady(self, coarse: torch.dtype | None = None) -> str:
        """Return a sentence on a network whose answers vary from call to call; "" where they do not.

        Args:
            coarse: what its own code turns numbers into, None where it keeps their precision.
        """
        if not self._answers:
            return ""
        self._answers += [self._answer() for _ in range(CALLS)]
        self.require_one_shape()
        kind = coarse or self._given.x.dtype
        told, _ = varies(self._answers, measure.tolerance(kind if kind.is_floating_point else torch.float32, 1))
        return f"the network {told}" if told else ""
