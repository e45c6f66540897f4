"""Alkanes as carbon skeletons: octane boils at 126 °C, isooctane at 99 °C; and a batch of all isomers of hexane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.chemistry.atoms import BONDS, one_hot
from explorer.spaces.graph.chemistry.boiling_points import Alkane, alkanes
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways

BOND = 1.54  # ångström, between two carbons
SOURCE = "H. Wiener, J. Am. Chem. Soc. 69, 1947"


def places(alkane: Alkane) -> NDArray[np.float64]:
    """Return (carbons, 2) of a drawing: the chain in a zigzag, branches away from it."""
    bonds = np.array(alkane.bonds).reshape(-1, 2)
    steps = bonds[:, 1] == bonds[:, 0] + 1
    chain = 1 + (len(steps) if steps.all() else int(steps.argmin()))
    at = np.zeros((alkane.carbons, 2))
    at[:chain] = [(np.sqrt(3) / 2 * k, 0.5 * (k % 2)) for k in range(chain)]
    for start, end in bonds[chain - 1 :]:
        siblings = bonds[chain - 1 :][bonds[chain - 1 :, 0] == start, 1]
        outward = np.pi / 2 if start < chain and start % 2 else -np.pi / 2
        if start >= chain:  # the second carbon of an ethyl
            root = int(bonds[bonds[:, 1] == start][0, 0])
            outward = (np.pi / 2 if root % 2 else -np.pi / 2) + np.pi / 3
        turn = np.pi / 3 * (list(siblings).index(end) - (len(siblings) - 1) / 2)
        at[end] = at[start] + (np.cos(outward + turn), np.sin(outward + turn))
    return at * BOND


def sample(name: str, title: str, chosen: Sequence[Alkane]) -> Sample:
    """Make alkanes a sample; several are one batch, laid out side by side."""
    sizes = [a.carbons for a in chosen]
    start = np.concatenate([[0], np.cumsum(sizes)])
    index = both_ways(np.concatenate([np.array(a.bonds).reshape(-1, 2) + s for a, s in zip(chosen, start)]))[0]
    corner = [np.array([9.0 * (k % 3), -6.0 * (k // 3)]) for k in range(len(chosen))]
    at = np.concatenate([places(a) - places(a).mean(0) + c for a, c in zip(chosen, corner)])
    single = np.zeros((index.shape[1], len(BONDS)), np.float32)
    single[:, BONDS.index("single")] = 1.0
    told = tuple(f"{a.name} boils at {a.boiling:g} °C" for a in chosen)
    several = len(chosen) > 1
    return graph_sample(
        name, one_hot(["C"] * sum(sizes)), index, title=title, edge_attr=single, position=at,
        batch=np.repeat(np.arange(len(chosen)), sizes) if several else None,
        names=tuple(f"C{k + 1} {g}" if several else f"C{k + 1}" for g, n in enumerate(sizes) for k in range(n)),
        source=SOURCE,
        notes=("carbons only, hydrogens left out", *(f"graph {g}: {t}" if several else t for g, t in enumerate(told))),
    )  # fmt: skip


def _one(name: str, title: str, systematic: str) -> Sample:
    return sample(name, title, [a for a in alkanes() if a.name == systematic])


def _isomers() -> Sample:
    return sample("hexanes", "The five hexanes", [a for a in alkanes() if a.carbons == 6])


def _spec(name: str, title: str, make: Callable[[], Sample], summary: str, *tags: str) -> SampleSpec:
    return SampleSpec(name, title, "graph", make, summary, tags)


SAMPLES = (
    _spec(
        "octane", "Octane", partial(_one, "octane", "Octane", "octane"),
        "Eight carbons in a chain; boils at 126 °C.", "molecule", "2D",
    ),
    _spec(
        "isooctane", "Isooctane", partial(_one, "isooctane", "Isooctane", "2,2,4-trimethylpentane"),
        "Eight carbons, branched three times; boils at 99 °C.", "molecule", "2D",
    ),
    _spec(
        "hexanes", "The five hexanes", _isomers,
        "All ways to join six carbons without a ring: the more branches, the sooner it boils.",
        "batch", "molecule",
    ),
)  # fmt: skip
