"""From a dense layer to a convolution, one constraint at a time.

Zhang, Lipton, Li, Smola, "Dive into Deep Learning", 2023, section 7.1 (From Fully Connected Layers to
Convolutions). Images have C channels of height x width places; i, j and k, l are places, a, b are offsets:

    dense W            H[i,j] = U[i,j] + sum_kl W[i,j,k,l] X[k,l]
    shift-invariant V  H[i,j] = u + sum_ab V[a,b] X[i+a,j+b]              V = mean over i,j of W[i,j,i+a,j+b]
    local Delta        the same with V[a,b] = 0 for |a| > Delta or |b| > Delta
    channels           H[i,j,d] = u_d + sum_ab sum_c V[a,b,c,d] X[i+a,j+b,c]

Every step is made from the one before it, and every step is one matrix: dense, then block-circulant (the
image closes on itself) or block-Toeplitz (zeros outside), then banded. The mean over the diagonals is the
orthogonal projection of W onto the matrices that commute with shifts, so sharing alone brings the error to
zero.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.network.form import InputSpec

STEPS = ("dense W", "shift-invariant V", "local Delta", "channels")
BOUNDARIES = ("circular", "zero")
SIZE = 11  # 121 places: a matrix of 121 x 121 in which single weights can still be seen
CHANNELS = 4


def parameter_counts(height: int, width: int, delta: int, exact: bool = False) -> dict[str, int]:
    """Return the number of weights of each step for one input and one hidden channel.

    The text counts offsets a in (-height, height) as 2 height and |a| <= Delta as 2 Delta; with `exact` they
    are 2 height - 1 and 2 Delta + 1.
    """
    one = 1 if exact else 0
    local = (2 * delta + one) ** 2
    return {
        "dense W": (height * width) ** 2,
        "shift-invariant V": (2 * height - one) * (2 * width - one),
        "local Delta": local,
        "channels": local,  # times C times D, one filter for each pair of channels
    }


def offsets(size: int, boundary: str) -> range:
    """Return every offset from one place to another along an axis; on a circle, the nearest of its copies."""
    return range(-(size // 2), (size + 1) // 2) if boundary == "circular" else range(1 - size, size)


def offset_index(height: int, width: int, rows: range, columns: range, boundary: str) -> Tensor:
    """Return the (places, places) table of which V[a, b] joins place (i, j) to place (i + a, j + b).

    Entries index V flattened over `rows` x `columns`; -1 where V has no such offset.
    """

    def axis(size: int, reach: range) -> Tensor:
        a = torch.arange(size)[None, :] - torch.arange(size)[:, None]  # k - i
        if boundary == "circular":
            a = (a + size // 2) % size - size // 2
        return torch.where((a >= reach.start) & (a < reach.stop), a - reach.start, -1)

    a, b = axis(height, rows)[:, None, :, None], axis(width, columns)[None, :, None, :]
    index = torch.where((a >= 0) & (b >= 0), a * len(columns) + b, -1)  # (i, j, k, l)
    return index.reshape(height * width, height * width)


def share(weight: Tensor, index: Tensor, shape: tuple[int, int]) -> Tensor:
    """Average W over its diagonals: V[d, c, a, b] is the mean of W[d, (i, j), c, (i + a, j + b)] over i, j.

    Shapes: weight (D, places, C, places), index (places, places), result (D, C, *shape).
    """
    one_axis = weight.movedim(2, 1).flatten(2)  # (D, C, places * places)
    index = index.flatten()
    used = index >= 0
    total = one_axis.new_zeros(*one_axis.shape[:2], math.prod(shape))
    total = total.index_add(2, index[used], one_axis[..., used])
    return (total / torch.bincount(index[used], minlength=math.prod(shape))).unflatten(2, shape)


def spread(kernel: Tensor, index: Tensor) -> Tensor:
    """Write V along its diagonals: (D, C, A, B) -> (D, places, C, places), zero where `index` is -1."""
    with_zero = F.pad(kernel.flatten(2), (1, 0))  # index -1 reads the zero in front
    return with_zero[..., index + 1].movedim(1, 2)


class DenseLayer(nn.Module):
    """H = U + W X with a weight for every pair of places.

    Shapes: weight W (D, places, C, places), bias U (D, height, width), (N, C, h, w) -> (N, D, h, w).
    """

    out_rep = Scalar()

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)
        self.kernel_size = tuple(2 * side - 1 for side in bias.shape[1:])  # every place sees every other

    def matrix(self) -> Tensor:
        """Return the (D * places, C * places) matrix that the layer multiplies by."""
        return self.weight.flatten(2).flatten(0, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = x.flatten(1) @ self.matrix().T
        return h.unflatten(1, (-1, *x.shape[-2:])) + self.bias


class SharedLayer(DenseLayer):
    """H = u + V X: the same product, with the matrix written from V along its diagonals.

    Shapes: weight V (D, C, A, B), bias u (D, 1, 1).
    """

    index: Tensor

    def __init__(self, weight: Tensor, bias: Tensor, index: Tensor) -> None:
        super().__init__(weight, bias)
        self.kernel_size = tuple(weight.shape[2:])
        self.register_buffer("index", index, persistent=False)

    def matrix(self) -> Tensor:
        return spread(self.weight, self.index).flatten(2).flatten(0, 1)


def dense_weights(channels: int, height: int, width: int, boundary: str, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return W (D, places, 1, places) and U (D, height, width) as an unconstrained layer might end up.

    Every place has an edge detector (the same for one d, each d in another direction) under independent
    noise: what the places share survives averaging, what they do not is divided by sqrt(places).
    """
    noise = torch.Generator().manual_seed(seed)
    y, x = torch.meshgrid(torch.arange(-2.0, 3.0), torch.arange(-2.0, 3.0), indexing="ij")
    angle = torch.arange(channels)[:, None, None] * (math.pi / channels)
    edge = (x * angle.cos() + y * angle.sin()) * torch.exp(-(x**2 + y**2) / 2)  # (D, 5, 5)
    index = offset_index(height, width, range(-2, 3), range(-2, 3), boundary)
    weight = spread(edge[:, None], index)
    weight = weight + 0.15 * torch.randn(weight.shape, generator=noise)
    return weight, 0.1 * torch.randn(channels, height, width, generator=noise)


class DenseToConv(nn.Module):
    """One hidden layer under the constraint `step`, and a ReLU.

    Args:
        step: index into STEPS.
        delta: reach of the local filter, at most half the image.
        boundary: "circular" or "zero", what lies outside the image.
        sharing: how far the dense rows have moved towards their shared mean: 0 is W, 1 is shift-invariant.
    Shapes: (N, 1, height, width) -> (N, D, height, width); D is 1, or CHANNELS in the last step.
    """

    def __init__(
        self,
        step: int = 2,
        delta: int = 2,
        boundary: str = "circular",
        sharing: float = 0.0,
        size: tuple[int, int] = (SIZE, SIZE),
    ) -> None:
        super().__init__()
        self.step = STEPS[step]
        weight, bias = dense_weights(CHANNELS if self.step == "channels" else 1, *size, boundary)

        rows, columns = offsets(size[0], boundary), offsets(size[1], boundary)
        index = offset_index(*size, rows, columns, boundary)
        kernel = share(weight, index, (len(rows), len(columns)))  # shift-invariant: V and u
        level = bias.mean((1, 2), keepdim=True)

        if self.step == "dense W":
            weight = torch.lerp(weight, spread(kernel, index), sharing)
            self.layer: DenseLayer = DenseLayer(weight, torch.lerp(bias, level.expand_as(bias), sharing))
        elif self.step == "shift-invariant V":
            self.layer = SharedLayer(kernel, level, index)
        else:  # local: cut the window |a|, |b| <= Delta out of V
            near = range(-delta, delta + 1)
            kernel = kernel[..., near.start - rows.start :, near.start - columns.start :]
            kernel = kernel[..., : len(near), : len(near)].clone()
            self.layer = SharedLayer(kernel, level, offset_index(*size, near, near, boundary))
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.layer(x))


def build(constraint: float = 2, delta: float = 2, boundary: float = 0, sharing: float = 0) -> nn.Module:
    """Build the layer at one step of the ladder."""
    return DenseToConv(int(constraint), int(delta), BOUNDARIES[int(boundary)], sharing)


def matrix(model: nn.Module) -> dict[str, Tensor]:
    """Return the matrix that the layer multiplies by and, once weights are shared, V itself."""
    assert isinstance(model, DenseToConv)
    layer, kind = model.layer, model.step
    drawn = {f"{kind}: hidden places × input places": layer.matrix().detach()}
    if isinstance(layer, SharedLayer):
        filters = layer.weight.detach().flatten(0, 1)  # side by side
        drawn["V: offsets a × b"] = torch.cat(list(filters), dim=1)
    return drawn


def _counted(delta: int) -> tuple[str, ...]:
    text, exact = parameter_counts(1000, 1000, delta), parameter_counts(1000, 1000, delta, exact=True)
    return (
        f"1000 × 1000 image: dense W has {text['dense W']:,} weights",
        f"shift-invariant V: {text['shift-invariant V']:,} (exactly {exact['shift-invariant V']:,})",
        f"local Δ = {delta}: 4Δ² = {text['local Delta']} (exactly (2Δ+1)² = {exact['local Delta']})",
    )


CARD = Card(
    name="dense-to-conv",
    title="From a dense layer to a convolution",
    rows=("G1",),
    groups=("translation",),
    reference=(
        'Zhang, Lipton, Li, Smola, "Dive into Deep Learning", 2023, '
        "section 7.1 (From Fully Connected Layers to Convolutions)"
    ),
    equation=(
        "dense: Hᵢⱼ = Uᵢⱼ + Σₖₗ Wᵢⱼₖₗ Xₖₗ\n"
        "shift-invariant: Hᵢⱼ = u + Σ_ab V_ab X_{i+a, j+b}\n"
        "local: V_ab = 0 for |a| > Δ or |b| > Δ\n"
        "channels: Hᵢⱼ_d = u_d + Σ_ab Σ_c V_abcd X_{i+a, j+b, c}"
    ),
    summary=(
        "One layer on an 11 × 11 image, constrained step by step. Watch the weight matrix turn from dense "
        "to block-circulant to banded, and the error under shifts fall to zero the moment weights are "
        "shared; pull `sharing` of the dense layer from 0 to 1 to see it fall. The law is claimed from the "
        "second step on."
    ),
    build=build,
    input=InputSpec(shape=(1, SIZE, SIZE)),
    params=(
        Param("constraint", "Constraint", 2, 0, 3, choices=STEPS),
        Param("delta", "Reach Δ", 2, 0, SIZE // 2, unit="px", whole=True),
        Param("boundary", "Outside the image", 0, 0, 1, choices=BOUNDARIES),
        Param("sharing", "Sharing (dense W)", 0.0, 0.0, 1.0, step=0.05),
    ),
    source=(DenseLayer, SharedLayer, share, spread, DenseToConv),
    matrix=matrix,
    notes=_counted(delta=5),
)
