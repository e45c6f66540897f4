"""Layers made symmetric: the nearest weights that obey a law are means over a group; any layer can be averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.symmetries import Situation, find_symmetry
from explorer.declare.types.field_text import parse_field
from explorer.equivariance.symmetric.blur import binomial, blurred
from explorer.equivariance.symmetric.setting import NotApplicable, Setting, experiments, mended
from explorer.network.changing.interventions.hooks import Hooks
from explorer.network.tracing.capture import capture
from explorer.network.tracing.trace import trace
from explorer.work import progress
from tests.explorer.parts.networks import D4, conv, move, symmetric

LAW = 1e-12


def grid(x: Tensor, field: str = "grid scalar") -> Inputs:
    return Inputs((x,), (parse_field(field),))


def setting(model: nn.Module, layer: str, group: str, inputs: Inputs, **options: Any) -> Setting:
    boundary = options.pop("boundary", "circular")
    model = model.to(inputs.x.dtype).eval()
    traced = trace(model, inputs, **options)
    _, fed = capture(model, inputs, [layer], clone=True, inputs=True)
    size = (inputs.x.shape[-2], inputs.x.shape[-1]) if inputs.batched else (inputs.places, 1)
    drawn = find_symmetry(group).elements(group, Situation(size, 1, boundary, np.random.default_rng(0), 4))
    elements = tuple(g.on(inputs) for _, g in drawn)
    return Setting(model, traced, traced[layer], inputs, fed.get(layer, ()), elements)


def applied(one: Setting, name: str) -> float:
    """Apply an experiment and return the layer's own error after it, beside what it was: not small."""
    before = one.error()
    assert max(e for e in before if e is not None) > 1e-3
    change = experiments()[name].apply(one)
    hooks = Hooks(one.model, [(one.layer, change)] if change is not None else [])
    after = one.error()
    hooks.remove()
    assert mended(before, after, one.tolerance)
    return max(e for e in after if e is not None)


def images(channels: int = 2, side: int = 7) -> Inputs:
    return grid(torch.randn(1, channels, side, side, dtype=torch.float64))


# weights ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("group", "elements"), [("D4", D4), ("C4", D4[:4])])
def test_the_nearest_filter_is_the_mean_over_the_group(group: str, elements: list[tuple[int, int]]) -> None:
    net = nn.Sequential(conv(2, 3, fault=True), nn.ReLU())
    before = net[0].weight.detach().double()
    assert applied(setting(net, "0", group, images()), "weights") < LAW
    mean = torch.stack([move(before, *g) for g in elements]).mean(0)
    assert torch.allclose(net[0].weight, mean, rtol=0, atol=1e-13)


@pytest.mark.slow
def test_filters_that_are_symmetric_stay_as_they_are() -> None:
    net = nn.Sequential(conv(1, 3), conv(3, 2))
    one = setting(net, "0", "D4", images(1))
    before = symmetric(net[0].weight.detach())
    with torch.no_grad():
        net[0].weight.copy_(before)
    experiments()["weights"].apply(one)
    assert torch.allclose(net[0].weight, before, rtol=0, atol=1e-14)


@pytest.mark.slow
def test_channels_of_a_regular_field_are_averaged_along() -> None:
    net = nn.Sequential(nn.Conv2d(8, 4, 3, padding=1), nn.Identity())
    net[0].out_rep = parse_field("grid regular(C4)").rep
    one = setting(net, "0", "C4", grid(torch.randn(1, 8, 5, 5, dtype=torch.float64), "grid regular(C4)"))
    assert str(one.layer.field) == "grid regular(C4)"
    before = net[0].weight.detach().clone()
    assert applied(one, "weights") < LAW
    after = net[0].weight.detach()
    # the projection is orthogonal, and once is enough
    assert float(((before - after) * after).sum()) == pytest.approx(0, abs=1e-12)
    experiments()["weights"].apply(one)
    assert torch.allclose(net[0].weight, after, rtol=0, atol=1e-13)
    # each filter is the one before it turned, with its inputs' orientations one further
    turned = torch.rot90(after.reshape(4, 2, 4, 3, 3), 1, (-2, -1))
    assert torch.allclose(turned.roll(1, 0).roll(1, 2), after.reshape(4, 2, 4, 3, 3), rtol=0, atol=1e-13)


class Mix(nn.Module):
    """A dense map over the elements of a set."""

    def __init__(self, count: int = 6) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(count, count))

    def forward(self, x: Tensor) -> Tensor:
        return self.table @ x


def nodes(count: int = 6, channels: int = 3) -> Inputs:
    return Inputs((torch.randn(count, channels, dtype=torch.float64),), (parse_field("node scalar"),))


class Windows(nn.Module):
    """Lets each element of a set see its neighbours in the row that it happens to stand in."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.act = nn.Conv1d(3, 4, 3, padding=1), nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.conv(x.t()[None])[0].t())


@pytest.mark.slow
def test_a_dense_map_of_a_set_becomes_the_mean_over_all_permutations() -> None:
    net = nn.Sequential(Mix(), nn.ReLU())
    w = net[0].table.detach().double()
    assert applied(setting(net, "0", "permutation", nodes()), "weights") < LAW
    n = len(w)
    other = (w.sum() - w.trace()) / (n * (n - 1))
    closed = torch.full((n, n), float(other), dtype=torch.float64).fill_diagonal_(float(w.trace() / n))
    assert torch.allclose(net[0].table, closed, rtol=0, atol=1e-12)


class Table(nn.Module):
    """Adds a learned value at each position."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(shape))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table


@pytest.mark.parametrize("way", ["weights", "positions"])
def test_a_table_of_positions_becomes_its_mean(way: str) -> None:
    net = nn.Sequential(Table(6, 3), nn.ReLU())
    before = net[0].table.detach().double()
    assert applied(setting(net, "0", "permutation", nodes()), way) < LAW
    assert torch.allclose(net[0].table, before.mean(0).expand(6, 3), rtol=0, atol=1e-13)


def test_a_table_of_steps_becomes_its_mean_under_delays() -> None:
    net = nn.Sequential(Table(8, 2), nn.ReLU())
    before = net[0].table.detach().double()
    steps = Inputs((torch.randn(8, 2, dtype=torch.float64),), (parse_field("step scalar"),))
    assert applied(setting(net, "0", "shift", steps), "weights") < LAW
    assert torch.allclose(net[0].table, before.mean(0).expand(8, 2), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_window_over_a_set_keeps_its_middle_alone() -> None:
    net = Windows()
    one = setting(net, "conv", "permutation", nodes())
    before = net.conv.weight.detach().clone()
    assert applied(one, "weights") < LAW
    assert torch.allclose(net.conv.weight[..., 1], before[..., 1], rtol=0, atol=1e-12)
    assert float(net.conv.weight[..., ::2].detach().abs().max()) < 1e-12


def test_a_search_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.equivariance.symmetric.weights.SECONDS", 0.0)
    with pytest.raises(NotApplicable, match="too many"):
        experiments()["weights"].apply(setting(nn.Sequential(Mix(), nn.ReLU()), "0", "permutation", nodes()))


def test_a_search_ends_where_rounding_alone_is_left() -> None:
    """It went on for all the steps that it might take, on differences that rounding had made."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), nn.ReLU())
    one, steps = setting(net, "0", "C4", images(3, 9)), []
    with progress.listening(lambda _, share: steps.append(share)):
        experiments()["weights"].apply(one)
    assert max(v for v in one.error() if v is not None) < LAW
    assert len(steps) < 100


@pytest.mark.slow
def test_a_value_for_each_pixel_becomes_its_mean_under_shifts() -> None:
    net = nn.Sequential(Table(2, 7, 7), nn.ReLU())
    before = net[0].table.detach().double()
    assert applied(setting(net, "0", "translation", images()), "weights") < LAW
    assert torch.allclose(net[0].table, before.mean((1, 2), keepdim=True).expand(2, 7, 7), rtol=0, atol=1e-12)


class Around(nn.Module):
    """Adds its table between its layers, so that no layer breaks its law by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.randn(2, 7, 7))
        self.conv = conv(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(torch.tanh(x) + self.places)


def test_a_table_of_the_module_around_the_layer_is_found() -> None:
    net = Around()
    one = setting(net, "conv", "D4", images())
    with torch.no_grad():
        net.conv.weight.copy_(symmetric(net.conv.weight))
    before = net.conv.weight.detach().clone()
    assert applied(one, "positions") < LAW
    assert float(net.places.detach().std((1, 2)).max()) < 1e-15
    assert torch.equal(net.conv.weight, before)


# the layer as a whole -----------------------------------------------------------------------------------------------
class Mixed(nn.Module):
    """No map of its weights alone: two convolutions with a curve between them."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = conv(2, 4, fault=True), conv(4, 2, fault=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.two(torch.tanh(self.one(x)))


@pytest.mark.parametrize("group", ["C4", "D4"])
def test_any_layer_can_be_averaged_over_a_finite_group(group: str) -> None:
    net = nn.Sequential(Mixed(), nn.ReLU())
    one = setting(net, "0", group, images())
    layer, elements = net[0], D4 if group == "D4" else D4[:4]
    weights = [p.detach().clone() for p in net.parameters()]
    assert applied(one, "average") < LAW
    assert all(torch.equal(p, w) for p, w in zip(net.parameters(), weights, strict=True))
    hooks = Hooks(one.model, [(one.layer, change)]) if (change := experiments()["average"].apply(one)) else None
    x = one.inputs.x
    with torch.no_grad():
        found = layer(x)
        assert hooks is not None
        hooks.remove()
        # g^-1 f(g x), with g = a mirror and then quarter turns
        alone = [move_back(layer(move(x, *g)), *g) for g in elements]
    assert torch.allclose(found, torch.stack(alone).mean(0), rtol=0, atol=1e-13)


def move_back(x: Tensor, turns: int, mirrored: int) -> Tensor:
    x = torch.rot90(x, -turns, (-2, -1))
    return x.flip(-1) if mirrored else x


@pytest.mark.slow
def test_what_cannot_be_done_is_said() -> None:
    net = nn.Sequential(Mixed(), nn.ReLU())
    with pytest.raises(NotApplicable, match="not linear in its weights"):
        experiments()["weights"].apply(setting(net, "0", "D4", images()))
    with pytest.raises(NotApplicable, match="has no weights"):
        experiments()["weights"].apply(setting(net, "1", "D4", images()))
    with pytest.raises(NotApplicable, match="more than 64 elements"):
        experiments()["average"].apply(setting(nn.Sequential(Mix(), nn.ReLU()), "0", "permutation", nodes()))
    with pytest.raises(NotApplicable, match="no table of positions"):
        experiments()["positions"].apply(setting(net, "0", "D4", images()))
    with pytest.raises(NotApplicable, match="pads nothing"):
        experiments()["padding"].apply(setting(nn.Sequential(nn.Conv2d(2, 2, 3), nn.ReLU()), "0", "D4", images()))


class Slanted(nn.Module):
    """Has weights, of which none but zero obey a law: they stand before a picture that is fixed."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 1, 1))
        self.register_buffer("slope", torch.linspace(0, 1, 7).square())

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight * self.slope


def test_weights_that_would_vanish_are_left() -> None:
    net = nn.Sequential(Slanted(), nn.ReLU())
    with pytest.raises(NotApplicable, match="no weights but zero"):
        experiments()["weights"].apply(setting(net, "0", "D4", images()))
    assert float(net[0].weight.detach().min()) == 1.0


def test_circular_padding_keeps_circular_shifts() -> None:
    net = nn.Sequential(nn.Conv2d(2, 2, 3, padding=1), nn.ReLU())
    assert applied(setting(net, "0", "translation", images()), "padding") < LAW
    assert net[0].padding_mode == "circular"


def test_weights_in_single_precision_stay_exactly_symmetric() -> None:
    net = nn.Sequential(conv(2, 16, 5, fault=True), nn.ReLU())
    one = setting(net, "0", "D4", grid(torch.randn(1, 2, 7, 7)))
    experiments()["weights"].apply(one)
    w = net[0].weight
    assert w.dtype == torch.float32
    assert all(torch.equal(move(w, *g), w) for g in D4)


# blur -------------------------------------------------------------------------------------------------------------
def test_a_blur_is_that_of_a_convolution_with_the_binomial_filter() -> None:
    values, row = torch.randn(2, 3, 8, 6, dtype=torch.float64), torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64) / 4
    kernel = torch.outer(row, row).expand(3, 1, 3, 3)
    for mode in ("circular", "reflect"):
        padded = torch.nn.functional.pad(values, (1, 1, 1, 1), mode=mode)
        expected = torch.nn.functional.conv2d(padded, kernel, stride=2, groups=3)
        assert torch.allclose(blurred(values, (2, 2), mode), expected, rtol=0, atol=1e-14)
    assert torch.allclose(binomial(3) * 16, torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0], dtype=torch.float64))


def test_a_blur_takes_the_place_of_the_stride_alone() -> None:
    net = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, stride=2, padding_mode="circular"), nn.ReLU()).double()
    one = setting(net, "0", "translation", images(side=8))
    change = experiments()["blur"].apply(one)
    assert change is not None
    x = one.inputs.x
    given = net[0](x)
    found = change(given, net[0], (x,), {})
    dense = nn.functional.conv2d(nn.functional.pad(x, (1, 1, 1, 1), mode="circular"), net[0].weight, net[0].bias)
    assert torch.allclose(found, blurred(dense, (2, 2), "circular")) and found.shape == given.shape
    assert net[0].stride == (2, 2)
    with pytest.raises(NotApplicable, match="no stride"):
        experiments()["blur"].apply(setting(nn.Sequential(nn.Conv2d(2, 2, 3), nn.ReLU()), "0", "D4", images()))
