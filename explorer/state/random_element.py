"""A random group element, as steps that the controls can show."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Step, Transform, transforms
from explorer.declare.space import kinds, space_of_kind
from explorer.state.state import State


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
    return space_of_kind(domain).random_steps(rng, size, domain, exact, state) or any_step(rng, domain)


def any_step(rng: np.random.Generator, domain: str) -> tuple[Step, ...]:
    """Return a step of the first transform of a kind of data that has a parameter along which it can be drawn."""
    fit = [t for t in transforms().values() if domain in t.domains and t.params and t.inverse is not None]
    for transform in sorted(fit, key=lambda t: t.orbit is None):
        first = transform.params[0]
        low, high = max(first.minimum, -100.0), min(first.maximum, 100.0)
        drawn = first.clamp(float(rng.uniform(low, high)))
        if drawn != first.default:
            return (Step(transform.name, (drawn, *transform.defaults[1:])),)
    return ()


def kept(transform: Transform, state: State | None) -> tuple[float, ...]:
    """Return the values of a transform in a state, else its defaults."""
    step = state.step(transform.name) if state is not None else None
    return step.values if step is not None else transform.defaults
