"""Write images as NumPy arrays."""

from __future__ import annotations

from pathlib import Path

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.grid.readers.array import write_array


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    write_array(sample, path)
    return ()


WRITER = Writer(
    name="array",
    title="NumPy array (NPY, NPZ)",
    extensions=(".npy", ".npz"),
    write=_write,
    domains=("grid",),
)
