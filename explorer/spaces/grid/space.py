"""Images: values on a planar grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Declared, Question
from explorer.declare.types.fields import INVARIANT, Scalar
from explorer.network.space import Inference
from explorer.spaces.grid.fields import grid, parse_grid, parse_pixels, parse_token_pairs, parse_tokens
from explorer.spaces.grid.network.form import AXES, InputSpec
from explorer.spaces.grid.stacks import parse_stack
from explorer.spaces.grid.vectors import REPRESENTATIONS
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
    from explorer.network.tracing.layers import Trace
    from explorer.square.both_ways import BothWays


SIDE = 29  # of images of any size that are made where a network takes several


class GridSpace(Space):
    """Images, (batch, channel, height, width), under motions of the plane."""

    name = "grid"
    kinds = (
        Kind(
            "grid",
            group="D4",
            sample="digit-3",
            beside=1,
            maker="equiscope.image(x)",
            title="Images",
            one="an image",
            place=0,
            showcase="rotate:90",
            otherwise=("reflect", "translate:3,2"),
            move="turn it",
        ),
    )
    rank = 90  # whatever is none of the others takes images
    domains: ClassVar[Domains] = {
        "grid": parse_grid, "token": parse_tokens, "pixel": parse_pixels, "stack": parse_stack,
        "token-pair": parse_token_pairs,
    }  # fmt: skip
    representations: ClassVar[Representations] = REPRESENTATIONS
    examples = (
        "grid scalar", "grid scalar /2", "point regular(C4)", "grid regular(C4)", "grid regular(D4)",
        "grid regular(D4) /2", "grid plane vector",
    )  # fmt: skip
    orbits = ("rotate",)
    scenes = (
        Scene("window", "d4-cnn", "rotate:90", "digit-3"),
        Scene("compare", "plain-cnn", "rotate:90", "digit-3", compare="d4-cnn"),
        Scene("large", "plain-cnn", "rotate:90", "digit-3", compare="d4-cnn", large=True),
    )

    form = InputSpec
    questions = (
        Question(
            "shape", "Shape", "Channels × height × width; a height or width may be any, as in 3 × any × any.", "sizes",
            sides=3,
        ),
        Question(
            "frames", "Frames", "Images one after the other, given as (batch, frames, channels, height, width).",
            "whole", usual="1",
        ),
        Question(
            "axes", "Axes", "Their order: a batch of one, channels, height and width.", "choice", AXES, usual=AXES[0]
        ),
        Question("multiple", "Multiple", "Sides that may be any are made multiples of it.", "whole", usual="1"),
        Question(
            "images", "Several images", "Name and shape of each, as in image:3xanyxany,mask:1xanyxany: given by name, "
            "or in a dict where the network has no such arguments. Beside images also c:vector5, t:number, and "
            "y:below10, a whole number.", "named", sides=3, unplaced=True,
        ),
    )  # fmt: skip

    def sample_of(self, text: str, seed: int) -> Sample | None:
        from explorer.spaces.grid.samples.tensors import is_tensor_text, tensor_sample

        return tensor_sample(text, seed) if is_tensor_text(text) else None

    def fillings(self, sample: Sample) -> tuple[str, ...]:
        from explorer.data.filling import filling_texts
        from explorer.spaces.grid.samples.tensors import KINDS

        return filling_texts(sample, KINDS, "1x")

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.grid.network.fit import fit
        from explorer.spaces.grid.network.several import fit_several

        assert isinstance(form, InputSpec)
        return fit_several(sample, form.images) if form.images else fit(sample, form.drawn, form.multiple or 1)

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        from explorer.spaces.grid.thumbnail import image_thumbnail

        return image_thumbnail(sample, side)

    def several(self, card: Card, count: int) -> list[str]:
        from explorer.data.finding import samples

        alike = [s for s in samples().values() if s.domain == self.name and s.name != card.sample]
        sort = card.sample.split("-")[0]
        return [card.sample, *[s.name for s in alike if s.name.split("-")[0] == sort]][:count]

    def recognise(self, network: Recognised) -> Form | None:
        from explorer.spaces.grid.network.recognise import image_input

        return image_input(network)

    def runs_with(self, network: Recognised) -> Form | None:
        from explorer.spaces.grid.network.recognise import image_by_trial

        return image_by_trial(network)

    def proposed(self, network: Recognised) -> Mapping[str, tuple[Any, str]]:
        from explorer.spaces.grid.network.recognise import proposed_shape

        found = proposed_shape(network)
        return {} if found is None else {"shape": found}

    def declared(self, said: Declared) -> Form:
        form = super().declared(said)
        assert isinstance(form, InputSpec)
        from explorer.spaces.grid.network.several import named_images

        return replace(form, shape=named_images(form.images).shape) if form.images else form

    def first_sample(self, form: Form) -> str:
        assert isinstance(form, InputSpec)
        if len(form.images) < 2:
            return super().first_sample(form)
        from explorer.spaces.grid.network.several import first_data

        return first_data(form.images)

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, InputSpec)
        return form.drawn

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from explorer.network.input.inputs import from_signals
        from explorer.network.input.unplaced import in_order

        assert isinstance(form, InputSpec)
        if not form.images:
            one = from_signals(sample, (next(iter(sample.signals)),), device, dtype)
            return replace(one, call=form.given) if form.otherwise else one
        names, call = in_order(form.images)
        return replace(from_signals(sample, names, device, dtype), call=call)

    def attempts(self, network: nn.Module, kind: str) -> Iterator[Form]:
        from explorer.spaces.grid.network.recognise import images_by_trial

        return images_by_trial(network, (1, 3))

    def in_steps(self, inputs: Inputs, step: int) -> Inputs:
        from explorer.network.input.resizing import rounded_up

        return inputs.map(lambda v, _: rounded_up(v, step, "bicubic"))

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.grid.network.inference import GridInference

        return GridInference(inputs)

    def reads(self, data: Tensor | Sequence[object]) -> str:
        from torch import Tensor

        if isinstance(data, Tensor):
            return f"a tensor of shape {tuple(data.shape)} alone is taken for"
        if data and all(isinstance(v, Tensor) for v in data) and _read([v for v in data if isinstance(v, Tensor)]):
            return "a list of images is taken for"
        return "a shape asks for noise in the form of" if all(isinstance(n, int) for n in data) else ""

    def given(self, data: Tensor | Sequence[object], seed: int) -> Inputs:
        from torch import Tensor

        from explorer.declare.inputs import Inputs
        from explorer.spaces.grid.network.stimulus import stimulus

        if not isinstance(data, Tensor) and data and all(isinstance(v, Tensor) for v in data):
            values = [v for v in data if isinstance(v, Tensor)]
            order = _read(values)
            names = ("x", *(f"x{k}" for k in range(1, len(values))))
            fields = tuple(grid(Scalar()) if _pictures(values[k]) else INVARIANT.guess() for k in order)
            made = Inputs(tuple(values[k] for k in order), fields, names)
            if order == sorted(order):
                return made
            return replace(made, call=lambda network, own: network(*(own[order.index(k)] for k in range(len(own)))))
        shape = None if isinstance(data, Tensor) else [n for n in data if isinstance(n, int)]
        x = data if isinstance(data, Tensor) else stimulus(shape or (), seed)
        return Inputs((x,), (grid(Scalar()),))

    def named(self, tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
        order = _read(list(tensors.values()))
        names = [list(tensors)[k] for k in order]
        return (tuple(names), self.given([tensors[name] for name in names], 0)) if order else None

    def stimulus(self, inputs: Inputs, seed: int) -> Inputs:
        from explorer.spaces.grid.network.stimulus import stimulus

        return inputs.with_x(stimulus(inputs.x, seed))

    def lie_derivatives(self, model: nn.Module, inputs: Inputs, trace: Trace) -> dict[str, dict[str, float]]:
        from explorer.spaces.grid.analysis.lie import lie_derivative

        if inputs.call is not None or len(inputs.values) > 1 or trace.differentiates:
            return {}  # the derivative is along one image, and is lost where the network takes its own
        return {along: lie_derivative(model, inputs.x, trace, inputs.field, along) for along in ("right", "rotation")}

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        from explorer.spaces.grid.elements.random_element import random_motion

        return random_motion(rng, size, exact, chosen)

    def part(self, one: BothWays) -> object | None:
        from explorer.spaces.grid.analysis.dense_chain import dense_chain
        from explorer.spaces.grid.drawing.patches import patches_part
        from explorer.spaces.grid.drawing.tokens import attention_part

        # a network that makes pictures of codes says itself what there is to see of them
        drawn = getattr(one.p.model, "drawn_part", None)
        if callable(drawn):
            told: object | None = drawn(one)
            return told
        attention = attention_part(one, patches_part(one))
        return dense_chain(one.p.model, one.gx, one.p.card.labels) if attention is None else attention

    def sweepers(self) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
        from explorer.spaces.grid.analysis.survey import survey, sweep

        return survey, sweep


def _pictures(values: Tensor) -> bool:
    return values.ndim == 4 and values.is_floating_point()


def _read(values: Sequence[Tensor]) -> list[int]:
    """Return the order of images before what has no places, as a vector of conditions or a time; [] of other data."""
    images = [k for k, v in enumerate(values) if _pictures(v)]
    others = [k for k, v in enumerate(values) if v.ndim <= 2]
    return images + others if images and len(images) + len(others) == len(values) else []


SPACE = GridSpace()
