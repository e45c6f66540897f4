"""Twenty handwritten digits that no model of ours was trained on: two of each class from the test split.

`python -m explorer.spaces.grid.samples.digits` makes the shipped file again, from scikit-learn's data.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.grid.sample import image_sample
from explorer.work.files.places import RESOURCES

FILE = RESOURCES / "samples" / "digits.npz"
_PER_CLASS = 2


def write_file(path: Path = FILE) -> None:
    """Write the first and a later test digit of each class: images float32 (20, 29, 29), labels int64 (20,).

    Not the first two: neighbours in the data set come from one writer.
    """
    from explorer.spaces.grid.samples.digit_images import TEST, load

    images, labels = load("test")
    chosen = np.array([np.flatnonzero(labels == c)[[0, TEST // 20]] for c in range(10)]).ravel()
    np.savez_compressed(path, images=images[chosen, 0], labels=labels[chosen])


@cache
def _shipped() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    with np.load(FILE, allow_pickle=False) as file:
        return file["images"], file["labels"]


def _make(index: int, name: str, title: str) -> Sample:
    images, labels = _shipped()
    # a copy: a Sample makes its values read-only, and these are a view of what all twenty share
    return image_sample(
        images[index][None].copy(),
        name,
        title=title,
        label=int(labels[index]),
        source="Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, CC BY 4.0",
        notes=("8x8 pixels enlarged 2.25 times, from the test split",),
    )


def _spec(index: int) -> SampleSpec:
    digit, copy = divmod(index, _PER_CLASS)
    name, title = f"digit-{digit}{'b' if copy else ''}", f"Digit {digit}{' b' if copy else ''}"
    return SampleSpec(
        name=name,
        title=title,
        domain="grid",
        make=partial(_make, index, name, title),
        summary="A real handwritten digit, 29x29, that loses no ink when it is turned.",
        tags=("digit", "grey"),
    )


SAMPLES = tuple(_spec(index) for index in range(10 * _PER_CLASS))


if __name__ == "__main__":
    write_file()
    print(f"{FILE}: {FILE.stat().st_size} bytes")
