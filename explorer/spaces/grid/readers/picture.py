"""Wrap what a file holds as an image."""

from __future__ import annotations

from pathlib import Path

from explorer.data.formats.checks import Floats, require_finite, require_size
from explorer.declare.samples import Sample
from explorer.spaces.grid.sample import image_sample


def picture(path: Path, values: Floats, notes: tuple[str, ...]) -> Sample:
    """Wrap finished (channels, height, width) values as the sample of a file; Broken when not finite."""
    require_size(*values.shape)
    require_finite(values)
    return image_sample(values, path.stem, title=path.name, source=str(path), notes=notes)
