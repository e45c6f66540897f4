"""Graphs saved as tensors: safetensors, and .pt files of a dict of tensors or a torch_geometric Data.

The keys are torch_geometric's: x, edge_index, edge_attr, edge_weight, pos, y, batch. No code from
a file is ever run: the pickle in a .pt is looked at (`torch_file`), or read with `weights_only` where it is an old one.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken, file_bytes, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.network.opening.files.looking import tensor_names
from explorer.spaces.graph.readers.arrays import found_in_arrays
from explorer.spaces.graph.readers.assembly import sample_of
from explorer.spaces.graph.readers.torch_file import SAFE, UNSAFE, is_torch_archive, read_torch

_PICKLE = b"\x80"  # what torch.save has written before archives begins so
_LONGEST_HEADER = 100_000_000  # safetensors' own bound


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
    except SafetensorError:
        raise Broken("the header of the safetensors file is damaged, or its numbers are cut off") from None
    if "names" in told:
        names = json.loads(told["names"])
        if isinstance(names, list) and all(isinstance(n, str) for n in names):
            arrays["names"] = np.array(names)
    if told.get("directed") in ("true", "false"):
        arrays["directed"] = np.array(told["directed"] == "true")
    if "domain" in told:
        arrays["domain"] = np.array(told["domain"])
    return arrays


def _read_older(path: Path) -> dict[str, NDArray[Any]]:
    """Read what torch has written before 2020, which is no archive."""
    import torch

    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise Broken(UNSAFE, SAFE) from None
    if not isinstance(loaded, Mapping):
        raise Broken("it holds one value and not the named tensors of a graph", SAFE)
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in loaded.items():
        if isinstance(value, torch.Tensor) and value.layout == torch.strided:
            if value.numel() * value.element_size() > value.untyped_storage().nbytes():
                raise Broken(f"its tensor {str(name)[:40]!r} claims more numbers than are there", "save it again")
            wide = value.float() if value.dtype in (torch.bfloat16, torch.float16) else value
            arrays[str(name)] = wide.detach().resolve_conj().numpy()
        elif isinstance(value, bool | int | float):
            arrays[str(name)] = np.array(value)
    return arrays


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "file of tensors"):
        with path.open("rb") as file:
            head = file.read(64)
        tensors = _sniff_tensors(head) or path.suffix.lower() == ".safetensors"
        old = not tensors and not is_torch_archive(path)
        if old and not head.startswith(_PICKLE):  # known without torch, whose import takes a second and 180 MB
            raise Broken("it begins as none of torch's formats that are read", SAFE)
        arrays = _read_tensors(path) if tensors else _read_older(path) if old else read_torch(path)
        if "edge_index" not in arrays and "x" not in arrays and "pos" not in arrays:
            raise Broken("it has no tensors x and edge_index", "open weights with --model, or save x and edge_index")
        return sample_of(path, found_in_arrays(arrays))


def _fits(path: Path) -> bool:
    """Say whether a file of tensors has edges, and is no file of weights."""
    names = tensor_names(path) if path.suffix.lower() in _ENDINGS else ()
    return any(name.rpartition(".")[2] == "edge_index" for name in names)


_ENDINGS = (".safetensors", ".pt")
READER = Reader("tensors", "Graph as tensors (safetensors, pt)", _ENDINGS, "graph", _sniff, _read, fits=_fits)
