"""Volumes: values at voxels, under the 48 symmetries of the cube and shifts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Question
from explorer.network.space import Inference
from explorer.spaces.volume.fields import REPRESENTATIONS, VOLUME, parse_voxels
from explorer.spaces.volume.network.form import VolumeInput
from explorer.square.space import Space

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from explorer.declare.card import Card, Form
    from explorer.declare.elements import Step
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.network.input.recognise import Recognised
    from explorer.network.tracing.layers import Layer
    from explorer.square.both_ways import BothWays
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State

MOST_AT_ONCE = 2**18  # voxels that a network of any size is given unasked: 64 along each side


class VolumeSpace(Space):
    """Volumes, (batch, channel, slices, rows, columns)."""

    name = "volume"
    kinds = (
        Kind(
            "volume", group="Oh", sample="phantom-3d", beside=1, maker="equiscope.Inputs(values, fields)",
            title="Volumes", one="a volume", place=10, showcase="cube:z90", move="turn it",
            pictured=False,  # slices of all channels side by side are no picture of a volume
        ),
    )  # fmt: skip
    rank = 40
    domains: ClassVar[Domains] = {"voxel": parse_voxels}
    representations: ClassVar[Representations] = REPRESENTATIONS
    examples = ("voxel scalar", "voxel regular(Oh)", "voxel polar vector")
    orbits = ("quarter-turn",)
    scenes = (
        Scene("slices", "oh-cnn", "cube:xyz120", "phantom-3d", layer="lift"),
        Scene("octahedral", "plain-cnn-3d", "cube:z90", "phantom-3d", compare="oh-cnn", large=True),
    )
    capture_endings: ClassVar[Mapping[str, str]] = {"NIfTI of the layer": ".nii", "NPY of the layer": ".npy"}

    form = VolumeInput
    questions = (
        Question(
            "shape", "Shape",
            "Channels × slices × rows × columns; all but the first may be any, as in 1 × any × any × any.",
            "sizes", sides=4,
        ),
    )  # fmt: skip

    def sample_of(self, text: str, seed: int) -> Sample | None:
        from explorer.spaces.volume.samples.fillings import filled

        return filled(text, seed)

    def fillings(self, sample: Sample) -> tuple[str, ...]:
        from explorer.data.filling import filling_texts

        return filling_texts(sample, first="1x")

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.volume.network.fit import fit_volume

        assert isinstance(form, VolumeInput)
        return fit_volume(sample, form.shape)

    def lost(self, sample: Sample, form: Form) -> float:
        assert isinstance(form, VolumeInput)
        have, wanted = sample.x.values.shape[1:], form.shape[1:]
        if len(have) != len(wanted):  # it takes no such data at all
            return 0.0
        if None in wanted and math.prod(have) > MOST_AT_ONCE:
            return 1.0  # nothing is, and a person who did not ask for it would wait for minutes
        kept = math.prod(min(own, side or own) / own for own, side in zip(have, wanted, strict=True))
        return 1.0 - float(kept)

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        from explorer.spaces.volume.drawing.thumbnail import volume_thumbnail

        return volume_thumbnail(sample, side)

    def several(self, card: Card, count: int) -> list[str]:
        from explorer.data.finding import samples

        alike = [s.name for s in samples().values() if s.domain == self.name and s.name != card.sample]
        return [card.sample, *alike[:1]] if count > 1 else [card.sample]  # a volume takes as long as a hundred images

    def recognise(self, network: Recognised) -> Form | None:
        from explorer.spaces.volume.network.recognise import volume_input

        return volume_input(network)

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, VolumeInput)
        return form.shape

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from explorer.network.input.inputs import from_signals

        return from_signals(sample, ("x",), device, dtype)

    def attempts(self, network: nn.Module, kind: str) -> Iterator[Form]:
        from explorer.spaces.volume.network.recognise import volume_inputs

        return volume_inputs(network)

    def in_steps(self, inputs: Inputs, step: int) -> Inputs:
        from explorer.network.input.resizing import rounded_up

        return inputs.map(lambda v, _: rounded_up(v, step, "trilinear"))

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.volume.network.inference import VolumeInference

        return VolumeInference(inputs)

    def reads(self, data: Tensor | Sequence[object]) -> str:
        from torch import Tensor

        if isinstance(data, Tensor):
            return f"a tensor of shape {tuple(data.shape)} alone is taken for" if _volumes(data) else ""
        return "a shape of five sizes asks for noise in the form of" if _sizes(data) else ""

    def given(self, data: Tensor | Sequence[object], seed: int) -> Inputs:
        from torch import Tensor

        from explorer.declare.inputs import Inputs
        from explorer.spaces.volume.network.stimulus import noise

        x = data if isinstance(data, Tensor) else noise([int(str(n)) for n in data], seed)
        return Inputs((x,), (VOLUME,))

    def named(self, tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
        if len(tensors) != 1 or not all(_volumes(v) for v in tensors.values()):
            return None
        return tuple(tensors), self.given(next(iter(tensors.values())), 0)

    def stimulus(self, inputs: Inputs, seed: int) -> Inputs:
        from explorer.spaces.volume.network.stimulus import stimulus

        return inputs.with_x(stimulus(inputs.x))

    def hints(self, module: nn.Module, layer: Layer, name: str, group: str) -> list[str]:
        from explorer.spaces.volume.network.hints import hints

        return hints(module, layer, name, group)

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        from explorer.declare.elements import Step

        return (Step("cube", (float(rng.integers(1, 48)),)),)

    def written_layer(self, p: Prepared, state: State) -> Sample:
        from explorer.spaces.volume.drawing.written import written_layer

        return written_layer(p, state)

    def part(self, one: BothWays) -> Any:
        from explorer.spaces.volume.drawing.part import volume_part

        return volume_part(one)


def _volumes(values: Tensor) -> bool:
    return values.ndim == 5 and values.is_floating_point()


def _sizes(data: Sequence[object]) -> bool:
    return len(data) == 5 and all(isinstance(n, int) for n in data)


SPACE = VolumeSpace()
