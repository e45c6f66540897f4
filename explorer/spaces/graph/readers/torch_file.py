"""The tensors of a .pt file, read without torch: its pickle is looked at and never run.

A tensor is a view of stored numbers. What it claims is compared with what is stored, so that one number with strides of
0 makes no gigabytes.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.archives import DENSEST, MOST_BYTES, member_of
from explorer.data.formats.checks import Broken
from explorer.network.opening.files.contents import Damaged
from explorer.network.opening.files.pickles import Bounded, Held, Made, Named, read_pickle

UNSAFE = "it holds Python objects, and loading those could run code"
SAFE = "save a dict of tensors, or safetensors"
_DATA = "torch_geometric.data.data.Data"
_REBUILD = ("torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_tensor")
_WRAP = ("torch._utils._rebuild_parameter",)
_PLAIN = frozenset((
    *_REBUILD, *_WRAP, "collections.OrderedDict", "torch.Size", _DATA, "torch_geometric.data.data.DataEdgeAttr",
    "torch_geometric.data.data.DataTensorAttr", "torch_geometric.data.storage.GlobalStorage",
))  # fmt: skip
_KINDS = {
    "float32": "f4", "float64": "f8", "float16": "f2", "bfloat16": "u2", "int64": "i8", "int32": "i4", "int16": "i2",
    "int8": "i1", "uint8": "u1", "bool": "?", "complex64": "c8", "complex128": "c16", "uint16": "u2", "uint32": "u4",
    "uint64": "u8",
}  # fmt: skip
_STORED = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}  # fmt: skip
_ALLOWED = _PLAIN | {f"torch.{name}" for name in _KINDS} | {f"torch.{name}Storage" for name in (*_STORED, "Untyped")}


@dataclass(slots=True)
class _File:
    """An open archive that torch.save has made."""

    archive: zipfile.ZipFile
    folder: str
    order: str
    left: int = MOST_BYTES

    def stored(self, key: str, name: str) -> bytes:
        """Return the bytes of one storage."""
        try:
            member = self.archive.getinfo(f"{self.folder}/data/{key}")
        except KeyError:
            raise Broken(f"the numbers of its tensor {name[:40]!r} are not in it") from None
        self.left -= member.file_size
        if member.file_size > DENSEST * (member.compress_size + 1) or self.left < 0:
            raise Broken(f"its tensors claim more than {MOST_BYTES} bytes, or than a file of its size can hold")
        with member_of(self.archive, member) as file:
            return file.read()

    def tensor(self, made: Made, name: str) -> NDArray[Any]:
        """Return the array of a tensor."""
        match made.args:
            case (Made(maker="persistent", args=("storage", Named(kind), str(key), *_)), int(offset), tuple(size),
                  tuple(stride), *more):  # fmt: skip
                pass
            case _:
                raise Broken(f"its tensor {name[:40]!r} is written in a way that is not known", SAFE)
        told = next((one.name for one in more if isinstance(one, Named)), "").removeprefix("torch.")
        plain = told if told in _KINDS else _STORED.get(kind.removeprefix("torch.").removesuffix("Storage"), "")
        if not plain:
            raise Broken(f"its tensor {name[:40]!r} holds numbers of an unknown type", SAFE)
        numbers = np.frombuffer(self._whole(self.stored(key, name), plain, name), self.order + _KINDS[plain])
        whole = [n for n in (offset, *size, *stride) if type(n) is int and 0 <= n < 2**40]
        if len(whole) != 1 + len(size) + len(stride) or len(size) != len(stride):
            raise Broken(f"its tensor {name[:40]!r} has no shape")
        count = math.prod(size)
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if count > len(numbers) or (count and last >= len(numbers)):
            what = f"its tensor {name[:40]!r} claims {count} numbers and {len(numbers)} are there"
            raise Broken(what, "save it with .contiguous()")
        steps = tuple(step * numbers.itemsize for step in stride)
        view: NDArray[Any] = np.ndarray(size, numbers.dtype, numbers, offset * numbers.itemsize if count else 0, steps)
        found = np.ascontiguousarray(view).astype(numbers.dtype.newbyteorder("="))
        if plain == "bfloat16":
            return (found.astype(np.uint32) << 16).view(np.float32)
        return found.astype(np.float32) if plain == "float16" else found

    @staticmethod
    def _whole(data: bytes, plain: str, name: str) -> bytes:
        if len(data) % np.dtype(_KINDS[plain]).itemsize:
            raise Broken(f"the numbers of its tensor {name[:40]!r} are cut off")
        return data


def is_torch_archive(path: Path) -> bool:
    """Return whether a file is an archive, as torch.save has written them since 2020."""
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def read_torch(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a dict, or of a Data of torch_geometric, by name; and its numbers, "names" and "domain".

    Raises:
        Broken: it holds something else, objects among it, or is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        pickled = next((name for name in archive.namelist() if name.endswith("/data.pkl")), "")
        if not pickled:
            raise Broken("it is an archive that torch.save has not made", SAFE)
        folder = pickled.removesuffix("/data.pkl")
        order = ">" if f"{folder}/byteorder" in archive.namelist() and _big(archive, f"{folder}/byteorder") else "<"
        with member_of(archive, pickled) as file:
            try:
                reading = read_pickle(Bounded(file))
            except Damaged:  # what it says is of opcodes
                raise Broken(
                    "what describes its tensors (data.pkl) breaks off or is none of the pickle format"
                ) from None
        if reading.dangers or not reading.names.keys() <= _ALLOWED:
            raise Broken(UNSAFE, SAFE)
        return _arrays(_File(archive, folder, order), _mapping(reading.value))


def _big(archive: zipfile.ZipFile, name: str) -> bool:
    with member_of(archive, name) as file:
        return file.read(8) == b"big"


def _mapping(value: Any) -> dict[Any, Any]:
    """Return what a dict holds by key; that of a Data lies deeper."""
    if isinstance(value, Made) and isinstance(value.maker, Named) and value.maker.name == _DATA:
        store = value.state.items.get("_store") if isinstance(value.state, Held) else None
        state = store.state if isinstance(store, Made) else None
        held = state.items.get("_mapping") if isinstance(state, Held) else None
        return held.items if isinstance(held, Held) else {}
    if isinstance(value, tuple) and value and isinstance(value[0], Held | Made):  # what InMemoryDataset saves
        raise Broken("it holds a data set of several graphs", "save one of them")
    named = isinstance(value, Held) or (
        isinstance(value, Made) and getattr(value.maker, "name", "")[:11] == "collections"
    )
    if not named or not all(isinstance(key, str) for key in value.items):
        raise Broken("it holds no dict of tensors and so no graph", SAFE)
    return dict(value.items)


def _arrays(file: _File, held: dict[Any, Any]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in held.items():
        inner = value.args[0] if _made_by(value, _WRAP) and isinstance(value.args, tuple) and value.args else value
        if _made_by(inner, _REBUILD):
            arrays[str(name)] = file.tensor(inner, str(name))
        elif isinstance(value, bool | int | float) and abs(value) < 2**63:
            arrays[str(name)] = np.array(value)
        elif name in ("names", "node_names") and isinstance(value, Held):
            if all(isinstance(v, str) for v in value.items.values()):
                arrays["names"] = np.array(list(value.items.values()))
        elif name == "domain" and isinstance(value, str):
            arrays["domain"] = np.array(value)
    return arrays


def _made_by(value: Any, names: tuple[str, ...]) -> bool:
    return isinstance(value, Made) and isinstance(value.maker, Named) and value.maker.name in names
