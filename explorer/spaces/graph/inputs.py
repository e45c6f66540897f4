"""Make the arguments of networks on graphs."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.declare.fields import PAIR
from explorer.network.inputs import Inputs
from explorer.spaces.graph.fields import EDGE, EDGE_INDEX, GRAPH, NODE, NODE_INPUT


def graph_inputs(values: Sequence[Tensor]) -> Inputs:
    """Return the arguments of a network on graphs, their fields read off their shapes.

    Args:
        values: x (nodes, channels) first; (2, edges) of whole numbers is edge_index, what else has a row for each edge
            is an edge field, for each node a node field, for each pair of nodes, such as an adjacency matrix, a pair
            field.

    Raises:
        ValueError: x is no matrix, or a tensor fits neither nodes nor edges.
    """
    if not values or values[0].ndim != 2 or not values[0].is_floating_point():
        raise ValueError("a graph is given as (x, edge_index, ...), with x real numbers of shape (nodes, channels)")
    nodes = len(values[0])
    index = next((v for v in values[1:] if _is_index(v)), None)
    edges = -1 if index is None else index.shape[1]
    if index is not None and edges and not 0 <= int(index.min()) <= int(index.max()) < nodes:
        raise ValueError(
            f"edge_index names the nodes {int(index.min())} to {int(index.max())}, and x has {nodes}, from 0"
        )
    fields, names = [NODE_INPUT], ["x"]
    for k, v in enumerate(values[1:], 1):
        if v is index:
            fields.append(EDGE_INDEX)
            names.append("edge_index")
        elif v.ndim >= 2 and v.shape[-2:] == (nodes, nodes) and not _is_basis(v):
            fields.append(PAIR)
            names.append("adjacency")
        elif v.ndim and len(v) == edges and (edges != nodes or v.is_floating_point()):
            fields.append(EDGE)
            names.append("edge_attr" if v.ndim > 1 else "edge_weight")
        elif v.ndim and len(v) == nodes:
            fields.append(NODE)
            names.append("position" if v.is_floating_point() else "batch")
        elif v.ndim == 2 and len(v) == 1:
            fields.append(GRAPH)
            names.append("u")
        else:
            raise ValueError(
                f"argument {k} has the shape {tuple(v.shape)}, which fits neither {nodes} nodes nor "
                f"{max(edges, 0)} edges"
            )
    return Inputs(tuple(values), tuple(fields), tuple(names))


def _is_basis(value: Tensor) -> bool:
    """Say whether a square matrix holds a vector for each node: eigenvectors, or positions in a plane or in space."""
    if value.ndim != 2 or not value.is_floating_point():
        return False
    one = torch.eye(len(value), dtype=value.dtype, device=value.device)
    turned = torch.allclose(value.t() @ value, one, atol=1e-4) and not torch.equal(value.abs().sum(0), one.sum(0))
    return turned or (len(value) <= 3 and not torch.allclose(value, value.t()))


def _is_index(value: Tensor) -> bool:
    return value.ndim == 2 and value.shape[0] == 2 and value.dtype == torch.int64
