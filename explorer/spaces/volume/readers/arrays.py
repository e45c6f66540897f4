"""Volumes as NumPy arrays: an NPY of three long axes, (z, y, x), or an NPZ that holds one. Nothing is unpickled.

Axes shorter than eight voxels are those of a picture with channels, which has its own reader.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from explorer.data.formats.archives import NPY, ZIP, Archive, Header, opened, read_header, read_values
from explorer.data.formats.checks import Broken, file_bytes, refusing, scaled
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.volume.readers.assembly import LEAST, is_volume, require_volume, sample_of_file


def _takes(header: Header) -> bool:
    return header.dtype.kind in "biuf" and is_volume(header.shape)


def _sniff(head: bytes) -> bool:
    return False  # the reader of images knows arrays by their first bytes; `fits` tells which of them are volumes


def _member(archive: Archive) -> str:
    """Return the name of the array of an NPZ that is a volume, "" where none is, or a picture comes first."""
    for name in sorted(archive.names, key=lambda n: n != "volume"):
        header = archive.header(name)
        if _takes(header):
            return name
        if len(header.shape) in (2, 3, 4) and header.dtype.kind in "biuf":
            return ""
    return ""


def _fits(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(6)
        if head == NPY:
            file.seek(0)
            return _takes(read_header(file))
        if head[:4] != ZIP:
            return False
    with opened(path) as archive:
        return bool(_member(archive))


def _rates(path: Path) -> Fit:
    """Say that an NPY of three axes could be a volume where one of them is short."""
    with path.open("rb") as file:
        if file.read(6) != NPY:
            return Fit.NO
        file.seek(0)
        header = read_header(file)
    deep = len(header.shape) == 3 and header.dtype.kind in "biuf" and min(header.shape) > 1
    return Fit.ALLOWED if deep else Fit.NO


def _values(array: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return an array as (channels, z, y, x), with notes."""
    values, notes = scaled(array)
    lead, shape = values.shape[:-3], values.shape
    read = ("channels, " if lead else "") + "slices, rows, columns"
    return values.reshape(lead[-1] if lead else 1, *shape[-3:]), (*notes, f"shape {shape} read as ({read})")


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "array file"):
        with path.open("rb") as file:
            if file.read(4) != ZIP:
                file.seek(0)
                header = read_header(file)
                _require(header)
                return sample_of_file(path, *_values(read_values(file, header, size - header.start)))
        with opened(path) as archive:
            name = _member(archive)
            if not name:
                raise Broken("none of its arrays is a volume", "save one as (slices, rows, columns)")
            _require(archive.header(name))
            return sample_of_file(path, *_values(archive.array(name)))


def _require(header: Header) -> None:
    if len(header.shape) < 3:
        raise Broken(f"its shape {header.shape} is no volume", "save it as (slices, rows, columns)")
    require_volume(header.shape)


READER = Reader(
    "volume-array",
    "Volume (NPY, NPZ)",
    (".npy", ".npz"),
    "volume",
    _sniff,
    _read,
    fits=_fits,
    rates=_rates,
    takes="a volume (z, y, x)",
    unasked=f"an array of {LEAST} or more along each of three axes",
)
