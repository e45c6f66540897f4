"""List what lies in an archive of torch's: its members, the opcodes of its pickles, and tensors beside them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from explorer.network.opening.files.contents import TensorEntry
from explorer.network.opening.files.pickles import Reading

MOST_MEMBERS = 500  # of an archive that are listed
MOST_BYTES = 16 * 2**20  # of the table of an exported program's weights
WEIGHTS = ("data/weights/model_weights_config.json", "data/constants/model_constants_config.json")
# as torch.export's schema counts types (torch/_export/serde/schema.py, ScalarType)
TYPES = (
    "unknown", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64",
    "complex128", "bool", "bfloat16",
)  # fmt: skip


def listed(readings: Sequence[Reading], members: Sequence[zipfile.ZipInfo] = ()) -> tuple[str, ...]:
    """Return the members of an archive and the opcodes of its pickles as lines, the first of each."""
    lines = [f"{info.file_size:>12,}  {info.filename}" for info in members[:MOST_MEMBERS]]
    if len(members) > MOST_MEMBERS:
        lines.append(f"{'':>12}  … and {len(members) - MOST_MEMBERS:,} more members")
    for k, reading in enumerate(readings):
        lines += ["", f"pickle {k + 1} of {len(readings)}, {reading.steps:,} opcodes", *reading.listing]
        if reading.steps > len(reading.listing):
            lines.append(f"… and {reading.steps - len(reading.listing):,} more opcodes")
    return tuple(lines)


def exported_tensors(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo]) -> tuple[TensorEntry, ...]:
    """Return the weights of an exported program as its own table says; () where it has none that can be read."""
    found: list[TensorEntry] = []
    for info in members:
        if info.filename.endswith(WEIGHTS) and info.file_size <= MOST_BYTES:
            try:
                found += _entries(json.loads(archive.read(info)))
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # the table is another one, or damaged: torch says so when it loads the program
    return tuple(found)


def _entries(table: Any) -> Iterator[TensorEntry]:
    for name, entry in table["config"].items():
        meta = entry["tensor_meta"]
        kind = meta["dtype"]
        shape = tuple(int(size["as_int"]) for size in meta["sizes"])
        yield TensorEntry(str(name), shape, TYPES[kind] if 0 < kind < len(TYPES) else "unknown")
