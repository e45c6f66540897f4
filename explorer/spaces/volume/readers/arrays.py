"""Volumes as NumPy arrays: an NPY of three long axes, (z, y, x), or an NPZ that holds one. Nothing is unpickled.

Axes shorter than eight voxels are those of a picture with channels, which has its own reader.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.checks import Broken, file_bytes, refusing, scaled
from explorer.data.readers import Fit, Reader
from explorer.data.samples import Sample
from explorer.spaces.volume.readers.assembly import is_volume, require_volume, sample_of_file

_NPY, _ZIP = b"\x93NUMPY", b"PK\x03\x04"
_MAX_HEADER = 10_000  # numpy's own bound for headers that are not trusted
Header = tuple[tuple[int, ...], bool, np.dtype[Any]]


def _header(file: IO[bytes]) -> Header:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(file, max_header_size=_MAX_HEADER)
    if any(side < 0 for side in shape):
        raise Broken("the NPY header is damaged: a side is negative")
    return shape, fortran, dtype


def _takes(header: Header) -> bool:
    shape, _, dtype = header
    return dtype.kind in "biuf" and is_volume(shape)


def _sniff(head: bytes) -> bool:
    return False  # the reader of images knows arrays by their first bytes; `fits` tells which of them are volumes


def _member(archive: zipfile.ZipFile) -> str:
    """Return the name of the array of an NPZ that is a volume, "" where none is, or a picture comes first."""
    names = [m for m in archive.namelist() if m.endswith(".npy")]
    for name in sorted(names, key=lambda n: n != "volume.npy"):
        with archive.open(name) as file:
            header = _header(file)
        if _takes(header):
            return name
        if len(header[0]) in (2, 3, 4) and header[2].kind in "biuf":
            return ""
    return ""


def _fits(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(6)
        if head == _NPY:
            file.seek(0)
            return _takes(_header(file))
        if head[:4] != _ZIP:
            return False
    with zipfile.ZipFile(path) as archive:
        return bool(_member(archive))


def _rates(path: Path) -> Fit:
    """Say that an NPY of three axes could be a volume where one of them is short."""
    with path.open("rb") as file:
        if file.read(6) != _NPY:
            return Fit.NO
        file.seek(0)
        shape, _, dtype = _header(file)
    return Fit.ALLOWED if len(shape) == 3 and dtype.kind in "biuf" and min(shape) > 1 else Fit.NO


def _values(file: IO[bytes], available: int) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Read the values behind a header that is next in the file as (channels, z, y, x), with notes."""
    shape, fortran, dtype = _header(file)
    require_volume(shape)
    size = math.prod(shape) * dtype.itemsize
    if available < size:  # before the memory is asked for: a header can claim anything
        raise Broken(f"the array is truncated: {dtype} of shape {shape} takes {size} bytes and {available} are there")
    data = file.read(size)
    if len(data) < size:
        raise Broken(f"the array is truncated: {dtype} of shape {shape} takes {size} bytes and {len(data)} are there")
    values, notes = scaled(np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C"))
    lead = values.shape[:-3]
    read = ("channels, " if lead else "") + "slices, rows, columns"
    return values.reshape(lead[-1] if lead else 1, *shape[-3:]), (*notes, f"shape {shape} read as ({read})")


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "array file"):
        with path.open("rb") as file:
            if file.read(4) != _ZIP:
                file.seek(0)
                return sample_of_file(path, *_values(file, size))
        with zipfile.ZipFile(path) as archive:
            name = _member(archive)
            if not name:
                raise Broken("none of its arrays is a volume", "save one as (slices, rows, columns)")
            with archive.open(name) as inner:
                return sample_of_file(path, *_values(inner, archive.getinfo(name).file_size))


READER = Reader(
    "volume-array", "Volume (NPY, NPZ)", (".npy", ".npz"), "volume", _sniff, _read, fits=_fits, rates=_rates
)
