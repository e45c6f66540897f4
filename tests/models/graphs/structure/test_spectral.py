"""Filters on graphs against torch_geometric and dense linear algebra; where the law breaks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from models.graphs.structure.spectral import (
    CARD,
    COEFFICIENTS,
    LAPLACIANS,
    MOST,
    MULTIPLIERS,
    ChebyshevLayer,
    PolynomialFilter,
    SpectralLayer,
    build_polynomial,
    build_spectral,
    bumps,
    spectrum,
)
from tests.models.graphs.message_passing.test_gcn import TOLERANCE, error, graph
from tests.processors.other_processor import pretend

CARDS = {card.name: card for card in CARD}


def undirected(edge_index: Tensor) -> Tensor:
    return torch.cat([edge_index, edge_index.flip(0)], 1)


def karate() -> Tensor:
    import networkx as nx

    return undirected(torch.tensor(list(nx.karate_club_graph().edges())).t())


def path(nodes: int) -> Tensor:
    return undirected(torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)]))


def doubles(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("terms", "lambda_max"), [(1, 2.0), (2, 2.0), (5, 2.0), (4, 1.5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_chebyshev_layers_give_the_numbers_of_chebconv(
    terms: int, lambda_max: float, dtype: torch.dtype, weighted: bool
) -> None:
    from torch_geometric.nn import ChebConv

    edge_index, x = graph(), torch.randn(40, 6, dtype=dtype)
    weight = (torch.rand(edge_index.shape[1], dtype=dtype),) if weighted else ()
    ours, theirs = ChebyshevLayer(6, 5, terms, lambda_max).to(dtype), ChebConv(6, 5, terms).to(dtype)
    theirs.load_state_dict({key.replace("linears", "lins"): value for key, value in ours.state_dict().items()})
    wanted = theirs(x, edge_index, *weight, lambda_max=torch.tensor(lambda_max, dtype=dtype))
    found = ours(x, edge_index, *weight)
    assert (found - wanted).abs().max() <= TOLERANCE[dtype] * max(1.0, float(wanted.detach().abs().max()))


def test_a_chebyshev_filter_of_degree_n_minus_1_is_any_spectral_filter() -> None:
    edge_index, nodes = path(9), 9
    values, u = spectrum(edge_index, nodes)
    assert values.diff().min() > 1e-3
    g = doubles(nodes)
    weights = np.linalg.solve(np.polynomial.chebyshev.chebvander(values.numpy() - 1, nodes - 1), g.numpy())
    layer = ChebyshevLayer(1, 1, nodes).double()
    with torch.no_grad():
        for linear, w in zip(layer.linears, weights, strict=True):
            linear.weight.fill_(w)
    x = doubles(nodes, 1)
    torch.testing.assert_close(layer.response(values)[:, 0, 0], g, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(layer(x, edge_index), u @ (g[:, None] * (u.T @ x)), rtol=1e-9, atol=1e-9)


def test_layers_filter_by_their_response() -> None:
    edge_index = undirected(graph())
    values, u = spectrum(edge_index, 40)
    x = doubles(40, 6)
    cheb = ChebyshevLayer(6, 3, 4).double()
    expected = u @ torch.einsum("noi,ni->no", cheb.response(values), u.T @ x)
    torch.testing.assert_close(cheb(x, edge_index), expected, rtol=1e-9, atol=1e-9)
    poly = PolynomialFilter(3).double()
    torch.testing.assert_close(
        poly(x, edge_index), u @ (poly.response(values)[:, None] * (u.T @ x)), rtol=1e-9, atol=1e-9
    )
    spectral = SpectralLayer(6, 3).double()
    expected = u @ (spectral.response(values) * (u.T @ x @ spectral.linear.weight.T))
    torch.testing.assert_close(spectral(x, edge_index), expected, rtol=1e-9, atol=1e-9)


def test_the_spectrum_is_that_of_networkx() -> None:
    import networkx as nx

    values, u = spectrum(karate(), 34)
    laplacian = nx.normalized_laplacian_matrix(nx.karate_club_graph(), weight=None).toarray()
    np.testing.assert_allclose(u.numpy() @ np.diag(values) @ u.numpy().T, laplacian, atol=1e-12)
    assert spectrum(k := karate(), 34)[1] is spectrum(k, 34)[1]


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_polynomials_are_powers_of_the_dense_laplacian(laplacian: str) -> None:
    import networkx as nx

    dense = nx.laplacian_matrix if laplacian == "laplacian" else nx.normalized_laplacian_matrix
    matrix = torch.from_numpy(dense(nx.karate_club_graph(), weight=None).toarray().astype(float))
    layer, x = PolynomialFilter(3, laplacian).double(), doubles(34, 2)
    nn.init.normal_(layer.weight)
    expected = sum(w * torch.linalg.matrix_power(matrix, k) @ x for k, w in enumerate(layer.weight))
    torch.testing.assert_close(layer(x, karate()), expected, rtol=1e-10, atol=1e-10)


def test_coefficients_that_are_named() -> None:
    x = doubles(34, 2)
    identity = PolynomialFilter(3, coefficients=COEFFICIENTS[1]).double()
    assert torch.equal(identity(x, karate()), x)
    step = PolynomialFilter(3, coefficients=COEFFICIENTS[2]).double()
    values, u = spectrum(karate(), 34)
    torch.testing.assert_close(step(x, karate()), u @ (values[:, None] * (u.T @ x)), rtol=1e-9, atol=1e-9)
    smooth = PolynomialFilter(4).double()
    torch.testing.assert_close(smooth.response(values), (1 - values / 2) ** 4, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_degree_d_reaches_d_edges_far(degree: int) -> None:
    x = torch.randn(9, 6, requires_grad=True)
    model = build_polynomial(degree)
    (moved,) = torch.autograd.grad(model.filter1(x, path(9))[0].sum(), x)
    assert (moved.abs().sum(1) > 0).sum() == degree + 1


def test_the_bumps_are_cubic_splines_that_add_up_to_one() -> None:
    from scipy.interpolate import BSpline

    at = torch.linspace(0, 2, 101, dtype=torch.float64)
    ours = bumps(at, 9)
    torch.testing.assert_close(ours.sum(1), torch.ones(101, dtype=torch.float64))
    knots = np.arange(-3, 11) / 3  # six intervals on [0, 2] and three beyond on either side
    theirs = BSpline.design_matrix(at.numpy()[:-1], knots[:13], 3).toarray()
    np.testing.assert_allclose(ours.numpy()[:-1], theirs, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CARDS)
def test_the_law_holds(name: str, weighted: bool) -> None:
    edge_index = graph()
    signals = {"x": doubles(40, 6), "edge_index": edge_index}
    if weighted:
        signals["edge_weight"] = torch.rand(edge_index.shape[1], dtype=torch.float64)
    assert error(CARDS[name].build().double(), signals) < 1e-9


def test_repeated_eigenvalues_break_the_law_of_free_numbers() -> None:
    values, _ = spectrum(karate(), 34)
    assert (values.diff() < 1e-9).sum() > 5
    tied, free = build_spectral(0).double(), build_spectral(1).double()
    signals = {"x": doubles(34, 6), "edge_index": karate()}
    assert error(tied, signals) < 1e-9
    assert error(free, signals) > 1e-2
    assert error(free, {"x": doubles(9, 6), "edge_index": path(9)}) < 1e-9  # all nine eigenvalues differ


def test_the_spectrum_of_a_large_graph_is_refused() -> None:
    with pytest.raises(ValueError, match=f"at most {MOST} nodes"):
        build_spectral()(torch.zeros(MOST + 1, 6), path(MOST + 1))


@pytest.mark.parametrize("name", CARDS)
def test_no_nodes_and_no_edges(name: str) -> None:
    model = CARDS[name].build()
    none = torch.empty(2, 0, dtype=torch.int64)
    assert model(torch.empty(0, 6), none).shape == (0, 4)
    assert model(torch.randn(3, 6), none).shape == (3, 4)


@pytest.mark.parametrize("name", CARDS)
def test_what_inference_mode_made_is_good_for_gradients(name: str) -> None:
    model, edge_index = CARDS[name].build(), karate()
    with torch.inference_mode():
        model(torch.randn(34, 6), edge_index)
    model(torch.randn(34, 6), edge_index).sum().backward()
    used = [p.grad for key, p in model.named_parameters() if p.grad is not None]
    assert len(used) == len(list(model.parameters()))


@pytest.mark.parametrize("multipliers", MULTIPLIERS)
def test_filters_are_the_same_on_every_processor(multipliers: str) -> None:
    layer, x = SpectralLayer(6, 5, multipliers).double(), doubles(34, 6)
    found = []
    for seed in range(4):
        with pytest.MonkeyPatch.context() as patch, torch.no_grad():
            pretend(patch, seed)
            found.append(layer(x, karate()))
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=0, atol=1e-9)
