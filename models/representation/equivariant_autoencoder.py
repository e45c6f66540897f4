"""Autoencoders on Z² ⋊ H whose code moves by its declared representation when the image is turned.

Reference: T. Cohen, M. Welling, "Group Equivariant Convolutional Networks" (2016); the code is a sum of regular
representations of H, as the capsules of G. Hinton, A. Krizhevsky, S. Wang, "Transforming Auto-Encoders" (2011) are
meant to be.

With f(ρ(h) x) = ρ_Z(h) f(x) and g(ρ_Z(h) z) = ρ(h) g(z) the whole commutes with H. A quarter turn of the image permutes
the numbers of the code, h -> gh; differences of opposite ones turn like arrows in the plane.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.examples import Examples
from explorer.declare.groups import FiniteGroup, group
from explorer.declare.types.fields import FieldType, Point, Regular, Scalar
from explorer.spaces.grid.fields import regular
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.sets import all_sprites
from models.layers.autoencoding import SIDES
from models.layers.convolution.groups import GroupConv2d, GroupPool, LiftingConv2d, TransformConvolve
from models.layers.taps import Tap
from models.training.images.autoencoders import Parts, Recipe, cross_entropy, train


class Spread(TransformConvolve):
    """Write the templates of a code over the plane: y(h', u) = Σ_h z(h) θ_h(h', u), the adjoint of a convolution.

    Shapes:
        (N, I*|H|) -> (N, O*|H|, 8, 8), both regular fields.
    """

    def __init__(self, group: FiniteGroup, in_fields: int, out_fields: int) -> None:
        super().__init__(group, out_fields, in_fields, SIDES[2], 0, lifted=True)
        self.out_field = regular(group.name, 4.0)
        self.bias = nn.Parameter(torch.zeros(out_fields))  # of what comes out
        with torch.no_grad():  # a code is few numbers, not a whole window of them
            self.weight.mul_(self.weight[0].numel() ** 0.5 * (in_fields * group.order) ** -0.5)

    def forward(self, z: Tensor) -> Tensor:
        theta, bias = self._ready_filters()
        return F.conv_transpose2d(z[:, :, None, None], theta, bias)


class ScalarMean(nn.Module):
    """Average a regular field over its orientations: what is left is an image; (N, C*|H|, Y, X) -> (N, C, Y, X)."""

    def __init__(self, group: FiniteGroup) -> None:
        super().__init__()
        self.group, self.out_rep = group, Scalar()

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (-1, self.group.order)).mean(2)


class Grey(nn.Sigmoid):
    """Make grey values, a scalar field."""

    out_rep = Scalar()


class EquivariantAutoencoder(nn.Module):
    """Image -> regular fields on the plane -> a code of regular representations -> fields -> image.

    Args:
        fields: of the plane, of the hidden step, and of the code.
    Shapes: (N, 1, 29, 29) -> (N, 1, 29, 29), the code (N, fields*|H|).
    """

    def __init__(self, h: FiniteGroup, fields: tuple[int, int, int]) -> None:
        super().__init__()
        a, b, c = fields
        point = FieldType(Point(), Regular(h))
        self.encoder = nn.Sequential(
            OrderedDict(
                lift=LiftingConv2d(h, 1, a, kernel_size=5),
                relu1=nn.ReLU(),
                pool1=nn.AvgPool2d(3, stride=2, padding=1),  # (N, a*|H|, 15, 15)
                conv2=GroupConv2d(h, a, a, kernel_size=3),
                relu2=nn.ReLU(),
                pool2=nn.AvgPool2d(3, stride=2, padding=1),  # (N, a*|H|, 8, 8)
                gather=GroupConv2d(h, a, b, kernel_size=SIDES[2], padding=0),  # (N, b*|H|, 1, 1)
                relu3=nn.ReLU(),
                mix=GroupConv2d(h, b, c, kernel_size=1),
            )
        )
        self.code = Tap(point)
        self.mix = GroupConv2d(h, c, b, kernel_size=1)
        self.relu1 = nn.ReLU()
        self.point = Tap(point)
        self.spread = Spread(h, b, a)
        self.relu2 = nn.ReLU()
        self.enlarge1 = nn.Upsample(size=(SIDES[1], SIDES[1]), mode="bilinear", align_corners=True)
        self.conv1 = GroupConv2d(h, a, a, kernel_size=3)
        self.relu3 = nn.ReLU()
        self.enlarge2 = nn.Upsample(size=(SIDES[0], SIDES[0]), mode="bilinear", align_corners=True)
        self.conv2 = GroupConv2d(h, a, 1, kernel_size=3)
        self.scalar = ScalarMean(h)
        self.grey = Grey()

    def encode(self, x: Tensor) -> Tensor:
        """Return the codes of images, (N, fields*|H|)."""
        return self.code(self.encoder(x).flatten(1))

    def logits(self, z: Tensor) -> Tensor:
        """Return the decoded images before the logistic function."""
        z = self.point(self.relu1(self.mix(z[:, :, None, None])).flatten(1))
        maps = self.relu2(self.spread(z))  # (N, a*|H|, 8, 8)
        maps = self.relu3(self.conv1(self.enlarge1(maps)))  # (N, a*|H|, 15, 15)
        return self.scalar(self.conv2(self.enlarge2(maps)))

    def decode(self, z: Tensor) -> Tensor:
        """Return the images that codes stand for."""
        return self.grey(self.logits(z))

    def examples(self) -> Examples:
        """Return the images whose codes are shown."""
        return all_sprites()

    def forward(self, x: Tensor) -> Tensor:
        return self.decode(self.encode(x))


def reconstruction(network: EquivariantAutoencoder, x: Tensor, labels: Tensor) -> Parts:
    """Return −log p(x|f(x))."""
    return {"reconstruction": cross_entropy(network.logits(network.encode(x)), x)}


def build_c4() -> nn.Module:
    """Build the network on Z² ⋊ C4 with four regular fields in its code."""
    return EquivariantAutoencoder(group("C4"), (4, 16, 4))


def build_d4() -> nn.Module:
    """Build the network on Z² ⋊ D4 with two regular fields in its code: as many numbers."""
    return EquivariantAutoencoder(group("D4"), (3, 8, 2))


RECIPES = {"c4-autoencoder": Recipe("sprites", epochs=24), "d4-autoencoder": Recipe("sprites", epochs=16)}

# Of the shipped weights (seed 0); test_equivariant_autoencoder.py measures them again.
FIGURES = {
    "c4-autoencoder": {"parameters": 34729, "reconstruction": 34.18, "pixel_error": 0.00596},
    "d4-autoencoder": {"parameters": 26450, "reconstruction": 33.65, "pixel_error": 0.00573},
}


def _card(name: str, of: str, what: str) -> Card:
    figures, recipe = FIGURES[name], RECIPES[name]
    builder = build_c4 if of == "C4" else build_d4
    return Card(
        name=name,
        title=f"Autoencoder whose code turns with the image ({of})",
        rows=("L2",),
        groups=("D4", "C4") if of == "D4" else ("C4",),
        reference=(
            'Cohen, Welling, "Group Equivariant Convolutional Networks", 2016; Hinton, Krizhevsky, Wang, '
            '"Transforming Auto-Encoders", 2011'
        ),
        equation=(
            f"z = f(x),   f(ρ(h) x) = ρ_Z(h) f(x),   h ∈ H = {of}\nx̂ = g(z),   g(ρ_Z(h) z) = ρ(h) g(z)\n"
            "ρ_Z = regular representations of H: (ρ_Z(h) z)(k) = z(h⁻¹k)\nL = −log p(x|z)"
        ),
        summary=(
            f"The code is a field like any other: {what} permute its numbers, and `check` judges it by that. Open "
            "Latent plane and turn the sprite: the code goes round on a circle's four corners exactly, where that of a "
            "plain autoencoder jumps."
        ),
        build=builder,
        input=InputSpec(shape=(1, 29, 29)),
        weights=f"{name}.safetensors",
        sample="sprite-angle",
        boundary="zero",
        train=partial(train, builder, reconstruction, recipe),
        source=(GroupConv2d, Spread, GroupPool, EquivariantAutoencoder),
        notes=(
            f"{figures['parameters']:,} parameters, {recipe.epochs} epochs on 3,000 sprites of all factors. On 1,000 "
            f"others: reconstruction {figures['reconstruction']:.1f} nats an image, mean square error "
            f"{figures['pixel_error']:.4f} a pixel.",
        ),
    )


CARD = (
    _card("c4-autoencoder", "C4", "quarter turns"),
    _card("d4-autoencoder", "D4", "quarter turns and mirrors"),
)
