"""Make what a network is called with of a sample, and call the network with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from explorer.declare.inputs import Inputs
from explorer.network.changing.conduct import IN_PLACE, overwritten, writes
from explorer.network.changing.interventions.moving import moved_by
from explorer.network.input.typed_tensors import wrapped
from explorer.network.opening.global_state import settled
from explorer.network.space import spaces

if TYPE_CHECKING:
    from explorer.declare.card import Form
    from explorer.declare.samples import Sample


_seen: ContextVar[list[str] | None] = ContextVar("seen", default=None)


@contextmanager
def noticing(wished: bool = True) -> Iterator[list[str]]:
    """Give copies to the networks that are called meanwhile, and note in the list that one has changed them.

    A network may do so with some data only: what it did with the first says nothing of the others.
    """
    seen = list[str]()
    token = _seen.set(seen if wished else None)
    try:
        yield seen
    finally:
        _seen.reset(token)


def called(model: nn.Module, inputs: Inputs, clone: bool = False) -> Any:
    """Call a network, with copies of the arguments if `clone` says so, and return what it returns."""
    seen = _seen.get()
    given = tuple(v.clone() for v in inputs.arguments) if clone or seen is not None else inputs.arguments
    fresh = () if seen is None else [writes(v) for v in given]
    with settled(), moved_by([inputs.by]) if inputs.by else nullcontext():
        answer = model(*wrapped(model, given)) if inputs.call is None else inputs.call(model, given)
    if seen == [] and overwritten(given, fresh, inputs.arguments):
        seen.append(IN_PLACE)
    return answer


def from_signals(
    sample: Sample, names: tuple[str, ...], device: torch.device, dtype: torch.dtype, *, aside: int = 0
) -> Inputs:
    """Return signals of a sample as the arguments of a network; those whose field has a batch axis get one.

    Args:
        aside: how many of the last names are no arguments, but move along.

    Raises:
        ValueError: NaN and infinities.
    """
    values, fields = [], []
    for name in names:
        signal = sample.signals[name]
        if not np.isfinite(signal.values).all():
            bad, title = int((~np.isfinite(signal.values)).sum()), sample.title or sample.name
            raise ValueError(f"{title} holds {bad} NaN or infinite value(s); nothing can be measured on it")
        value = torch.from_numpy(np.array(signal.values)).to(device)
        value = value.to(dtype) if value.is_floating_point() else value
        values.append(value[None] if signal.field.batched else value)
        fields.append(signal.field)
    return Inputs(tuple(values), tuple(fields), names, aside)


def inputs_from(sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return what a network that takes this form is called with.

    Raises:
        ValueError: NaN and infinities.
    """
    return spaces()[form.space].inputs(sample, form, device, dtype)
