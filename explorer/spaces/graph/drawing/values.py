"""Frozen values that a frame says of a graph: its structure, its spectrum, what lies on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.square.frame import Array


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A graph as it is drawn, in the sample's own order of nodes; one object for a whole epoch, arrays read-only.

    `edges` is (2, E), from and to, both directions of an undirected edge listed; `classes` are the known labels, -1
    unknown; `positions` come with the data (molecules, point clouds), (N, 2 or 3); `graph_of` says which graph of a
    batch a node belongs to; `bonds` (E,) are the kinds of chemical bonds, 1 to 3 and 4 for aromatic, where they are
    known; `key` names the structure, for layouts that are kept.
    """

    nodes: int
    edges: NDArray[np.int64]
    key: str
    directed: bool = False
    names: tuple[str, ...] = ()
    classes: NDArray[np.int64] | None = None
    positions: Array | None = None
    weights: Array | None = None
    graph_of: NDArray[np.int64] | None = None
    bonds: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The graph Fourier transform: L = I - D^-1/2 A D^-1/2 = U diag(eigenvalues) U^T, ascending, (k,).

    `vectors` is (N, k); `x` and `layer` are (k, C) coefficients U^T x of the input and of the selected node field (in
    the original order of nodes), `layer` None for other fields. `partial`: only k of N were computed.
    """

    eigenvalues: Array
    vectors: Array
    x: Array
    layer: Array | None
    partial: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GraphPart:
    """The data that views of graphs draw, beside the images of the Square.

    Attributes:
        structure: the graph of x; that of rho(g) x has its nodes renumbered by `order`.
        order: (N,) node i of x is node order[i] of rho(g) x; -1 where it was dropped.
        edge_order: (E,) the same for the listed edges.
        kind: where the selected layer's values sit: "node", "edge", "pair" or "invariant".
        x, gx: the input, (N, C), before and after.
        values, moved, expected, difference: F(x), F(rho(g) x), rho'(g) F(x) and their difference at the layer: (N, C),
            (E, C), (H, N, N) or (G, C); at most `by_place.MOST_CHANNELS` channels. None where there is no action.
        coefficients: {layer: (E, H)} of every edge field with at most 16 channels: attention, gates, weights of edges.
        pairs: {layer: (H, N, N)} of every pair field that is small enough to be sent.
        dense: False where the values of pairs were left out because the graph is too large for them.
        influence: (N,) sum over channels of |d layer(selected node) / d x_j|, original order; None without selection.
        distance: (N,) hops from the selected node, -1 where it cannot be reached.
        energy: {layer: Dirichlet energy of its node field divided by its squared norm}, in order of the layers.
        spectrum: the graph Fourier transform; filled in idle time.
        missing: {"influence", "spectrum" or "energy": why it is not there and will not come}, a sentence each.
        outputs: (G, C) the network's own answer where it is one for each graph, else None.
        answers: (2, N) the network's answer where it is one number for each node and nodes have names, else None: that
            of F(x) and that of F(rho(g) x), each at the node that it is for; NaN where the node was dropped.
        rows: names of the rows of F(x)'s and F(rho(g) x)'s pairs, () for numbers; None where they are the nodes.
        sets: {name: (N,) bool or int}: what a pooling layer keeps, clusters, critical points; by the layer's name.
    """

    data: ClassVar[str] = "graph"

    structure: Structure
    order: NDArray[np.int64]
    edge_order: NDArray[np.int64]
    kind: str
    x: Array
    gx: Array
    values: Array
    moved: Array
    expected: Array | None
    difference: Array | None
    coefficients: Mapping[str, Array] = field(default_factory=dict)
    pairs: Mapping[str, Array] = field(default_factory=dict)
    dense: bool = True
    influence: Array | None = None
    distance: NDArray[np.int64] | None = None
    energy: Mapping[str, float] = field(default_factory=dict)
    spectrum: Spectrum | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, Array] = field(default_factory=dict)
    outputs: Array | None = None
    answers: Array | None = None
    rows: tuple[tuple[str, ...], tuple[str, ...]] | None = None
