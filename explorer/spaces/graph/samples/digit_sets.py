"""Sets of digits, longer than those that the network which adds them up was trained on (one to nine)."""

from __future__ import annotations

from functools import partial

import numpy as np

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample


def digit_set(count: int, seed: int = 0) -> Sample:
    """Return a set of `count` digits: x is one-hot, (count, 10), and the class of an element is its digit."""
    digits = np.random.default_rng(seed).integers(0, 10, count)
    return graph_sample(
        f"digit-set-{count}",
        np.eye(10, dtype=np.float32)[digits],
        np.zeros((2, 0), np.int64),
        title=f"{count} digits",
        label=digits,
        names=tuple(map(str, digits)),
        domain="set",
        source="computed",
        notes=(f"the sum is {digits.sum()}", "x is one-hot: column k says that the digit is k"),
    )


SAMPLES = tuple(
    SampleSpec(
        f"digit-set-{count}",
        f"{count} digits",
        "set",
        partial(digit_set, count),
        "A set of digits, one-hot, whose sum a network is asked for.",
    )
    for count in (5, 40, 95)
)
