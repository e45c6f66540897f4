"""Isotropic filters against dense matrices: polynomials and heat by the spectrum, kernels of distance by a loop."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.nn import ChebConv

from explorer.data.finding import find_sample
from explorer.spaces.mesh.network.fit import fit_mesh
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.gauge.conv import GaugeConv
from models.meshes.spectral import CARD, ChebyshevFilter, HeatFilter, IsotropicCNN, heat_coefficients, laplacian

CARDS = {card.name: card for card in CARD}
MESHES = ["mesh-sphere-small", "rolled-sheet"]
Array = NDArray[np.float64]
mesh = pytest.mark.parametrize("name", MESHES)


@cache
def surface(name: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return edge_index, cotangent weights and masses."""
    signals = fit_mesh(
        find_sample(name), MeshInput(channels=1, features="constant", signals=("edge_index", "cotan", "mass"))
    ).signals
    edge_index, cotan, mass = (torch.from_numpy(signals[n].values.copy()) for n in ("edge_index", "cotan", "mass"))
    return edge_index, cotan, mass


@cache
def dense(name: str) -> Array:
    """Return M^-1/2 (D - W) M^-1/2 as a matrix, entry by entry."""
    edge_index, cotan, mass = (t.numpy() for t in surface(name))
    found = np.zeros((len(mass), len(mass)))
    for (j, i), w in zip(edge_index.T, cotan, strict=True):
        found[i, j] -= w / np.sqrt(mass[i] * mass[j])
        found[i, i] += w / mass[i]
    return found


@cache
def modes(name: str) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(dense(name))
    return values, vectors


def signal(name: str, channels: int = 3) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(len(surface(name)[2]), channels, generator=generator, dtype=torch.float64)


@mesh
def test_the_operator_is_the_laplacian_and_its_bound_a_bound(name: str) -> None:
    edge_index, cotan, mass = surface(name)
    operator, bound = laplacian(edge_index, cotan, mass)
    with torch.no_grad():
        found = operator(torch.eye(len(mass), dtype=torch.float64)).numpy()
    np.testing.assert_allclose(found, dense(name), atol=1e-10 * np.abs(dense(name)).max())
    values, vectors = modes(name)
    assert values[0] > -1e-9 * values[-1] and values[-1] <= bound < 2 * values[-1]
    # what is constant on the surface is still: sqrt(m) here, since values are scaled by it
    root = np.sqrt(mass.numpy())
    assert np.abs(dense(name) @ root).max() < 1e-9 * bound
    assert abs(vectors[:, 0] @ root) / np.linalg.norm(root) == pytest.approx(1.0, abs=1e-9)


@mesh
@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_a_chebyshev_filter_is_the_polynomial_of_the_matrix_and_of_its_spectrum(name: str, order: int) -> None:
    edge_index, cotan, mass = surface(name)
    torch.manual_seed(order)
    layer = ChebyshevFilter(3, 4, order).double()
    torch.nn.init.normal_(layer.bias)
    x = signal(name)
    with torch.no_grad():
        ours = layer(x, edge_index, cotan, mass).numpy()
    _, bound = laplacian(edge_index, cotan, mass)
    scaled = 2 / bound * dense(name) - np.eye(len(mass))
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    terms = [np.eye(len(mass)), scaled]
    while len(terms) < order:
        terms.append(2 * scaled @ terms[-1] - terms[-2])
    by_matrix = bias + sum(t @ x.numpy() @ w for t, w in zip(terms, weight, strict=False))
    np.testing.assert_allclose(ours, by_matrix, atol=1e-9)
    values, vectors = modes(name)
    by_spectrum = bias.copy()
    for k, w in enumerate(weight):
        g = np.polynomial.chebyshev.Chebyshev.basis(k)(2 * values / bound - 1)
        by_spectrum = by_spectrum + vectors @ (g[:, None] * (vectors.T @ x.numpy())) @ w
    np.testing.assert_allclose(ours, by_spectrum, atol=1e-9)


def test_on_a_regular_mesh_it_is_the_chebconv_of_torch_geometric() -> None:
    """Both normalise alike if all vertices have one mass and one degree: a flat torus of equal triangles."""
    side = 8
    i, j = np.divmod(np.arange(side * side), side)
    steps = [(1, 0), (0, 1), (1, 1), (-1, 0), (0, -1), (-1, -1)]
    target = np.concatenate([np.arange(side * side)] * 6)
    source = np.concatenate([(i + a) % side * side + (j + b) % side for a, b in steps])
    edge_index = torch.from_numpy(np.stack([source, target]))
    weight = torch.full((6 * side * side,), 1 / (2 * np.sqrt(3)) * 2, dtype=torch.float64)  # cot 60° twice, by two
    mass = torch.full((side * side,), float(weight[0]) * 6, dtype=torch.float64)  # so that the diagonal is 1
    torch.manual_seed(3)
    ours, theirs = ChebyshevFilter(3, 4, 5).double(), ChebConv(3, 4, 5, normalization="sym").double()
    with torch.no_grad():
        for k, lin in enumerate(theirs.lins):
            lin.weight.copy_(ours.weight[k].t())
        x = torch.randn(side * side, 3, dtype=torch.float64)
        _, bound = laplacian(edge_index, weight, mass)
        other = theirs(x, edge_index, weight, lambda_max=torch.tensor(bound, dtype=torch.float64))
        torch.testing.assert_close(ours(x, edge_index, weight, mass), other, rtol=1e-10, atol=1e-10)


@mesh
@pytest.mark.slow
def test_heat_is_the_exponential_of_the_matrix(name: str) -> None:
    edge_index, cotan, mass = surface(name)
    times = (0.25, 1.0, 4.0, 16.0)
    x = signal(name)
    with torch.no_grad():
        ours = HeatFilter(times)(x, edge_index, cotan, mass).numpy()
    values, vectors = modes(name)
    for k, t in enumerate(times):
        unit = t * float(mass.mean())
        here = ours[:, 3 * k : 3 * k + 3]
        np.testing.assert_allclose(
            here, vectors @ (np.exp(-unit * values)[:, None] * (vectors.T @ x.numpy())), atol=1e-9
        )
    np.testing.assert_allclose(here, scipy.linalg.expm(-unit * dense(name)) @ x.numpy(), atol=1e-9)


@mesh
@pytest.mark.parametrize("longest", [1e-3, 0.1, 1.0, 30.0, 300.0, 3000.0, 30_000.0])
def test_the_number_of_terms_suffices_for_every_time(name: str, longest: float) -> None:
    edge_index, cotan, mass = surface(name)
    x = signal(name, 1)
    with torch.no_grad():
        ours = HeatFilter((longest,))(x, edge_index, cotan, mass).numpy()
    values, vectors = modes(name)
    decay = np.exp(-longest * float(mass.mean()) * values)
    assert np.abs(ours - vectors @ (decay[:, None] * (vectors.T @ x.numpy()))).max() < 1e-9


def test_terms_that_are_left_out_are_below_rounding() -> None:
    """The coefficients are those of exp(-s (1 + y)), for s up to a million, and there are no more than it takes."""
    y = np.cos(np.linspace(0, np.pi, 50))
    for s in np.geomspace(1e-3, 1e6, 40):
        found = heat_coefficients(float(s), 1e-15)
        rest = 2 * scipy.special.ive(np.arange(len(found), len(found) + 1000), s)
        assert rest.sum() < 1e-15 and len(found) < 9 * np.sqrt(s) + 20
        np.testing.assert_allclose(np.polynomial.chebyshev.chebval(y, found), np.exp(-s * (1 + y)), atol=1e-12)
        assert len(heat_coefficients(float(s), 1e-7)) < len(found)


@mesh
def test_heat_flows_and_is_kept(name: str) -> None:
    """sqrt(m) . exp(-t L) f stays as it is; differences shrink; from one vertex nothing becomes negative."""
    edge_index, cotan, mass = surface(name)
    root = mass.sqrt()
    peak = torch.zeros(len(mass), 1, dtype=torch.float64)
    peak[5] = 1.0
    with torch.no_grad():
        spread = HeatFilter((1.0, 4.0, 16.0))(peak, edge_index, cotan, mass)
    np.testing.assert_allclose(root @ spread, float(root[5]), rtol=1e-9)
    assert spread.min() > -1e-9
    assert all(b < 0.6 * a for a, b in pairwise([1.0, *spread.amax(0).tolist()]))


def test_the_isotropic_layer_is_a_loop_over_neighbours() -> None:
    """The gauge-equivariant layer with scalars alone: W0 f + mean of W(r) f_j, and no angle enters."""
    wanted = CARDS["mesh-isotropic"].input
    assert isinstance(wanted, MeshInput)
    signals = fit_mesh(find_sample("bumpy-sphere"), wanted).signals
    x, edge_index, radius, angle, transport = (torch.from_numpy(signals[n].values.copy()) for n in wanted.signals)
    torch.manual_seed(0)
    network = IsotropicCNN().double()
    layer = network.conv1
    assert isinstance(layer, GaugeConv) and (layer.orders_in, layer.orders_out, layer.rings) == ((0,), (0,), 2)
    with torch.no_grad():
        ours = layer(x, edge_index, radius, angle, transport).numpy()
        other = layer(x, edge_index, radius, torch.randn_like(angle), torch.randn_like(transport)).numpy()
    np.testing.assert_allclose(other, ours, atol=1e-12)
    near, far = layer.weight.detach().numpy()[..., 0, 0]
    expected = x.numpy() @ layer.self_weight.detach().numpy()[0].T + layer.bias.detach().numpy()
    degree = np.bincount(edge_index[1].numpy())
    share = (radius / radius.max()).numpy()
    for (j, i), s in zip(edge_index.T.numpy(), share, strict=True):
        expected[i] += ((1 - s) * near + s * far) @ x[j].numpy() / degree[i]
    np.testing.assert_allclose(ours, expected, atol=1e-11)
