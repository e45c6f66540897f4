"""Pictures that a network makes one after the other, as the view of stations draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from explorer.square.both_ways import BothWays

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Station:
    """One picture on the way, (channels, height, width), of x and of rho(g) x.

    Attributes:
        error: whether it is the size of an error and no picture: its mean is told, and it is drawn as heat.
    """

    title: str
    of_x: Array
    of_gx: Array
    error: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StationsPart:
    """Pictures in the order in which a network makes them.

    Attributes:
        told: what the network was asked for, for the line above them.
    """

    data: ClassVar[str] = "grid"

    stations: tuple[Station, ...]
    told: str = ""


def stations_part(one: BothWays, titles: Sequence[tuple[str, str]], told: str, errors: tuple[str, ...] = ()) -> object:
    """Return what layers give, one station for each pair of a layer and its title; `errors` names the errors.

    Layers of a network may be missing while it is changed; they are left out.
    """
    from explorer.square.drawing.layers import frozen  # torch comes with it, and the window imports this file

    found = []
    for layer, title in titles:
        value, answer = one.p.values.get(layer), one.answers.get(layer)
        if value is not None and answer is not None and value.ndim == 4:
            found.append(Station(title, frozen(value[0]), frozen(answer[0]), layer in errors))
    return StationsPart(tuple(found), told) if found else None
