"""Claims of the lessons on graphs, sets and attention are true of the shipped networks.

Each lesson has a test that bears its number; what every lesson must have is in test_lessons.py. Nothing is claimed
that would change when a network is trained again, unless the lesson says so of a shipped one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.data.finding import samples
from explorer.spaces.graph.analysis.refinement import distinguishes
from explorer.spaces.graph.drawing.pairs.matrix import DensePairs, PairMatrix
from explorer.spaces.graph.drawing.pairs.sparse import EdgePattern, SparsePairs
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.spaces.graph.samples.ba_shapes import WALLS
from explorer.square.frame import Frame
from tests.models.cards.lesson_frames import BROKEN, EXACT, at, distance, engine, error, guilty, measured


def part(frame: Frame, which: int = 0) -> GraphPart:
    found = frame.squares[which].of(GraphPart)
    assert found is not None
    return found


def heard(frame: Frame, which: int = 0) -> NDArray[np.float64]:
    """Return the influence of every node on the selected one."""
    found = part(frame, which).influence
    assert found is not None
    return np.asarray(found, np.float64)


def hops(frame: Frame) -> NDArray[np.int64]:
    found = part(frame).distance
    assert found is not None
    return found


def change(frame: Frame, layer: str) -> float:
    """Return how far a layer is from where the element should have left it."""
    return error(frame, layer)


def broken(frame: Frame) -> list[str]:
    return guilty(frame.squares[0])


def holds(frame: Frame) -> bool:
    """Say whether every layer that can be judged follows the element."""
    return all(m.cumulative is not None and m.cumulative < EXACT for m in frame.squares[0].measures.values())


def names(frame: Frame) -> list[str]:
    return [layer.name for layer in frame.squares[0].layers]


def values(number: str, layer: str, **more: Any) -> NDArray[Any]:
    """Return F(x) at a layer of a lesson."""
    return part(at(number, layer=layer, **more)).values


# 5.3 Graph neural networks ----------------------------------------------------------------------------------


def test_lesson_25_who_decides_what_travels_along_an_edge() -> None:
    coefficients = part(at("25")).coefficients
    assert coefficients["convolution.layer1.coefficients"].shape[1] == 1
    assert coefficients["attention.layer1.coefficients"].shape[1] == 1
    assert coefficients["message_passing.layer1.messages.2"].shape[1] == 16
    louder = at("25", "scale:2")
    assert change(louder, "convolution.layer1.coefficients") < 1e-6
    assert change(louder, "attention.layer1.coefficients") > 1e-3
    assert all(holds(at("25", f"permute:{seed}")) for seed in (2, 3))


@pytest.mark.parametrize("choice", [0, 1])
def test_lesson_26_three_members_compute_one_convolution(choice: int) -> None:
    flavours = ("convolution", "attention", "message_passing")
    one, two, three = (
        values("26", f"{flavour}.layer1.aggregated", params={"coefficients": choice}) for flavour in flavours
    )
    np.testing.assert_allclose(two, one, atol=1e-5)
    np.testing.assert_allclose(three, one, atol=1e-5)
    frame = at("26", params={"coefficients": choice})
    fixed, found = (part(frame).coefficients[f"{flavour}.layer1.coefficients"] for flavour in flavours[:2])
    np.testing.assert_allclose(found, fixed, atol=1e-6)
    x, known = part(frame).x, values("26", "attention.layer1.known", params={"coefficients": choice})
    degree = np.bincount(part(frame).structure.edges[1])
    assert known.shape[1] == x.shape[1] + 1
    told = [np.polyfit(column, np.log(degree), 1, full=True)[1] for column in known.T if np.ptp(column)]
    assert min(float(residual[0]) for residual in told) < 1e-8, "one column is the logarithm of the degree"
    assert holds(frame)


def test_lesson_27_the_degrees_and_nothing_else() -> None:
    frame = at("27")
    edges, coefficients = part(frame).structure.edges, part(frame).coefficients
    degree = np.bincount(edges[1])
    assert degree[33] == 17 and degree[32] == 12
    first, second = (coefficients[f"conv{k}.propagated.coefficients"][:, 0] for k in (1, 2))
    np.testing.assert_allclose(first, 1 / np.sqrt((1 + degree[edges[0]]) * (1 + degree[edges[1]])), rtol=1e-5)
    np.testing.assert_array_equal(first, second)
    into = edges[1] == 33
    rare = into & (degree[edges[0]] == 2)
    assert rare.any() and np.allclose(first[rare], 0.136, atol=5e-4)
    assert np.allclose(first[into & (edges[0] == 32)], 0.065, atol=5e-4)
    assert error(at("27", "scale:2")) == 0
    assert matrix(frame, "conv1.propagated.coefficients").properties(range(1), 0.0).asymmetry == 0
    assert holds(at("27", "move:33,2"))


def matrix(frame: Frame, name: str) -> PairMatrix:
    """Return a field as the matrix of the panel, in the given order."""
    own = part(frame)
    if name in own.pairs:
        return DensePairs(own.pairs[name])
    return SparsePairs(EdgePattern(own.structure.nodes, own.structure.edges), own.coefficients[name])


def test_lesson_28_what_a_node_hears_and_itself_make_one() -> None:
    frame = at("28")
    shares, own = part(frame).coefficients["conv1.attention"], values("28", "conv1.self_attention")
    edges = part(frame).structure.edges
    assert shares.shape[1] == own.shape[1] == 8
    total = own.astype(np.float64)
    np.add.at(total, edges[1], shares)
    np.testing.assert_allclose(total, 1.0, atol=1e-5)
    assert (matrix(frame, "conv1.attention").properties(range(8), 0.0).asymmetry or 0.0) > BROKEN
    assert part(at("28", params={"heads": 0})).coefficients["conv1.attention"].shape[1] == 1


@pytest.mark.parametrize("element", ["permute:2", "swap:0,33", "move:0,5"])
def test_lesson_29_nodes_follow_and_the_graph_stands_still(element: str) -> None:
    frame = at("29", element)
    own = part(frame)
    assert holds(frame) and own.expected is not None
    assert distance(own.moved, own.values) > BROKEN and distance(own.moved, own.expected) < EXACT
    fields = {layer.name: layer.field for layer in frame.squares[0].layers}
    assert fields["relu2"].startswith("node") and fields["readout"].startswith("graph")
    readout = part(at("29", element, layer="readout"))
    assert distance(readout.moved, readout.values) < EXACT
    np.testing.assert_allclose(frame.squares[0].output_g, frame.squares[0].output, atol=1e-5)


def test_lesson_30_as_many_edges_as_hops() -> None:
    assert np.bincount(hops(at("30")), minlength=6).tolist() == [1, 2, 3, 12, 8, 8]
    for count in range(1, 6):
        frame = at("30", params={"hops": count})
        np.testing.assert_array_equal(heard(frame) > 0, hops(frame) <= count)
    far = heard(frame)
    assert far[hops(frame) == 5].sum() < 0.02 * far.sum()
    assert (heard(at("30", node=33, params={"hops": 4})) > 0).all()


# 5.4 Deep Sets, transformers and latent graphs ---------------------------------------------------------------


def test_lesson_31_alone_or_with_a_summary_of_all() -> None:
    assert np.flatnonzero(heard(at("31"))).tolist() == [0]
    largest = np.count_nonzero(heard(at("31", params={"gamma": 1.0})))
    assert 1 < largest <= 4
    for pool in (1, 2):
        assert np.count_nonzero(heard(at("31", params={"gamma": 1.0, "pool": pool}))) == 256
    frame = at("31", "permute:2", params={"gamma": 1.0})
    fields = {layer.name: layer.kind_of_places for layer in frame.squares[0].layers}
    assert fields["tanh1"] == "node" and {fields[n] for n in ("layer1.pool", "sum", "rho")} == {"graph"}
    assert holds(frame)


def test_lesson_32_only_winners_matter() -> None:
    critical = part(at("32")).sets["critical"].astype(bool)
    assert critical.shape == (256,) and 0 < critical.sum() < 256 / 3
    assert holds(at("32", "permute:2"))
    per_channel = values("32", "point3")
    assert per_channel.shape[1] == 128 and values("32", "won").sum() >= 128
    for share in (0.3, 0.6):
        frame = at("32", f"drop-nodes:{share},1", layer="max")
        own = part(frame)
        kept = own.order >= 0
        lost = per_channel[kept].max(0) < per_channel.max(0)
        # the product of fewer rows is rounded otherwise
        np.testing.assert_array_equal((np.abs(own.moved - own.values) > EXACT)[0], lost)
        assert measured(frame).verdict == "no law" and lost.any()


def test_lesson_33_every_node_hears_every_other() -> None:
    frame = at("33")
    attention = part(frame).pairs["layers.0.self_attention.attention"]
    assert attention.shape == (4, 34, 34) and attention.min() > 0
    np.testing.assert_allclose(attention.sum(-1), 1.0, atol=1e-5)
    assert (heard(at("33", layer="layers.0")) > 0).all()
    assert change(at("33", "drop-edges:1,0"), "classifier") == 0
    assert change(at("33", "drop-edges:1,0", params={"encoding": 0}), "classifier") > EXACT
    assert holds(at("33", "permute:3"))


def test_lesson_34_a_number_is_no_place() -> None:
    assert broken(at("34")) == ["positions"]
    for encoding in (0, 1, 3):
        assert holds(at("34", params={"encoding": encoding}))
    ring = at("34", sample="ring-16", params={"encoding": 3})
    assert broken(ring) == ["positions"] and samples()["ring-16"].title == "Ring of 16"
    blind = at("34", sample="ring-16", layer="classifier", params={"encoding": 1})
    x, answers = part(blind).x, part(blind).values
    _, alike = np.unique(x, axis=0, return_inverse=True)
    assert len(x) == 16 and max(np.ptp(answers[alike == k], axis=0).max() for k in np.unique(alike)) < EXACT


def test_lesson_35_each_layer_finds_its_own_neighbours() -> None:
    frame = at("35")
    graphs = [part(frame).pairs[f"neighbours{k}"][0] for k in (1, 2, 3)]
    for graph in graphs:
        assert set(np.unique(graph)) == {0.0, 1.0} and (graph.sum(1) == 8).all() and np.diag(graph).all()
    assert (graphs[0] != graphs[1]).any() and (graphs[1] != graphs[2]).any()
    np.testing.assert_array_equal(part(at("35", params={"k": 1})).pairs["neighbours1"][0], np.eye(len(graphs[0])))
    assert holds(at("35", "permute:4")) and "learned-adjacency" in engine().cards


# From a transformer to a graph convolution -------------------------------------------------------------------


def figures(step: int, layer: int = 0) -> list[float]:
    """Return change, square, share of small entries and asymmetry of the matrix at a step."""
    return [float(v) for v in values("36", f"layers.{layer}.properties", params={"step": step}).ravel()]


def pairs_at(step: int, name: str = "layers.0.matrix") -> NDArray[Any]:
    return np.asarray(part(at("36", params={"step": step})).pairs[name][0], np.float64)


def total(step: int) -> int:
    return sum(layer.params for layer in at("36", params={"step": step}).squares[0].layers if layer.leaf)


def test_lesson_36_attention_is_dynamic_square_dense_and_not_symmetric() -> None:
    changed, square, small, asymmetry = figures(0)
    assert changed > 0.01 and square == 1 and small < 0.5 and asymmetry > 0.01
    np.testing.assert_allclose(pairs_at(0).sum(1), 1.0, atol=1e-5)
    assert change(at("36", "scale:2"), "layers.0.matrix") > 0.01
    for name in ("query", "key", "value", "out", "residual1", "norm1", "linear1", "linear2"):
        assert f"layers.0.{name}" in names(at("36"))


def test_lesson_37_similarity_is_symmetric_and_the_softmax_is_not() -> None:
    assert not {f"layers.0.{name}" for name in ("query", "key", "value", "out")} & set(names(at("37")))
    logits, attention = pairs_at(1, "layers.0.logits"), pairs_at(1)
    assert distance(logits.T, logits) < 1e-6 < BROKEN / 5 < distance(attention.T, attention)
    h = values("37", "embed").astype(np.float64)
    np.testing.assert_allclose(logits, h @ h.T / np.sqrt(h.shape[1]), rtol=1e-4, atol=1e-5)
    changed, square, small, _ = figures(1)
    assert changed > 0.01 and square == 1 and small < 0.5


def test_lesson_38_without_a_residual_all_nodes_become_a_mean() -> None:
    gone = {f"layers.0.{name}" for name in ("residual1", "norm1", "residual2", "norm2")}
    assert not gone & set(names(at("38"))) and gone <= set(names(at("37")))
    np.testing.assert_allclose(pairs_at(2), pairs_at(1), atol=1e-6)
    second = [pairs_at(step, "layers.1.matrix") for step in (1, 2)]
    assert np.std(second[1]) < 0.05 * np.std(second[0])
    energy = part(at("38")).energy
    assert energy["layers.0"] < energy["embed"] or np.ptp(values("38", "layers.0.aggregated"), 0).max() < 1


def test_lesson_39_the_diagram_of_a_graph_convolution() -> None:
    inner = [n.removeprefix("layers.0.") for n in names(at("39")) if n.startswith("layers.0.")]
    assert inner == ["logits", "attention", "matrix", "properties", "aggregated", "linear", "activation"]
    assert (total(0), total(3)) == (10_012, 1_468)
    assert all(holds(at("39", "permute:5", params={"step": step})) for step in range(6))


def test_lesson_40_entry_by_entry_is_symmetric() -> None:
    changed, square, _, asymmetry = figures(4)
    assert changed == pytest.approx(3.0, abs=1e-4) and square == 1 and asymmetry < 1e-6
    logits = pairs_at(4, "layers.0.logits")
    np.testing.assert_allclose(pairs_at(4), np.maximum(logits, 0), rtol=1e-5)
    assert np.abs(pairs_at(4).sum(1) - 1).min() > BROKEN and figures(3)[3] > 0.01


def test_lesson_41_the_given_matrix_has_all_four_properties() -> None:
    changed, square, small, asymmetry = figures(5)
    assert (changed, square) == (0, 1) and round(small, 2) == 0.84 and asymmetry < 1e-6
    given, adjacency = pairs_at(5), pairs_at(5, "adjacency")
    np.testing.assert_array_equal(given != 0, (adjacency != 0) | np.eye(34, dtype=bool))
    assert change(at("41", "scale:2"), "layers.0.matrix") == 0
    loops = np.eye(34)
    loops[tuple(part(at("41")).structure.edges)] = 1.0
    degree = loops.sum(1)
    np.testing.assert_allclose(given, loops / np.sqrt(np.outer(degree, degree)), rtol=1e-5)


# What depth does ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ["", "karate"])
def test_lesson_42_averages_wash_differences_out(sample: str) -> None:
    energy = part(at("42", sample=sample) if sample else at("42")).energy
    assert energy["relu7"] < 0.1 * energy["x"]
    if not sample:
        assert energy["relu7"] < energy["relu1"]
        assert energy["relu7"] < part(at("42", params={"depth": 4}, layer="relu3")).energy["relu3"]


def test_lesson_43_far_and_near_are_as_many_and_not_as_much() -> None:
    frame = at("43")
    near, far = hops(frame) == 1, hops(frame) == 6
    assert near.sum() == far.sum() == 9 and hops(frame)[22] == 0
    assert 0 < heard(frame)[far].sum() < 1e-3 * heard(frame)[near].sum()
    assert not heard(at("43", params={"hops": 5}))[far].any()
    later = heard(at("43", params={"hops": 16}))
    assert later[far].sum() < 0.1 * later[near].sum()
    among_all = heard(at("43", compare="graph-transformer"), 1)
    ratio = heard(frame)[far].sum() / heard(frame)[near].sum()
    assert among_all[far].sum() / among_all[near].sum() > 30 * ratio


PAIRS = ("wl-hexagon", "wl-domino", "wl-decalin", "wl-csl-2-3", "wl-csl-9-11", "wl-rook")


@pytest.mark.parametrize("sample", PAIRS)
def test_lesson_44_equal_colours_equal_answers(sample: str) -> None:
    frame = at("44", sample=sample)
    own = part(frame)
    assert own.structure.graph_of is not None and own.values.shape[0] == 2
    assert not distinguishes(own.structure.edges, own.structure.graph_of, own.x).distinguished
    assert distance(own.values[0], own.values[1]) < 1e-5
    for k in (1, 2, 3):
        one, two = part(at("44", model="wl-colours", sample=sample, layer=f"histogram{k}", params={})).values
        np.testing.assert_array_equal(one, two)


def test_lesson_45_distances_are_more_than_colours() -> None:
    frame = at("45")
    pairs = part(frame).pairs
    terms = pairs["layers.0.content"] + pairs["spatial_bias"] + pairs["edge_bias"]
    np.testing.assert_allclose(terms, pairs["layers.0.logits"], atol=1e-5)

    def of(sample: str) -> list[NDArray[Any]]:
        own = part(at("45", sample=sample))
        which = own.structure.graph_of
        assert which is not None
        return [own.pairs["distance"][0][np.ix_(which == k, which == k)] for k in (0, 1)]

    hexagon, triangles = of("wl-hexagon")
    assert hexagon.max() == 3 and triangles.max() == 1 and triangles.min() == -1
    for graph in of("wl-rook"):
        assert [[(row == k).sum() for k in (1, 2)] for row in graph] == [[6, 9]] * 16
    assert holds(at("45", "permute:3"))


def test_lesson_46_a_polynomial_answers_each_frequency() -> None:
    means = []
    for k in range(3):
        spectrum = part(at("46", layer=f"conv1.terms.{k}")).spectrum
        assert spectrum is not None and spectrum.layer is not None
        x, answered = ((c.astype(np.float64) ** 2).sum(1) for c in (spectrum.x, spectrum.layer))
        values = spectrum.eigenvalues
        expected = np.polynomial.chebyshev.Chebyshev.basis(k)(values - 1) ** 2
        np.testing.assert_allclose(answered, expected * x, atol=1e-4 * x.max())
        means.append(float((values * answered).sum() / answered.sum()))
    assert [round(mean, 2) for mean in means] == [0.19, 0.08, 0.05]
    assert values.max() < 2 and values.max() > 1.5

    def size(**params: float) -> float:
        frame = at("46", layer="conv1.terms.8", params={"degree": 8, **params})
        return float(np.linalg.norm(part(frame).values) / np.linalg.norm(part(frame).x))

    assert size() < 1.01 and size(lambda_max=1.0) > 1e3
    for degree in (1, 2, 3):
        frame = at("46", layer="conv1", params={"degree": degree})
        np.testing.assert_array_equal(heard(frame) > 0, hops(frame) <= degree)


def test_lesson_47_half_and_half_again() -> None:
    frame = at("47")
    kept = {name: int(found.astype(bool).sum()) for name, found in part(frame).sets.items()}
    assert part(frame).structure.nodes == 24 and kept == {"survivors1": 12, "survivors2": 6}
    assert holds(at("47", "permute:2"))
    assert part(at("47", params={"ratio": 0.25})).sets["survivors1"].astype(bool).sum() < 12
    rows = part(at("47", "permute:3", model="sort-pool", layer="sorted", params={}))
    np.testing.assert_allclose(rows.moved, rows.values, atol=1e-5)
    shares = part(at("47", model="diff-pool", layer="assignment", params={})).values
    assert (shares > 0).all() and np.allclose(shares.sum(1), 1.0, atol=1e-5)
    for name in ("sort-pool", "diff-pool"):
        assert holds(at("47", "permute:3", model=name, layer="head", params={}))


def test_lesson_48_the_explanation_is_the_house() -> None:
    frame = at("48")
    own = part(frame)
    assert np.flatnonzero(own.sets["explained"]).tolist() == [300]
    edges, mask = own.structure.edges, own.values[:, 0]
    walls = {frozenset((300 + a, 300 + b)) for a, b in WALLS}
    inside = np.array([frozenset(edge) in walls for edge in edges.T.tolist()])
    near = (hops(frame)[edges] >= 0).all(0) & (hops(frame)[edges] <= 3).all(0)
    assert inside.sum() == 12
    rest = mask[near & ~inside]
    above = (mask[inside][:, None] > rest).mean() + 0.5 * (mask[inside][:, None] == rest).mean()
    assert above > 0.8, "the area under the curve of house against surroundings"
    assert error(frame, "edge_mask") < EXACT
    once = part(at("48", params={"epochs": 1})).values[:, 0]
    np.testing.assert_allclose(once[once > 0], 0.5, atol=0.02)
    assert (once > 0).sum() == (mask > 0).sum()


@pytest.mark.parametrize(
    ("card", "culprit"),
    [("fault-neighbour-cap", "aggregate2"), ("fault-node-number", "numbered"), ("fault-readout", "readout")],
)
def test_lesson_49_only_the_culprit_is_high_on_its_own(card: str, culprit: str) -> None:
    frame = at("49", model=card)
    assert broken(frame) == [culprit]
    order = names(frame)
    assert all(error(frame, name) < EXACT for name in order[: order.index(culprit)])
    assert all(error(frame, name) > 1e-3 for name in order[order.index(culprit) :])
    if card == "fault-neighbour-cap":
        assert holds(at("49", "swap:0,33")), "the list of edges keeps its order"
