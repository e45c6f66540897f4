"""Make parameters reproducible: the same ones each time a network is built, rounded as files hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

N = TypeVar("N", bound=nn.Module)


def seeded(build: Callable[[], N], seed: int = 0) -> N:
    """Build a network whose parameters are always the same for one seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def round_to_half(network: nn.Module, statistics: bool = False) -> None:
    """Round its parameters to half precision, so that a small file holds exactly what is judged.

    What is too large for half precision stays as it is: a training that went astray has such numbers.

    Args:
        statistics: round the real numbers among its buffers too.
    """
    with torch.no_grad():
        for tensor in (*network.parameters(), *(network.buffers() if statistics else ())):
            if tensor.is_floating_point():
                half = tensor.half()
                if bool((half.isfinite() | ~tensor.isfinite()).all()):
                    tensor.copy_(half)
