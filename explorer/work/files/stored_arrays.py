"""Read the arrays of a safetensors file, for those who may not know how networks are opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray


def stored_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file by name."""
    from safetensors.numpy import load_file

    found: dict[str, NDArray[Any]] = load_file(path)
    return found
