"""Refuse indices that are out of range before a GPU meets them, which would answer nothing more in this process.

On the processor a wrong index raises IndexError, and a trial of a network has failed. On a GPU it is an assertion of a
kernel: the error comes later, and every call after it fails, whatever network it is for. Trials give networks what
nobody has promised that they take, so they ask before each operation that reads or writes by index. Sparse matrices
are not looked at on the processor either: one of edges between nodes that are not there writes where it must not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.network.tracing.walking import named_tensors

Check = Callable[..., None]


@contextmanager
def bounded(model: nn.Module) -> Iterator[None]:
    """Run a network that is on a GPU so that a wrong index raises IndexError, as it does on the processor."""
    if not any(value.is_cuda for _, value in named_tensors(model)):
        yield
        return
    with Bounded():  # type: ignore[no-untyped-call]
        yield


@contextmanager
def joined(given: Sequence[Tensor]) -> Iterator[None]:
    """Run a network on a list of edges so that a sparse matrix of nodes that are not there raises RuntimeError."""
    if not any(v.ndim == 2 and len(v) == 2 and not v.is_floating_point() for v in given):
        yield
        return
    with torch.sparse.check_sparse_tensor_invariants(), _Compressed():
        yield


class _Compressed(TorchFunctionMode):
    """Raise IndexError where rows of a sparse matrix are counted beyond its last one."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch._convert_indices_from_coo_to_csr:
            _within(*args[:2])
        return func(*args, **(kwargs or {}))


class Bounded(TorchDispatchMode):
    """Raise IndexError where an operation is given an index that is out of range."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (check := _CHECKS.get(func.overloadpacket)) is not None:
            check(*args)
        return func(*args, **(kwargs or {}))


def _within(index: Tensor, size: int, least: int = 0) -> None:
    if index.dtype == torch.bool or not index.numel() or index.is_meta:
        return
    low, high = (int(v) for v in index.aminmax())
    if low < least or high >= size:
        raise IndexError(f"index {high if high >= size else low} is out of range for {size} places")


def _along(x: Tensor, dim: int, index: Tensor, *_: Any) -> None:
    _within(index, x.shape[dim] if x.ndim else 1)


def _rows(weight: Tensor, index: Tensor, *_: Any) -> None:
    _within(index, len(weight))


def _anywhere(x: Tensor, index: Tensor, *_: Any) -> None:
    _within(index, x.numel(), -x.numel())


def _by_axis(x: Tensor, indices: list[Tensor | None], *_: Any) -> None:
    axis = 0
    for index in indices:
        if index is not None and index.dtype != torch.bool and index.dtype != torch.uint8:
            _within(index, x.shape[axis], -x.shape[axis])
        # a mask counts for as many axes as it has itself
        axis += index.ndim if index is not None and index.dtype in (torch.bool, torch.uint8) else 1


def _classes(scores: Tensor, target: Tensor, weight: Any = None, reduction: Any = None, ignored: int = -100) -> None:
    _within(target[target != ignored], scores.shape[1 if scores.ndim > 1 else 0])


def _bags(weight: Tensor, index: Tensor, offsets: Tensor, *_: Any) -> None:
    _within(index, len(weight))
    _within(offsets, len(index) + 1)


def _entries(sparse: int, dense: int, size: list[int], index: Tensor, *_: Any) -> None:
    for row, most in zip(index, size, strict=False):
        _within(row, most)


_aten: Any = torch.ops.aten
_CHECKS: Mapping[Any, Check] = {
    **dict.fromkeys((_aten.index, _aten.index_put, _aten.index_put_, _aten._index_put_impl_), _by_axis),
    **dict.fromkeys((_aten._unsafe_index, _aten._unsafe_index_put), _by_axis),
    **dict.fromkeys((_aten.index_select, _aten.index_fill, _aten.index_fill_), _along),
    **dict.fromkeys((_aten.index_add, _aten.index_add_, _aten.index_copy, _aten.index_copy_), _along),
    **dict.fromkeys((_aten.index_reduce, _aten.index_reduce_, _aten.gather), _along),
    **dict.fromkeys((_aten.scatter, _aten.scatter_, _aten.scatter_add, _aten.scatter_add_), _along),
    **dict.fromkeys((_aten.scatter_reduce, _aten.scatter_reduce_), _along),
    **dict.fromkeys((_aten.take, _aten.put, _aten.put_), _anywhere),
    **dict.fromkeys((_aten.nll_loss_forward, _aten.nll_loss2d_forward), _classes),
    **dict.fromkeys((_aten._embedding_bag, _aten._embedding_bag_forward_only), _bags),
    _aten.embedding: _rows,
    _aten._sparse_coo_tensor_with_dims_and_tensors: _entries,
}
