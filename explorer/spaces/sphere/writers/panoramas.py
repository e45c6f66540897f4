"""Write functions on the sphere as panoramas, whose values are read back as the same function."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from explorer.data.writers import Writer
from explorer.declare.samples import Sample

LEAST_ROWS = 64


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    """Write (channels, rows, 2 rows), the north pole at the top, float32; of one channel, (rows, 2 rows)."""
    from explorer.spaces.sphere.harmonics import map_basis

    coefficients = np.asarray(sample.x.values, np.float64)
    degree = round(coefficients.shape[-1] ** 0.5) - 1
    rows = max(LEAST_ROWS, 2 * (degree + 1))
    values = (torch.from_numpy(coefficients) @ map_basis(degree, rows).T).reshape(-1, rows, 2 * rows)
    picture = np.ascontiguousarray((values[0] if len(values) == 1 else values).numpy(), dtype=np.float32)
    with path.open("wb") as file:
        if path.suffix.lower() == ".npz":
            np.savez(file, x=picture)
        else:
            np.save(file, picture)
    return (f"written as a panorama of {2 * rows}x{rows}, which is expanded again where it is opened",)


WRITER = Writer("panorama", "Panorama (NPY, NPZ)", (".npy", ".npz"), _write, ("sphere",))
