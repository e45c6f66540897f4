"""Filters on graphs: polynomials of the Laplacian, Chebyshev polynomials, and the spectrum itself.

With L = I - D^-1/2 A D^-1/2 = U diag(lambda) U^T, a filter g multiplies the Fourier coefficients of a signal:

    y = g(L) x = U g(lambda) U^T x      Bruna et al., "Spectral Networks and Locally Connected Networks on Graphs", 2014
    p_w(L) = sum_k w_k L^k              no eigenvectors needed; degree d reaches d edges far
    sum_k T_k(2 L / lambda_max - I) x W_k,   T_k = 2 z T_{k-1} - T_{k-2}     Defferrard, Bresson, Vandergheynst,
    "Convolutional Neural Networks on Graphs with Fast Localized Spectral Filtering", 2016, eq. (4) and (5)

All commute with permutations, since P L^k P^T = (P L P^T)^k. A free number for every eigenvector does not: where an
eigenvalue is repeated, its eigenvectors are any basis of a plane. A rule that goes by the numbers of the nodes chooses
one (`explorer.work.eigenspaces`), the same on every processor, and another order of the nodes has another basis.
"""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from explorer.work.eigenspaces import by_rule
from models.layers.graph.propagation import Kept, operator, pattern
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.graphs.nodes import RECIPES, measured, train

CHANNELS, HIDDEN, CLASSES = 6, 16, 4
MOST = 512  # nodes, for a dense eigendecomposition
BUMPS = 9  # numbers that describe a filter as a function of the eigenvalue
LAPLACIANS = ("normalised laplacian", "laplacian")
COEFFICIENTS = ("learned", "identity: w_0 = 1", "one step: w_1 = 1")
MULTIPLIERS = ("a function of the eigenvalue", "a free number for each eigenvector")
SIGNALS = ("x", "edge_index", "edge_weight")
_spectra = Kept(4)


class PolynomialFilter(nn.Module):
    """p_w(L) x = sum_k w_k L^k x, the same w for all channels; (N, C), (2, E), weights (E,) -> (N, C).

    It starts as (I - L / 2)^degree, which keeps what is smooth.
    """

    out_field = NODE
    weight: Tensor

    def __init__(self, degree: int, laplacian: str = LAPLACIANS[0], coefficients: str = COEFFICIENTS[0]) -> None:
        super().__init__()
        self.laplacian = laplacian
        if coefficients == COEFFICIENTS[0]:
            start = torch.tensor([math.comb(degree, k) * (-0.5) ** k for k in range(degree + 1)])
            self.weight = nn.Parameter(start)
        else:  # no part of the weights: what is chosen by name is not to be read from a file
            self.weight = nn.Buffer(torch.eye(degree + 1)[COEFFICIENTS.index(coefficients) - 1], persistent=False)
        self.powers = nn.ModuleList(Tap(NODE) for _ in range(degree + 1))  # L^k x

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        laplacian = operator(edge_index, len(x), self.laplacian, edge_weight, x.dtype)
        power = self.powers[0](x)
        result = self.weight[0] * power
        for w, shown in zip(self.weight[1:], self.powers[1:]):
            power = shown(laplacian(power))
            result = result + w * power
        return result

    def response(self, eigenvalues: Tensor) -> Tensor:
        """Return p_w(lambda), (k,) -> (k,)."""
        powers = eigenvalues[:, None] ** torch.arange(len(self.weight), device=eigenvalues.device)
        return powers.to(self.weight.dtype) @ self.weight


class ChebyshevLayer(nn.Module):
    """sum_{k < terms} T_k(2 L / lambda_max - I) x W_k + b; (N, in), (2, E), weights (E,) -> (N, out).

    Parameters and numbers are those of torch_geometric's ChebConv with K = `terms`.
    """

    out_field = NODE

    def __init__(self, inputs: int, outputs: int, terms: int, lambda_max: float = 2.0) -> None:
        super().__init__()
        self.lambda_max = lambda_max
        self.terms = nn.ModuleList(Tap(NODE) for _ in range(terms))  # T_k x
        self.linears = nn.ModuleList(nn.Linear(inputs, outputs, bias=False) for _ in range(terms))
        self.bias = nn.Parameter(torch.zeros(outputs))
        for linear in self.linears:
            assert isinstance(linear, nn.Linear)
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        laplacian = operator(edge_index, len(x), LAPLACIANS[0], edge_weight, x.dtype)
        previous, term = x, x
        result = self.bias + self.linears[0](self.terms[0](x))
        for k in range(1, len(self.terms)):
            scaled = 2 / self.lambda_max * laplacian(term) - term  # (2 L / lambda_max - I) T_{k-1} x
            previous, term = term, self.terms[k](scaled if k == 1 else 2 * scaled - previous)
            result = result + self.linears[k](term)
        return result

    def response(self, eigenvalues: Tensor) -> Tensor:
        """Return sum_k T_k(2 lambda / lambda_max - 1) W_k, (k,) -> (k, out, in)."""
        z = 2 / self.lambda_max * eigenvalues - 1
        terms = [torch.ones_like(z), z]
        while len(terms) < len(self.linears):
            terms.append(2 * z * terms[-1] - terms[-2])
        weights = torch.stack([linear.weight for linear in self.linears])  # type: ignore[misc]
        return torch.einsum("kn,koi->noi", torch.stack(terms[: len(weights)]), weights)


def spectrum(edge_index: Tensor, nodes: int, edge_weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues (N,), ascending, and eigenvectors (N, N) of L in float64; kept with the graph.

    Signs and the bases of eigenspaces are by the rule of `explorer.work.eigenspaces`.
    Both directions of an edge count as one: A is replaced by (A + A^T) / 2. Self-loops are ignored.

    Raises:
        ValueError: more than MOST nodes.
    """
    if nodes > MOST:
        raise ValueError(f"the whole spectrum is computed for at most {MOST} nodes, and there are {nodes}")

    def make() -> tuple[Tensor, Tensor]:
        places = pattern(edge_index, nodes)
        w = torch.ones(places.edges, dtype=torch.float64, device=edge_index.device)
        if edge_weight is not None:
            w = edge_weight.detach().reshape(-1).double()
        a = w.new_zeros(nodes, nodes).index_put((places.target, places.source), w, accumulate=True)
        a = ((a + a.T) / 2).fill_diagonal_(0.0)
        degree = a.sum(1)
        root = torch.where(degree > 0, degree, torch.inf).rsqrt()
        values, vectors = torch.linalg.eigh(torch.eye(nodes, dtype=a.dtype, device=a.device) - root[:, None] * a * root)
        chosen = by_rule(values.cpu().numpy(), vectors.cpu().numpy(), 2.0)
        return values, torch.from_numpy(chosen).to(vectors)

    return _spectra.get((edge_index,) if edge_weight is None else (edge_index, edge_weight), nodes, make)


def bumps(eigenvalues: Tensor, count: int = BUMPS) -> Tensor:
    """Return cubic B-splines on [0, 2] at the eigenvalues, (k,) -> (k, count); they add up to one."""
    knots = torch.linspace(-1.0, count - 2.0, count, dtype=eigenvalues.dtype, device=eigenvalues.device)
    t = (eigenvalues[:, None] * (count - 3) / 2 - knots).abs()
    inner, outer = 2 / 3 - t**2 + t**3 / 2, (2 - t).clamp_min(0) ** 3 / 6
    return torch.where(t < 1, inner, outer)


class SpectralLayer(nn.Module):
    """U g(lambda) U^T (x W) + b, one g for every channel; (N, in), (2, E), weights (E,) -> (N, out).

    Args:
        multipliers: what g is, one of MULTIPLIERS. With "a free number for each eigenvector" the k-th number belongs
            to the k-th smallest eigenvalue, whichever eigenvector was found for it.
    """

    out_field = NODE

    def __init__(self, inputs: int, outputs: int, multipliers: str = MULTIPLIERS[0]) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs, bias=False)
        if multipliers == MULTIPLIERS[0]:
            self.by_eigenvalue = nn.Parameter(torch.randn(BUMPS, outputs))
        else:
            self.by_eigenvector = nn.Parameter(torch.randn(MOST, outputs))
        self.eigenvalues = Tap(INVARIANT)
        self.multipliers = Tap(INVARIANT)
        self.filtered = Tap(NODE)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def response(self, eigenvalues: Tensor) -> Tensor:
        """Return g at the eigenvalues, (k,) -> (k, out)."""
        if hasattr(self, "by_eigenvalue"):
            return bumps(eigenvalues) @ self.by_eigenvalue
        return self.by_eigenvector[: len(eigenvalues)]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        values, u = (t.to(x.dtype) for t in spectrum(edge_index, len(x), edge_weight))
        values = self.eigenvalues(values[:, None])[:, 0]
        g = self.multipliers(self.response(values))
        return self.filtered(u @ (g * (u.T @ self.linear(x)))) + self.bias


class Filtered(nn.Module):
    """Layers on a graph with ReLU between them; (N, 6), (2, E), weights (E,) -> (N, 4)."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        for k, layer in enumerate(layers, start=1):
            if k > 1:
                self.add_module(f"relu{k - 1}", nn.ReLU())
            self.add_module(f"conv{k}", layer)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = (edge_index,) if edge_weight is None else (edge_index, edge_weight)
        for layer in self.children():  # in the order in which they were added
            x = layer(x) if isinstance(layer, nn.ReLU) else layer(x, *graph)
        return x


class FilteredMLP(nn.Module):
    """A linear layer, a polynomial filter, ReLU, another filter, a linear layer; (N, 6) -> (N, 4)."""

    def __init__(self, degree: int, laplacian: str, coefficients: str) -> None:
        super().__init__()
        self.embedding = nn.Linear(CHANNELS, HIDDEN)
        self.filter1 = PolynomialFilter(degree, laplacian, coefficients)
        self.relu = nn.ReLU()
        self.filter2 = PolynomialFilter(degree, laplacian, coefficients)
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        graph = (edge_index,) if edge_weight is None else (edge_index, edge_weight)
        x = self.relu(self.filter1(self.embedding(x), *graph))
        return self.classifier(self.filter2(x, *graph))


def build_polynomial(degree: float = 2, laplacian: float = 0, coefficients: float = 0) -> FilteredMLP:
    """Build a network of two polynomial filters."""
    return seeded(lambda: FilteredMLP(int(degree), LAPLACIANS[int(laplacian)], COEFFICIENTS[int(coefficients)]))


def build_chebnet(degree: float = 2, lambda_max: float = 2.0) -> Filtered:
    """Build a ChebNet of two layers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        terms = int(degree) + 1
        return Filtered(
            ChebyshevLayer(CHANNELS, HIDDEN, terms, lambda_max), ChebyshevLayer(HIDDEN, CLASSES, terms, lambda_max)
        )


def build_spectral(multipliers: float = 0) -> Filtered:
    """Build a network of two spectral convolutions."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        kind = MULTIPLIERS[int(multipliers)]
        return Filtered(SpectralLayer(CHANNELS, HIDDEN, kind), SpectralLayer(HIDDEN, CLASSES, kind))


_DEGREE = Param("degree", "Degree", 2, 1, 8, whole=True)

CARD = (
    Card(
        name="laplacian-filter",
        title="Polynomial filters of the Laplacian",
        rows=("N2",),
        groups=("permutation",),
        domain="graph",
        reference=(
            'Daigavane, Ravindran, Aggarwal, "Understanding Convolutions on Graphs", Distill, 2021, Polynomial '
            "Filters on Graphs"
        ),
        equation="p_w(L) = Σ_k w_k L^k,   k = 0 … d\nx′ = p_w(L) x\n(P L Pᵀ)^k = P L^k Pᵀ",
        summary=(
            "Select a node: only nodes at most d edges away have an influence on filter1. With w_0 = 1 the "
            "filter returns its input, with w_1 = 1 the difference of each node from its neighbours; "
            "filter1.powers shows L^k x one by one."
        ),
        build=build_polynomial,
        input=GraphInput(channels=CHANNELS, signals=SIGNALS),
        sample="karate",
        params=(
            _DEGREE,
            Param("laplacian", "Laplacian", 0, 0, 1, choices=("I − D^(−1/2) A D^(−1/2)", "D − A")),
            Param("coefficients", "Coefficients w", 0, 0, len(COEFFICIENTS) - 1, choices=COEFFICIENTS),
        ),
        weights="laplacian-filter.safetensors",
        train=partial(train, build_polynomial, SIGNALS, RECIPES["laplacian-filter"]),
        notes=measured("laplacian-filter"),
        source=(PolynomialFilter, FilteredMLP),
    ),
    Card(
        name="chebnet",
        title="ChebNet: Chebyshev polynomials of the Laplacian",
        rows=("N2",),
        groups=("permutation",),
        domain="graph",
        reference=(
            'Defferrard, Bresson, Vandergheynst, "Convolutional Neural Networks on Graphs with Fast Localized '
            'Spectral Filtering", 2016, eq. (4) and (5)'
        ),
        equation="Y = Σ_k T_k(L̃) X W_k + b,   L̃ = 2 L / λ_max − I\nT_0 = I,   T_1 = L̃,   T_k = 2 L̃ T_{k−1} − T_{k−2}",
        summary=(
            "The terms T_k(L̃) x in conv1.terms keep their size, because the eigenvalues of L̃ lie between −1 "
            "and 1; set λ_max below the largest eigenvalue and they grow with k. A node sees as many edges far "
            "as the degree says."
        ),
        build=build_chebnet,
        input=GraphInput(channels=CHANNELS, signals=SIGNALS),
        sample="karate",
        params=(_DEGREE, Param("lambda_max", "λ_max", 2.0, 1.0, 4.0, step=0.25)),
        weights="chebnet.safetensors",
        train=partial(train, build_chebnet, SIGNALS, RECIPES["chebnet"]),
        notes=measured("chebnet"),
        source=(ChebyshevLayer, Filtered),
    ),
    Card(
        name="spectral-conv",
        title="Spectral convolution on a graph",
        rows=("N2",),
        groups=("permutation",),
        domain="graph",
        reference=(
            'Bruna, Zaremba, Szlam, LeCun, "Spectral Networks and Locally Connected Networks on Graphs", 2014, '
            "section 3 (Spectral Construction)"
        ),
        equation="L = U diag(λ) Uᵀ\ny = U g(λ) Uᵀ x W + b\ng(λ) = Σ_m θ_m B_m(λ),  or a free g_k for each eigenvector",
        summary=(
            "Every node sees every other through the eigenvectors. As a function of the eigenvalue, g commutes "
            "with permutations; with a free number for each eigenvector the law breaks on graphs with repeated "
            "eigenvalues, such as the karate club, at conv1."
        ),
        build=build_spectral,
        input=GraphInput(channels=CHANNELS, signals=SIGNALS, most=MOST),
        sample="karate",
        params=(Param("multipliers", "g is", 0, 0, 1, choices=MULTIPLIERS),),
        weights="spectral-conv.safetensors",
        train=partial(train, build_spectral, SIGNALS, RECIPES["spectral-conv"]),
        notes=measured("spectral-conv"),
        source=(spectrum, bumps, SpectralLayer),
    ),
)
