"""Draw a random motion of the plane, as steps that the controls can show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.declare.elements import Step, transforms
from explorer.state.random_element import kept


def random_motion(
    rng: np.random.Generator, size: tuple[int, int], exact: bool, chosen: Sequence[Step] = ()
) -> tuple[Step, ...]:
    """Return a random element other than the identity, for an image of `size` (height, width).

    With `exact` it permutes places (quarter turns, mirrors, whole shifts), so that a verdict can be given; without,
    angles and shifts are any. What is no part of the group (a boundary) is kept from the steps that are `chosen`.
    """
    have = transforms()
    steps: list[Step] = []
    for _ in range(64):  # the identity is one of eight or fewer; this many misses do not happen
        steps = []
        if rng.random() < 0.5:
            steps.append(Step("reflect", kept(have["reflect"], chosen)))
        angle = float(rng.integers(4) * 90) if exact else round(float(rng.uniform(0, 360)), 1)
        if clamped := have["rotate"].params[0].clamp(angle):
            steps.append(Step("rotate", (clamped, *kept(have["rotate"], chosen)[1:])))
        if rng.random() < 0.5:
            right, down = (_shift(rng, side, exact) for side in (size[1], size[0]))
            if right or down:
                steps.append(Step("translate", (right, down, *kept(have["translate"], chosen)[2:])))
        if steps:
            break
    return tuple(steps)


def _shift(rng: np.random.Generator, side: int, exact: bool) -> float:
    most = max(1, side // 4)
    return float(rng.integers(-most, most + 1)) if exact else round(float(rng.uniform(-most, most)), 1)
