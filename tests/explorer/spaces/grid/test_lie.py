"""The Lie derivative against closed forms and finite differences of the action."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.groups import group, rotation_matrix
from explorer.declare.types.fields import INVARIANT, FieldType, Point, Regular
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.analysis.lie import GENERATORS, INNER, disc, generator, gradient, lie_derivative
from explorer.spaces.grid.elements.affine import Affine, as_linear, fibre_matrix
from explorer.spaces.grid.fields import Grid, grid, regular
from explorer.spaces.grid.network.stimulus import noise
from tests.explorer.parts.networks import GlobalMean, GroupMax


def derivative(model: nn.Module, x: Tensor, along: str, field: FieldType | None = None) -> dict[str, float]:
    field = field or grid()
    return lie_derivative(model, x, trace(model, x, field), field, along)


def circular(inputs: int, outputs: int, kernel: int = 3) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, padding_mode="circular", dtype=torch.float64)


@pytest.mark.parametrize("along", ["right", "down"])
@pytest.mark.parametrize("n", [15, 16])
def test_a_circular_convolution_has_no_derivative_along_shifts(n: int, along: str) -> None:
    """With bilinear sampling at the grid points an even size reports 25 % here, and an odd one 0."""
    x = torch.randn(2, 1, n, n, dtype=torch.float64)  # white noise: the highest frequencies too
    net = nn.Sequential(circular(1, 4), circular(4, 3, 5), GlobalMean())
    assert max(derivative(net, x, along).values()) < 1e-12


@pytest.mark.parametrize("n", [16, 17])
def test_what_bilinear_sampling_would_report(n: int) -> None:
    """The trap: half a pixel there and back by linear interpolation, for the very same convolution."""

    def linear(v: Tensor, t: float) -> Tensor:
        return (1 - t) * v + t * v.roll(1, -1)

    net, x = circular(1, 3), torch.randn(2, 1, n, n, dtype=torch.float64)
    with torch.no_grad():
        defect = linear(net(linear(x, 0.5)).roll(-1, -1), 0.5) - net(x)
        assert float(defect.norm() / net(x).norm()) > 0.2
    assert derivative(nn.Sequential(net), x, "right")["0"] < 1e-24


@pytest.mark.parametrize("n", [15, 16])
def test_a_gain_that_depends_on_the_place_has_the_analytic_value(n: int) -> None:
    class Gain(nn.Module):
        """a(u) = 1 + sin(2 pi u / n) / 2 along the columns."""

        def forward(self, x: Tensor) -> Tensor:
            u = torch.arange(x.shape[-1], dtype=x.dtype)
            return x * (1 + 0.5 * torch.sin(2 * torch.pi * u / n))

    u = torch.arange(n, dtype=torch.float64)
    wave = torch.cos(2 * torch.pi * 2 * u / n).expand(1, 1, n, n)
    # J G x - G (a x) = -a x' + (a x)' = a' x
    slope = torch.pi / n * torch.cos(2 * torch.pi * u / n)
    expected = float((slope * wave).square().mean())
    assert derivative(nn.Sequential(Gain()), wave, "right")["0"] == pytest.approx(expected, rel=1e-10)
    assert derivative(nn.Sequential(Gain()), wave, "down")["0"] < 1e-24  # it is constant along the rows
    assert derivative(nn.Sequential(Gain()), 3 * wave, "right")["0"] == pytest.approx(9 * expected, rel=1e-10)


def test_a_nonlinearity_makes_frequencies_that_the_grid_cannot_hold() -> None:
    """The derivative of an aliased ReLU is no zero, and vanishes for a smooth nonlinearity of a smooth signal."""
    u = torch.arange(32, dtype=torch.float64)
    x = torch.sin(2 * torch.pi * u / 32).expand(1, 1, 32, 32).contiguous()
    assert derivative(nn.Sequential(nn.ReLU()), x, "right")["0"] > 1e-6
    assert derivative(nn.Sequential(nn.Tanh()), x, "right")["0"] < 1e-15


@pytest.mark.parametrize("n", [15, 16])
def test_the_gradient_is_exact_below_the_highest_frequency(n: int) -> None:
    u = torch.arange(n, dtype=torch.float64)
    for k in range((n + 1) // 2):
        w = 2 * torch.pi * k / n
        wave = torch.sin(w * u + 0.3).expand(n, n)
        across, along = gradient(wave, -1), gradient(wave, -2)
        assert torch.allclose(across, w * torch.cos(w * u + 0.3).expand(n, n), atol=1e-12)
        assert float(along.abs().max()) < 1e-12
        assert torch.allclose(gradient(wave.mT, -2), across.mT, atol=1e-12)
    if n % 2 == 0:
        alternating = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat(n // 2).expand(n, n)
        assert float(gradient(alternating, -1).abs().max()) < 1e-12


@pytest.mark.parametrize("n", [32, 33])
def test_the_rotation_generator_of_a_radial_function_vanishes(n: int) -> None:
    c = torch.arange(n, dtype=torch.float64) - (n - 1) / 2
    r2 = c.square() + c.square()[:, None]
    bell = torch.exp(-r2 / 20)[None, None]
    size = max(float(v.abs().max()) for v in (gradient(bell, -1), gradient(bell, -2))) * n / 4
    assert float(generator("rotation", bell, grid()).abs().max()) < 1e-6 * size
    egg = torch.exp(-(c.square() + 2 * c.square()[:, None]) / 20)[None, None]
    assert float(generator("rotation", egg, grid()).abs().max()) > 0.01 * size  # and only of a radial one


def smooth(n: int, channels: int = 1) -> Tensor:
    """Return a periodic signal of the two lowest frequencies."""
    spectrum = torch.fft.fft2(torch.randn(1, channels, n, n, dtype=torch.float64))
    low = torch.fft.fftfreq(n).abs() * n <= 2
    values = torch.fft.ifft2(spectrum * low * low[:, None]).real
    return values / values.std()


@pytest.mark.parametrize("n", [15, 16])
@pytest.mark.parametrize("spacing", [1, 2])
def test_shifts_agree_with_finite_differences_of_the_action(n: int, spacing: int) -> None:
    x, t = smooth(n, 2), 1e-4
    for along, shift in (("right", (t, 0.0)), ("down", (0.0, -t))):
        for field in (grid(spacing=spacing), FieldType(Grid(spacing, (n, n)))):
            v = x if len(field.axes) == 4 else x.flatten(1)
            forth, back = (Affine(shift=(s * shift[0], s * shift[1])).act(v, field) for s in (1, -1))
            slope = generator(along, v, field)
            assert torch.allclose(slope, (forth - back) / (2 * t), atol=1e-6)
            assert float((slope + (forth - back) / (2 * t)).norm()) > 0.1  # the sign matters


@pytest.mark.parametrize(
    "field", [grid(), regular("C8"), regular("D8"), FieldType(Grid(1, (32, 32)), Regular(group("C8")))], ids=str
)
def test_rotations_agree_with_finite_differences_of_the_action(field: FieldType) -> None:
    n, t = 32, 1e-3
    order = field.rep.size
    x = smooth(n, order)
    if order > 1:  # no highest frequency among the orientations
        circles = torch.fft.fft(x.unflatten(1, (-1, 8)), dim=2)
        circles[:, :, 4] = 0
        x = torch.fft.ifft(circles, dim=2).real.flatten(1, 2)
    flat = isinstance(field.domain, Grid) and field.domain.flat is not None
    v = x.flatten(1) if flat else x
    turns = [Affine(as_linear(rotation_matrix(s * t * 180 / torch.pi)), boundary="zero") for s in (1, -1)]
    forth, back = (turn.act(v, field) for turn in turns)
    difference, slope = (
        (d.unflatten(1, (-1, n, n)) if flat else d) for d in ((forth - back) / (2 * t), generator("rotation", v, field))
    )
    inner = disc(n, n, x) == 1
    apart = float(((difference - slope) * inner).norm() / (slope * inner).norm())
    assert apart < 5e-3
    if order > 1:
        plain = generator("rotation", x, grid())
        assert float(((difference - plain) * inner).norm() / (slope * inner).norm()) > 0.05  # orientations turn too


def test_points_turn_their_orientations_alone() -> None:
    field = FieldType(Point(), Regular(group("C8")))
    v, t = torch.randn(3, 16, dtype=torch.float64), 1e-5
    forth, back = (
        torch.from_numpy(fibre_matrix(group("C8"), rotation_matrix(s * t * 180 / torch.pi))) for s in (1, -1)
    )
    blocks = v.unflatten(1, (2, 8))
    expected = (blocks @ forth.mT - blocks @ back.mT) / (2 * t)
    assert torch.allclose(generator("rotation", v, field), expected.flatten(1), atol=1e-8)
    for along in GENERATORS:
        assert not generator(along, v, INVARIANT).any()
    assert not generator("right", v, field).any()


def test_the_disc() -> None:
    for h, w in ((33, 33), (32, 32), (20, 40)):
        window = disc(h, w, torch.zeros((), dtype=torch.float64))
        assert window.shape == (h, w) and 0 <= float(window.min()) and float(window.max()) == 1
        assert float(window[0].max()) < 1e-9 and float(window[:, 0].max()) < 1e-9
        assert torch.equal(window, window.flip(0)) and torch.equal(window, window.flip(1))
        assert bool((window[h // 2, round(w * (0.5 - 0.45 * INNER)) : w // 2] == 1).all())
    assert disc(1, 1, torch.zeros(())).tolist() == [[1.0]]  # one place is its own centre


def test_an_isotropic_filter_turns_along_and_another_does_not() -> None:
    def blur(stretch: float) -> nn.Sequential:
        c = torch.arange(-4.0, 5.0, dtype=torch.float64)
        bell = torch.exp(-(c.square() + stretch * c.square()[:, None]) / 4)
        net = nn.Conv2d(1, 1, 9, padding=4, padding_mode="circular", bias=False, dtype=torch.float64)
        with torch.no_grad():
            net.weight.copy_(bell / bell.sum())
        return nn.Sequential(net)

    x = smooth(48)
    assert derivative(blur(1.0), x, "rotation")["0"] < 1e-3 * derivative(blur(3.0), x, "rotation")["0"]


def test_what_is_pointwise_turns_along_exactly() -> None:
    class Radial(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            c = torch.arange(x.shape[-1], dtype=x.dtype) - (x.shape[-1] - 1) / 2
            return x * torch.exp(-(c.square() + c.square()[:, None]) / 30)

    class Sideways(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            c = torch.arange(x.shape[-1], dtype=x.dtype) - (x.shape[-1] - 1) / 2
            return x * torch.exp(-(c - 2).square() / 30)

    x = smooth(33, 2)
    net = nn.Sequential(nn.Conv2d(2, 3, 1, dtype=torch.float64), Radial())
    found = derivative(net, x, "rotation")
    assert found["0"] < 1e-24 and found["1"] < 1e-8
    assert derivative(nn.Sequential(Sideways()), x, "rotation")["0"] > 1e-3


def test_a_layers_strided_output_moves_by_fewer_steps() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular", stride=2, dtype=torch.float64))
    x = smooth(32)
    assert derivative(net, x, "right")["0"] < 1e-20  # a smooth signal survives subsampling
    wrong = lie_derivative(net, x, trace(net, x, grid(), overrides={"0": "grid scalar"}), grid(), "right")
    assert wrong["0"] > 1e-4


def test_the_mean_square_is_per_dimension() -> None:
    """Copies of a channel, or of a sample, change nothing."""

    class Gain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype)

    x = noise((1, 1, 16, 16), 0)
    one = derivative(nn.Sequential(Gain()), x, "right")["0"]
    for many in (x.repeat(3, 1, 1, 1), x.repeat(1, 4, 1, 1)):
        assert derivative(nn.Sequential(Gain()), many, "right")["0"] == pytest.approx(one)
    turned = derivative(nn.Sequential(Gain()), x, "rotation")["0"]
    assert derivative(nn.Sequential(Gain()), x.repeat(2, 3, 1, 1), "rotation")["0"] == pytest.approx(turned)


def test_only_the_layers_asked_for_and_those_with_a_field() -> None:
    net = nn.Sequential(circular(1, 2), nn.ReLU(inplace=True), nn.Flatten(2))
    x = smooth(8)
    before = x.clone()
    found = trace(net, x, grid())
    assert set(lie_derivative(net, x, found, grid(), "right")) == {"0", "1"}
    assert set(lie_derivative(net, x, found, grid(), "right", ["1"])) == {"1"}
    assert torch.equal(x, before)


def test_pooled_orientations_and_detached_values() -> None:
    class Detached(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.detach() * 2

    net = nn.Sequential(nn.Conv2d(1, 8, 1, dtype=torch.float64), GroupMax(8), Detached())
    values = derivative(net, smooth(16), "right")
    assert values["2"] > 0  # a value that is not carried along is not equivariant


def test_an_unknown_generator_and_an_operation_without_derivative() -> None:
    with pytest.raises(ValueError, match="unknown generator 'up'; known are right, down, rotation"):
        generator("up", torch.zeros(1, 1, 3, 3), grid())

    class Sorted(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.sparse.mm(torch.eye(x.shape[-1], dtype=x.dtype).to_sparse(), x[0, 0])[None, None]

    net = nn.Sequential(nn.Identity(), Sorted())
    with pytest.raises(LayerError, match="layer 1 raised"):
        derivative(net, smooth(8), "right")
    # the forward-mode level is closed again
    assert derivative(nn.Sequential(circular(1, 1)), smooth(8), "right")["0"] < 1e-20


def test_a_function_and_not_a_picture_of_it() -> None:
    """Turning the answer back instead of forth doubles the slope: the order of J G and G F is not free."""
    x = smooth(16)
    slope = generator("right", x, grid())
    assert float((slope - generator("right", F.relu(x), grid())).norm()) > 0.1


class Attended(nn.Module):
    """Lets all pixels attend to each other, by torch's fused attention."""

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(2).transpose(1, 2)[:, None]
        mixed = F.scaled_dot_product_attention(tokens, tokens, tokens)
        return mixed[:, 0].transpose(1, 2).reshape_as(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fused_attention_has_a_derivative(dtype: torch.dtype) -> None:
    """Attention without positions commutes with every exchange of pixels, and so with no motion between them."""
    x = torch.randn(1, 2, 7, 7, dtype=dtype)
    t = 1e-4

    def moved(values: Tensor, by: float) -> Tensor:
        turn = torch.exp(-2j * torch.pi * torch.fft.fftfreq(7, dtype=torch.float64) * by)
        return torch.fft.ifft(torch.fft.fft(values.double()) * turn).real

    net: nn.Module = Attended()
    slope = (moved(net(moved(x, t)), -t) - moved(net(moved(x, -t)), t)) / (2 * t)
    assert derivative(net, x, "right")["output"] == pytest.approx(float(slope.square().mean()), rel=1e-3)
