"""Work out gates and states of torch's recurrent layers from their weights and what they are given.

torch computes them in one fused call and returns the last of them alone. The names are those of our own recurrent
networks; those of layer k and a direction stand behind "l0." or "l0_reverse.", as torch names the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

State = tuple[Tensor, ...]

LSTM = ("input_gate", "forget_gate", "cell_candidate", "output_gate", "cell", "hidden")
GRU = ("reset", "update", "candidate", "hidden")
RNN = ("hidden",)


def step(kind: str, drive: Tensor, hidden: Tensor, state: State, bias: Tensor | None, product: Tensor) -> State:
    """Return the values of one step, the state last.

    Args:
        kind: "LSTM", "GRU", "tanh" or "relu".
        drive: W x + b of the step; product: U h, without its bias.
    """
    recurrent = product if bias is None else product + bias
    if kind == "LSTM":
        i, f, g, o = (drive + recurrent).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * state[0] + i * g
        return i, f, g, o, c, o * c.tanh()
    if kind == "GRU":
        (r, z, n), (r_h, z_h, n_h) = drive.chunk(3, -1), recurrent.chunk(3, -1)
        r, z = (r + r_h).sigmoid(), (z + z_h).sigmoid()
        n = (n + r * n_h).tanh()
        return r, z, n, (1 - z) * n + z * hidden
    z = drive + recurrent
    return (z.tanh() if kind == "tanh" else z.relu(),)


def kind_of(module: nn.RNNBase) -> str:
    """Return "LSTM", "GRU", "tanh" or "relu"."""
    return module.mode if module.mode in ("LSTM", "GRU") else module.mode.removeprefix("RNN_").lower()


def names(kind: str) -> tuple[str, ...]:
    """Return what the values of a step are called."""
    return {"LSTM": LSTM, "GRU": GRU}.get(kind, RNN)


def gates(module: nn.RNNBase, given: Any, start: Any = None) -> dict[str, Tensor]:
    """Return {name: values} of every layer and direction, with the axes of what the module returns.

    Args:
        given, start: the arguments of the call. Of a packed sequence the values are padded with zeros.
    """
    kind = kind_of(module)
    lengths = None
    if isinstance(given, PackedSequence):
        x, lengths = pad_packed_sequence(given)  # (steps, batch, channels), in the order of the caller
    else:
        x = given.transpose(0, 1) if module.batch_first and given.ndim == 3 else given
    alone = x.ndim == 2
    x = x[:, None] if alone else x
    states = _states(start, alone, kind)
    found: dict[str, Tensor] = {}
    directions = ("", "_reverse") if module.bidirectional else ("",)
    below = x
    for layer in range(module.num_layers):
        outputs = []
        for d, suffix in enumerate(directions):
            at = layer * len(directions) + d
            own = {n: getattr(module, f"{n}_l{layer}{suffix}", None) for n in _WEIGHTS}
            first = tuple(s[at] for s in states) if states else None
            if lengths is None and own["weight_hr"] is None and len(below):
                values = _at_once(kind, below, own, first, bool(suffix))
            else:
                values = _run(kind, below, own, first, bool(suffix), lengths)
            outputs.append(values["hidden"])
            for name, value in values.items():
                value = value[:, 0] if alone else value
                turned = module.batch_first and not alone and lengths is None
                found[f"l{layer}{suffix}.{name}"] = value.transpose(0, 1) if turned else value
        below = torch.cat(outputs, -1)
    return found


_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _states(start: Any, alone: bool, kind: str) -> tuple[Tensor, ...]:
    """Return the states at the beginning, (layers and directions, batch, units): c and h, or h alone; () for zeros."""
    if start is None:
        return ()
    h = start[0] if kind == "LSTM" else start
    both = (start[1], h) if kind == "LSTM" else (h,)
    return tuple(s[:, None] if alone else s for s in both)


def _at_once(
    kind: str, x: Tensor, own: Mapping[str, Tensor | None], first: State | None, back: bool
) -> dict[str, Tensor]:
    """Return what `_run` does of whole sequences: torch's fused call gives the states, which all gates follow from."""
    w, u = own["weight_ih"], own["weight_hh"]
    assert w is not None and u is not None
    x = x.flip(0) if back else x
    hidden = first[-1] if first is not None else x.new_zeros(x.shape[1], u.shape[1])
    cell = first[0] if first is not None else torch.zeros_like(hidden)
    weights = [v for n in _WEIGHTS[:4] if (v := own[n]) is not None]
    fused: Any = getattr(torch._VF, {"LSTM": "lstm", "GRU": "gru"}.get(kind, f"rnn_{kind}"))
    start = (hidden[None], cell[None]) if kind == "LSTM" else hidden[None]
    states: Tensor = fused(x, start, weights, len(weights) > 2, 1, 0.0, False, False, False)[0]
    before = torch.cat([hidden[None], states[:-1]])
    drive, product = nn.functional.linear(x, w, own["bias_ih"]), before @ u.t()
    cells = before  # of no other kind than these
    if kind == "LSTM":
        i, f, g = step(kind, drive, before, (cells,), own["bias_hh"], product)[:3]
        all_cells = [cell]
        for forget, added in zip(f[:-1], (i * g)[:-1], strict=True):
            all_cells.append(forget * all_cells[-1] + added)
        cells = torch.stack(all_cells)
    values = step(kind, drive, before, (cells,), own["bias_hh"], product)
    return {n: v.flip(0) if back else v for n, v in zip(names(kind), values, strict=True)}


def _run(
    kind: str, x: Tensor, own: Mapping[str, Tensor | None], first: State | None, back: bool, lengths: Tensor | None
) -> dict[str, Tensor]:
    """Return the values of all steps of one layer in one direction, (steps, batch, units) each."""
    w, u = own["weight_ih"], own["weight_hh"]
    assert w is not None and u is not None
    drive = nn.functional.linear(x, w, own["bias_ih"])
    units, projection = u.shape[0] // len(_blocks(kind)), own["weight_hr"]
    cell, hidden = (x.new_zeros(x.shape[1], n) for n in (units, u.shape[1]))
    if first is not None:
        hidden = first[-1]
        cell = first[0] if kind == "LSTM" else cell
    all_steps: dict[str, list[Tensor]] = {name: [] for name in names(kind)}
    times = range(len(x) - 1, -1, -1) if back else range(len(x))
    for t in times:
        values = step(kind, drive[t], hidden, (cell,), own["bias_hh"], hidden @ u.t())
        h = values[-1] if projection is None else values[-1] @ projection.t()
        values = (*values[:-1], h)
        if lengths is not None:
            inside = (t < lengths.to(x.device))[:, None]
            values = tuple(torch.where(inside, v, torch.zeros_like(v)) for v in values)
            h = torch.where(inside, h, hidden)
            cell = torch.where(inside, values[-2], cell) if kind == "LSTM" else cell
        elif kind == "LSTM":
            cell = values[-2]
        hidden = h
        for name, value in zip(all_steps, values, strict=True):
            all_steps[name].append(value)
    return {n: torch.stack(v[::-1] if back else v) if v else x.new_zeros(0, x.shape[1], units)
            for n, v in all_steps.items()}  # fmt: skip


def _blocks(kind: str) -> str:
    return {"LSTM": "ifgo", "GRU": "rzn"}.get(kind, "h")


def of_cell(module: nn.RNNCellBase, given: Tensor, start: Any = None) -> dict[str, Tensor]:
    """Return {name: (batch, units)} of one step of LSTMCell, GRUCell or RNNCell."""
    kind = "LSTM" if isinstance(module, nn.LSTMCell) else "GRU" if isinstance(module, nn.GRUCell) else "tanh"
    kind = str(module.nonlinearity) if isinstance(module, nn.RNNCell) else kind
    x = given[None] if given.ndim == 1 else given
    if start is None:
        hidden = cell = x.new_zeros(len(x), module.hidden_size)
    else:
        hidden, cell = start if kind == "LSTM" else (start, start)
        hidden, cell = (s[None] if s.ndim == 1 else s for s in (hidden, cell))
    drive = nn.functional.linear(x, module.weight_ih, module.bias_ih)
    values = step(kind, drive, hidden, (cell,), module.bias_hh, hidden @ module.weight_hh.t())
    return dict(zip(names(kind), values, strict=True))


def in_order(calls: list[Tensor]) -> list[int]:
    """Return the numbers of the calls in the order of time: backwards where each was given the step before.

    A step that a loop takes of a sequence lies where it lies in the sequence.
    """
    return (passes(calls, 1) or one_by_one(len(calls), 1))[0]


def one_by_one(calls: int, loops: int) -> list[list[int]]:
    """Return the numbers of the calls of loops that run one after the other, in the order of the calls."""
    each = calls // loops
    return [list(range(k * each, (k + 1) * each)) for k in range(loops)]


def passes(given: Sequence[Tensor | None], loops: int) -> list[list[int]]:
    """Return the numbers of the calls of each loop in the order of time, [] where what was given does not tell it.

    Loops run one after the other, or one within the other's steps: each is given one step of a sequence after another.
    """
    parts = [t for t in given if t is not None]
    stored = {t.untyped_storage().data_ptr() for t in parts}
    if len(stored) != 1 or len(parts) < len(given) or len(given) % loops:
        return []
    at = [t.storage_offset() for t in parts]
    for found in (one_by_one(len(at), loops), [list(range(k, len(at), loops)) for k in range(loops)]):
        rises = [{b > a if a != b else None for a, b in pairwise(at[k] for k in times)} for times in found]
        if all(rise in ({True}, {False}) for rise in rises):
            return [times[::-1] if rise == {False} else times for times, rise in zip(found, rises, strict=True)]
    return []


def arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return (input, state) of a call of a recurrent module, None where there is no state."""
    given = args[0] if args else kwargs["input"]
    return given, args[1] if len(args) > 1 else kwargs.get("hx")


def stacked(calls: list[dict[str, Tensor]], order: list[int]) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, values of all calls), (calls, units) where each call had one sample."""
    for name in calls[0] if calls else ():
        parts = [calls[k][name] for k in order]
        if len({p.shape for p in parts}) == 1:
            value = torch.stack(parts)
            yield name, value[:, 0] if value.shape[1] == 1 else value
