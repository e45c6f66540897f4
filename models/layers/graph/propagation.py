"""Sparse propagation: products with A, D^-1 A, D^-1/2 (A + I) D^-1/2 and Laplacians, and a softmax per target.

Row 0 of an edge index is the source j, row 1 the target i; an edge that is listed twice counts twice. The product

    y_i = own_i x_i + sum over the listed edges j -> i of c_ji x_j

is a sparse matrix times the features. Sorted by target once, a list of edges is a matrix, and the product an order of
magnitude faster than gathering and scattering along the list. So the sorted `Pattern` of an edge index, and every
`Operator` that is made of it, are kept for as long as that very tensor lives and is not written to.

Kipf, Welling, "Semi-Supervised Classification with Graph Convolutional Networks", 2017, eq. (2), for "gcn".
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from models.layers.derivatives import differentiated

KINDS = ("adjacency", "mean", "gcn", "laplacian", "normalised laplacian")
FEW = 2**14  # edges that torch sorts in 1 ms; scipy is imported for more, which takes 0.2 s
CACHE_LINE = 64  # bytes: as many columns at a time are gathered at once, and their table stays in the cache
T = TypeVar("T")

with warnings.catch_warnings():  # torch says once that this layout may still change
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.zeros(1, dtype=torch.int64), [], [], (0, 0), check_invariants=False)


@contextmanager
def ordinary() -> Iterator[None]:
    """Make what is kept outside of inference mode, so that a later pass may differentiate through it."""
    with torch.inference_mode(False), torch.no_grad():
        yield


class Kept:
    """Results made of tensors, by identity and version; forgotten when one dies, or as the longest unused of many.

    A tensor that was made in inference mode has no version: it is compared with a copy.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: OrderedDict[Hashable, tuple[Any, ...]] = OrderedDict()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, tensors: tuple[Tensor, ...], key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make()` returned the last time, or now."""
        name = (*((id(t), 0 if t.is_inference() else t._version) for t in tensors), key)
        with self._lock:
            entry = self._entries.get(name)
            if entry is not None:
                refs, copies, value = entry
                same = all(ref() is t for ref, t in zip(refs, tensors, strict=True))
                if same and all(copy is None or torch.equal(copy, t) for copy, t in zip(copies, tensors, strict=True)):
                    self._entries.move_to_end(name)
                    kept: T = value
                    return kept
            with ordinary():
                made = make()
                copies = tuple(t.clone() if t.is_inference() else None for t in tensors)
            refs = tuple(weakref.ref(t, lambda _: self._entries.pop(name, None)) for t in tensors)
            self._entries[name] = refs, copies, made
            while len(self._entries) > self.most:
                self._entries.popitem(last=False)
            return made


@dataclass(frozen=True, eq=False)
class Pattern:
    """The places of the entries in a matrix of a graph: the listed edges, sorted by target.

    Attributes:
        source, target: (E,) int64, as listed.
        order: (E,) int64; the k-th entry of the matrix is the listed edge order[k].
        starts: (N + 1,) int64; the entries of row i are starts[i] .. starts[i + 1] - 1.
        loops: (E,) bool, the listed edges from a node to itself; None when there are none.
    """

    nodes: int
    source: Tensor
    target: Tensor
    order: Tensor
    starts: Tensor
    loops: Tensor | None

    @property
    def edges(self) -> int:
        return len(self.source)

    @cached_property
    def compressed(self) -> tuple[Tensor, Tensor]:
        """Return row starts and columns, in 32 bits where they suffice: what the libraries below compute with."""
        with ordinary():
            narrow = torch.int32 if max(self.edges, self.nodes) < 2**31 else torch.int64
            return self.starts.to(narrow, copy=True), self.columns.to(narrow, copy=True)

    @cached_property
    def rows(self) -> Tensor:
        """Return the target of each entry, (E,), ascending."""
        with ordinary():
            return self.target[self.order]

    @cached_property
    def columns(self) -> Tensor:
        """Return the source of each entry, (E,)."""
        with ordinary():
            return self.source[self.order]

    @cached_property
    def inverse(self) -> Tensor:
        """Return the entry of each listed edge, (E,)."""
        with ordinary():
            places = torch.arange(self.edges, device=self.order.device)
            return torch.empty_like(self.order).scatter_(0, self.order, places)

    @cached_property
    def transposed(self) -> Pattern:
        """Return the pattern of the edges turned round."""
        with ordinary():
            return _sorted(self.target, self.source, self.nodes)


@dataclass(frozen=True, eq=False)
class Operator:
    """A matrix over the nodes: `edges` (E, 1) at the listed edges and `own` (N, 1) on the diagonal.

    A listed self-loop of a kind that has a diagonal of its own is part of `own`, and 0 in `edges`.
    """

    pattern: Pattern
    edges: Tensor
    own: Tensor | None
    values: Tensor  # (1, E): `edges` in the order of the pattern's entries

    def __call__(self, x: Tensor) -> Tensor:
        """Return the matrix times x, (N, C)."""
        return product(self.pattern, self.values, None if self.own is None else self.own.t(), x, listed=False)


_patterns = Kept(8)
_operators = Kept(16)


def pattern(edge_index: Tensor, nodes: int) -> Pattern:
    """Return the pattern of (2, E) edges, made at the first call.

    Raises:
        ValueError: edge_index is no (2, E) tensor of integers, or joins nodes that are not there.
    """
    return _patterns.get((edge_index,), nodes, lambda: _checked(edge_index, nodes))


def operator(
    edge_index: Tensor,
    nodes: int,
    kind: str = "gcn",
    weight: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
) -> Operator:
    """Return the matrix of a graph, made at the first call.

    Args:
        kind: "adjacency" A; "mean" D^-1 A; "gcn" D^-1/2 (A + I) D^-1/2, where listed self-loops stand in for I;
            "laplacian" D - A and "normalised laplacian" I - D^-1/2 A D^-1/2, which ignore self-loops.
            D adds up the edges into a node, and for Laplacians (as torch_geometric does) those out of it.
        weight: (E,) or (E, 1), ones if missing. Where it requires a gradient nothing is kept, and the gradient flows.

    Raises:
        ValueError: an unknown kind, weights that do not fit the edges, or what `pattern` raises.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no operator {kind!r}; there are {', '.join(KINDS)}")
    if weight is not None and weight.numel() != edge_index.shape[-1]:
        raise ValueError(f"there are {weight.numel()} weights for {edge_index.shape[-1]} edges")
    places = pattern(edge_index, nodes)

    def make() -> Operator:
        w = edge_index.new_ones(places.edges, dtype=dtype) if weight is None else weight.reshape(-1).to(dtype)
        edges, own = _coefficients(places, kind, w)
        values = edges.index_select(0, places.order)[None]
        return Operator(places, edges[:, None], None if own is None else own[:, None], values)

    if weight is not None and weight.requires_grad and torch.is_grad_enabled():
        return make()
    tensors = (edge_index,) if weight is None else (edge_index, weight)
    return _operators.get(tensors, (nodes, kind, dtype), make)


def product(places: Pattern, values: Tensor, own: Tensor | None, x: Tensor, listed: bool = True) -> Tensor:
    """Return y_i = own_i x_i + sum over the edges j -> i of value x_j, head by head.

    Args:
        values: (H, E), as the edges are listed; in the order of the pattern's entries if `listed` is False.
        own: (H, N), or None for zeros.
        x: (N, H * C); head h takes the columns h C .. (h + 1) C - 1.
    Shapes: -> (N, H * C). Differentiable any number of times, forwards too, with respect to values, own and x.
    """
    given = (values, x) if own is None else (values, own, x)
    if not torch._C._are_functorch_transforms_active() and not differentiated(*given):
        return _Product.forward(places, values, own, x, listed)  # the way through autograd takes as long as a small one
    result: Tensor = _Product.apply(places, values, own, x, listed)  # type: ignore[no-untyped-call]
    return result


def segment_softmax(places: Pattern, logits: Tensor, own: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """Return logits made positive, with the sum one over all edges into the same node.

    Args:
        logits: (E, H), in the order in which the edges are listed.
        own: (N, H), a further edge from every node to itself. Listed self-loops then give way to it: they get 0.
    Shapes: -> (E, H) as listed, and (N, H) if `own` was given. Differentiable as `product` is.
    """
    heads = logits.t()  # (H, E): a head's values lie side by side
    if own is None:
        shares, _ = _Softmax.apply(places, heads, None)  # type: ignore[no-untyped-call]
        return shares.t(), None
    shares, alone = _Softmax.apply(places, heads, own.t())  # type: ignore[no-untyped-call]
    return shares.t(), alone.t()


def _checked(edge_index: Tensor, nodes: int) -> Pattern:
    if edge_index.ndim != 2 or len(edge_index) != 2 or edge_index.is_floating_point():
        raise ValueError(f"edge_index must be (2, edges) integers, not {tuple(edge_index.shape)} {edge_index.dtype}")
    source, target = edge_index.to(torch.int64, copy=True).contiguous()
    if edge_index.numel():
        low, high = edge_index.aminmax()
        if low < 0 or high >= nodes:
            raise ValueError(f"an edge joins node {int(low if low < 0 else high)}, but there are {nodes} (from 0)")
    return _sorted(source, target, nodes)


def _sorted(source: Tensor, target: Tensor, nodes: int) -> Pattern:
    loops = source == target
    if target.device.type == "cpu" and len(target) > FEW:
        from scipy import sparse

        # a counting sort: several times as fast as a general one
        shape = (nodes, len(target))
        ones = np.ones(shape[1], np.int8)
        incidence = sparse.coo_array((ones, (target.numpy(), np.arange(shape[1]))), shape=shape).tocsr()
        order, starts = (torch.from_numpy(a.astype(np.int64)) for a in (incidence.indices, incidence.indptr))
    else:
        order = torch.argsort(target, stable=True)
        starts = torch.zeros(nodes + 1, dtype=torch.int64, device=target.device)
        starts[1:] = torch.bincount(target, minlength=nodes).cumsum(0)
    return Pattern(nodes, source, target, order, starts, loops if bool(loops.any()) else None)


def _coefficients(places: Pattern, kind: str, w: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return what stands at the listed edges, (E,), and on the diagonal, (N,)."""
    source, target, loops = places.source, places.target, places.loops
    zeros = w.new_zeros(places.nodes)
    match kind:
        case "adjacency":
            return w, None
        case "mean":
            return w * _power(zeros.index_add(0, target, w), -1.0)[target], None
    between = w if loops is None else w.masked_fill(loops, 0.0)
    if kind == "gcn":
        own = torch.ones_like(zeros)
        if loops is not None:
            # one self-loop a node: of several the heaviest, which does not depend on the order they are listed in
            own = own.scatter_reduce(0, target[loops], w[loops], "amax", include_self=False)
        root = _power(own.index_add(0, target, between), -0.5)
        return root[source] * between * root[target], root * own * root
    degree = zeros.index_add(0, source, between)
    if kind == "laplacian":
        return -between, degree
    root = _power(degree, -0.5)
    return -(root[source] * between * root[target]), torch.ones_like(zeros)


def _power(degree: Tensor, exponent: float) -> Tensor:
    """Return degree ** exponent, 0 for a degree of 0."""
    found = degree.pow(exponent)
    return found.masked_fill(found == torch.inf, 0.0)


class _Product(torch.autograd.Function):
    """`product`, with derivatives that are products again."""

    @staticmethod
    def forward(places: Pattern, values: Tensor, own: Tensor | None, x: Tensor, listed: bool) -> Tensor:
        heads, nodes = len(values), places.nodes
        split = x.reshape(nodes, heads, x.shape[1] // heads)
        if own is None:
            result = torch.empty_like(split) if places.edges else torch.zeros_like(split)
        else:
            result = split * own.t()[:, :, None]
        if not places.edges or not result.numel():
            return result.flatten(1)
        starts, columns = places.compressed
        width = split.shape[2]
        block = max(1, CACHE_LINE // x.element_size()) if x.device.type == "cpu" else width
        keep = 0.0 if own is None else 1.0
        # the columns at work lie side by side in one small table, which the cache holds
        table = x.new_empty(nodes * min(block, width))
        for h in range(heads):  # one after the other: what a head needs fits into the cache
            entries = values[h].index_select(0, places.order) if listed else values[h].contiguous()
            matrix = torch.sparse_csr_tensor(starts, columns, entries, (nodes, nodes), check_invariants=False)
            for k in range(0, width, block):
                out = result[:, h, k : k + block]
                part = table[: out.numel()].view(out.shape).copy_(split[:, h, k : k + block])
                torch.addmm(out, matrix, part, beta=keep, out=out)
        return result.flatten(1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.places, values, own, x, ctx.listed = inputs
        ctx.save_for_backward(values, own, x)
        ctx.save_for_forward(values, own, x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        places: Pattern = ctx.places
        values, own, x = ctx.saved_tensors
        _, to_values, to_own, to_x, _ = ctx.needs_input_grad
        by_head = (places.nodes, len(values), x.shape[1] // len(values))
        g, split = grad.reshape(by_head), x.reshape(by_head)
        target, source = (places.target, places.source) if ctx.listed else (places.rows, places.columns)
        as_listed = values if ctx.listed else values[:, places.inverse]
        return (
            None,
            g.index_select(0, target).mul(split.index_select(0, source)).sum(-1).t() if to_values else None,
            (g * split).sum(-1).t() if to_own else None,
            product(places.transposed, as_listed, own, grad) if to_x else None,
            None,
        )

    @staticmethod
    def jvp(ctx: Any, _: None, values_t: Tensor | None, own_t: Tensor | None, x_t: Tensor | None, __: None) -> Tensor:
        values, own, x = ctx.saved_tensors
        found = torch.zeros_like(x) if x_t is None else product(ctx.places, values, own, x_t, ctx.listed)
        if values_t is not None or own_t is not None:
            values_t = torch.zeros_like(values) if values_t is None else values_t
            found = found + product(ctx.places, values_t, own_t, x, ctx.listed)
        return found

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], places: Pattern, values: Tensor, own: Tensor | None, x: Tensor,
        listed: bool,
    ) -> tuple[Tensor, int]:  # fmt: skip
        """Take a batch of everything as further heads."""
        batch, heads = info.batch_size, len(values) if in_dims[1] is None else values.select(in_dims[1], 0).shape[0]
        values, own = (_leading(t, dim, batch) for t, dim in zip((values, own), in_dims[1:3]))
        split = (x.expand(batch, *x.shape) if in_dims[3] is None else x.movedim(in_dims[3], 0)).unflatten(
            -1, (heads, -1)
        )
        wide = product(places, values, own, split.movedim(0, 1).flatten(1), listed)
        return wide.unflatten(1, (batch, -1)).movedim(1, 0), 0


class _Softmax(torch.autograd.Function):
    """`segment_softmax` of (H, E) and (H, N) or None; the derivative, a (t - sum of a t), is symmetric."""

    @staticmethod
    def forward(places: Pattern, logits: Tensor, own: Tensor | None) -> tuple[Tensor, Tensor]:
        shares = torch.empty_like(logits, memory_format=torch.contiguous_format)
        alone = logits.new_zeros(len(logits), places.nodes) if own is None else own.clone()
        for h in range(len(logits)):  # one after the other: what a head needs fits into the cache
            entries = logits[h].index_select(0, places.order)
            if own is not None and places.loops is not None:
                entries.index_fill_(0, places.inverse[places.loops], -torch.inf)
            top = _segment_reduce(places, entries, "max")
            if own is not None:
                top = torch.maximum(top, own[h])
            top.masked_fill_(top.isinf(), 0.0)
            entries.sub_(top.index_select(0, places.rows)).exp_()
            total = _segment_reduce(places, entries, "sum")
            if own is not None:
                alone[h].sub_(top).exp_()
                total += alone[h]
                alone[h].div_(total)
            entries.div_(total.index_select(0, places.rows))
            torch.index_select(entries, 0, places.inverse, out=shares[h])
        return shares, alone

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        ctx.places, _, own = inputs
        ctx.alone = own is not None
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)

    @staticmethod
    def _derivative(ctx: Any, shares_t: Tensor | None, alone_t: Tensor | None) -> tuple[Tensor, Tensor]:
        places: Pattern = ctx.places
        shares, alone = ctx.saved_tensors
        weighted = torch.zeros_like(shares) if shares_t is None else shares * shares_t
        beside = torch.zeros_like(alone) if alone_t is None else alone * alone_t
        mean = product(places, weighted, beside, torch.ones_like(alone).t()).t()
        return weighted - shares * mean[:, places.target], beside - alone * mean

    @staticmethod
    def backward(ctx: Any, shares_g: Tensor, alone_g: Tensor) -> tuple[Tensor | None, ...]:
        to_logits, to_own = _Softmax._derivative(ctx, shares_g, alone_g if ctx.alone else None)
        return None, to_logits, to_own if ctx.alone else None

    @staticmethod
    def jvp(ctx: Any, _: None, logits_t: Tensor | None, own_t: Tensor | None) -> tuple[Tensor, Tensor]:
        return _Softmax._derivative(ctx, logits_t, own_t)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], places: Pattern, logits: Tensor, own: Tensor | None
    ) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        batch = info.batch_size
        logits, own = (_leading(t, dim, batch) for t, dim in zip((logits, own), in_dims[1:]))
        shares, alone = _Softmax.apply(places, logits, own)  # type: ignore[no-untyped-call]
        return (shares.unflatten(0, (batch, -1)), alone.unflatten(0, (batch, -1))), (0, 0)


def _leading(heads: Tensor | None, dim: int | None, batch: int) -> Any:
    """Return (H, n), or a batch of such along `dim`, as (batch * H, n)."""
    if heads is None:
        return None
    return (heads.expand(batch, *heads.shape) if dim is None else heads.movedim(dim, 0)).flatten(0, 1)


def _segment_reduce(places: Pattern, entries: Tensor, reduce: str) -> Tensor:
    """Return the largest entry ("max", -inf where there is none) or the sum of every row, (E,) -> (N,)."""
    if not places.edges:
        return entries.new_full((places.nodes,), -torch.inf if reduce == "max" else 0.0)
    return torch.segment_reduce(entries, reduce, offsets=places.starts, axis=0, unsafe=True)
