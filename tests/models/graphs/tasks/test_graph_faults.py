"""Each faulty graph network is broken in the one layer that is named, the control in none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from models.graphs.tasks.planted_faults import CAP, CARD, FAULTS, CappedSum
from tests.models.graphs.message_passing.test_gcn import error, graph

CARDS = {card.name: card for card in CARD}


def captured(model: nn.Module, x: Tensor, edge_index: Tensor) -> dict[str, tuple[tuple[Tensor, ...], Tensor]]:
    """Return {layer: (inputs, output)}."""
    seen: dict[str, tuple[tuple[Tensor, ...], Tensor]] = {}
    handles = [
        layer.register_forward_hook(lambda _, fed, out, name=name: seen.update({name: (fed, out)}))
        for name, layer in model.named_children()
    ]
    model(x, edge_index)
    for handle in handles:
        handle.remove()
    return seen


@torch.no_grad()
def errors(model: nn.Module) -> tuple[dict[str, float], dict[str, float]]:
    """Return each layer's local and cumulative error under a permutation of nodes and of the edge list."""
    x, edge_index = torch.randn(40, 6, dtype=torch.float64), graph()
    order, shuffle = torch.randperm(40), torch.randperm(edge_index.shape[1])

    def move(t: Tensor) -> Tensor:
        return order[t][:, shuffle] if not t.is_floating_point() else t[order.argsort()] if len(t) == 40 else t

    def relative(a: Tensor, b: Tensor) -> float:
        return float((a - b).norm() / b.norm())

    plain, moved = captured(model, x, edge_index), captured(model, move(x), move(edge_index))
    local = {
        name: relative(model.get_submodule(name)(*map(move, fed)), move(out)) for name, (fed, out) in plain.items()
    }
    return local, {name: relative(moved[name][1], move(out)) for name, (_, out) in plain.items()}


def double(name: str) -> nn.Module:
    return CARDS[name].build().double()


def test_the_control_commutes_with_permutations() -> None:
    local, cumulative = errors(double("symmetric-gnn"))
    assert max(*local.values(), *cumulative.values()) < 1e-12
    assert error(double("symmetric-gnn"), {"x": torch.randn(40, 6).double(), "edge_index": graph()}) < 1e-9


@pytest.mark.parametrize("name", FAULTS)
def test_the_law_that_the_control_obeys_is_broken(name: str) -> None:
    assert error(double(name), {"x": torch.randn(40, 6).double(), "edge_index": graph()}) > 1e-3


@pytest.mark.parametrize("name", FAULTS)
def test_exactly_one_layer_is_broken(name: str) -> None:
    local, cumulative = errors(double(name))
    assert [layer for layer, size in local.items() if size > 1e-12] == [FAULTS[name]]
    assert local[FAULTS[name]] > 0.01
    layers = list(local)
    guilty = layers.index(FAULTS[name])
    assert all(cumulative[layer] < 1e-12 for layer in layers[:guilty])
    assert all(cumulative[layer] > 1e-6 for layer in layers[guilty:])


@pytest.mark.parametrize("name", FAULTS)
def test_the_card_names_the_fault_and_claims_nothing(name: str) -> None:
    assert CARDS[name].groups == ()
    assert CARDS[name].title.startswith("Planted fault")
    assert CARDS[name].notes == (f"planted fault: layer {FAULTS[name]}",)


def test_all_four_have_the_same_weights() -> None:
    reference = CARDS["symmetric-gnn"].build().state_dict()
    for name in FAULTS:
        state = CARDS[name].build().state_dict()
        assert list(state) == list(reference)
        assert all(torch.equal(state[key], reference[key]) for key in state)


def capped_by_hand(x: Tensor, edge_index: Tensor) -> Tensor:
    result, seen = x.clone(), [0] * len(x)
    for j, i in edge_index.t().tolist():
        if seen[i] < CAP:
            result[i] += x[j]
        seen[i] += 1
    return result


@pytest.mark.parametrize("layer", [CappedSum()])
def test_the_cap_keeps_the_first_listed_edges(layer: Callable[[Tensor, Tensor], Tensor]) -> None:
    x, edge_index = torch.randn(40, 6, dtype=torch.float64), graph()
    torch.testing.assert_close(layer(x, edge_index), capped_by_hand(x, edge_index))


@pytest.mark.parametrize("name", CARDS)
def test_no_nodes_and_no_edges(name: str) -> None:
    none = torch.empty(2, 0, dtype=torch.int64)
    for nodes in (0, 1, 3):
        out = CARDS[name].build()(torch.randn(nodes, 6), none)
        assert out.shape == (1, 4)
        assert not out.isnan().any()
