"""Give up on trials of a network where those that fail have cost too much."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import torch

SECONDS = 20.0
NOTHING = 0.1  # seconds of the processor: the first call of a kernel may take as long


class Patience:
    """Seconds of the processor that trials of one network may take that fail: others' work does not count.

    What compares every place with every other, as a network on points does that is taken for one on images, needs
    minutes and all of the memory to refuse something large.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds
        self._failed: dict[int, float] = {}

    def allows(self, trial: Callable[[], bool], side: int = 0) -> bool:
        """Return what a trial says; False without trying where too much was or would be spent, or memory is short.

        Args:
            side: of the image that is tried, from which the cost follows at worst: of pairs of its places.
        """
        expected = max(((side / less) ** 4 * spent for less, spent in self._failed.items() if less < side), default=0)
        if self._left < max(expected, 0):
            return False
        begun = time.process_time()
        try:
            ran = trial()
        except torch.OutOfMemoryError:
            self._left, ran = -math.inf, False
        if not ran:
            spent = time.process_time() - begun
            self._left -= spent
            if side and spent > NOTHING:
                self._failed[side] = spent
        return ran
