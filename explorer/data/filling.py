"""Fill an array of a shape that a text asks for: "random:64x3", "ramp:64x3", "ones:64x3", "zeros:64x3"."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from explorer.declare.samples import Array, Sample, Signal
from explorer.declare.types.fields import shortest

KINDS = "random|ramp|ones|zeros"  # in a regular expression


def filling_texts(sample: Sample, kinds: Iterable[str] = KINDS.split("|"), first: str = "") -> tuple[str, ...]:
    """Return texts of a sample's shape, one of each kind; of several signals "image=random:3x9,mask=random:1x9".

    Args:
        first: what stands before the shape, such as "1x" for a batch of one.
    """
    texts = [{name: _filled(signal, kind, first) for name, signal in sample.signals.items()} for kind in kinds]
    if len(sample.signals) == 1:
        return tuple(text for each in texts for text in each.values())
    return tuple(",".join(f"{name}={text}" for name, text in each.items()) for each in texts)


def _filled(signal: Signal, kind: str, first: str) -> str:
    """Return the text that fills a signal; numbers at no place have no axis before theirs, and one stays as it is."""
    if signal.field.domain.placed:
        return f"{kind}:{first}{'x'.join(map(str, signal.values.shape))}"
    if not signal.values.ndim:
        return f"number:{shortest(float(signal.values))}"
    return f"{kind if kind in KINDS.split('|') else 'ones'}:{len(signal.values)}"


def filling(
    text: str, kind: str, shape: tuple[int, ...], seed: int, most: int, noise: Callable[[], Array]
) -> tuple[Array, str]:  # fmt: skip
    """Return the numbers of a kind, float32, and where they come from in words.

    Args:
        text: as somebody wrote it.
        seed: of the noise, for the words.
        most: numbers at most.
        noise: makes those of "random".

    Raises:
        ValueError: it would be empty, or too large.
    """
    count = math.prod(shape)
    if not 0 < count <= most:
        raise ValueError(f"{text!r} has {count} numbers; write from 1 to {most}")
    match kind:
        case "random":
            return noise(), f"seed {seed}"
        case "ramp":
            return np.linspace(0, 1, count, dtype=np.float32).reshape(shape), "computed"
        case _:
            return np.full(shape, float(kind == "ones"), np.float32), "computed"
