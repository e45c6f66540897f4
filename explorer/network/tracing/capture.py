"""Temporary forward hooks on just the watched layers: values, or reductions of them, without wrapping the model."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten
from torch.utils.hooks import RemovableHandle

from explorer.declare.inputs import Given, Inputs, laid_out
from explorer.network.changing.conduct import require_usual
from explorer.network.changing.interventions.hooks import standing_for
from explorer.network.inner.value import Inner
from explorer.network.inner.watching import stepwise, watching
from explorer.network.input.inputs import called
from explorer.network.input.typed_tensors import enrol
from explorer.network.tracing.layers import FORWARD, OUTPUT, LayerError, Trace, UncalledError, layer_error, named_error
from explorer.network.tracing.running import attended, no_tensor, tensors_in
from explorer.network.tracing.walking import named_modules, parameters_of
from explorer.work.crumbs import within
from explorer.work.progress import Cancelled

Reduce = Callable[[str, Tensor], Any]
_reducing: ContextVar[bool] = ContextVar("reducing", default=False)


def reducing() -> bool:
    """Return whether a run of a network waits for what is made of a layer's value: it cannot be run within."""
    return _reducing.get()


def capture(
    model: nn.Module,
    x: Given,
    layers: Iterable[str],
    *,
    reduce: Reduce | None = None,
    clone: bool = False,
    inputs: bool = False,
    cancelled: Callable[[], bool] | None = None,
    no_further: bool = False,
    ends: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, tuple[Tensor, ...]]]:
    """Run the network and return ({layer: value}, {layer: input tensors}) for the watched layers.

    Args:
        x: one tensor, or all the arguments.
        layers: names as in `Trace` ("conv1", "conv1#2", "output").
        reduce: what to keep of a layer's output, computed on the device inside the hook; default: the tensor itself.
        clone: let the network go on with a copy of what is kept, because something in it works in place.
        inputs: also keep each watched module's tensor inputs.
        cancelled: asked between modules; True raises Cancelled there.
        no_further: leave the network behind the last watched layer.
        ends: watched layers whose tensors the network returns; on this input another one may make what it returns.

    Raises:
        LayerError: a module raised; `.where` names it.
        UncalledError: a watched layer was not called, or one of `ends` does not make what the network returns.
    """
    wanted = tuple(dict.fromkeys(layers))
    modules = dict(named_modules(model))
    odd = frozenset(n for n in modules if "[" in n or "#" in n)
    by_module, left = _by_module(wanted, odd), set(wanted)
    outputs: dict[str, Any] = {}
    fed: dict[str, tuple[Tensor, ...]] = {}
    ended: dict[str, Tensor] = {}  # what the network got of `ends`
    handles: list[_Hook | RemovableHandle] = []
    watched = {m: _Calls(base, by_module[base]) for base, m in modules.items() if base and base in by_module}
    inner = any(base not in modules and base not in (OUTPUT, FORWARD) for base in by_module)

    def before(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        calls = watched[module]
        if calls.done in calls.named:
            name = calls.base if calls.done == 0 else f"{calls.base}#{calls.done + 1}"
            fed[name] = Fed.of(args, kwargs, clone)

    def after(module: nn.Module, _: tuple[Any, ...], result: Any) -> Tensor | None:
        calls = watched[module]
        here = calls.named.get(calls.done)
        calls.done += 1
        if here is None:
            return None
        found = [result] if isinstance(result, Tensor) and result.ndim else list(tensors_in(result))
        for name, part in here:
            if part >= len(found):
                continue
            tensor = found[part]
            require_usual(name, tensor)  # it may have been as usual in the first run only
            left.discard(name)
            if name in ends:
                ended[name] = tensor
            if no_further and not left:
                outputs[name] = reduce(name, tensor) if reduce else tensor.clone() if clone else tensor
                raise _Enough
            if reduce:
                outputs[name] = reduce(name, tensor)
            elif clone and tensor is result:
                # the network goes on with a copy of the copy: what is kept stays in the graph, and gradients reach it;
                # the layer's own tensor may be a buffer that it writes its next answer into
                outputs[name] = kept = tensor.clone()
                passed_on: Tensor = kept.clone()
                if name in ends:
                    ended[name] = passed_on
                return passed_on
            else:
                outputs[name] = tensor.clone() if clone else tensor
        return None

    def step(_: nn.Module, __: Any) -> None:
        if cancelled is not None and cancelled():
            raise Cancelled

    def arisen(name: str, value: Inner) -> None:
        if name not in left:
            return
        left.discard(name)
        made = value.make()
        outputs[name] = reduce(name, made) if reduce else made.clone() if clone else made
        if inputs and value.again is not None:
            given = fed[name] = Fed.of(value.fed, {}, clone)
            given.again = value.again

    token = _reducing.set(reduce is not None)
    try:
        if cancelled is not None:
            handles.append(_Hook(step, [m._forward_pre_hooks for m in modules.values()]))
        handles += attended(model, None)  # which say where the network is, if anybody listens
        if inputs:
            # before hooks of its own, which run again when it is fed alone
            handles += [m.register_forward_pre_hook(before, prepend=True, with_kwargs=True) for m in watched]
        handles.append(_Hook(after, [m._forward_hooks for m in watched]))
        try:
            with watching(model, arisen, stepwise(wanted, modules)) if inner else nullcontext() as finish:
                result = called(model, x, clone) if isinstance(x, Inputs) else model(x.clone() if clone else x)
                if finish is not None:
                    finish()
        except _Enough:
            result = None
        except (Cancelled, KeyboardInterrupt, torch.OutOfMemoryError):
            raise
        except BaseException as error:  # somebody else's network may raise anything
            raise layer_error(model, error) from error
        for base in {OUTPUT, FORWARD} & by_module.keys() - modules.keys():
            found = list(tensors_in(result))
            for name, part in by_module[base].get(0, ()):
                if part < len(found):
                    tensor = found[part]
                    require_usual("", tensor)
                    outputs[name] = reduce(name, tensor) if reduce else tensor.clone() if clone else tensor
            if not found:
                name = base
                raise LayerError(name, f"the network returned {no_tensor(result)}")
    finally:
        _reducing.reset(token)
        for handle in handles:
            handle.remove()
    missing = set(wanted) - outputs.keys()
    if ended:
        # a layer that is called once more gives the answer there, and what it gave before is not it
        missing |= {n for n, tensor in ended.items() if not any(t is tensor for t in tensors_in(result))}
    if missing:
        bases = {n: _parsed(n, odd)[0] for n in missing}
        raise UncalledError(min(missing), frozenset(base if base in modules else n for n, base in bases.items()))
    if not torch.is_grad_enabled():  # the network may have asked for derivatives within: nobody else does
        outputs = {n: v.detach() if isinstance(v, Tensor) and v.requires_grad else v for n, v in outputs.items()}
    return outputs, fed


class _Enough(BaseException):
    """Signal that every watched layer has been seen. A network's own handlers must not catch it."""


Named = dict[int, list[tuple[str, int]]]  # {call: [(layer, which tensor of the result it is)]}


class _Calls:
    """The calls of one module: what is wanted of which, and how many there have been."""

    __slots__ = ("base", "done", "named")

    def __init__(self, base: str, named: Named) -> None:
        self.base, self.named, self.done = base, named, 0


class _Hook:
    """One hook after all others of many modules; one each, by torch's own method, takes four times as long."""

    def __init__(self, hook: Callable[..., Any], of: Sequence[dict[int, Callable[..., Any]]]) -> None:
        self.of, self.key = of, RemovableHandle(OrderedDict()).id  # which no other hook has
        for hooks in of:
            hooks[self.key] = hook

    def remove(self) -> None:
        for hooks in self.of:
            hooks.pop(self.key, None)


class Fed(tuple[Tensor, ...]):
    """The tensors that a module was called with, and the form of its arguments around them."""

    form: tuple[Any, tuple[Any, ...]] | None = None  # how they lie in (args, kwargs), None for tensors in their order
    again: Callable[..., Tensor] | None = None  # of what no module returns: makes it of other such tensors
    autocast: tuple[str, torch.dtype] | None = None  # the device and precision, of a call under `torch.autocast`

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any], clone: bool) -> Fed:
        """Keep the arguments of a call."""
        plain = not kwargs and all(isinstance(a, Tensor) for a in args)
        if not plain:
            enrol((*args, *kwargs.values()))
        leaves, spec = (list(args), None) if plain else tree_flatten((args, dict(kwargs)))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        found = cls(t.clone() for t in tensors) if clone else cls(tensors)
        kind = tensors[0].device.type if tensors else "cpu"
        if torch.is_autocast_enabled(kind):
            found.autocast = kind, torch.get_autocast_dtype(kind)
        if not plain:
            found.form = spec, tuple(None if isinstance(leaf, Tensor) else (leaf,) for leaf in leaves)
        return found

    @classmethod
    def like(cls, tensors: Iterable[Tensor], kept: tuple[Tensor, ...]) -> Fed:
        """Return these tensors, to be given as `kept` were."""
        found = cls(tensors)
        if isinstance(kept, Fed):
            found.form, found.again, found.autocast = kept.form, kept.again, kept.autocast
        return found

    def filled(self, tensors: tuple[Tensor, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return (args, kwargs) with other tensors in the place of these."""
        if self.form is None:
            return tensors, {}
        spec, leaves = self.form
        left = iter(tensors)
        found: tuple[tuple[Any, ...], dict[str, Any]] = tree_unflatten(
            [next(left) if leaf is None else leaf[0] for leaf in leaves], spec
        )
        return found


@lru_cache(maxsize=64)
def _by_module(names: tuple[str, ...], odd: frozenset[str]) -> dict[str, Named]:
    """Return the layers' names by module and call.

    Args:
        odd: modules whose own names have the signs that calls and parts are written with.
    """
    found: dict[str, Named] = {}
    for name in names:
        base, call, part = _parsed(name, odd)
        found.setdefault(base, {}).setdefault(call, []).append((name, part))
    return found


def _parsed(name: str, odd: frozenset[str] = frozenset()) -> tuple[str, int, int]:
    """Return (module, call, tensor of its result) of a layer's name, counted from 0."""
    if odd and (own := max((o for o in odd if name == o or name.startswith((f"{o}#", f"{o}["))), key=len, default="")):
        return own, *_parsed(f"_{name[len(own) :]}")[1:]
    base, _, rest = name.partition("#")
    head, bracket, part = name.rpartition("[")
    if bracket and part.endswith("]") and part[:-1].isdigit():
        base, _, rest = head.partition("#")
        return base, int(rest or 1) - 1, int(part[:-1])
    return base, int(rest or 1) - 1, 0


@contextmanager
def recorded() -> Iterator[None]:
    """Record what is computed, for gradients; cuDNN has none for recurrent networks that are not in training."""
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False, allow_tf32=False):
        yield


@contextmanager
def gradients_to_inputs(model: nn.Module) -> Iterator[None]:
    """Record gradients with respect to what is fed to the network alone: its parameters take none until the end."""
    was = {p: p.requires_grad for p in parameters_of(model)}
    try:
        for p in was:
            p.requires_grad_(False)
        with recorded():
            yield
    finally:
        for p, flag in was.items():
            p.requires_grad_(flag)


def differentiable(x: Tensor) -> Tensor:
    """Return a copy of x that gradients are taken with respect to."""
    return x.detach().clone().requires_grad_(True)


def feed(
    model: nn.Module, trace: Trace, name: str, tensors: tuple[Tensor, ...], like: tuple[Tensor, ...] = ()
) -> Tensor:
    """Run one layer alone on `tensors` and return its output tensor of that name.

    Args:
        like: what `capture` kept of its inputs: the form that its arguments have around the tensors.
    """
    if isinstance(like, Fed) and like.again is not None:
        with _cast_as(like):
            return like.again(*tensors)
    module = model.get_submodule(trace[name].module)
    tensors = tuple(t.clone() for t in tensors) if trace.clones else tensors
    tensors = (*(laid_out(t, before) for t, before in zip(tensors, like)), *tensors[len(like) :])
    args, kwargs = like.filled(tensors) if isinstance(like, Fed) else (tensors, {})
    try:
        with standing_for(trace[name].call), within(name), _cast_as(like):
            answer = module(*args, **kwargs)
            result = next(itertools.islice(tensors_in(answer), trace[name].part, None), None)
    except (Cancelled, KeyboardInterrupt, torch.OutOfMemoryError, LayerError):
        raise
    except BaseException as error:
        raise LayerError(name, f"layer {name} raised {named_error(error)}") from error
    require_usual(name, answer)  # it may have been as usual in the first run only
    if result is None:
        raise LayerError(name, f"layer {name} gave a tensor before, and now {no_tensor(answer)}")
    return result


def _cast_as(like: tuple[Tensor, ...]) -> AbstractContextManager[object]:
    """Return the `torch.autocast` that a module was called under, or nothing."""
    cast = like.autocast if isinstance(like, Fed) else None
    return nullcontext() if cast is None else torch.autocast(cast[0], cast[1], cache_enabled=False)


def calls_alike(model: nn.Module, inputs: Inputs, trace: Trace) -> bool:
    """Say whether a network calls the same layers as often on other inputs; a loop over steps may not."""
    try:
        with torch.no_grad():
            capture(model, inputs, [layer.name for layer in trace.layers], clone=trace.clones)
    except LayerError:
        return False
    return True


def thumbnails(side: int = 32, channels: int = 16) -> Reduce:
    """Return a reduction to what a gallery tile draws: at most `channels` maps of at most `side` pixels."""
    geometry: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def picked(shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        _, c, h, w = shape
        sy, sx = -(-h // side), -(-w // side)
        return (min(c, channels), -(-h // sy), -(-w // sx)), (steps[1], steps[2] * sy, steps[3] * sx)

    def reduce(name: str, value: Tensor) -> Tensor:
        if value.ndim == 4:
            # strided picking costs one small copy (averaging would read the whole map), and one view is cheaper to make
            # than the four slices that say the same
            key = value.shape, value.stride()
            if (found := geometry.get(key)) is None:
                found = geometry[key] = picked(*key)
            return value.as_strided(*found, value.storage_offset()).clone()
        return (value[0, :channels] if value.ndim > 1 else value).clone()

    return reduce


def state_values(values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return captures as contiguous CPU tensors that share no memory, ready for safetensors."""
    return {name: value.detach().cpu().contiguous().clone() for name, value in values.items()}
