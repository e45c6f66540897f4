"""Clouds of points: PCD of the Point Cloud Library in its three forms, NPZ and NPY with an array of places.

PLY has a file of its own. Plain XYZ is read as a set or a molecule: networks on points take these too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.archives import NPY, Archive, Header, opened, read_header, read_values
from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.formats.several import one_of, require_part
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.points.readers.beside import PACKED, beside
from explorer.spaces.points.sample import MOST_POINTS, points_sample

_HEADER = 4096
_FEWEST = 8  # rows of three numbers that are taken for points; fewer are as likely a small picture
_MOST_COUNT = 10_000  # numbers of one field; descriptors of shape have some hundreds
_KINDS = {("F", 4), ("F", 8), *((kind, size) for kind in "IU" for size in (1, 2, 4, 8))}
_MOST_BYTES = 2**29  # of a compressed file, when it is spread out
# names of an array (points, 3), the first one that is there
_PLACES = ("points", "position", "positions", "pos", "xyz", "R")
_NUMBERS = ("numbers", "z", "Z", "atomic_numbers")
_VELOCITIES = ("velocities", "vel", "velocity")
_CHARGES = ("charges", "charge")
_VALUES = ("values", "features", "feat", "x", "h")


def require_count(n: int) -> None:
    """Raise Broken where there are no points, or more than are read."""
    if n < 1:
        raise Broken("it has no points")
    if n > MOST_POINTS:
        raise Broken(f"it has {n:,} points, and the most is {MOST_POINTS:,}", "thin it out")


def finite(places: NDArray[Any]) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which rows are places; scanners write NaN where they saw nothing."""
    kept = np.isfinite(places).all(1)
    gone = int((~kept).sum())
    if gone == len(places):
        raise Broken("none of its points is at a finite place", "save it again")
    return kept, (left_out(gone),) if gone else ()


def left_out(count: int) -> str:
    """Say how many points were left out."""
    return f"{count:,} points without a place are left out" if count > 1 else "1 point without a place is left out"


def _read_pcd(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "PCD"):
        with path.open("rb") as file:
            head = file.read(_HEADER)
            header, begin = _pcd_header(head)
            require_count(header["points"])
            columns = _pcd_columns(path, header, begin)
        places = np.stack([_first(columns.pop(axis)).astype(np.float64) for axis in "xyz"], 1)
        kept, notes = finite(places)
        more = beside(columns, kept)
        return points_sample(
            path.stem, places[kept], values=more.values, vectors=more.vectors, title=path.name, source=str(path),
            notes=(*notes, *more.notes),
        )  # fmt: skip


def _is_pcd(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(11).startswith((b"# .PCD", b"VERSION .7", b"VERSION 0.7"))


def _pcd_header(head: bytes) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = 0
    for line in head.split(b"\n"):
        at += len(line) + 1
        key, *words = line.decode("utf-8", "replace").split() or [""]
        match key:
            case "FIELDS":
                found["fields"] = words
            case "SIZE" | "COUNT":
                found[key.lower()] = [_whole(w, key) for w in words]
            case "TYPE":
                found["type"] = words
            case "POINTS":
                found["points"] = _whole(words[0] if words else "", key)
            case "DATA":
                found["data"] = words[0] if words else ""
                break
    missing = [key for key in ("fields", "size", "type", "points", "data") if key not in found]
    if missing:
        raise Broken(f"its header does not say {missing[0].upper()}", "save it again")
    found.setdefault("count", [1] * len(found["fields"]))
    if len({len(found[key]) for key in ("fields", "size", "type", "count")}) > 1:
        raise Broken("its header lists other numbers of FIELDS, SIZE, TYPE and COUNT", "save it again")
    if wrong := [t for t, size in zip(found["type"], found["size"], strict=True) if (t, size) not in _KINDS]:
        raise Broken(f"its header has a field of type {wrong[0]!r} and a size that it has not", "save it again")
    if not {"x", "y", "z"} <= set(found["fields"]):
        raise Broken("its points have no x, y and z", "save points in space")
    if max(found["count"]) > _MOST_COUNT:
        raise Broken(f"its header claims {max(found['count'])} numbers in one field of a point", "save it again")
    return found, at


def _whole(word: str, key: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 19):
        raise Broken(f"what its header says after {key} is no whole number", "save it again")
    return int(word)


def _first(column: NDArray[Any]) -> NDArray[Any]:
    return column[:, 0] if column.ndim > 1 else column


def _pcd_columns(path: Path, header: dict[str, Any], begin: int) -> dict[str, NDArray[Any]]:
    """Return what the file has at its points, by field; padding, which is called _, is left out."""
    fields, count, n = header["fields"], header["count"], header["points"]
    if header["data"] not in ("ascii", "binary", "binary_compressed"):
        raise Broken(f"its data are {header['data']!r}", "save it as ascii, binary or binary_compressed")
    kinds = {"F": "f", "I": "i", "U": "u"}
    row = np.dtype([
        (f"{name} {k}", f"<{kinds[kind]}{size}", (many,) if many != 1 else ())
        for k, (name, kind, size, many) in enumerate(zip(fields, header["type"], header["size"], count, strict=True))
    ])  # fmt: skip
    wanted = {name: f"{name} {k}" for k, name in reversed(list(enumerate(fields))) if name != "_" and count[k]}
    if header["data"] == "binary_compressed":
        return _spread_out(path, row, wanted, n, begin)
    if header["data"] == "binary":
        if path.stat().st_size - begin < n * row.itemsize:
            raise Broken(f"it is truncated: it claims {n:,} points")
        table = np.fromfile(path, row, n, offset=begin)
        return {name: table[key] for name, key in wanted.items()}
    starts = np.cumsum([0, *count])
    alone = [k for k, name in enumerate(fields) if name in "xyz" or (count[k] == 1 and name in wanted)]
    with path.open("rb") as file:
        file.seek(begin)
        rows = np.loadtxt(file, np.float64, usecols=[int(starts[k]) for k in alone], ndmin=2, max_rows=n)
    if len(rows) < n:
        raise Broken(f"it is truncated: it claims {n:,} points and {len(rows):,} are there")
    found: dict[str, NDArray[Any]] = {}
    for k, column in zip(alone, rows.T, strict=True):
        # bytes that are packed in a number are written as that number
        narrow = fields[k].lower() in PACKED and header["size"][k] == 4
        found.setdefault(fields[k], _narrowed(column, header["type"][k]) if narrow else column)
    several = {fields[k]: np.zeros((n, 0)) for k in range(len(fields)) if count[k] > 1 and fields[k] in wanted}
    return {**several, **found}


def _narrowed(column: NDArray[np.float64], kind: str) -> NDArray[Any]:
    with np.errstate(invalid="ignore", over="ignore"):
        return column.astype(np.float32) if kind == "F" else column.astype(np.int64).astype(np.uint32)


def _spread_out(
    path: Path, row: np.dtype[Any], wanted: dict[str, str], n: int, begin: int
) -> dict[str, NDArray[Any]]:  # fmt: skip
    """Return the fields of a compressed file, where all values of a field stand together."""
    with path.open("rb") as file:
        file.seek(begin)
        head = file.read(8)
        packed, size = (int(v) for v in np.frombuffer(head.ljust(8, b"\0"), "<u4"))
        there = max(0, path.stat().st_size - begin - len(head))
        if len(head) < 8 or there < packed:
            raise Broken(f"it is truncated: it claims {packed:,} compressed bytes and {there:,} are there")
        data = file.read(packed)
    if size != n * row.itemsize:
        raise Broken(f"its header asks for {n * row.itemsize:,} bytes, and {size:,} are compressed", "save it again")
    if size > _MOST_BYTES:
        raise Broken(f"it has {size:,} bytes, and the most is {_MOST_BYTES:,}", "leave out fields beside x, y and z")
    raw = _lzf(data, size)
    assert row.fields is not None
    found = {}
    for name, key in wanted.items():
        kind, offset = row.fields[key][:2]
        many = kind.itemsize // kind.base.itemsize
        values = np.frombuffer(raw, kind.base, n * many, offset=n * offset)
        found[name] = values.reshape(n, many) if many > 1 else values
    return found


def _lzf(data: bytes, size: int) -> bytes:
    """Return what LZF (Marc Lehmann's format) has compressed: runs of bytes, and copies of what came before."""
    made, at, end = bytearray(), 0, len(data)
    while at < end and len(made) < size:
        control = data[at]
        at += 1
        if control < 32:
            made += data[at : at + control + 1]
            at += control + 1
            continue
        count, more = (control >> 5) + 2, 2 if control >> 5 == 7 else 1
        if at + more > end:
            break
        count += data[at] if more == 2 else 0
        back = ((control & 31) << 8) + data[at + more - 1] + 1
        at += more
        if back > len(made):
            raise Broken("its compressed data refer to what is not there", "save it again")
        start = len(made) - back
        # a copy may reach into itself
        made += made[start : start + count] if count <= back else (made[start:] * (count // back + 1))[:count]
    if len(made) != size:
        raise Broken(f"its compressed data give {len(made):,} bytes instead of {size:,}", "save it again")
    return bytes(made)


def _is_cloud(path: Path) -> bool:
    with opened(path) as archive:
        names = set(archive.names)
        only = _only_rows(archive) if len(archive.names) == 1 else ""
        if only and archive.header(only).dtype.kind == "f" and archive.header(only).shape[0] >= _FEWEST:
            return True  # as np.savez(path, places) writes it, which gives no name
        place = next((name for name in _PLACES if name in names), "")
        if not place or names & {"edge_index", "faces", "image"}:
            return False
        # x beside places are features of the points where there is a row for each
        return "x" not in names or archive.header("x").shape[:1] == archive.header(place).shape[:1]


def _rates_npz(path: Path) -> Fit:
    with opened(path) as archive:
        return Fit.ALLOWED if _only_rows(archive) else Fit.NO


def _only_rows(archive: Archive) -> str:
    """Return the name of the only array that has rows of three numbers, where all others have as many; else ""."""
    headers = {name: archive.header(name) for name in archive.names}
    rows = [name for name, header in headers.items() if _are_rows(header)]
    alike = len({header.shape[:1] for header in headers.values()}) == 1
    return rows[0] if len(rows) == 1 and alike else ""


def _read_npz(path: Path, part: str = "") -> Sample:
    file_bytes(path)
    with refusing(path, "NPZ"), opened(path) as arrays:
        first = next((name for name in _PLACES if name in arrays.names), "") or _only_rows(arrays)
        if not first:
            raise Broken(f"it has no array {' or '.join(map(repr, _PLACES))}", "name the places of its points so")
        header = arrays.header(first)  # it is looked at before room is made for what it claims
        if len(header.shape) not in (2, 3) or header.shape[-1] != 3 or header.dtype.kind not in "fiu":
            raise Broken(f"its array {first!r} has the shape {header.shape}, and points in space are (points, 3)")
        require_count(header.shape[-2])
        places = arrays.array(first)
        count = len(places) if places.ndim == 3 else 1
        if not count:
            raise Broken("it has no points")
        wanted = require_part(part, count, "frame")
        places = places[wanted] if places.ndim == 3 else places
        bad = np.flatnonzero(~np.isfinite(places).all(1))
        if bad.size:
            raise Broken(f"point {int(bad[0])} is at no finite place", "leave such points out")

        def of_points(names: tuple[str, ...], shape: tuple[int, ...]) -> NDArray[Any] | None:
            found = next((arrays.array(name) for name in names if name in arrays.names), None)
            if found is not None and found.ndim == len(shape) + 1 and len(found) == count:
                found = found[wanted]
            return found if found is not None and found.shape == shape and found.dtype.kind in "fiu" else None

        n = len(places)
        sample = points_sample(
            path.stem, places, numbers=of_points(_NUMBERS, (n,)), velocity=of_points(_VELOCITIES, (n, 3)),
            charge=of_points(_CHARGES, (n,)), values=_features(arrays, n), title=path.name, source=str(path),
        )  # fmt: skip
        return one_of(sample, path, wanted, count, "frame")


def _features(arrays: Archive, n: int) -> NDArray[Any] | None:
    """Return (n, channels) numbers that an archive has at its points, or None: one number at each is one channel."""
    for name in (name for name in _VALUES if name in arrays.names):
        found = arrays.array(name)
        if found.ndim in (1, 2) and len(found) == n and found.size and found.dtype.kind in "fiub":
            return found.reshape(n, -1).astype(np.float64)
    return None


def _is_npy_cloud(path: Path) -> bool:
    """Say that rows of three real numbers are points in space; a picture is hardly three pixels wide."""
    header = _npy_header(path)
    return header is not None and _are_rows(header) and header.dtype.kind == "f" and header.shape[0] >= _FEWEST


def _rates_npy(path: Path) -> Fit:
    header = _npy_header(path)
    return Fit.ALLOWED if header is not None and _are_rows(header) else Fit.NO


def _npy_header(path: Path) -> Header | None:
    with path.open("rb") as file:
        if file.read(len(NPY)) != NPY:
            return None
        file.seek(0)
        return read_header(file)


def _are_rows(header: Header) -> bool:
    return len(header.shape) == 2 and header.shape[1] == 3 and header.dtype.kind in "fiu"


def _read_npy(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "NPY"), path.open("rb") as file:
        header = read_header(file)
        if not _are_rows(header):
            raise Broken(f"its array has the shape {header.shape}, and points in space are (points, 3)")
        require_count(header.shape[0])
        kept, notes = finite(places := read_values(file, header, size - header.start))
        return points_sample(path.stem, places[kept], title=path.name, source=str(path), notes=notes)


READER = (
    Reader("pcd", "Cloud of points (PCD)", (".pcd",), "points", lambda head: False, _read_pcd, fits=_is_pcd),
    Reader(
        "points-npy", "Cloud of points (NPY)", (".npy",), "points", lambda head: False, _read_npy, fits=_is_npy_cloud,
        rates=_rates_npy,
    ),
    Reader(
        "points-npz", "Cloud of points (NPZ)", (".npz",), "points", lambda head: False, _read_npz, fits=_is_cloud,
        part=_read_npz, rates=_rates_npz, takes="'points' (n, 3)",
    ),
)  # fmt: skip
