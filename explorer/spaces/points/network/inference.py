"""Infer fields on points: a tensor with a row for each point is a field of numbers there, unless a module says more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Representation, Scalar
from explorer.network.input.typed_tensors import irreps_text
from explorer.spaces.graph.fields import Nodes
from explorer.spaces.mesh.network.faced import FacedInference
from explorer.spaces.points.fields import Arrows, Coordinates, Irreps, Particles, Rows, irreps

SIDES = 3  # of space
MIRRORED = "points that are their own mirror image do not show what tells left from right: test on others as well"
HANDED = 1e-4  # of what it could be: of a volume, and of the length of what spans it
TINY = 1e-300
SPREAD = 0.25  # of the cloud: by how much the points of unrelated inputs lie elsewhere


class PointsInference(FacedInference):
    """So many points, and so many listed edges between them; points are numbered as nodes of a graph are."""

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if isinstance(field.rep, Irreps | Coordinates) and value[:1].numel() % field.rep.size:
            return False
        return super().fits(field, value)

    def own(self, field: FieldType) -> FieldType:
        field = super().own(field)
        return replace(field, domain=Particles(field.domain.axis)) if type(field.domain) is Nodes else field

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        found = super().infer(module, in_field, shape_in, shape)
        declared = declared_irreps(module)
        own = isinstance(getattr(module, "out_field", None), FieldType) or getattr(module, "out_rep", None) is not None
        if found is None or own or declared is None or not shape or shape[-1] != declared.size:
            return found
        return replace(found, rep=Scalar() if declared.still else declared, guessed=False)

    def fed(self, module: nn.Module, number: int, field: FieldType, shape: tuple[int, ...]) -> FieldType:
        declared = declared_irreps(module, "in") or declared_irreps(module, f"in{number + 1}")
        if declared is None or not shape or shape[-1] != declared.size or not field.guessed:
            return field
        return replace(field, rep=Scalar() if declared.still else declared, guessed=False)

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        found = super().functional(shape)
        return None if found is None else self.own(found)

    def along(self, axis: int, size: int) -> FieldType | None:
        found = super().along(axis, size)
        return None if found is None else self.own(found)

    def listed(self, shape: tuple[int, ...]) -> FieldType | None:
        return FieldType(Rows(), Scalar(), guessed=True) if shape else None

    def ways(self, field: FieldType, shape: tuple[int, ...], told: Sequence[FieldType]) -> tuple[FieldType, ...]:
        """Return places, vectors along each axis of three numbers, as arrows or as axes turn, and declared irreps."""
        axes = [axis for axis in range(len(shape)) if shape[axis] == SIDES]
        own = getattr(field.domain, "axis", 0) if field.domain.placed else None
        kinds: list[Representation] = [Arrows(axis, sign) for axis in axes if axis != own for sign in ("o", "e")]
        # components x, y, z of the places of points stand last once the points stand first
        rest = [size for axis, size in enumerate(shape) if axis != own]
        if isinstance(field.domain, Particles) and rest[-1:] == [SIDES]:
            kinds.append(Coordinates())
        # what a layer declares of so many channels may hold of others as well
        wide = {f.rep for f in told if isinstance(f.rep, Irreps) and shape[-1:] == (f.rep.size,) and len(shape) > 1}
        return tuple(replace(field, rep=kind) for kind in (*kinds, *wide))

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return the same edges between points that lie elsewhere, with what was measured at other points."""
        generator = torch.Generator().manual_seed(seed)

        def changed(value: Tensor, field: FieldType) -> Tensor:
            if not isinstance(field.rep, Coordinates | Irreps) or not value.is_floating_point() or not len(value):
                return value
            centre = value.mean(0, keepdim=True)
            size = float((value - centre).norm() / max(1.0, value.numel() ** 0.5)) or float(value.abs().mean()) or 1.0
            drawn = torch.randn(value.shape, generator=generator, device="cpu", dtype=torch.float64).to(value)
            kept = value if isinstance(field.rep, Coordinates) else -value.flip(0)
            return kept + (SPREAD if isinstance(field.rep, Coordinates) else 1.0) * size * drawn

        return super().another(inputs, seed).map(changed)

    def nudged(self, inputs: Inputs, nudge: Callable[[Tensor], Tensor]) -> Inputs:
        def changed(value: Tensor, field: FieldType) -> Tensor:
            return nudge(value) if isinstance(field.rep, Coordinates) and value is not inputs.x else value

        return super().nudged(inputs.map(changed), nudge)

    def in_general_position(self, given: Sequence[Inputs], seed: int) -> list[Inputs]:
        """Return them, and the first with its points moved at random."""
        return [*given, self.another(given[0], seed)]

    def hidden(self, given: Sequence[Inputs]) -> str:
        """Say where all points are their own mirror image, and look the same in both hands to what adds over them."""
        return "" if any(map(is_handed, given)) else MIRRORED


def is_handed(inputs: Inputs) -> bool:
    """Say whether points are known to differ from their mirror image, however they are turned and numbered.

    Three vectors that turn with the points span a volume whose sign a reflection changes; what is its own mirror image
    has none, nor have handed bodies with an axis of symmetry.
    """
    for value, field in zip(inputs.values, inputs.fields, strict=True):
        if isinstance(field.rep, Coordinates) and value.is_floating_point() and value.shape[-1] == SIDES:
            found = _turning_along(value.detach().double().reshape(-1, SIDES))
            return any(abs(float(torch.linalg.det(torch.stack(three)))) > HANDED for three in combinations(found, 3))
    return True


def _turning_along(places: Tensor) -> list[Tensor]:
    """Return directions that turn with points: the means of |r|^(2k) r from their centre, and T of these.

    T is by how much the points are longer one way than another. Where they all lie as far from their centre, the means
    for k = 1, 2, 3 point the same way, and T turns them apart. Lengths are counted in the root mean square of |r|, or
    the means would vanish where there are many points.
    """
    arms = places - places.mean(0)
    arms = arms * len(arms) ** 0.5 / arms.norm().clamp(min=TINY)
    away = arms.norm(dim=1, keepdim=True)
    found = []
    for k in (1, 2, 3):
        weight = away ** (2 * k)
        mean, most = (weight * arms).mean(0), float((weight * away).mean())
        found += [mean / mean.norm()] if float(mean.norm()) > HANDED * most else []
    spread = arms.T @ arms / len(arms)
    spread = spread - spread.trace() / SIDES * torch.eye(SIDES, dtype=arms.dtype, device=arms.device)
    for direction in found[:1] if float(spread.norm()) > HANDED else []:
        for _ in range(2):
            direction = spread @ direction / spread.norm()
            if float(direction.norm()) <= HANDED:
                break
            direction = direction / direction.norm()
            found.append(direction)
    return found


def declared_irreps(module: nn.Module, of: str = "out") -> Irreps | None:
    """Return the irreps that a module of e3nn says its answer or an argument has; None for none that are known here."""
    try:
        return irreps(text) if (text := irreps_text(module, of)) else None
    except ValueError:
        return None
