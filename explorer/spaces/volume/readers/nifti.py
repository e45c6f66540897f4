"""NIfTI volumes (.nii, .nii.gz), read by nibabel and shown as a person stands: x to the right, y to the front, z up.

Voxels that are longer along one axis are resampled to cubes, for a quarter turn is no symmetry of a brick. A grid that
lies obliquely to x, y and z is refused: its axes are none of these.
"""

from __future__ import annotations

import gzip
import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import DENSEST, FREE, Broken, file_bytes, refusing
from explorer.data.formats.several import one_of, require_part, wanted_of
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.volume.readers.assembly import require_volume, sample_of_file

_SIZES = {348: (344, b"n+1\0"), 540: (4, b"n+2\0")}  # of headers, and where the magic stands
OBLIQUE = 1.0  # degrees up to which axes count as those of space
_AT_ONCE = 2**21  # values that are unpacked at a time
_MOST_FINER = 64  # values that one becomes where voxels are made cubes
ALIKE = 0.01  # relative difference of voxel sizes that count as one
_LONG = {"meter": 1000.0, "mm": 1.0, "micron": 0.001}  # in mm; where a header names no unit, it is commonly mm
ENDS = ("L", "R", "P", "A", "I", "S")  # left and right, back and front, below and above, as x, y and z of the format go


def _version(head: bytes) -> int:
    """Return the size of the header that a file begins with, 0 where it is no NIfTI in one file."""
    for order in "<>" if len(head) >= 348 else "":
        size = struct.unpack(f"{order}i", head[:4])[0]
        if size in _SIZES and head[_SIZES[size][0] :].startswith(_SIZES[size][1]):
            return int(size)
    return 0


def _packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, whatever it is called, packed or not."""
    with path.open("rb") as file:
        if not _packed(path):
            yield file
            return
        with gzip.open(file) as inner:
            yield inner  # type: ignore[misc]


def _fits(path: Path) -> bool:
    with _unpacked(path) as file:
        return _version(file.read(348)) > 0


def _turned(affine: NDArray[np.float64]) -> float:
    """Return by how many degrees the axes of the grid are turned against those of space."""
    directions = affine[:3, :3] / np.linalg.norm(affine[:3, :3], axis=0)
    return float(np.degrees(np.arccos(np.clip(np.abs(directions).max(0).min(), 0.0, 1.0))))


def _loaded(path: Path, part: str) -> tuple[NDArray[Any], tuple[str, ...], int, float, tuple[str, ...]]:
    """Return the volume that is asked for, what is to be told of it, how many there are, and where it lies in space.

    The last two are how long its voxels are, in mm, and what lies at the ends of its axes, as far as the file knows.
    """
    from nibabel import Nifti1Image, Nifti2Image, as_closest_canonical
    from nibabel.imageglobals import LoggingOutputSuppressor

    with LoggingOutputSuppressor(), _unpacked(path) as file:
        version = _version(file.read(348))
        if not version:
            raise Broken("its content is no NIfTI volume in one file", "save it as .nii or .nii.gz")
        file.seek(0)
        image = (Nifti1Image if version == 348 else Nifti2Image).from_stream(file)  # type: ignore[arg-type]
        shape = tuple(int(n) for n in image.shape)
        kind = np.dtype(image.header.get_data_dtype())  # type: ignore[no-untyped-call]
        if kind.kind not in "biuf":
            told = f"records of {', '.join(kind.names)}" if kind.names else f"of the type {kind}"
            raise Broken(f"its values are {told}, not real numbers", "save one component of it")
        if len(shape) < 3 or any(n > 1 for n in shape[4:]):
            raise Broken(f"its shape {shape} is no volume", "save one volume, (x, y, z)")
        require_volume(shape[:3])
        claimed = math.prod(shape) * kind.itemsize
        if claimed > path.stat().st_size * (DENSEST if _packed(path) else 1):
            raise Broken(f"it is truncated: it claims {claimed} bytes of values, more than are there")
        affine = np.asarray(image.affine, np.float64)
        if not np.isfinite(affine).all() or abs(np.linalg.det(affine[:3, :3])) < 1e-12:
            raise Broken("its affine has no inverse, so nobody knows how its voxels lie in space", "correct its affine")
        if (angle := _turned(affine)) > OBLIQUE:
            raise Broken(
                f"its grid lies obliquely, turned by {angle:.0f} degrees against x, y and z",
                "resample it to axes of space, as nilearn.image.resample_img does",
            )
        header: Any = image.header
        known = bool(header["sform_code"] or header["qform_code"])  # else its affine is a default
        unit = _LONG.get(header.get_xyzt_units()[0], 1.0)
        count = shape[3] if len(shape) > 3 else 1
        wanted = require_part(part, count, "volume")
        one = slice(wanted, wanted + 1), *[slice(0, 1)] * (len(shape) - 4)
        first = image.slicer[(*[slice(None)] * 3, *one)] if len(shape) > 3 else image
        values = _slabs(first.dataobj, first.shape[:3])
        first = as_closest_canonical(Nifti1Image(values, affine))  # type: ignore[no-untyped-call]
        values = np.asarray(first.dataobj)
        sizes = unit * np.linalg.norm(np.asarray(first.affine)[:3, :3], axis=0)
    # from (x, y, z), y to the front, to (slices, rows, columns), y upwards
    cubes, notes = _cubes(values.transpose(2, 1, 0)[:, ::-1], sizes[::-1])
    return cubes, notes, count, float(sizes.min()), ENDS if known else ()


def _slabs(stored: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return the values of a volume, unpacked and scaled some slices at a time."""
    values = np.empty(shape, np.float32, order="F")
    step = max(1, _AT_ONCE // max(math.prod(shape[:2]), 1))
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused
        for first in range(0, shape[2], step):
            some = np.asarray(stored[:, :, first : first + step])
            values[:, :, first : first + step] = some.reshape(*shape[:2], -1)
    return values


def _cubes(values: NDArray[Any], sizes: NDArray[np.float64]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return (1, z, y, x) with voxels as long as they are wide."""
    least = float(sizes.min())
    if sizes.max() <= (1 + ALIKE) * least:
        return values[None], ()
    wanted = tuple(max(1, round(n * float(size) / least)) for n, size in zip(values.shape, sizes, strict=True))
    require_volume(wanted)
    if math.prod(wanted) > max(FREE, _MOST_FINER * values.size):
        most = f"{float(sizes.max()) / least:.0f} times as long along one axis as along another"
        raise Broken(f"its voxels are {most}", "resample it to cubes")
    finer = np.asarray(values, np.float32)
    for axis, count in enumerate(wanted):
        finer = _stretched(finer, axis, count)
    told = "×".join(f"{size:.3g}" for size in sizes[::-1])
    return finer[None], (f"voxels of {told} mm resampled to {least:.3g} mm along each axis",)


def _stretched(values: NDArray[np.float32], axis: int, count: int) -> NDArray[np.float32]:
    """Return values with `count` cells along an axis, as long together as before: straight lines between centres."""
    there = values.shape[axis]
    if count == there:
        return values
    at = np.clip((np.arange(count) + 0.5) * there / count - 0.5, 0, there - 1)
    first = np.minimum(at.astype(np.intp), there - 1)
    second = np.minimum(first + 1, there - 1)
    share = (at - first).astype(np.float32).reshape([-1 if k == axis else 1 for k in range(values.ndim)])
    before, after = values.take(first, axis), values.take(second, axis)
    after -= before
    after *= share
    before += after
    between: NDArray[np.float32] = before
    return between


def _read(path: Path, part: str = "") -> Sample:
    file_bytes(path)
    with refusing(path, "NIfTI"):
        values, notes, count, voxel, ends = _loaded(path, part)
        sample = replace(sample_of_file(path, values, notes), voxel=(voxel,) * 3, ends=ends)
        return one_of(sample, path, wanted_of(part), count, "volume")


READER = Reader("nifti", "Volume (NIfTI)", (".nii", ".gz"), "volume", lambda head: False, _read, fits=_fits, part=_read)
