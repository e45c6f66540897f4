"""Convolve in double precision by shifted products: torch copies every window of what it convolves.

Over the places of a padded signal, one after the other, each value of a filter is a shift by a fixed number of places.
So a convolution is a sum of matrix products, one for each shift, of parts of one matrix: nothing is copied but for the
shifts along the last axis. On a processor that takes a ninth of torch's time for 33^3 places, 8 channels and filters of
5^3 (23 against 205 ms), half of it for 56^2 places, 64 channels and filters of 3^2, and gives the same numbers but for
rounding. Where torch is as fast, torch does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_CHUNK = 4096  # places whose sums stay in the cache
_WIDE = 28  # places in a row: of shorter ones too much of what is multiplied lies beyond the edge
_CONVOLUTIONS: dict[Any, int] = {torch.conv2d: 2, torch.conv3d: 3}
_TRANSPOSED: dict[Any, int] = {functional.conv_transpose2d: 2, functional.conv_transpose3d: 3}
_shifting: ContextVar[bool] = ContextVar("shifting", default=False)


class Shifts(TorchFunctionMode):
    """Replace torch's convolutions of pictures and volumes in double precision while the block lasts."""

    def __enter__(self) -> Shifts:
        self._before = _shifting.set(True)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *raised: Any) -> None:
        _shifting.reset(self._before)
        super().__exit__(*raised)  # type: ignore[no-untyped-call]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = None
        if (axes := _CONVOLUTIONS.get(func)) is not None:
            found = _convolution(axes, *args, **(kwargs or {}))
        elif (axes := _TRANSPOSED.get(func)) is not None:
            found = _transposed(axes, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {})) if found is None else found


def shifting() -> AbstractContextManager[Any]:
    """Return what a derivative is computed within: torch forgets the mode there."""
    return Shifts() if _shifting.get() else nullcontext()


def convolving(x: Tensor) -> AbstractContextManager[Any]:
    """Return what is entered while a network runs on `x`; it does nothing where nothing is gained."""
    gains = x.ndim in (4, 5) and x.dtype == torch.float64 and x.device.type == "cpu"
    return Shifts() if gains else nullcontext()


def _convolution(
    axes: int, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor | None:  # fmt: skip
    """Return the convolution of (batch, channels, *places); None where torch is to do it."""
    if not _plain(axes, input, weight, bias) or isinstance(padding, str):
        return None
    steps, edges, apart = (_each(v, axes) for v in (stride, padding, dilation))
    if groups == 1 and set(steps) == {1} and _gains(input, weight, edges, apart):
        found = _shifted(input, weight, edges, apart)
        return found if bias is None else found + bias.view(-1, *(1,) * axes)
    return _by_slices(input, weight, bias, steps, edges, apart, groups) if axes == 3 else None


def _transposed(
    axes: int, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor | None:  # fmt: skip
    """Return the transposed convolution: that of filters turned round, with what they reach beyond the edges."""
    if not _plain(axes, input, weight, bias) or groups != 1:
        return None
    steps, edges, over, apart = (_each(v, axes) for v in (stride, padding, output_padding, dilation))
    if set(steps) != {1} or set(over) != {0}:
        return None
    turned, beyond = _turned(weight, edges, apart)
    if not _gains(input, turned, beyond, apart):
        return None
    found = _shifted(input, turned, beyond, apart)
    return found if bias is None else found + bias.view(-1, *(1,) * axes)


def _plain(axes: int, input: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """Say whether these are numbers in double precision, with a batch, and not something that stands for some."""
    given = [input, weight, *(() if bias is None else (bias,))]
    if not all(
        isinstance(t, Tensor) and t.dtype == torch.float64 and t.device.type == "cpu" and not t.is_nested for t in given
    ):
        return False
    return input.ndim == weight.ndim == axes + 2 and input.shape[1] > 0 and len(input) > 0


def _gains(input: Tensor, weight: Tensor, edges: Sequence[int], apart: Sequence[int]) -> bool:
    """Say whether shifts may be taken, and cost less than windows."""
    if not all(type(t) in (Tensor, torch.nn.Parameter) and t.layout == torch.strided for t in (input, weight)):
        return False
    if torch.is_grad_enabled() and weight.requires_grad:
        return False
    # neither forward-mode derivatives nor torch.func's transforms can see through what is written in place
    if any(forward_ad.unpack_dual(t).tangent is not None or _functional(t) for t in (input, weight)):
        return False
    if weight.shape[1] != input.shape[1] or math.prod(weight.shape[2:]) == 1:
        return False
    made = _made(input.shape[2:], weight.shape[2:], edges, apart)
    return min(made) >= (_WIDE if weight.ndim == 4 else 1)


def _made(places: Sequence[int], sizes: Sequence[int], edges: Sequence[int], apart: Sequence[int]) -> list[int]:
    """Return how many places the result has, by axis."""
    return [n + 2 * p - d * (k - 1) for n, k, p, d in zip(places, sizes, edges, apart, strict=True)]


def _functional(value: Tensor) -> bool:
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(value))


def _turned(weight: Tensor, edges: Sequence[int], apart: Sequence[int]) -> tuple[Tensor, tuple[int, ...]]:
    """Return the filters of the transposed convolution, and how far it reaches beyond the edges of what it is given."""
    sizes = weight.shape[2:]
    beyond = tuple(d * (k - 1) - p for k, p, d in zip(sizes, edges, apart, strict=True))
    return weight.transpose(0, 1).flip(tuple(range(2, weight.ndim))), beyond


def _shifted(x: Tensor, weight: Tensor, edges: Sequence[int], apart: Sequence[int]) -> Tensor:
    if torch.is_grad_enabled() and x.requires_grad:
        found: Tensor = _Shifted.apply(x, weight, edges, apart)  # type: ignore[no-untyped-call]
        return found
    return _products(x, weight, edges, apart)


class _Shifted(torch.autograd.Function):
    """The convolution as a linear map of the signal, whose derivative is such a map again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, edges: Sequence[int], apart: Sequence[int]) -> Tensor:
        ctx.save_for_backward(weight)
        ctx.edges, ctx.apart = edges, apart
        return _products(x, weight, edges, apart)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (weight,) = ctx.saved_tensors
        turned, beyond = _turned(weight, ctx.edges, ctx.apart)
        return _shifted(grad, turned, beyond, ctx.apart), None, None, None


def _products(x: Tensor, weight: Tensor, edges: Sequence[int], apart: Sequence[int]) -> Tensor:
    """Return the convolution, (batch, filters, *places), as a sum of matrix products.

    Args:
        edges: how many zeros lie around the signal, by axis; less than none cuts.
        apart: by how many places neighbours in a filter are apart, by axis.
    """
    made = _made(x.shape[2:], weight.shape[2:], edges, apart)
    if any(edges):
        x = functional.pad(x, [p for edge in reversed(edges) for p in (edge, edge)])
    sizes, places = weight.shape[2:], x.shape[2:]
    strides = [math.prod(places[k + 1 :]) for k in range(len(places))]
    *offsets, along = [[k * d * step for k in range(n)] for n, d, step in zip(sizes, apart, strides, strict=True)]
    shifts = [0]
    for axis in offsets:
        shifts = [before + offset for before in shifts for offset in axis]
    filters, channels, width = len(weight), x.shape[1], sizes[-1]
    # (shifts, filters, the last axis of the filters and their channels)
    rows = weight.flatten(2, -2).permute(2, 0, 3, 1).reshape(len(shifts), filters, width * channels).contiguous()
    flat, run = x.reshape(len(x), channels, -1), math.prod(places) - along[-1]
    length = sum((n - 1) * step for n, step in zip(made, strides, strict=True)) + 1
    found = x.new_empty(len(x), filters, made[0] * strides[0])
    for signal, sums in zip(flat, found, strict=True):
        beside = torch.cat([signal[:, offset : offset + run] for offset in along])
        for begin in range(0, length, _CHUNK):
            end = min(length, begin + _CHUNK)
            part = sums[:, begin:end]
            for k, shift in enumerate(shifts):
                torch.addmm(part, rows[k], beside[:, shift + begin : shift + end], beta=min(k, 1), out=part)
    whole = found.view(len(x), filters, made[0], *places[1:])
    for number, count in enumerate(made[1:], start=3):
        whole = whole.narrow(number, 0, count)  # what lies between two rows belongs to neither
    return whole.contiguous()


def _by_slices(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int,
) -> Tensor | None:  # fmt: skip
    """Return the convolution of volumes as a sum over the slices of the filters; None where torch is to do it.

    It takes two fifths of torch's time, and has all derivatives.
    """
    depth = weight.shape[2]
    if depth == 1:
        return None
    (sz, *steps), (pz, *edges), (dz, *apart) = stride, padding, dilation
    if pz:
        input = functional.pad(input, (0, 0, 0, 0, pz, pz))
    slices = (input.shape[2] - dz * (depth - 1) - 1) // sz + 1
    if slices < 1:
        return None  # torch says what is wrong
    total: Tensor | None = None
    for k in range(depth):
        at = input[:, :, k * dz : k * dz + sz * (slices - 1) + 1 : sz].transpose(1, 2).flatten(0, 1)
        part = functional.conv2d(at, weight[:, :, k], None, steps, edges, apart, groups)
        total = part if total is None else total + part
    assert total is not None
    total = total.unflatten(0, (len(input), slices)).transpose(1, 2)
    return total if bias is None else total + bias[:, None, None, None]


def _each(value: int | Sequence[int], axes: int) -> tuple[int, ...]:
    return (value,) * axes if isinstance(value, int) else tuple(value) * (axes if len(value) == 1 else 1)
