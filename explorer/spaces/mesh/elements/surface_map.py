"""Bind the motions of a mesh: frames turned, the surface carried through space, or made anew.

Turned frames and rigid motions act on every field and are exact. What bends, shakes or remeshes the surface changes its
lengths a little, so the network's arguments are made anew from it, and features are compared at the same vertices, in
frames that are matched as well as the two surfaces allow: a curve, no verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.types.fields import FieldType, Regular
from explorer.spaces.graph.fields import Edges
from explorer.spaces.mesh.fields import Ambient, Direction, Faces, Metric, Patch, Tangent, TangentFrame, Transporter

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
DOMAINS = ("mesh",)
TINY = 1e-12
WHOLE = 1e-9  # how far, in steps of 2 pi / n, an angle may be from a multiple to count as one


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceMap(Element):
    """A word made concrete.

    Attributes:
        turn: (vertices,) radians by which each frame is turned about its normal.
        linear, shift: where a point of space goes, linear @ p + shift.
        remade: the network's arguments on the surface afterwards, where it was bent, shaken or remeshed.
        edges: (E,) which of the old listed edges each new one is; None where all stay, -1 where it is new.
        stretch: the largest relative change of an edge's length.
        source, target: (E,) the vertices that the listed edges join, for what edges carry.
    """

    turn: Floats
    source: Index
    target: Index
    linear: Floats = field(default_factory=lambda: np.eye(3))
    shift: Floats = field(default_factory=lambda: np.zeros(3))
    remade: Inputs | None = None
    edges: Index | None = None
    stretch: float = 0.0
    resamples = False

    @property
    def group(self) -> str:
        return "gauge"

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return DOMAINS

    @property
    def mirrored(self) -> bool:
        return bool(np.linalg.det(self.linear) < 0)

    @property
    def identity(self) -> bool:
        # a product with the inverse rounds
        off = max(float(np.abs(part).max(initial=0.0)) for part in (self.turn, self.shift, self.linear - np.eye(3)))
        return off < TINY and self.remade is None

    def inverse(self) -> SurfaceMap:
        if self.remade is not None:
            raise NoAction("the surface itself was changed, which has no inverse")
        back = self.linear.T
        # a mirrored frame turns the other way round
        turn = self.turn if self.mirrored else -self.turn
        return replace(self, turn=turn, linear=back, shift=-back @ self.shift)

    def then(self, second: SurfaceMap) -> SurfaceMap:
        """Return second o self as one map."""
        turn = (-self.turn if second.mirrored else self.turn) + second.turn
        edges = second.edges if self.edges is None else self.edges if second.edges is None else _through(self, second)
        return SurfaceMap(
            turn, second.source, second.target, second.linear @ self.linear, second.linear @ self.shift + second.shift,
            _remade(self, second), edges, max(self.stretch, second.stretch),
        )  # fmt: skip

    def merge(self, first: Element) -> SurfaceMap | None:
        return first.then(self) if isinstance(first, SurfaceMap) else None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        if self.remade is not None:
            return False
        match field.rep:
            case Regular(group=group):
                return self._steps(group.order) is not None
            case Patch():
                return self._steps(shape[-2]) is not None
            case _:
                return True

    def _steps(self, n: int) -> Index | None:
        """Return by how many steps of 2 pi / n each frame is turned, or None when one of them is no whole number."""
        steps = self.turn * n / (2 * math.pi)
        whole = np.round(steps)
        return whole.astype(np.int64) if bool((np.abs(steps - whole) < WHOLE * n).all()) else None

    def moved(self, inputs: Inputs) -> Inputs:
        if self.remade is not None:
            return self.remade
        corner = next((k for k, f in enumerate(inputs.fields) if isinstance(f.rep, Patch)), None)
        if corner is None or self._steps(inputs.values[corner].shape[-2]) is not None or inputs.remake is None:
            return inputs.map(self.act)
        # directions between two of a patch's own: its geodesics are traced again in the turned frames
        places = {name: (v, f) for name, v, f in zip(inputs.names, inputs.values, inputs.fields, strict=True)}
        position, faces, axes = (self.act(*places[name]) for name in ("position", "faces", "axes"))
        traced = inputs.remake(inputs, position, faces, axes)
        values = tuple(
            new if isinstance(f.rep, Patch) else self.act(old, f)
            for old, new, f in zip(inputs.values, traced.values, inputs.fields, strict=True)
        )
        return replace(inputs, values=values)

    @property
    def turning(self) -> bool:
        """Return whether some frame is turned or seen in a mirror, so that coordinates in frames change."""
        return self.remade is not None or self.mirrored or bool(self.turn.any())

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        match field.rep:
            case Tangent() | Regular() | Patch() | Direction() | Transporter() if not self.turning:
                return values
            case Tangent(orders=orders):
                return self._tangent(values, orders)
            case Regular(group=group):
                return self._regular(values, group.order)
            case Ambient(kind=kind):
                moved = values @ _like(self.linear, values).T
                return moved + _like(self.shift, values) if kind == "position" else moved
            case TangentFrame():
                return self._axes(values)
            case Patch():
                return self._patch(values)
            case Direction() | Transporter():
                return self._angles(values, field)
            case Metric() if self.remade is not None:
                raise NoAction("lengths are measured anew on the changed surface")
        if isinstance(field.domain, Edges) and self.remade is not None:
            return self._edges(values, field)
        if isinstance(field.domain, Faces):
            if self.remade is not None:
                return self.remade.values[self.remade.names.index("faces")]
            # seen in a mirror corners run the other way round
            return values[:, [0, 2, 1]] if self.mirrored and values.shape[-1] == 3 else values
        return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return None

    def _edges(self, values: Tensor, field: FieldType) -> Tensor:
        if self.remade is None or self.edges is None:
            return values
        if str(field.rep) == "index":
            return self.remade.values[self.remade.names.index("edge_index")]
        if (self.edges < 0).any():
            raise NoAction("remeshing puts other edges in place of some")
        import torch

        return values.index_select(0, torch.as_tensor(self.edges, device=values.device))

    def _angles(self, values: Tensor, field: FieldType) -> Tensor:
        if self.remade is not None:
            raise NoAction("angles are measured anew on the changed surface")
        turn = _like(self.turn, values)
        values = -values if self.mirrored else values
        shape = (-1, *[1] * (values.ndim - 1))
        lowered = values - turn[_index(self.target, values)].view(shape)
        if isinstance(field.rep, Direction):
            return lowered
        return lowered + turn[_index(self.source, values)].view(shape)

    def _tangent(self, values: Tensor, orders: tuple[int, ...]) -> Tensor:
        import torch

        size = Tangent(orders).size
        if values[:1].numel() % size:
            raise NoAction(f"{values[:1].numel()} channels are no whole number of blocks of {size}")
        blocks = values.reshape(len(values), -1, size)
        turn = _like(self.turn, values)[:, None]
        parts, at = [], 0
        for m in orders:
            if m == 0:
                parts.append(blocks[..., at : at + 1])
                at += 1
                continue
            real, imaginary = blocks[..., at], blocks[..., at + 1]
            imaginary = -imaginary if self.mirrored else imaginary
            c, s = torch.cos(m * turn), torch.sin(m * turn)
            # coordinates turn against their frame: rho_m(-turn)
            parts += [(c * real + s * imaginary)[..., None], (c * imaginary - s * real)[..., None]]
            at += 2
        return torch.cat(parts, -1).reshape(values.shape)

    def _regular(self, values: Tensor, n: int) -> Tensor:
        import torch

        blocks = values.reshape(len(values), -1, n)
        if self.mirrored:  # direction a is seen at -a
            blocks = blocks[..., _index((-np.arange(n)) % n, values)]
        steps = self._steps(n)
        if steps is not None:
            # what stood at direction k now stands at k - steps
            places = _index((np.arange(n)[None] + steps[:, None]) % n, values)
            blocks = blocks.gather(2, places[:, None].expand_as(blocks))
        else:
            # between the elements of C_n the values are one period of a band-limited function
            waves = torch.fft.rfftfreq(n, 1 / n, device=values.device, dtype=values.dtype)
            phase = torch.polar(torch.ones_like(waves), waves)[None] ** _like(self.turn, values)[:, None]
            blocks = torch.fft.irfft(torch.fft.rfft(blocks, dim=-1) * phase[:, None], n, dim=-1)
        return blocks.reshape(values.shape)

    def _patch(self, values: Tensor) -> Tensor:
        if self.remade is not None:
            raise NoAction("patches are traced anew on the changed surface")
        n = values.shape[-2]
        if self.mirrored:
            values = values[:, :, _index((-np.arange(n)) % n, values)]
        if (steps := self._steps(n)) is None:
            raise NoAction(f"a patch of {n} directions turns by multiples of {360 / n:g}° only; others trace it again")
        places = _index((np.arange(n)[None] + steps[:, None]) % n, values)
        return values.gather(2, places[:, None, :, None].expand_as(values))

    def _axes(self, values: Tensor) -> Tensor:
        import torch

        if self.remade is not None:
            return self.remade.values[self.remade.names.index("axes")]
        turn = _like(self.turn, values)[:, None]
        x, y = (values @ _like(self.linear, values).T).unbind(1)
        y = -y if self.mirrored else y
        c, s = torch.cos(turn), torch.sin(turn)
        return torch.stack([c * x + s * y, c * y - s * x], 1)


def _like(array: Floats, values: Tensor) -> Tensor:
    import torch

    return torch.as_tensor(array, dtype=values.dtype, device=values.device)


def _index(array: Index, values: Tensor) -> Tensor:
    import torch

    return torch.as_tensor(array, dtype=torch.int64, device=values.device)


def _through(first: SurfaceMap, second: SurfaceMap) -> Index:
    assert first.edges is not None and second.edges is not None
    return np.where(second.edges < 0, -1, first.edges[second.edges])


def _remade(first: SurfaceMap, second: SurfaceMap) -> Inputs | None:
    if second.remade is not None:
        return second.remade  # was made from what the first one left
    return None if first.remade is None else second.moved(first.remade)
