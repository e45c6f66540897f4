"""Row G3: coarsening commutes with whole patches, the mean keeps the law and flatten loses it (eq. 29)."""

from __future__ import annotations

import re
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.spaces.grid.samples import digit_images as digits
from models.images.cnn_blocks import (
    CARD,
    POOLINGS,
    Block,
    BlockCNN,
    Blur,
    Subsample,
    build_flatten,
    build_global,
    coarsening,
)
from models.training.images import digits as training
from models.training.images.shifted_digits import SIZE, Resized, resized, shifted_error

WEIGHTS = Path(__file__).resolve().parents[3] / "resources" / "weights"
CARDS = {card.name: card for card in CARD}


def rough(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64)


def relative(got: Tensor, expected: Tensor) -> float:
    return float((got - expected).detach().norm() / expected.detach().norm())


def shift_error(f: nn.Module, x: Tensor, shift: int, coarser: int) -> float:
    """Compare f of the moved image with the moved maps; scores do not move."""
    after, before = f(x.roll((shift, 2 * shift), (-2, -1))), f(x)
    if before.ndim == 4:
        before = before.roll((shift // coarser, 2 * shift // coarser), (-2, -1))
    return relative(after, before)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_coarsening_commutes_with_shifts_by_whole_patches_only(pooling: str) -> None:
    x = rough(1, 3, 8, 12)
    assert shift_error(coarsening(pooling), x, 2, 2) < 1e-15
    assert shift_error(coarsening(pooling), x, 1, 2) > 0.05


def test_blurring_first_makes_the_smallest_error_at_odd_shifts() -> None:
    x = rough(1, 1, 64, 64)
    error = {pooling: shift_error(coarsening(pooling), x, 1, 2) for pooling in POOLINGS}
    assert error["average (anti-aliased)"] < 0.8 * error["max"] < 0.8 * error["strided"]


def test_the_three_ways_to_coarsen() -> None:
    x = rough(2, 3, 6, 8)
    assert torch.equal(coarsening("strided")(x), x[:, :, 0::2, 0::2])
    assert torch.equal(coarsening("max")(x), x.unflatten(3, (4, 2)).unflatten(2, (3, 2)).amax((3, 5)))
    binomial = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64) / 4
    kernel = (binomial[:, None] * binomial).expand(3, 1, 3, 3)
    blurred = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="circular"), kernel, groups=3)
    torch.testing.assert_close(Blur()(x), blurred, rtol=1e-14, atol=1e-14)
    torch.testing.assert_close(coarsening("average (anti-aliased)")(x), blurred[:, :, ::2, ::2])
    torch.testing.assert_close(Blur()(x).mean(), x.mean())


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_block_is_equation_29(pooling: str) -> None:
    block = Block(2, 5, pooling).double()
    x = rough(1, 2, 8, 8)
    convolved = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="circular"), block.conv.weight, block.conv.bias)
    torch.testing.assert_close(block(x), block.pool(convolved.clamp(min=0)))


@pytest.mark.parametrize("pooling", range(3))
def test_the_global_mean_keeps_the_law_and_flatten_loses_it(pooling: int) -> None:
    x = rough(2, 1, SIZE, SIZE)
    kept, lost = build_global(pooling).double(), build_flatten(pooling).double()
    assert isinstance(kept, BlockCNN) and isinstance(lost, BlockCNN)
    assert shift_error(kept, x, 8, 8) < 1e-14
    assert shift_error(lost, x, 8, 8) > 1e-3
    blocks = nn.Sequential(lost.block1, lost.block2, lost.block3)
    assert shift_error(blocks, x, 8, 8) < 1e-14  # it is the head that loses it


@pytest.mark.parametrize("pooling", range(3))
def test_zero_padding_breaks_the_law(pooling: int) -> None:
    network = build_global(pooling).double()
    network.get_submodule("block2.conv").padding_mode = "zeros"  # type: ignore[assignment]
    assert shift_error(network, rough(1, 1, SIZE, SIZE), 8, 8) > 1e-4


def test_a_size_that_the_stride_does_not_divide_breaks_the_law() -> None:
    network = build_global(POOLINGS.index("strided")).double()
    assert shift_error(network, rough(1, 1, SIZE, SIZE), 8, 8) < 1e-14
    assert shift_error(network, rough(1, 1, 29, 29), 8, 8) > 1e-4


def test_pooling_changes_no_parameter() -> None:
    for build in (build_global, build_flatten):
        reference = build(0).state_dict()
        for pooling in (1, 2):
            state = build(pooling).state_dict()
            assert list(state) == list(reference)
            assert all(torch.equal(state[key], reference[key]) for key in state)


def test_building_leaves_the_random_state_alone() -> None:
    before = torch.get_rng_state()
    build_flatten(1)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_digit_grows_about_its_centre() -> None:
    image = torch.zeros(1, 1, 29, 29)
    image[..., 10:19, 10:19] = 1
    large = resized(image)
    assert large.shape == (1, 1, SIZE, SIZE)
    torch.testing.assert_close(large.flip(-1, -2), large)
    assert large.min() == 0 and large.max() == 1


def load(name: str, pooling: int = 0) -> nn.Module:
    network = CARDS[name].build(pooling)
    network.load_state_dict(load_file(WEIGHTS / f"{name}.safetensors"))
    return network.eval()


def stated(card: Card, case: str) -> float:
    """Return an error that the card's notes state; another machine may misread a digit more or less."""
    found = re.search(rf"{case} ([\d.]+) %", "\n".join(card.notes))
    assert found is not None
    return float(found[1]) / 100


@pytest.mark.slow
@pytest.mark.parametrize("name", CARDS)
def test_the_trained_network_has_the_error_that_its_card_states(name: str) -> None:
    metrics = training.evaluate(Resized(load(name)), turns=1)
    assert metrics["upright_error"] == pytest.approx(stated(CARDS[name], "upright"), abs=0.004)
    assert metrics["upright_error"] < 0.05
    assert (WEIGHTS / f"{name}.safetensors").stat().st_size < 120_000


def test_the_trained_mean_keeps_the_law_and_the_trained_mlp_does_not() -> None:
    x = rough(2, 1, SIZE, SIZE)
    assert shift_error(load("cnn-global").double(), x, 8, 8) < 1e-13
    assert shift_error(load("cnn-flatten").double(), x, 8, 8) > 0.1


@pytest.mark.slow
def test_shifted_digits_tell_the_two_heads_apart() -> None:
    for name, low, high in (("cnn-global", 0.0, 0.1), ("cnn-flatten", 0.7, 1.0)):
        error = shifted_error(load(name))
        assert low < error < high
        assert error == pytest.approx(stated(CARDS[name], "max"), abs=0.01)


def test_training_draws_the_coarsening_and_returns_the_network_of_the_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = {part: tuple(array[:64] for array in digits.load(part)) for part in ("train", "test")}
    monkeypatch.setattr(digits, "load", few.__getitem__)
    drawn: list[str] = []
    coarsen = BlockCNN.coarsen
    monkeypatch.setattr(BlockCNN, "coarsen", lambda self, p: (drawn.append(p), coarsen(self, p))[1])
    told: list[int] = []
    train = CARDS["cnn-global"].train
    assert train is not None
    network, metrics = train(epochs=8, seed=3, progress=lambda epoch, epochs, text: told.append(epoch))
    assert told == list(range(1, 9))
    assert set(drawn[:16]) == set(POOLINGS) and set(drawn[16:]) == {"max"}  # 2 batches in each of 8 epochs
    assert isinstance(network, BlockCNN) and isinstance(network.block1.pool, nn.MaxPool2d)
    assert list(network.state_dict()) == list(build_global().state_dict())
    assert set(metrics) >= {"upright_error", "shifted_error"}


def test_the_average_is_made_of_two_named_steps() -> None:
    steps = coarsening("average (anti-aliased)")
    assert isinstance(steps, nn.Sequential)
    assert OrderedDict((name, type(step)) for name, step in steps.named_children()) == OrderedDict(
        blur=Blur, subsample=Subsample
    )
