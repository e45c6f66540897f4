"""Products with a matrix that is kept in blocks, against torch's own, and the recurrent layers that use them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from models.layers.recurrent.gru import GRU
from models.layers.recurrent.leaky_gated import GatedRNN, LeakyRNN
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.packed_product import available, linear, packed
from models.layers.recurrent.recurrence import Recurrence
from models.layers.recurrent.simple_rnn import SimpleRNN

UNITS, BATCH, STEPS = 256, 40, 16
LAYERS = (SimpleRNN, LSTM, GRU, LeakyRNN, GatedRNN)
blocks = pytest.mark.skipif(not available(), reason="this build of torch has no oneDNN")


@blocks
def test_the_product_is_that_of_the_matrices() -> None:
    torch.manual_seed(0)
    weight, h, given = torch.randn(1024, 256), torch.randn(40, 256), torch.randn(40, 1024)
    product = packed(weight, 40, 16)
    assert product is not None
    for start in (given, given[0]):
        expected = start.double() + h.double() @ weight.double().t()
        torch.testing.assert_close(product(start, h).double(), expected, rtol=1e-5, atol=1e-4)
        assert float((product(start, h).double() - (expected - start)).abs().max()) > 1.0  # `given` counts


@pytest.mark.parametrize(
    "weight, rows, times",
    [
        (torch.zeros(1024, 256, dtype=torch.float64), 40, 16),
        (torch.zeros(64, 16), 1, 1000),
        (torch.zeros(1024, 256), 40, 2),
        (torch.zeros(1024, 256, device="meta"), 40, 16),
    ],
    ids=["double", "small", "seldom", "elsewhere"],
)
def test_torchs_own_product_serves_elsewhere(weight: Tensor, rows: int, times: int) -> None:
    assert packed(weight, rows, times) is None


def test_without_onednn_torchs_own_product_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.layers.recurrent.packed_product.available", lambda: False)
    assert packed(torch.zeros(1024, 256), 40, 16) is None


@blocks
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("rate", [1.0, 0.7])
def test_values_are_those_of_double_precision(kind: type[Recurrence], rate: float) -> None:
    torch.manual_seed(0)
    layer, x = kind(8, UNITS, "zero"), torch.randn(STEPS, BATCH, 8)
    layer.rate = rate if layer.paced else 1.0
    used: list[int] = []
    own = layer.driven

    def driven(given: Tensor, hidden: Tensor, into: Tensor | None = None) -> Tensor:
        used.append(layer.product is not None)
        return own(given, hidden, into)

    layer.driven = driven  # type: ignore[method-assign]
    with torch.no_grad():
        found = layer.run(x)
        assert used == [True] * STEPS and layer.product is None
        expected = layer.double().run(x.double())
        assert used[STEPS:] == [False] * STEPS
    for name, value in expected.items():
        torch.testing.assert_close(found[name].double(), value, rtol=0, atol=2e-6)


@blocks
def test_the_gain_of_u_is_kept() -> None:
    torch.manual_seed(0)
    layer, x = SimpleRNN(8, 1024, "zero", gain=0.5), torch.randn(STEPS, BATCH, 8)
    with torch.no_grad():
        found = layer.run(x)["hidden"]
        expected = layer.double().run(x.double())["hidden"]
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=2e-6)


@blocks
@pytest.mark.parametrize("inputs", [1, 512])
def test_an_lstm_of_512_units_is_torchs(inputs: int) -> None:
    torch.manual_seed(0)
    peer, ours = nn.LSTM(inputs, 512), LSTM(inputs, 512, "zero")
    ours.load_state_dict({k.removesuffix("_l0"): v for k, v in peer.state_dict().items()})
    x = torch.randn(40, 32, inputs)
    with torch.inference_mode():
        torch.testing.assert_close(ours.run(x)["hidden"], peer(x)[0], rtol=0, atol=1e-6)


def test_gradients_flow_where_they_are_asked_for() -> None:
    torch.manual_seed(0)
    peer, ours = nn.LSTM(3, UNITS), LSTM(3, UNITS, "zero")
    ours.load_state_dict({k.removesuffix("_l0"): v for k, v in peer.state_dict().items()})
    x = torch.randn(STEPS, BATCH, 3)
    mine = torch.autograd.grad(ours.run(x, ("hidden",))["hidden"].sum(), list(ours.parameters()))
    theirs = torch.autograd.grad(peer(x)[0].sum(), list(peer.parameters()))
    torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-2)


def test_tangents_flow_where_they_are_asked_for() -> None:
    torch.manual_seed(0)
    layer = LSTM(3, UNITS, "zero")
    x, v = torch.randn(STEPS, BATCH, 3), torch.randn(STEPS, BATCH, 3)
    with torch.no_grad(), forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(layer.run(forward_ad.make_dual(x, v))["hidden"]).tangent
        assert tangent is not None
    with torch.no_grad():
        layer, step = layer.double(), 1e-6
        ends = [layer.run(x.double() + s * step * v.double())["hidden"] for s in (1, -1)]
    torch.testing.assert_close(tangent.double(), (ends[0] - ends[1]) / (2 * step), rtol=0, atol=1e-4)


@pytest.mark.parametrize("shape", [(2, 3, 4), (0, 3, 4), (2000, 40, 4)])
def test_linear_is_torchs(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x, layer = torch.randn(shape), nn.Linear(4, 8)
    with torch.no_grad():
        torch.testing.assert_close(linear(x, layer.weight, layer.bias), layer(x), rtol=0, atol=1e-6)
    assert linear(x, layer.weight, layer.bias).requires_grad
