"""The tree of layers as named arrays, for files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.square.frame import Square

STATISTICS = ("mean", "std", "low", "high", "zeros", "nan", "infinite")


def numbers_of(squares: Sequence[Square]) -> dict[str, NDArray[Any]]:
    """Return what the tree shows of each square, a row a layer in the order of execution."""
    found: dict[str, NDArray[Any]] = {}
    for k, square in enumerate(squares):
        before = "compare." if k else ""
        measures = [square.measures.get(layer.name) for layer in square.layers]
        for key in ("name", "kind", "field", "dtype", "reason"):
            found[before + key] = np.array([getattr(layer, key) for layer in square.layers], dtype=np.str_)
        found[f"{before}shape"] = np.array(["x".join(map(str, n.shape)) for n in square.layers], dtype=np.str_)
        found[f"{before}parameters"] = np.array([layer.params for layer in square.layers], dtype=int)
        found[f"{before}bytes"] = np.array([layer.nbytes for layer in square.layers], dtype=int)
        errors = [m.cumulative if m is not None else None for m in measures]
        found[f"{before}cumulative"] = np.array([np.nan if e is None else e for e in errors], dtype=float)
        if (figures := square.figures) is None:
            continue
        calls = {m.name: m.calls for m in figures.modules}
        found[f"{before}calls"] = np.array([calls.get(n.module or n.name, 1) for n in square.layers], dtype=int)
        if figures.flops:
            counted = [figures.flops.get(n.module or n.name, 0) for n in square.layers]
            found[f"{before}flops"] = np.array(counted, dtype=np.int64)
        silent = [figures.silent.get(n.name) for n in square.layers]
        found[f"{before}dead"] = np.array([len(s.channels) if s is not None else 0 for s in silent], dtype=int)
        for side, values in (("", figures.values), ("moved.", figures.moved)):
            for key in STATISTICS if values else ():
                each = [getattr(values[n.name], key) if n.name in values else np.nan for n in square.layers]
                found[f"{before}{side}{key}"] = np.array(each, dtype=float)
    return found
