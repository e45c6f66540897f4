"""Write volumes as NIfTI, as a person stands (x to the right, y to the front, z up), and as NumPy arrays."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from explorer.data.writers import Writer
from explorer.declare.samples import Sample

VOLUME = ("volume",)
MOST_CHANNELS = 32767  # of NIfTI, along one axis


def _write_nifti(sample: Sample, path: Path) -> tuple[str, ...]:
    from nibabel import Nifti1Image

    values = np.asarray(sample.x.values, np.float32)
    if max(values.shape) > MOST_CHANNELS:
        raise ValueError(
            f"NIfTI holds at most {MOST_CHANNELS:,} along an axis, and this volume has {max(values.shape):,}"
        )
    # from (channels, slices, rows, columns), y upwards, to (x, y, z, channels)
    there = values[:, :, ::-1].transpose(3, 2, 1, 0)
    there = there[..., 0] if there.shape[-1] == 1 else there
    sizes = np.array(sample.voxel or (1.0, 1.0, 1.0))
    affine = np.diag([*sizes, 1.0])
    affine[:3, 3] = -sizes * (np.array(there.shape[:3]) - 1) / 2  # the middle of the volume is that of space
    image = Nifti1Image(np.ascontiguousarray(there), affine)  # type: ignore[no-untyped-call]
    image.header.set_xyzt_units("mm")  # type: ignore[no-untyped-call]
    content: bytes = image.to_bytes()
    path.write_bytes(gzip.compress(content, 6, mtime=0) if path.suffix.lower() == ".gz" else content)
    return () if sample.voxel else ("voxels are written as 1 mm wide",)


def _write_npy(sample: Sample, path: Path) -> tuple[str, ...]:
    values = np.asarray(sample.x.values, np.float32)
    with path.open("wb") as file:
        np.save(file, values[0] if len(values) == 1 else values)
    return ()


WRITER = (
    Writer("nifti", "NIfTI (.nii, .nii.gz)", (".nii", ".gz"), _write_nifti, VOLUME),
    Writer("volume-npy", "NumPy array (NPY)", (".npy",), _write_npy, VOLUME),
)
