"""Tell by trial what lies on nodes and what on edges, where there are as many, and on which axis nodes are counted."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from explorer.declare.types.fields import FieldType
from explorer.network.changing.precision import copied
from explorer.network.input.inputs import Inputs
from explorer.network.tracing.running import evaluating
from explorer.spaces.graph.fields import EDGE, NODE, Nodes
from explorer.spaces.graph.network.inference import GraphInference


def settled(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return the inputs with each such tensor on what the network takes it for: it runs with other numbers of both.

    Raises:
        ValueError: it runs either way.
    """
    inputs = _on_its_axis(inputs, model)
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


def _on_its_axis(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return a set in a batch, its places on the axis that the network accepts shorter: (1, channels, nodes), say."""
    x = inputs.x
    if len(inputs.values) > 1 or x.ndim != 3 or not isinstance(inputs.field.domain, Nodes) or min(x.shape[1:]) < 3:
        return inputs
    fewer = [axis for axis in (1, 2) if _takes(inputs.with_x(x.narrow(axis, 0, x.shape[axis] - 1)), model)]
    if fewer != [2] or not _takes(inputs, model):
        return inputs
    return replace(inputs, fields=(replace(inputs.field, domain=replace(inputs.field.domain, axis=2)),))


def _taken(inputs: Inputs, k: int, field: FieldType) -> Inputs:
    fields = (*inputs.fields[:k], field, *inputs.fields[k + 1 :])
    alone = {NODE: "position", EDGE: "edge_attr"}[field]
    return replace(inputs, fields=fields, names=(*inputs.names[:k], alone, *inputs.names[k + 1 :]))


def _runs(inputs: Inputs, model: nn.Module) -> bool:
    other = GraphInference(inputs).resized(inputs)
    return other is not None and _takes(other, model)


def _takes(other: Inputs, model: nn.Module) -> bool:
    trial = copied(model)
    with evaluating(trial), torch.no_grad():
        try:
            other.run(trial, clone=True)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # it takes no such rows
            return False
    return True
