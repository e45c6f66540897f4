"""Arrays: NPZ (scipy's sparse format where the graph is simple), Matrix Market, safetensors and torch's .pt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.samples.edges import is_symmetric
from explorer.spaces.graph.writers.kinds import GRAPHS
from explorer.spaces.graph.writers.records import left_out

Arrays = dict[str, NDArray[Any]]


def _signals(sample: Sample) -> Arrays:
    """Return the sample's signals; x is left out where it has no columns."""
    return {
        name: np.array(signal.values)
        for name, signal in sample.signals.items()
        if name != "x" or signal.values.shape[1]
    }


def _parallel(sample: Sample) -> int:
    index, nodes = np.asarray(sample.signals["edge_index"].values, np.int64), len(sample.x.values)
    return int(index.shape[1]) - len(np.unique(index[0] * nodes + index[1]))


def _matrix(sample: Sample) -> Any:
    from scipy.sparse import coo_array

    index, nodes = sample.signals["edge_index"].values, len(sample.x.values)
    ones = np.ones(index.shape[1], np.float32)
    weight = sample.signals["edge_weight"].values if "edge_weight" in sample.signals else ones
    return coo_array((weight, (index[0], index[1])), shape=(nodes, nodes))


def _write_npz(sample: Sample, path: Path) -> tuple[str, ...]:
    """Write what `scipy.sparse.load_npz` reads, and x and all others; with edge_attr or parallel edges, edge_index."""
    arrays = _signals(sample)
    arrays["directed"] = np.array(sample.directed)
    arrays["nodes"] = np.array(len(sample.x.values))
    if sample.names:
        arrays["names"] = np.array(sample.names, dtype=np.str_)
    if sample.domain == "set":
        arrays["domain"] = np.array("set")
    elif "edge_attr" not in arrays and not _parallel(sample) and arrays["edge_index"].size:
        made = _matrix(sample).tocsr()
        for name in ("edge_index", "edge_weight", "nodes"):
            arrays.pop(name, None)
        arrays |= {"indices": made.indices, "indptr": made.indptr, "format": np.array(b"csr")}
        arrays |= {"shape": np.array(made.shape), "data": made.data, "_is_array": np.array(True)}
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return ()


def _write_mtx(sample: Sample, path: Path) -> tuple[str, ...]:
    from scipy.io import mmwrite

    if parallel := _parallel(sample):
        raise ValueError(f"{sample.name!r} has {parallel} parallel edges, and a matrix has one entry for each pair")
    matrix = _matrix(sample)
    weighted = "edge_weight" in sample.signals
    values = [np.asarray(sample.signals["edge_weight"].values)] if weighted else []
    symmetric = is_symmetric(np.asarray(sample.signals["edge_index"].values, np.int64), *values)
    with path.open("wb") as file:
        mmwrite(
            file, matrix, field="real" if weighted else "pattern", symmetry="symmetric" if symmetric else "general",
            precision=9,
        )  # fmt: skip
    return left_out(sample, ("edge_index", "edge_weight"))


def _write_safetensors(sample: Sample, path: Path) -> tuple[str, ...]:
    from safetensors.numpy import save

    told = {"directed": "true" if sample.directed else "false", "domain": sample.domain}
    if sample.names:
        told["names"] = json.dumps(list(sample.names), ensure_ascii=False)
    arrays = _signals(sample) | {"num_nodes": np.array([len(sample.x.values)])}
    path.write_bytes(save(arrays, told))  # a full disk is Python's own error then
    return ()


def _write_torch(sample: Sample, path: Path) -> tuple[str, ...]:
    import torch

    kept: dict[str, Any] = {name: torch.from_numpy(array) for name, array in _signals(sample).items()}
    kept |= {"num_nodes": len(sample.x.values), "directed": sample.directed, "domain": sample.domain}
    if sample.names:
        kept["names"] = list(sample.names)
    torch.save(kept, path)
    return ()


WRITER = (
    Writer("adjacency", "Adjacency matrix (NPZ)", (".npz",), _write_npz, GRAPHS),
    Writer("matrix-market", "Adjacency matrix (MTX)", (".mtx",), _write_mtx, GRAPHS),
    Writer("safetensors", "Graph as tensors (safetensors)", (".safetensors",), _write_safetensors, GRAPHS),
    Writer("torch", "Graph as tensors (pt)", (".pt",), _write_torch, GRAPHS),
)
