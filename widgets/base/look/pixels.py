"""Make an image of an array of colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage


def rgb_image(pixels: NDArray[np.uint8] | None) -> QImage:
    """Return (height, width, 3) uint8 as an image that owns its pixels; an empty one of what is no such array."""
    if pixels is None or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        return QImage()
    h, w = pixels.shape[:2]
    return QImage(np.ascontiguousarray(pixels, np.uint8).tobytes(), w, h, 3 * w, QImage.Format.Format_RGB888).copy()
