"""Ask networks on points what they tell of themselves: pairs of lifted points, and paths of products of irreps."""

from __future__ import annotations

import inspect

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.network.input.inputs import Inputs
from explorer.spaces.points.drawing.values import Lifted, Route
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

MOST_LIFTED = 2**22  # pairs of lifted points that are looked at


def lifted_of(p: Prepared, inputs: Inputs) -> Lifted | None:
    """Return what lifted points are to each other; None of a network without any.

    A network that lifts points has a method `lifted`, which takes inputs by their names and returns logarithms
    (6 K K, N, N), distances (K K, N, N), the weight of turns in a distance, and how far a point sees.
    """
    show = getattr(p.model, "lifted", None)
    if not inspect.ismethod(show):
        return None
    given = {name: inputs.get(name) for name in inspect.signature(show).parameters}
    with torch.inference_mode():
        logs, distance, alpha, reach = show(**{name: value for name, value in given.items() if value is not None})
    if distance.numel() > MOST_LIFTED:
        return None
    turn, shift = logs.unflatten(0, (2, 3, -1)).square().sum(1).sqrt()
    count = round(len(distance) ** 0.5)
    tables = [_frozen(part.unflatten(0, (count, count))) for part in (turn, shift, distance)]
    return Lifted(tables[0], tables[1], tables[2], alpha, reach)


@kept()
def lifted_at_first(p: Prepared) -> Lifted | None:
    """Return the same of x, made once an epoch."""
    return lifted_of(p, p.inputs)


@kept()
def routes_of(p: Prepared) -> dict[str, tuple[Route, ...]]:
    """Return how much each path of each product carries: the mean square of what it gives, over all its places.

    A product is a module with a dictionary `paths` of modules called after what they couple, "1o_x_2e_to_1o".
    """
    made: dict[str, tuple[Route, ...]] = {}
    for name, module in p.model.named_modules():
        paths = getattr(module, "paths", None)
        if not isinstance(paths, torch.nn.ModuleDict):
            continue
        found = []
        for key in paths:
            value = p.values.get(layer := f"{name}.paths.{key}")
            ends = key.replace("_to_", "_x_").split("_x_")
            if value is not None and len(ends) == 3:
                size = float(value.double().square().sum() / max(1, len(value)))
                found.append(Route(ends[0], ends[1], ends[2], size, layer))
        if found:
            made[name] = tuple(found)
    return made


def _frozen(values: torch.Tensor) -> NDArray[np.float64]:
    array = np.array(values.cpu().numpy(), np.float64)
    array.flags.writeable = False
    return array
