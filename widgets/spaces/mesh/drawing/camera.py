"""The eye that a mesh is seen with: it turns about a point, without poles. Numpy only, no Qt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ANGLE = 30.0  # degrees that the shorter side of a panel sees
NEAREST, FARTHEST = 0.02, 60.0  # distances from the point in the middle, in radii of the mesh
MARGIN = 1.04  # round what is seen as a whole
FRONT = 0.6  # of the depth of the nearest vertex, from which on things are drawn
_TANGENT = math.tan(math.radians(ANGLE / 2))


def rotation(axis: Array, angle: float) -> Array:
    """Return the matrix (3, 3) that turns by an angle in radians about a unit axis (Rodrigues' formula)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def facing(direction: Array, up: Array) -> Array:
    """Return the axes of an eye that is in that direction from the middle, with `up` upwards."""
    back = direction / np.linalg.norm(direction)
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back])


START = facing(np.array([0.42, 0.38, 1.0]), np.array([0.0, 1.0, 0.0]))


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """An eye `distance` away from `focus` (3,); the rows of `axes` (3, 3) are its right, its up and its back."""

    focus: Array
    axes: Array
    distance: float
    radius: float = 1.0  # of what is looked at

    @property
    def numbers(self) -> list[float]:
        """Return what it is as plain numbers, which `eye_of` reads."""
        return [*self.focus.tolist(), *self.axes.ravel().tolist(), self.distance, self.radius]

    @property
    def position(self) -> Array:
        return np.asarray(self.focus + self.distance * self.axes[2])

    def pixels(self, width: float, height: float) -> float:
        """Return the pixels to a unit of length at a unit of depth, in a panel of that size."""
        return min(width, height) / 2 / _TANGENT

    def screen(self, points: Array, width: float, height: float) -> Array:
        """Return (n, 3): pixels right and down from a panel's upper left corner, and the depth, negative behind."""
        seen = (np.asarray(points, float) - self.focus) @ self.axes.T
        depth = self.distance - seen[:, 2]
        per = self.pixels(width, height) / np.where(np.abs(depth) < 1e-12, 1e-12, depth)
        return np.stack([width / 2 + seen[:, 0] * per, height / 2 - seen[:, 1] * per, depth], 1)

    def reach(self, points: Array, width: float, height: float) -> float:
        """Return how far from the middle of a panel points go, where 1 is its edge."""
        seen = self.screen(points, width, height)
        seen = seen[np.isfinite(seen).all(1)]
        if not len(seen):
            return 0.0
        half = np.array([width, height]) / 2
        return math.inf if seen[:, 2].min() <= 0 else float(np.abs(seen[:, :2] / half - 1).max())

    def ray(self, at: tuple[float, float], width: float, height: float) -> Array:
        """Return the unit direction (3,) from the eye through a pixel."""
        scale = self.pixels(width, height)
        way = np.array([(at[0] - width / 2) / scale, (height / 2 - at[1]) / scale, -1.0]) @ self.axes
        return np.asarray(way / np.linalg.norm(way))

    def under(self, at: tuple[float, float], width: float, height: float) -> Array:
        """Return the point (3,) at a pixel, as deep as the focus."""
        way = self.ray(at, width, height)
        return np.asarray(self.position + way * self.distance / -(way @ self.axes[2]))

    def turn(self, right: float, down: float) -> Array:
        """Return the rotation (3, 3) by which a mesh follows a hand that moves by these angles in radians."""
        size = math.hypot(right, down)
        if not size:
            return np.eye(3)
        return rotation((down * self.axes[0] + right * self.axes[1]) / size, size)

    def orbited(self, right: float, down: float) -> Eye:
        """Return the eye moved round the focus so that the mesh seems to follow the hand."""
        axes = self.axes @ self.turn(right, down)
        return replace(self, axes=facing(axes[2], axes[1]))  # upright again, against the drift of many small turns

    def rounded(self, share: float) -> Eye:
        """Return the eye after that share of a full turn of the mesh about the axis of space that is most upright."""
        axis, upright = np.zeros(3), int(np.abs(self.axes[1]).argmax())
        axis[upright] = np.sign(self.axes[1][upright])
        return replace(self, axes=self.axes @ rotation(axis, 2 * math.pi * share))

    def panned(self, right: float, down: float, width: float, height: float) -> Eye:
        """Return the eye moved aside by pixels, so that what is as deep as the focus follows the hand."""
        unit = self.distance / self.pixels(width, height)
        return replace(self, focus=self.focus + unit * (down * self.axes[1] - right * self.axes[0]))

    def zoomed(self, factor: float, about: Array) -> Eye:
        """Return the eye that sees things `factor` times as large, with the point `about` kept where it is seen."""
        distance = min(max(self.distance / factor, NEAREST * self.radius), FARTHEST * self.radius)
        return replace(self, distance=distance, focus=about + (self.focus - about) * (distance / self.distance))

    def depths(self, meshes: Sequence[Array], radius: float) -> tuple[float, float]:
        """Return depths before and behind everything that can be seen of vertices (V, 3) in a ball of that radius."""
        back = self.axes[2].astype(np.float32)
        all_depths = [
            float(self.position @ self.axes[2]) - mesh.astype(np.float32, copy=False) @ back for mesh in meshes
        ]
        seen = [depth[depth > 0] for depth in all_depths]
        nearest = min((float(depth.min()) for depth in seen if depth.size), default=1.0)
        farthest = max((float(depth.max()) for depth in seen if depth.size), default=1.0)
        return max(FRONT * nearest, 1e-3 * farthest, 1e-4 * radius), farthest + 0.2 * radius


def fitted(
    centre: Array, radius: float, axes: Array = START, half: Array | None = None, size: tuple[float, float] = (1, 1)
) -> Eye:
    """Return the eye that sees a ball as large as it fits into a panel, from the side that `axes` say.

    With `half` (3,), the sides of a box about the same centre that holds everything too, it comes nearer where the box
    lies well in a panel of that `size`.
    """
    radius = radius or 1.0
    distance = radius / math.sin(math.radians(ANGLE / 2))
    if half is not None:
        corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) @ axes.T
        sides = np.abs(corners[:, :2]) * (min(size) / np.array(size)) / _TANGENT
        distance = min(distance, float((corners[:, 2] + sides.max(1)).max()))
    return Eye(np.asarray(centre, float), axes, MARGIN * distance, radius)


def ball(meshes: Sequence[Array]) -> tuple[Array, float]:
    """Return the centre (3,) and the radius of a ball that holds the vertices of all meshes."""
    known = [mesh[np.isfinite(mesh).all(1)] for mesh in meshes]
    known = [mesh for mesh in known if len(mesh)]
    if not known:
        return np.zeros(3), 1.0
    low, high = np.min([mesh.min(0) for mesh in known], 0), np.max([mesh.max(0) for mesh in known], 0)
    centre = (low + high) / 2
    radius = max(float(np.sqrt(((mesh - centre) ** 2).sum(1).max())) for mesh in known)
    return centre, radius or 1.0


def eye_of(numbers: object) -> Eye | None:
    """Return the eye that `Eye.numbers` wrote; None where a file says something else."""
    if not isinstance(numbers, list) or len(numbers) != 14 or not all(type(v) in (int, float) for v in numbers):
        return None
    if not all(abs(v) < 1e12 for v in numbers):  # nor NaN, nor a whole number that no float holds
        return None
    found = np.array(numbers, float)
    axes, (distance, radius) = found[3:12].reshape(3, 3), found[12:].tolist()
    if np.abs(axes @ axes.T - np.eye(3)).max() > 1e-6 or min(distance, radius) <= 0:
        return None
    return Eye(found[:3], axes, distance, radius)
