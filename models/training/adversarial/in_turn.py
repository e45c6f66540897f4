"""Names and a schedule for trainings in which a generator and a discriminator learn in turn."""

from __future__ import annotations

import torch

from explorer.work.training.course import Schedule, Scheduled

D_ALONE, G_ALONE = "D alone, G fixed", "G alone, D fixed"  # in place of both in turn


def falling(least: float) -> Schedule:
    """Return a schedule by which the rates fall evenly to a share `least` of themselves."""

    def made(optimizer: torch.optim.Optimizer, steps: int) -> Scheduled:
        return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1 - (1 - least) * min(1.0, k / steps))

    return made
