"""A random group element, as steps that the controls can show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.declare.elements import Step, Transform, transforms
from explorer.declare.space import kinds, space_of_kind
from explorer.state.state import State

MOST = 64  # values along an orbit that one is drawn from


def random_steps(
    rng: np.random.Generator,
    size: tuple[int, int],
    domain: str,
    exact: bool = True,
    state: State | None = None,
) -> tuple[Step, ...]:
    """Return a random element other than the identity, for an input of `size` (height, width) of some kind.

    With `exact` it permutes places where there is such a one, so that a verdict can be given. What is no part of the
    group (a boundary) is kept from `state`.
    """
    if domain not in kinds():
        return ()
    chosen = state.steps if state is not None else ()
    return space_of_kind(domain).random_steps(rng, size, domain, exact, chosen) or any_step(rng, domain, max(size))


def any_step(rng: np.random.Generator, domain: str, places: int) -> tuple[Step, ...]:
    """Return a step of the first transform of a kind of data that has a parameter along which it can be drawn.

    Args:
        places: how many the input has, of which the values along an orbit may depend.
    """
    fit = [t for t in transforms().values() if domain in t.domains and t.params and t.inverse is not None]
    for transform in sorted(fit, key=lambda t: t.orbit is None):
        which = transform.orbit or 0
        varied = transform.params[which]
        if transform.along is not None:
            offered = [float(v) for v in transform.along(places, MOST)]
        else:
            low, high = max(varied.minimum, -100.0), min(varied.maximum, 100.0)
            offered = [varied.clamp(float(v)) for v in rng.uniform(low, high, 8)]
        steps = [
            Step(transform.name, (*transform.defaults[:which], v, *transform.defaults[which + 1 :])) for v in offered
        ]
        moving = [step for step in steps if not transform.element(*step.values).identity]
        if moving:
            return (moving[int(rng.integers(len(moving)))],)
    return ()


def kept(transform: Transform, chosen: Sequence[Step]) -> tuple[float, ...]:
    """Return the values of a transform among chosen steps, else its defaults."""
    step = next((step for step in reversed(chosen) if step.name == transform.name), None)
    return step.values if step is not None else transform.defaults
