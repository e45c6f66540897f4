"""Row G5: our formula is torch's, over the right axes; all four keep the law, a gain per pixel breaks it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.spaces.grid.samples import digit_images as digits
from models.images.normalisation import (
    CARD,
    GROUPS,
    NORMS,
    Affine,
    Normalise,
    build,
)
from models.training.images import digits as training
from models.training.images.shifted_digits import SIZE, Resized

WEIGHTS = Path(__file__).resolve().parents[3] / "resources" / "weights" / "normalisation.safetensors"
LAWFUL = [k for k, norm in enumerate(NORMS) if norm != "layer (per-pixel affine)"]
PER_PIXEL = NORMS.index("layer (per-pixel affine)")
N, C, H, W = 5, 8, 6, 7


@pytest.fixture
def x() -> Tensor:
    return 3 + 2 * torch.randn(N, C, H, W, dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("norm", "torchs"),
    [
        ("layer", nn.LayerNorm([C, H, W], elementwise_affine=False)),
        ("layer", nn.GroupNorm(1, C, affine=False)),
        ("instance", nn.InstanceNorm2d(C)),
        ("group", nn.GroupNorm(GROUPS, C, affine=False)),
    ],
)
def test_the_formula_is_torchs(norm: str, torchs: nn.Module, dtype: torch.dtype, x: Tensor) -> None:
    x = x.to(dtype)
    tolerance = 1e-6 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(Normalise(norm, C)(x), torchs(x), rtol=0, atol=2 * tolerance)


def test_batch_normalisation_is_torchs_while_training_and_after(x: Tensor) -> None:
    ours, torchs = Normalise("batch", C).double(), nn.BatchNorm2d(C, affine=False).double()
    for step in range(3):
        torch.testing.assert_close(ours(x + step), torchs(x + step), rtol=0, atol=1e-12)
    assert torchs.running_mean is not None and torchs.running_var is not None
    torch.testing.assert_close(ours.mean, torchs.running_mean, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.variance, torchs.running_var, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.eval()(x), torchs.eval()(x), rtol=0, atol=1e-12)


def test_the_per_pixel_affine_is_torchs_layer_norm(x: Tensor) -> None:
    torchs, affine = nn.LayerNorm([C, H, W]).double(), Affine(C, (H, W)).double()
    with torch.no_grad():
        affine.gain.normal_()
        affine.bias.normal_()
        assert affine.per_place is not None
        torchs.weight.copy_(affine.gain * affine.per_place)
        torchs.bias.copy_(affine.bias.expand(C, H, W))
    torch.testing.assert_close(affine(Normalise("layer", C)(x)), torchs(x), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("norm", "axes"), [("layer", (1, 2, 3)), ("instance", (2, 3)), ("batch", (0, 2, 3)), ("group", (2, 3, 4))]
)
def test_mean_zero_and_variance_one_over_its_axes(norm: str, axes: tuple[int, ...], x: Tensor) -> None:
    y = Normalise(norm, C).double()(x)
    if norm == "group":
        y = y.unflatten(1, (GROUPS, -1))
    assert y.mean(axes).abs().max() < 1e-12
    torch.testing.assert_close(y.var(axes, correction=0), torch.ones_like(y.mean(axes)), rtol=1e-4, atol=1e-4)


def test_what_each_forgets(x: Tensor) -> None:
    brighter = 0.5 + 2 * x
    channel_by_channel = x * torch.arange(1.0, C + 1, dtype=x.dtype)[:, None, None]

    def forgets(norm: str, change: Tensor) -> bool:
        return torch.allclose(Normalise(norm, C)(change), Normalise(norm, C)(x), atol=1e-4)

    assert all(forgets(norm, brighter) for norm in ("layer", "instance", "group"))
    assert forgets("instance", channel_by_channel)
    assert not forgets("layer", channel_by_channel)
    assert not forgets("group", channel_by_channel)
    batch = Normalise("batch", C).double().eval()
    assert not torch.allclose(batch(brighter), batch(x), atol=1e-4)


@torch.no_grad()
def test_brightness_and_contrast_vanish_under_instance_normalisation() -> None:
    image = torch.rand(1, 1, SIZE, SIZE, dtype=torch.float64)

    def change(norm: str) -> float:
        net = build(NORMS.index(norm)).double().eval()
        return float((net(0.3 + 0.5 * image) - net(image)).norm() / net(image).norm())

    assert change("instance") < 1e-3  # what is left is epsilon's
    assert change("batch") > 0.1


@torch.no_grad()
def local_errors(net: nn.Module, shift: int = 8) -> dict[str, float]:
    """Return each layer's own error: fed its moved input, against its moved output."""
    moved_by = {32: shift, 16: shift // 2, 8: shift // 4, 4: shift // 8}

    def move(x: Tensor) -> Tensor:
        return x.roll((moved_by[x.shape[-2]], -moved_by[x.shape[-1]]), (-2, -1)) if x.ndim == 4 else x

    x = torch.rand(2, 1, SIZE, SIZE, dtype=torch.float64)
    errors = {}
    for name, layer in net.named_children():
        moved = move(layer(x))
        errors[name] = float((layer(move(x)) - moved).norm() / moved.norm())
        x = layer(x)
    return errors


@pytest.mark.parametrize("training_mode", [False, True])
@pytest.mark.parametrize("norm", LAWFUL)
def test_every_layer_of_every_lawful_network_commutes_with_shifts(norm: int, training_mode: bool) -> None:
    net = build(norm).double().train(training_mode)
    assert max(local_errors(net).values()) < 1e-12


def test_a_gain_for_every_pixel_breaks_the_law_and_only_the_gains_do() -> None:
    errors = local_errors(build(PER_PIXEL).double().eval())
    broken = {name for name, error in errors.items() if error > 1e-12}
    assert broken == {"affine1", "affine2", "affine3"}
    assert min(errors[name] for name in broken) > 0.05


def test_before_and_after_are_named() -> None:
    for norm in range(len(NORMS)):
        names = [name for name, _ in build(norm).named_children()]
        assert names[:5] == ["conv1", "norm1", "affine1", "relu1", "pool1"]
        assert names[-2:] == ["global_mean", "classifier"]


@pytest.mark.slow
@pytest.mark.parametrize("norm", LAWFUL)
def test_one_set_of_weights_serves_every_normalisation(norm: int) -> None:
    net = build(norm)
    net.load_state_dict(load_file(WEIGHTS))
    metrics = training.evaluate(Resized(net.eval()), turns=1)
    found = re.search(rf"{NORMS[norm]} ([\d.]+) %", CARD.notes[1])
    assert found is not None
    assert metrics["upright_error"] == pytest.approx(float(found[1]) / 100, abs=0.004)
    assert max(local_errors(net.double().eval()).values()) < 1e-12


@pytest.mark.slow
def test_training_draws_the_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {part: tuple(array[:64] for array in digits.load(part)) for part in ("train", "test")}
    monkeypatch.setattr(digits, "load", few.__getitem__)
    drawn: list[str] = []
    forward = Normalise.forward
    monkeypatch.setattr(Normalise, "forward", lambda self, x: (drawn.append(self.norm), forward(self, x))[1])
    assert CARD.train is not None
    net, metrics = CARD.train(epochs=15, seed=3)
    while_training = drawn[: 3 * 2 * 15]  # three layers, two batches an epoch
    assert set(while_training) == set(NORMS[:-1]) and set(drawn[len(while_training) :]) == {"batch"}
    assert list(net.state_dict()) == list(build().state_dict())
    assert set(metrics) >= {"upright_error", "shifted_error"}
