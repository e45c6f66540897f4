"""Columns of x found by their names: what a sample calls a word is put where a network expects that word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_NAMED = 4  # of the columns that are unknown, in a note


def named_columns(
    x: NDArray[np.number], have: tuple[str, ...], wanted: tuple[str, ...], rest: str | None = None
) -> tuple[Floats, str]:
    """Return x with the `wanted` columns, zeros where it has none of a name, and a note or "".

    Args:
        x: (places, columns), whose columns are called `have`.
        rest: the wanted column that takes what is not wanted by name; None leaves that out.
    """
    if have == wanted:
        return np.ascontiguousarray(x, np.float32), ""
    at = {name: k for k, name in enumerate(wanted)}
    spare = None if rest is None else at[rest]
    made = np.zeros((len(x), len(wanted)), np.float32)
    unknown = []
    for name, column in zip(have, x.T, strict=True):
        if (k := at.get(name, spare)) is not None:
            made[:, k] += column
        if name not in at:
            unknown.append(name)
    if not unknown:
        return made, ""
    shown = ", ".join(unknown[:_NAMED]) + (", ..." if len(unknown) > _NAMED else "")
    done = "left out" if rest is None else f"taken for {rest!r}"
    return made, f"{len(unknown)} of {len(have)} columns are not known to this network and {done}: {shown}"
