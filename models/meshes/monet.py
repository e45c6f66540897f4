"""MoNet on meshes: weight functions on polar coordinates in a fixed gauge.

    f'_i = W f_i + mean over the neighbours j of  sum over k of  w_k(u_ij) Theta_k f_j + b
    w_k(u) = exp(-1/2 (u - mu_k)^T Sigma_k^-1 (u - mu_k)),    u_ij = (r_ij, cos theta_ij, sin theta_ij)

theta_ij is measured from the direction that the gauge rule fixes: of the largest principal curvature, or of the
gradient of an intrinsic function. Where the rule has no answer (an umbilic point, a flat place, a critical point) the
frame is arbitrary, and so is what the network says there. Layers have the parameters of torch_geometric's GMMConv.

Monti, Boscaini, Masci, Rodolà, Svoboda, Bronstein, "Geometric deep learning on graphs and manifolds using mixture model
CNNs", 2017, eqs. (9) and (11); Masci et al., 2015, and Boscaini et al., 2016, for weight functions not learned.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.graph.fields import EDGE
from explorer.spaces.mesh.fields import VERTEX
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.graph.propagation import pattern, product
from models.layers.taps import Tap
from models.training.meshes import PARTS, notes_of, train_parts

CHANNELS, HIDDEN, KERNELS = 16, 12, 9
SIGNALS = ("x", "edge_index", "radius", "angle")
PRINCIPAL = MeshInput(channels=CHANNELS, signals=SIGNALS, gauge="principal")
GRADIENT = MeshInput(channels=CHANNELS, signals=SIGNALS, gauge="gradient")


class PseudoCoordinates(nn.Module):
    """(radius / mean radius, cos angle, sin angle); (E,), (E,) -> (E, 3)."""

    out_field = EDGE

    def forward(self, radius: Tensor, angle: Tensor) -> Tensor:
        return torch.stack([radius / radius.mean(), angle.cos(), angle.sin()], 1)


class MixtureConv(nn.Module):
    """(V, C), edge_index, u (E, 3) -> (V, out).

    Attributes:
        g: (C, K * out), Theta_k side by side; mu, sigma: (K, 3); root: (out, C); bias: (out,).
        weights: w_k(u_ij), (E, K), a layer of its own.
    """

    out_field = VERTEX

    def __init__(self, inputs: int, outputs: int, kernels: int = KERNELS, learned: bool = True) -> None:
        super().__init__()
        self.outputs = outputs
        self.g = nn.Parameter(torch.empty(inputs, kernels * outputs))
        # centres on the circle at the mean distance and one in the middle; of other numbers on rings
        angle = torch.arange(kernels) * (2 * math.pi / max(1, kernels - 1))
        mu = torch.stack([torch.ones(kernels), angle.cos(), angle.sin()], 1)
        mu[-1] = torch.tensor([0.5, 0.0, 0.0])
        self.mu = nn.Parameter(mu, requires_grad=learned)
        self.sigma = nn.Parameter(torch.full((kernels, 3), 0.6), requires_grad=learned)
        self.root = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.weights = Tap(EDGE)
        nn.init.xavier_uniform_(self.g)
        nn.init.xavier_uniform_(self.root)

    def forward(self, x: Tensor, edge_index: Tensor, u: Tensor) -> Tensor:
        apart = (u[:, None] - self.mu) ** 2 / (1e-15 + self.sigma**2)
        weights = self.weights(torch.exp(-0.5 * apart.sum(-1)))  # (E, K)
        net = pattern(edge_index, len(x))
        degree = (net.starts[1:] - net.starts[:-1]).clamp_min(1).to(x.dtype)
        carried = x @ self.g  # (V, K * out): a head for each weight function
        summed = product(net, weights.t(), None, carried).view(len(x), -1, self.outputs).sum(1)
        return summed / degree[:, None] + x @ self.root.t() + self.bias

    def kernels(self, radii: int = 12, directions: int = 48) -> tuple[Tensor, tuple[str, ...]]:
        """Return w_k on a polar grid up to twice the mean radius, (K, R, D), and their names."""
        r = torch.linspace(0, 2, radii + 1)[1:].to(self.mu)
        a = (torch.arange(directions) * (2 * math.pi / directions)).to(self.mu)
        u = torch.stack([r[:, None].expand(-1, directions), a.cos().expand(radii, -1), a.sin().expand(radii, -1)], -1)
        apart = (u[..., None, :] - self.mu) ** 2 / (1e-15 + self.sigma**2)
        return torch.exp(-0.5 * apart.sum(-1)).permute(2, 0, 1), tuple(f"w{k}" for k in range(len(self.mu)))


class MoNet(nn.Module):
    """Two mixture convolutions and a linear map; (V, 16), the edges in polar coordinates -> (V, parts)."""

    def __init__(self, learned: bool = True, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.coordinates = PseudoCoordinates()
        self.conv1 = MixtureConv(CHANNELS, hidden, learned=learned)
        self.relu1 = nn.ReLU()
        self.conv2 = MixtureConv(hidden, hidden, learned=learned)
        self.relu2 = nn.ReLU()
        self.classify = nn.Linear(hidden, len(PARTS))

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor) -> Tensor:
        u = self.coordinates(radius, angle)
        x = self.relu1(self.conv1(x, edge_index, u))
        x = self.relu2(self.conv2(x, edge_index, u))
        out: Tensor = self.classify(x)
        return out


def _card(name: str, title: str, wanted: MeshInput, learned: bool, summary: str, reference: str) -> Card:
    build = partial(MoNet, learned)
    return Card(
        name=name,
        title=title,
        rows=("M3", "M4") if not learned else ("M3",),
        groups=("permutation", "SE3"),
        reference=reference,
        equation=(
            "f′ᵢ = W fᵢ + 1/|Nᵢ| Σⱼ Σₖ wₖ(uᵢⱼ) Θₖ fⱼ + b\n"
            "wₖ(u) = exp(−½ (u − μₖ)ᵀ Σₖ⁻¹ (u − μₖ)),  u = (r, cos θ, sin θ)"
        ),
        summary=summary,
        build=build,
        input=wanted,
        domain="mesh",
        weights=f"{name}.safetensors",
        labels=PARTS,
        notes=notes_of(name),
        sample="body",
        train=partial(train_parts, build, wanted),
        source=(MixtureConv, MoNet),
    )


_MONTI = (
    'Monti et al., "Geometric deep learning on graphs and manifolds using mixture model CNNs", 2017, eqs. (9), (11)'
)
CARD = (
    _card(
        "monet-principal", "MoNet in the frame of principal curvature", PRINCIPAL, True,
        "Directions are counted from the line of largest curvature. Turn a frame by hand and the answer changes; shake "
        "the surface and it changes where the curvature has no direction: colour by ambiguity to see these places.",
        _MONTI,
    ),
    _card(
        "monet-gradient", "MoNet in the frame of a gradient", GRADIENT, True,
        "Directions are counted from the gradient of an intrinsic function. It is determined nearly everywhere, but "
        "not at the function's hills, pits and passes, which every closed surface but a torus must have.",
        _MONTI,
    ),
    _card(
        "patch-operator", "Patch operator with fixed weight functions", PRINCIPAL, False,
        "The weight functions on the patch are not learned: eight Gaussians around the vertex and one at it. Only what "
        "is done with the nine values is. Compare its weight functions with MoNet's.",
        _MONTI + "; Masci et al., 2015, eq. (3)",
    ),
)  # fmt: skip
