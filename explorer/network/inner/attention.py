"""Find the attention of a network while it runs, whatever it is written with.

Three ways to write it are known: `nn.MultiheadAttention`, `scaled_dot_product_attention`, and a softmax over the last
axis whose answer the next product of matrices takes. The first two never form the matrix, or not for each head: their
queries, keys and masks are kept by reference, and the matrix is made where somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode_temporarily

from explorer.network.inner.factors import Factors
from explorer.network.inner.tiled import matrix
from explorer.network.inner.value import ATTENTION, Emit, Inner
from explorer.network.tracing.layers import LayerError

_SOFTMAX = {torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax}
_PRODUCTS = {
    torch.matmul, torch.bmm, torch.mm, torch.einsum, torch.baddbmm, Tensor.matmul, Tensor.bmm, Tensor.mm,
    Tensor.__matmul__, Tensor.baddbmm, Tensor.__rmatmul__,
}  # fmt: skip
# what hands attention on to the product: the same numbers in another form, thinned out, or zero in places
_HANDS_ON = {
    "dropout", "to", "type", "type_as", "float", "double", "half", "bfloat16", "contiguous", "clone", "view",
    "reshape", "flatten", "unflatten", "transpose", "permute", "squeeze", "unsqueeze", "nan_to_num", "masked_fill",
    "mul", "__mul__", "__getitem__", "detach", "expand",
}  # fmt: skip
_REORDERS = {"transpose", "permute", "__getitem__"}
_WAITING = 64  # answers of a softmax that no product has taken yet


@contextmanager
def unwatched() -> Iterator[None]:
    """Let functions of torch pass meanwhile: a mode hears of every attribute of a tensor that is looked at.

    What hooks look at is a third of the time of a trace. A mode of somebody else's stays as it is.
    """
    if not isinstance(_get_current_function_mode(), Watch):
        yield
        return
    with _pop_mode_temporarily():
        yield


class Watch(TorchFunctionMode):
    """Emit the attention of every function of torch that is called in a forward.

    Args:
        owner: returns the name of the module whose forward runs.
        emit: gets what is found.
    """

    def __init__(self, owner: Callable[[], str], emit: Emit) -> None:
        super().__init__()
        self.owner, self.emit = owner, emit
        # id of what may be attention -> (it, what the softmax gave, in whose forward, whether in its order)
        self._waiting: dict[int, tuple[Tensor, Tensor, str, bool]] = {}
        self._instead: list[tuple[Tensor, Tensor]] = []  # attention that was changed, and what products get of it

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.multi_head_attention_forward:
            other = self._give(_projected(*args, **kwargs))
            return func(*args, **kwargs) if other is None else projected_with(other, *args, **kwargs)
        if func is F.scaled_dot_product_attention:
            other = self._give(_scaled(*args, **kwargs))
            return func(*args, **kwargs) if other is None else scaled_with(other, *args, **kwargs)
        if func in _PRODUCTS and (self._waiting or self._instead):
            args, kwargs = self._taken(args, kwargs)
        result = func(*args, **kwargs)
        if func in _SOFTMAX:
            self._softmaxed(result, args, kwargs)
        elif self._waiting and getattr(func, "__name__", "") in _HANDS_ON and isinstance(result, Tensor):
            self._handed(func, result, args)
        return result

    def _give(self, factors: Factors | None) -> Tensor | None:
        if factors is None:
            return None

        def again(query: Tensor, key: Tensor) -> Tensor:
            return matrix(replace(factors, query=query, key=key))

        return self.emit(
            Inner(
                self.owner(), "attention", ATTENTION, partial(matrix, factors), pairs=True,
                fed=(factors.query, factors.key), again=again, masks=factors.masks,
            )
        )  # fmt: skip

    def _softmaxed(self, result: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if isinstance(result, Tensor) and result.ndim > 1 and dim in (-1, result.ndim - 1):
            self._keep(result, result, self.owner(), True)

    def _keep(self, tensor: Tensor, root: Tensor, owner: str, in_order: bool) -> None:
        self._waiting[id(tensor)] = (tensor, root, owner, in_order)
        while len(self._waiting) > _WAITING:
            del self._waiting[next(iter(self._waiting))]

    def _handed(self, func: Callable[..., Any], result: Tensor, args: tuple[Any, ...]) -> None:
        """Follow what a softmax gave to the product that takes it: only then it is attention."""
        for tensor in _tensors(args):
            known = self._waiting.get(id(tensor))
            if known is not None and id(result) not in self._waiting and result.numel() == known[1].numel():
                in_order = known[3] and func.__name__ not in _REORDERS
                self._keep(result, *known[1:3], in_order)

    def _taken(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Emit what a product takes of softmaxes, and return its arguments with what stands in the place of them."""
        for tensor in _tensors((*args, *kwargs.values())):
            known = self._waiting.get(id(tensor))
            if known is not None:
                self._confirm(*known)
        if not self._instead:
            return args, kwargs
        return tuple(map(self._replaced, args)), {name: self._replaced(value) for name, value in kwargs.items()}

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(self._replaced, value))
        return next((other for one, other in self._instead if one is value), value)

    def _confirm(self, tensor: Tensor, root: Tensor, owner: str, in_order: bool) -> None:
        self._waiting = {key: kept for key, kept in self._waiting.items() if kept[1] is not root}

        def passed() -> Tensor:
            if not in_order:
                name = f"{owner}.attention" if owner else "attention"
                raise LayerError(
                    name,
                    f"{name} is turned round before it is used, so what stands in its place cannot be put there; "
                    f"change {owner or 'another layer'}",
                )
            return tensor.reshape(root.shape)

        other = self.emit(Inner(owner, "attention", ATTENTION, lambda: root, pairs=True, passed=passed))
        if other is not None:
            self._instead.append((tensor, other.reshape(tensor.shape)))


def _tensors(values: tuple[Any, ...]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (v for v in value if isinstance(v, Tensor))


def _scaled(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Factors | None:  # fmt: skip
    """Return what the matrix of `scaled_dot_product_attention` is made of; None for nested tensors."""
    if query.is_nested or query.ndim < 2:
        return None
    return Factors(query, key, (attn_mask,) if attn_mask is not None else (), is_causal, scale)


def _projected(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None,
    add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
    training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True,
    attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
    static_v: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> Factors | None:  # fmt: skip
    """Return what the matrix of `nn.MultiheadAttention` is made of, as (batch, heads, steps, channels of a head)."""
    if query.is_nested or static_k is not None:
        return None
    if use_separate_proj_weight:
        w_q, w_k = q_proj_weight, k_proj_weight
    else:
        w_q, w_k = (None, None) if in_proj_weight is None else in_proj_weight.chunk(3)[:2]
    if w_q is None or w_k is None:
        return None
    b_q, b_k = (None, None) if in_proj_bias is None else in_proj_bias.chunk(3)[:2]
    if query.ndim == 2:
        query, key = query[:, None], key[:, None]
        key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
    q, k = F.linear(query, w_q, b_q), F.linear(key, w_k, b_k)  # (steps, batch, channels)
    batch, more = q.shape[1], 0
    if bias_k is not None:
        k, more = torch.cat([k, bias_k.expand(1, batch, -1)]), 1
    q, k = (v.unflatten(-1, (num_heads, -1)).permute(1, 2, 0, 3) for v in (q, k))
    if add_zero_attn:
        k, more = torch.cat([k, k.new_zeros(*k.shape[:2], 1, k.shape[3])], 2), more + 1
    masks = []
    causal = is_causal and key_padding_mask is None and not need_weights
    if attn_mask is not None and not causal:
        mask = _open(attn_mask)
        mask = mask.unflatten(0, (batch, num_heads)) if mask.ndim == 3 else mask
        masks.append(_padded(mask, more))
    if key_padding_mask is not None:
        masks.append(_padded(_open(key_padding_mask)[:, None, None], more))
    return Factors(q, k, tuple(masks), causal, None)


def scaled_with(
    weights: Tensor, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, **_: Any,
) -> Tensor:  # fmt: skip
    """Return what `scaled_dot_product_attention` gives with this matrix in the place of its own."""
    if value.ndim > 2 and value.shape[-3] != weights.shape[-3]:
        value = value.repeat_interleave(weights.shape[-3] // value.shape[-3], -3)
    return F.dropout(weights, dropout_p) @ value


def projected_with(
    weights: Tensor, query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None,
    add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
    training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True,
    attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
    static_v: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Return what `multi_head_attention_forward` gives with this matrix, (batch, heads, to, from), for its own."""
    single = query.ndim == 2
    whole = v_proj_weight if use_separate_proj_weight or in_proj_weight is None else in_proj_weight.chunk(3)[2]
    assert whole is not None
    v = F.linear(value[:, None] if single else value, whole, None if in_proj_bias is None else in_proj_bias.chunk(3)[2])
    if bias_v is not None:
        v = torch.cat([v, bias_v.expand(1, v.shape[1], -1)])
    if add_zero_attn:
        v = torch.cat([v, v.new_zeros(1, *v.shape[1:])])
    v = v.unflatten(-1, (num_heads, -1)).permute(1, 2, 0, 3)
    out = (F.dropout(weights, dropout_p, training) @ v).permute(2, 0, 1, 3).flatten(2)
    out = F.linear(out, out_proj_weight, out_proj_bias)
    shown = (weights.mean(1) if average_attn_weights else weights) if need_weights else None
    return (out.squeeze(1), None if shown is None else shown.squeeze(0)) if single else (out, shown)


def _open(mask: Tensor) -> Tensor:
    """Return a mask of `nn.MultiheadAttention`, where True bars, as one whose True lets through."""
    return ~mask if mask.dtype == torch.bool else mask


def _padded(mask: Tensor, more: int) -> Tensor:
    if not more:
        return mask
    return F.pad(mask, (0, more), value=True if mask.dtype == torch.bool else 0.0)
