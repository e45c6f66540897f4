"""Networks of language with several arguments: which are numbers of tokens, and what stands beside them, by trial."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.telling.asking import Named, Sizes, parse_unplaced
from explorer.network.input.arguments import ByName
from explorer.network.input.unplaced import BATCH, settled_forms, unplaced_forms, unplaced_others, unplaced_trial
from explorer.network.tracing.trials import answer_of
from explorer.spaces.sequence.network.extents import LENGTH, extent, told_extent
from explorer.spaces.sequence.network.form import IDS, NAMED, ONES, is_beside, is_extent

MOST_TRIALS = 200


def usual_form(name: str) -> Sizes:
    """Return what an argument of a network of language takes unless it says otherwise: tokens, or a mask of them."""
    return ONES if "mask" in name else IDS


def said_names(given: object) -> Named:
    """Read INPUT_NAMES: names, or a mapping from names to "ids", "mask", what tells how far they go, or numbers.

    Raises:
        ValueError: it is none, with what it should be.
    """
    items: list[tuple[Any, Any]] = []
    if isinstance(given, Mapping):
        items = list(given.items())
    elif isinstance(given, list | tuple):
        items = [(name, "") for name in given]
    found = [(name, _form_of(name, said)) for name, said in items]
    if (given and not items) or any(form is None for _, form in found):
        raise ValueError(
            "INPUT_NAMES must be names of arguments, as in ('input_ids', 'attention_mask'), or what each takes, as in "
            "{'text': 'ids', 'lengths': 'length'}"
        )
    return tuple((name, form) for name, form in found if form is not None)


def _form_of(name: object, said: object) -> Sizes | None:
    if not isinstance(name, str) or not name.isidentifier() or not isinstance(said, str):
        return None
    if not said:
        return usual_form(name)
    return (said,) if said in NAMED else parse_unplaced(said)


def arguments(named: Named, ids: Tensor, order: str, others: Sequence[Tensor] = ()) -> tuple[Tensor, ...]:
    """Return what a network is given: numbers of tokens, of shape (N, T) or (T, N), and what stands beside them.

    Args:
        ids: of the first argument.
        order: of the axes, "NT" or "TN".
        others: numbers of tokens of the arguments behind the first, in their order; else the same.
    """
    batch, steps = (ids.shape[order.index(axis)] for axis in "NT")
    rest = iter(others)

    def made(form: Sizes, first: bool) -> Tensor:
        if form == ONES:
            return torch.ones_like(ids)
        if is_extent(form):
            return extent(form, batch, steps, steps).to(ids.device)
        if is_beside(form):
            return unplaced_trial(form, batch).to(ids.device)
        return ids if first else next(rest, ids)

    first = next((k for k, (_, form) in enumerate(named) if form == IDS), 0)
    return tuple(made(form, k == first) for k, (_, form) in enumerate(named))


def told_names(network: nn.Module, names: Sequence[str], steps: int) -> Named:
    """Return what the arguments of a network are, of which the first takes numbers of tokens: by trial.

    One that says how many tokens count, or which, is told by what it hides; numbers that lie at no place by that the
    network runs with nothing else in their place.
    """
    usual = tuple((name, usual_form(name)) for name in names)
    if len(names) < 2 or usual[0][1] != IDS:
        return usual
    call = ByName(tuple(names))
    for order in ("NT", "TN"):
        ids = torch.ones((BATCH, steps) if order == "NT" else (steps, BATCH), dtype=torch.int64)
        found = _with_extents(network, call, usual, ids, order)
        if answer_of(network, arguments(found, ids, order), call) is None:
            found = _with_numbers(network, call, found, ids, order)
        if found != usual and answer_of(network, arguments(found, ids, order), call) is not None:
            return found
    return usual


def _with_extents(network: nn.Module, call: ByName, named: Named, ids: Tensor, order: str) -> Named:
    """Return the arguments with those that say how far the tokens go told as that."""
    known: dict[int, Sizes] = {}
    for at in reversed(range(1, len(named))):
        choices = [
            [known[k]] if k in known else [form] if k in (0, at) else [form, LENGTH]
            for k, (_, form) in enumerate(named)
        ]
        for forms in itertools.islice(itertools.product(*choices), MOST_TRIALS):
            tried = _of_forms(named, forms)
            told = told_extent(network, call, arguments(tried, ids, order), at, order)
            if told is not None:
                # whole ones are what most networks of language take as a mask
                whole = forms[at] == ONES and told[0] == "onesNT"
                known[at] = ONES if whole else told
                break
    return tuple((name, known.get(k, form)) for k, (name, form) in enumerate(named))


def _with_numbers(network: nn.Module, call: ByName, named: Named, ids: Tensor, order: str) -> Named:
    """Return the arguments with those told that are numbers at no place; as they are where none or several ways run."""
    alone = unplaced_forms(network)
    choices = [[form] if not k or form != IDS else [IDS, *alone] for k, (_, form) in enumerate(named)]
    batch = ids.shape[order.index("N")]
    for forms in itertools.islice(itertools.product(*choices), 1, MOST_TRIALS):
        given = arguments(_of_forms(named, forms), ids, order)
        if answer_of(network, given, call) is None:
            continue

        def others(form: Sizes) -> list[Tensor]:
            return [ids, *unplaced_others(form, alone, batch)] if is_beside(form) else []

        if settled := settled_forms(network, call, given, forms, others, batch):
            return _of_forms(named, settled)
    return named


def _of_forms(named: Named, forms: Sequence[Sizes]) -> Named:
    return tuple((name, form) for (name, _), form in zip(named, forms, strict=True))
