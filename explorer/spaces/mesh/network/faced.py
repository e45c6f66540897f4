"""Infer fields where there may be triangles between vertices: on meshes, and on points that come with faces."""

from __future__ import annotations

from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.spaces.graph.network.inference import GraphInference
from explorer.spaces.mesh.fields import Faces


class FacedInference(GraphInference):
    """Nodes and edges of a graph, and so many triangles; -1 where there are none."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        faces = inputs.get("faces")
        self.faces = -1 if faces is None else len(faces)

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if isinstance(field.domain, Faces):
            return tuple(value.shape[:1]) == (self.faces,)
        return super().fits(field, value)

    def resized(self, inputs: Inputs) -> Inputs | None:
        found = super().resized(inputs)
        faces = None if found is None else found.get("faces")
        if faces is not None:
            self.fewer += ((Faces(), self.faces, len(faces)),)
        return found
