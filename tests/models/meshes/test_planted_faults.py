"""Each faulty mesh network is broken in the one layer that is named, the control in none: by formulas of the tests."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from explorer.declare.types.fields import FieldType
from explorer.equivariance.check import check_equivariance
from explorer.spaces.mesh.fields import Tangent
from models.meshes.planted_faults import CARD, FAULTS
from tests.models.layers.gauge.test_conv import connection, feature, turned

CARDS = {card.name: card for card in CARD}


def captured(model: nn.Module, x: Tensor, given: tuple[Tensor, ...]) -> dict[str, tuple[Tensor, Tensor]]:
    """Return {layer: (features that went in, output)}."""
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    handles = [
        layer.register_forward_hook(lambda _, fed, out, name=name: seen.update({name: (fed[0], out)}))
        for name, layer in model.named_children()
    ]
    model(x, *given)
    for handle in handles:
        handle.remove()
    return seen


def orders_of(layer: nn.Module) -> tuple[int, ...]:
    field = layer.out_field
    assert isinstance(field, FieldType) and isinstance(field.rep, Tangent)
    return field.rep.orders


@torch.no_grad()
def errors(model: nn.Module) -> tuple[dict[str, float], dict[str, float]]:
    """Return each layer's local and cumulative error under turned frames."""
    given = connection()
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(642, 6, generator=generator, dtype=torch.float64)
    phi = torch.rand(642, generator=generator, dtype=torch.float64) * 7
    there = turned(given, phi)
    plain, moved = captured(model, x, given), captured(model, x, there)
    local, cumulative = {}, {}
    into: tuple[int, ...] = (0,)
    for name, layer in model.named_children():
        fed, out = plain[name]
        out_orders = orders_of(layer)
        expected = feature(out, out_orders, phi)
        fed = feature(fed, into, phi)
        again = layer(fed, *there) if name.startswith("conv") else layer(fed)
        local[name] = float((again - expected).norm() / expected.norm())
        cumulative[name] = float((moved[name][1] - expected).norm() / expected.norm())
        into = out_orders
    return local, cumulative


def double(name: str) -> nn.Module:
    return CARDS[name].build().double().eval()


def test_the_control_is_the_same_in_every_gauge() -> None:
    local, cumulative = errors(double("symmetric-mesh-net"))
    assert max(*local.values(), *cumulative.values()) < 1e-12


@pytest.mark.parametrize("name", FAULTS)
def test_exactly_one_layer_is_broken(name: str) -> None:
    local, cumulative = errors(double(name))
    assert [layer for layer, size in local.items() if size > 1e-12] == [FAULTS[name]]
    assert local[FAULTS[name]] > 0.01
    layers = list(local)
    guilty = layers.index(FAULTS[name])
    assert all(cumulative[layer] < 1e-12 for layer in layers[:guilty])
    assert all(cumulative[layer] > 1e-3 for layer in layers[guilty:])


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.slow
def test_the_check_names_it(name: str) -> None:
    from explorer.data.finding import find_sample, fitted
    from explorer.network.input.inputs import inputs_from

    card = CARDS[name]
    inputs = inputs_from(fitted(find_sample("mesh-torus"), card.input), card.input, torch.device("cpu"), torch.float64)
    report = check_equivariance(double(name), [inputs], "gauge", dtype=torch.float64)
    assert (report.verdict, report.guilty) == ("broken", (FAULTS[name],))
    assert check_equivariance(double(name), [inputs], "permutation", dtype=torch.float64).holds


def test_a_whole_turn_of_all_frames_at_once_hides_the_missing_transport() -> None:
    """The angle of a vector that is not carried is off by phi_j - phi_i: nothing, where all frames turn alike."""
    given, phi = connection(), torch.full((642,), 0.7, dtype=torch.float64)
    x = torch.randn(642, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    with torch.no_grad():
        transport, bias = (
            float((double(n)(x, *turned(given, phi)) - double(n)(x, *given)).abs().max()) for n in FAULTS
        )
    assert transport < 1e-12 and bias > 1e-3


@pytest.mark.parametrize("name", FAULTS)
def test_the_card_names_the_fault_and_claims_nothing(name: str) -> None:
    assert CARDS[name].groups == ()
    assert CARDS[name].title.startswith("Planted fault")
    assert CARDS[name].notes == (f"planted fault: layer {FAULTS[name]}",)


def test_all_three_have_the_same_weights() -> None:
    reference = CARDS["symmetric-mesh-net"].build().state_dict()
    for name in FAULTS:
        state = CARDS[name].build().state_dict()
        assert list(state) == list(reference)
        assert all(torch.equal(state[key], reference[key]) for key in state)
