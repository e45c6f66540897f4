"""Choose the element that data are shown under first: short data are cut off wholly by what shows a longer sequence."""

from __future__ import annotations

from collections.abc import Callable

import torch

from explorer.declare.card import Card
from explorer.declare.elements import Element, NoAction, Step, chain_element, parse_chain
from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.space import kinds
from explorer.equivariance.measure import unmoved
from explorer.network.input.inputs import inputs_from

LEAST = 0.49  # of the places of x are left to compare: one of two are enough


def shown_first(card: Card, sample: Callable[[], Sample], wanted: tuple[Step, ...] = ()) -> tuple[Step, ...]:
    """Return the first element that shows something of the data of a network, tried on them.

    Asked are what is `wanted`, what shows something of this kind of data, and what its kind has for data on which
    that shows nothing. Where none does, or there is no sample, it is the first of them.
    """
    kind = kinds()[card.domain]
    asked = [*filter(None, [wanted]), parse_chain(kind.showcase), *map(parse_chain, kind.otherwise)]
    if len(asked) > 1:
        try:
            inputs = inputs_from(sample(), card.input, torch.device("cpu"), torch.float32)
        except (ValueError, OSError):  # whoever shows the data says what is wrong with them
            return asked[0]
        with torch.inference_mode():
            # of what somebody has chosen one place is enough
            shows = (s for s in asked if _shows(chain_element(s), inputs, LEAST if s != wanted else 0.0))
            return next(shows, asked[0])
    return asked[0]


def _shows(element: Element, inputs: Inputs, least: float) -> bool:
    """Say whether an element moves the data, and leaves more than such a share of their places to be compared."""
    try:
        bound = element.on(inputs)
        known = bound.known(inputs.x, inputs.field)
        if known is not None and known.numel() and float(known.float().mean()) <= least:
            return False
        return not bound.identity and not unmoved(inputs.arguments, inputs.moved(bound).arguments)
    except (NoAction, ValueError):
        return False
