"""Collect the figures of a layer over samples and elements, and summarise them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from explorer.equivariance import measure


@dataclass
class Figures:
    """The figures collected for one layer; `soft_*` where no verdict can be given."""

    cumulative: list[Tensor] = field(default_factory=list)
    local: list[Tensor] = field(default_factory=list)
    soft_cumulative: list[Tensor] = field(default_factory=list)
    soft_local: list[Tensor] = field(default_factory=list)
    floor: list[Tensor] = field(default_factory=list)
    chance: list[Tensor] = field(default_factory=list)
    distances: list[measure.Distance] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    worst: tuple[float, Tensor] | None = None
    idle: list[str] = field(default_factory=list)  # labels of elements that have no action here
    shapes: dict[str, tuple[torch.Size, torch.Size]] = field(default_factory=dict)  # those expected and found, by label

    def leave_out(self, label: str, expected: torch.Size, found: torch.Size) -> None:
        """Judge nothing by an element, whose answer has another shape or no finite numbers."""
        self.idle.append(label)
        if expected != found:
            self.shapes.setdefault(label, (expected, found))


@dataclass(frozen=True, slots=True)
class Summary:
    median: float
    p95: float
    most: float


def summary(parts: Sequence[Tensor]) -> Summary | None:
    """Return the median, 95th percentile and maximum over samples and elements."""
    if not parts:
        return None
    values = torch.cat([p.double().flatten().cpu() for p in parts])
    return Summary(float(values.median()), float(values.quantile(0.95)), float(values.max()))
