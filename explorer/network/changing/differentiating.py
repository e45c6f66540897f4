"""Compute convolutions and normalisations in a form that torch differentiates with less work.

The derivative of a convolution's backward pass finds what its weights would change, needed or not, which takes twice
as long as the rest of it; and forward-mode differentiation of a normalisation imports torch's compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from explorer.network.changing.convolving import shifting

_TRANSPOSED: dict[Any, Callable[..., Tensor]] = {
    torch.conv1d: F.conv_transpose1d,
    torch.conv2d: F.conv_transpose2d,
    torch.conv3d: F.conv_transpose3d,
}
_CONV = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")
_NORM = ("input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps")


class Plainly(TorchFunctionMode):
    """Compute what parameters and buffers convolve and normalise, within, as functions of the signal alone.

    The values of a convolution are the same; those of a normalisation differ by rounding, and so do those of attention
    where the derivative is a forward-mode one.

    Args:
        forwards: the derivative is a forward-mode one.
    """

    def __init__(self, forwards: bool = False) -> None:
        super().__init__()
        self.forwards = forwards

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _TRANSPOSED and not self.forwards:
            given: dict[str, Any] = dict.fromkeys(_CONV) | {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
            given |= dict(zip(_CONV, args, strict=False)) | kwargs
            if self._along(given["input"], given["weight"], given["bias"]) and type(given["padding"]) is not str:
                return _Convolved.apply(func, *(given[name] for name in _CONV))  # type: ignore[no-untyped-call]
        elif func is F.batch_norm:
            given = {"weight": None, "bias": None, "training": False, "momentum": 0.1, "eps": 1e-5}
            given |= dict(zip(_NORM, args, strict=False)) | kwargs
            x, mean, variance, weight, bias = (given[name] for name in _NORM[:5])
            if not given["training"] and mean is not None and self._along(x, mean, variance, weight, bias):
                return _normalised(x, mean, variance, weight, bias, given["eps"])
        elif func is F.scaled_dot_product_attention and self.forwards:
            with sdpa_kernel(SDPBackend.MATH):  # fused ones have no forward-mode derivative
                return func(*args, **kwargs)
        return func(*args, **kwargs)

    def _along(self, x: Tensor, *own: Tensor | None) -> bool:
        """Say whether a derivative is taken along x, and none along what a layer has of its own."""
        tensors = (x, *(t for t in own if t is not None))
        if not all(type(t) in (Tensor, torch.nn.Parameter) and t.is_floating_point() for t in tensors):
            return False
        graph = torch.is_grad_enabled()
        return self.forwards != (graph and x.requires_grad) and not any(graph and t.requires_grad for t in tensors[1:])


def _normalised(
    x: Tensor, mean: Tensor, variance: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    scale = torch.rsqrt(variance + eps)
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    by_channel = (-1, *(1,) * (x.ndim - 2))
    return x * scale.view(by_channel) + shift.view(by_channel)


class _Convolved(torch.autograd.Function):
    """A convolution whose derivative is written as the transposed one, a linear map of the gradient alone."""

    @staticmethod
    def forward(ctx: Any, func: Any, x: Tensor, weight: Tensor, bias: Tensor | None, *how: Any) -> Tensor:
        ctx.func, ctx.how, ctx.size = func, how, x.shape
        ctx.save_for_backward(weight)
        result: Tensor = func(x, weight, bias, *how)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (weight,) = ctx.saved_tensors
        dims = weight.ndim - 2
        stride, padding, dilation = (
            tuple(v) * (dims if len(tuple(v)) == 1 else 1) if isinstance(v, tuple | list) else (v,) * dims
            for v in ctx.how[:3]
        )
        # what a stride leaves over at the end of each axis
        over = [
            ctx.size[k - dims]
            - ((grad.shape[k - dims] - 1) * stride[k] - 2 * padding[k] + dilation[k] * (weight.shape[k - dims] - 1) + 1)
            for k in range(dims)
        ]
        with shifting():
            found = _TRANSPOSED[ctx.func](grad, weight, None, stride, padding, over, ctx.how[3], dilation)
        return None, found, None, None, None, None, None, None
