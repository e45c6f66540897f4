"""Ask networks what they tell of themselves: pairs of lifted points, paths of products, functions of distances."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.declare.inputs import Inputs
from explorer.network.tracing.walking import named_modules
from explorer.spaces.points.drawing.routes import Route
from explorer.spaces.points.drawing.spectrum import Curve
from explorer.spaces.points.drawing.values import Lifted
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

    A product is a module with a dictionary `paths` of modules called after what they couple, "1o_x_2e_to_1o"; or one
    that adds its paths up, with a method `by_path`, which takes what its forward takes and yields such a name, the
    first channel that this path adds to, and what it adds, (batch, channels, ...). What values are coupled with, unless
    with harmonics of a way, it says in `coupled_with`.
    """
    made: dict[str, tuple[Route, ...]] = {}
    for name, module in named_modules(p.model):
        paths, by_path = getattr(module, "paths", None), getattr(module, "by_path", None)
        found = []
        if isinstance(paths, torch.nn.ModuleDict):
            for key in paths:
                value = p.values.get(layer := f"{name}.paths.{key}")
                if value is not None:
                    found += _route(key, value, max(1, len(value)), layer)
        elif inspect.ismethod(by_path) and (fed := p.fed.get(name)):
            with torch.inference_mode():
                for key, first, value in by_path(*fed):
                    places = max(1, value.numel() // value.shape[1])
                    found += _route(key, value, places, name, (first, value.shape[1]))
        if found:
            other = getattr(module, "coupled_with", "")
            made[name] = tuple(replace(route, coupled_with=other) for route in found) if other else tuple(found)
    return made


@kept()
def curves_of(p: Prepared) -> dict[str, Curve]:
    """Return the functions of a distance or an angle that modules show of themselves, by a method `curves`."""
    made: dict[str, Curve] = {}
    for name, module in named_modules(p.model):
        if inspect.ismethod(show := getattr(module, "curves", None)):
            along, values, quantity, unit = show()
            made[name] = Curve(_frozen(along.detach()), _frozen(values.detach()), quantity, unit)
    return made


def _route(key: str, value: torch.Tensor, places: int, layer: str, channels: tuple[int, int] = (0, 0)) -> list[Route]:
    ends = key.replace("_to_", "_x_").split("_x_")
    if len(ends) != 3:
        return []
    return [Route(ends[0], ends[1], ends[2], float(value.double().square().sum() / places), layer, channels)]


def _frozen(values: torch.Tensor) -> NDArray[np.float64]:
    array = np.array(values.cpu().numpy(), np.float64)
    array.flags.writeable = False
    return array
