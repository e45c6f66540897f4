"""Vary an eigenvalue that repeats as another processor may: another sign, another basis, as its kernels round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

Array = NDArray[np.float64]


def turned(values: Array, vectors: Array, seed: int = 0, same: float = 1e-9) -> Array:
    """Return the eigenvectors (n, k) with a random orthogonal matrix applied within each eigenspace."""
    rng, found, first = np.random.default_rng(seed), np.array(vectors), 0
    for end in range(1, len(values) + 1):
        if end == len(values) or values[end] - values[end - 1] > same * (1 + abs(values[end])):
            turn = np.linalg.qr(rng.standard_normal((end - first, end - first)))[0]
            found[:, first:end] = found[:, first:end] @ turn
            first = end
    return found


def pretend(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let numpy and torch return other eigenvectors from here on; seed 0 is this processor."""
    numpys, torchs = np.linalg.eigh, torch.linalg.eigh
    if seed == 0:
        return

    def by_numpy(matrix: Array, *rest: Any) -> tuple[Array, Array]:
        values, vectors = numpys(matrix, *rest)
        return values, turned(values, vectors, seed)

    def by_torch(matrix: torch.Tensor, *rest: Any) -> tuple[torch.Tensor, torch.Tensor]:
        values, vectors = torchs(matrix, *rest)
        return values, torch.from_numpy(turned(values.numpy(), vectors.numpy(), seed))

    monkeypatch.setattr(np.linalg, "eigh", by_numpy)
    monkeypatch.setattr(torch.linalg, "eigh", by_torch)
