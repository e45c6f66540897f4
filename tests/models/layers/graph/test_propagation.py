"""Sparse products against dense matrices and torch_geometric; what is kept, and when it is forgotten."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import forward_ad, gradcheck, gradgradcheck

from models.layers.graph.propagation import KINDS, Kept, operator, pattern, product, segment_softmax

HARD = torch.tensor([[0, 1, 1, 2, 2, 2, 4, 0, 0], [1, 0, 2, 1, 2, 1, 0, 3, 3]])  # loop, double edges, node 5 isolated
NODES = 6


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Tensor, int]:
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=40))
    return torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).t().contiguous(), nodes


def dense(edge_index: Tensor, nodes: int, weight: Tensor | None = None) -> Tensor:
    """Return the adjacency matrix, (to, from), of an edge list."""
    a = torch.zeros(nodes, nodes, dtype=torch.float64)
    for e, (j, i) in enumerate(edge_index.t().tolist()):
        a[i, j] += 1.0 if weight is None else weight[e]
    return a


def doubles(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def matrix(edge_index: Tensor, nodes: int, kind: str, weight: Tensor | None = None) -> Tensor:
    return operator(edge_index, nodes, kind, weight, torch.float64)(torch.eye(nodes, dtype=torch.float64))


@settings(max_examples=60, deadline=None)
@given(graphs(), st.booleans())
def test_every_kind_is_the_dense_matrix_of_its_formula(graph: tuple[Tensor, int], weighted: bool) -> None:
    edge_index, nodes = graph
    weight = torch.rand(edge_index.shape[1], dtype=torch.float64) + 0.1 if weighted else None
    a = dense(edge_index, nodes, weight)
    between = a - a.diag().diag()
    inverse = torch.nan_to_num(1 / a.sum(1), posinf=0.0)
    out = between.sum(0)
    root = torch.nan_to_num(out**-0.5, posinf=0.0)
    wanted = {
        "adjacency": a,
        "mean": inverse[:, None] * a,
        "laplacian": out.diag() - between,
        "normalised laplacian": torch.eye(nodes, dtype=torch.float64) - root[:, None] * between * root,
    }
    for kind, expected in wanted.items():
        torch.testing.assert_close(matrix(edge_index, nodes, kind, weight), expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.booleans())
def test_gcn_is_the_matrix_of_torch_geometric(graph: tuple[Tensor, int], weighted: bool) -> None:
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    edge_index, nodes = graph
    loops = edge_index[0] == edge_index[1]
    first = torch.tensor(
        [k for k in range(len(loops)) if not loops[k] or edge_index[0, k] not in edge_index[0, :k][loops[:k]]]
    )
    edge_index = edge_index[:, first.long()]  # of several self-loops of a node the peer keeps any one
    weight = torch.rand(edge_index.shape[1], dtype=torch.float64) + 0.1 if weighted else None
    theirs = dense(*_first(gcn_norm(edge_index, weight, nodes, dtype=torch.float64), nodes))
    torch.testing.assert_close(matrix(edge_index, nodes, "gcn", weight), theirs, rtol=1e-12, atol=1e-12)


def _first(normalised: tuple[Tensor, Tensor], nodes: int) -> tuple[Tensor, int, Tensor]:
    return normalised[0], nodes, normalised[1]


@pytest.mark.parametrize("kind", KINDS)
def test_coefficients_stand_at_the_listed_edges(kind: str) -> None:
    s = operator(HARD, NODES, kind, dtype=torch.float64)
    a = dense(HARD, NODES, s.edges[:, 0])
    if s.own is not None:
        a = a + s.own[:, 0].diag()
        assert (s.edges[HARD[0] == HARD[1]] == 0).all()
    torch.testing.assert_close(a, matrix(HARD, NODES, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_nodes_and_edges_does_not_matter(kind: str) -> None:
    weight = torch.rand(HARD.shape[1], dtype=torch.float64)
    order, shuffle = torch.randperm(NODES), torch.randperm(HARD.shape[1])  # node i becomes order[i]
    turned = matrix(order[HARD][:, shuffle], NODES, kind, weight[shuffle])
    torch.testing.assert_close(turned[order][:, order], matrix(HARD, NODES, kind, weight), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("heads", [1, 3])
def test_products_by_head_are_products_with_dense_matrices(heads: int) -> None:
    places = pattern(HARD, NODES)
    values, own, x = doubles(heads, HARD.shape[1]), doubles(heads, NODES), doubles(NODES, heads * 20)
    expected = [
        (dense(HARD, NODES, values[h]) + own[h].diag()) @ x[:, 20 * h : 20 * h + 20] for h in range(heads)
    ]  # 20 columns: more than one block
    torch.testing.assert_close(product(places, values, own, x), torch.cat(expected, 1))
    sorted_values = values[:, places.order]
    assert torch.equal(product(places, sorted_values, own, x, listed=False), product(places, values, own, x))


def test_derivatives_of_products() -> None:
    places = pattern(HARD, NODES)
    inputs = [doubles(2, HARD.shape[1]), doubles(2, NODES), doubles(NODES, 4)]
    inputs = [t.requires_grad_() for t in inputs]
    for listed in (True, False):

        def call(v: Tensor, o: Tensor, x: Tensor, listed: bool = listed) -> Tensor:
            return product(places, v, o, x, listed)

        assert gradcheck(call, inputs, check_forward_ad=True)
        assert gradgradcheck(call, inputs)
    assert gradcheck(lambda v, x: product(places, v, None, x), (inputs[0], inputs[2]), check_forward_ad=True)


def test_derivatives_of_the_softmax() -> None:
    places = pattern(HARD, NODES)
    logits, own = doubles(HARD.shape[1], 2).requires_grad_(), doubles(NODES, 2).requires_grad_()
    for call, inputs in (
        (lambda e, s: segment_softmax(places, e, s), (logits, own)),
        (lambda e: segment_softmax(places, e)[0], (logits,)),
    ):
        assert gradcheck(call, inputs, check_forward_ad=True)
        assert gradgradcheck(call, inputs)


def test_batches_of_vectors_under_vmap() -> None:
    places = pattern(HARD, NODES)
    values, own, x = doubles(5, 2, HARD.shape[1]), doubles(2, NODES), doubles(5, NODES, 6)
    found = torch.func.vmap(lambda v, x: product(places, v, own, x))(values, x)
    torch.testing.assert_close(found, torch.stack([product(places, v, own, y) for v, y in zip(values, x)]))
    x = x[0]
    through = torch.func.jacrev(lambda x: product(places, values[0], own, x))(x)  # a batch of backward passes
    torch.testing.assert_close(through, torch.func.jacfwd(lambda x: product(places, values[0], own, x))(x))
    torch.testing.assert_close(torch.einsum("ncmd,md->nc", through, x), product(places, values[0], own, x))
    logits = doubles(HARD.shape[1], 2, 5)
    shares = torch.func.vmap(lambda e: segment_softmax(places, e, own.t())[0], in_dims=2)(logits)
    one_by_one = [segment_softmax(places, logits[..., k], own.t())[0] for k in range(5)]
    torch.testing.assert_close(shares, torch.stack(one_by_one))


@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from([1.0, 1e3]))
def test_the_softmax_is_that_of_torch_geometric(graph: tuple[Tensor, int], size: float) -> None:
    from torch_geometric.utils import softmax

    edge_index, nodes = graph
    logits = size * doubles(edge_index.shape[1], 3)
    alone, _ = segment_softmax(pattern(edge_index, nodes), logits)
    torch.testing.assert_close(alone, softmax(logits, edge_index[1], num_nodes=nodes), rtol=1e-12, atol=1e-15)
    own = size * doubles(nodes, 3)
    between = edge_index[0] != edge_index[1]
    everything = torch.cat([logits[between], own])
    theirs = softmax(everything, torch.cat([edge_index[1][between], torch.arange(nodes)]), num_nodes=nodes)
    shares, selves = segment_softmax(pattern(edge_index, nodes), logits, own)
    assert selves is not None
    torch.testing.assert_close(torch.cat([shares[between], selves]), theirs, rtol=1e-12, atol=1e-15)
    assert (shares[~between] == 0).all()


@pytest.mark.parametrize("nodes", [0, 3])
def test_no_edges(nodes: int) -> None:
    none = torch.empty(2, 0, dtype=torch.int64)
    x = torch.randn(nodes, 5)
    assert torch.equal(operator(none, nodes)(x), x)  # only the self-loops that are added
    assert torch.equal(operator(none, nodes, "adjacency")(x), torch.zeros(nodes, 5))
    shares, own = segment_softmax(pattern(none, nodes), torch.empty(0, 2), torch.randn(nodes, 2))
    assert own is not None and shares.shape == (0, 2)
    assert torch.equal(own, torch.ones(nodes, 2))
    assert segment_softmax(pattern(none, nodes), torch.empty(0, 2))[0].shape == (0, 2)


def test_of_several_self_loops_the_heaviest_counts() -> None:
    edge_index = torch.tensor([[0, 0, 1], [0, 0, 0]])
    for weight in ([0.5, 3.0, 1.0], [3.0, 0.5, 1.0]):
        s = operator(edge_index, 2, weight=torch.tensor(weight))
        assert s.own is not None
        torch.testing.assert_close(s.own[:, 0], torch.tensor([3 / 4, 1.0]))  # degrees 3 + 1 and 1


def test_the_gradient_reaches_weights() -> None:
    weight = (torch.rand(HARD.shape[1], dtype=torch.float64) + 0.5).requires_grad_()
    x = doubles(NODES, 2)
    for kind in KINDS:
        assert gradcheck(lambda w, kind=kind: operator(HARD, NODES, kind, w, torch.float64)(x), (weight,))
        made, again = (operator(HARD, NODES, kind, weight, torch.float64) for _ in range(2))
        assert made is not again, "what holds a graph of gradients is not kept"


def test_operators_are_kept_and_made_anew_when_written_to() -> None:
    edge_index, weight = HARD.clone(), torch.ones(HARD.shape[1])
    first = operator(edge_index, NODES, weight=weight)
    assert operator(edge_index, NODES, weight=weight) is first
    assert operator(edge_index, NODES, weight=weight, dtype=torch.float64) is not first
    weight[0] = 5.0
    second = operator(edge_index, NODES, weight=weight)
    assert second is not first and second.pattern is first.pattern
    edge_index[0, 0] = 3
    assert operator(edge_index, NODES, weight=weight).pattern is not first.pattern


def test_what_is_kept_dies_with_the_edges() -> None:
    edge_index = HARD.clone()
    seen = weakref.ref(operator(edge_index, NODES))
    assert seen() is not None
    gc.disable()  # not by luck: nothing refers to itself
    try:
        operator(edge_index, NODES).pattern.transposed  # noqa: B018
        del edge_index
        assert seen() is None
    finally:
        gc.enable()


def test_only_so_many_are_kept() -> None:
    kept = Kept(2)
    tensors = [torch.zeros(1) for _ in range(3)]
    made = [kept.get((t,), "", object) for t in tensors]
    assert len(kept) == 2
    assert kept.get((tensors[2],), "", object) is made[2]
    assert kept.get((tensors[0],), "", object) is not made[0]
    tensors.clear()
    assert not len(kept), "an entry goes with its tensor"


def test_what_inference_mode_made_is_good_for_gradients() -> None:
    with torch.inference_mode():
        edge_index = HARD.clone()
        before = operator(edge_index, NODES)(torch.ones(NODES, 2))
        assert operator(edge_index, NODES) is operator(edge_index, NODES)
    x = torch.ones(NODES, 2, requires_grad=True)
    after = operator(edge_index, NODES)(x)
    after.sum().backward()
    torch.testing.assert_close(after.detach(), before.clone())
    torch.testing.assert_close(x.grad, matrix(HARD, NODES, "gcn").sum(0)[:, None].expand(-1, 2).float())
    with torch.inference_mode():  # there is no version to go by, and the change is noticed all the same
        stale = operator(edge_index, NODES)
        edge_index[0, 0] = 3
        assert operator(edge_index, NODES) is not stale


def test_forward_derivatives_pass() -> None:
    x, t = doubles(NODES, 3), doubles(NODES, 3)
    s = operator(HARD, NODES, dtype=torch.float64)
    with forward_ad.dual_level():
        moved = forward_ad.unpack_dual(s(forward_ad.make_dual(x, t))).tangent
    torch.testing.assert_close(moved, s(t))


@pytest.mark.parametrize(
    ("edge_index", "message"),
    [
        (torch.zeros(3, 4, dtype=torch.int64), "must be"),
        (torch.zeros(2, 4), "must be"),
        (torch.tensor([[0], [6]]), "node 6, but there are 6"),
        (torch.tensor([[-1], [0]]), "node -1"),
    ],
)
def test_bad_edges_are_refused(edge_index: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pattern(edge_index, NODES)


def test_bad_weights_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="5 weights for 9 edges"):
        operator(HARD, NODES, weight=torch.ones(5))
    with pytest.raises(ValueError, match="there are adjacency"):
        operator(HARD, NODES, "square")
