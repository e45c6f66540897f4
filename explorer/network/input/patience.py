"""Give up on trials of a network where those that fail have made too many numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

NUMBERS = 2**30  # in tensors: 4 GB in single precision, one after the other


class Patience:
    """Numbers that trials of one network may make that fail: a count is the same on every machine, and time is not.

    What compares every place with every other, as a network on points does that is taken for one on images, needs
    minutes and all of the memory to refuse something large.
    """

    def __init__(self, numbers: float = NUMBERS) -> None:
        self._left = numbers
        self._failed: dict[int, int] = {}

    def allows(self, trial: Callable[[], bool], side: int = 0) -> bool:
        """Return what a trial says; False without trying where too much was or would be made, or memory is short.

        Args:
            side: of the image that is tried, from which the cost follows at worst: of pairs of its places.
        """
        less = max((failed for failed in self._failed if failed < side), default=0)
        expected = (side / less) ** 4 * self._failed[less] if less else 0
        if self._left < max(expected, 0):
            return False
        with _Made() as made:
            try:
                ran = trial()
            except torch.OutOfMemoryError:
                self._left, ran = -math.inf, False
        if not ran:
            self._left -= made.numbers
            self._failed[side] = made.numbers
        return ran


class _Made(TorchFunctionMode):
    """Count the numbers in what functions of torch return."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else (result,):
            # a view of what is there, as of an axis that is expanded, makes none
            if isinstance(value, Tensor) and value.layout == torch.strided and not value._is_view():
                self.numbers += value.numel()
        return result
