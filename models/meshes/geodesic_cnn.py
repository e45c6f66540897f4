"""Geodesic CNN: filters on polar patches, turned to every direction, and the strongest response kept.

    (D(v) f)(r, theta)  values of f on the geodesic patch of v
    h(v, a) = sum over r, theta of  w(r, theta) (D(v) f)(r, theta + a)
    f'(v) = max over a of h(v, a)

A patch has no distinguished direction; turning the frame shifts h along a, which the maximum does not notice: exactly
for turns by a patch's own directions, up to its angular resolution for others.

Masci, Boscaini, Bronstein, Vandergheynst, "Geodesic convolutional neural networks on Riemannian manifolds", 2015,
eqs. (5) to (7); Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.6.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.groups import group
from explorer.declare.types.fields import FieldType, Regular
from explorer.spaces.mesh.fields import VERTEX, Vertices
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.graph.propagation import Kept
from models.layers.taps import Tap
from models.training.meshes import PARTS, notes_of, train_parts

CHANNELS, HIDDEN = 16, 8
INPUT = MeshInput(channels=CHANNELS, signals=("x", "patch_index", "patch_weight"), radii=3, directions=12, reach=0.09)
_operators = Kept(8)


def on_patches(x: Tensor, patch_index: Tensor, patch_weight: Tensor) -> Tensor:
    """Return the values of x (V, C) at the places of every patch, (V, R, D, C): the patch operator D(v) f."""

    def make() -> Tensor:
        places = patch_index[..., 0].numel()
        starts = torch.arange(0, 3 * places + 1, 3, device=x.device)
        weights = patch_weight.reshape(-1).to(x.dtype)
        return torch.sparse_csr_tensor(
            starts, patch_index.reshape(-1), weights, (places, len(x)), check_invariants=False
        )

    matrix = _operators.get((patch_index, patch_weight), (x.dtype, len(x)), make)
    if torch.is_grad_enabled() and x.requires_grad:
        # the product with a sparse matrix is not differentiated here, but gathering is
        return (x[patch_index] * patch_weight[..., None].to(x.dtype)).sum(-2)
    return (matrix @ x).view(*patch_index.shape[:3], x.shape[1])


class GeodesicConv(nn.Module):
    """(V, C), patches -> (V, out): the strongest of the responses at all directions, with bias and ReLU.

    `rotations` are the responses, a field of the regular representation of C_D.
    """

    out_field = VERTEX

    def __init__(self, inputs: int, outputs: int, radii: int = INPUT.radii, directions: int = INPUT.directions) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, radii, directions))
        self.own = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.rotations = Tap(FieldType(Vertices(), Regular(group(f"C{directions}"))))
        bound = math.sqrt(6.0 / (inputs * radii * directions + outputs))
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.xavier_uniform_(self.own)

    def forward(self, x: Tensor, patch_index: Tensor, patch_weight: Tensor) -> Tensor:
        patch = on_patches(x, patch_index, patch_weight)  # (V, R, D, C)
        directions = patch.shape[2]
        # all directions at once: a correlation around the circle is a product of Fourier coefficients
        waves = torch.fft.rfft(patch, dim=2).permute(2, 0, 3, 1).flatten(2)  # (K, V, C * R)
        filters = torch.fft.rfft(self.weight, dim=3).conj().permute(3, 1, 2, 0).flatten(1, 2)  # (K, C * R, out)
        around = torch.fft.irfft(waves @ filters, directions, dim=0).permute(1, 2, 0)  # (V, out, D)
        around = self.rotations(around.flatten(1)).view(len(x), -1, directions)
        return (around.amax(2) + x @ self.own.t() + self.bias).relu()

    def kernels(self) -> tuple[Tensor, tuple[str, ...]]:
        """Return the filters on the patch, (out * min(C, 4), R, D), and their names."""
        shown = self.weight[:, :4]
        names = [f"{o} ← {c}" for o in range(shown.shape[0]) for c in range(shown.shape[1])]
        return shown.flatten(0, 1), tuple(names)


class GeodesicCNN(nn.Module):
    """Two geodesic convolutions and a linear map; (V, 16), patches -> (V, parts)."""

    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.conv1 = GeodesicConv(CHANNELS, hidden)
        self.conv2 = GeodesicConv(hidden, 2 * hidden)
        self.classify = nn.Linear(2 * hidden, len(PARTS))

    def forward(self, x: Tensor, patch_index: Tensor, patch_weight: Tensor) -> Tensor:
        patches = (patch_index, patch_weight)
        out: Tensor = self.classify(self.conv2(self.conv1(x, *patches), *patches))
        return out


CARD = Card(
    name="geodesic-cnn",
    title="Geodesic CNN with angular max pooling",
    rows=("M1", "M4"),
    groups=(f"gauge-C{INPUT.directions}", "permutation", "SE3"),
    reference=(
        'Masci, Boscaini, Bronstein, Vandergheynst, "Geodesic convolutional neural networks on Riemannian manifolds", '
        "2015, eqs. (5) to (7)"
    ),
    equation=("h(v, a) = Σ_{r,θ} w(r, θ) (D(v)f)(r, θ + a)\nf′(v) = σ(max_a h(v, a) + W f(v) + b)"),
    summary=(
        "A filter is laid on the patch of each vertex in twelve directions, and the strongest answer is kept. Choose "
        "rotations to see all of them: a turned frame shifts them round the circle, and the maximum stays."
    ),
    build=GeodesicCNN,
    input=INPUT,
    domain="mesh",
    weights="geodesic-cnn.safetensors",
    labels=PARTS,
    notes=notes_of("geodesic-cnn"),
    sample="body",
    train=partial(train_parts, GeodesicCNN, INPUT),
    source=(GeodesicConv, GeodesicCNN),
)
