"""Adjacency matrices: NPZ (scipy's sparse format, or plain arrays) and Matrix Market (MTX). Nothing is unpickled.

Row is from, column is to: A_ij is the weight of the edge from i to j. An NPZ is taken for a graph when it holds scipy's
sparse arrays, an array named adjacency, adj or edge_index, or a square arr_0 beside attributes x; else for an image.
Further arrays: x, edge_attr, edge_weight, position, label (or y), seeds, batch, names.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.data.samples import Sample
from explorer.spaces.graph.readers.arrays import found_in_arrays
from explorer.spaces.graph.readers.assembly import Found, sample_of
from explorer.spaces.graph.samples.edges import is_symmetric
from explorer.work.limits import MAX_LISTED, MAX_NODES

_BANNER = b"%%MatrixMarket"
_LARGEST = 2**33  # bytes, unpacked
_MOST_DENSE = 16_384  # nodes of a matrix that is stored whole
_SPARSE = {"indices", "indptr", "format", "shape", "data"}
_COORDINATE = {"row", "col", "format", "shape", "data"}
_NAMED = ("adjacency", "adj", "adj_matrix", "A")


def _sniff(head: bytes) -> bool:
    return head.startswith(_BANNER)


def _fits(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
    with zipfile.ZipFile(path) as archive:
        names = {n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")}
        if _SPARSE <= names or _COORDINATE <= names or "edge_index" in names or names & set(_NAMED[:-1]):
            return True
        if not names & {"arr_0", "A"} or not names & {"x", "features"}:
            return False
    with np.load(path, allow_pickle=False) as arrays:
        matrix = arrays["arr_0" if "arr_0" in names else "A"]
        x = arrays["x" if "x" in names else "features"]
        return bool(matrix.ndim == 2 and x.ndim == 2 and matrix.shape[0] == matrix.shape[1] == len(x))


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an NPZ; what they claim to take is checked first, and objects are refused."""
    with zipfile.ZipFile(path) as archive:
        total = sum(member.file_size for member in archive.infolist())
        if total > _LARGEST:
            raise Broken(f"its arrays take {total} bytes and the most is {_LARGEST}", "take a part of it")
    with np.load(path, allow_pickle=False) as file:
        arrays = {}
        for name in file.files:
            try:
                arrays[name] = file[name]
            except ValueError as error:
                if "pickle" in str(error):
                    what = f"its array {name!r} holds Python objects, and reading those could run code"
                    raise Broken(what, "save plain arrays of numbers") from None
                raise
    return arrays


def _of_matrix(matrix: NDArray[Any]) -> Found:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise Broken(f"its adjacency has shape {matrix.shape} and is not square", "save a square matrix")
    if len(matrix) > _MOST_DENSE:
        raise Broken(f"its matrix has {len(matrix)} rows and the most is {_MOST_DENSE}", "save it as a sparse matrix")
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
    if shape[0] > MAX_NODES:
        raise Broken(f"it has {shape[0]} nodes and the most is {MAX_NODES}", "take a part of it")
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
    arrays = _arrays(path)
    matrix = next((name for name in (*_NAMED, "arr_0") if name in arrays), None)
    if "edge_index" in arrays:
        return sample_of(path, found_in_arrays(arrays))
    if "format" in arrays:
        return sample_of(path, found_in_arrays(arrays, _of_sparse(arrays)))
    if matrix is None:
        raise Broken("it holds no adjacency and no edge_index", "save one under that name")
    return sample_of(path, found_in_arrays(arrays, _of_matrix(arrays[matrix])))


def _read_market(path: Path, file: IO[bytes], size: int) -> Sample:
    """Read Matrix Market text: what it claims is compared with the size of the file before anything is allocated."""
    banner = file.readline(200).decode("ascii", "replace").lower().split()
    if len(banner) != 5 or banner[1] != "matrix" or banner[2] not in ("coordinate", "array"):
        raise Broken("line 1 of the Matrix Market file is damaged")
    if banner[3] == "complex":
        raise Broken("its values are complex, not real numbers", "save its absolute value")
    number, line = 1, b"%"
    while line.startswith(b"%") or (line and not line.strip()):
        line, number = file.readline(2**20), number + 1
    match = re.fullmatch(rb"\s*(\d{1,18})\s+(\d{1,18})(?:\s+(\d{1,18}))?\s*", line)
    if match is None or (match[3] is None) == (banner[2] == "coordinate"):
        raise Broken(f"line {number} of the Matrix Market file is no size")
    rows, columns = int(match[1]), int(match[2])
    if rows != columns:
        raise Broken(f"its adjacency has shape ({rows}, {columns}) and is not square", "save a square matrix")
    if rows > (MAX_NODES if match[3] else _MOST_DENSE):
        raise Broken(f"it has {rows} nodes, too many", "take a part of it")
    entries = int(match[3] or 0)
    if entries > MAX_LISTED or entries * 4 > size:
        raise Broken(f"line {number} claims {entries} entries, more than the file of {size} bytes can hold")
    from scipy.io import mmread

    matrix = mmread(path)  # its messages name the line
    if banner[2] == "array":
        return sample_of(path, _of_matrix(np.asarray(matrix)))
    matrix = matrix.tocoo()
    return sample_of(path, _of_entries(rows, matrix.row, matrix.col, matrix.data))


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "adjacency matrix"), path.open("rb") as file:
        head = file.read(len(_BANNER))
        file.seek(0)
        if head.startswith(b"PK"):
            return _read_npz(path)
        if head != _BANNER:
            raise Broken("its content is neither Matrix Market nor NPZ", "save it with scipy.io.mmwrite")
        return _read_market(path, file, size)


# .npz belongs to the reader of arrays; `fits` takes those that hold a graph
READER = Reader("adjacency", "Adjacency matrix (NPZ, MTX)", (".mtx",), "graph", _sniff, _read, fits=_fits)
