"""Points in space: clouds, molecules, moving bodies, under motions of space and renumbering."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Declared, Question
from explorer.declare.types.written import Written
from explorer.network.input.ways import QUESTIONS
from explorer.network.space import Inference
from explorer.spaces.graph.fields import numbered
from explorer.spaces.points.fields import TERM, Coordinates, Particles, irreps
from explorer.spaces.points.network.form import AXES, EDGES, FEATURES, SIGNALS, PointsInput
from explorer.square.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from explorer.declare.card import Form
    from explorer.declare.elements import Step
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.network.input.recognise import Recognised
    from explorer.square.both_ways import BothWays
    from explorer.square.drawing.answer import Answer
    from explorer.square.frame import Square


MANY_POINTS = "chair-3d"  # of a network that needs more than a molecule has


class PointsSpace(Space):
    """Places in space with what is known of each: an element, a charge, a velocity."""

    name = "points"
    kinds = (
        Kind(
            "points", word="cloud of points", group="E3", sample="ethanol-3d", title="Points and molecules",
            maker="equiscope.points(x=h, position=pos, edge_index=edges)",
            one="a cloud of points", place=25, showcase="rotation:40,25,10", move="turn it", pictured=False,
            numbered=True,
        ),
    )  # fmt: skip
    rank = 15
    domains: ClassVar[Domains] = {"particle": numbered(Particles)}
    representations: ClassVar[Representations] = {
        "coordinates": Written(lambda _: Coordinates(), ("particle",)),
        "irreps": Written(irreps, ("particle", "edge", "graph", "voxel", "point"), rf"{TERM}(?:\+{TERM})*"),
    }
    examples = ("particle scalar", "particle coordinates", "particle irreps(2x0e+1x1o)")
    orbits = ("rotation",)
    scenes = (
        Scene("molecule", "tensor-field-network", "rotation:40,25,10", "ethanol-3d", layer="layer2", node=2),
        Scene("bodies", "egnn-velocity", "rotation:40,25,10", "bodies", large=True),
    )

    form = PointsInput
    questions = (
        Question("signals", "Arguments", "What its forward is called with, in this order.", "ordered", SIGNALS),
        Question("channels", "Channels of x", "The width of x at a point; any takes what is made.", "whole"),
        Question("features", "Made of", "What x is made of.", "choice", FEATURES),
        Question("edges", "Edges between", "Which points are joined.", "choice", EDGES),
        Question("most", "Points at most", "The largest number of points that it is made for.", "whole"),
        Question("least", "Points at least", "The smallest number of points that it runs with.", "whole"),
        Question("axes", "Axes", "N points, C channels, with a batch of one where it takes one.", "choice", AXES),
        Question("known", "Numbers below", "How many whole numbers its table has, modulo which they are.", "whole"),
        *QUESTIONS,
    )

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.points.network.fit import fit_points

        assert isinstance(form, PointsInput)
        return fit_points(sample, form)

    def prefers(self, sample: Sample) -> bool:
        from explorer.spaces.points.network.fit import is_molecule

        return is_molecule(sample)

    def suits(self, sample: Sample, form: Form) -> bool:
        from explorer.spaces.points.network.fit import about_atoms, is_molecule

        assert isinstance(form, PointsInput)
        return about_atoms(form) == ("number" in sample.signals or is_molecule(sample))

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        from explorer.spaces.points.drawing.thumbnail import points_thumbnail

        return points_thumbnail(sample, side)

    def recognise(self, network: Recognised) -> Form | None:
        from explorer.spaces.points.network.recognise import points_input

        return points_input(network)

    def first_sample(self, form: Form) -> str:
        assert isinstance(form, PointsInput)
        if form.least is not None:
            return MANY_POINTS
        return "bodies" if "velocity" in form.signals else super().first_sample(form)

    def declared(self, said: Declared) -> Form:
        form = super().declared(said)
        assert isinstance(form, PointsInput)
        if form.signals == ("edge_index",):
            raise ValueError("signals are what a network on points is called with: say something that lies on them")
        return form

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, PointsInput)
        return ("points", form.channels, *(name for name in form.signals if name != "x"))

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from explorer.spaces.points.network.inputs import points_inputs

        assert isinstance(form, PointsInput)
        return points_inputs(sample, form, device, dtype)

    def attempts(self, network: nn.Module, kind: str) -> Iterator[Form]:
        from explorer.spaces.points.network.recognise import attempts

        return attempts(network)

    def readings(self, network: nn.Module, form: Form) -> Iterator[Form]:
        from explorer.spaces.points.network.recognise import other_readings

        assert isinstance(form, PointsInput)
        return other_readings(network, form)

    def reads(self, data: Tensor | Sequence[object]) -> str:
        from torch import Tensor

        from explorer.spaces.points.network.inputs import surface

        if isinstance(data, list | tuple):
            whole = all(isinstance(v, Tensor) for v in data) and surface(data) is not None
            return f"a {type(data).__name__} of vertices and faces is taken for" if whole else ""
        if (
            not isinstance(data, Tensor)
            or data.ndim not in (2, 3)
            or not data.is_floating_point()
            or 3 not in data.shape
        ):
            return ""
        return f"a tensor of shape {tuple(data.shape)} alone is taken for"

    def given(self, data: Tensor | Sequence[object], seed: int) -> Inputs:
        from torch import Tensor

        from explorer.spaces.points.network.inputs import surface, unsettled_points

        tensors = [v for v in [*data] if isinstance(v, Tensor)] if not isinstance(data, Tensor) else []
        made = unsettled_points({"position": data}) if isinstance(data, Tensor) else surface(tensors)
        assert made is not None
        return made

    def named(self, tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
        from explorer.spaces.points.network.inputs import unsettled_points

        made = unsettled_points(tensors)
        return None if made is None else (tuple(tensors), made)

    def settled(self, inputs: Inputs, model: nn.Module) -> Inputs:
        from explorer.spaces.points.network.inputs import settled_points

        return settled_points(inputs, model)

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.points.network.inference import PointsInference

        return PointsInference(inputs)

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        import numpy as np

        from explorer.declare.elements import Step

        axis = rng.normal(size=3)
        turn = np.round(axis / np.linalg.norm(axis) * rng.uniform(30.0, 180.0), 1)
        return (Step("rotation", tuple(float(v) for v in turn)),)

    def answer(self, square: Square, place: int | None) -> Answer | None:
        from explorer.spaces.points.drawing.part import answer_on_points

        return answer_on_points(square, place)

    def part(self, one: BothWays) -> object | None:
        from explorer.spaces.points.drawing.part import points_part

        return points_part(one)


SPACE = PointsSpace()
