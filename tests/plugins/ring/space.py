"""The space of rings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from ring.fields import SITE, Sites

from equiscope.fields import INVARIANT, FieldType
from equiscope.spaces import Answer, Domains, Form, Inference, Kind, Question, Scene, Space, bare


@dataclass(frozen=True, slots=True)
class RingInput(Form):
    """Take x of shape (sites, channels)."""

    space = "ring"
    data = "ring"

    channels: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class RingPart:
    """The part that a view of rings draws: x and F(x) by site, and where each site has gone."""

    data: ClassVar[str] = "ring"

    x: np.ndarray
    values: np.ndarray
    order: np.ndarray


class RingInference(Inference):
    """A ring of so many sites."""

    def __init__(self, sites: int) -> None:
        self.sites = sites

    def fits(self, field: FieldType, value: Any) -> bool:
        return not isinstance(field.domain, Sites) or tuple(value.shape[:1]) == (self.sites,)

    def infer(
        self, module: Any, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        return declared if isinstance(declared, FieldType) else self.functional(shape)

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        return SITE.guess() if shape[:1] == (self.sites,) else INVARIANT.guess()

    def another(self, inputs: Any, seed: int) -> Any:
        return inputs.with_x(inputs.x.flip(0).roll(1, 0) * 0.5 + 0.1)


class RingSpace(Space):
    """Values on a ring."""

    name = "ring"
    kinds = (Kind("ring", group="cyclic", sample="ring-wave", title="Rings", one="a ring", showcase="turn:2"),)
    rank = 40
    domains: ClassVar[Domains] = {"site": bare(Sites())}
    examples = ("site scalar",)
    orbits = ("turn",)
    form = RingInput
    questions = (Question("channels", "Channels", "How many values there are at a site.", "whole"),)
    scenes = (Scene("ring", "ring-net", "turn:2"),)

    def recognise(self, network: Any) -> Form | None:
        channels = network.said("ring_channels")
        return None if channels is None else RingInput(channels)

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        return ("sites", getattr(form, "channels", None))

    def thumbnail(self, sample: Any, side: int) -> np.ndarray:
        """Draw the sites as a circle of grey values."""
        picture = np.full((side, side, 3), 255, np.uint8)
        values = np.asarray(sample.x.values)[:, 0]
        low, high = float(values.min()), float(values.max())
        for k, value in enumerate(values):
            angle = 2 * np.pi * k / len(values)
            row, column = (round((0.5 - 0.4 * f(angle)) * (side - 1)) for f in (np.sin, lambda a: -np.cos(a)))
            picture[row, column] = int(200 * (1 - (value - low) / max(high - low, 1e-9)))
        return picture

    def inputs(self, sample: Any, form: Form, device: Any, dtype: Any) -> Any:
        from equiscope.spaces import from_signals

        return from_signals(sample, ("x",), device, dtype)

    def inference(self, inputs: Any) -> Inference:
        return RingInference(inputs.places)

    def answer(self, square: Any, place: int | None) -> Answer | None:
        part = square.of(RingPart)
        sites = 0 if part is None else len(part.order)
        return Answer(square.labels, f"site {place} of {sites}" if place is not None else f"mean over {sites} sites")

    def part(self, one: Any) -> RingPart:
        sites = one.p.inputs.places
        order = np.array([one.element.place_of(k, sites) for k in range(sites)])
        values = one.value.detach().cpu().reshape(len(one.value), -1).numpy().copy()
        return RingPart(one.p.x.detach().cpu().numpy().copy(), values, order)


SPACE = RingSpace()
