"""Infer fields on meshes: a tensor with a row for each vertex is a vertex field, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Regular, Representation
from explorer.spaces.graph.fields import EDGE, GRAPH, Edges, NodeIndex, Nodes
from explorer.spaces.mesh.fields import VERTEX, Ambient, Faces, Tangent, Vertices
from explorer.spaces.mesh.network.faced import FacedInference

# what networks without declarations are tried for
ORDERED: tuple[Representation, ...] = tuple(Tangent((order,)) for order in (1, 2, 3))
IN_SPACE: tuple[Representation, ...] = (Ambient("position"), Ambient("vector"))


class MeshInference(FacedInference):
    """A triangle mesh with so many vertices, edges and faces; its vertices are numbered as nodes of a graph are."""

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if isinstance(field.rep, Tangent | Regular) and isinstance(field.domain, Nodes):
            return tuple(value.shape[:1]) == (self.nodes,) and value[:1].numel() % field.rep.size == 0
        return super().fits(field, value)

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        other = super().another(inputs, seed)
        if (remake := inputs.remake) is None:
            return other
        # its features stay unrelated on a surface that was bent, from which those of x are made anew
        return replace(other, remake=lambda before, *surface: remake(before, *surface).with_x(before.x))

    def own(self, field: FieldType) -> FieldType:
        field = super().own(field)
        return replace(field, domain=Vertices(field.domain.axis)) if type(field.domain) is Nodes else field

    def placed(self, shape: tuple[int, ...], resized: tuple[int, ...]) -> FieldType | None:
        found = super().placed(shape, resized)
        faces = found is not None and isinstance(found.domain, Faces)
        return found if not faces or shape[:1] == (self.faces,) else None

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        if isinstance(declared, FieldType):
            return self.own(declared)
        # angles and lengths are no features: what is made of them are numbers at each edge
        measured = in_field is not None and isinstance(in_field.domain, Edges | Faces)
        if measured and isinstance(in_field, FieldType) and not isinstance(in_field.rep, NodeIndex):
            in_field = EDGE if isinstance(in_field.domain, Edges) else in_field
        found = super().infer(module, in_field, shape_in, shape)
        return None if found is None else self.own(found)

    def ways(self, field: FieldType, shape: tuple[int, ...], told: Sequence[FieldType]) -> Sequence[FieldType]:
        """Return tangent features where the last axis of vertices has two numbers, places and arrows where three."""
        at = {(Nodes, self.nodes): ORDERED + IN_SPACE, (Faces, self.faces): IN_SPACE}
        reps = next(
            (r for (kind, count), r in at.items() if isinstance(field.domain, kind) and shape[:1] == (count,)), ()
        )
        return [replace(field, rep=rep) for rep in reps if len(shape) > 1 and rep.size == shape[-1]]

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        if shape[:1] == (self.nodes,):
            return VERTEX.guess()
        if shape[:1] == (self.edges,):
            return EDGE.guess()
        return GRAPH.guess() if shape and len(shape) <= 2 else None
