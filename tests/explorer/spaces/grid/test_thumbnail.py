"""Small pictures of images."""

from __future__ import annotations

import numpy as np

from explorer.spaces.grid.sample import image_sample
from explorer.spaces.grid.thumbnail import image_thumbnail


def test_a_small_picture_of_a_panorama_is_its_middle_and_not_squeezed() -> None:
    row, column = np.mgrid[:60, :120]
    disc = ((row - 29.5) ** 2 + (column - 59.5) ** 2 < 20**2).astype(np.float32)
    seen = image_thumbnail(image_sample(disc[None], "disc"), 60)[..., 0] > 127
    assert seen.shape == (60, 60) and np.ptp(np.nonzero(seen.any(0))[0]) == np.ptp(np.nonzero(seen.any(1))[0])
    np.testing.assert_array_equal(seen, disc[:, 30:90] > 0.5)
