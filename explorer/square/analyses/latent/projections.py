"""Planes that codes are shown in: two of their numbers, linear maps, and embeddings of neighbourhoods.

A plane of an embedding has no formula: another code is placed between its five nearest examples, by the inverse of its
distance, and a place is decoded as the example nearest to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.declare.states.latent import PIXELS, PROJECTIONS

NEAREST = 5
NEIGHBOURS = 12  # of an example in an embedding
SHRINKAGE = 0.1  # of covariances within a class towards a ball: pixels that never vary have none
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A projection that was fitted to examples.

    Attributes:
        points: (n, 2) of the examples.
        forward: (m, k) -> (m, 2).
        back: (m, 2) and a vector (k,) that says what the plane does not -> (m, k).
        linear: whether both are formulas.
        axes: what the two axes are called.
    """

    points: Floats
    forward: Callable[[Floats], Floats]
    back: Callable[[Floats, Floats], Floats]
    linear: bool
    axes: tuple[str, str]


def offered(turning: bool, images: bool) -> tuple[str, ...]:
    """Return the names of the projections that there are for a code, in order.

    Args:
        turning: the code has a part that turns in the plane.
        images: the examples are images, which can be projected themselves.
    """
    return tuple(n for n in PROJECTIONS if (turning or n != "turning") and (images or not n.startswith(PIXELS)))


def linear(vectors: Floats, matrix: Floats, axes: tuple[str, str]) -> Plane:
    """Return the plane of a matrix (2, k)."""
    inverse = np.linalg.pinv(matrix)

    def back(at: Floats, rest: Floats) -> Floats:
        return np.asarray(rest + (at - rest @ matrix.T) @ inverse.T)

    return Plane(vectors @ matrix.T, lambda v: np.asarray(v @ matrix.T), back, True, axes)


def fitted(
    name: str, vectors: Floats, labels: NDArray[np.int64], weights: Floats, arrow: Floats | None, seed: int
) -> Plane:
    """Fit a projection to codes, or to inputs, (n, k).

    Args:
        weights: (k,) how much each number of the code says, for "axes".
        arrow: (2, k), the part of the code that turns, for "turning".

    Raises:
        ValueError: there are too few examples or classes for it, or no library, in one sentence.
    """
    count, size = vectors.shape
    strange = ~np.isfinite(vectors).all(1)
    if strange.any():
        raise ValueError(f"the code of example {int(strange.argmax())} holds values that are no finite numbers")
    kind = name.removeprefix(PIXELS)
    if kind == "axes" or size < 2:
        pair = sorted(np.argsort(-weights, kind="stable")[:2]) if size > 1 else [0]
        matrix = np.eye(size)[pair] if size > 1 else np.array([[1.0], [0.0]])
        names = [f"z{k + 1}" for k in pair] + [""]
        return linear(vectors, matrix, (names[0], names[1]))
    if kind == "turning" and arrow is not None:
        return linear(vectors, arrow, ("cosine of the first frequency", "sine"))
    if count < 3:
        raise ValueError(f"{PROJECTIONS[name]} needs three examples at least, and there are {count}")
    if kind == "pca":
        centred = vectors - vectors.mean(0)
        rows = np.linalg.svd(centred, full_matrices=False)[2][:2]
        # the sign of a component is nobody's choice: its largest entry is positive
        rows = rows * np.sign(rows[np.arange(2), np.abs(rows).argmax(1)])[:, None]
        return linear(vectors, rows, ("1st component", "2nd component"))
    spread = float((vectors.max(0) / 2 - vectors.min(0) / 2).max())
    if spread < np.finfo(float).tiny:  # nothing to arrange, and t-SNE of scikit-learn ends the process
        raise ValueError(f"all {count} examples are the same, and {PROJECTIONS[name]} tells examples apart")
    unit = 2.0 ** np.floor(np.log2(spread))  # squares of other numbers vanish or overflow; a power of two rounds none
    if kind == "lda":
        matrix = _discriminants(vectors / unit, labels) / unit
        return linear(vectors, matrix, ("1st discriminant", "2nd discriminant"))
    vectors, own = vectors / unit, unit if kind == "isomap" else 1.0  # whose plane is measured as the codes are
    points = _embedded(kind, vectors, seed)
    return Plane(
        own * points, lambda v: own * _between(v / unit, vectors, points),
        lambda at, _: unit * vectors[_distances(at / own, points).argmin(1)], False, ("", ""),
    )  # fmt: skip


def _discriminants(vectors: Floats, labels: NDArray[np.int64]) -> Floats:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    classes = len(np.unique(labels))
    if classes < 3:
        raise ValueError(f"LDA needs three classes to span a plane, and the examples have {classes}")
    found = LinearDiscriminantAnalysis(solver="eigen", shrinkage=SHRINKAGE).fit(vectors, labels).scalings_[:, :2].T
    return np.asarray(found * np.sign(found[np.arange(2), np.abs(found).argmax(1)])[:, None])


def _embedded(kind: str, vectors: Floats, seed: int) -> Floats:
    few = min(NEIGHBOURS, len(vectors) - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of neighbourhoods that fall apart: what is drawn shows it
        if kind == "tsne":
            from sklearn.manifold import TSNE

            perplexity = min(30.0, (len(vectors) - 1) / 3)
            embedding = TSNE(2, perplexity=perplexity, init="pca", random_state=seed)
            return np.asarray(embedding.fit_transform(vectors), float)
        if kind == "isomap":
            from sklearn.manifold import Isomap

            return np.asarray(Isomap(n_neighbors=few, n_components=2).fit_transform(vectors), float)
        if kind == "lle":
            from sklearn.manifold import LocallyLinearEmbedding

            model = LocallyLinearEmbedding(n_neighbors=few, n_components=2, random_state=seed, eigen_solver="dense")
            return np.asarray(model.fit_transform(vectors) * np.sqrt(len(vectors)), float)
        try:
            from umap import UMAP
        except ImportError:
            raise ValueError("UMAP needs the library umap-learn: pip install umap-learn, then start again") from None
        return np.asarray(UMAP(n_neighbors=few, random_state=seed).fit_transform(vectors), float)


def _distances(a: Floats, b: Floats) -> Floats:
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _between(vectors: Floats, examples: Floats, points: Floats) -> Floats:
    away = _distances(vectors, examples)
    nearest = np.argsort(away, axis=1, kind="stable")[:, :NEAREST]
    near = np.take_along_axis(away, nearest, 1)
    shares = 1 / np.maximum(near, 1e-9 * max(float(away.max()), 1e-300))
    shares /= shares.sum(1, keepdims=True)
    return np.asarray((points[nearest] * shares[..., None]).sum(1))
