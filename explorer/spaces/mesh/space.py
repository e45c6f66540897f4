"""Meshes: values in frames at the vertices of a surface, under gauges, renumbering and motions of space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from explorer.declare.space import Domains, Kind, Representations, Scene
from explorer.declare.telling.asking import Question
from explorer.declare.types.written import Written, bare
from explorer.network.input.ways import QUESTIONS
from explorer.network.space import Inference
from explorer.spaces.graph.fields import numbered
from explorer.spaces.mesh.fields import (
    Ambient,
    Direction,
    Faces,
    Metric,
    Patch,
    Tangent,
    TangentFrame,
    Transporter,
    Vertices,
)
from explorer.spaces.mesh.network.form import CORNERS, FEATURES, GAUGES, MESH_SIGNALS, MeshInput
from explorer.square.space import Space

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from explorer.declare.card import Form
    from explorer.declare.elements import Step
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.network.input.recognise import Recognised
    from explorer.square.both_ways import BothWays
    from explorer.square.frame import Square
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State


def _orders(text: str) -> Tangent:
    return Tangent(tuple(int(order) for order in text.split(",")))


class MeshSpace(Space):
    """Triangle meshes: what a network is called with is intrinsic; positions, faces and frames move along beside it."""

    name = "mesh"
    kinds = (
        Kind(
            "mesh", group="gauge", sample="body", maker="equiscope.mesh(vertices, faces)", title="Meshes", one="a mesh",
            place=20, showcase="random-gauge:3",
            move="change its frames", pictured=False, numbered=True,  # vertices in rows are no picture of a surface
        ),
    )  # fmt: skip
    rank = 10
    domains: ClassVar[Domains] = {"vertex": numbered(Vertices), "face": bare(Faces())}
    representations: ClassVar[Representations] = {
        "tangent": Written(_orders, ("vertex",), "[0-9]+(?:,[0-9]+)*"),
        "position": Written(lambda _: Ambient("position"), ("vertex",)),
        "vector": Written(lambda _: Ambient("vector"), ("vertex", "face")),
        "direction": Written(lambda _: Direction(), ("edge",)),
        "transporter": Written(lambda _: Transporter(), ("edge",)),
        "metric": Written(lambda _: Metric(), ("vertex", "edge")),
        "frame": Written(lambda _: TangentFrame(), ("vertex",)),
        "patch corner": Written(lambda _: Patch("corner"), ("vertex",)),
        "patch weight": Written(lambda _: Patch("weight"), ("vertex",)),
    }
    examples = ("vertex scalar", "vertex tangent(0,1,2)", "vertex regular(C8)")
    orbits = ("gauge",)
    scenes = (
        Scene("surface", "gem-cnn", "random-gauge:3", "body", layer="act1", node=700),
        Scene(
            "gauges", "monet-principal", "random-gauge:3", "body", compare="gem-cnn", layer="classify", node=700,
            large=True,
        ),
    )  # fmt: skip
    capture_endings: ClassVar[Mapping[str, str]] = {"Mesh with the layer's values": ".ply"}

    form = MeshInput
    questions = (
        Question(
            "signals", "Arguments", "What its forward is called with, in this order.", "ordered", MESH_SIGNALS,
            first="x",
        ),
        Question("channels", "Channels of x", "The width of x at a vertex; any takes what is made.", "whole"),
        Question("features", "Made of", "What x is made of.", "choice", FEATURES),
        Question("gauge", "Frames", "The rule that chooses the frame at a vertex.", "choice", GAUGES),
        Question("most", "Vertices at most", "The largest number of vertices that it is made for.", "whole"),
        Question("corners", "Corners of faces", "In rows, (faces, 3), or in columns, (3, faces).", "choice", CORNERS),
        *QUESTIONS,
    )  # fmt: skip

    def fit(self, sample: Sample, form: Form) -> Sample:
        from explorer.spaces.mesh.network.fit import fit_mesh

        assert isinstance(form, MeshInput)
        return fit_mesh(sample, form)

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        from explorer.spaces.mesh.drawing.thumbnail import mesh_thumbnail

        return mesh_thumbnail(sample, side)

    def recognise(self, network: Recognised) -> Form | None:
        from explorer.spaces.mesh.network.recognise import mesh_input

        return mesh_input(network)

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        assert isinstance(form, MeshInput)
        return ("vertices", form.channels, *(name for name in form.signals if name != "x"))

    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        from explorer.spaces.mesh.network.inputs import mesh_inputs

        assert isinstance(form, MeshInput)
        return mesh_inputs(sample, form, device, dtype)

    def inference(self, inputs: Inputs) -> Inference:
        from explorer.spaces.mesh.network.inference import MeshInference

        return MeshInference(inputs)

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        from explorer.declare.elements import Step, transforms
        from explorer.state.random_element import kept

        # multiples of what was chosen, for a field of C_n; else any angle
        rest = kept(transforms()["random-gauge"], chosen)[1:]
        return (Step("random-gauge", (float(rng.integers(1, 10_000)), *rest)),)

    def part(self, one: BothWays) -> object | None:
        from explorer.spaces.mesh.drawing.part import mesh_part

        return mesh_part(one)

    def refine(self, p: Prepared, state: State, square: Square) -> Iterator[Square]:
        from explorer.spaces.mesh.drawing.part import refine_mesh

        return refine_mesh(p, state, square)

    def written_layer(self, p: Prepared, state: State) -> Sample:
        from explorer.spaces.mesh.drawing.part import valued_mesh

        return valued_mesh(p, state)


SPACE = MeshSpace()
