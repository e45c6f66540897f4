"""Names and a schedule for trainings in which a generator and a discriminator learn in turn."""

from __future__ import annotations

import torch

D_ALONE, G_ALONE = "D alone, G fixed", "G alone, D fixed"  # in place of both in turn


def falling(optimizer: torch.optim.Optimizer, steps: int, least: float) -> torch.optim.lr_scheduler.LambdaLR:
    """Return a schedule by which the rates fall evenly to a share `least` of themselves after so many steps."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1 - (1 - least) * min(1.0, k / max(steps, 1)))
