"""Features of nodes and the fitting of graphs to cards, against networkx and by hand."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from explorer.data.finding import find_sample
from explorer.declare.samples import Sample
from explorer.spaces.graph.analysis.measures import clustering, core_numbers, simple_graph
from explorer.spaces.graph.network.beside import beside_told, beside_way
from explorer.spaces.graph.network.features import fit_graph, node_features, told_nodes
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.grid.network.fit import fit

PATH = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])


def of_networkx(graph: nx.Graph) -> np.ndarray:
    pairs = np.array(graph.edges(), np.int64).reshape(-1, 2)
    return np.concatenate([pairs, pairs[:, ::-1]]).T


@settings(max_examples=60)
@given(st.integers(1, 25), st.integers(0, 99), st.floats(0, 1), st.booleans())
@pytest.mark.slow
def test_clustering_and_cores_are_those_of_networkx(nodes: int, seed: int, share: float, odd: bool) -> None:
    graph = nx.gnp_random_graph(nodes, share, seed)
    index = of_networkx(graph)
    if odd:  # self-loops, doubled edges and single directions are forgotten
        loops = np.tile(np.arange(nodes), (2, 1))
        index = np.concatenate([loops, index[:, : index.shape[1] // 2], index[:, : index.shape[1] // 2]], 1)
    simple = simple_graph(index, nodes)
    assert_allclose(clustering(simple), [nx.clustering(graph)[i] for i in range(nodes)], atol=1e-12)
    assert_array_equal(core_numbers(simple), [nx.core_number(graph)[i] for i in range(nodes)])


@pytest.mark.slow
def test_clustering_of_hubs() -> None:
    graph = nx.barabasi_albert_graph(400, 6, seed=3)
    graph.add_edges_from((0, i) for i in range(1, 400))
    whole = clustering(simple_graph(of_networkx(graph), 400))
    assert_allclose(whole, [nx.clustering(graph)[i] for i in range(400)], atol=1e-12)


def test_each_kind_is_what_the_contract_says() -> None:
    sample = find_sample("karate")
    seeds = node_features(sample, "seeds")
    assert seeds.shape == (34, 6) and seeds.dtype == np.float32
    assert_array_equal(np.argwhere(seeds[:, :4]), [[0, 0], [33, 1]])
    graph = nx.karate_club_graph()
    degree = np.log1p([graph.degree(n) for n in range(34)]) / 4  # without weights
    assert_array_equal(seeds[:, 4], 1)
    assert_allclose(seeds[:, 5], degree, rtol=1e-6)
    four = node_features(sample, "degree")
    assert_allclose(four[:, 2], [nx.clustering(graph)[n] for n in range(34)], rtol=1e-6)
    assert_allclose(four[:, 3] * 8, [nx.core_number(graph)[n] for n in range(34)], rtol=1e-6)
    assert_array_equal(node_features(sample, "constant", 3), np.ones((34, 3)))
    caffeine = node_features(find_sample("caffeine"), "atoms")
    assert_array_equal(caffeine.sum(0), [10, 8, 4, 2, 0, 0, 0, 0])
    torus = find_sample("torus")
    assert_array_equal(node_features(torus, "position"), torus.signals["position"].values)
    with pytest.raises(ValueError, match="no coordinates"):
        node_features(sample, "position")
    with pytest.raises(ValueError, match="no features 'colour'"):
        node_features(sample, "colour")


@settings(max_examples=30)
@given(st.integers(2, 20), st.integers(0, 99), st.sampled_from(["seeds", "degree", "constant"]), st.randoms())
def test_features_move_with_the_nodes(nodes: int, seed: int, kind: str, shuffle: object) -> None:
    generator = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(nodes, 0.4, seed)
    told = generator.integers(-1, 4, nodes)
    order = generator.permutation(nodes)
    index = of_networkx(graph)
    first = graph_sample("a", None, index, nodes=nodes, seeds=told)
    moved_told = np.empty(nodes, np.int64)
    moved_told[order] = told
    second = graph_sample("b", None, order[index], nodes=nodes, seeds=moved_told)
    assert_array_equal(node_features(second, kind)[order], node_features(first, kind))


def test_without_seeds_two_that_are_not_joined_stand_for_the_classes() -> None:
    star = of_networkx(nx.disjoint_union(nx.star_graph(5), nx.star_graph(3)))
    told, note = told_nodes(graph_sample("s", None, star))
    assert_array_equal(np.argwhere(told >= 0)[:, 0], [0, 6])
    assert_array_equal(told[[0, 6]], [0, 1])
    assert "0 and 6" in note
    complete, _ = told_nodes(graph_sample("k", None, of_networkx(nx.complete_graph(3))))
    assert sorted(complete.tolist()) == [-1, 0, 1]
    single, _ = told_nodes(graph_sample("one", None, np.zeros((2, 0), int), nodes=1))
    assert single.tolist() == [0]


def sample(**signals: object) -> Sample:
    return graph_sample("path", None, PATH, nodes=3, **signals)  # type: ignore[arg-type]


def test_fitting_makes_what_is_missing_and_says_so() -> None:
    wanted = GraphInput(6, ("x", "edge_index", "edge_attr", "edge_weight", "batch"), edge_channels=1)
    fitted = fit_graph(sample(), wanted)
    assert fitted.x.values.shape == (3, 6)
    assert_array_equal(fitted.signals["edge_weight"].values, np.ones(4))
    assert_array_equal(fitted.signals["edge_attr"].values, np.ones((4, 1)))
    assert_array_equal(fitted.signals["batch"].values, np.zeros(3))
    assert any("no node is told" in note for note in fitted.notes)
    assert next(iter(fitted.signals)) == "x"
    weighted = fit_graph(sample(edge_weight=np.array([1, 2, 3, 4])), wanted)
    assert_array_equal(weighted.signals["edge_attr"].values[:, 0], [1, 2, 3, 4])
    wide = fit_graph(
        sample(edge_attr=np.ones((4, 3))), GraphInput(6, ("x", "edge_index", "edge_attr"), edge_channels=2)
    )
    assert wide.signals["edge_attr"].values.shape == (4, 2) and any("cut to 2" in n for n in wide.notes)


def test_own_attributes_are_kept_where_the_width_is_right() -> None:
    x = np.arange(6.0).reshape(3, 2)
    own = graph_sample("own", x, PATH)
    assert_array_equal(fit_graph(own, GraphInput(2)).x.values, x)
    assert_array_equal(fit_graph(own, GraphInput(None)).x.values, x)
    replaced = fit_graph(own, GraphInput(4, features="degree"))
    assert_array_equal(replaced.x.values, node_features(own, "degree"))
    assert any("in place of its 2 attributes" in note for note in replaced.notes)
    assert fit_graph(sample(), GraphInput(None, features="constant")).x.values.shape == (3, 1)


def test_without_an_edge_own_numbers_are_kept_and_no_node_is_told() -> None:
    """Of a set every node has as many edges: whichever were told, another one might be."""
    sample = find_sample("latents-1")
    wide = fit_graph(sample, GraphInput(channels=3))
    assert_array_equal(wide.x.values[:, :1], sample.x.values)
    assert not wide.x.values[:, 1:].any() and wide.notes[-1] == "1 column of x filled up with zeros to 3"
    narrow = fit_graph(find_sample("latents-2"), GraphInput(channels=1))
    assert_array_equal(narrow.x.values, find_sample("latents-2").x.values.sum(1, keepdims=True))
    assert narrow.notes[-1] == "2 columns of x added up into 1"
    digits = fit_graph(find_sample("digit-set-5"), GraphInput(channels=3)).x.values
    assert_array_equal(digits.sum(1), 1.0)  # no digit is lost


def test_what_cannot_be_fitted_is_refused_in_one_sentence() -> None:
    for made, wanted, match in (
        (find_sample("digit-3"), GraphInput(), "lies on a grid, and this network takes a graph"),
        (graph_sample("none", None, np.zeros((2, 0), int)), GraphInput(), "has no nodes"),
        (sample(), GraphInput(most=2), "3 nodes, and this network takes at most 2"),
        (sample(), GraphInput(signals=("x", "position")), "no coordinates"),
    ):
        with pytest.raises(ValueError, match=match) as caught:
            fit_graph(made, wanted)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="lies on a graph, and this network takes an image"):
        fit(find_sample("karate"), (1, None, None))


def test_tables_besides_are_called_by_the_names_of_their_arguments() -> None:
    form = GraphInput(channels=3, signals=("x", "edge_index"), beside=(("flow", ("E",)), ("whole", ("1x2",))))
    held, way = beside_way(form, ("x", "edge_index"))
    assert held == way.names == ("x", "edge_index", "flow", "whole")
    named = beside_way(replace(form, names=("feats", "edges")), ("x", "edge_index"))[1].names
    assert named == ("feats", "edges", "flow", "whole")


def test_what_says_tables_besides_has_the_names_of_the_arguments() -> None:
    assert beside_told(("x", "edge_index", "flow")) == "--input 'graph signals=x,edge_index beside=flow:Nx7'"
    said = beside_told(("flow", "feats", "edges"))
    assert said == "--input 'graph signals=x,edge_index names=feats,edges beside=flow:Nx7'"
    assert beside_told(("x", "edge_index")) == "" == beside_told(("flow", "x"))
