"""Graphs saved as tensors: safetensors, and .pt files of a dict of tensors or a torch_geometric Data.

The keys are torch_geometric's: x, edge_index, edge_attr, edge_weight, pos, y, batch. A .pt file is a pickle: it is read
with `weights_only`, which builds tensors and nothing else, so no code from a file is ever run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.data.samples import Sample
from explorer.network.opening.files.looking import tensor_names
from explorer.spaces.graph.readers.arrays import found_in_arrays
from explorer.spaces.graph.readers.assembly import sample_of

_LONGEST_HEADER = 100_000_000  # safetensors' own bound
_UNSAFE = "it holds Python objects, and loading those could run code"
INSTALL = "install it with: pip install equiscope[pyg], or save a dict of tensors"
_SAFE = "save a dict of tensors, or safetensors"


def _sniff_tensors(head: bytes) -> bool:
    return len(head) > 9 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= _LONGEST_HEADER


def _sniff(head: bytes) -> bool:
    # an archive that torch.save made begins with its data.pkl
    length = int.from_bytes(head[26:28], "little")
    torch = head.startswith(b"PK\x03\x04") and head[30 : 30 + length].endswith(b"/data.pkl")
    return torch or _sniff_tensors(head)


def _read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}
            told = file.metadata() or {}
    except SafetensorError as error:
        raise Broken(f"the safetensors file is damaged ({error})") from None
    if "names" in told:
        names = json.loads(told["names"])
        if isinstance(names, list) and all(isinstance(n, str) for n in names):
            arrays["names"] = np.array(names)
    if told.get("directed") in ("true", "false"):
        arrays["directed"] = np.array(told["directed"] == "true")
    if "domain" in told:
        arrays["domain"] = np.array(told["domain"])
    return arrays


def _plain_classes() -> list[Any]:
    """Return the classes that a Data consists of: they hold tensors, and making one runs nothing from the file."""
    try:
        data, storage = import_module("torch_geometric.data.data"), import_module("torch_geometric.data.storage")
    except ImportError:
        return []
    return [data.Data, data.DataEdgeAttr, data.DataTensorAttr, storage.GlobalStorage]


def _read_torch(path: Path) -> dict[str, NDArray[Any]]:
    import pickle

    import torch

    classes = _plain_classes()
    try:
        with torch.serialization.safe_globals(classes):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if not classes and "torch_geometric" in str(error):
            raise Broken("it holds a Data of torch_geometric, which is not installed", INSTALL) from None
        raise Broken(_UNSAFE, _SAFE) from None
    if hasattr(loaded, "to_dict"):
        loaded = loaded.to_dict()
    if isinstance(loaded, tuple) and loaded and isinstance(loaded[0], Mapping):  # what InMemoryDataset saves
        raise Broken("it holds a data set of several graphs", "save one of them")
    if not isinstance(loaded, Mapping):
        raise Broken(f"it holds a {type(loaded).__name__} and not a graph", _SAFE)
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in loaded.items():
        if isinstance(value, torch.Tensor) and value.layout == torch.strided:
            wide = value.float() if value.dtype in (torch.bfloat16, torch.float16) else value
            arrays[str(name)] = wide.detach().resolve_conj().numpy()
        elif isinstance(value, bool | int | float):
            arrays[str(name)] = np.array(value)
        elif name in ("names", "node_names") and isinstance(value, list) and all(isinstance(v, str) for v in value):
            arrays["names"] = np.array(value)
        elif name == "domain" and isinstance(value, str):
            arrays["domain"] = np.array(value)
    if "edge_index" not in arrays and "x" not in arrays and "pos" not in arrays:
        raise Broken("it has no tensors x and edge_index", "open it as a model with --model, or save x and edge_index")
    return arrays


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "file of tensors"):
        with path.open("rb") as file:
            head = file.read(64)
        tensors = _sniff_tensors(head) or path.suffix.lower() == ".safetensors"
        arrays = _read_tensors(path) if tensors else _read_torch(path)
        if "edge_index" not in arrays and "x" not in arrays and "pos" not in arrays:
            raise Broken("it has no tensors x and edge_index", "open weights with --model, or save x and edge_index")
        return sample_of(path, found_in_arrays(arrays))


def _fits(path: Path) -> bool:
    """Say whether a file of tensors has edges, and is no file of weights."""
    names = tensor_names(path) if path.suffix.lower() in _ENDINGS else ()
    return any(name.rpartition(".")[2] == "edge_index" for name in names)


_ENDINGS = (".safetensors", ".pt")
READER = Reader("tensors", "Graph as tensors (safetensors, pt)", _ENDINGS, "graph", _sniff, _read, fits=_fits)
