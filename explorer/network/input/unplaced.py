"""Find out by trial which numbers at no place a network takes beside its data: a vector, one number, a class."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.telling.asking import BELOW, NUMBER, VECTOR, Named, Sizes, is_unplaced
from explorer.network.input.arguments import ByName
from explorer.network.input.recognise import shapes_of
from explorer.network.tracing.trials import answer_of

MOST_WIDTHS = 4  # of vectors
BATCH = 2  # tells one number for each sample from one that is everywhere the same
WHOLE: Sizes = (BELOW, 0)  # a whole number, below what is still to be found


def in_order(named: Named) -> tuple[tuple[str, ...], ByName]:
    """Return the names with what has places first, of which the first is x, and how a network is called with them."""
    names = tuple(name for name, _ in named)
    held = tuple(name for name, _ in sorted(named, key=lambda one: is_unplaced(one[1])))
    return held, ByName(names, tuple(held.index(name) for name in names))


def unplaced_forms(network: nn.Module) -> list[Sizes]:
    """Return what numbers beside data could be: vectors that a dense layer takes, one number, a whole one."""
    widths = dict.fromkeys(shape[-1] for shape in shapes_of(network) if len(shape) == 2)
    some = itertools.islice((width for width in widths if width > 1), MOST_WIDTHS)
    return [*((VECTOR, width) for width in some), (NUMBER,), WHOLE]


def unplaced_trial(form: Sizes, batch: int) -> Tensor:
    """Return numbers of a form, for a batch: the same at every call."""
    match form:
        case (str(kind), int(size)) if kind == BELOW:
            return torch.full((batch,), max(0, size - 1), device="cpu")
        case (_, int(count), int(size)):
            return torch.randint(0, size, (batch, count), generator=torch.Generator().manual_seed(0))
        case (_, int(size)):
            shape: tuple[int, ...] = (batch, size)
        case _:
            shape = (batch,)
    return torch.rand(shape, generator=torch.Generator().manual_seed(0), device="cpu")


def unplaced_others(form: Sizes, forms: Sequence[Sizes], batch: int) -> list[Tensor]:
    """Return what a network that takes numbers of one form must refuse in their place."""
    # what takes real numbers takes whole ones as well
    other = [unplaced_trial(one, batch) for one in forms if one not in (form, WHOLE)]
    match form:
        case (str(kind), int(size)) if kind == VECTOR:
            return [*other, unplaced_trial((VECTOR, size + 1), batch)]
        case _:
            return other


def settled_forms(
    network: nn.Module,
    call: Callable[[nn.Module, tuple[Tensor, ...]], Any],
    given: Sequence[Tensor],
    forms: Sequence[Sizes],
    others: Callable[[Sizes], Sequence[Tensor]],
    batch: int,
) -> tuple[Sizes, ...]:
    """Return the forms of arguments that a network runs with, if it runs with nothing else in the place of any.

    Args:
        given: what it runs with.
        others: what it must refuse in the place of a form that is not WHOLE.

    Returns:
        the forms, with the table's length in place of WHOLE, or () where something else runs too.
    """

    def runs(place: int, other: Tensor) -> bool:
        return answer_of(network, [*given[:place], other, *given[place + 1 :]], call) is not None

    if any(runs(k, other) for k, form in enumerate(forms) for other in others(form)):
        return ()
    found = tuple(_below(network, partial(runs, k), batch) if f == WHOLE else f for k, f in enumerate(forms))
    return () if WHOLE in found else found


def _below(network: nn.Module, runs: Callable[[Tensor], bool], batch: int) -> Sizes:
    """Return below what a whole number must be, by trial of the sizes of what a network keeps; WHOLE where unknown."""
    for size in sorted({n for shape in shapes_of(network) if len(shape) < 3 for n in shape}, reverse=True):
        last, beyond = (unplaced_trial((BELOW, n), batch) for n in (size, size + 1))
        if runs(last) and not runs(beyond):
            return (BELOW, size)
    return WHOLE
