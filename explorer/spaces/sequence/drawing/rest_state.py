"""Follow the state of a recurrent network to rest while only zeros come in (row R2).

The iteration h_(k+1) = R(0, h_k) from 0, whose limit is the state that padding does not move: Bronstein, Bruna, Cohen,
Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (42). Modules that have a state tell of it themselves,
with a method `settling`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from explorer.network.tracing.walking import named_modules
from explorer.spaces.sequence.drawing.values import Settling
from explorer.square.preparing.kept import kept

if TYPE_CHECKING:
    from explorer.square.preparing.prepare import Prepared


@kept()
def settlings(p: Prepared) -> tuple[Settling, ...]:
    """Return how every recurrent state settles; found once an epoch."""
    return tuple(_settlings(p))


def _settlings(p: Prepared) -> Iterator[Settling]:
    for name, module in named_modules(p.model):
        if not callable(told := getattr(module, "settling", None)):
            continue
        with torch.no_grad():
            part, found = told()
        orbit = found.orbit.to("cpu", torch.float32).numpy().copy()
        orbit.flags.writeable = False
        yield Settling((f"{name}.{part}".lstrip("."), name), orbit, found.contraction, found.converged)
