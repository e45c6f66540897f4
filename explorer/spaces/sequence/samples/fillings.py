"""Sequences of a shape, (steps, channels), from a text: "random:64x3", "ramp:64x3", "ones:64x3", "zeros:64x3"."""

from __future__ import annotations

import re

import numpy as np

from explorer.data.filling import KINDS, filling
from explorer.declare.samples import Array, Sample
from explorer.declare.telling.counting import number_of
from explorer.spaces.sequence.sample import sequence_sample

MOST = 2**24  # numbers
_TEXT = re.compile(rf"(?P<kind>{KINDS}):(?P<steps>[0-9]{{1,9}})x(?P<channels>[0-9]{{1,9}})", re.ASCII)


def filled(text: str, seed: int) -> Sample | None:
    """Return the sequence that a text describes; None where it describes none, as where it has other axes than two.

    Raises:
        ValueError: it would be empty, or too large.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    steps, channels = int(found["steps"]), int(found["channels"])

    def noise() -> Array:
        return np.random.default_rng(seed).standard_normal((steps, channels)).astype(np.float32)

    x, source = filling(text, found["kind"], (steps, channels), seed, MOST, noise)
    title = f"{found['kind'].capitalize()}, {steps} steps of {number_of(channels, 'channel')}"
    return sequence_sample(text, x, title=title, source=source)
