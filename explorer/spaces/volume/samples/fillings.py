"""Volumes of a shape, 1 x channels x slices x rows x columns, from a text: "random:1x1x16x16x16", "zeros:..."."""

from __future__ import annotations

import re

import numpy as np

from explorer.data.samples import Array, Sample
from explorer.spaces.volume.sample import volume_sample

MOST = 2**26  # numbers
_TEXT = re.compile(r"(?P<kind>random|ramp|ones|zeros):1x(?P<shape>[0-9]{1,9}(x[0-9]{1,9}){3})", re.ASCII)


def filled(text: str, seed: int) -> Sample | None:
    """Return the volume that a text describes; None where it describes none, as where it has other axes than five.

    Raises:
        ValueError: it would be empty, or too large.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    shape = tuple(map(int, found["shape"].split("x")))
    count = int(np.prod(shape, dtype=object))
    if not 0 < count <= MOST:
        raise ValueError(f"{text!r} has {count} numbers; write from 1 to {MOST}")
    x: Array
    match found["kind"]:
        case "random":
            from explorer.spaces.volume.network.stimulus import noise

            x = noise((1, *shape), seed)[0].float().numpy()
        case "ramp":
            x = np.linspace(0, 1, count, dtype=np.float32).reshape(shape)
        case kind:
            x = np.full(shape, float(kind == "ones"), np.float32)
    title = f"{found['kind'].capitalize()}, {found['shape']}"
    return volume_sample(x, text, title=title, source=f"seed {seed}" if found["kind"] == "random" else "computed")
