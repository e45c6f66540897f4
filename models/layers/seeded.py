"""A network that is the same each time it is built, whatever was drawn before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

N = TypeVar("N", bound=nn.Module)


def seeded(build: Callable[[], N]) -> N:
    """Build a network whose parameters are always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build()
