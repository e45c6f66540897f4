"""Row S1, Deep Sets: the two forms of the paper, their law, and the digit sum of the shipped weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.spaces.graph.samples.digit_sets import SAMPLES
from models.graphs.sets.deep_sets import (
    LENGTHS,
    POOLS,
    DigitSum,
    EquivariantLayer,
    EquivariantSet,
    accuracy,
    build_equivariant,
    lists,
    matrix,
    together,
    train,
)
from tests.models.graphs.relabelling import Shuffle, law_errors

WEIGHTS = Path(__file__).resolve().parents[4] / "resources" / "weights" / "digit-sum.safetensors"
NO_BATCH = torch.zeros(0, dtype=torch.int64)


def shipped() -> DigitSum:
    network = DigitSum()
    network.load_state_dict(load_file(WEIGHTS))
    return network.eval()


@pytest.mark.parametrize("length", LENGTHS)
def test_the_shipped_weights_add_up_every_list(length: int) -> None:
    assert accuracy(shipped(), length, count=300, seed=77) == 1.0


def test_the_samples_are_added_up() -> None:
    network = shipped()
    for spec in SAMPLES:
        sample = spec.make()
        x = torch.from_numpy(sample.x.values.copy())
        told = sum(int(name) for name in sample.names)
        assert f"the sum is {told}" in sample.notes[0]
        with torch.no_grad():
            assert round(network(x, torch.zeros(len(x), dtype=torch.int64)).item()) == told


def test_accuracy_can_be_low() -> None:
    assert accuracy(DigitSum(), 45, count=200) < 0.2


@pytest.mark.slow
def test_a_short_training_learns_and_is_repeatable() -> None:
    told: list[str] = []
    first, metrics = train(epochs=1, seed=4, count=6000, progress=lambda a, b, s: told.append(f"{a}/{b}"))
    second, _ = train(epochs=1, seed=4, count=6000)
    assert told == ["1/1"] and set(metrics) == {f"accuracy_{k}" for k in LENGTHS}
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters()))
    torch.manual_seed(4)
    x, batch, sums = together(lists(200, range(1, 10), torch.Generator().manual_seed(9)))
    with torch.no_grad():
        learned, fresh = ((net(x, batch) - sums).abs().mean() for net in (first, DigitSum()))
    assert learned < 0.9 * fresh


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=5))
def test_batches_of_lists(digits: list[list[int]]) -> None:
    x, batch, sums = together([torch.tensor(one) for one in digits])
    assert sums[:, 0].tolist() == [float(sum(one)) for one in digits]
    network = DigitSum().double()
    whole = network(x.double(), batch)
    for k, one in enumerate(digits):
        rows = nn.functional.one_hot(torch.tensor(one), 10).double()
        alone = network.rho(sum(network.phi(network.dense(network.embedding(row))) for row in rows))
        torch.testing.assert_close(whole[k], alone, rtol=0, atol=1e-10)


def test_an_equivariant_layer_is_theta() -> None:
    """Lemma 3: with one channel and the sum, x -> (lambda I + gamma 1 1^T) x + b."""
    layer = EquivariantLayer(1, 1, "sum", 0.7).double()
    x = torch.randn(9, 1, dtype=torch.float64)
    theta = layer.theta(9).double()
    expected = theta @ x + layer.own.bias
    torch.testing.assert_close(layer(x, torch.zeros(9, dtype=torch.int64)), expected, rtol=0, atol=1e-6)
    off = theta[~torch.eye(9, dtype=torch.bool)]
    assert off.unique().numel() == 1 and theta.diagonal().unique().numel() == 1
    picture = next(iter(matrix(build_equivariant()).values()))
    assert picture.shape == (8, 8) and picture[0, 1] == picture[5, 2] != picture[3, 3] == picture[4, 4]


@pytest.mark.parametrize("pool", range(len(POOLS)))
def test_every_layer_obeys_the_law(pool: int) -> None:
    x, batch = torch.randn(13, 3, dtype=torch.float64), torch.tensor([0] * 5 + [1] * 8)
    errors = law_errors(build_equivariant(pool, 0.8).double(), (x, batch), Shuffle.drawn(13, 0))
    assert {"layer1", "layer3", "sum", ""} <= errors.keys() and max(errors.values()) < 1e-9, errors
    digits, of, _ = together(lists(4, range(1, 10), torch.Generator().manual_seed(1)))
    errors = law_errors(shipped().double(), (digits.double(), of), Shuffle.drawn(len(of), 0))
    assert max(errors.values()) < 1e-9


def test_a_weight_for_every_place_breaks_the_law() -> None:
    class Placed(EquivariantLayer):
        def forward(self, x: Tensor, batch: Tensor) -> Tensor:
            return super().forward(x * torch.linspace(0.5, 1.5, len(x), dtype=x.dtype)[:, None], batch)

    net = EquivariantSet("mean", 1.0).double()
    net.layer2 = Placed(32, 32, "mean", 1.0).double()
    x = torch.randn(13, 3, dtype=torch.float64)
    errors = law_errors(net, (x, torch.zeros(13, dtype=torch.int64)), Shuffle.drawn(13, 0))
    assert errors["layer1"] < 1e-9 and errors["layer2"] > 1e-3 and errors[""] > 1e-4


def test_with_gamma_zero_no_element_hears_of_another() -> None:
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    batch = torch.zeros(6, dtype=torch.int64)
    for gamma, others in ((0.0, False), (1.0, True)):
        net = EquivariantSet("mean", gamma).double()
        h = net.layer2(net.tanh1(net.layer1(x, batch)), batch)
        (influence,) = torch.autograd.grad(h[2].sum(), x)
        assert bool(influence[[0, 1, 3, 4, 5]].abs().max() > 0) == others and influence[2].abs().max() > 0


def test_the_empty_set_and_one_element() -> None:
    for net, width in ((DigitSum(), 10), (EquivariantSet("max", 1.0), 3)):
        assert net(torch.zeros(0, width), NO_BATCH).isfinite().all()
        assert net(torch.ones(1, width), torch.zeros(1, dtype=torch.int64)).isfinite().all()
