"""Truncated backpropagation through time: values stay the same, gradients cross no multiple of k steps.

Williams and Peng, "An efficient gradient-based algorithm for on-line training of recurrent network trajectories",
1990. The sequence is cut into pieces of k steps, counted in the order in which a layer reads; its state is handed from
one piece to the next without its history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

State = tuple[Tensor, ...]


class Cuts:
    """The recurrent modules whose state was detached while a network ran."""

    def __init__(self) -> None:
        self.modules: set[str] = set()


@contextmanager
def truncated(model: nn.Module, every: int | None) -> Iterator[Cuts]:
    """Detach every recurrent state of `model` after each `every` steps, until the end of the block; None: never.

    Three kinds of recurrence are known: modules with an attribute `detach_every` that they honour themselves, torch's
    RNN, LSTM and GRU, which are run in pieces, and its cells, whose calls are counted.

    Raises:
        ValueError: `every` is less than one step.
    """
    if every is not None and every < 1:
        raise ValueError(f"the state can be detached after at least one step, not {every}")
    found = Cuts()
    with ExitStack() as undo:
        for name, module in model.named_modules() if every is not None else ():
            assert every is not None
            if hasattr(module, "detach_every"):
                undo.callback(setattr, module, "detach_every", module.detach_every)
                module.detach_every = every
                found.modules.add(name)
            elif isinstance(module, nn.RNNBase):
                own = vars(module).get("forward")
                undo.callback(_put_back, module, own)
                module.forward = _in_pieces(module, every, lambda n=name: found.modules.add(n))  # type: ignore[misc]
            elif isinstance(module, nn.RNNCellBase):
                hook = _counting(every, lambda n=name: found.modules.add(n))  # type: ignore[misc]
                undo.callback(module.register_forward_pre_hook(hook, with_kwargs=True).remove)
        yield found


def _put_back(module: nn.Module, own: Callable[..., Any] | None) -> None:
    del module.forward
    if own is not None:
        module.forward = own


def _counting(every: int, tell: Callable[[], None]) -> Callable[..., Any]:
    """Return a hook that detaches the state which each `every`-th call of a cell is given."""
    calls = 0

    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        tell()
        if calls == 1 or (calls - 1) % every:
            return None
        x, *rest = args
        return (x, *map(_detached, rest)), {key: _detached(v) if key == "hx" else v for key, v in kwargs.items()}

    return hook


def _detached(state: Any) -> Any:
    return tuple(map(_detached, state)) if isinstance(state, tuple) else state.detach() if state is not None else None


def _in_pieces(rnn: nn.RNNBase, every: int, tell: Callable[[], None]) -> Callable[..., Any]:
    """Return a forward that runs each layer and direction of torch's RNN, LSTM or GRU in pieces of `every` steps."""
    whole, double = rnn.forward, isinstance(rnn, nn.LSTM)

    def forward(x: Any, hx: Any = None) -> Any:
        if not isinstance(x, Tensor):
            return whole(x, hx)  # sequences packed together have no common steps
        tell()
        plain = x.ndim == 2
        along = x[:, None] if plain else x.transpose(0, 1) if rnn.batch_first else x
        given = None if hx is None else hx if double else (hx,)
        if given is not None and plain:
            given = tuple(s[:, None] for s in given)
        ends: list[State] = []
        ways = 2 if rnn.bidirectional else 1
        for layer in range(rnn.num_layers):
            made = []
            for way in range(ways):
                k = layer * ways + way
                state = None if given is None else tuple(s[k : k + 1] for s in given)
                here, end = _one_way(rnn, layer, bool(way), along, state, every)
                made.append(here)
                ends.append(end)
            along = torch.cat(made, -1)
        last = tuple(torch.cat(s) for s in zip(*ends, strict=True))
        if plain:
            along, last = along[:, 0], tuple(s[:, 0] for s in last)
        elif rnn.batch_first:
            along = along.transpose(0, 1)
        return along, last if double else last[0]

    return forward


def _one_way(
    rnn: nn.RNNBase, layer: int, backwards: bool, x: Tensor, state: State | None, every: int
) -> tuple[Tensor, State]:
    """Run one layer in one direction, (T, B, C) -> (T, B, H), in pieces."""
    suffix = "_reverse" if backwards else ""
    names = ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if rnn.bias else ()))
    names = (*names, "weight_hr") if rnn.proj_size else names
    weights = [getattr(rnn, f"{n}_l{layer}{suffix}") for n in names]
    settings = (rnn.bias, 1, 0.0, False, False, False)  # biases, layers, dropout, training, both ways, batch first
    if state is None:
        sizes = (rnn.proj_size or rnn.hidden_size, *((rnn.hidden_size,) if isinstance(rnn, nn.LSTM) else ()))
        state = tuple(x.new_zeros(1, x.shape[1], size) for size in sizes)
    pieces = []
    for piece in (x.flip(0) if backwards else x).split(every):
        if isinstance(rnn, nn.LSTM):
            out, *state_ = torch.lstm(piece, state, weights, *settings)
        elif isinstance(rnn, nn.GRU):
            out, *state_ = torch.gru(piece, state[0], weights, *settings)
        else:
            run = torch.rnn_relu if getattr(rnn, "nonlinearity", "tanh") == "relu" else torch.rnn_tanh
            out, *state_ = run(piece, state[0], weights, *settings)
        pieces.append(out)
        end, state = tuple(state_), tuple(s.detach() for s in state_)
    whole = torch.cat(pieces)
    return (whole.flip(0) if backwards else whole), end
