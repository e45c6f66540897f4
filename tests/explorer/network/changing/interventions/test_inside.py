"""Changes of attention and messages that no module returns: closed forms, in every way attention is written."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import equiscope
from explorer.declare.inputs import Inputs
from explorer.declare.states.interventions import parse_intervention
from explorer.declare.types.field_text import parse_field
from explorer.network.changing.interventions.changes import change_of
from explorer.network.changing.interventions.hooks import Hooks
from explorer.network.tracing.capture import capture, feed
from explorer.network.tracing.layers import LayerError, Trace
from explorer.network.tracing.trace import trace

HEADS, WIDTH, STEPS = 4, 8, 5
Matrices = Callable[[Tensor], Tensor]


class Block(nn.Module):
    """Attention of four heads, written in one way or another, whose matrices `with_matrix` takes instead."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.heads = HEADS
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def parts(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple(p.unflatten(-1, (HEADS, -1)).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))

    def matrix(self, x: Tensor) -> Tensor:
        q, k, _ = self.parts(x)
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        if self.way == "causal":
            scores = scores.masked_fill(torch.ones(STEPS, STEPS).triu(1).bool(), -torch.inf)
        return scores.softmax(-1)

    def with_matrix(self, weights: Tensor, x: Tensor) -> Tensor:
        return self.out((weights @ self.parts(x)[2]).transpose(1, 2).flatten(2))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.parts(x)
        if self.way in ("fused", "causal"):
            found = F.scaled_dot_product_attention(q, k, v, is_causal=self.way == "causal")
            return self.out(found.transpose(1, 2).flatten(2))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5, -1)
        if self.way == "folded":  # heads among the batch, as torch.bmm wants them
            found = torch.bmm(weights.flatten(0, 1), v.flatten(0, 1)).unflatten(0, (len(x), HEADS))
        elif self.way == "summed":
            found = torch.einsum("bhts,bhsd->bhtd", weights, v)
        elif self.way == "turned":
            found = (v.transpose(-1, -2) @ weights.transpose(-1, -2)).transpose(-1, -2)
        else:
            found = weights @ v
        return self.out(found.transpose(1, 2).flatten(2))


class Net(nn.Module):
    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.first, self.block, self.last = nn.Linear(3, WIDTH), block, nn.Linear(WIDTH, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.block(self.first(x)))


class Torchs(nn.Module):
    """nn.MultiheadAttention, and the same by hand."""

    def __init__(self, more: bool) -> None:
        super().__init__()
        self.mha = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, add_bias_kv=more, add_zero_attn=more)

    def forward(self, x: Tensor) -> Tensor:
        return self.mha(x, x, x, need_weights=False)[0]

    def matrix(self, x: Tensor) -> Tensor:
        return self.mha(x, x, x, average_attn_weights=False)[1]

    def with_matrix(self, weights: Tensor, x: Tensor) -> Tensor:
        v = F.linear(x, self.mha.in_proj_weight.chunk(3)[2], self.mha.in_proj_bias.chunk(3)[2])
        if self.mha.bias_v is not None:
            v = torch.cat([v, self.mha.bias_v.expand(len(x), 1, -1), torch.zeros_like(v[:, :1])], 1)
        v = v.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        return self.mha.out_proj((weights @ v).transpose(1, 2).flatten(2))


def steps() -> Inputs:
    torch.manual_seed(1)
    return Inputs((torch.randn(1, STEPS, 3, dtype=torch.float64),), (parse_field("step scalar on axis 1"),))


def traced(model: nn.Module, inputs: Inputs) -> Trace:
    return trace(model.eval(), inputs)


def hooked(model: nn.Module, t: Trace, text: str, kept: Mapping[str, Tensor] | None = None) -> Hooks:
    one = parse_intervention(text)
    values = (lambda: kept.get(one.layer)) if kept is not None else None
    return Hooks(model, [(t[one.layer], change_of(one, model, t[one.layer], values))])


def hooks_on(model: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def made(way: str) -> Any:
    torch.manual_seed(0)
    return Net(Torchs(way == "torch's, longer") if way.startswith("torch's") else Block(way)).double().eval()


WAYS = ("by hand", "folded", "summed", "fused", "causal", "torch's", "torch's, longer")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("factor", [0.0, -1.5])
def test_a_head_is_zeroed_or_scaled_in_its_matrix(way: str, factor: float) -> None:
    model, x = made(way), steps()
    t, whole = traced(model, x), model(x.x)
    name = "block.mha.attention" if way.startswith("torch's") else "block.attention"
    seen = model.first(x.x)
    weights = model.block.matrix(seen)
    hooks = hooked(model, t, f"{name}[head 2]:" + (f"scale={factor}" if factor else "zero"))
    other = weights.clone()
    other[:, 2] *= factor
    wanted = model.last(model.block.with_matrix(other, seen))
    assert (wanted - whole).abs().max() > 1e-3
    torch.testing.assert_close(model(x.x), wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(copy.deepcopy(model)(x.x), wanted, rtol=0, atol=1e-12)  # its copies have it too
    values, fed = capture(model, x, [name, "output"], inputs=True)  # and what is looked at is what stands there
    torch.testing.assert_close(values[name], other, rtol=0, atol=1e-12)
    torch.testing.assert_close(values["output"], wanted, rtol=0, atol=1e-12)
    if name in fed:
        torch.testing.assert_close(feed(model, t, name, fed[name], fed[name]), other, rtol=0, atol=1e-12)
    torch.testing.assert_close(model.block(seen), model.block.with_matrix(other, seen), rtol=0, atol=1e-12)  # alone
    hooks.remove()
    torch.testing.assert_close(model(x.x), whole, rtol=0, atol=1e-14)
    assert hooks_on(model) == 0


@pytest.mark.parametrize("way", WAYS)
def test_frozen_attention_is_that_of_the_other_run(way: str) -> None:
    model, x = made(way), steps()
    name = "block.mha.attention" if way.startswith("torch's") else "block.attention"
    t = traced(model, x)
    kept = capture(model, x, [name])[0]
    hooks = hooked(model, t, f"{name}:freeze", kept)
    other = x.x.flip(1) + 1
    seen = model.first(other)
    wanted = model.last(model.block.with_matrix(kept[name], seen))
    torch.testing.assert_close(model(other), wanted, rtol=0, atol=1e-12)
    hooks.remove()
    assert (model(other) - wanted).abs().max() > 1e-4


def test_gradients_go_through_what_stands_in_the_place() -> None:
    model, x = made("by hand"), steps()
    t = traced(model, x)
    hooks = hooked(model, t, "block.attention[head 1]:scale=0.5")

    def by_hand(given: Tensor) -> Tensor:
        seen = model.first(given)
        factors = torch.ones(HEADS, 1, 1, dtype=torch.float64)
        factors[1] = 0.5
        return model.last(model.block.with_matrix(model.block.matrix(seen) * factors, seen))

    found = torch.autograd.functional.jacobian(model, x.x)
    torch.testing.assert_close(found, torch.autograd.functional.jacobian(by_hand, x.x), rtol=0, atol=1e-12)
    hooks.remove()


def test_a_matrix_that_is_turned_round_first_is_refused_in_a_sentence() -> None:
    model, x = made("turned"), steps()
    hooks = hooked(model, traced(model, x), "block.attention[head 1]:zero")
    with pytest.raises(LayerError, match=r"turned round before it is used.*; change block$"):
        model(x.x)
    hooks.remove()
    model(x.x)


def test_the_second_of_two_calls_is_changed_alone() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.block = nn.Linear(3, WIDTH), Block("fused")

        def forward(self, x: Tensor) -> Tensor:
            return self.block(self.block(self.first(x)))

    torch.manual_seed(0)
    model, x = Twice().double().eval(), steps()
    t, seen = traced(model, x), model.block(model.first(x.x))
    hooks = hooked(model, t, "block.attention#2:zero")
    weights = torch.zeros_like(model.block.matrix(seen))
    torch.testing.assert_close(model(x.x), model.block.with_matrix(weights, seen), rtol=0, atol=1e-12)
    fed = capture(model, x, ["block#2"], inputs=True)[1]["block#2"]
    torch.testing.assert_close(feed(model, t, "block#2", fed, fed), model(x.x), rtol=0, atol=1e-12)
    hooks.remove()


@pytest.mark.parametrize("kind", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_a_head_on_edges_is_zeroed_where_torch_geometric_keeps_it(kind: str) -> None:
    nn_of = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.heads = getattr(nn_of, kind)(3, 2, heads=HEADS), HEADS

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index)

    model = Graph().double().eval()
    x = torch.randn(4, 3, dtype=torch.float64)
    edges = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    inputs = equiscope.graph(x, edges)
    t, whole = traced(model, inputs), model(*inputs.values)
    names = [name for name in ("conv.attention", "conv.attention_of_loops") if name in t.by_name]
    changes = [(t[n], change_of(parse_intervention(f"{n}[head 1]:zero"), model, t[n])) for n in names]
    hooks = Hooks(model, changes)
    found = model(*inputs.values).unflatten(-1, (HEADS, -1))
    hooks.remove()
    own = model.conv.lin_skip(x) if kind == "TransformerConv" else model.conv.bias.expand(4, -1)
    wanted = whole.unflatten(-1, (HEADS, -1)).clone()
    wanted[:, 1] = own.unflatten(-1, (HEADS, -1))[:, 1]  # nothing is heard there any more
    assert (wanted - whole.unflatten(-1, (HEADS, -1))).abs().max() > 1e-3
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
    torch.testing.assert_close(model(*inputs.values), whole, rtol=0, atol=1e-14)


def test_messages_are_changed_at_their_edges() -> None:
    nn_of = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    model = nn_of.SAGEConv(3, 2, aggr="sum").double().eval()
    x = torch.randn(3, 3, dtype=torch.float64)
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])

    class Graph(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = model

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x, edge_index)

    graph = Graph()
    t = traced(graph, equiscope.graph(x, edges))
    whole = graph(x, edges)
    hooks = hooked(graph, t, "conv.message[edge 1]:zero")
    change = graph(x, edges) - whole
    assert change[2].abs().max() > 1e-3 and not change[:2].any()
    hooks.remove()
