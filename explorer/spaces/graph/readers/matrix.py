"""Adjacency matrices: NPZ (scipy's sparse format, or plain arrays) and Matrix Market (MTX). Nothing is unpickled.

Row is from, column is to: A_ij is the weight of the edge from i to j. An NPZ is taken for a graph when it holds scipy's
sparse arrays, an array named adjacency, adj or edge_index, or a square arr_0 beside attributes x; else for an image.
Further arrays: x, edge_attr, edge_weight, position, label (or y), seeds, batch, names.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.archives import Archive, opened
from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers.arrays import found_in_arrays
from explorer.spaces.graph.readers.assembly import Found, require_nodes, sample_of
from explorer.spaces.graph.readers.market import BANNER, MOST_DENSE, Market, read_market
from explorer.spaces.graph.samples.edges import is_symmetric
from explorer.work.limits import MAX_LISTED

_SPARSE = {"indices", "indptr", "format", "shape", "data"}
_COORDINATE = {"row", "col", "format", "shape", "data"}
_NAMED = ("adjacency", "adj", "adj_matrix", "A")


def _sniff(head: bytes) -> bool:
    return head.removeprefix(BOM_UTF8).startswith(BANNER)


def _fits(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
    with opened(path) as archive:
        names = set(archive.names)
        if _SPARSE <= names or _COORDINATE <= names or "edge_index" in names or names & set(_NAMED[:-1]):
            return True
        if not names & {"arr_0", "A"} or not names & {"x", "features"}:
            return False
        matrix = archive.header("arr_0" if "arr_0" in names else "A").shape
        x = archive.header("x" if "x" in names else "features").shape
        return bool(len(matrix) == 2 and len(x) == 2 and matrix[0] == matrix[1] == x[0])


def _arrays(path: Path) -> tuple[dict[str, NDArray[Any]], Found | None]:
    """Return the arrays of an NPZ, and the entries of the matrix where it holds one whole."""
    with opened(path) as archive:
        found = None
        matrix = next((name for name in (*_NAMED, "arr_0") if name in archive.names), None)
        if matrix is not None and "edge_index" not in archive.names and "format" not in archive.names:
            found = _of_rows(archive, matrix)
        arrays = {name: archive.array(name) for name in archive.names if found is None or name != matrix}
        return arrays, found


def _of_rows(archive: Archive, name: str) -> Found:
    """Return the entries of a matrix that is stored whole; only those that are not 0 are held."""
    header = archive.header(name)
    _require_matrix(header.shape)
    if header.dtype.kind not in "biuf":
        raise Broken(f"its adjacency holds {header.dtype}, not real numbers", "save it as numbers")
    parts, total = list[tuple[NDArray[Any], ...]](), 0
    for first, block in archive.rows(name):
        rows, columns = np.nonzero(block)
        parts.append((rows + first, columns, block[rows, columns]))
        total += len(rows)
        if total > MAX_LISTED:
            raise Broken(f"it has more than {MAX_LISTED} entries", "take a part of it")
    none = np.zeros(0, np.int64)
    rows, columns, values = (np.concatenate(some) for some in zip((none, none, none), *parts, strict=True))
    if header.fortran:  # what was read as rows are columns
        rows, columns = columns, rows
        order = np.lexsort((columns, rows))
        rows, columns, values = rows[order], columns[order], values[order]
    return _of_entries(header.shape[0], rows, columns, values)


def _require_matrix(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise Broken(f"its adjacency has shape {shape} and is not square", "save a square matrix")
    if shape[0] > MOST_DENSE:
        raise Broken(f"its matrix has {shape[0]} rows and the most is {MOST_DENSE}", "save it as a sparse matrix")


def of_matrix(matrix: NDArray[Any]) -> Found:
    """Return the graph of an adjacency matrix."""
    _require_matrix(matrix.shape)
    if matrix.dtype.kind not in "biuf":
        raise Broken(f"its adjacency holds {matrix.dtype}, not real numbers", "save it as numbers")
    rows, columns = np.nonzero(matrix)
    return _of_entries(len(matrix), rows, columns, matrix[rows, columns])


def _of_entries(nodes: int, rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any]) -> Found:
    """Wrap the entries of an adjacency matrix: undirected when it is symmetric, weighted unless all are ones."""
    pairs = np.stack([rows, columns], 1).astype(np.int64)
    if len(pairs) > MAX_LISTED:
        raise Broken(f"it has {len(pairs)} entries and the most is {MAX_LISTED}", "take a part of it")
    weight = None if bool((values == 1).all()) else np.asarray(values, np.float64)
    if pairs.size and (pairs.min() < 0 or pairs.max() >= nodes):
        return Found(nodes, pairs, True)  # refused there, with the edge's number
    directed = not is_symmetric(pairs.T, weight)
    return Found(nodes, pairs, directed, listed=not directed, weight=weight)


def _of_sparse(arrays: Mapping[str, NDArray[Any]]) -> Found:
    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    shape, data = tuple(int(n) for n in arrays["shape"].ravel()), arrays["data"].ravel()
    if len(shape) != 2 or shape[0] != shape[1]:
        raise Broken(f"its adjacency has shape {shape} and is not square", "save a square matrix")
    require_nodes(shape[0], len(data))
    if data.dtype.kind not in "biuf":
        raise Broken(f"its adjacency holds {data.dtype}, not real numbers", "save it as numbers")
    if kind == "coo":
        first, second = arrays["row"], arrays["col"]
    elif kind in ("csr", "csc"):
        starts, second = arrays["indptr"].astype(np.int64), arrays["indices"]
        steps = np.diff(starts)
        if len(starts) != shape[0] + 1 or starts[0] != 0 or (steps < 0).any() or starts[-1] != len(second):
            raise Broken("its 'indptr' does not fit its 'indices'", "save it again with scipy.sparse.save_npz")
        first = np.repeat(np.arange(shape[0]), steps)
        if kind == "csc":
            first, second = second, first
    else:
        raise Broken(f"its sparse format is {kind!r}", "save it as CSR, CSC or COO")
    if not len(first) == len(second) == len(data):
        raise Broken("its entries and their places are not equally many", "save it again with scipy.sparse.save_npz")
    return _of_entries(shape[0], first, second, data)


def _read_npz(path: Path) -> Sample:
    arrays, found = _arrays(path)
    if "edge_index" in arrays:
        return sample_of(path, found_in_arrays(arrays))
    if "format" in arrays:
        return sample_of(path, found_in_arrays(arrays, _of_sparse(arrays)))
    if found is None:
        raise Broken("it holds no adjacency and no edge_index", "save one under that name")
    return sample_of(path, found_in_arrays(arrays, found))


def _of_market(market: Market) -> Found:
    if market.dense is not None:
        return of_matrix(market.dense)
    return _of_entries(market.nodes, market.rows, market.columns, market.values)


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "adjacency matrix"), path.open("rb") as file:
        begin = len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0  # editors set it before text
        file.seek(begin)
        head = file.read(len(BANNER))
        file.seek(begin)
        if head.startswith(b"PK"):
            return _read_npz(path)
        if head != BANNER:
            raise Broken("its content is neither Matrix Market nor NPZ", "save it with scipy.io.mmwrite")
        return sample_of(path, _of_market(read_market(file, size)))


# .npz belongs to the reader of arrays; `fits` takes those that hold a graph
READER = Reader(
    "adjacency",
    "Adjacency matrix (NPZ, MTX)",
    (".mtx",),
    "graph",
    _sniff,
    _read,
    fits=_fits,
    takes="a graph 'edge_index'",
)
