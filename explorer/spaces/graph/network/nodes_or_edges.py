"""Tell by trial what lies on nodes and what on edges, where there are as many, and on which axis nodes are counted."""

from __future__ import annotations

from dataclasses import replace

from torch import nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.network.changing.precision import copied
from explorer.network.input.arguments import needed_arguments
from explorer.network.input.inputs import called
from explorer.network.tracing.running import tried
from explorer.network.tracing.trials import answer_of
from explorer.spaces.graph.fields import EDGE, GRAPH, NODE, NODE_INPUT, Nodes
from explorer.spaces.graph.network.inference import GraphInference
from explorer.spaces.graph.network.inputs import UNSETTLED, graph_inputs, is_x, ordered_graph, with_edges
from explorer.spaces.graph.network.joined import joined_sets
from explorer.spaces.graph.network.members import set_of


def settled(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return the inputs with each such tensor on what the network takes it for: it runs with other numbers of both.

    Raises:
        ValueError: it runs either way, or nothing tells what lies where.
    """
    if inputs.field == UNSETTLED:
        return _set(inputs, model)
    index = inputs.get("edge_index")
    if index is None or index.shape[1] != len(inputs.x):
        return inputs
    for k, field in enumerate(inputs.fields[1:], 1):
        if field not in (NODE, EDGE) or not inputs.values[k].is_floating_point():
            continue
        trials = {f: _taken(inputs, k, f) for f in (NODE, EDGE)}
        fit = [f for f, trial in trials.items() if _runs(trial, model)]
        if len(fit) == 2:
            raise ValueError(
                f"argument {k} has as many rows as there are nodes and edges, {len(inputs.x)}, and the network runs "
                "either way; say which by equiscope.graph(x, edge_index, edge_attr=...) or position=..."
            )
        inputs = trials[fit[0]] if fit else inputs
    return inputs


def _set(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return a set on the axes of which the network takes fewer; of one that takes no fewer, as its shapes tell."""
    own = needed_arguments(model) if inputs.call is None else ()
    names = own if len(own) == len(inputs.names) else inputs.names
    tell = joined_sets if with_edges(inputs.values) else set_of
    found = tell(inputs.values, model, names, inputs.call)
    if found is not None:
        return found
    if not with_edges(inputs.values) and not any(map(is_x, inputs.values)):
        return _of_unknown_members(inputs, model)
    return (
        ordered_graph(inputs.values) if inputs.call is None else replace(graph_inputs(inputs.values), call=inputs.call)
    )


def _of_unknown_members(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return a set that the network does not take at all on any axis, for its run to say why.

    Raises:
        ValueError: it takes this number of members and no other, so that nothing tells which axis counts them.
    """
    x, *others = inputs.values
    if x.ndim < 2 or answer_of(model, inputs.values, inputs.call) is None:
        domain = Nodes(max(x.ndim - 2, 0))
        return replace(inputs, fields=(replace(NODE_INPUT, domain=domain), *(GRAPH for _ in others)))
    shapes = " and ".join(f"{n} {tuple(v.shape)}" for n, v in zip(inputs.names, inputs.values, strict=True))
    raise ValueError(
        f"the network takes {shapes} and nothing shorter along any axis, so that no trial tells on which of them the "
        "members of the set lie; say it by equiscope.Inputs(values, fields), with the domain Nodes(axis)"
    )


def _taken(inputs: Inputs, k: int, field: FieldType) -> Inputs:
    fields = (*inputs.fields[:k], field, *inputs.fields[k + 1 :])
    alone = {NODE: "position", EDGE: "edge_attr"}[field]
    return replace(inputs, fields=fields, names=(*inputs.names[:k], alone, *inputs.names[k + 1 :]))


def _runs(inputs: Inputs, model: nn.Module) -> bool:
    other = GraphInference(inputs).resized(inputs)
    return other is not None and _takes(other, model)


def _takes(other: Inputs, model: nn.Module) -> bool:
    trial = copied(model)

    def runs() -> bool:
        called(trial, other, clone=True)
        return True

    return tried(trial, runs) is True
