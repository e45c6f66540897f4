"""Sequences of a shape, (steps, channels), from a text: "random:64x3", "ramp:64x3", "ones:64x3", "zeros:64x3"."""

from __future__ import annotations

import re

import numpy as np

from explorer.data.samples import Array, Sample
from explorer.spaces.sequence.sample import sequence_sample

MOST = 2**24  # numbers
_TEXT = re.compile(r"(?P<kind>random|ramp|ones|zeros):(?P<steps>[0-9]{1,9})x(?P<channels>[0-9]{1,9})", re.ASCII)


def filled(text: str, seed: int) -> Sample | None:
    """Return the sequence that a text describes; None where it describes none, as where it has other axes than two.

    Raises:
        ValueError: it would be empty, or too large.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    steps, channels = int(found["steps"]), int(found["channels"])
    if not 0 < steps * channels <= MOST:
        raise ValueError(f"{text!r} has {steps * channels} numbers; write from 1 to {MOST}")
    x: Array
    match found["kind"]:
        case "random":
            x = np.random.default_rng(seed).standard_normal((steps, channels)).astype(np.float32)
        case "ramp":
            x = np.linspace(0, 1, steps * channels, dtype=np.float32).reshape(steps, channels)
        case kind:
            x = np.full((steps, channels), float(kind == "ones"), np.float32)
    title = f"{found['kind'].capitalize()}, {steps} steps of {channels} channel(s)"
    return sequence_sample(text, x, title=title, source=f"seed {seed}" if found["kind"] == "random" else "computed")
