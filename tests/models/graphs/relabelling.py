"""Number the nodes of a graph anew and list its edges in another order; see which layers of a network follow.

Written apart from explorer/: the two check each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.types.fields import FieldType, Pairs
from explorer.spaces.graph.fields import Edges, Nodes
from explorer.spaces.graph.network.form import GraphInput

Signals = dict[str, Tensor]


def random_graph(
    card: Card, nodes: int = 11, edges: int = 24, graphs: int = 1, seed: int = 0, undirected: bool = False
) -> Signals:
    """Return random signals of what a card eats: a multigraph with self-loops, parallel edges and isolated nodes."""
    assert isinstance(card.input, GraphInput)
    rng = np.random.default_rng(seed)
    batch = np.sort(rng.integers(0, graphs, nodes))
    source = rng.integers(0, max(nodes - 1, 1), edges if nodes else 0)  # the last node sends nothing
    target = np.array([rng.choice(np.flatnonzero(batch == batch[j])) for j in source], np.int64)
    index = np.stack([source, target])
    if undirected:
        index = np.concatenate([index, index[::-1]], axis=1)
    made = {
        "x": rng.standard_normal((nodes, card.input.channels or 3)),
        "edge_index": index,
        "edge_attr": rng.standard_normal((index.shape[1], card.input.edge_channels or 1)),
        "batch": batch,
    }
    return {name: torch.tensor(made[name]) for name in card.input.signals}


def simple_graph(nodes: int, edges: int, channels: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return x (N, C), without ties, and the edge_index of an undirected simple graph, in float64."""
    chance = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, channels, generator=chance, dtype=torch.float64)
    pairs = torch.combinations(torch.arange(nodes))
    chosen = pairs[torch.randperm(len(pairs), generator=chance)[:edges]].T
    return x, torch.cat([chosen, chosen.flip(0)], dim=1)


@dataclass(frozen=True)
class Shuffle:
    """Node i becomes node order[i]; the edge listed k-th is listed at place edge_order[k]."""

    order: Tensor
    edge_order: Tensor

    @staticmethod
    def drawn(nodes: int, edges: int, seed: int = 0) -> Shuffle:
        chance = torch.Generator().manual_seed(seed)
        return Shuffle(torch.randperm(nodes, generator=chance), torch.randperm(edges, generator=chance))

    def inputs(self, signals: Signals) -> Signals:
        """Move x, batch, (N, ...), and edge_attr, (E, ...); relabel and reorder edge_index, (2, E)."""
        moved = {}
        for name, value in signals.items():
            if name == "edge_index":
                moved[name] = _rows(self.order[value].T, self.edge_order).T
            else:
                moved[name] = _rows(value, self.edge_order if name == "edge_attr" else self.order)
        return moved

    def act(self, value: Tensor, field: FieldType) -> Tensor:
        """Return what a layer's value has to become."""
        match field.domain:
            case Nodes():
                return _rows(value, self.order)
            case Edges():
                return _rows(value, self.edge_order)
            case Pairs():
                out = torch.empty_like(value)
                out[..., self.order[:, None], self.order[None, :]] = value
                return out
            case _:
                return value


def _rows(value: Tensor, order: Tensor) -> Tensor:
    out = torch.empty_like(value)
    out[order] = value
    return out


def named(inputs: Sequence[Tensor]) -> Signals:
    """Return {signal: value}: x comes first, edge_index is (2, E) of whole numbers, batch is (N,)."""
    x, *others = inputs
    return {"x": x} | {"edge_index" if value.ndim == 2 else "batch": value for value in others}


def relabelled(signals: Signals, order: Tensor, edge_order: Tensor) -> Signals:
    """Return the same graph with node i called order[i] and the edge listed k-th listed at place edge_order[k]."""
    return Shuffle(order, edge_order).inputs(signals)


def declared(network: nn.Module, inputs: Signals | Sequence[Tensor]) -> dict[str, tuple[FieldType, Tensor]]:
    """Return {layer: (out_field, output)} of the layers that declare a field."""
    return _run(network, inputs)[0]


def _run(network: nn.Module, inputs: Signals | Sequence[Tensor]) -> tuple[dict[str, tuple[FieldType, Tensor]], Tensor]:
    found: dict[str, tuple[FieldType, Tensor]] = {}
    handles = []
    for path, module in network.named_modules():
        if isinstance(field := getattr(module, "out_field", None), FieldType):

            def note(_m: nn.Module, _a: object, y: Tensor, path: str = path, field: FieldType = field) -> None:
                key = path
                while key in found:  # the same layer called again
                    key += "'"
                found[key] = field, y

            handles.append(module.register_forward_hook(note))
    try:
        with torch.no_grad():
            y = network(*(inputs.values() if isinstance(inputs, dict) else inputs))
    finally:
        for handle in handles:
            handle.remove()
    return found, y


def errors(network: nn.Module, signals: Signals, output: FieldType, seed: int = 0) -> dict[str, float]:
    """Return {layer: largest relative error of F(rho(g) x) = rho'(g) F(x)} for one random g; "output" is F itself."""
    shuffle = Shuffle.drawn(len(signals["x"]), signals["edge_index"].shape[1], seed)
    if "batch" in signals:  # a batch lists one graph after the other
        there = signals["batch"][torch.argsort(shuffle.order)]
        shuffle = Shuffle(torch.argsort(torch.argsort(there, stable=True))[shuffle.order], shuffle.edge_order)
    (before, y), (after, y_moved) = _run(network, signals), _run(network, shuffle.inputs(signals))
    assert before.keys() == after.keys()
    pairs = {"output": (shuffle.act(y, output), y_moved)}
    for name, (field, value) in before.items():
        pairs[name] = shuffle.act(value, field), after[name][1]
    return {name: relative(*pair) for name, pair in pairs.items()}


def law_errors(network: nn.Module, inputs: Sequence[Tensor], shuffle: Shuffle) -> dict[str, float]:
    """Return the largest absolute error of F(g x) = g F(x) of every declared layer; "" is an answer for the graph."""
    signals = named(inputs)
    (before, y), (after, y_moved) = _run(network, signals), _run(network, shuffle.inputs(signals))
    assert before.keys() == after.keys()
    found = {name: (shuffle.act(value, field), after[name][1]) for name, (field, value) in before.items()}
    if len(y) != len(inputs[0]):
        found[""] = y, y_moved
    return {name: float((a - b).abs().max()) if a.numel() else 0.0 for name, (a, b) in found.items()}


def relative(expected: Tensor, found: Tensor) -> float:
    """Return the largest difference over the largest value."""
    assert expected.shape == found.shape
    if expected.numel() == 0:
        return 0.0
    return float((expected - found).abs().max() / expected.abs().max().clamp_min(1e-12))


def double(card: Card, params: Mapping[str, float] | None = None) -> nn.Module:
    """Return a card's network with these parameters, in float64, judging."""
    values = {p.name: p.default for p in card.params} | dict(params or {})
    return card.build(**values).double().eval()
