"""Every message passing card: the law of permutations at every layer and setting, and graphs that are hardly any."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.declare.card import Card
from explorer.declare.types.fields import INVARIANT, FieldType
from explorer.spaces.graph.fields import EDGE, NODE
from models.graphs.message_passing import (
    flavour_containment,
    flavours,
    gin,
    graph_nets,
    graphsage,
    mpnn,
    multisets,
    pna,
)
from models.graphs.structure import line_graph, subgraph_sampling, walk_counts
from models.graphs.tasks import graph_prediction, link_prediction
from tests.models.graphs.relabelling import double, errors, random_graph

OUTPUT: dict[str, FieldType] = {
    "graphsage": NODE, "gin": INVARIANT, "aggregators": NODE, "pna": NODE, "mpnn": INVARIANT, "graph-nets": INVARIANT,
    "three-flavours": NODE, "flavour-containment": NODE, "link-prediction": EDGE, "graph-prediction": INVARIANT,
    "line-graph": EDGE, "walk-counts": NODE, "graph-sampling": NODE,
}  # fmt: skip
FILES = (
    graphsage, gin, multisets, pna, mpnn, graph_nets, flavours, flavour_containment, link_prediction,
    graph_prediction, line_graph, walk_counts, subgraph_sampling,
)  # fmt: skip
CARDS: dict[str, Card] = {file.CARD.name: file.CARD for file in FILES}
LAWLESS = {("graphsage", "aggregate", 2.0), ("graphsage", "fanout", 16.0)}
ORDERED = [
    (name, param.name, value)
    for name, card in CARDS.items()
    for param in card.params
    for value in (range(len(param.choices)) if param.choices else (param.minimum, param.maximum))
    if card.groups and (name, param.name, float(value)) not in LAWLESS
]


def test_all_are_here() -> None:
    assert CARDS.keys() == OUTPUT.keys()
    assert [name for name, card in CARDS.items() if not card.groups] == ["graph-sampling"]


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.groups])
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 14), edges=st.integers(0, 40), graphs=st.integers(1, 3))
def test_every_layer_follows_a_permutation(name: str, seed: int, nodes: int, edges: int, graphs: int) -> None:
    card = CARDS[name]
    network = double(card)
    signals = random_graph(card, nodes, edges, min(graphs, nodes), seed)
    found = errors(network, signals, OUTPUT[name], seed)
    assert len(found) > 3
    assert max(found.values()) < 1e-9, found


@pytest.mark.parametrize(("name", "param", "value"), ORDERED)
def test_the_law_holds_at_every_setting(name: str, param: str, value: float) -> None:
    card = CARDS[name]
    network = double(card, {param: float(value)})
    graphs = 2 if "batch" in card.input.signals else 1
    found = errors(network, random_graph(card, graphs=graphs), OUTPUT[name])
    assert max(found.values()) < 1e-9, found


def test_the_law_breaks_where_the_order_of_edges_is_read() -> None:
    """The same measure says no: at the layer that reads the order, and not before it."""
    card = CARDS["graphsage"]
    signals = random_graph(card, edges=60)
    lstm = errors(double(card, {"aggregate": 2.0}), signals, NODE)
    assert lstm["layer1.messages"] < 1e-12 and lstm["layer1.sampled"] == 0.0
    assert lstm["layer1.aggregated"] > 1e-3 and lstm["output"] > 1e-3
    sampled = errors(double(card, {"fanout": 2.0}), signals, NODE)
    assert sampled["layer1.sampled"] == 1.0 and sampled["output"] > 1e-3
    samples = errors(double(CARDS["graph-sampling"]), random_graph(CARDS["graph-sampling"]), NODE)
    assert samples["random_walk"] == 1.0 and samples["output"] == 1.0


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (3, 0), (0, 0), (1, 2)])
def test_hardly_a_graph(name: str, nodes: int, edges: int) -> None:
    card = CARDS[name]
    for params in ({}, {"aggregate": 2.0}, {"fanout": 1.0}):
        if params and name != "graphsage":
            continue
        signals = random_graph(card, nodes, edges)
        with torch.no_grad():
            y = double(card, params)(*signals.values())
        assert torch.isfinite(y).all()
        assert len(y) == {NODE: nodes, EDGE: edges, INVARIANT: 1}[OUTPUT[name]]


@pytest.mark.parametrize("name", CARDS)
def test_what_goes_on_the_screen(name: str) -> None:
    """Each learns with few parameters and without changing what it is given; the output is a layer's own."""
    card = CARDS[name]
    network = card.build(**{p.name: p.default for p in card.params})
    assert sum(p.numel() for p in {id(p): p for p in network.parameters()}.values()) <= 30_000
    signals = {k: v.float() if v.is_floating_point() else v for k, v in random_graph(card).items()}
    before = {k: v.clone() for k, v in signals.items()}
    last: list[torch.Tensor] = []
    for path, module in network.named_modules():
        if path:
            module.register_forward_hook(lambda _m, _a, y: last.append(y if isinstance(y, torch.Tensor) else y[0]))
    y = network(*signals.values())
    assert last[-1] is y and y.dtype == torch.float32
    assert all(torch.equal(before[k], v) for k, v in signals.items())
    if list(network.parameters()):
        y.sum().backward()
        fed = [p.grad is not None and bool(torch.isfinite(p.grad).all()) for p in network.parameters()]
        unfed = len(fed) - sum(fed)
        assert unfed == (4 if name == "graph-nets" else 0)  # the decoders of edges and nodes, which are only shown


@pytest.mark.parametrize("name", [name for name in CARDS if "batch" in CARDS[name].input.signals])
def test_the_graphs_of_a_batch_are_answered_apart(name: str) -> None:
    card = CARDS[name]
    network = double(card)
    signals = random_graph(card, nodes=15, edges=40, graphs=3, seed=4)
    batch, index = signals["batch"], signals["edge_index"]
    with torch.no_grad():
        together = network(*signals.values())
        assert together.shape == (3, 1)
        for g in range(3):
            nodes, edges = batch == g, batch[index[0]] == g
            part = {"x": signals["x"][nodes], "edge_index": index[:, edges] - int(torch.nonzero(nodes)[0])}
            part |= {"edge_attr": signals["edge_attr"][edges]} if "edge_attr" in signals else {}
            part["batch"] = torch.zeros(int(nodes.sum()), dtype=torch.int64)
            torch.testing.assert_close(network(*part.values())[0], together[g], rtol=1e-12, atol=1e-12)
