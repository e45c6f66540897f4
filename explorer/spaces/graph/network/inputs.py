"""Make the arguments of networks on graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import EDGE, EDGE_INDEX, GRAPH, NODE, NODE_INPUT, Nodes

UNSETTLED = replace(NODE_INPUT, domain=Nodes(-1))


def graph_inputs(values: Sequence[Tensor]) -> Inputs:
    """Return the arguments of a network on graphs, their fields read off their shapes.

    Args:
        values: x (nodes, channels) first, with a batch axis of one where the network asks for that; (2, edges) of whole
            numbers is edge_index, what else has a row for each edge is an edge field, for each node a node field, for
            each pair of nodes, such as an adjacency matrix, a pair field.

    Raises:
        ValueError: x is no matrix, or a tensor fits neither nodes nor edges.
    """
    if not values or not is_x(values[0]):
        raise ValueError(
            "a graph is given as (x, edge_index, ...), with x real numbers of shape (nodes, channels), or a whole "
            "number for each node"
        )
    axis = values[0].ndim - 2 if values[0].ndim == 3 else 0
    nodes = values[0].shape[axis]
    index = next((v for v in values[1:] if _is_index(v)), None)
    edges = -1 if index is None else index.shape[1]
    if index is not None and edges > 0 and not 0 <= int(index.min()) <= int(index.max()) < nodes:
        raise ValueError(
            f"edge_index names the nodes {int(index.min())} to {int(index.max())}, and x has {nodes}, from 0"
        )
    fields, names = [replace(NODE_INPUT, domain=Nodes(axis))], ["x"]
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
        elif v.numel() == 1 or (v.ndim == 2 and len(v) == 1):
            fields.append(GRAPH)
            names.append("u")
        else:
            raise ValueError(
                f"argument {k} has the shape {tuple(v.shape)}, which fits neither {nodes} nodes nor "
                f"{max(edges, 0)} edges"
            )
    return Inputs(tuple(values), tuple(fields), tuple(names))


def named_graph(tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
    """Return tensors given by name as inputs, x first, and their names in that order; None where they are no graph.

    Raises:
        ValueError: a graph without anything on its nodes, or with a tensor of another size.
    """
    index = next((v for v in tensors.values() if _is_index(v)), None)
    pairs = None
    if index is None and len(tensors) > 1:
        pairs = next((v for n, v in tensors.items() if n != "x" and v.ndim == 2 and v.shape[0] == v.shape[1]), None)
        rows = {len(v) if 0 < v.ndim < 3 else -1 for v in tensors.values()}
    if index is None and (len(tensors) < 2 or len(rows) > 1 or -1 in rows):
        return None
    nodes = 0 if pairs is None else len(pairs)
    nodes = int(index.max()) + 1 if index is not None and index.numel() else nodes
    own = {n: v for n, v in tensors.items() if v is not index and v is not pairs and is_x(v) and len(v) >= nodes}
    real = [n for n, v in own.items() if v.is_floating_point()]
    first = "x" if "x" in own else next(iter((*real, *own)), None)
    if first is None and index is None:
        return None
    if first is None:
        raise ValueError(f"the graph of {', '.join(tensors)} has nothing on its nodes: give x, (nodes, channels)")
    # what counts graphs, such as their labels and where each begins, stays as it is
    of = tensors.get("batch")
    graphs = 1 if of is None or not of.numel() else int(of.max()) + 1
    nodes = len(tensors[first])
    idle = {n for n, v in tensors.items() if v.ndim == 1 and len(v) in (graphs, graphs + 1) and len(v) != nodes}
    idle -= {n for n in idle if index is not None and len(tensors[n]) == index.shape[1]}
    order = (first, *(n for n in tensors if n != first and n not in idle))
    return order, graph_inputs([tensors[n] for n in order])


def with_edges(values: Sequence[object]) -> bool:
    """Say whether a list of edges is among tensors: what has none is a set, whose members a trial tells."""
    return any(isinstance(v, Tensor) and _is_index(v) for v in values)


def unsettled_set(values: Sequence[Tensor], names: Sequence[str] = ()) -> Inputs:
    """Return the arguments of a network on a set of which the axes that count its members are still to be found."""
    names = tuple(names) or ("x", *(f"argument {k}" for k in range(1, len(values))))
    return Inputs(tuple(values), (UNSETTLED,) * len(values), names)


def ordered_graph(values: Sequence[Tensor]) -> Inputs:
    """Return tensors in the order of a call as inputs; x comes first in them wherever it stands in the call.

    Raises:
        ValueError: as `graph_inputs`.
    """
    found = None if not values or is_x(values[0]) else named_graph({str(k): v for k, v in enumerate(values)})
    if found is None:
        return graph_inputs(values)
    order, made = found
    back = [order.index(str(k)) for k in range(len(values))]
    return replace(made, call=lambda network, given: network(*(given[k] for k in back)))


def is_x(value: Tensor) -> bool:
    """Say whether a tensor may be what the nodes have: real rows, or whole numbers such as those of atoms."""
    if value.is_floating_point():
        return value.ndim == 2 or (value.ndim == 3 and len(value) == 1)
    return value.ndim == 1 and value.dtype == torch.int64


def _is_basis(value: Tensor) -> bool:
    """Say whether a square matrix holds a vector for each node: eigenvectors, or positions in a plane or in space."""
    if value.ndim != 2 or not value.is_floating_point():
        return False
    one = torch.eye(len(value), dtype=value.dtype, device=value.device)
    turned = torch.allclose(value.t() @ value, one, atol=1e-4) and not torch.equal(value.abs().sum(0), one.sum(0))
    return turned or (len(value) <= 3 and not torch.allclose(value, value.t()))


def _is_index(value: Tensor) -> bool:
    return value.ndim == 2 and value.shape[0] == 2 and value.dtype == torch.int64
