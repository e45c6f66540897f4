"""Behaviour of an audit: what it refuses, what it leaves alone, and the report it writes."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.elements import chain_element, parse_chain
from explorer.equivariance import measure
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.verdict.outcome import Report
from explorer.network.changing.conduct import IN_PLACE
from explorer.network.tracing.layers import LayerError
from explorer.spaces.graph.fields import NODE
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.network.stimulus import noise
from tests.explorer.parts.networks import (
    Lift,
    Mix,
    conv,
    group_cnn,
    three,
)


def image(side: int = 9, batch: int = 2, channels: int = 1) -> Tensor:
    return noise((batch, channels, side, side), 0, torch.float32)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.full((1, 1, 8, 8), 0.7), "constant"),
        (torch.zeros(2, 3, 8, 8), "constant"),
        (torch.tensor([1.0, 0.2, 0.4])[None, :, None, None].expand(1, 3, 8, 8), "constant"),  # one colour
        (1 + 1e-4 * torch.rand(1, 1, 8, 8), "constant"),
        (torch.stack([torch.rand(1, 8, 8), torch.ones(1, 8, 8)]), "constant"),  # one sample is enough
        (torch.full((1, 1, 8, 8), float("nan")), "NaN or infinite"),
        (torch.rand(1, 1, 8, 8).log().mul(0).div(0), "NaN or infinite"),
        (torch.rand(1, 8, 8), r"must be \(batch, channel, height, width\)"),
        (torch.rand(0, 1, 8, 8), "not empty"),
        ((1, 8, 8), r"the shape must be \(batch, channel, height, width\)"),
        ((1, 0, 8, 8), "all positive"),
    ],
)
def test_data_that_can_show_nothing_is_refused(x: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_equivariance(nn.Conv2d(1, 1, 3), x, "D4")


def test_why_a_nearly_constant_input_is_refused() -> None:
    """With an input in a range of 1e-9 a broken network would look equivariant to rounding."""
    x = 1 + 1e-9 * torch.rand(1, 1, 9, 9, dtype=torch.float64)
    layer = conv(1, 1, fault=True, padding=0).double().requires_grad_(False)
    turned = layer(x.rot90(1, (-2, -1)))
    assert float((turned - layer(x).rot90(1, (-2, -1))).norm() / turned.norm()) < 1e-8


def test_unknown_groups_are_refused_in_one_sentence() -> None:
    for name in ("E8", "d4", "", "C0", "C99"):
        with pytest.raises(ValueError, match=f"^unknown group '{name}'; known are"):
            check_equivariance(nn.Conv2d(1, 1, 3), image(), name)


def test_a_failing_layer_is_named() -> None:
    with pytest.raises(LayerError, match=r"^layer 1 raised RuntimeError: ") as caught:
        check_equivariance(nn.Sequential(conv(1, 2), conv(3, 2)), image(), "D4")
    assert caught.value.where == "1"


def untouched(model: nn.Module) -> dict[str, Any]:
    return {
        "modes": [m.training for m in model.modules()],
        "values": {k: v.clone() for k, v in model.state_dict().items()},
        "kinds": [(p.dtype, p.device, p.requires_grad, p.grad is None) for p in model.parameters()],
        "hooks": sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()),
        "random": torch.get_rng_state(),
    }


@pytest.mark.parametrize("fails", [False, True])
def test_the_network_and_the_input_are_left_as_they_were(fails: bool) -> None:
    net = nn.Sequential(nn.ReLU(inplace=True), conv(1, 3), nn.BatchNorm2d(3), nn.Dropout(), nn.Sequential(conv(3, 2)))
    net[4].eval()
    net[1].bias.requires_grad_(False)
    if fails:
        net.append(nn.Linear(1000, 1))
    x = image()
    before, given = untouched(net), x.clone()
    if fails:
        with pytest.raises(LayerError):
            check_equivariance(net, x, "D4")
    else:
        report = check_equivariance(net, x, "D4")
        assert report.verdict == "holds"
        # measured in eval mode, on copies, and that is said
        assert report.warnings == (IN_PLACE, "2, 3 were in train mode; they were measured in eval mode")
    after = untouched(net)
    assert torch.equal(x, given) and torch.equal(before.pop("random"), after.pop("random"))
    assert all(torch.equal(v, after["values"][k]) for k, v in before.pop("values").items())
    after.pop("values")
    assert before == after


def test_layers_in_place_are_measured_like_all_others() -> None:
    plain = nn.Sequential(conv(1, 3, fault=True), nn.ReLU(), conv(3, 2), nn.Hardtanh(), nn.Flatten(), nn.Linear(162, 2))
    inplace = copy.deepcopy(plain)
    inplace[1].inplace = inplace[3].inplace = True
    one, other = (check_equivariance(net, image(), "D4") for net in (plain, inplace))
    assert one.table == other.table and one.guilty == other.guilty == ("0", "5")
    assert [row.attributed for row in one.layers] == [row.attributed for row in other.layers]
    assert one["0"].attributed > 0.01


def test_noise_inside_the_network_is_given_the_same_seed_and_told() -> None:
    class Noisy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + 0.1 * torch.randn(x.shape[:2], dtype=x.dtype)[..., None, None]

    report = check_equivariance(nn.Sequential(conv(1, 2), Noisy()), image(), "D4")
    assert report.verdict == "holds" and report["1"].cumulative_max < 1e-6
    assert report["1"].verdict == "holds" and report["1"].local_max < 1e-6  # alone it draws what it drew in the network
    assert any("1 draws random numbers in eval mode" in note for note in report.warnings)

    class Dropped(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.dropout(x)  # without `self.training`, a common slip

    broken = check_equivariance(nn.Sequential(conv(1, 2), Dropped()), image(), "D4")
    assert broken.guilty == ("1",) and any("draws random numbers" in h for h in broken.hints)


KEYS = ["model", "group", "verdict", "guilty", "layers", "seed", "dtype", "versions"]
ROW = ["name", "field", "local", "cumulative", "floor", "chance", "verdict"]


@pytest.mark.parametrize("name", ["D4", "C8", "SO2", "translation", "C1"])
def test_the_report_is_json_of_the_agreed_shape(name: str) -> None:
    net = group_cnn("D4")
    report = check_equivariance(net, image(8), name, count=2, seed=5, name="small")
    values = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert [k for k in values if k in KEYS] == KEYS and values["model"] == "small" and values["seed"] == 5
    assert values["verdict"] in ("holds", "broken", "no law") and values["dtype"] == "float64"
    assert [row["name"] for row in values["layers"]] == [n for n, _ in net.named_modules() if n]
    for row in values["layers"]:
        assert set(ROW) <= set(row) and row["verdict"] in ("holds", "broken", "no law")
    assert set(values["versions"]) == {"python", "torch", "numpy"} and len(values["model_hash"]) == 16
    assert report.verdict in report.text() and all(row.name in report.text() for row in report.layers)


def test_figures_that_are_not_finite_become_null() -> None:
    report = check_equivariance(nn.Sequential(nn.Identity()), image(), "D4")
    assert report.presets["eq-t"] == float("inf") and report.to_json()["presets"]["eq-t"] is None


def test_the_same_seed_gives_the_same_report() -> None:
    def run(seed: int) -> Report:
        return check_equivariance(three(2), (2, 1, 9, 9), "translation", seed=seed)

    torch.manual_seed(0)
    one = run(3)
    torch.manual_seed(0)
    assert run(3) == one and one.samples == 2
    torch.manual_seed(0)
    assert run(4).elements != one.elements


def test_the_hash_follows_the_weights() -> None:
    net = three(None)
    one = check_equivariance(net, image(), "C4", details=False)
    assert check_equivariance(net, image(), "D4", details=False).model_hash == one.model_hash
    with torch.no_grad():
        net.conv1.bias[0] += 1
    assert check_equivariance(net, image(), "C4", details=False).model_hash != one.model_hash


def test_the_hash_needs_no_state_dict_of_theirs() -> None:
    class Odd(nn.Conv2d):
        def state_dict(self, *args: Any, **named: Any) -> Any:
            return 7

    net = Odd(1, 1, 3, padding=1)
    one = check_equivariance(net, image(), "C4", details=False).model_hash
    with torch.no_grad():
        net.weight[0, 0, 0, 0] += 1
    assert check_equivariance(net, image(), "C4", details=False).model_hash != one


def test_progress_is_reported_per_element() -> None:
    seen: list[tuple[int, int]] = []
    check_equivariance(conv(1, 1), image(), "C4", details=False, progress=lambda *step: seen.append(step))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_an_operation_without_a_forward_derivative_costs_only_the_lie_derivative() -> None:
    class Opaque(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Tensor:
            return grad * 2

    class Layer(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = Opaque.apply(x)
            return out

    report = check_equivariance(nn.Sequential(conv(1, 1), Layer()), image(), "D4")
    assert report.verdict == "holds" and report["0"].lie == {}
    assert "no Lie derivative: torch has no forward derivative of what 1 does" in report.warnings


def test_lift_and_mix_are_what_they_say() -> None:
    """The test networks themselves, without the program."""
    for name, order in (("C4", 4), ("D4", 8)):
        lift, mix = Lift(name, 1, 1), Mix(name, 1, 1)
        assert lift.filters().shape == (order, 1, 3, 3) and mix.filters().shape == (order, order, 3, 3)
        assert torch.equal(lift.filters()[1], torch.rot90(lift.filters()[0], 1, (-2, -1)))


def test_the_floor_of_a_coarse_grid_is_not_read_off_its_fixed_centre() -> None:
    """Of 7 x 7 places only the middle one is known after there and back, and a rotation does not move it."""
    turn = chain_element(parse_chain("rotate:30"))
    coarse = torch.randn(1, 4, 7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert float(measure.there_and_back(turn, coarse, grid(spacing=32.0), 40.0)) > 0.01


class Numbered(nn.Module):
    """Marks the last node and weighs the nodes by their numbers: the error is of one size wherever the mark goes."""

    def __init__(self) -> None:
        super().__init__()
        self.mark = Marked()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        weights = torch.tensor([[1.0], [2.0], [5.0]]).to(x)
        return (self.mark(x) * weights).sum(0, keepdim=True)


class Marked(nn.Module):
    out_field = NODE

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x[:-1], x[-1:] + 1])


@pytest.mark.slow
def test_of_elements_that_are_equally_bad_the_first_is_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = (torch.tensor([[0.3], [0.1], [0.7]]), torch.tensor([[0, 1, 2], [1, 2, 0]]))
    exact, chance, found = measure.distance, torch.Generator(), []

    def rounded(*arguments: Any) -> measure.Distance:
        d = exact(*arguments)
        digits = torch.randn(d.relative.shape, generator=chance, dtype=torch.float64)
        return replace(d, relative=d.relative * (1 + 1e-15 * digits))

    monkeypatch.setattr(measure, "distance", rounded)
    for seed in range(8):
        chance.manual_seed(seed)
        report = check_equivariance(Numbered(), inputs, "permutation", count=12)
        found.append(next(row.attributed for row in report.layers if row.name == "mark"))
    assert found[0] and max(found) - min(found) < 1e-9 * found[0]


def test_the_middle_of_endless_figures_is_one_of_them() -> None:
    """A constant answer has -inf decibels where it differs at all, inf where it does not: no warning, no NaN."""
    assert measure.middle([1.0, 2.0, 4.0, 5.0]) == 3.0
    assert measure.middle([-math.inf, math.inf]) == -math.inf and measure.middle([math.inf]) == math.inf
