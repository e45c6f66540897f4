"""Latent values, evenly spread, for networks that map them to samples of a density."""

from __future__ import annotations

from functools import partial

import numpy as np

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample

COUNT = 64


def latents(dimensions: int) -> Sample:
    """Return COUNT values z between -1 and 1, on a line or on a square of 8 x 8."""
    side = np.linspace(-1, 1, COUNT if dimensions == 1 else round(COUNT**0.5))
    z = np.stack(np.meshgrid(*[side] * dimensions), -1).reshape(-1, dimensions)
    place = np.concatenate([z, np.zeros((COUNT, 2 - dimensions))], 1)
    return graph_sample(
        f"latents-{dimensions}", z.astype(np.float32), np.zeros((2, 0), np.int64),
        title=f"latent values in {dimensions} dimension{'s' * (dimensions > 1)}", position=place, domain="set",
        source="computed",
    )  # fmt: skip


SAMPLES = tuple(
    SampleSpec(
        f"latents-{d}", f"Latent values, {word}", "set", partial(latents, d), "What a generator makes samples of."
    )
    for d, word in ((1, "on a line"), (2, "on a square"))
)
