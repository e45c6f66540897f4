"""Honeycombs: values on hexagonal cells within so many steps of the middle, as a sixth of a turn leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from equiscope.fields import INVARIANT, Domain, FieldType, Regular, Scalar, group
from equiscope.spaces import Domains, Form, Inference, Kind, Scene, Space, bare


@lru_cache
def cells(radius: int) -> tuple[tuple[int, int], ...]:
    """Axial coordinates (q, r) of all cells."""
    return tuple(
        (q, r)
        for r in range(-radius, radius + 1)
        for q in range(-radius, radius + 1)
        if max(abs(q), abs(r), abs(q + r)) <= radius
    )


def radius_of(count: int) -> int | None:
    r = round((np.sqrt(12 * count - 3) - 3) / 6)
    return r if 3 * r * (r + 1) + 1 == count else None


@dataclass(frozen=True, slots=True)
class Cells(Domain):
    """(batch, channel, cells)."""

    name = "cell"
    space = "honeycomb"
    fibred = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel", "cell")


CELL = FieldType(Cells())
CELL_INPUT = FieldType(Cells(), Scalar(intensity=True))
CELL6 = FieldType(Cells(), Regular(group("C6")))


@dataclass(frozen=True, slots=True)
class HoneycombInput(Form):
    space = "honeycomb"
    data = "honeycomb"
    channels: int = 1


class HoneycombInference(Inference):
    def __init__(self, count: int) -> None:
        self.count = count

    def fits(self, field: FieldType, value: Any) -> bool:
        return not isinstance(field.domain, Cells) or (value.ndim == 3 and value.shape[2] == self.count)

    def infer(
        self, module: Any, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        if isinstance(declared, FieldType):
            return declared
        return in_field if in_field is not None and shape == shape_in else self.functional(shape)

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        return (CELL if len(shape) == 3 and shape[2] == self.count else INVARIANT).guess()

    def another(self, inputs: Any, seed: int) -> Any:
        return inputs.with_x(inputs.x.roll(7, -1) * 0.7)


class HoneycombSpace(Space):
    name = "honeycomb"
    kinds = (Kind("honeycomb", group="sixth", sample="bees", title="Honeycombs", one="a honeycomb"),)
    domains: ClassVar[Domains] = {"cell": bare(Cells())}
    orbits = ("sixth",)
    scenes = (Scene("honeycomb", "comb-c6", "sixth:1"),)

    def inputs(self, sample: Any, form: Form, device: Any, dtype: Any) -> Any:
        from equiscope.spaces import from_signals

        return from_signals(sample, ("x",), device, dtype)

    def inference(self, inputs: Any) -> Inference:
        return HoneycombInference(inputs.x.shape[-1])


SPACE = HoneycombSpace()
