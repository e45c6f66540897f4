"""Run somebody's network without leaving a trace in it, and find the tensors in what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch._C._functorch import get_unwrapped, is_batchedtensor, is_functorch_wrapped_tensor
from torch.utils.hooks import RemovableHandle

from explorer.declare.telling.values import told_kind
from explorer.network.input.typed_tensors import tensor_of
from explorer.network.opening.global_state import same_numbers, settled
from explorer.network.tracing.bounded import bounded
from explorer.network.tracing.walking import modules_of, named_modules
from explorer.work.crumbs import ROOT, Writer, writer
from explorer.work.progress import Cancelled

Found = TypeVar("Found")


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a module's result in order: itself, or inside tuples, lists, mappings and dataclasses.

    A number alone, such as a loss or an energy, is that of a batch of one: it has the shape (1,).
    """
    yield from map(_in_batch, _readable(value))


def _readable(value: Any) -> Iterator[Tensor]:
    # numbers without a place for each, as of sparse and nested ones, are compared with nothing; and what is one sample
    # to code within torch.vmap is many, which nothing outside of it can read
    yield from filter(readable, all_tensors_in(value))


def readable(tensor: Tensor) -> bool:
    """Say whether each of the numbers of a tensor has a place, and is that of one sample."""
    return tensor.layout is torch.strided and not tensor.is_nested and not of_vmap(tensor)


def of_vmap(value: Tensor) -> bool:
    """Say whether a tensor stands for one sample of many within torch.vmap, also where gradients are taken in it."""
    while is_functorch_wrapped_tensor(value):
        if is_batchedtensor(value):
            return True
        value = get_unwrapped(value)
    return False


def _in_batch(number: Tensor) -> Tensor:
    return number if number.ndim else number.reshape(1)


def all_tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a module's result in order, those too that nothing can be measured on."""
    if isinstance(value, Tensor):
        yield value
        return
    if (inside := tensor_of(value)) is not None:
        yield inside
        return
    items: Iterable[Any] = ()
    if isinstance(value, Mapping):
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    elif is_dataclass(value) and not isinstance(value, type):
        items = (getattr(value, f.name) for f in fields_of(value))
    for item in items:
        yield from all_tensors_in(item)


def no_tensor(value: Any) -> str:
    """Return what a result is that holds no tensor to be measured, as the end of a sentence."""
    if isinstance(value, Tensor):
        kind = "nested" if value.is_nested else f"sparse ({str(value.layout).removeprefix('torch.')})"
        end = "to_padded_tensor(0)" if value.is_nested else "to_dense()"
        return f"a {kind} tensor, whose values have no places to compare them at; return its {end}"
    if inspect.iscoroutine(value):
        value.close()  # else Python warns later that nobody has waited for it
        return "a coroutine: its forward is async, and nothing waits for it here"
    if held := next((name for name, v in getattr(value, "__dict__", {}).items() if isinstance(v, Tensor)), ""):
        return f"{told_kind(value)}, an object that is not looked into: return its {held}, a tuple, dict or dataclass"
    return f"{told_kind(value)}, which holds no tensor"


def first_tensor(value: Any) -> Tensor | None:
    """Return the first tensor in a module's result."""
    return next(tensors_in(value), None)


def measured(value: Any) -> tuple[int, Tensor] | None:
    """Return the first tensor in a module's result that can be measured, and which it is; else the very first one.

    What is chosen or counted stands beside numbers, and a loss before them: real numbers with places are preferred.
    """
    found = list(enumerate(_readable(value)))
    real = [(k, t) for k, t in found if t.is_floating_point()]
    wide = [(k, t) for k, t in real if t.ndim]
    filled = [(k, t) for k, t in wide if t.numel()]
    return next(((k, _in_batch(t)) for k, t in filled or wide or real or found), None)


def tensors_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """Return the tensors among the arguments of a call."""
    given = (a if isinstance(a, Tensor) else tensor_of(a) for a in (*args, *kwargs.values()))
    return [a for a in given if a is not None]


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put the network in eval mode, TF32 off, and restore both, and the random state, afterwards."""
    modes = {m: m.training for m in modules_of(model)}
    tf32 = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    rng = torch.get_rng_state()
    cuda_rng = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        if any(modes.values()):
            model.eval()
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        with settled():
            yield
    finally:
        for module, mode in modes.items():
            if module.training != mode:  # asking is ten times cheaper than setting an attribute of a module
                module.training = mode
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = tf32
        torch.set_rng_state(rng)
        if cuda_rng:
            torch.cuda.set_rng_state_all(cuda_rng)


def tried(model: nn.Module, trial: Callable[[], Found]) -> Found | None:
    """Return what a trial of a network finds; None where it does not run on the values that are tried.

    Raises:
        torch.OutOfMemoryError, Cancelled: as the trial does.
    """
    try:
        with evaluating(model), torch.no_grad(), bounded(model):
            return trial()
    except (torch.OutOfMemoryError, Cancelled):
        raise
    except Exception:  # on other values somebody else's network may raise anything
        return None


def attended(model: nn.Module, cancelled: Callable[[], bool] | None) -> list[RemovableHandle]:
    """Ask before each module runs whether that is still wanted, and say which one it is to whoever listens.

    Returns:
        handles of hooks, which the caller has to remove; a hook raises Cancelled.
    """
    write = writer()
    handles = []

    for name, module in named_modules(model) if write is not None or cancelled is not None else ():
        handles.append(module.register_forward_pre_hook(Entering(write, name or ROOT, cancelled)))
        if write is not None:
            outer = "" if not name else name.rpartition(".")[0] or ROOT
            handles.append(module.register_forward_hook(Entering(write, outer, None)))
    return handles


class Entering:
    """A hook that says where the network is; a copy of the network shares it, and one that was stored says nothing."""

    __slots__ = ("_cancelled", "_place", "_write")

    def __init__(self, write: Writer | None, place: str, cancelled: Callable[[], bool] | None) -> None:
        self._write, self._place, self._cancelled = write, place, cancelled

    def __call__(self, *_: Any) -> None:
        if self._write is not None:
            self._write(self._place)
        if self._cancelled is not None and self._cancelled():
            raise Cancelled

    def __deepcopy__(self, memo: dict[int, Any]) -> Entering:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # modules of e3nn are copied by way of pickle
        return Entering, (None, self._place, None)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Restore what Python and NumPy draw next, and torch on the processor; too slow for every frame."""
    state = torch.get_rng_state()
    try:
        with same_numbers():
            yield
    finally:
        torch.set_rng_state(state)
