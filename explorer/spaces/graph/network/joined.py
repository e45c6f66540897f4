"""Tell by trial which nodes the edges between several sets join: those of a kind are renumbered in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Scalar
from explorer.network.tracing.trials import answer_of
from explorer.spaces.graph.fields import EDGE, GRAPH, NODE, NODE_INPUT, Edges, Graphs, NodeIndex
from explorer.spaces.graph.network.members import in_order

Call = Callable[[nn.Module, tuple[Tensor, ...]], Any] | None


def is_index(value: object) -> bool:
    """Say whether a tensor may list edges, (2, edges) of whole numbers."""
    return isinstance(value, Tensor) and value.ndim == 2 and value.shape[0] == 2 and value.dtype == torch.int64


def may_be_joined(values: Sequence[Tensor]) -> bool:
    """Say whether there are lists of edges and several tables, as of nodes of several kinds, beside them."""
    tables = sum(value.is_floating_point() and value.ndim > 0 for value in values)
    return any(map(is_index, values)) and tables > 1


def joined_sets(values: Sequence[Tensor], model: nn.Module, names: Sequence[str], call: Call = None) -> Inputs | None:
    """Return arguments as inputs in which the sets that edges join are moved in turn; None where no trial tells them.

    A table has nodes where an end of edges may be the number of its last row, and no more.

    Args:
        names: of the arguments.
        call: how the network is given them, where not one by one in their order.
    """
    lists = [k for k, value in enumerate(values) if is_index(value) and value.numel()]
    tables = [k for k in range(len(values)) if k not in lists and values[k].ndim]
    if answer_of(model, values, call) is None:
        return None  # the trace says why
    sizes = list(dict.fromkeys(len(values[k]) for k in tables))
    joins: dict[tuple[int, int], int] = {}
    for k in lists:
        for end in (0, 1):
            found = [size for size in sizes if _numbers(size, k, end, values, model, call)]
            if len(found) != 1:
                return None
            joins[k, end] = found[0]
    sets = [size for size in sizes if size in joins.values()]
    if len(sets) < 2 or any(values[k].shape[1] in sets for k in lists):
        return None
    turns = [_turn(size, joins, values, names, call) for size in sets]
    return replace(turns[0], turns=tuple(turns[1:]))


def _numbers(size: int, k: int, end: int, values: Sequence[Tensor], model: nn.Module, call: Call) -> bool:
    """Say whether an end of listed edges numbers the rows of tables of this size: the last one, and none behind it."""
    if int(values[k][end].max()) >= size:
        return False

    def runs(number: int) -> bool:
        other = values[k].clone()
        other[end, 0] = number
        return answer_of(model, [*values[:k], other, *values[k + 1 :]], call) is not None

    return runs(size - 1) and not runs(size)


def _turn(
    size: int, joins: dict[tuple[int, int], int], values: Sequence[Tensor], names: Sequence[str], call: Call
) -> Inputs:
    """Return the inputs in which the nodes of one set are renumbered, and the edges that join them reordered."""
    ends = {k: [end for end in (0, 1) if joins[k, end] == size] for k, _ in joins}
    listed = next(k for k, of in ends.items() if of)  # one list alone is put into another order
    first = next(k for k, value in enumerate(values) if k not in ends and value.ndim and len(value) == size)
    fields: list[FieldType] = []
    for k, value in enumerate(values):
        if k in ends:
            domain = Edges() if k == listed else Graphs()
            own = NodeIndex() if len(ends[k]) == 2 else NodeIndex(ends[k][0]) if ends[k] else Scalar()
            fields.append(FieldType(domain, own))
        elif k == first:
            fields.append(NODE_INPUT)
        elif value.ndim and len(value) == size:
            fields.append(NODE)
        else:
            fields.append(EDGE if value.ndim and len(value) == values[listed].shape[1] else GRAPH)
    return in_order(first, fields, values, names, call)
