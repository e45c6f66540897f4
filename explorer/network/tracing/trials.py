"""Try a module on random values, to learn what its type and its shapes do not say; it is left as it was."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Scalar
from explorer.network.inner.value import Inner
from explorer.network.inner.watching import watching
from explorer.network.input.inputs import called
from explorer.network.input.typed_tensors import declares
from explorer.network.opening.global_state import reseed, settled
from explorer.network.space import Inference
from explorer.network.tracing.bounded import bounded, joined
from explorer.network.tracing.running import evaluating, first_tensor, measured, tensors_in, tensors_of
from explorer.network.tracing.walking import attribute, modules_of, parameters_of
from explorer.work.words import lacks_something

_DRAWS = 3
TINY = 1e-12  # an answer that is smaller says nothing
_OURS = __name__.removesuffix("network.tracing.trials")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


@contextmanager
def untouched(module: nn.Module) -> Iterator[None]:
    """Run a module in eval mode, without gradients and without hooks of this program; it is as before afterwards.

    Hooks of its own stay: they may scale what a layer gives, or keep it for the end of the forward.
    """
    modules = modules_of(module)
    scripts = [(m, m.training) for m in modules if isinstance(m, torch.jit.ScriptModule)]
    # what a script is made of lies outside of Python
    saved = [(m, dict(vars(m)), dict(m._buffers)) for m in modules if not isinstance(m, torch.jit.ScriptModule)]
    tensors = [t for _, own, buffers in saved for t in (*own.values(), *buffers.values()) if isinstance(t, Tensor)]
    tensors += [t for m, _ in scripts for t in m.buffers()]
    copies = [(t, t.clone(), t._version) for t in tensors if not is_lazy(t) and not t.is_inference()]
    rng = torch.get_rng_state()
    cuda_rng = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        for m, own, _ in saved:
            # the mappings of hooks are put aside, not emptied: who holds a handle on a hook can still remove it
            # a layer without shapes yet would take those of the trial for good, by a hook of its own
            begun = not any(map(is_lazy, own.get("_parameters", {}).values()))
            held = {name: _theirs(own[name]) if begun else type(own[name])() for name in _HOOKS if name in own}
            vars(m).update(held, training=False)
        for script, _ in scripts:
            script.eval()
        with torch.no_grad(), settled(), bounded(module):
            yield
    finally:
        for script, was in scripts:
            script.train(was)
        for m, own, buffers in saved:
            vars(m).clear()
            vars(m).update(own)
            if m._buffers != buffers or any(m._buffers[k] is not b for k, b in buffers.items()):
                m._buffers.clear()
                m._buffers.update(buffers)
        with torch.no_grad():
            for tensor, copy, version in copies:
                if tensor._version != version:
                    tensor.copy_(copy)
        torch.set_rng_state(rng)
        if cuda_rng:
            torch.cuda.set_rng_state_all(cuda_rng)


def _theirs(hooks: Mapping[int, Any]) -> Any:
    """Return a mapping of hooks without those that this program has put there."""
    return type(hooks)((k, hook) for k, hook in hooks.items() if not _is_ours(hook))  # type: ignore[call-arg]


def _is_ours(hook: Any) -> bool:
    while isinstance(hook, partial):
        hook = hook.func
    return str(getattr(hook, "__module__", "")).startswith(_OURS)


def answer_of(
    network: nn.Module, given: Sequence[Tensor], call: Callable[[nn.Module, tuple[Tensor, ...]], Any] | None = None
) -> Tensor | None:
    """Return the first tensor that a network gives for tensors, in its own type; None where it does not run."""
    weight = next((p for p in parameters_of(network) if p.is_floating_point()), torch.zeros((), device="cpu"))
    given = [v.to(weight) if v.is_floating_point() else v.to(weight.device) for v in given]
    # torch.fx prints where its code has failed, beside what it raises
    with untouched(network), redirect_stderr(io.StringIO()), joined(given):
        try:
            reseed(0)
            answer = network(*given) if call is None else call(network, tuple(given))
            if inspect.iscoroutine(answer):
                answer.close()
            return first_tensor(answer)
        except (torch.OutOfMemoryError, KeyboardInterrupt):
            raise
        except Exception as error:  # a forward of somebody else's may raise anything
            if (noted := _noted.get()) is not None:
                noted.note(error, given)
            return None


class Noted:
    """Answers of trials of a network that failed.

    Attributes:
        lacking: what they said of something that is not here: no other input would bring it.
        first: what the first of them said, if any.
    """

    def __init__(self, around: Noted | None = None) -> None:
        self._around = around  # whoever notes as well
        self.lacking: list[Exception] = []
        self.first: Exception | None = None
        self._same = True
        self._shapes: set[tuple[torch.Size, ...]] = set()

    @property
    def every(self) -> Exception | None:
        """Return what each said word for word, whatever shape it was given; None where they differ, or are one."""
        return self.first if self._same and len(self._shapes) > 1 else None

    def note(self, error: Exception, given: Sequence[Tensor]) -> None:
        """Note what a trial said of what it was given."""
        if self._around is not None:
            self._around.note(error, given)
        if lacks_something(error):
            self.lacking.append(error)
        self.first = self.first or error
        self._shapes.add(tuple(v.shape for v in given))
        try:
            alike = type(error) is type(self.first) and str(error) == str(self.first)
        except Exception:  # of somebody else's class
            alike = False
        self._same = self._same and alike


_noted: ContextVar[Noted | None] = ContextVar("what trials said that failed", default=None)


@contextmanager
def noting() -> Iterator[Noted]:
    """Collect what trials of a network say that fail."""
    noted = Noted(_noted.get())
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def same_answer(one: Tensor, other: Tensor) -> bool:
    """Say whether two answers of one shape are the same but for a thousandth, or say nothing."""
    if not one.numel() or not (one.is_floating_point() or one.is_complex()):
        return torch.equal(one, other)
    size = max(float(one.abs().max()), float(other.abs().max()))
    return torch.allclose(one, other, 1e-3, max(1e-4 * size, TINY))


class Counting:
    """A way to call a network that counts how many modules had answered when it ended, or failed.

    Attributes:
        calls: how many had answered.
        begun: whether any was called.
        missing: how many more channels the layer that refused takes than it was given; 0 where none tells.
    """

    def __init__(self, call: Callable[[nn.Module, tuple[Tensor, ...]], Any] | None) -> None:
        self.call, self.calls, self.missing = call or (lambda network, given: network(*given)), 0, 0
        self.begun = False

    def __call__(self, network: nn.Module, given: tuple[Tensor, ...]) -> Any:
        entered: list[tuple[nn.Module, Any]] = []

        def enter(module: nn.Module, args: Any) -> None:
            entered.append((module, args))

        def leave(*_: Any) -> None:
            self.calls += 1
            entered.pop()

        self.calls = self.missing = 0
        hooks = [m.register_forward_hook(leave) for m in modules_of(network)]
        hooks += [m.register_forward_pre_hook(enter) for m in modules_of(network)]
        try:
            answer = self.call(network, given)
            entered.clear()
            return answer
        finally:
            for hook in hooks:
                hook.remove()
            self.begun = self.calls > 0 or len(entered) > 1  # the first is the network itself
            if entered:
                module, args = entered[-1]
                told = next(iter(tensors_of(args, {})), None)
                takes = attribute(module, "in_features")
                if told is not None and told.ndim and isinstance(takes, int):
                    self.missing = takes - told.shape[-1]


def kept(
    module: nn.Module, args: Any, kwargs: Any, in_field: FieldType, out_field: FieldType, same: bool, declared: bool
) -> FieldType:
    """Return the field of a module's answer with its input's representation, where it keeps each channel apart.

    Args:
        same: it returned what it was given, so that a measured intensity is still one.
        declared: the author of a card stands for all fields.
    """
    if declares(module) or (in_field.rep == out_field.rep and in_field.guessed == out_field.guessed):
        return out_field
    says = getattr(module, "out_rep", None) is not None or isinstance(getattr(module, "out_field", None), FieldType)
    if same and not says:
        return in_field
    if isinstance(in_field.rep, Scalar):  # what is kept is only what is known of it
        sure = not in_field.guessed and not declared and pointwise(module, args, kwargs)
        return out_field.declared() if sure else out_field
    if not channelwise(module, args, kwargs, in_field, out_field):
        return out_field
    return replace(out_field, rep=in_field.rep, guessed=in_field.guessed)


def channelwise(
    module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], given: FieldType, answered: FieldType
) -> bool:
    """Say whether a channel of a module's answer depends on the same channel of its one tensor alone.

    Such a module has the law of its input's representation to obey: activations, dropout, pooling, blurs, a number for
    each channel. False where it cannot be tried.

    Args:
        args, kwargs: of the call; random values take the tensor's place.
        given, answered: of the tensor and of the answer.
    """

    def changed(like: Tensor, seed: int, answer: Any) -> bool | None:
        """Say whether other channels change the answer in those that stay; None where channels do not correspond."""
        generator = torch.Generator().manual_seed(seed)
        one, other = (torch.randn(like.shape, generator=generator, device="cpu").to(like) for _ in range(2))
        channels = _channels_last(one, given).shape[-1]
        if channels < 2:
            return None
        stays = torch.rand(channels, generator=generator, device="cpu") < 0.5
        stays[seed % channels], stays[(seed + 1) % channels] = True, False
        stays = stays.to(like.device)
        mixed = _as_given(torch.where(stays, _channels_last(one, given), _channels_last(other, given)), given)
        before, after = (_channels_last(answer(v), answered) for v in (one, mixed))
        if before.shape != after.shape or before.shape[-1] != channels or not before.isfinite().all():
            return None
        return not torch.equal(before[..., stays], after[..., stays])

    return _each_draw(module, args, kwargs, changed)


def pointwise(module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Say whether each value of a module's answer depends on the value at the same index of its one tensor alone."""

    def changed(like: Tensor, seed: int, answer: Any) -> bool | None:
        generator = torch.Generator().manual_seed(seed)
        one, other = (torch.randn(like.shape, generator=generator, device="cpu").to(like) for _ in range(2))
        stays = (torch.rand(like.shape, generator=generator, device="cpu") < 0.5).to(like.device)
        before, after = answer(one), answer(torch.where(stays, one, other))
        if before.shape != after.shape or before.shape != like.shape or not before.isfinite().all():
            return None
        return not torch.equal(before[stays], after[stays])

    return _each_draw(module, args, kwargs, changed)


def _each_draw(module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], changed: Any) -> bool:
    """Return whether `changed` finds no change in any of several draws."""
    like = next((a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)), None)
    if like is None or not like.is_floating_point() or not like.numel():
        return False

    def answer(value: Tensor) -> Tensor:
        reseed(0)
        found = module(
            *(value.clone() if a is like else a for a in args),
            **{k: value.clone() if a is like else a for k, a in kwargs.items()},
        )
        if not isinstance(found, Tensor):
            raise TypeError("no tensor")
        return found

    try:
        with untouched(module):
            return all(changed(like, seed, answer) is False for seed in range(_DRAWS))
    except (torch.OutOfMemoryError, KeyboardInterrupt):
        raise
    except Exception:  # a forward of somebody else's may raise anything: then nothing is known
        return False


def _channels_last(values: Tensor, field: FieldType) -> Tensor:
    if field.batched:
        return values.movedim(1, -1)
    return field.domain.places_first(values) if values.ndim > 1 else values[:, None]


def _as_given(values: Tensor, field: FieldType) -> Tensor:
    return values.movedim(-1, 1) if field.batched else field.domain.as_given(values)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The shapes of a call's tensors for inputs of another size."""

    given: tuple[tuple[int, ...], ...]
    answered: tuple[int, ...]


def sizes(
    model: nn.Module, names: Mapping[nn.Module, str], inputs: Inputs, inference: Inference,
    steps: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Sizes]:  # fmt: skip
    """Return the shapes of calls for inputs with fewer places, as far as the network comes with such inputs.

    Args:
        steps: modules of which all calls are one value.
    """
    found: dict[str, Sizes] = {}
    calls: dict[str, int] = {}

    def leave(module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        name = names[module]
        calls[name] = calls.get(name, 0) + 1
        if (out := measured(result)) is not None:
            given = tuple(tuple(t.shape) for t in tensors_of(args, kwargs))
            called = name if calls[name] == 1 else f"{name}#{calls[name]}"
            found.update({f"{called}[{k}]": Sizes((), tuple(t.shape)) for k, t in enumerate(tensors_in(result))})
            found[called] = Sizes(given, tuple(out[1].shape))

    def arisen(name: str, inner: Inner) -> None:
        found[name] = Sizes((), tuple(inner.make().shape))

    handles = []
    try:
        if (other := inference.resized(inputs)) is None:
            return {}
        handles = [m.register_forward_hook(leave, with_kwargs=True) for m in names]
        with (
            evaluating(model), torch.no_grad(), bounded(model), redirect_stderr(io.StringIO()),
            watching(model, arisen, steps) as finish,
        ):  # fmt: skip
            called(model, other, clone=True)
            finish()
    except torch.OutOfMemoryError:
        raise
    except Exception:  # a layer may take so many places and no other number: what came before it is known
        return found
    finally:
        for handle in handles:
            handle.remove()
    return found


def counted(module: nn.Module) -> int | None:
    """Return how many parameters a module has in all; None where it has none.

    Of a module without others inside they are counted at once.
    """
    own = parameters_of(module) if module._modules else [p for p in module._parameters.values() if p is not None]
    held = {id(p): p.numel() for p in own}
    return sum(held.values()) if held else None
