"""The generators of what moves a mesh, and how a word of them is bound to one mesh.

A chain of steps is a word; nothing is known yet of the mesh it will act on. `on(inputs)` makes the one map that the
word means there (`explorer.spaces.mesh.elements.surface_map`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from explorer.declare.elements import Element, NoAction
from explorer.declare.types.fields import FieldType, Regular
from explorer.spaces.mesh.elements.reshaping import bent, flipped, posed, shaken
from explorer.spaces.mesh.elements.surface_map import DOMAINS, WHOLE, Floats, Index, SurfaceMap
from explorer.spaces.mesh.fields import Direction, Patch, Transporter, Vertices

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs

RIGID = ("gauge", "random-gauge", "rotate3d", "translate3d", "mirror3d")


@dataclass(frozen=True, slots=True)
class Motion:
    """One generator.

    "gauge" (degrees, vertex or -1 for all), "random-gauge" (seed, n: multiples of 360/n degrees, 0 for any angle),
    "rotate3d" (x, y, z: the axis times degrees), "translate3d" (x, y, z), "mirror3d" (axis), "bend" (degrees),
    "pose" (number, share), "shake" (amount, seed) and "remesh" (share, seed).
    """

    kind: str
    values: tuple[float, ...]
    inverse: bool = False

    @property
    def invertible(self) -> bool:
        return self.kind in RIGID or self.identity

    @property
    def identity(self) -> bool:
        match self.kind:
            case "translate3d" | "rotate3d":
                return not any(self.values)
            case "mirror3d":
                return False
            case "pose":
                return self.values[0] == 0.0 or self.values[1] == 0.0
            case _:
                return self.values[0] == 0.0

    def inverted(self) -> Motion:
        match self.kind:
            case "gauge":
                return Motion(self.kind, (-self.values[0], *self.values[1:]))
            case "translate3d" | "rotate3d":
                return Motion(self.kind, tuple(-v for v in self.values))
            case "mirror3d":
                return self
            case _:
                return Motion(self.kind, self.values, not self.inverse)


@dataclass(frozen=True, slots=True)
class SurfaceWord(Element):
    """A word of generators, the first acting first."""

    motions: tuple[Motion, ...] = ()
    resamples = False

    @property
    def group(self) -> str:
        return "gauge"

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return DOMAINS

    def inverse(self) -> SurfaceWord:
        for motion in self.motions:
            if not motion.invertible:
                raise NoAction(f"{motion.kind} changes the surface itself, so it has no inverse")
        return SurfaceWord(tuple(m.inverted() for m in reversed(self.motions)))

    def merge(self, first: Element) -> SurfaceWord | None:
        if not isinstance(first, SurfaceWord):
            return None
        motions = list(first.motions)
        for motion in self.motions:
            if motions and motion.invertible and motions[-1] == motion.inverted():
                motions.pop()
            else:
                motions.append(motion)
        return SurfaceWord(tuple(m for m in motions if not m.identity))

    @property
    def identity(self) -> bool:
        return all(m.identity for m in self.motions)

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        if not all(m.kind in RIGID for m in self.motions):
            return False
        return _exact(field, [m for m in self.motions if m.kind.endswith("gauge")])

    def on(self, inputs: Inputs) -> Element:
        maps = []
        for motion in self.motions:
            maps.append(_bound(motion, inputs))
            inputs = maps[-1].moved(inputs)
        return reduce(lambda first, second: first.then(second), maps) if maps else still(inputs)

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        if not isinstance(field.domain, Vertices) and not isinstance(field.rep, Direction | Transporter):
            return values  # of an image or a sequence nothing is moved, and of edges only what is told in frames
        if all(m.kind in RIGID for m in self.motions) and isinstance(field.domain, Vertices):
            maps = [rigid(m, len(values)) for m in self.motions]
            return reduce(lambda v, m: m.act(v, field), maps, values)
        raise NoAction("how this moves the values depends on the mesh: bind the element to it first, on()")

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None


def _exact(field: FieldType, turns: list[Motion]) -> bool:
    """Return whether frames turned by these words permute values: any angle for tangents, steps of 2 pi / n for C_n."""
    if not isinstance(field.rep, Regular | Patch) or not turns:
        return True
    n = field.rep.group.order if isinstance(field.rep, Regular) else 0
    for motion in turns:
        step = motion.values[0] * n / 360.0
        whole = motion.values[1] and not n % motion.values[1] if motion.kind == "random-gauge" else n and _whole(step)
        if not whole:
            return False
    return True


def _whole(steps: float) -> bool:
    return abs(steps - round(steps)) < WHOLE


def still(inputs: Inputs) -> SurfaceMap:
    """Return the identity on a mesh."""
    index = inputs.get("edge_index")
    source, target = np.zeros((2, 0), np.int64) if index is None else index.cpu().numpy()
    return SurfaceMap(np.zeros(len(inputs.x)), source, target)


def rigid(motion: Motion, n: int) -> SurfaceMap:
    """Return what a turn of frames or a rigid motion is on n vertices, edges aside."""
    none = np.zeros(0, np.int64)
    plain = SurfaceMap(np.zeros(n), none, none)
    match motion.kind:
        case "gauge":
            angle, vertex = math.radians(motion.values[0]), int(motion.values[1])
            turn = np.zeros(n)
            turn[slice(None) if vertex < 0 else min(vertex, n - 1)] = angle
            found = replace(plain, turn=turn)
        case "random-gauge":
            drawn = np.random.default_rng(int(motion.values[0])).uniform(-math.pi, math.pi, n)
            if parts := int(motion.values[1]):
                drawn = np.floor(drawn / (2 * math.pi) * parts) * (2 * math.pi / parts)
            found = replace(plain, turn=drawn)
        case "rotate3d":
            found = replace(plain, linear=rotation_by(np.asarray(motion.values)))
        case "translate3d":
            found = replace(plain, shift=np.asarray(motion.values, np.float64))
        case "mirror3d":
            found = replace(plain, linear=np.diag(1 - 2 * np.eye(3)[int(motion.values[0]) % 3]))
        case _:
            raise NoAction(f"{motion.kind} is no rigid motion")
    return found.inverse() if motion.inverse else found


def rotation_by(turn: Floats) -> Floats:
    """Return the rotation by |turn| degrees about `turn`, exact at quarter turns about x, y and z (Rodrigues)."""
    from explorer.declare.groups import rotation_matrix

    degrees = float(np.abs(turn).sum() if np.count_nonzero(turn) == 1 else np.linalg.norm(turn))
    axis = turn / degrees if degrees else np.eye(3)[2]
    c, s = rotation_matrix(degrees)[:, 0]
    cross = np.cross(np.eye(3), axis)
    found: Floats = c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)
    return found


def _bound(motion: Motion, inputs: Inputs) -> SurfaceMap:
    """Return the map that one generator is on the mesh of these inputs."""
    plain = still(inputs)
    if motion.identity:
        return plain
    if motion.kind in RIGID:
        made = rigid(motion, len(inputs.x))
        return replace(plain, turn=made.turn, linear=made.linear, shift=made.shift)
    if inputs.remake is None:
        raise NoAction(f"{motion.kind} changes the surface, and this network's arguments cannot be made anew from it")
    position = inputs.values[inputs.names.index("position")]
    faces = inputs.values[inputs.names.index("faces")]
    places, corners = position.double().cpu().numpy(), faces.cpu().numpy()
    match motion.kind:
        case "bend":
            there, after = bent(places, motion.values[0]), corners
        case "pose":
            there, after = posed(inputs, places, int(motion.values[0]), motion.values[1]), corners
        case "shake":
            there, after = shaken(places, corners, motion.values[0], int(motion.values[1])), corners
        case "remesh":
            there, after = places, flipped(places, corners, motion.values[0], int(motion.values[1]))
        case _:
            raise NoAction(f"nothing is known of {motion.kind!r}")
    import torch

    new = torch.as_tensor(there, dtype=position.dtype, device=position.device)
    corner = torch.as_tensor(after, dtype=faces.dtype, device=faces.device)
    remade = inputs.remake(inputs, new, corner, None)
    index = remade.get("edge_index")
    assert index is not None
    source, target = index.cpu().numpy()
    edges = _matched(plain, source, target, len(places))
    turn, stretch = _drift(inputs, remade, edges)
    return SurfaceMap(turn, source, target, remade=remade, edges=edges, stretch=stretch)


def _matched(old: SurfaceMap, source: Index, target: Index, n: int) -> Index:
    """Return which of the old listed edges each new one is, -1 for those that are new."""
    before = old.target * n + old.source
    order = np.argsort(before)
    wanted = target * n + source
    at = np.searchsorted(before[order], wanted).clip(0, max(len(before) - 1, 0))
    found = order[at]
    return np.where(before[found] == wanted, found, -1)


def _drift(before: Inputs, after: Inputs, edges: Index) -> tuple[Floats, float]:
    """Return by how much the frames made anew are turned against the old ones, and how far lengths have changed.

    The old frame is laid into the changed tangent plane so that the edges which both surfaces share point as nearly
    the same way as they can, in the mean over the vertex's ring (least squares on the circle).
    """
    from explorer.spaces.mesh.network.fit import angle_between, surface_of

    n = len(before.x)
    (places, corners), (there, after_corners) = (
        (i.values[i.names.index("position")].double().cpu().numpy(), i.values[i.names.index("faces")].cpu().numpy())
        for i in (before, after)
    )
    old_axes, new_axes = (i.values[i.names.index("axes")].double().cpu().numpy() for i in (before, after))
    source, target = after.values[after.names.index("edge_index")].cpu().numpy()
    kept = edges >= 0
    if np.array_equal(places, there) and not np.array_equal(corners, after_corners):
        return -angle_between(new_axes, old_axes, np.cross(new_axes[:, 0], new_axes[:, 1])), 0.0
    s, t = source[kept], target[kept]
    old, new = surface_of(places, corners), surface_of(there, after_corners)
    # angles are counted from the frames in use, which may be others than the surface's own
    seen_old = _seen(old.edges, old.angle, old.frames, old_axes, s, t, n)
    seen_new = _seen(new.edges, new.angle, new.frames, new_axes, s, t, n)
    apart = np.exp(1j * (seen_old - seen_new))
    total = np.zeros(n, np.complex128)
    np.add.at(total, t, apart)
    lengths = [np.linalg.norm(p[s] - p[t], axis=1) for p in (places, there)]
    stretch = float(np.abs(lengths[1] / np.maximum(lengths[0], 1e-300) - 1).max(initial=0.0))
    return np.angle(total), stretch


def _seen(
    listed: Index, angle: Floats, own: Floats, axes: Floats, source: Index, target: Index, n: int
) -> Floats:  # fmt: skip
    """Return at what angle the frames `axes` see each edge (source, target), given how the surface's `own` do."""
    from explorer.spaces.mesh.network.fit import angle_between

    key = listed[1] * n + listed[0]
    order = np.argsort(key)
    at = order[np.searchsorted(key[order], target * n + source)]
    turned = angle_between(own, axes, np.cross(own[:, 0], own[:, 1]))
    found: Floats = angle[at] - turned[target]
    return found


def word(*motions: Motion) -> SurfaceWord:
    """Return the element of some generators; those that do nothing are left out."""
    return SurfaceWord(tuple(m for m in motions if not m.identity))
