"""A random group element, as steps that the controls can show."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import Step, Transform, transforms
from explorer.state.state import State


def random_steps(
    rng: np.random.Generator,
    size: tuple[int, int],
    domain: str = "grid",
    exact: bool = True,
    state: State | None = None,
) -> tuple[Step, ...]:
    """Return a random element other than the identity, for an input of `size` (height, width).

    Of a graph or a set all nodes are renumbered, of a mesh all frames turned. With `exact` the element of an image
    permutes places (quarter turns,
    mirrors, whole shifts), so that a verdict can be given; without, angles and shifts are any. What is no part of the
    group (a boundary) is kept from `state`.
    """
    have = {t.name: t for t in transforms().values() if domain in t.domains}
    if "random-gauge" in have:
        # multiples of what was chosen, for a field of C_n; else any angle
        kept = _kept(have["random-gauge"], state)[1:]
        return (Step("random-gauge", (float(rng.integers(1, 10_000)), *kept)),)
    if "permute" in have:
        return (Step("permute", (float(rng.integers(1, 10_000)), 0.0)),)
    if "shift" in have:
        kept = _kept(have["shift"], state)[1:]
        return (Step("shift", (float(rng.integers(1, max(2, size[0] // 2))), *kept)),)
    steps: list[Step] = []
    for _ in range(64):  # the identity is one of eight or fewer; this many misses do not happen
        steps = []
        if "reflect" in have and rng.random() < 0.5:
            steps.append(Step("reflect", _kept(have["reflect"], state)))
        if "rotate" in have:
            angle = float(rng.integers(4) * 90) if exact else round(float(rng.uniform(0, 360)), 1)
            clamped = have["rotate"].params[0].clamp(angle)
            if clamped:
                steps.append(Step("rotate", (clamped, *_kept(have["rotate"], state)[1:])))
        if "translate" in have and rng.random() < 0.5:
            right, down = (_shift(rng, side, exact) for side in (size[1], size[0]))
            if right or down:
                steps.append(Step("translate", (right, down, *_kept(have["translate"], state)[2:])))
        if steps:
            break
    return tuple(steps)


def _shift(rng: np.random.Generator, side: int, exact: bool) -> float:
    most = max(1, side // 4)
    return float(rng.integers(-most, most + 1)) if exact else round(float(rng.uniform(-most, most)), 1)


def _kept(transform: Transform, state: State | None) -> tuple[float, ...]:
    step = state.step(transform.name) if state is not None else None
    return step.values if step is not None else transform.defaults
