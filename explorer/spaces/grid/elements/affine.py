"""The one element type of planar grids: an affine map of the plane with an intensity map.

x' = A x + t about the centre of the grid, x to the right, y up, t in input pixels; grey value v -> gain v + offset.
Rotations, mirrors, shifts, dilations and brightness are all of this type, so a chain of them is resampled once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.groups import MIRROR, FiniteGroup, Matrix
from explorer.declare.types.declared import Mixed
from explorer.declare.types.fields import FieldType, Regular, Scalar
from explorer.spaces.grid.fields import ChannelsLast, Grid

if TYPE_CHECKING:
    from torch import Tensor

Linear = tuple[float, float, float, float]
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Affine(Element):
    """x' = A x + t, then v' = gain v + offset; `boundary` says what enters from outside the grid."""

    linear: Linear = (1.0, 0.0, 0.0, 1.0)
    shift: tuple[float, float] = (0.0, 0.0)
    gain: float = 1.0
    offset: float = 0.0
    boundary: str = "circular"

    @property
    def group(self) -> str:
        return _group(self.linear)

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("grid",)

    @property
    def matrix(self) -> Matrix:
        return np.array(self.linear).reshape(2, 2)

    @property
    def identity(self) -> bool:
        return (
            bool(np.abs(self.matrix - np.eye(2)).max() < _TINY)
            and max(map(abs, self.shift)) < _TINY
            and max(abs(self.gain - 1.0), abs(self.offset)) < 1e-12  # a product with the inverse rounds
        )

    @property
    def lattice(self) -> bool:
        """Return whether A is a signed permutation matrix: quarter turns and mirrors."""
        return _on_lattice(self.linear)

    @property
    def _edges(self) -> str:
        """Return what happens at the grid's edge: "" where nothing crosses it."""
        return "" if self.lattice and max(map(abs, self.shift)) < _TINY else self.boundary

    @property
    def wraps(self) -> bool:
        return self._edges == "circular"

    def inverse(self) -> Affine:
        inverse = np.linalg.inv(self.matrix)
        if self.lattice:
            inverse = np.round(inverse)
        right, up = (float(v) + 0.0 for v in -inverse @ np.array(self.shift))
        return Affine(as_linear(inverse), (right, up), 1 / self.gain, -self.offset / self.gain + 0.0, self.boundary)

    def merge(self, first: Element) -> Affine | None:
        if not isinstance(first, Affine):
            return None
        boundaries = {self._edges, first._edges} - {""}
        # what a circular shift wrapped round would be cut off by a merged map with zeros outside
        if len(boundaries) == 2 or (boundaries == {"circular"} and not (self.lattice and first.lattice)):
            return None
        matrix = self.matrix @ first.matrix
        if np.abs(matrix - np.round(matrix)).max() < _TINY:
            matrix = np.round(matrix)
        shift = self.matrix @ np.array(first.shift) + np.array(self.shift)
        shift = np.where(np.abs(shift - np.round(shift)) < _TINY, np.round(shift), shift)
        return Affine(
            as_linear(matrix),
            (float(shift[0]), float(shift[1])),
            self.gain * first.gain,
            self.gain * first.offset + self.offset,
            "zero" if "zero" in boundaries else "circular",
        )

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        if isinstance(field.rep, Regular) and field.rep.group.find(self.orthogonal) is None:
            return False
        if isinstance(field.rep, Mixed) and field.rep.matrix(self.orthogonal) is None:
            return False
        if not isinstance(field.domain, Grid | ChannelsLast):
            return True
        steps = [by / field.domain.spacing for by in self.shift]
        return self.lattice and all(abs(step - round(step)) < _TINY for step in steps)

    @property
    def orthogonal(self) -> Matrix:
        """The point part h: A without its dilation."""
        m: Matrix = self.matrix / math.sqrt(abs(np.linalg.det(self.matrix)))
        return m

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        # torch is imported only when tensors are there
        from explorer.spaces.grid.elements import resampling as grid_action

        if field.guessed and field.stacked and not np.allclose(self.orthogonal, np.eye(2)):
            raise NoAction("one of its axes of channels may turn with the image: say which representation it has")
        if isinstance(field.domain, ChannelsLast):
            on_maps = replace(field, domain=Grid(field.domain.spacing))
            return field.domain.moved(values, lambda maps: self.act(maps, on_maps))
        flat = field.domain.flat if isinstance(field.domain, Grid) else None
        if flat:
            values = values.unflatten(1, (-1, *flat))
        if isinstance(field.rep, Regular):
            values = _fibre(values, field.rep.group, self.orthogonal)
        elif isinstance(field.rep, Mixed):
            values = field.rep.mixed(values, self.orthogonal)
        if isinstance(field.domain, Grid):
            values = grid_action.move(values, self.matrix, self.shift, field.domain.spacing, self.boundary)
        if flat:
            values = values.flatten(1)
        if isinstance(field.rep, Scalar) and field.rep.intensity and (self.gain != 1.0 or self.offset != 0.0):
            values = values * self.gain + self.offset
        return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        from explorer.spaces.grid.elements import resampling as grid_action

        # one place that stands for the whole image is neither moved nor cut off
        if not isinstance(field.domain, Grid | ChannelsLast) or math.isinf(field.domain.spacing):
            return None
        if self.lattice and (self.boundary == "circular" or not self._edges):
            return None
        rows, columns = field.domain.ones(values[:1]).shape[-2:]
        size = (rows, columns)
        return grid_action.known(size, self.matrix, self.shift, field.domain.spacing, self.boundary, values)


# every layer of every frame asks these
@lru_cache(maxsize=1024)
def _on_lattice(linear: Linear) -> bool:
    m = np.abs(np.array(linear).reshape(2, 2))
    # integer entries and determinant 1 are not enough: a shear has them too
    return bool(np.abs(m - np.round(m)).max() < _TINY and np.abs(m @ m.T - np.eye(2)).max() < 4 * _TINY)


@lru_cache(maxsize=1024)
def _group(linear: Linear) -> str:
    matrix = np.array(linear).reshape(2, 2)
    if np.allclose(matrix, np.eye(2)):
        return "translation"
    return "C4" if np.linalg.det(matrix) > 0 else "D4"


IDENTITY = Affine()


def as_linear(matrix: NDArray[np.floating]) -> Linear:
    a, b, c, d = (float(v) + 0.0 for v in matrix.ravel())
    return (a, b, c, d)


def fibre_matrix(group: FiniteGroup, h: Matrix) -> Matrix:
    """Return rho(h) on the orientation channels, (|H|, |H|): a permutation on the group, Fourier-interpolated between.

    Between group elements each coset of rotations is shifted round its circle by trigonometric interpolation, which is
    exact on the group and an isometry (up to the Nyquist frequency) in between.

    Raises:
        NoAction: h reflects, and the group has no reflections.
    """
    return _fibre_matrix(group, as_linear(h))


@lru_cache(maxsize=4096)  # every layer of a network asks for the same few
def _fibre_matrix(group: FiniteGroup, linear: Linear) -> Matrix:
    h = np.array(linear).reshape(2, 2)
    index = group.find(h)
    if index is not None:
        return np.eye(group.order, dtype=np.float64)[group.regular_permutation(index)]
    if np.linalg.det(h) < 0:
        if group.find(MIRROR) is None:
            raise NoAction(f"a regular({group.name}) field has no mirrored orientations, so a reflection has no action")
        return fibre_matrix(group, h @ MIRROR) @ fibre_matrix(group, MIRROR)
    turns = sum(1 for m in group.matrices if np.linalg.det(m) > 0)
    angle = math.atan2(h[1, 0], h[0, 0]) / (2 * math.pi) * turns
    frequency = np.fft.fftfreq(turns) * turns
    phase = np.exp(-2j * np.pi * frequency * angle / turns)
    if turns % 2 == 0:
        phase[turns // 2] = math.cos(math.pi * angle)
    kernel: Matrix = np.fft.ifft(phase).real
    circulant = np.stack([np.roll(kernel, k) for k in range(turns)], axis=1)
    mix = np.kron(np.eye(group.order // turns), circulant)
    return mix.astype(np.float64)


def _fibre(values: Tensor, group: FiniteGroup, h: Matrix) -> Tensor:
    """Return rho(h) on axis 1, which is (field, |H|)."""
    import torch

    index = group.find(h)
    if index == 0:
        return values
    blocks: Tensor = values.unflatten(1, (-1, group.order))
    if index is not None:
        order = torch.as_tensor(group.regular_permutation(index), device=values.device)
        return blocks.index_select(2, order).flatten(1, 2)
    mix = torch.as_tensor(fibre_matrix(group, h), dtype=values.dtype, device=values.device)
    turned: Tensor = torch.einsum("rs,bfs...->bfr...", mix, blocks)
    return turned.flatten(1, 2)
