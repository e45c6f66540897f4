"""Residual networks, and the differential equation that they discretise.

He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2016; Chen et al., "Neural Ordinary
Differential Equations", 2018; Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021,
section 5.1, eq. (30):

    h = P(x + sigma(F(x)))

With a factor in front of sigma this is one step of the forward Euler method for dx/dt = sigma(F(x)).
"residual-ode" takes `depth` such steps with one shared F: halve the step and double the depth, and the states
approach the flow of the equation, with an error proportional to the step. "resnet18" is the network of the
paper, with F two convolutions, batch normalisation in between, and sigma after the sum.
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.network.form import InputSpec
from models.layers.seeded import seeded

KINDS = ("residual", "plain")
SIZE = 32  # even, so that shifts by whole 2 x 2 patches survive P


class Euler(nn.Module):
    """x + step * velocity; both (N, C, h, w)."""

    out_rep = Scalar()

    def __init__(self, step: float) -> None:
        super().__init__()
        self.step = step

    def forward(self, x: Tensor, velocity: Tensor) -> Tensor:
        return x + self.step * velocity


class Layer(nn.Module):
    """x + step * sigma(F(x)), or sigma(F(x)) alone when plain; (N, C, h, w) -> the same."""

    def __init__(self, conv: nn.Conv2d, step: float, kind: str) -> None:
        super().__init__()
        self.conv = conv  # F
        self.relu = nn.ReLU()  # sigma
        self.euler = Euler(step) if kind == "residual" else None

    def forward(self, x: Tensor) -> Tensor:
        velocity = self.relu(self.conv(x))
        return velocity if self.euler is None else self.euler(x, velocity)


def _conv(inputs: int, outputs: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode="circular")


def _same(conv: nn.Conv2d) -> nn.Conv2d:
    """Return another module with the very same parameters."""
    twin = _conv(conv.in_channels, conv.out_channels)
    twin.weight, twin.bias = conv.weight, conv.bias
    return twin


class ResidualODE(nn.Module):
    """Lift the image to C channels, take `depth` steps with one shared F, coarsen.

    Args:
        depth: number of steps; time runs from 0 to depth * step.
        step: the step size, 1 in eq. (30).
        kind: "residual", or "plain" for the same layers without x + step *.
    Shapes: (N, 1, h, w) -> (N, C, h/2, w/2).
    """

    def __init__(self, depth: int = 4, step: float = 0.5, kind: str = "residual", channels: int = 8) -> None:
        super().__init__()
        self.lift = _conv(1, channels)
        field = _conv(channels, channels)
        # A Lipschitz constant near 1: the flow neither stands still nor explodes within a few units of time.
        nn.init.normal_(field.weight, std=0.5 * (9 * channels) ** -0.5)
        # One field for all times, yet a module for every step, so that each step can be watched.
        self.steps = nn.ModuleList(Layer(_same(field), step, kind) for _ in range(depth))
        self.pool = nn.AvgPool2d(2)  # P, once after all steps: depth must not eat up the grid

    def velocity(self, x: Tensor) -> Tensor:
        """Return dx/dt = sigma(F(x)), the right-hand side of the differential equation."""
        first = self.steps[0]
        assert isinstance(first, Layer)
        return first.relu(first.conv(x))

    def forward(self, x: Tensor) -> Tensor:
        x = self.lift(x)
        for layer in self.steps:
            x = layer(x)
        return self.pool(x)


def build_ode(step: float = 0.5, depth: float = 4, kind: float = 0) -> nn.Module:
    """Build the network with fixed random weights, the same ones for every depth and step."""
    return seeded(lambda: ResidualODE(int(depth), step, KINDS[int(kind)]))


class Add(nn.Module):
    """x + residual; both (N, C, h, w)."""

    out_rep = Scalar()

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        return x + residual


class BasicBlock(nn.Module):
    """sigma(x + F(x)) with F = norm conv sigma norm conv; `downsample` brings x to the shape of F(x).

    Shapes: (N, inputs, h, w) -> (N, outputs, h/stride, w/stride).
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )
        self.add = Add()
        self.relu2 = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        residual = self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x)))))
        if self.downsample is not None:
            x = self.downsample(x)
        return self.relu2(self.add(x, residual))


class ResNet(nn.Module):
    """The residual network of He et al., table 1, with basic blocks; (N, 3, h, w) -> (N, classes).

    Args:
        blocks: number of blocks at 64, 128, 256 and 512 channels; (2, 2, 2, 2) is ResNet-18.
    """

    def __init__(self, blocks: tuple[int, int, int, int] = (2, 2, 2, 2), classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self._stage(64, 64, blocks[0], stride=1)
        self.layer2 = self._stage(64, 128, blocks[1], stride=2)
        self.layer3 = self._stage(128, 256, blocks[2], stride=2)
        self.layer4 = self._stage(256, 512, blocks[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(512, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    @staticmethod
    def _stage(inputs: int, outputs: int, blocks: int, stride: int) -> nn.Sequential:
        rest = (BasicBlock(outputs, outputs) for _ in range(blocks - 1))
        return nn.Sequential(BasicBlock(inputs, outputs, stride), *rest)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))  # (N, 64, h/4, w/4)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))  # (N, 512, h/32, w/32)
        return self.fc(self.flatten(self.avgpool(x)))


def build_resnet18() -> nn.Module:
    """Build ResNet-18 with the initial weights of the paper; they are random, and the same every time."""
    return seeded(ResNet)


CARD = (
    Card(
        name="residual-ode",
        title="Residual network as a differential equation",
        rows=("G4",),
        groups=("translation",),
        reference=(
            'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.1, eq. (30); '
            'Chen et al., "Neural Ordinary Differential Equations", 2018'
        ),
        equation=(
            "h = P(x + σ(F(x)))   (30)\n"
            "x_{k+1} = x_k + τ σ(F(x_k))   forward Euler, step τ\n"
            "dx/dt = σ(F(x))   as τ → 0 with τ · depth fixed"
        ),
        summary=(
            "One convolution F, applied `depth` times with step τ. Halve the step and double the depth: the "
            "last state hardly changes, because both follow the same differential equation. Choose plain: with "
            "the same weights the image is gone after a few layers, where the residual network still carries it."
        ),
        build=build_ode,
        input=InputSpec(shape=(1, SIZE, SIZE)),
        params=(
            Param("step", "Step size τ", 0.5, 0.05, 1.0, step=0.05),
            Param("depth", "Depth", 4, 1, 20, whole=True),
            Param("kind", "Layers", 0, 0, 1, choices=KINDS),
        ),
        source=(Euler, Layer, ResidualODE),
        notes=("Weights are fixed and random; every step has the same F, so depth and step change no weight.",),
    ),
    Card(
        name="resnet18",
        title="ResNet-18",
        rows=("G4",),
        reference='He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2016, table 1',
        equation="h = σ(x + F(x)),  F = norm ∘ conv ∘ σ ∘ norm ∘ conv",
        summary=(
            "The standard network for photographs, with the layer names of torchvision, so that its "
            "checkpoints load by name. Nothing is claimed: zero padding and five strides break shifts, and "
            "the filters are not symmetric."
        ),
        build=build_resnet18,
        input=InputSpec(shape=(3, 224, 224)),
        sample="photo-china",
        source=(BasicBlock, ResNet),
        notes=("11,689,512 parameters; random weights, drawn as in the paper, not trained.",),
    ),
)
