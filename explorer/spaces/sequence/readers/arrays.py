"""Series as NumPy arrays, time first: a 1-D NPY, or an NPZ with "series", or with "x" and "time". Nothing is unpickled.

A 2-D NPY is an image unless it is said to be a series, "array.npy?as=series-array"; so is the only array of an NPZ. An
NPZ may also hold time, label, batch, names, channels and rate.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.archives import NPY, ZIP, Archive, Header, opened, read_header, read_values
from explorer.data.formats.checks import AGAIN, Broken, file_bytes, refusing
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.sequence.readers.assembly import MOST_NAMED, Series, filled, require_steps, series_sample

_NUMBERS = "biuf"
_NARROW = 8  # channels of a series that could be columns of a picture


def _sniff(head: bytes) -> bool:
    return False  # the reader of images knows arrays by their first bytes; `fits` tells which of them are series


def _fits(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(6)
        if head == NPY:
            file.seek(0)
            header = read_header(file)
            return len(header.shape) == 1 and header.dtype.kind in _NUMBERS
        if head[:4] != ZIP:
            return False
    with opened(path) as archive:
        names = set(archive.names)
        return "series" in names or {"x", "time"} <= names


def _lone(path: Path) -> Header | None:
    """Return what the only array of a file says of itself, None where there are several."""
    with path.open("rb") as file:
        head = file.read(6)
        if head == NPY:
            file.seek(0)
            return read_header(file)
    if head[:4] != ZIP:
        return None
    with opened(path) as archive:
        return archive.header(archive.names[0]) if len(archive.names) == 1 else None


def _rates(path: Path) -> Fit:
    """Say how well an array of two axes fits: what is long and narrow is rather a series than a picture."""
    header = _lone(path)
    if header is None:
        return Fit.NO
    shape = header.shape
    if len(shape) != 2 or header.dtype.kind not in _NUMBERS:
        return Fit.NO
    return Fit.LIKELY if shape[1] <= _NARROW and shape[0] >= 4 * shape[1] else Fit.ALLOWED


def _checked(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    if dtype.hasobject:
        raise Broken(f"{name} holds Python objects, and reading those could run code", "save plain numbers")
    if dtype.kind not in _NUMBERS:
        raise Broken(f"{name} holds {dtype}, not real numbers", "save its real part or absolute value as numbers")
    if len(shape) not in (1, 2):
        raise Broken(f"{name} has the shape {shape}", "save it as (steps,) or (steps, channels)")
    require_steps(shape[0], shape[1] if len(shape) == 2 else 1)


def _finite(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return (steps, channels) float64; NaN is a gap, infinity is refused with its place."""
    x = values.astype(np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if np.isinf(x).any():
        t, c = np.argwhere(np.isinf(x))[0].tolist()
        raise Broken(f"step {t}, channel {c} is infinite", "correct it, or make it NaN where it is not known")
    return x


def _with_gaps(series: Series) -> Series:
    gaps = np.isnan(series.x)
    if gaps.any():
        t, c = np.argwhere(gaps)[0].tolist()
        filled(series, f"step {t}, channel {c}")
    return series


def _read_npy(path: Path) -> Series:
    with path.open("rb") as file:
        header = read_header(file)
        _checked(header.shape, header.dtype, "the array")
        values = read_values(file, header, path.stat().st_size - header.start)
    return _with_gaps(Series(_finite(values)))


def _array(archive: Archive, name: str) -> NDArray[Any]:
    """Read one array; what it claims is compared with what is there before memory is asked for."""
    header = archive.header(name)
    if name in ("series", "x") or len(archive.names) == 1:
        _checked(header.shape, header.dtype, f"{name!r}")
    elif math.prod(header.shape) > 4 * MOST_NAMED and name in ("names", "channels"):
        raise Broken(f"{name!r} holds {math.prod(header.shape)} texts", "leave it out")
    return archive.array(name)


def _read_npz(path: Path) -> Series:
    with opened(path) as archive:
        names = set(archive.names)
        lone = archive.names[0] if len(names) == 1 else None
        main = next((name for name in ("series", "x") if name in names), lone)
        if main is None:
            raise Broken("it holds no array 'series', nor 'x' with 'time'", "save the series under that name")
        arrays = {
            n: _array(archive, n) for n in (main, "time", "label", "batch", "names", "channels", "rate") if n in names
        }
    series = Series(_finite(arrays[main]))
    steps = len(series.x)
    for name in ("time", "label", "batch"):
        if name not in arrays:
            continue
        values = arrays[name]
        if values.shape != (steps,) or values.dtype.kind not in _NUMBERS:
            what = f"{name!r} has the shape {values.shape} of {values.dtype}, and there are {steps} steps"
            raise Broken(what, "save one number for each step")
        if name != "time" and (not np.isfinite(values).all() or (values != np.floor(values)).any()):
            raise Broken(f"{name!r} holds numbers that are not whole", "save it as integers")
        setattr(series, name, values.astype(np.float64 if name == "time" else np.int64))
    for name, places in (("names", steps), ("channels", series.x.shape[1])):
        if name in arrays:
            values = arrays[name]
            if values.shape != (places,) or values.dtype.kind != "U":
                raise Broken(f"{name!r} has the shape {values.shape} of {values.dtype}, not {places} texts", AGAIN)
            setattr(series, name, tuple(values.tolist()))
    if "rate" in arrays and arrays["rate"].size == 1 and arrays["rate"].dtype.kind in _NUMBERS:
        rate = float(arrays["rate"].ravel()[0])
        series.rate = rate if 0 < rate < 1e12 else 0.0
    numbered = series.batch
    if numbered is not None and (numbered[0] != 0 or not np.isin(np.diff(numbered), (0, 1)).all()):
        raise Broken("'batch' does not number the series 0, 1, 2, ... one after the other", "sort the steps by series")
    return _with_gaps(series)


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "array file"):
        with path.open("rb") as file:
            head = file.read(6)
        if head == NPY:
            return series_sample(path, _read_npy(path))
        if head[:2] != b"PK":
            raise Broken("its content is neither NPY nor NPZ", "save it with numpy.save or numpy.savez")
        return series_sample(path, _read_npz(path))


READER = Reader(
    "series-array",
    "Series (NPY, NPZ)",
    (".npy", ".npz"),
    "sequence",
    _sniff,
    _read,
    fits=_fits,
    rates=_rates,
    takes="steps 'series'",
)
