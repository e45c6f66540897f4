"""Matrix Market text: the sizes, then a line for each entry, or the values column by column.

R. F. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats", 1996.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.spaces.graph.readers.assembly import require_nodes
from explorer.work.limits import MAX_LISTED

BANNER = b"%%MatrixMarket"
MOST_DENSE = 16_384  # nodes of a matrix that is stored whole
_BANNER = "begin it with '%%MatrixMarket matrix coordinate real general'"
_CHUNK = 2**22  # bytes of text at a time
_KINDS = ("real", "integer", "pattern", "unsigned-integer", "double")
_SYMMETRIES = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0, "hermitian": 1.0}
_NO_NUMBERS = re.compile(rb"[^0-9eE+\-.\sinfaINFA]")


def _none() -> NDArray[Any]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Market:
    """A square matrix: its entries, or all of it."""

    nodes: int
    rows: NDArray[np.int64] = field(default_factory=_none)
    columns: NDArray[np.int64] = field(default_factory=_none)
    values: NDArray[Any] = field(default_factory=_none)
    dense: NDArray[np.float64] | None = None


def read_market(file: IO[bytes], size: int) -> Market:
    """Read a matrix; what it claims is compared with the size of the file before anything is allocated.

    Raises:
        Broken: the line, or what does not fit.
    """
    banner = file.readline(200).decode("ascii", "replace").lower().split()
    if len(banner) != 5 or banner[1] != "matrix" or banner[2] not in ("coordinate", "array"):
        raise Broken("line 1 does not say 'matrix', 'coordinate' or 'array', a type and a symmetry", _BANNER)
    if banner[3] == "complex":
        raise Broken("its values are complex, not real numbers", "save its absolute value")
    if banner[3] not in _KINDS or banner[4] not in _SYMMETRIES or (banner[2:4] == ["array", "pattern"]):
        raise Broken("line 1 names a type or a symmetry that no Matrix Market file has", _BANNER)
    number, line = 1, b"%"
    while line.startswith(b"%") or (line and not line.strip()):
        line, number = file.readline(2**20), number + 1
    match = re.fullmatch(rb"\s*(\d{1,18})\s+(\d{1,18})(?:\s+(\d{1,18}))?\s*", line)
    if match is None or (match[3] is None) == (banner[2] == "coordinate"):
        raise Broken(f"line {number} of the Matrix Market file is no size")
    rows, columns, entries = int(match[1]), int(match[2]), int(match[3] or 0)
    if rows != columns:
        raise Broken(f"its adjacency has shape ({rows}, {columns}) and is not square", "save a square matrix")
    if banner[2] == "array":
        return Market(rows, dense=_dense(file, rows, _SYMMETRIES[banner[4]], banner[4], size))
    if entries > MAX_LISTED or entries * 4 > size:
        raise Broken(f"line {number} claims {entries} entries, more than the file of {size} bytes can hold")
    require_nodes(rows, entries)
    width = 2 if banner[3] == "pattern" else 3
    table = _numbers(file, entries * width, f"{entries} entries of {width} numbers").reshape(entries, width)
    places = table[:, :2]
    wrong = np.flatnonzero(((places < 1) | (places > rows) | (places != np.floor(places))).any(1))
    if wrong.size:
        where = f"entry {wrong[0] + 1}, in line {number + 1 + wrong[0]}"
        raise Broken(f"{where}, stands at no row and column from 1 to {rows}", "correct it")
    at = places.astype(np.int64) - 1
    values = table[:, 2].copy() if width == 3 else np.ones(entries)
    return _mirrored(Market(rows, at[:, 0], at[:, 1], values), _SYMMETRIES[banner[4]])


def _mirrored(half: Market, sign: float) -> Market:
    """Return the matrix of which one half is given, and all of it as it is where `sign` is 0."""
    if not sign:
        return half
    off = half.rows != half.columns
    return Market(
        half.nodes, np.concatenate([half.rows, half.columns[off]]), np.concatenate([half.columns, half.rows[off]]),
        np.concatenate([half.values, sign * half.values[off]]),
    )  # fmt: skip


def _dense(file: IO[bytes], nodes: int, sign: float, symmetry: str, size: int) -> NDArray[np.float64]:
    if nodes > MOST_DENSE:
        raise Broken(f"it has {nodes} nodes, too many", "take a part of it, or save it as coordinates")
    skew = symmetry == "skew-symmetric"
    count = nodes * nodes if not sign else nodes * (nodes - 1) // 2 if skew else nodes * (nodes + 1) // 2
    if 2 * count - 1 > size:
        raise Broken(f"it claims {count} values, more than the file of {size} bytes can hold")
    values = _numbers(file, count, f"{count} values")
    if not sign:
        return values.reshape(nodes, nodes).T
    matrix = np.zeros((nodes, nodes))
    columns, rows = np.triu_indices(nodes, int(skew))
    matrix[columns, rows] = sign * values
    matrix[rows, columns] = values
    return matrix


def _numbers(file: IO[bytes], count: int, what: str) -> NDArray[np.float64]:
    """Return the numbers of the rest of a file, which must be `count`."""
    found, at, rest = np.empty(count), 0, b""
    while True:
        chunk = file.read(_CHUNK)
        text = rest + chunk
        # a number may go on in the next chunk
        cut = max(text.rfind(b" "), text.rfind(b"\n"), text.rfind(b"\t")) if chunk else len(text)
        text, rest = (text[:cut], text[cut:]) if cut >= 0 else (b"", text)
        if len(rest) > _CHUNK:
            raise Broken(f"a number in it has more than {_CHUNK} characters")
        if odd := _NO_NUMBERS.search(text):
            raise _no_number(at + len(text[: odd.start()].rsplit(None, 1)[0].split()))
        if text.strip():
            values = _parsed(text, at)
            if at + len(values) > count:
                raise Broken(f"it has more numbers than the {what} that it claims")
            found[at : at + len(values)] = values
            at += len(values)
        if not chunk:
            break
    if at < count:
        raise Broken(f"it is truncated: it claims {what}, and {at} numbers are there")
    return found


def _no_number(before: int) -> Broken:
    return Broken(f"something after its first {before} numbers is no number", "correct it")


def _parsed(text: bytes, before: int) -> NDArray[np.float64]:
    """Return the numbers that blanks separate in a text, which `before` others precede."""
    blank = np.frombuffer(text, np.uint8) <= 32
    words = int(np.count_nonzero(blank[:-1] & ~blank[1:])) + int(not blank[0])
    try:
        values = np.fromstring(text, np.float64, sep=" ")
    except ValueError:
        values = np.zeros(0)
    if len(values) != words:
        raise _no_number(before + len(values))
    return values
