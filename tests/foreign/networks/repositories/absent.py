"""Networks from files whose forward must be given something that is None."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "absent.py"


class Called(nn.Module):
    """A network that is given None in the last places, as its author calls it."""

    def __init__(self, name: str, absent: int, fault: int = 0) -> None:
        super().__init__()
        self.network, self.absent = getattr(their_file(FILE), name)(fault=fault), absent

    def forward(self, *given: Tensor) -> Any:
        return self.network(*given, *[None] * self.absent)


def both(
    name: str, absent: int, culprit: str, given: Callable[[], Given], group: str, *out: str, **more: Any
) -> list[Case]:
    """Return a sound network, and the one with a fault."""
    door = f"{FILE}:{name}"
    sound = Case(name, partial(Called, name, absent), given, group, out, door=f"{door}(fault=0)", hooks=False, **more)
    make = partial(Called, name, absent, fault=1)
    return [sound, sound.broken("a fault", make, *culprit.split(), door=f"{door}(fault=1)")]


def ring(nodes: int = 6) -> Tensor:
    at = torch.arange(nodes)
    return torch.stack([torch.cat([at, (at + 1) % nodes]), torch.cat([(at + 1) % nodes, at])])


CASES = (
    *both("Bodies", 1, "gcl_1 gcl_1[1]", lambda: Given((drawn(6, 4), drawn(6, 3, seed=1), ring()),
                                                       ("fixed", "places@1", "fixed")), "E3", "fixed", "places@1"),
    *both("Cells", 2, "", lambda: Given((drawn(6, 5), ring()), ("nodes", "index")), "permutation", "nodes"),
    *both("Masked", 1, "c2", lambda: Given((drawn(1, 3, 16, 16),), ("grid",)), "translation", "grid"),
    *both("Streaming", 1, "", lambda: Given((drawn(1, 4, 64),), ("steps@2",)), "shift", "steps@2", inside=8),
)  # fmt: skip
