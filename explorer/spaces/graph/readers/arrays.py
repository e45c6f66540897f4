"""Graphs as named arrays, under the names that torch_geometric uses: x, edge_index, edge_attr, pos, y, batch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.spaces.graph.readers.assembly import Found, require_nodes
from explorer.spaces.graph.samples.edges import is_symmetric

Arrays = Mapping[str, NDArray[Any]]
_OTHER_NAMES = {
    "features": "x", "feat": "x", "pos": "position", "y": "label", "labels": "label", "weight": "edge_weight",
    "edge_weights": "edge_weight", "num_nodes": "nodes", "node_names": "names",
}  # fmt: skip
KNOWN = (
    "x", "edge_index", "edge_attr", "edge_weight", "position", "label", "seeds", "batch", "names", "directed", "nodes",
    "domain",
)  # fmt: skip
# a sparse matrix's own arrays, and the matrix: read elsewhere
_ELSEWHERE = {"indices", "indptr", "format", "shape", "data", "row", "col", "_is_array", "adjacency", "adj", "arr_0"}
_ELSEWHERE |= {"adj_matrix", "A", "ptr"}


def found_in_arrays(arrays: Arrays, matrix: Found | None = None) -> Found:
    """Turn named arrays into what was found; `matrix` holds the edges where they came as a matrix.

    Raises:
        Broken: shapes that do not fit, arrays that are not numbers, an edge to a node that is not there.
    """
    have = {_OTHER_NAMES.get(name, name): array for name, array in arrays.items()}
    other = [name for name in have if name not in KNOWN and name not in _ELSEWHERE]
    for name, array in have.items():
        if name in KNOWN and name not in ("names", "domain") and array.dtype.kind not in "biuf":
            raise Broken(f"its array {name!r} holds {array.dtype}, not real numbers", "save it as numbers")
    found = matrix or _of_index(have)
    if matrix is not None and "directed" in have and have["directed"].size == 1 and bool(have["directed"].item()):
        found.directed, found.listed = True, False
    if other:
        more = f" and {len(other) - 4} more" if len(other) > 4 else ""
        found.notes.append(f"arrays left out: {', '.join(other[:4])}{more}")
    for name, attribute, wanted in (
        ("x", "x", found.nodes), ("position", "position", found.nodes), ("label", "label", found.nodes),
        ("seeds", "seeds", found.nodes), ("batch", "batch", found.nodes),
        ("edge_attr", "attributes", len(found.pairs)), ("edge_weight", "weight", len(found.pairs)),
    ):  # fmt: skip
        if name not in have:
            continue
        array, flat = have[name], name in ("label", "seeds", "batch", "edge_weight")
        if name == "label" and (array.shape[:1] != (wanted,) or array.size != wanted or array.dtype.kind == "f"):
            found.notes.append(f"label of shape {array.shape} is not a class for each node: left out")
            continue
        if array.ndim < 1 or len(array) != wanted or (flat and array.size != wanted):
            what = "nodes" if wanted == found.nodes and name not in ("edge_attr", "edge_weight") else "edges"
            raise Broken(f"its {name!r} has shape {array.shape} for {wanted} {what}", "make the arrays fit each other")
        setattr(found, attribute, array.reshape(wanted) if flat else array.reshape(wanted, math.prod(array.shape[1:])))
    if found.position is not None and found.position.shape[1] not in (2, 3):
        raise Broken(f"its positions have {found.position.shape[1]} coordinates", "save 2 or 3")
    if "names" in have and have["names"].dtype.kind == "U" and have["names"].shape == (found.nodes,):
        found.names = tuple(map(str, have["names"]))
    if "domain" in have and str(have["domain"].item()) == "set" and not len(found.pairs):
        found.domain = "set"
    return found


def _of_index(have: Arrays) -> Found:
    lengths = {len(have[n]) for n in ("x", "position", "label", "batch") if n in have and have[n].ndim}
    if "edge_index" in have:
        index = have["edge_index"]
        if index.ndim != 2 or 2 not in index.shape or index.dtype.kind not in "iu":
            raise Broken(f"its edge_index is {index.dtype} of shape {index.shape}", "save (2, edges) whole numbers")
        pairs = (index.T if index.shape[0] == 2 else index).astype(np.int64)
    elif "x" in have or "position" in have:
        pairs = np.zeros((0, 2), np.int64)
    else:
        raise Broken("it holds no edge_index", "save x and edge_index")
    if "nodes" in have and have["nodes"].size == 1 and have["nodes"].dtype.kind in "iu":
        nodes = int(have["nodes"].item())
        require_nodes(nodes, sum(array.size for array in have.values()))
    elif "x" in have or "position" in have:
        nodes = len(have["x" if "x" in have else "position"])
    else:
        nodes = max((*lengths, int(pairs.max(initial=-1)) + 1))
        require_nodes(nodes, sum(array.size for array in have.values()))
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < nodes):
        return Found(nodes, pairs, True)  # refused with the edge's number
    values = [have[n] for n in ("edge_weight", "edge_attr") if n in have and have[n].shape[:1] == (len(pairs),)]
    if "directed" in have and have["directed"].size == 1:
        directed = bool(have["directed"].item())
    else:
        directed = not is_symmetric(pairs.T, *values)
    return Found(nodes, pairs, directed, listed=True, domain="graph" if "edge_index" in have else "set")
