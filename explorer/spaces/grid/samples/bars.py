"""Images of three by three pixels with one row or one column alight: the smallest task that has places."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample

SIDE = 3
LABELS = ("row", "column")


def bar(label: str, k: int) -> NDArray[np.float64]:
    """Return the image in which row or column `k` is alight."""
    image = np.zeros((SIDE, SIDE))
    if label == "row":
        image[k] = 1.0
    else:
        image[:, k] = 1.0
    return image


def _made(label: str, k: int, name: str) -> Sample:
    return image_sample(
        bar(label, k)[None], name, title=f"Bar: {label} {k + 1}", label=LABELS.index(label), source="computed"
    )


SAMPLES = tuple(
    SampleSpec(
        name=(name := f"bar-{label}-{k + 1}"),
        title=f"Bar: {label} {k + 1} of {SIDE}",
        domain="grid",
        make=partial(_made, label, k, name),
        summary="Three by three pixels; a quarter turn makes a column of a row.",
        tags=("bars", "grey"),
    )
    for label in LABELS
    for k in range(SIDE)
)
