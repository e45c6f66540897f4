"""Sums of Chebyshev polynomials of an operator: sum over k of c_k T_k(s L - I) x, for several c at once.

Every step is one product with a sparse matrix, written into buffers that take turns; the columns are taken as many at
a time as the cache holds. The derivative along x is the same sum of the transposed operator (Clenshaw's recurrence).

Defferrard, Bresson, Vandergheynst, "Convolutional neural networks on graphs with fast localized spectral filtering",
2016, section 2.1.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from models.layers.derivatives import differentiated
from models.layers.graph.propagation import CACHE_LINE, Operator

CACHE = 2**20  # bytes of one table of columns; more are taken a part at a time
Coefficients = tuple[tuple[float, ...], ...]


def series(operator: Operator, scale: float, coefficients: Coefficients, x: Tensor) -> Tensor:
    """Return the sums, (N, C) -> (N, C * sums), those of the first coefficients first.

    Differentiable any number of times with respect to x; the operator is held fixed.
    """
    return _called(_Series, operator, scale, coefficients, x)


def _called(of: Any, *given: Any) -> Tensor:
    plain = not torch._C._are_functorch_transforms_active() and not differentiated(given[-1])
    result: Tensor = (of.forward if plain else of.apply)(*given)
    return result


class _Step:
    """T_(k+1) x = 2 y T_k x - T_(k-1) x with y = s L - I; transposed or not."""

    def __init__(self, operator: Operator, scale: float, turned: bool, like: Tensor) -> None:
        places, values = operator.pattern, operator.values[0]
        if turned:
            places = operator.pattern.transposed
            values = operator.edges[:, 0].index_select(0, places.order)
        size = places.nodes, places.nodes
        self.matrix = torch.sparse_csr_tensor(*places.compressed, values * (2 * scale), size, check_invariants=False)
        own = like.new_zeros(places.nodes, 1) if operator.own is None else operator.own
        self.own = own * (2 * scale) - 2

    def __call__(self, now: Tensor, before: Tensor) -> Tensor:
        """Write the next one over the one before."""
        torch.addcmul(before.neg_(), self.own, now, out=before)
        return torch.addmm(before, self.matrix, now, out=before)

    def first(self, x: Tensor) -> Tensor:
        """Return y x."""
        return self(x, torch.zeros_like(x)).mul_(0.5)


def _parts(x: Tensor) -> list[slice]:
    wide = x.shape[1]
    if x.device.type != "cpu" or x.numel() * x.element_size() <= CACHE:
        return [slice(0, wide)]
    block = max(1, CACHE_LINE // x.element_size())
    return [slice(a, min(a + block, wide)) for a in range(0, wide, block)]


class _Series(torch.autograd.Function):
    @staticmethod
    def forward(operator: Operator, scale: float, coefficients: Coefficients, x: Tensor) -> Tensor:
        nodes, wide = x.shape
        result = x.new_empty(nodes, len(coefficients), wide)
        step = _Step(operator, scale, False, x)
        for part in _parts(x):
            before = x[:, part].clone(memory_format=torch.contiguous_format)
            found = [before * c[0] for c in coefficients]
            most = max(map(len, coefficients))
            now = step.first(before) if most > 1 else before
            for k in range(1, most):
                if k > 1:
                    now, before = step(now, before), now
                for sums, c in zip(found, coefficients, strict=True):
                    if k < len(c):
                        sums.add_(now, alpha=c[k])
            for t, sums in enumerate(found):
                result[:, t, part] = sums
        return result.flatten(1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.held = inputs[:3]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, None, _called(_Adjoint, *ctx.held, grad)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        return _called(_Series, *ctx.held, tangents[3])


class _Adjoint(torch.autograd.Function):
    """The transposed map, (N, C * sums) -> (N, C)."""

    @staticmethod
    def forward(operator: Operator, scale: float, coefficients: Coefficients, grad: Tensor) -> Tensor:
        split = grad.unflatten(1, (len(coefficients), -1))
        result = torch.empty_like(split[:, 0], memory_format=torch.contiguous_format)
        step = _Step(operator, scale, True, grad)
        for part in _parts(result):
            given = [split[:, t, part].contiguous() for t in range(len(coefficients))]
            # b_k = g_k + 2 y b_(k+1) - b_(k+2), and the sum is g_0 + y b_1 - b_2
            now, after = torch.zeros_like(given[0]), torch.zeros_like(given[0])
            for k in reversed(range(max(map(len, coefficients)))):
                if k:
                    now, after = step(now, after), now
                else:
                    now = step.first(now).sub_(after)
                for g, c in zip(given, coefficients, strict=True):
                    if k < len(c):
                        now.add_(g, alpha=c[k])
            result[:, part] = now
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.held = inputs[:3]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, None, _called(_Series, *ctx.held, grad)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        return _called(_Adjoint, *ctx.held, tangents[3])
