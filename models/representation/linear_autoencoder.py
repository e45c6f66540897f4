"""A linear autoencoder, which finds the subspace of the first principal components and nothing else about them.

References: H. Bourlard, Y. Kamp, "Auto-Association by Multilayer Perceptrons and Singular Value Decomposition" (1988);
P. Baldi, K. Hornik, "Neural Networks and Principal Component Analysis" (1989).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.examples import Examples
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.sets import digits
from explorer.work.training.course import Course
from models.layers.seeded import seeded
from models.training.learning import learning

SIDE, DIMS = 29, 2
EPOCHS = 300


class LinearAutoencoder(nn.Module):
    """x̂ = V U x + b with U (2, 841) and V (841, 2); (N, 1, 29, 29) -> (N, 1, 29, 29)."""

    def __init__(self) -> None:
        super().__init__()
        self.flatten = nn.Flatten()
        self.code = nn.Linear(SIDE**2, DIMS)
        self.decoder = nn.Linear(DIMS, SIDE**2)
        self.unflatten = nn.Unflatten(1, (1, SIDE, SIDE))

    def encode(self, x: Tensor) -> Tensor:
        """Return the codes of images, (N, 2)."""
        return self.code(self.flatten(x))

    def decode(self, z: Tensor) -> Tensor:
        """Return the images that codes stand for."""
        return self.unflatten(self.decoder(z))

    def examples(self) -> Examples:
        """Return the images whose codes are shown."""
        return digits()

    def forward(self, x: Tensor) -> Tensor:
        return self.decode(self.encode(x))


def components(images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean, (841,), and the first two principal components, (2, 841), of images in double precision."""
    flat = images.double().flatten(1)
    mean = flat.mean(0)
    return mean, torch.linalg.svd(flat - mean, full_matrices=False)[2][:DIMS]


def subspace_angle(one: Tensor, other: Tensor) -> float:
    """Return the largest angle in radians between the spaces that the rows of two matrices span, (k, n) each.

    It is the arcsine of what is left of the one outside of the other: the arccosine of the cosine would lose half of
    the digits of a small angle.
    """
    a, b = (torch.linalg.qr(m.detach().double().T)[0] for m in (one, other))
    return float(torch.linalg.svdvals(a - b @ (b.T @ a))[0].clamp(max=1.0).asin())


class Alternating(torch.optim.Optimizer):
    """Make the squared error least over the decoder, then over the encoder, each exactly and with the other held.

    Gradients alone would take far longer: the loss is flat along pixels that hardly vary. Nothing here knows of
    principal components; that both end in the same plane is what there is to see.
    """

    def __init__(self, network: LinearAutoencoder, images: Tensor) -> None:
        super().__init__(network.parameters(), {"lr": 1.0})
        self._network, self._mean = network, images.flatten(1).mean(0)
        self._centred = images.flatten(1) - self._mean

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        code, decoder = self._network.code, self._network.decoder
        z = self._centred @ code.weight.T  # (n, 2)
        # by normal equations: `lstsq` and `pinv` give other last bits from run to run
        decoder.weight.copy_(torch.linalg.solve(z.T @ z, z.T @ self._centred).T)
        code.weight.copy_(torch.linalg.solve(decoder.weight.T @ decoder.weight, decoder.weight.T))
        decoder.bias.copy_(self._mean)
        code.bias.copy_(-code.weight @ self._mean)


def train(
    epochs: int | None = None, seed: int = 0, progress: Callable[[int, int, str], None] | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Train on the digits in double precision, and compare the decoder with the principal components."""
    epochs = EPOCHS if epochs is None else epochs
    with learning():
        images = torch.tensor(digit_images.load("train")[0]).double()
        network = seeded(LinearAutoencoder, seed).double()
        optimizer = Alternating(network, images)
        course = Course(
            network, optimizer, epochs=epochs, steps=1, progress=progress, told="squared error {:.6f}".format
        )
        for _ in course:
            course.learn((network(images) - images).square().sum() / len(images))
        network.float().eval()
        return network, judged(network)


def judged(network: nn.Module) -> dict[str, float]:
    """Return the angle between the decoder's columns and the components in radians, and errors on test digits."""
    assert isinstance(network, LinearAutoencoder)
    mean, wanted = components(torch.tensor(digit_images.load("train")[0]))
    images = torch.tensor(digit_images.load("test")[0])
    centred = images.double().flatten(1) - mean
    with torch.no_grad():
        found = float((network(images) - images).square().flatten(1).sum(1).mean())
        return {
            "angle": subspace_angle(network.decoder.weight.T, wanted),
            "squared_error": found,
            "pca_error": float((centred - centred @ wanted.T @ wanted).square().sum(1).mean()),
            "encoder_angle": subspace_angle(network.code.weight, wanted),
        }


def build() -> nn.Module:
    """Build the network with fresh parameters."""
    return LinearAutoencoder()


def matrix(model: nn.Module) -> dict[str, Tensor]:
    """Return the columns of the decoder as images, beside the principal components that span the same plane."""
    assert isinstance(model, LinearAutoencoder)
    _, wanted = components(torch.tensor(digit_images.load("train")[0]))
    columns = model.decoder.weight.detach().double().cpu().T
    # the same plane in the coordinates of the components
    inside = torch.linalg.lstsq(columns.T, wanted.T).solution.T @ columns

    def beside(rows: Tensor) -> Tensor:
        return torch.cat(list(rows.reshape(DIMS, SIDE, SIDE)), 1)

    return {
        "columns of the decoder": beside(columns),
        "two principal components": beside(wanted),
        "combinations of the columns nearest to them": beside(inside),
    }


# Of the shipped weights (seed 0); test_linear_autoencoder.py measures them again.
ANGLE, ERROR, PCA_ERROR = 2.6e-8, 13.032364, 13.032363

CARD = Card(
    name="linear-autoencoder",
    title="Linear autoencoder, beside PCA",
    rows=("L2",),
    reference='Baldi, Hornik, "Neural Networks and Principal Component Analysis", 1989',
    equation=(
        "z = U x + a,   z ∈ ℝ²\nx̂ = V z + b\nL = ‖x − x̂‖²\n"
        "span of the columns of V = span of the first two principal components"
    ),
    summary=(
        "Without a nonlinearity the best code of two numbers is that of principal components: training finds their "
        "plane, in coordinates of its own. Compare the matrices: the columns of the decoder are mixtures of the two "
        "components."
    ),
    build=build,
    input=InputSpec(shape=(1, SIDE, SIDE)),
    weights="linear-autoencoder.safetensors",
    boundary="zero",
    train=train,
    source=(LinearAutoencoder, Alternating, subspace_angle),
    matrix=matrix,
    notes=(
        "trained on 1,297 digits, decoder and encoder in turn; the angle between its plane and that of PCA is "
        f"{ANGLE:.1e} radians. Squared error of 500 test digits: {ERROR:.3f}, and {PCA_ERROR:.3f} with two principal "
        "components.",
    ),
)
