"""Draw a small picture of a volume: its brightest values along the eye, and its middle slice."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.declare.samples import Sample


def volume_thumbnail(sample: Sample, side: int = 48) -> NDArray[np.uint8]:
    """Return a sample's picture, (side, side, 3): the middle slice, brightened where more lies behind it."""
    values = torch.from_numpy(np.array(sample.x.values[0]))
    picture = 0.75 * values[len(values) // 2] + 0.25 * values.amax(0)
    low, high = float(picture.min()), float(picture.max())
    grey = ((picture - low) / max(high - low, 1e-12))[None, None]
    small = torch.nn.functional.interpolate(grey, (side, side), mode="bilinear", antialias=True, align_corners=False)
    tone: NDArray[np.uint8] = (small[0, 0].clamp(0, 1) * 255).round().byte().numpy()
    return np.repeat(tone[:, :, None], 3, 2)
