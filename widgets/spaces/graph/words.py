"""Write the read-out of a node, an edge or a lasso of nodes under the cursor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.values import GraphPart
from widgets.maps.linking import precise
from widgets.spaces.graph.drawing.dense import widths_along
from widgets.spaces.graph.drawing.look import Choice, Panel, coefficients

SIDES = {"before": "F(x)", "after": "F(ρ(g)x)", "difference": "difference"}


def node_text(part: GraphPart, node: int, rows: list[list[Panel]]) -> str:
    """Return name, number on the other side, class, degree and values of a node in one line."""
    s = part.structure
    name = f" {s.names[node]}" if len(s.names) == s.nodes else ""
    number = int(part.order[node])
    words = [f"node {node}{name}"]
    if number < 0:
        words.append("dropped in ρ(g)x")
    elif number != node:
        words.append(f"number {number} in ρ(g)x")
    if s.classes is not None and s.classes[node] >= 0:
        words.append(f"class {int(s.classes[node])}")
    words.append(f"degree {int((s.edges[1] == node).sum())}")
    for row in rows:
        for panel in row:
            if panel.values.nodes is not None:
                value = panel.values.nodes[node]
                words.append(f"{panel.title} {precise(float(value)) if np.isfinite(value) else 'not there'}")
    if part.influence is not None:
        words.append(f"influence {precise(float(part.influence[node]))}")
    return " · ".join(words)


def edge_text(part: GraphPart, listed: int, choice: Choice, row: list[Panel], ends: NDArray[Any]) -> str:
    """Return the ends and the values of a line in one line: a listed edge, or a pair of nodes.

    Args:
        ends: (2, L) from and to of what lines stand for; `listed` is a column of it.
    """
    s = part.structure
    start, end = (int(v) for v in ends[:, listed])
    copies = int(((s.edges[0] == start) & (s.edges[1] == end)).sum())
    ways = ends is not s.edges or s.directed or choice.edges != "plain"
    words = [f"{'edge' if copies else 'pair'} {start} {'→' if ways else '–'} {end}"]
    if start == end:
        words = [f"self-loop of node {start}" if copies else f"node {start} to itself"]
    if copies > 1:
        words.append(f"{copies} copies")
    along = widths_along(part, choice, ends[:, listed : listed + 1])
    if along is None and ends is s.edges and (widths := coefficients(part, choice)) is not None:
        along = widths[listed : listed + 1]
    if along is not None:
        words.append(f"{choice.edges} {precise(float(along[0]))}")
    for panel in row:
        if panel.values.edges is not None:
            words.append(f"{panel.title} {precise(float(panel.values.edges[listed]))}")
    return " · ".join(words)


def lasso_text(row: list[Panel], nodes: NDArray[Any]) -> str:
    """Return how many nodes there are and the mean of their values beside that of all the others."""
    words = [f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}"]
    for panel in row[:1]:
        values = panel.values.nodes
        if values is None or panel.values.classes:
            continue
        rest = np.delete(values, nodes)
        inside, outside = (a[np.isfinite(a)] for a in (values[nodes], rest))
        if inside.size:
            words.append(f"mean {precise(float(inside.mean()))}")
        if outside.size:
            words.append(f"the others {precise(float(outside.mean()))}")
    return " · ".join(words)
