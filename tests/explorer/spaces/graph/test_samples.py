"""Every shipped graph and set, those made from a text, and their thumbnails."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from explorer.data.finding import find_sample, samples
from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import element_of
from explorer.spaces.graph.drawing.thumbnail import graph_thumbnail
from explorer.spaces.graph.samples.edges import both_ways, is_symmetric, once
from explorer.spaces.graph.samples.molecules import FOLDER, SMILES
from explorer.spaces.graph.samples.texts import random_graph
from explorer.spaces.graph.samples.wl_pairs import PAIRS

NAMES = sorted(name for name, spec in samples().items() if spec.domain in ("graph", "set"))

KEYS = {"x", "edge_index", "edge_attr", "edge_weight", "position", "label", "seeds", "batch"}


def index_of(sample: Sample) -> np.ndarray:
    return np.asarray(sample.signals["edge_index"].values)


def to_networkx(sample: Sample, part: int | None = None) -> nx.Graph:
    graph = nx.DiGraph() if sample.directed else nx.Graph()
    keep = sample.signals["batch"].values == part if part is not None else np.ones(len(sample.x.values), bool)
    graph.add_nodes_from(np.flatnonzero(keep).tolist())
    graph.add_edges_from((int(a), int(b)) for a, b in index_of(sample).T if keep[a])
    return graph


@pytest.mark.parametrize("name", NAMES)
def test_every_graph_keeps_its_word(name: str) -> None:
    spec = samples()[name]
    assert spec.title and spec.summary
    made, again = spec.make(), spec.make()
    assert made.name == name and made.domain == spec.domain and made.title and made.source
    for key, signal in made.signals.items():
        assert_array_equal(signal.values, again.signals[key].values)
        assert not signal.values.flags.writeable and np.isfinite(signal.values).all()
    index, nodes = index_of(made), len(made.x.values)
    assert made.x.values.dtype == np.float32 and index.dtype == np.int64 and nodes > 0
    assert index.min(initial=0) >= 0 and index.max(initial=0) < nodes
    places = {"edge_index": 2, "edge_attr": index.shape[1], "edge_weight": index.shape[1]}
    for key, signal in made.signals.items():
        assert len(signal.values) == places.get(key, nodes), key
        assert signal.values.ndim == (1 if key in ("label", "seeds", "batch", "edge_weight") else 2), key
        assert signal.values.dtype == (np.int64 if key in ("label", "seeds", "batch", "edge_index") else np.float32)
    assert list(made.signals)[:2] == ["x", "edge_index"] and set(made.signals) <= KEYS
    if "position" in made.signals:
        assert made.signals["position"].values.shape[1] in (2, 3)
    assert (made.domain == "set") == (index.shape[1] == 0)
    assert made.directed == ("directed" in spec.tags)
    if not made.directed:
        weights = [made.signals[k].values for k in ("edge_weight", "edge_attr") if k in made.signals]
        assert is_symmetric(index, *weights)
    assert ("batch" in made.signals) == ("batch" in spec.tags)
    if "batch" in spec.tags:
        batch = made.signals["batch"].values
        assert batch[0] == 0 and set(np.diff(batch)) <= {0, 1} and (batch[index[0]] == batch[index[1]]).all()
    if "seeds" in made.signals:
        seeds = made.signals["seeds"].values
        told = seeds >= 0
        assert told.any() and (seeds[~told] == -1).all() and set(seeds[told]) == set(range(seeds.max() + 1))
        if "label" in made.signals:
            label = made.signals["label"].values
            assert (seeds[told] == label[told]).all()
            assert set(seeds[told]) == set(label[label >= 0]), "a class that no node is told"
    assert len(made.names) in (0, nodes) and all(made.names)
    assert made.domain == "set" or len(set(made.names)) == len(made.names), "elements of a set may be alike"


@pytest.mark.parametrize("name", NAMES)
def test_thumbnails_are_pictures(name: str) -> None:
    made = samples()[name].make()
    picture = graph_thumbnail(made)
    assert picture.shape == (48, 48, 3) and picture.dtype == np.uint8
    assert np.ptp(picture.astype(int)) > 40, "nothing is drawn"
    assert_array_equal(picture, graph_thumbnail(made))
    assert graph_thumbnail(made, 20).shape == (20, 20, 3)


def test_known_graphs_are_those_of_networkx() -> None:
    for name, graph in {
        "karate": nx.karate_club_graph(), "les-miserables": nx.les_miserables_graph(),
        "florentine-families": nx.florentine_families_graph(), "southern-women": nx.davis_southern_women_graph(),
        "grid-graph": nx.grid_2d_graph(8, 8), "tree": nx.balanced_tree(2, 4), "path-20": nx.path_graph(20),
        "ring-16": nx.cycle_graph(16), "bottleneck": nx.barbell_graph(10, 3), "konigsberg": None,
    }.items():  # fmt: skip
        if graph is not None:
            assert nx.faster_could_be_isomorphic(to_networkx(find_sample(name)), nx.Graph(graph)), name
    karate = find_sample("karate")
    clubs = [data["club"] for _, data in nx.karate_club_graph().nodes(data=True)]
    assert [("Mr. Hi", "Officer")[k] for k in karate.signals["label"].values] == clubs
    assert karate.names[0] == "Mr. Hi" and karate.names[33] == "Officer"
    women = find_sample("southern-women")
    assert nx.is_bipartite(to_networkx(women))
    kinds = women.signals["label"].values
    assert (kinds[index_of(women)[0]] != kinds[index_of(women)[1]]).all()
    weights = find_sample("les-miserables").signals["edge_weight"].values
    assert weights.sum() == 2 * nx.les_miserables_graph().size("weight")
    assert sorted(np.bincount(index_of(find_sample("konigsberg"))[0]).tolist()) == [3, 3, 3, 5]
    assert nx.diameter(to_networkx(find_sample("bottleneck"))) == 6


# colour refinement, distances and returns, as computed here from their definitions


def distances(graph: nx.Graph) -> list[list[float]]:
    # -1 for pairs that no path joins
    found = dict(nx.all_pairs_shortest_path_length(graph))
    return sorted(sorted(found[a].get(b, -1) for b in graph) for a in graph)


def returns(graph: nx.Graph, steps: int) -> list[tuple[float, ...]]:
    walk = nx.to_numpy_array(graph)
    walk /= walk.sum(1, keepdims=True)
    powers = [np.diag(np.linalg.matrix_power(walk, k)) for k in range(1, steps + 1)]
    return sorted(tuple(np.round(row, 9)) for row in np.array(powers).T)


# told by: distances, returns within 3, 5 and 8 steps, the spectrum of the normalised Laplacian
TOLD = {
    "wl-hexagon": (True, True, True, True, True),
    "wl-domino": (True, True, True, True, True),
    "wl-decalin": (True, False, True, True, True),
    "wl-csl-2-3": (True, True, True, True, True),
    "wl-csl-9-11": (True, False, False, True, True),
    "wl-rook": (False, False, False, False, False),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_not_the_same_and_1_wl_does_not_see_it(name: str) -> None:
    made = find_sample(name)
    first, second = to_networkx(made, 0), to_networkx(made, 1)
    assert not nx.is_isomorphic(first, second) and len(first) == len(second)
    # both at once, so that colours mean the same
    both = to_networkx(made)
    colour = dict.fromkeys(both, 0)
    for _ in range(len(both)):
        told = {n: (colour[n], tuple(sorted(colour[m] for m in both[n]))) for n in both}
        ranks = {c: k for k, c in enumerate(sorted(set(told.values())))}
        colour = {n: ranks[told[n]] for n in both}
    assert sorted(colour[n] for n in first) == sorted(colour[n] for n in second)
    seen = [distances(first) != distances(second)]
    seen += [returns(first, steps) != returns(second, steps) for steps in (3, 5, 8)]
    spectra = [np.linalg.eigvalsh(nx.normalized_laplacian_matrix(g).toarray()) for g in (first, second)]
    seen.append(not np.allclose(*spectra, atol=1e-9))
    assert tuple(seen) == TOLD[name]


def test_molecules_are_those_of_rdkit() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    assert {path.stem for path in FOLDER.glob("*.sdf")} == set(SMILES)
    for name in SMILES:
        made = find_sample(name)
        theirs = chem.MolFromMolFile(str(FOLDER / f"{name}.sdf"), removeHs=False)
        assert [element_of(n) for n in made.names] == [a.GetSymbol() for a in theirs.GetAtoms()]
        bonds = sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in theirs.GetBonds())
        index = index_of(made)
        forward = index[:, : index.shape[1] // 2]
        assert sorted(map(tuple, forward.T.tolist())) == bonds
        places = theirs.GetConformer().GetPositions()[:, : made.signals["position"].values.shape[1]]
        assert np.abs(made.signals["position"].values - places).max() < 1e-6


def test_multisets_do_what_they_promise() -> None:
    for name, same in {"mean": ("mean", "max"), "max": ("max",), "sum": ("sum", "mean")}.items():
        made = find_sample(f"multisets-{name}")
        x, batch = made.x.values[:, 0], made.signals["batch"].values
        for kind, aggregate in {"mean": np.mean, "max": np.max, "sum": np.sum}.items():
            equal = bool(np.isclose(aggregate(x[batch == 0]), aggregate(x[batch == 1])))
            assert equal == (kind in same), (name, kind)


# lists of edges and texts


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_both_ways_and_once_are_inverse(pairs: list[tuple[int, int]]) -> None:
    index, origin = both_ways(np.array(pairs, np.int64).reshape(-1, 2))
    assert is_symmetric(index) and len(origin) == index.shape[1]
    for k, source in enumerate(origin):
        assert sorted(index[:, k]) == sorted(pairs[source])
    kept = index[:, once(index)].T.tolist()
    assert sorted(map(tuple, kept)) == sorted((min(p), max(p)) for p in pairs)
    lopsided = np.concatenate([index, [[7], [8]]], 1)
    assert not is_symmetric(lopsided)


def test_symmetry_sees_values() -> None:
    index = np.array([[0, 1], [1, 0]])
    assert is_symmetric(index, np.array([2.0, 2.0])) and not is_symmetric(index, np.array([2.0, 3.0]))


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(0, 780), st.integers(0, 9))
def test_random_graphs_are_simple(nodes: int, edges: int, seed: int) -> None:
    most = nodes * (nodes - 1) // 2
    if edges > most:
        with pytest.raises(ValueError, match="at most"):
            find_sample(f"graph:{nodes}x{edges}", seed)
        return
    made = find_sample(f"graph:{nodes}x{edges}x3", seed)
    graph = to_networkx(made)
    assert made.x.values.shape == (nodes, 3) and graph.number_of_edges() == edges
    assert nx.number_of_selfloops(graph) == 0
    assert_array_equal(index_of(made), index_of(find_sample(f"graph:{nodes}x{edges}x3", seed)))


def test_every_pair_is_as_likely() -> None:
    counts = np.zeros((5, 5))
    for seed in range(400):
        index = random_graph(5, 3, np.random.default_rng(seed))
        counts[index[0], index[1]] += 1
    off = counts[np.triu_indices(5, 1)]
    assert abs(off.sum() - 1200) < 1e-9 and (np.abs(off - 120) < 5 * np.sqrt(120 * 0.7)).all()


def test_large_random_graphs_have_the_right_number() -> None:
    index = random_graph(100_000, 200_000, np.random.default_rng(0))
    assert len(np.unique(index[0] * 100_000 + index[1])) == 400_000 and (index[0] != index[1]).all()


def test_block_models_have_their_densities() -> None:
    made = find_sample("sbm:200,100:0.3:0.05", 3)
    label, index = made.signals["label"].values, index_of(made)
    assert_array_equal(np.bincount(label), [200, 100])
    inside = label[index[0]] == label[index[1]]
    pairs_inside = 200 * 199 + 100 * 99
    assert abs(inside.sum() / pairs_inside - 0.3) < 0.02
    assert abs((~inside).sum() / (2 * 200 * 100) - 0.05) < 0.01
    seeds = made.signals["seeds"].values
    assert sorted(seeds[seeds >= 0]) == [0, 1] and (label[seeds >= 0] == seeds[seeds >= 0]).all()


@pytest.mark.parametrize(
    "text",
    ["graph:", "graph:5", "graph:0x0", "graph:5x-1", "graph:3x4", "graph:99999999x1", "graph:100000x99999999",
     "graph:9x1x99999", "sbm:", "sbm:4,4:2:0.1", "sbm:4,x:0.1:0.1", "sbm:4,4:1..2:0", "sbm:0,4:0.5:0.5",
     "sbm:90000,90000:0.5:0.5", "smiles:"],
)  # fmt: skip
def test_bad_texts_are_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        find_sample(text)
    assert text[:6] in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="seed"):
        find_sample("graph:4x2", -1)


def test_names_are_unique_among_all_samples() -> None:
    assert len(NAMES) >= 40
    for a, b in itertools.pairwise(NAMES):
        assert a != b and a == a.lower() and ":" not in a
