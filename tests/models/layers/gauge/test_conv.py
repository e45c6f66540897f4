"""The gauge-equivariant convolution against its equation, its constraint solved by numbers, and turned frames."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from explorer.spaces.mesh.network.fit import fit_mesh
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.mesh.samples.surfaces import SAMPLES
from models.layers.gauge.conv import GaugeConv, ring_weights
from models.layers.gauge.kernel import basis, kernel_at, places, rotation, self_basis, sizes
from models.layers.gauge.nonlinear import NormGate, RegularReLU
from models.layers.graph.propagation import pattern

ORDERS = [((0, 1, 2), (0, 1, 2)), ((1,), (0, 2)), ((0,), (0, 1)), ((0, 1), (3,)), ((2,), (2, 1, 0)), ((3, 1), (2, 2))]
pairs = pytest.mark.parametrize(("orders_in", "orders_out"), ORDERS)


def connection(name: str = "mesh-sphere-small") -> tuple[Tensor, ...]:
    sample = next(spec for spec in SAMPLES if spec.name == name).make()
    wanted = MeshInput(channels=1, features="constant")
    signals = fit_mesh(sample, wanted).signals
    names = ("edge_index", "radius", "angle", "transport")
    return tuple(torch.from_numpy(signals[n].values.copy()) for n in names)


def turned(given: tuple[Tensor, ...], phi: Tensor) -> tuple[Tensor, ...]:
    """Return the same connection seen in frames turned by phi."""
    edge_index, radius, angle, transport = given
    source, target = edge_index
    return edge_index, radius, angle - phi[target], transport + phi[source] - phi[target]


def feature(x: Tensor, orders: tuple[int, ...], phi: Tensor) -> Tensor:
    """Return rho(-phi) x, (V, C * size)."""
    blocks = x.reshape(len(x), -1, sum(sizes(orders)))
    return torch.einsum("vab,vcb->vca", rotation(orders, -phi), blocks).reshape(x.shape)


def by_edges(conv: GaugeConv, x: Tensor, given: tuple[Tensor, ...]) -> Tensor:
    """The layer as its equation has it: one message for each edge, turned to the edge's frame and back."""
    edge_index, radius, angle, transport = given
    source, target = edge_index
    blocks = x.reshape(len(x), conv.in_channels, -1)
    there = torch.einsum("eab,ecb->eca", rotation(conv.orders_in, transport - angle), blocks[source])
    shares = ring_weights(pattern(edge_index, len(x)), edge_index, radius, conv.rings)
    weighted = sum(torch.einsum("e,odab,edb->eoa", s, conv.weight[k], there) for k, s in enumerate(shares))
    messages = torch.einsum("eab,eob->eoa", rotation(conv.orders_out, angle), torch.as_tensor(weighted))
    found = torch.einsum("boi,bmn,vin->vom", conv.self_weight, conv.self_kernels.to(x), blocks)
    found = found.index_add(0, target, messages)
    if 0 in conv.orders_out:
        found[:, :, places(conv.orders_out)[conv.orders_out.index(0)]] += conv.bias[None, :, None]
    return found.flatten(1)


@pairs
@pytest.mark.parametrize("rings", [1, 2, 3])
def test_the_layer_is_its_equation(orders_in: tuple[int, ...], orders_out: tuple[int, ...], rings: int) -> None:
    given = connection()
    conv = GaugeConv(3, 4, orders_in, orders_out, rings).double()
    torch.nn.init.normal_(conv.bias)
    x = torch.randn(len(given[0].unique()), 3 * sum(sizes(orders_in)), dtype=torch.float64)
    torch.testing.assert_close(conv(x, *given), by_edges(conv, x, given), rtol=1e-11, atol=1e-11)


@pairs
def test_gradients_are_those_of_the_equation(orders_in: tuple[int, ...], orders_out: tuple[int, ...]) -> None:
    given = connection()
    conv = GaugeConv(2, 3, orders_in, orders_out, 2).double()
    x = torch.randn(len(given[0].unique()), 2 * sum(sizes(orders_in)), dtype=torch.float64, requires_grad=True)
    probe = torch.randn(len(x), 3 * sum(sizes(orders_out)), dtype=torch.float64)
    ours = torch.autograd.grad((conv(x, *given) * probe).sum(), (x, conv.weight, conv.self_weight), allow_unused=True)
    theirs = torch.autograd.grad(
        (by_edges(conv, x, given) * probe).sum(), (x, conv.weight, conv.self_weight), allow_unused=True
    )
    for one, other in zip(ours, theirs, strict=True):
        if one is not None or other is not None:
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@pairs
@pytest.mark.parametrize("rings", [1, 2])
def test_any_gauge_gives_the_same_answer(orders_in: tuple[int, ...], orders_out: tuple[int, ...], rings: int) -> None:
    given = connection()
    conv = GaugeConv(3, 4, orders_in, orders_out, rings).double()
    x = torch.randn(len(given[0].unique()), 3 * sum(sizes(orders_in)), dtype=torch.float64)
    phi = torch.rand(len(x), dtype=torch.float64) * 7
    there = conv(feature(x, orders_in, phi), *turned(given, phi))
    torch.testing.assert_close(there, feature(conv(x, *given), orders_out, phi), rtol=1e-9, atol=1e-9)


def test_without_transport_the_law_is_broken() -> None:
    """The helper can say no: a layer that forgets to carry its neighbours' vectors depends on the frames."""
    given = connection()
    conv = GaugeConv(3, 4, (0, 1), (0, 1)).double()
    x = torch.randn(len(given[0].unique()), 9, dtype=torch.float64)
    phi = torch.rand(len(x), dtype=torch.float64) * 7

    def forgetful(x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor, _: Tensor) -> Tensor:
        answer: Tensor = conv(x, edge_index, radius, angle, torch.zeros_like(angle))
        return answer

    with torch.no_grad():
        there = forgetful(feature(x, (0, 1), phi), *turned(given, phi))
        expected = feature(forgetful(x, *given), (0, 1), phi)
    assert float((there - expected).norm() / expected.norm()) > 0.1


@pairs
def test_the_basis_spans_every_solution_of_the_constraint(
    orders_in: tuple[int, ...], orders_out: tuple[int, ...]
) -> None:
    """K on a grid of angles, unknown: the constraint under one step and under a fine turn, solved by least squares."""
    turns = 16
    size_in, size_out = sum(sizes(orders_in)), sum(sizes(orders_out))
    step = torch.tensor(2 * math.pi / turns, dtype=torch.float64)
    one = torch.kron(rotation(orders_out, -step), rotation(orders_in, -step).contiguous())
    # rho_out(-step) K(theta_k) rho_in(step) = K(theta_{k-1}), row-major vectors: kron(rho_out, rho_in^T)
    n = size_out * size_in
    system = torch.zeros(turns * n, turns * n, dtype=torch.float64)
    for k in range(turns):
        rows = slice(k * n, (k + 1) * n)
        system[rows, rows] += one
        before = (k - 1) % turns
        system[rows, before * n : (before + 1) * n] -= torch.eye(n, dtype=torch.float64)
    singular = torch.linalg.svdvals(system)
    kernels, _ = basis(orders_in, orders_out)
    assert int((singular < 1e-9).sum()) == len(kernels)
    theta = torch.arange(turns, dtype=torch.float64) * step
    sampled = kernel_at(theta[:, None], kernels[None], orders_in, orders_out)
    flat = sampled.transpose(0, 1).reshape(len(kernels), -1)
    assert float((system @ flat.t()).abs().max()) < 1e-9
    assert int(torch.linalg.matrix_rank(flat)) == len(kernels)


@pairs
def test_what_acts_at_the_vertex_commutes_with_turns(orders_in: tuple[int, ...], orders_out: tuple[int, ...]) -> None:
    found = self_basis(orders_in, orders_out)
    angle = torch.tensor(0.77, dtype=torch.float64)
    into, out = rotation(orders_in, angle), rotation(orders_out, angle)
    for kernel in found:
        torch.testing.assert_close(out @ kernel, kernel @ into)
    n = len(into) * len(out)
    commute = torch.kron(out, torch.eye(len(into), dtype=torch.float64)) - torch.kron(
        torch.eye(len(out), dtype=torch.float64), into.t().contiguous()
    )
    assert n - int(torch.linalg.matrix_rank(commute, tol=1e-9)) == len(found)


@pytest.mark.parametrize("orders", [(0, 1, 2), (0, 1), (0, 2, 3)])
def test_norms_commute_with_every_turn_and_samples_with_theirs(orders: tuple[int, ...]) -> None:
    x = torch.randn(50, 4 * sum(sizes(orders)), dtype=torch.float64)
    phi = torch.rand(50, dtype=torch.float64) * 7
    gate = NormGate(4, orders).double()
    torch.testing.assert_close(gate(feature(x, orders, phi)), feature(gate(x), orders, phi), rtol=1e-12, atol=1e-12)
    relu = RegularReLU(orders, 9).double()
    whole = (phi / (2 * math.pi) * 9).floor() * (2 * math.pi / 9)
    torch.testing.assert_close(relu(feature(x, orders, whole)), feature(relu(x), orders, whole), rtol=1e-9, atol=1e-9)


def test_more_samples_leave_less() -> None:
    """The error of ReLU on N samples under any turn falls as N grows: it is of the frequencies beyond N / 2."""
    orders, generator = (0, 1, 2), torch.Generator().manual_seed(3)
    x = torch.randn(400, 5, generator=generator, dtype=torch.float64)
    phi = torch.rand(400, generator=generator, dtype=torch.float64) * 7
    errors = []
    for samples in (7, 15, 31):
        relu = RegularReLU(orders, samples).double()
        expected = feature(relu(x), orders, phi)
        errors.append(float((relu(feature(x, orders, phi)) - expected).norm() / expected.norm()))
    assert errors[0] > 1e-2 and all(b < a / 2 for a, b in pairwise(errors))
