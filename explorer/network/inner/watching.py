"""Watch a network while it runs, and name what arises in it that no module returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from explorer.network.inner import messages, recurrent
from explorer.network.inner.attention import Watch
from explorer.network.inner.value import GATE, Emit, Inner

MOST_STEPS = 4096  # of a recurrent layer whose gates are worked out, step by step


class Names:
    """Gives each value a name of its own: that of its module, what it is, and which time it has come, from the second.

    Args:
        modules: the names of all modules, which no value takes.
    """

    def __init__(self, modules: Iterator[str] | Mapping[str, object]) -> None:
        self.modules = set(modules)
        self.calls: dict[str, int] = {}

    def base(self, inner: Inner) -> str:
        """Return the name without the number of the call."""
        name = f"{inner.owner}.{inner.what}" if inner.owner else inner.what
        while name in self.modules:
            name += "_values"
        return name

    def name(self, inner: Inner) -> str:
        base = self.base(inner)
        self.calls[base] = self.calls.get(base, 0) + 1
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


def _edges(value: Any) -> bool:
    return isinstance(value, Tensor) and value.ndim == 2 and len(value) == 2 and not value.is_floating_point()


@contextmanager
def watching(model: nn.Module, found: Callable[[str, Inner], None]) -> Iterator[Callable[[], None]]:
    """Call `found` with the name and each value that arises in the block; yield what is called when the run is over."""
    stack, modules = Stack(), dict(model.named_modules())
    names = Names(modules)
    cells: dict[str, list[tuple[Tensor, dict[str, Tensor]]]] = {}

    def emit(inner: Inner) -> None:
        found(names.name(inner), inner)

    def enter(name: str, _: nn.Module, args: Any, kwargs: Any) -> None:
        stack.enter(name, args, kwargs)

    def leave(name: str, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        stack.leave(name)
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

    with ExitStack() as undo:
        for name, module in modules.items():
            undo.callback(module.register_forward_pre_hook(partial(enter, name), prepend=True, with_kwargs=True).remove)
            undo.callback(module.register_forward_hook(partial(leave, name), with_kwargs=True).remove)
            if messages.sends(module):
                undo.enter_context(messages.heard(module, name, partial(_last, stack.edges), emit))
        undo.enter_context(Watch(stack.owner, emit))
        yield finish


def _same(value: Tensor) -> Tensor:
    return value


def _last(edges: list[Tensor | None]) -> Tensor | None:
    return next((e for e in reversed(edges) if e is not None), None)


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
