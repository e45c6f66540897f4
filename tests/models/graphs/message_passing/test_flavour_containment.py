"""The three members give the same numbers, each by its own computation, while one learns and after."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GCNConv
from torch_geometric.utils import degree

from models.graphs.message_passing.flavour_containment import CARD, build
from tests.models.graphs.relabelling import declared, double, random_graph

MEMBERS = ("convolution", "attention", "message_passing")


def graph(seed: int = 0, edges: int = 40) -> tuple[Tensor, Tensor]:
    signals = random_graph(CARD, edges=edges, seed=seed)
    return signals["x"], signals["edge_index"]


def largest(a: Tensor, b: Tensor) -> float:
    return float((a - b).detach().abs().max())


@torch.no_grad()
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("coefficients", [0, 1])
def test_three_members_give_identical_numbers(coefficients: int, seed: int) -> None:
    x, index = graph(seed)
    network = double(CARD, {"coefficients": coefficients})
    one, two, three = (network.get_submodule(name)(x, index) for name in MEMBERS)
    assert largest(one, two) < 1e-12 and largest(two, three) < 1e-12 and largest(one, three) < 1e-12
    assert float(one.abs().max()) > 0.1
    assert len({one.data_ptr(), two.data_ptr(), three.data_ptr()}) == 3


@torch.no_grad()
def test_coefficients_and_messages_agree_on_every_edge() -> None:
    x, index = graph()
    found = declared(double(CARD), {"x": x, "edge_index": index})
    d = degree(index[1], len(x), dtype=torch.float64).clamp_min(1)
    expected = 1 / (d[index[0]] * d[index[1]]).sqrt()
    places = ("convolution.{}.coefficients", "attention.{}.coefficients", "message_passing.{}.messages.coefficients")
    for layer in ("layer1", "layer2"):
        for place in places:
            assert largest(found[place.format(layer)][1][:, 0], expected) < 1e-12
        sums = [found[f"{member}.{layer}.aggregated"][1] for member in MEMBERS]
        assert largest(sums[0], sums[1]) < 1e-12 and largest(sums[0], sums[2]) < 1e-12


@torch.no_grad()
def test_they_are_gcnconv() -> None:
    """On a graph without direction or self-loops, with the same weights."""
    signals = random_graph(CARD, undirected=True)
    index = signals["edge_index"]
    index = index[:, index[0] != index[1]]
    network = double(CARD)
    layer = network.get_submodule("convolution.layer1")
    conv = GCNConv(6, 16, add_self_loops=False, bias=False).double()
    conv.lin.weight.copy_(layer.psi.weight)
    layer.psi.bias.zero_()
    expected = conv(signals["x"], index) + layer.own(signals["x"])
    for member in MEMBERS:
        assert largest(network.get_submodule(f"{member}.layer1")(signals["x"], index), expected) < 1e-12


@torch.no_grad()
def test_each_computes_by_itself() -> None:
    """Spoiling one member's lookup changes that member alone, and one member's tap is not another's tensor."""
    x, index = graph()
    network = double(CARD)
    before = [network.get_submodule(name)(x, index) for name in MEMBERS]
    network.get_submodule("attention.layer1.logits").as_target.zero_()
    after = [network.get_submodule(name)(x, index) for name in MEMBERS]
    assert torch.equal(before[0], after[0]) and torch.equal(before[2], after[2])
    assert largest(before[1], after[1]) > 1e-2


def test_they_stay_equal_while_one_learns() -> None:
    x, index = graph()
    network = build().double()
    weights = network.get_submodule("convolution.layer1.psi").weight
    start = weights.detach().clone()
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    for _ in range(5):
        optimizer.zero_grad()
        network(x, index).square().sum().backward()
        optimizer.step()
    assert largest(weights, start) > 1e-2
    one, two, three = (network.get_submodule(name)(x, index).detach() for name in MEMBERS)
    assert largest(one, two) < 1e-12 and largest(one, three) < 1e-12


def test_weights_survive_a_file_and_single_precision() -> None:
    from safetensors.torch import load, save

    x, index = graph()
    network = build()
    data = save({name: tensor.half() for name, tensor in network.state_dict().items()})
    other = build()
    other.load_state_dict({name: tensor.float() for name, tensor in load(data).items()})
    y = other.double()(x, index)
    assert largest(y, network.double()(x, index)) < 1e-2
    one, three = (other.get_submodule(name)(x, index) for name in (MEMBERS[0], MEMBERS[2]))
    assert largest(one, three) < 1e-12
