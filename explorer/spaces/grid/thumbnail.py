"""Draw a small picture of an image."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.declare.samples import Sample


def image_thumbnail(sample: Sample, side: int = 48) -> NDArray[np.uint8]:
    """Return a sample's picture, (side, side, 3): the middle of one that is no square, for squeezed it looks wrong."""
    values = torch.from_numpy(np.array(sample.x.values))[None]
    grey = values.expand(1, 3, -1, -1) if values.shape[1] == 1 else values[:, :3]
    if grey.shape[1] != 3:
        grey = grey[:, :1].expand(1, 3, -1, -1)
    short = min(grey.shape[-2:])
    top, left = ((length - short) // 2 for length in grey.shape[-2:])
    grey = grey[..., top : top + short, left : left + short]
    low, high = float(grey.min()), float(grey.max())
    if low < 0 or high > 1:
        grey = (grey - low) / max(high - low, 1e-12)
    small = torch.nn.functional.interpolate(grey, (side, side), mode="bilinear", antialias=True, align_corners=False)
    picture: NDArray[np.uint8] = (small[0].clamp(0, 1) * 255).round().byte().permute(1, 2, 0).numpy()
    return picture
