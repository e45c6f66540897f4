"""The elements and inputs with which other tools and this program measure the same."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from equiscope import Inputs, mesh
from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, find_symmetry
from tests.explorer.equivariance.other_tools.networks import VECTORS, waves

VERTICES = torch.tensor([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
FACES = torch.tensor([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


def vectors() -> Inputs:
    """Return a vector at each vertex of an octahedron."""
    return mesh(VERTICES, FACES, ("x",), x=waves(6, 3), field=VECTORS)


def motions() -> list[Tensor]:
    """Return the matrices of the elements of E(3) that `check_equivariance` asks, in their order."""
    return [element.act(torch.eye(3, dtype=torch.float64).repeat(2, 1), VECTORS)[:3].T for element in elements()]


def elements() -> list[Element]:
    situation = Situation((6, 1), 1, "circular", np.random.default_rng(0), 6)
    return [e.on(vectors()) for _, e in find_symmetry("E3").elements("E3", situation)]


def spectral_shift(values: Tensor, t: Tensor, axis: str = "x") -> Tensor:
    """Return periodic values shifted by t pixels, with the sign of lie-deriv: a positive t leads left and up."""
    dim = -1 if axis == "x" else -2
    size = values.shape[dim]
    phase = 2 * torch.pi * torch.fft.fftfreq(size, dtype=values.dtype) * t.to(values.dtype)
    phase = torch.where(torch.arange(size) == size / 2, 0.0, phase)  # which has no sign
    turned = torch.polar(torch.ones_like(phase), phase)
    spectrum = torch.fft.fft(values, dim=dim) * (turned if dim == -1 else turned[:, None])
    return torch.fft.ifft(spectrum, dim=dim).real
