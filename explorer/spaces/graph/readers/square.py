"""Adjacency matrices as text (CSV, TSV, text): as many lines as columns, with names of the nodes beside it or without.

Row is from, column is to. A table is one where all its values are 0 or 1, or where it is symmetric; any other square
table is read so only if somebody says so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.formats.tables import cells_of, is_remark, mark_of, number_of
from explorer.data.formats.texts import encoding_in, note_of, table_encoding
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers.assembly import sample_of
from explorer.spaces.graph.readers.matrix import of_matrix

_FEWEST = 4  # nodes: three lines of three numbers are rather edges with weights
_MOST = 4096  # nodes
_LONGEST = 2**20  # characters of a line
_SQUARE = "write as many lines as columns, numbers alone"


def _rows(path: Path, encoding: str) -> tuple[list[list[str]], list[int]]:
    """Return the cells of each line and the lines' numbers; Broken as soon as they are no square."""
    rows, numbers = list[list[str]](), list[int]()
    with path.open(encoding=encoding, errors="replace", newline=None) as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST), ""), 1):
            if len(line) == _LONGEST:
                raise Broken(f"line {number} has more than {_LONGEST} characters", "save it as a sparse matrix")
            if not line.strip() or is_remark(line):
                continue
            cells = cells_of(line.rstrip("\n"), mark_of(line))
            if len(cells) > _MOST + 1:
                raise Broken(f"it is larger than {_MOST} lines and columns", "save it as a sparse matrix")
            if len(rows) > len(cells):
                raise Broken(f"it has more lines than its {len(cells)} columns and is not square", _SQUARE)
            if rows and len(cells) != len(rows[-1]):
                raise Broken(f"line {number} has {len(cells)} column(s) and the one before {len(rows[-1])}", _SQUARE)
            rows.append(cells)
            numbers.append(number)
    return rows, numbers


def _matrix(path: Path, encoding: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the matrix and the names of its nodes, () where it has none."""
    rows, numbers = _rows(path, encoding)
    names: list[str] = []
    if rows and all(number_of(cell) is None for cell in rows[0] if cell) and any(rows[0]):
        names, rows, numbers = rows[0], rows[1:], numbers[1:]
    if rows and len(rows[0]) == len(rows) + 1:  # with a name, or a number, before each row
        names = names[1:] or [row[0] for row in rows]
        rows = [row[1:] for row in rows]
    if len(rows) < 2 or len(rows[0]) != len(rows):
        raise Broken(f"it has {len(rows)} lines of {len(rows[0]) if rows else 0} columns and is not square", _SQUARE)
    matrix = np.zeros((len(rows), len(rows)))
    for k, row in enumerate(rows):
        for j, cell in enumerate(row):
            value = 0.0 if not cell else number_of(cell)
            if value is None or not np.isfinite(value):
                raise Broken(f"line {numbers[k]} has {cell[:40]!r} where a number must stand", _SQUARE)
            matrix[k, j] = value
    return matrix, tuple(names)


def _rates(path: Path) -> Fit:
    try:
        matrix, _ = _matrix(path, encoding_in(path))
    except Broken:
        return Fit.NO
    if len(matrix) < _FEWEST or not matrix.any():
        return Fit.ALLOWED
    whole = bool(np.isin(matrix, (0, 1)).all())
    return Fit.CLEAR if whole or bool((matrix == matrix.T).all()) else Fit.ALLOWED


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "adjacency matrix"):
        encoding = table_encoding(path)
        matrix, names = _matrix(path, encoding)
        found = of_matrix(matrix)
        found.names = names
        found.notes += ["read as an adjacency matrix", *note_of(encoding)]
        return sample_of(path, found)


READER = Reader(
    "matrix-text", "Adjacency matrix (CSV, TSV, text)", (".csv", ".tsv", ".txt"), "graph", lambda head: False, _read,
    rates=_rates,
)  # fmt: skip
