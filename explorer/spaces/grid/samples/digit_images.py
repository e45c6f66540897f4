"""Handwritten digits to train on and to look at, prepared so that turning them by any angle loses no ink.

The data are scikit-learn's `load_digits`: 1797 real digits of 8x8 pixels (E. Alpaydin, C. Kaynak, "Optical
Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998, CC BY 4.0).
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SIZE = 29  # odd: there is a centre pixel, and it survives strides of 2 (29 -> 15 -> 8)
INK = 21  # side of the centred square outside of which every pixel is 0
SCALE = 2.25  # output pixels per original pixel: eight of them and their soft edges fill the INK square
TEST = 500
_SEED = 20

Split = Literal["train", "test"]


def _cubic(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keys' cubic convolution kernel, a = -1/2 (IEEE Trans. ASSP 29(6), 1981): zero from distance 2 on.

    Unlike an interpolating spline, whose ringing reaches across the picture, it keeps the ink in one place.
    """
    t = np.abs(distance)
    near = 1.5 * t**3 - 2.5 * t**2 + 1
    far = -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def enlarge(images: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return (n, 8, 8) images in [0, 1] as (n, 1, 29, 29), centred, no ink outside the inscribed disc."""
    centre = (SIZE - 1) / 2
    offsets = np.arange(SIZE) - centre
    weights = _cubic(offsets[:, None] / SCALE - (np.arange(8) - 3.5)[None, :])  # (29, 8)
    # rows, then columns
    large = _sum_over(weights, images.astype(np.float64)).transpose(0, 2, 1)
    large = _sum_over(weights, large).transpose(0, 2, 1)
    y, x = offsets[:, None], offsets[None, :]
    # what the square keeps beyond the disc (0.006 of white at most, in its corners) could leave the picture
    kept = (np.maximum(np.abs(y), np.abs(x)) <= INK // 2) & (y**2 + x**2 <= centre**2)
    return np.where(kept, np.clip(large, 0.0, 1.0), 0.0).astype(np.float32)[:, None]


def _sum_over(weights: NDArray[np.float64], images: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_k weights[i, k] images[n, k, j] as (n, i, j), added in the order of k.

    The order makes the bits the same on every machine, which einsum does not promise.
    """
    total = np.zeros((len(images), len(weights), images.shape[2]))
    for k in range(weights.shape[1]):
        total += weights[None, :, k, None] * images[:, None, k, :]
    return total


def split_indices(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices (train, test) of a fixed split that keeps the share of every class, each sorted.

    Own code rather than scikit-learn's: a weight file and a sample must mean one split in every version.
    """
    random = np.random.RandomState(_SEED)  # the old generator: its stream is frozen for good
    classes = np.unique(labels)
    share = np.array([TEST * np.mean(labels == c) for c in classes])
    counts = np.floor(share).astype(int)
    # the largest remainders get what is missing to exactly TEST
    counts[np.argsort(counts - share, kind="stable")[: TEST - int(counts.sum())]] += 1
    test = [random.permutation(np.flatnonzero(labels == c))[:n] for c, n in zip(classes, counts)]
    chosen = np.sort(np.concatenate(test))
    return np.setdiff1d(np.arange(len(labels)), chosen), chosen


@cache
def _all() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rows = table()  # (1797, 65): 8x8 pixels from 0 to 16, and the class
    return enlarge(rows[:, :-1].reshape(-1, 8, 8) / 16.0), rows[:, -1].astype(np.int64)


def table() -> NDArray[np.float64]:
    """Return the file that `load_digits` reads.

    Its package is not imported for it, which takes as long as torch: a start would wait for scipy's statistics.
    """
    found = find_spec("sklearn")
    for folder in () if found is None else found.submodule_search_locations or ():
        if (path := Path(folder) / "datasets" / "data" / "digits.csv.gz").is_file():
            with gzip.open(path, "rt", encoding="ascii") as file:
                return np.loadtxt(file, delimiter=",")
    from sklearn.datasets import load_digits

    data = load_digits()  # it keeps them elsewhere
    return np.column_stack([data.data, data.target])


@cache
def load(split: Split) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return (images, labels) of one split: float32 (N, 1, 29, 29) in [0, 1], white on black, and int64 (N,).

    1297 to train, 500 to test; read-only and cached. Deterministic.

    Raises:
        ValueError: another split is asked for.
    """
    if split not in ("train", "test"):
        raise ValueError(f"the splits are 'train' and 'test', not {split!r}")
    images, labels = _all()
    chosen = split_indices(labels)[split == "test"]
    images, labels = images[chosen], labels[chosen]
    images.flags.writeable = labels.flags.writeable = False
    return images, labels
