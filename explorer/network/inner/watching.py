"""Watch a network while it runs, and name what arises in it that no module returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.hooks import RemovableHandle

from explorer.network.inner import messages, recurrent
from explorer.network.inner.attention import Watch
from explorer.network.inner.tiled import Tiled
from explorer.network.inner.value import GATE, Emit, Inner
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import tensors_in
from explorer.network.tracing.walking import named_modules

STEPS = "steps"  # what all calls of a module give that a loop calls once for each step or node
MOST_STEPS = 4096  # of a recurrent layer whose gates are worked out, step by step


class Names:
    """Gives each value a name of its own: that of its module, what it is, and which time it has come, from the second.

    Args:
        modules: the names of all modules, which no value takes.
        before: how often each value has come before.
    """

    def __init__(self, modules: Iterable[str], before: int = 0) -> None:
        self.modules = set(modules)
        self.calls: dict[str, int] = {}
        self.before = before

    def base(self, inner: Inner) -> str:
        """Return the name without the number of the call."""
        name = f"{inner.owner}.{inner.what}" if inner.owner else inner.what
        while name in self.modules:
            name += "_values"
        return name

    def name(self, inner: Inner) -> str:
        base = self.base(inner)
        self.calls[base] = self.calls.get(base, self.before) + 1
        return base if self.calls[base] == 1 else f"{base}#{self.calls[base]}"


class Stack:
    """The modules whose forward runs, the innermost last."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.edges: list[Tensor | None] = []

    def enter(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        self.names.append(name)
        self.edges.append(next((v for v in (*args, *kwargs.values()) if _edges(v)), None))

    def leave(self, name: str) -> None:
        # a module that raised, in a forward that caught it, never left
        while self.names and self.names[-1] != name:
            self.names.pop()
            self.edges.pop()
        if self.names:
            self.names.pop()
            self.edges.pop()

    def owner(self) -> str:
        return self.names[-1] if self.names else ""

    def listed(self) -> Tensor | None:
        """Return the edges that the innermost module was called with that was given some."""
        return next((e for e in reversed(self.edges) if e is not None), None)


def _edges(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 2 and len(value) == 2 and not value.is_floating_point()


class Inside:
    """Changes of values that arise inside of a network, by their names; `watched` while somebody watches it."""

    def __init__(self, changes: Mapping[str, Callable[[Tensor], Tensor]]) -> None:
        self.changes, self.watched = dict(changes), 0

    def changed(self, name: str, inner: Inner) -> Inner | None:
        """Return the value as it is changed, None where it is not."""
        change = self.changes.get(name)
        if change is None:
            return None
        given = (inner.passed or inner.make)()
        if isinstance(given, Tiled):
            raise LayerError(name, f"{name} is too large to be formed, so nothing can stand in its place")
        made, again = change(given), inner.again
        return replace(
            inner, make=partial(_same, made), again=None if again is None else lambda *fed: change(again(*fed))
        )


class Standing:
    """Hooks of a network inside of which something is changed, wherever it or a part of it with changes is run.

    Args:
        doors: names of the modules that may be run alone with changes inside; "" for the whole network.
        call: returns which call of a layer it stands for where it is run alone, counted from 0.
    """

    def __init__(self, model: nn.Module, inside: Inside, doors: Collection[str], call: Callable[[], int]) -> None:
        self.inside, self._doors, self._call = inside, frozenset(doors), call
        self._stack, self._names = Stack(), Names(dict(named_modules(model)))
        self._at: str | None = None  # which module was called from outside
        self._run = ExitStack()
        self.handles: list[RemovableHandle] = []
        for name, module in named_modules(model):
            before, after = partial(self._enter, name), partial(self._leave, name)
            self.handles.append(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True))
            self.handles.append(module.register_forward_hook(after, always_call=name in self._doors))

    def _enter(self, name: str, module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if self.inside.watched:
            return  # whoever watches puts the changes in
        if self._at is None and name in self._doors:
            self._at, self._names = name, Names(self._names.modules, self._call() if name else 0)
            for inner, one in module.named_modules(prefix=name):
                if messages.sends(one):
                    self._run.enter_context(messages.heard(one, inner, self._stack.listed, self._emit))
            self._run.enter_context(Watch(self._stack.owner, self._emit))
        self._stack.enter(name, args, kwargs)

    def _leave(self, name: str, *_: Any) -> None:
        self._stack.leave(name)
        if name == self._at and not self._stack.names:
            self._at = None
            self._run.close()

    def _emit(self, inner: Inner) -> Tensor | None:
        changed = self.inside.changed(self._names.name(inner), inner)
        return None if changed is None else changed.make()


def _inside(model: nn.Module) -> Inside:
    hooks = (getattr(getattr(hook, "func", None), "__self__", None) for hook in model._forward_pre_hooks.values())
    return next((one.inside for one in hooks if isinstance(one, Standing)), Inside({}))


def stepwise(names: Iterable[str], modules: Collection[str]) -> dict[str, int]:
    """Return {module: how often a loop goes through it} where these names ask for what all calls of a loop give.

    As "cell.steps" does, and "cell.steps#2" of a loop that reads the other way round.
    """
    found: dict[str, int] = {}
    for name in names:
        owner, _, what = name.rpartition(".")
        what, _, time = what.partition("#")
        if what == STEPS and owner in modules and name not in modules:
            found[owner] = max(found.get(owner, 1), int(time or 1))
    return found


@contextmanager
def watching(
    model: nn.Module, found: Callable[[str, Inner], None], steps: Mapping[str, int] = MappingProxyType({})
) -> Iterator[Callable[[], None]]:
    """Call `found` with the name and each value that arises in the block; yield what is called when the run is over.

    Args:
        steps: modules of which all calls are one value, as a loop over steps calls them, and how many loops do.
    """
    stack, modules = Stack(), dict(named_modules(model))
    names, inside = Names(modules), _inside(model)
    cells: dict[str, list[tuple[Tensor, dict[str, Tensor]]]] = {}
    answers: dict[str, list[tuple[Tensor | None, Tensor]]] = {}

    def emit(inner: Inner) -> Tensor | None:
        name = names.name(inner)
        changed = inside.changed(name, inner)
        found(name, changed or inner)
        return None if changed is None else changed.make()

    def enter(name: str, _: nn.Module, args: Any, kwargs: Any) -> None:
        stack.enter(name, args, kwargs)

    def leave(name: str, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        stack.leave(name)
        if name in steps and (given := next(tensors_in(result), None)) is not None:
            answers.setdefault(name, []).append((next(tensors_in(args), None), given.clone()))
        if isinstance(module, nn.RNNBase):
            _recurrent(name, module, args, kwargs, result, emit)
        elif isinstance(module, nn.RNNCellBase) and type(module) in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
            given, start = recurrent.arguments(args, kwargs)
            cells.setdefault(name, []).append((given, recurrent.of_cell(module, given, start)))

    def finish() -> None:
        for name, calls in cells.items():
            order = recurrent.in_order([given for given, _ in calls])
            for what, value in recurrent.stacked([values for _, values in calls], order):
                emit(Inner(name, what, GATE, partial(_same, value)))
        known = {name: recurrent.passes([given for given, _ in of], steps[name]) for name, of in answers.items()}
        for name, of in answers.items():
            # what is computed on the way says nothing of its time, and what the loop takes of a sequence does
            beside = (p for n, p in known.items() if p and steps[n] == steps[name] and _beside(n, name))
            for times in known[name] or next(beside, recurrent.one_by_one(len(of), steps[name])):
                if len({of[k][1].shape for k in times}) == 1:
                    emit(Inner(name, STEPS, "Steps", partial(_same, torch.stack([of[k][1] for k in times]))))

    inside.watched += 1
    with ExitStack() as undo:
        undo.callback(setattr, inside, "watched", inside.watched - 1)
        for name, module in modules.items():
            undo.callback(module.register_forward_pre_hook(partial(enter, name), prepend=True, with_kwargs=True).remove)
            undo.callback(module.register_forward_hook(partial(leave, name), with_kwargs=True).remove)
            if messages.sends(module):
                undo.enter_context(messages.heard(module, name, stack.listed, emit))
        undo.enter_context(Watch(stack.owner, emit))
        yield finish


def _beside(one: str, other: str) -> bool:
    """Say whether modules are the same one, or within the same one."""
    return one == other or one.startswith(f"{other}.") or one.rpartition(".")[0] == other.rpartition(".")[0] != ""


def _same(value: Tensor) -> Tensor:
    return value


def _recurrent(
    name: str, module: nn.RNNBase, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any, emit: Emit
) -> None:
    if type(module) not in (nn.LSTM, nn.GRU, nn.RNN):
        return
    given, start = recurrent.arguments(args, kwargs)
    packed = isinstance(given, PackedSequence)
    out = result[0].data if packed else result[0]
    steps = out.shape[int(module.batch_first and out.ndim == 3)]
    if steps > MOST_STEPS:
        return
    made: dict[str, Tensor] = {}

    def value(what: str) -> Tensor:
        if not made:  # all of them follow from one run
            made.update(recurrent.gates(module, given, start))
        return made[what].squeeze(1) if packed and made[what].shape[1] == 1 else made[what]

    kind = recurrent.kind_of(module)
    for layer in range(module.num_layers):
        for suffix in ("", "_reverse") if module.bidirectional else ("",):
            for what in recurrent.names(kind):
                full = f"l{layer}{suffix}.{what}"
                emit(Inner(name, full, GATE, partial(value, full), on=out))
