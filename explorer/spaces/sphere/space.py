"""The sphere: functions on it by their harmonic coefficients, under rotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.declare.space import Domains, Kind, Scene
from explorer.declare.telling.asking import Question
from explorer.network.space import Inference
from explorer.spaces.sphere.fields import parse_harmonic, parse_rotation
from explorer.spaces.sphere.network.form import SphereInput
from explorer.square.space import Space

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from explorer.declare.card import Card, Form
    from explorer.declare.elements import Step
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.network.input.recognise import Recognised
    from explorer.square.both_ways import BothWays


class SphereSpace(Space):
    """Functions on the sphere and on SO(3), (batch, channel, coefficients)."""

    name = "sphere"
    kinds = (
        Kind(
            "sphere", group="sphere-SO3", sample="globe", beside=1, title="The sphere", one="a function on the sphere",
            place=15, showcase="turn-sphere:60,0,30", move="turn it", pictured=False,
        ),
    )  # fmt: skip
    rank = 45
    domains: ClassVar[Domains] = {"harmonic": parse_harmonic, "rotation": parse_rotation}
    examples = ("harmonic scalar to 6", "rotation scalar to 4")
    orbits = ("turn-sphere",)
    scenes = (Scene("sphere", "sphere-cnn", "turn-sphere:60,0,30", "globe", layer="lift"),)
    form = SphereInput
    questions = (
        Question("channels", "Channels", "How many functions there are.", "whole"),
        Question("degree", "Degree", "The largest degree of the harmonics: (degree + 1)² coefficients.", "whole"),
    )

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.sphere.network.fit import fit_sphere

        assert isinstance(form, SphereInput)
        return fit_sphere(sample, form)

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        import numpy as np
        import torch

        from explorer.spaces.sphere.drawing.part import thumbnail

        values = torch.from_numpy(np.array(sample.x.values[0]))
        seen = thumbnail(values, round(len(values) ** 0.5) - 1, side)
        return np.repeat((seen.numpy() * 255).round().astype(np.uint8)[:, :, None], 3, 2)

    def several(self, card: Card, count: int) -> list[str]:
        from explorer.data.finding import samples

        alike = [s.name for s in samples().values() if s.domain == self.name and s.name != card.sample]
        return [card.sample, *alike[: count - 1]]

    def recognise(self, network: Recognised) -> Form | None:
        degree = network.said("input_degree")
        if degree is None:
            return None
        if not isinstance(degree, int) or isinstance(degree, bool) or not 0 <= degree <= 32:
            raise ValueError(f"INPUT_DEGREE must be a whole number from 0 to 32, not {degree!r:.60}")
        return SphereInput(network.channels() or 1, degree)

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, SphereInput)
        return (form.channels, (form.degree + 1) ** 2)

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from explorer.network.input.inputs import from_signals

        return from_signals(sample, ("x",), device, dtype)

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.sphere.network.inference import SphereInference

        return SphereInference(inputs)

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        from explorer.declare.elements import Step

        angle, longitude, latitude = rng.integers(1, 180), rng.integers(-180, 180), rng.integers(-90, 90)
        return (Step("turn-sphere", (float(angle), float(longitude), float(latitude))),)

    def part(self, one: BothWays) -> Any:
        from explorer.spaces.sphere.drawing.part import sphere_part

        return sphere_part(one)


SPACE = SphereSpace()
