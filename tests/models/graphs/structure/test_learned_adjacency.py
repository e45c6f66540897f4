"""Row S3, learned adjacency: the formulas of relational inference, written once more with loops over the pairs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.types.fields import PAIR
from models.graphs.structure.learned_adjacency import PairMLP, RelationalInference, build
from tests.models.graphs.relabelling import Shuffle, declared, law_errors

N = 9
BATCH = torch.tensor([0] * 5 + [1] * 4)


def points() -> Tensor:
    return torch.randn(N, 3, dtype=torch.float64)


def on_pair(f: PairMLP, sender: Tensor, receiver: Tensor) -> Tensor:
    """Apply f to one pair as a perceptron of [sender, receiver], the way the paper writes it."""
    first = torch.cat([f.sender.weight, f.receiver.weight], dim=1)
    hidden = F.elu(first @ torch.cat([sender, receiver]) + f.receiver.bias)
    return f.mix.weight @ hidden + f.mix.bias


def by_loops(net: RelationalInference, x: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
    """Return q(z | x), (K, N, N), and the next x, from eq. (5)-(8) and (10)-(11)."""
    pairs = [(i, j) for i in range(len(x)) for j in range(len(x)) if i != j and batch[i] == batch[j]]  # i to j
    others = [sum(1 for pair in pairs if pair[1] == j) for j in range(len(x))]
    h = [net.embed(row) for row in x]
    incoming = [torch.zeros(16, dtype=x.dtype) for _ in x]
    for i, j in pairs:
        incoming[j] = incoming[j] + on_pair(net.pairs1, h[i], h[j]) / others[j]
    h = [net.nodes(row) for row in incoming]
    types = len(net.kinds) + 1
    q = torch.zeros(types, len(x), len(x), dtype=x.dtype)
    received = [torch.zeros(16, dtype=x.dtype) for _ in x]
    for i, j in pairs:
        q[:, j, i] = on_pair(net.logits, h[i], h[j]).softmax(0)
        for k, kind in enumerate(net.kinds, start=1):
            assert isinstance(kind, PairMLP)
            received[j] = received[j] + q[k, j, i] * on_pair(kind, x[i], x[j]) / others[j]
    return q, torch.stack([row + net.change(torch.cat([row, m])) for row, m in zip(x, received)])


@pytest.mark.parametrize("types", [2, 3])
@torch.no_grad()
def test_the_formulas(types: int) -> None:
    net, x = build(types).double().eval(), points()
    assert isinstance(net, RelationalInference)
    seen = declared(net, (x, BATCH))
    q, following = by_loops(net, x, BATCH)
    torch.testing.assert_close(seen["edge_types"][1], q, rtol=0, atol=1e-12)
    torch.testing.assert_close(seen["inferred"][1][0], q[1:].sum(0), rtol=0, atol=1e-12)
    torch.testing.assert_close(net(x, BATCH), following, rtol=0, atol=1e-12)


def test_probabilities() -> None:
    q = declared(build(3).double().eval(), (points(), BATCH))["edge_types"]
    assert q[0] == PAIR
    allowed = (BATCH[:, None] == BATCH[None]) & ~torch.eye(N, dtype=torch.bool)
    torch.testing.assert_close(q[1].sum(0), allowed.double(), rtol=0, atol=1e-12)
    hard = declared(build(3, 1).double().eval(), (points(), BATCH))["inferred"][1]
    assert set(hard.unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("decision", [0, 1])
def test_every_layer_obeys_the_law(decision: int) -> None:
    errors = law_errors(build(3, decision).double().eval(), (points(), BATCH), Shuffle.drawn(N, 0))
    assert {"pairs1", "incoming", "logits", "edge_types", "inferred", "messages", "next"} <= errors.keys()
    assert max(errors.values()) < 1e-9, errors


def test_only_later_nodes_breaks_the_law() -> None:
    class Earlier(nn.Module):
        out_field = PAIR

        def forward(self, logits: Tensor, batch: Tensor) -> Tensor:
            return logits.softmax(0).tril(-1)

    net = build(2).double().eval()
    net.edge_types = Earlier()
    errors = law_errors(net, (points(), BATCH), Shuffle.drawn(N, 0))
    assert errors["logits"] < 1e-9 and errors["edge_types"] > 1e-2 and errors["next"] > 1e-4


def test_training_draws_and_judging_does_not() -> None:
    net, x = build(2).double(), points()
    torch.manual_seed(0)
    assert not torch.equal(net.train()(x, BATCH), net(x, BATCH))
    assert torch.equal(net.eval()(x, BATCH), net(x, BATCH))
    net.train()(x, BATCH).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())
    for n in (0, 1):
        assert net.eval()(x[:n], BATCH[:n]).isfinite().all()
