"""Read the header of a safetensors file: names, shapes, types and metadata, and nothing of the numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Never

from explorer.network.opening.files.contents import Damaged, TensorEntry

LONGEST = 100_000_000  # bytes of a header, which is safetensors' own bound
MOST = 1_000_000  # tensors
# (bits of one number, its type as torch writes it); torch has no word for those of 6 bits
TYPES = {
    "BOOL": (8, "bool"), "U8": (8, "uint8"), "I8": (8, "int8"), "F8_E5M2": (8, "float8_e5m2"),
    "F8_E4M3": (8, "float8_e4m3fn"), "F8_E8M0": (8, "float8_e8m0fnu"), "F4": (4, "float4_e2m1fn"),
    "F6_E2M3": (6, "F6_E2M3"), "F6_E3M2": (6, "F6_E3M2"), "I16": (16, "int16"), "U16": (16, "uint16"),
    "F16": (16, "float16"), "BF16": (16, "bfloat16"), "I32": (32, "int32"), "U32": (32, "uint32"),
    "F32": (32, "float32"), "I64": (64, "int64"), "U64": (64, "uint64"), "F64": (64, "float64"),
    "C64": (64, "complex64"),
}  # fmt: skip


def read_header(path: Path) -> tuple[tuple[TensorEntry, ...], dict[str, str]]:
    """Return the tensors and the metadata of a safetensors file.

    Raises:
        Damaged: as a clause, whatever is wrong with the header or with what it says of the file.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(8)
        if len(head) < 8:
            raise Damaged("it is too short to hold a header")
        length = int.from_bytes(head, "little")
        if length > LONGEST:
            raise Damaged(f"its header claims {length:,} bytes, more than the {LONGEST:,} that the format allows")
        if length > size - 8:
            raise Damaged(f"it is cut off: its header claims {length:,} bytes and the file has {size - 8:,}")
        text = file.read(length)
    try:
        whole = json.loads(text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        raise Damaged("its header is nested too deeply") from None
    except UnicodeDecodeError:
        raise Damaged("its header is not text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise Damaged(f"its header is not JSON (character {error.pos + 1})") from None
    except ValueError:
        raise Damaged("a number in its header has thousands of digits") from None
    if not isinstance(whole, dict):
        raise Damaged("its header is no object")
    metadata = whole.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise Damaged("its metadata are not texts by name")
    if len(whole) > MOST:
        raise Damaged(f"it lists {len(whole):,} tensors, more than {MOST:,}")
    spans = sorted((*_span(name, entry), name) for name, entry in whole.items())
    end = 0
    for first, last, name in spans:
        if first < end:
            raise Damaged(f"the tensor {name[:80]!r} overlaps the one before it")
        if first > end:
            raise Damaged(f"{first - end:,} bytes before the tensor {name[:80]!r} belong to none")
        end = last
    held = size - 8 - length
    if end > held:
        raise Damaged(f"it is cut off: its tensors need {end:,} bytes and {held:,} are there")
    if end < held:
        raise Damaged(f"{held - end:,} bytes at its end belong to no tensor")
    entries = tuple(TensorEntry(name, tuple(entry["shape"]), TYPES[entry["dtype"]][1]) for name, entry in whole.items())
    return entries, metadata


def _span(name: str, entry: Any) -> tuple[int, int]:
    """Return the (first, one past the last) byte of a tensor, whose shape and type must agree with them."""
    short = repr(name[:80])
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise Damaged(f"the entry of the tensor {short} is not of dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise Damaged(f"the tensor {short} has the unknown type {str(dtype)[:40]!r}")
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 2**63 for n in shape) or len(shape) > 64:
        raise Damaged(f"the shape of the tensor {short} is no list of sizes")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(n) is int and n >= 0 for n in offsets):
        raise Damaged(f"the offsets of the tensor {short} are no two positions")
    bits = TYPES[dtype][0]
    for n in shape:
        bits *= n
    if (offsets[1] - offsets[0]) * 8 != bits:
        raise Damaged(f"the tensor {short} of shape {tuple(shape)} does not fit into its bytes")
    return offsets[0], offsets[1]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Damaged("its header is not JSON (a name stands there twice)")
    return found


def _no_constant(text: str) -> Never:
    raise Damaged(f"its header is not JSON ({text} is no number)")
