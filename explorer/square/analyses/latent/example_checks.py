"""Check the examples that a network brings for its codes: what is wrong with them is one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.declare.examples import Examples
from explorer.work.progress import Cancelled


def own_examples(model: Any, shape: tuple[int, ...]) -> Examples | str:
    """Return what `examples()` of a network gives, or what is wrong with it; `shape` is that of one input."""
    try:
        given = model.examples()
    except Cancelled:
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:120]
        return f"examples() of this network failed: {type(error).__name__}{': ' if said else ''}{said}."
    wanted = "×".join(map(str, shape))
    try:
        shapes = sorted({np.shape(x) for x in given.inputs})
        names, labels = tuple(map(str, given.names)), np.asarray(given.labels, np.int64).reshape(-1)
        title = str(given.title)
    except Exception:  # attributes of other kinds, or none
        return "examples() of this network gives something else than inputs, labels, names and a title."
    if not shapes:
        return "examples() of this network gives no input: the plane needs three at least."
    if len(shapes) > 1:
        two = " and ".join("×".join(map(str, s)) for s in shapes[:2])
        return f"examples() of this network gives inputs of unequal sizes, {two}; all must be {wanted}."
    if shapes[0] != shape:
        found = "×".join(map(str, shapes[0]))
        return f"examples() of this network gives inputs of {found}, and it takes {wanted}."
    try:
        inputs = np.stack([np.asarray(x, np.float32) for x in given.inputs])
    except (TypeError, ValueError):
        return "examples() of this network gives inputs that are no numbers."
    if len(labels) != len(inputs):
        return f"examples() of this network gives {len(inputs):,} inputs and {len(labels):,} labels."
    if labels.min() < 0 or labels.max() >= len(names):
        wrong = int(labels.max() if labels.min() >= 0 else labels.min())
        return f"examples() of this network gives the label {wrong}, and names of {len(names)} classes."
    strange = ~np.isfinite(inputs).reshape(len(inputs), -1).all(1)
    if strange.any():
        return f"Example {int(strange.argmax())} of this network holds values that are no finite numbers."
    return Examples(inputs, labels, names, title, getattr(given, "factors", {}))
