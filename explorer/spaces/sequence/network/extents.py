"""Tell by trial what says how far a sequence goes: its number of steps, or a mask of them, as padded batches have."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.telling.asking import Sizes
from explorer.network.tracing.trials import answer_of
from explorer.spaces.sequence.network.form import EXTENTS

LENGTH: Sizes = (EXTENTS[0],)
FORMS: tuple[Sizes, ...] = tuple((word,) for word in EXTENTS)
_MASK = re.compile("(valid|ones|padding)(.+)")
_CHANGED = 3.0  # what is added to steps that an extent leaves out
_OTHER = -1  # what is added to numbers of tokens, which are ones


def extent(form: Sizes, batch: int, steps: int, shown: int) -> Tensor:
    """Return the length or the mask that lets a network see the first steps of sequences, so many of them."""
    found = _MASK.fullmatch(str(form[0]))
    if found is None:
        return torch.full((batch,), shown, device="cpu")
    seen = (torch.arange(steps, device="cpu") < shown).expand(batch, steps)
    told = ~seen if found[1] == "padding" else seen.float() if found[1] == "ones" else seen.clone()
    return told.reshape([{"N": batch, "T": steps, "1": 1}[axis] for axis in found[2]]).contiguous()


def told_extent(
    network: nn.Module,
    call: Callable[[nn.Module, tuple[Tensor, ...]], Any],
    given: Sequence[Tensor],
    at: int,
    order: str,
    forms: Sequence[Sizes] = FORMS,
) -> Sizes | None:
    """Return the form of an argument that says how far the sequences beside it go; None where it does not.

    With such a length or mask no step behind it changes the answer at the steps before; with all of them some do.

    Args:
        given: sequences of the same length in that order of axes, of values or of tokens that all have the number 1,
            and anything in the place `at`.
    """
    time = order.index("T")
    sequences = [k for k, v in enumerate(given) if v.ndim == len(order) and k != at and v.dtype != torch.bool]
    if not sequences:
        return None
    batch, steps = given[sequences[0]].shape[order.index("N")], given[sequences[0]].shape[time]
    shown = steps // 2

    def answer(form: Sizes, count: int, changed: bool) -> Tensor | None:
        held = list(given)
        held[at] = extent(form, batch, steps, count)
        for k in sequences if changed else []:
            held[k] = held[k].clone()
            behind = held[k].narrow(time, shown, steps - shown)
            behind.add_(_CHANGED if behind.is_floating_point() else _OTHER)
        return answer_of(network, held, call)

    def ends(count: int) -> bool:
        fewer = [v.narrow(time, 0, count) if k in sequences else v for k, v in enumerate(given)]
        runs = [answer_of(network, [*fewer[:at], extent(LENGTH, batch, count, n), *fewer[at + 1 :]], call)
                for n in (count, count + 1)]  # fmt: skip
        return runs[0] is not None and runs[1] is None

    for form in forms:
        whole, part = ((answer(form, n, False), answer(form, n, True)) for n in (steps, shown))
        if not _alike(*whole) or torch.equal(*whole) or not _alike(*part):  # type: ignore[arg-type]
            continue
        if torch.equal(*part):  # type: ignore[arg-type]
            return form
        before, behind = (tuple(_first(v, shown, steps) for v in pair if v is not None) for pair in (whole, part))
        if torch.equal(*behind) and not torch.equal(*before):
            return form
    # as many steps as there are and no more, whatever their number
    return LENGTH if LENGTH in forms and all(map(ends, (steps, steps - 1))) else None


def _alike(one: Tensor | None, other: Tensor | None) -> bool:
    """Say whether both are answers of the same shape without NaN and infinities."""
    return one is not None and other is not None and one.shape == other.shape and bool(one.isfinite().all())


def _first(value: Tensor, shown: int, steps: int) -> Tensor:
    """Return the values at the first steps, all of them where no axis counts steps."""
    axis = next((k for k, size in enumerate(value.shape) if size == steps), None)
    return value if axis is None else value.narrow(axis, 0, shown)
