"""Graph parts made by hand for view tests and pictures: known values on known graphs, renumbered by a known order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.square.frame import Frame
from tests.widgets.parts.frames.sample_frames import make_frame


def both_ways(graph: nx.Graph) -> np.ndarray:
    """Return (2, E) with both directions of each edge of an undirected graph."""
    pairs = np.array(nx.convert_node_labels_to_integers(graph).edges(), np.int64).reshape(-1, 2)
    pairs = np.concatenate([pairs, pairs[pairs[:, 0] != pairs[:, 1]][:, ::-1]])
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))].T.copy()


def make_part(
    edges: np.ndarray,
    nodes: int,
    kind: str = "node",
    channels: int = 4,
    seed: int = 0,
    shift: float = 0.0,
    **changes: Any,
) -> GraphPart:
    """Return a part whose layer is equivariant but for `shift`, added to F(rho(g) x)."""
    rng = np.random.default_rng(seed)
    n, e = nodes, edges.shape[1]
    order = rng.permutation(n)
    edge_order = rng.permutation(e)
    back, edge_back = np.argsort(order), np.argsort(edge_order)
    shape = {"node": (n, channels), "edge": (e, channels), "pair": (2, n, n), "invariant": (1, channels)}[kind]
    values = rng.standard_normal(shape).astype(np.float32)
    match kind:
        case "node":
            expected = values[back]
        case "edge":
            expected = values[edge_back]
        case "pair":
            expected = values[:, back][:, :, back]
        case _:
            expected = values
    moved = expected + np.float32(shift)
    x = rng.standard_normal((n, 3)).astype(np.float32)
    weight = np.exp(rng.standard_normal((e, 2)) * 1.5)
    total = np.zeros((n, 2))
    np.add.at(total, edges[1], weight)
    attention = (weight / total[edges[1]]).astype(np.float32)
    known: dict[str, Any] = {
        "structure": Structure(n, edges, key=f"made {n} {e} {seed}"), "order": order, "edge_order": edge_order,
        "kind": kind, "x": x, "gx": x[back], "values": values, "moved": moved, "expected": expected,
        "difference": expected - moved, "coefficients": {"conv1.attention": attention},
    }  # fmt: skip
    return GraphPart(**(known | changes))


def karate_part(**changes: Any) -> GraphPart:
    """Return Zachary's club with its two sides as classes and made-up attention of two heads."""
    graph = nx.karate_club_graph()
    clubs = np.array([graph.nodes[i]["club"] == "Officer" for i in graph], np.int64)
    edges = both_ways(graph)
    names = tuple(f"member {i}" for i in graph)
    part = make_part(edges, 34, **changes)
    return replace(part, structure=Structure(34, edges, key="karate", names=names, classes=clubs))


def graph_frame(*parts: GraphPart, **state: Any) -> Frame:
    """Return a frame with one square for each part."""
    frame = make_frame(compare=len(parts) > 1, transform="")
    squares = [replace(frame.squares[min(i, len(frame.squares) - 1)], part=part) for i, part in enumerate(parts)]
    return replace(frame, squares=tuple(squares), state=replace(frame.state, **state))
