"""Networks on points: laws by formulas of this file alone, and layers against e3nn, torch_geometric and the authors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation
from torch import Tensor, nn

import models
from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.declare.types.fields import FieldType
from explorer.equivariance.check import check_equivariance
from explorer.network.input.inputs import inputs_from
from explorer.spaces.graph.fields import GRAPH
from explorer.spaces.points.fields import Coordinates, Irreps, irreps
from explorer.spaces.points.sample import points_sample
from models.layers.points.angular import AngularBasis
from models.layers.points.geometry import BesselBasis, GaussianBasis
from models.layers.points.irreps import Gate, Harmonics, Mix, Pairs, PathProduct
from models.points.dgcnn import EdgeConvolution, Joined, smallest
from models.points.dimenet import Directional, angles, by_edge, turns
from models.points.egnn import Layer
from models.points.schnet import SchNet
from models.training.points.bodies import Systems, errors

CARDS: dict[str, Card] = {n: c for n, c in scan(models, "CARD").items() if c.domain == "points"}
SOUND = [name for name in CARDS if not any("planted fault" in note for note in CARDS[name].notes)]
FAULTY = sorted(set(CARDS) - set(SOUND))
CPU = torch.device("cpu")
EXACT = 1e-9


@cache
def inputs_of(name: str, sample: str = "") -> Inputs:
    card = CARDS[name]
    return inputs_from(fitted(find_sample(sample or card.sample), card.input), card.input, CPU, torch.float64)


def network_of(name: str, **values: float) -> nn.Module:
    torch.manual_seed(0)
    card = CARDS[name]
    return card.build(**{p.name: p.default for p in card.params} | values).double().eval()


def moved(values: Tensor, field: FieldType, matrix: Tensor, shift: Tensor) -> Tensor:
    """Return rho(g) of degrees 0 and 1, written out here; higher degrees are no output of a network."""
    match field.rep:
        case Coordinates():
            return values @ matrix.T + shift
        case Irreps(slices=slices):
            made = values.clone()
            mirrored = bool(torch.linalg.det(matrix) < 0)
            for degree, parity, at in slices:
                sign = -1.0 if mirrored and (parity == "e") == (degree % 2 == 1) else 1.0
                assert degree < 2
                if degree == 1:
                    made[:, at : at + 3] = sign * values[:, at : at + 3] @ matrix.T
                elif mirrored and parity == "o":
                    made[:, at] = -values[:, at]
            return made
    return values


def output_field(network: nn.Module) -> FieldType:
    found = getattr(network, "out_field", None) or getattr(getattr(network, "total", None), "out_field", GRAPH)
    assert isinstance(found, FieldType)
    return found


@pytest.mark.parametrize("name", sorted(CARDS))
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_law_of_motions(name: str, mirrored: bool) -> None:
    network, x = network_of(name), inputs_of(name)
    matrix = torch.from_numpy(Rotation.random(rng=np.random.default_rng(7)).as_matrix())
    if name not in FAULTY and "E3" not in CARDS[name].groups:
        pytest.skip("it claims no motions")
    matrix = -matrix if mirrored else matrix
    shift = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
    gx = replace(x, values=tuple(moved(v, f, matrix, shift) for v, f in zip(x.values, x.fields, strict=True)))
    with torch.no_grad():
        y, gy = network(*x.arguments), network(*gx.arguments)
    expected = moved(y, output_field(network), matrix, shift)
    error = float((gy - expected).norm() / expected.norm())
    if name in FAULTY:
        assert error > 1e-4
    else:
        assert error < EXACT and float((gy - y).norm()) < 10 * float(y.norm())


@pytest.mark.parametrize("name", sorted(CARDS))
def test_the_law_of_renumbering(name: str) -> None:
    network, x = network_of(name), inputs_of(name)
    n = len(x.x)
    order = torch.from_numpy(np.random.default_rng(3).permutation(n))
    values = []
    for key, value in zip(x.names, x.values, strict=True):
        if key == "edge_index":
            value = torch.argsort(order)[value]
        elif len(value) == n and key != "edge_attr":
            value = value[order]
        values.append(value)
    with torch.no_grad():
        y, py = network(*x.arguments), network(*replace(x, values=tuple(values)).arguments)
    expected = y[order] if len(y) == n else y
    torch.testing.assert_close(py, expected, rtol=EXACT, atol=EXACT * float(y.abs().max()))


@pytest.mark.parametrize(("name", "group"), [(name, group) for name in SOUND for group in CARDS[name].groups])
def test_every_layer_holds(name: str, group: str) -> None:
    report = check_equivariance(network_of(name), [inputs_of(name)], group, dtype=torch.float64, count=4)
    assert report.verdict == "holds" and not report.guilty
    for layer in report.layers:
        assert layer.verdict == "holds" and (layer.cumulative is None or layer.cumulative < EXACT), layer.name
        assert layer.local is None or layer.local < EXACT, layer.name


@pytest.mark.parametrize("name", FAULTY)
@pytest.mark.slow
def test_a_planted_fault_is_found_where_it_is(name: str) -> None:
    report = check_equivariance(network_of(name), [inputs_of(name)], "E3", dtype=torch.float64, count=4)
    said = next(n for n in CARDS[name].notes if n.startswith("planted fault: layer "))
    assert report.verdict == "broken" and list(report.guilty) == [said.removeprefix("planted fault: layer ")]
    assert (
        check_equivariance(network_of(name), [inputs_of(name)], "permutation", dtype=torch.float64).verdict == "holds"
    )


@pytest.mark.parametrize("name", SOUND)
def test_odd_clouds_have_a_finite_answer(name: str) -> None:
    """One point alone, two at the same place, and none that is near: no NaN, and no error."""
    rng = np.random.default_rng(0)
    for places in (np.zeros((1, 3)), np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]]), 1e3 * rng.normal(size=(4, 3))):
        n = len(places)
        sample = points_sample("odd", places, numbers=np.full(n, 6), velocity=np.ones((n, 3)), charge=np.ones(n))
        card = CARDS[name]
        x = inputs_from(fitted(sample, card.input), card.input, CPU, torch.float64)
        with torch.no_grad():
            assert torch.isfinite(network_of(name)(*x.arguments)).all(), (name, n)


# layers against others ----------------------------------------------------------------------------------------------
def test_egnn_is_what_the_authors_write() -> None:
    """E_GCL_vel of the authors' code, from its formulas: rows hear columns, coord_diff = x_row - x_col."""
    torch.manual_seed(1)
    layer = Layer(6, 2, velocity=True, hidden=5).double()
    h, x, v = (torch.randn(4, k, dtype=torch.float64) for k in (6, 3, 3))
    row, col = torch.tensor([[0, 0, 1, 2, 3, 3], [1, 2, 3, 0, 1, 2]])
    attributes = torch.randn(6, 2, dtype=torch.float64)
    with torch.no_grad():
        got_h, got_x = layer(h, x, torch.stack([col, row]), attributes, v)
        difference = x[row] - x[col]
        radial = (difference**2).sum(1, keepdim=True)
        edge = layer.messages.network(torch.cat([h[row], h[col], radial, attributes], 1))
        push = difference * layer.moved.weight(edge)
        mean = torch.stack([push[row == k].mean(0) for k in range(4)])
        assert layer.moved.keep is not None
        want_x = x + mean + layer.moved.keep(h) * v
        total = torch.stack([edge[row == k].sum(0) for k in range(4)])
        want_h = h + layer.features.network(torch.cat([h, total], 1))
    torch.testing.assert_close(got_x, want_x, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(got_h, want_h, rtol=1e-12, atol=1e-12)


def test_schnet_is_that_of_torch_geometric() -> None:
    from torch_geometric.nn.models import schnet as theirs

    torch.manual_seed(2)
    ours = SchNet(layers=2, channels=16, filters=12, centres=20, reach=5.0)
    x = inputs_of("schnet", "benzene-3d")
    position, number, index = (v.float() if v.is_floating_point() else v for v in x.arguments)
    lengths = (position[index[0]] - position[index[1]]).norm(dim=1)
    smear = theirs.GaussianSmearing(0.0, 5.0, 20)
    torch.testing.assert_close(ours.basis(lengths[:, None]), smear(lengths), rtol=1e-5, atol=1e-6)
    h = ours.embedding(number)
    for block in ours.interactions:
        other = theirs.InteractionBlock(16, 20, 12, 5.0)
        pairs = ((other.mlp[0], block.continuous.network[0]), (other.mlp[2], block.continuous.network[2]),
                 (other.conv.lin1, block.inward), (other.conv.lin2, block.outward),
                 (other.lin, block.last))  # fmt: skip
        for to, from_ in pairs:
            to.load_state_dict(from_.state_dict())
        with torch.no_grad():
            want = h + other(h, index, lengths, smear(lengths))
            h = block(h, ours.basis(lengths[:, None]), lengths[:, None], index)
        torch.testing.assert_close(h, want, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_directional_messages_are_those_of_torch_geometric() -> None:
    from torch_geometric.nn.models import dimenet as theirs

    torch.manual_seed(5)
    x = inputs_of("dimenet", "benzene-3d")
    position, number, index = x.arguments
    ways = position[index[0]] - position[index[1]]
    lengths = ways.norm(dim=1)
    first, second = turns(index, len(number))
    # every pair of edges k -> j -> i with k and i apart, counted here by hand
    pairs = {(int(a), int(b)) for a in range(index.shape[1]) for b in range(index.shape[1])
             if index[1, a] == index[0, b] and index[0, a] != index[1, b]}  # fmt: skip
    assert pairs == set(zip(first.tolist(), second.tolist(), strict=True))
    i, j, k = index[1][second], index[0][second], index[0][first]
    one, other = position[j] - position[i], position[k] - position[i]
    want = torch.arccos(((one * other).sum(1) / one.norm(dim=1) / other.norm(dim=1)).clamp(-1, 1))
    found = angles(ways, first, second)
    torch.testing.assert_close(found, want, rtol=1e-6, atol=1e-6)
    ours = AngularBasis(4.0, 5, 6)
    layer = theirs.SphericalBasisLayer(5, 6, cutoff=4.0, envelope_exponent=4)
    got, their = ours.values(lengths[first], found), layer(lengths, found, first)
    # theirs divides the envelope by the length, which they count by another exponent
    torch.testing.assert_close(got / (lengths[first] / 4.0)[:, None], their, rtol=1e-5, atol=1e-5)
    block = theirs.InteractionBlock(32, 6, 5, 6, 0, 0, torch.nn.functional.silu).double()
    mine = Directional(32, 6, 30, 6).double()
    for to, from_ in ((block.lin_rbf, mine.radial), (block.lin_sbf, mine.angular), (block.lin_kj, mine.heard),
                      (block.lin_ji, mine.own), (block.lin, mine.last)):  # fmt: skip
        to.load_state_dict(from_.state_dict())
    with torch.no_grad():
        block.W.copy_(mine.table)
        m, radial = torch.randn(len(lengths), 32).double(), torch.randn(len(lengths), 6).double()
        torch.testing.assert_close(
            mine(m, radial, got, *by_edge(first, second, len(m))),
            block(m, radial, got, first, second),
            rtol=1e-9,
            atol=1e-9,
        )


def test_directional_messages_hold_no_table_of_channels_for_each_pair_of_edges() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        found = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            if isinstance(made, torch.Tensor):
                self.found = max(self.found, made.numel())
            return made

    torch.manual_seed(8)
    source, target = (~torch.eye(20, dtype=torch.bool)).nonzero().T
    first, second = turns(torch.stack([source, target]), 20)
    layer, pairs = Directional(32, 6, 30, 6), len(first)
    given = torch.randn(380, 32), torch.randn(380, 6), torch.randn(pairs, 30), *by_edge(first, second, 380)
    with torch.no_grad(), Largest() as largest:
        layer(*given)
    assert largest.found <= 33 * pairs


@pytest.mark.parametrize("points", [1, 2, 3])
def test_a_molecule_without_pairs_of_edges_has_directional_messages(points: int) -> None:
    index = (~torch.eye(points, dtype=torch.bool)).nonzero().T.flip(0)
    first, second = turns(index, points)
    layer, edges = Directional(32, 6, 30, 6), index.shape[1]
    slot, heard_from = by_edge(first, second, edges)
    m = torch.randn(edges, 32)
    made = layer(m, torch.randn(edges, 6), torch.randn(len(first), 30), slot, heard_from)
    assert made.shape == m.shape and bool(made.isfinite().all())
    assert sorted(heard_from.flatten()[slot].tolist()) == sorted(first.tolist())


def test_edge_convolutions_are_those_of_torch_geometric() -> None:
    from torch_geometric.nn import EdgeConv

    torch.manual_seed(6)
    x = torch.randn(30, 3)
    joined, ours = Joined(5)(x), EdgeConvolution(3, 8)
    receiver, sender = joined[0].nonzero().T
    assert (torch.bincount(receiver) == 5).all() and (receiver != sender).all()
    theirs = EdgeConv(torch.nn.Sequential(ours.nn, torch.nn.LeakyReLU(0.2)), aggr="max")
    with torch.no_grad():
        torch.testing.assert_close(ours(x, joined), theirs(x, torch.stack([sender, receiver])), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("many", [2, 9, 33, 300])
@pytest.mark.parametrize("k", [1, 5, 8])
def test_two_short_selections_find_what_a_long_one_finds(many: int, k: int) -> None:
    torch.manual_seed(many)
    for values in (torch.randn(7, many), torch.randint(0, 3, (7, many)).double()):
        k = min(k, many)
        assert torch.equal(smallest(values, k), values.sort(1).values[:, k - 1 : k])


def test_an_edge_convolution_says_nothing_where_nothing_arrives() -> None:
    torch.manual_seed(7)
    x, layer = torch.randn(6, 3), EdgeConvolution(3, 8)
    adjacency = Joined(2)(x).index_fill(1, torch.tensor([4]), 0.0)
    with torch.no_grad():
        made = layer(x, adjacency)
    assert not made[4].any() and (made[[0, 1, 2, 3, 5]] != 0).all()


def test_keys_and_values_couple_sources_with_harmonics_once() -> None:
    torch.manual_seed(8)
    pairs = Pairs()
    products = [PathProduct("2x0e+2x1o", 2, 2, pairs) for _ in range(2)]
    given = torch.randn(5, 8), torch.randn(5, 9)
    weights = [torch.randn(5, product.weights) for product in products]
    apart = [product(*given, weight) for product, weight in zip(products, weights, strict=True)]
    counted: list[tuple[int, ...]] = []
    of = pairs.of

    def counting(values: Tensor, harmonics: Tensor, key: tuple[int, ...], make: Callable[[], Tensor]) -> Tensor:
        def made() -> Tensor:
            counted.append(key)
            return make()

        return of(values, harmonics, key, made)

    with patch.object(pairs, "of", counting), pairs:
        together = [product(*given, weight) for product, weight in zip(products, weights, strict=True)]
    assert counted and len(counted) == len(set(counted))
    assert not pairs.known and all(torch.equal(a, b) for a, b in zip(apart, together, strict=True))
    # other values are not mistaken for those that are known
    with pairs:
        products[0](*given, weights[0])
        other = products[1](given[0] + 1, given[1], weights[1])
    assert torch.equal(other, products[1](given[0] + 1, given[1], weights[1]))


def test_the_points_that_decide_are_those_of_the_maximum() -> None:
    network, x = network_of("pointnet-space"), inputs_of("pointnet-space")
    seen: dict[str, Tensor] = {}
    for name in ("critical", "point3"):
        network.get_submodule(name).register_forward_hook(lambda _, given, value, n=name: seen.__setitem__(n, value))
    with torch.no_grad():
        answer = network(*x.arguments)
        decided, wins = seen["critical"][:, 0].long(), torch.bincount(seen["point3"].argmax(0), minlength=len(x.x))
        alone = network(x.x[decided > 0])
    assert torch.equal(decided, wins) and 0 < int((wins > 0).sum()) < len(x.x) / 2
    torch.testing.assert_close(alone, answer, rtol=1e-12, atol=1e-12)


def test_attention_adds_up_to_one_and_stands_still() -> None:
    network, x = network_of("se3-transformer"), inputs_of("se3-transformer")
    seen: dict[str, Tensor] = {}
    for k in range(2):
        layer = network.get_submodule(f"layers.{k}.matrix")
        layer.register_forward_hook(lambda _, given, value, k=k: seen.__setitem__(str(k), value))
    with torch.no_grad():
        network(*x.arguments)
    for table in seen.values():
        assert table.shape == (4, 9, 9) and float(table.diagonal(dim1=1, dim2=2).abs().max()) == 0
        torch.testing.assert_close(table.sum(2), torch.ones(4, 9, dtype=torch.float64))
    others = ~torch.eye(9, dtype=torch.bool)
    for table in seen.values():  # it was an eighth for all eight, to three digits: nobody could see who listens to whom
        assert (table[:, others].std(1) > 0.03).sum() >= 3


def test_the_bessel_basis_is_that_of_torch_geometric() -> None:
    from torch_geometric.nn.models.dimenet import BesselBasisLayer

    lengths = torch.linspace(0.3, 3.9, 20)
    theirs = BesselBasisLayer(6, cutoff=4.0, envelope_exponent=6 - 1)
    ours = BesselBasis(4.0, 6, exponent=6)
    # its envelope has the exponent p + 1 and begins with 1 / s
    torch.testing.assert_close(ours(lengths[:, None]) / np.sqrt(2 / 4.0**3), theirs(lengths), rtol=1e-4, atol=1e-4)
    ends = ours(torch.tensor([[3.9999], [4.0], [5.0]], dtype=torch.float64))
    assert float(ends.abs().max()) < 1e-6


def test_harmonics_and_products_are_those_of_e3nn() -> None:
    from e3nn import o3

    torch.manual_seed(3)
    ways = torch.randn(11, 3)
    harmonics = Harmonics(2)(ways)
    want = o3.spherical_harmonics("0e+1o+2e", ways, True, "component")
    torch.testing.assert_close(harmonics, want, rtol=1e-5, atol=1e-5)
    product = PathProduct("3x0e+2x1o+2x2e", 2, 2)
    values, weights = torch.randn(11, irreps("3x0e+2x1o+2x2e").size), torch.randn(11, product.weights)
    one, two, out = (o3.Irreps(t) for t in ("3x0e+2x1o+2x2e", "0e+1o+2e", product.outputs))
    which, k = [], 0
    for i, (_, a) in enumerate(one):
        for j, (_, b) in enumerate(two):
            for c in a * b:
                if c.l <= 2:
                    which.append((i, j, k, "uvu", True))
                    k += 1
    theirs = o3.TensorProduct(one, two, out, which, irrep_normalization="component", path_normalization="none",
                              internal_weights=False, shared_weights=False)  # fmt: skip
    got = product(values, harmonics, weights)
    torch.testing.assert_close(got, theirs(values, harmonics, weights), rtol=1e-5, atol=1e-5)


def test_mixtures_are_those_of_e3nn() -> None:
    from e3nn import o3

    torch.manual_seed(4)
    ours = Mix("3x0e+2x1o+1x0e", "2x0e+4x1o")
    theirs = o3.Linear("3x0e+2x1o+1x0e", "2x0e+4x1o")
    flat = torch.cat([w.flatten() for _, w in sorted(zip(ours.pairs, ours.weights, strict=True))])
    assert flat.numel() == theirs.weight.numel()
    with torch.no_grad():
        theirs.weight.copy_(flat)
    values = torch.randn(5, 10)
    torch.testing.assert_close(ours(values), theirs(values), rtol=1e-5, atol=1e-5)


def test_the_gate_is_that_of_e3nn() -> None:
    from e3nn.nn import Gate as Theirs

    gate = Gate("3x0e+2x1o+1x2e")
    assert gate.needed == "6x0e+2x1o+1x2e"
    values = torch.randn(5, irreps(gate.needed).size)
    scalars, gates = torch.nn.functional.silu(values[:, :3]), torch.sigmoid(values[:, 3:6])
    want = torch.cat([scalars, values[:, 6:9] * gates[:, :1], values[:, 9:12] * gates[:, 1:2],
                      values[:, 12:17] * gates[:, 2:3]], 1)  # fmt: skip
    torch.testing.assert_close(gate(values), want)
    # e3nn's own rescales its activations to unit variance
    other = Theirs("3x0e", [torch.nn.functional.silu], "3x0e", [torch.sigmoid], "2x1o+1x2e")
    made = other(values)
    torch.testing.assert_close(made[:, :3] / gate(values)[:, :3], (made[0, 0] / gate(values)[0, 0]).expand(5, 3))


def test_functions_of_a_distance_are_shown() -> None:
    for basis in (GaussianBasis(5.0, 8), BesselBasis(5.0, 8)):
        along, table, quantity, unit = basis.curves()
        assert table.shape == (8, len(along)) and (quantity, unit) == ("distance", "Å") and torch.isfinite(table).all()


@pytest.mark.slow
def test_the_shipped_egnn_knows_where_bodies_go() -> None:
    from safetensors.torch import load_file

    from tests.models.cards.test_cards import WEIGHTS

    network = CARDS["egnn-velocity"].build()
    network.load_state_dict(load_file(WEIGHTS / "egnn-velocity.safetensors"))
    found = errors(network.eval(), Systems(500, 5))
    assert found["test_error"] < 0.008 < 0.1 * found["straight_error"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_way_of_length_zero_has_no_direction(dtype: torch.dtype) -> None:
    found = Harmonics(4)(torch.zeros(2, 3, dtype=dtype))
    assert torch.equal(found, torch.eye(1, 25, dtype=dtype).expand(2, -1))
