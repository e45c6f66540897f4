"""Trees as text: a line of numbers for each joint, in heap order."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import numpy as np
from tree.space import JOINT_INPUT

from equiscope.data import Reader, ReadError, Sample, Signal, file_bytes, refusing


def _read(path: Path) -> Sample:
    file_bytes(path)
    with refusing(path, "heap"):
        values = np.loadtxt(path, dtype=np.float32, ndmin=2)
    n = len(values) + 1
    if n & (n - 1) or n < 4:
        raise ReadError(f"cannot read {path.name}: {n - 1} joints are no complete binary tree.")
    return Sample(path.name, "bintree", MappingProxyType({"x": Signal(values, JOINT_INPUT)}), path.stem)


READER = Reader("heap", "Tree as a heap", (".heap",), "bintree", lambda head: False, _read)
