"""Dynamic graph CNN in space: each layer joins the points that its features find near, and hears along these edges.

Wang, Sun, Liu, Sarma, Bronstein, Solomon, "Dynamic Graph CNN for Learning on Point Clouds", 2019, eq. (1) to (8):

    G^l = the k nearest in the features x^l,   x_i^{l+1} = max over j -> i in G^l of h([x_i, x_j - x_i])

In the first layer x are coordinates, so turning the cloud is not forgiven; with `invariant` they are replaced by what
no motion changes, the sorted distances to the nearest points, and it is.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import GRAPH
from explorer.spaces.points.fields import PARTICLE
from explorer.spaces.points.network.form import PointsInput

TIE = 1e-5  # of the largest distance; distances that are nearer than this are equal
FEW = 32  # rows, of which differences are as quickly made as a product of matrices
WIDTHS = (16, 16, 32)


def apart(x: Tensor) -> Tensor:
    """Return the distances between rows, (N, N), by differences: a product of matrices rounds by the order of rows."""
    return torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")


def smallest(values: Tensor, k: int) -> Tensor:
    """Return the k-th smallest value of each row: (N, M) -> (N, 1).

    Of columns dealt to groups, the k groups whose least values are smallest hold it: a value outside them is no less
    than k values inside. So two short selections stand for a long one, which is what most of the time goes to.
    """
    each = math.isqrt(values.shape[1] // k)
    if each < 2:
        return values.topk(k, dim=1, largest=False).values[:, -1:]
    groups = values.shape[1] // each
    dealt, rest = values.tensor_split((each * groups,), 1)
    dealt = dealt.unflatten(1, (each, groups))
    near = dealt.amin(1).topk(k, dim=1, largest=False, sorted=False).indices
    left = dealt.gather(2, near[:, None].expand(-1, each, -1)).flatten(1)
    return torch.cat([left, rest], 1).topk(k, dim=1, largest=False).values[:, -1:]


class Joined(nn.Module):
    """A_ij = 1 where j is among the k rows nearest to row i, and all that tie; not i itself: (N, C) -> (1, N, N)."""

    out_field = PAIR

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def forward(self, x: Tensor) -> Tensor:
        if len(x) < 2:
            return x.new_zeros(1, len(x), len(x))
        wide = x.detach().double()
        if len(x) <= FEW:
            far = apart(wide)
            size = far.amax().nan_to_num(nan=0.0, posinf=0.0)
            near = far <= smallest(far.fill_diagonal_(torch.inf), min(self.k, len(x) - 1)) + TIE * size
        else:
            # |x_j|² - 2 x_i x_j, which is |x_i|² less than the square of a distance and has the same order in a row:
            # what is lost in rows that are near is far below a tie
            wide = wide - wide.mean(0)
            square = wide.square().sum(1)
            far, own = torch.addmm(square, wide, wide.T, alpha=-2.0), square[:, None]
            size = (far.amax(1, keepdim=True) + own).amax().sqrt().nan_to_num(nan=0.0, posinf=0.0)
            last = (smallest(far.fill_diagonal_(torch.inf), min(self.k, len(x) - 1)) + own).clamp(min=0.0).sqrt()
            near = far <= (last + TIE * size).square() - own
        return near.view(torch.uint8).to(x.dtype)[None]  # bytes become numbers much faster than truths do


class EdgeConvolution(nn.Module):
    """max over j -> i of LeakyReLU(W [x_i, x_j - x_i] + b), 0 where nothing arrives: (N, C), (1, N, N) -> (N, D)."""

    out_field = PARTICLE

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.nn = nn.Linear(2 * inputs, outputs)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        receiver, sender = adjacency[0].bool().nonzero().unbind(1)  # found faster among truths than among numbers
        # with W = [A, B]: (A - B) x_i + b + B x_j, of which the largest is where B x_j is: nothing after it falls
        a, b = self.nn.weight.chunk(2, 1)
        own, other = F.linear(x, a - b, self.nn.bias), F.linear(x, b)
        heard = other.index_select(0, sender)
        most = torch.full_like(own, -torch.inf).scatter_reduce_(0, receiver[:, None].expand_as(heard), heard, "amax")
        return F.leaky_relu(own + most, 0.2).masked_fill(most == -torch.inf, 0.0)


class NearDistances(nn.Module):
    """The distances to the nearest points, ascending: position (N, 3) -> (N, count), far ones where there are fewer."""

    out_field = PARTICLE

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, position: Tensor) -> Tensor:
        found = apart(position).sort(1).values[:, 1 : self.count + 1]
        return F.pad(found, (0, self.count - found.shape[1]))


class Largest(nn.Module):
    """The maximum over the points: (N, C) -> (1, C)."""

    out_field = GRAPH

    def forward(self, x: Tensor) -> Tensor:
        return x.amax(0, keepdim=True)


class DynamicGraphCNN(nn.Module):
    """Three edge convolutions, each on its own graph, and the maximum of all their features: (N, 3) -> (1, 4)."""

    def __init__(self, k: int, invariant: bool) -> None:
        super().__init__()
        self.distances = NearDistances(6) if invariant else None
        inputs = 6 if invariant else 3
        for layer, width in enumerate(WIDTHS, 1):
            self.add_module(f"joined{layer}", Joined(k))
            self.add_module(f"edge_conv{layer}", EdgeConvolution(inputs, width))
            inputs = width
        self.mix = nn.Linear(sum(WIDTHS), 64)
        self.max = Largest()
        self.relu = nn.ReLU()
        self.head = nn.Linear(64, 4)

    def forward(self, position: Tensor) -> Tensor:
        x = position if self.distances is None else self.distances(position)
        # by places in the first layer, whatever x is made of
        near, found = position, []
        for layer in range(1, len(WIDTHS) + 1):
            x = self.get_submodule(f"edge_conv{layer}")(x, self.get_submodule(f"joined{layer}")(near))
            near = x
            found.append(x)
        return self.head(self.relu(self.max(self.mix(torch.cat(found, 1)))))


def build(k: float = 8) -> nn.Module:
    """Build the network on coordinates."""
    return DynamicGraphCNN(int(k), invariant=False)


def build_invariant(k: float = 8) -> nn.Module:
    """Build the network on distances."""
    return DynamicGraphCNN(int(k), invariant=True)


REFERENCE = (
    'Wang, Sun, Liu, Sarma, Bronstein, Solomon, "Dynamic Graph CNN for Learning on Point Clouds", ACM TOG 2019, eq. (8)'
)
EQUATION = "Gˡ = kNN(xˡ)\nxᵢˡ⁺¹ = max_{j : (j,i) ∈ Gˡ} h_Θ([xᵢˡ, xⱼˡ − xᵢˡ])\nf = head(max_i [x¹, x², x³]ᵢ W)"
INPUT = PointsInput(signals=("position",), most=2000)
PARAMS = (Param("k", "Neighbours", 8, 1, 40, whole=True),)

CARD = (
    Card(
        name="dgcnn-space",
        title="Dynamic graph CNN in space",
        rows=("S3",),
        groups=("permutation",),
        reference=REFERENCE,
        equation=EQUATION,
        summary=(
            "Choose `joined1`, `joined2`, `joined3` one after the other: the edges that each layer infers are drawn "
            "between the points, first near in space, then alike in features. Coordinates are its features, so a turn "
            "changes all but the first graph; try SO3 in Symmetries. The parameters are not trained."
        ),
        build=build,
        input=INPUT,
        domain="points",
        sample="torus-3d",
        params=PARAMS,
        source=(Joined, EdgeConvolution, DynamicGraphCNN),
    ),
    Card(
        name="dgcnn-distances",
        title="Dynamic graph CNN that sees distances alone",
        rows=("S3",),
        groups=("E3", "permutation"),
        reference=REFERENCE + "; the first features are ours",
        equation="x¹ᵢ = distances from i to its six nearest, ascending\n" + EQUATION,
        summary=(
            "The same network with distances in place of coordinates: no turn, shift or mirror changes any of its "
            "graphs. Put it beside `dgcnn-space` and turn the cloud. What it can no longer tell is left from right: "
            "`helix-cloud` and its mirror image are one. The parameters are not trained."
        ),
        build=build_invariant,
        input=INPUT,
        domain="points",
        sample="torus-3d",
        params=PARAMS,
        source=(NearDistances, Joined, EdgeConvolution, DynamicGraphCNN),
    ),
)
