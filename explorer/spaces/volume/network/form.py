"""State what a network on volumes takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.declare.card import Form

Shape = tuple[int, int | None, int | None, int | None]  # channels, slices, rows, columns; None takes any


@dataclass(frozen=True, slots=True)
class VolumeInput(Form):
    """Take a volume of `shape` (channels, slices, rows, columns); None means any size."""

    space = "volume"
    data = "volume"

    shape: Shape = (1, None, None, None)
