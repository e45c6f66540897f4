"""Graphs are read back as they were written, and networkx, scipy, torch and RDKit read them too."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.data.writers import writable, write_file, writers
from explorer.declare.samples import Sample
from explorer.spaces.graph.drawing.layout.given import set_apart
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways
from explorer.spaces.grid.sample import image_sample

RICH = (".graphml", ".gml", ".json", ".npz", ".safetensors", ".pt")
FLOATS = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@st.composite
def graphs(draw: st.DrawFn) -> Sample:
    """Draw a graph with weights, names, attributes, classes; directed or not, parallel edges and loops included."""
    nodes = draw(st.integers(1, 6))
    directed = draw(st.booleans())
    ends = st.integers(0, nodes - 1)
    pairs = np.array(draw(st.lists(st.tuples(ends, ends), max_size=9)), np.int64).reshape(-1, 2)
    if directed:
        index, origin = pairs.T, np.arange(len(pairs))
    else:
        index, origin = both_ways(pairs)
    whole: dict[str, Any] = {}
    if draw(st.booleans()):
        whole["edge_weight"] = np.array(draw(st.lists(FLOATS, min_size=len(pairs), max_size=len(pairs))))[origin]
    if draw(st.booleans()):
        row = st.lists(FLOATS, min_size=2, max_size=2)
        rows = draw(st.lists(row, min_size=len(pairs), max_size=len(pairs)))
        whole["edge_attr"] = np.array(rows).reshape(-1, 2)[origin]
    if draw(st.booleans()):
        text = st.text(string.ascii_letters + "äß&<>\"'é ,;#[]", min_size=1, max_size=8).map(lambda t: "n" + t.strip())
        whole["names"] = tuple(draw(st.lists(text, min_size=nodes, max_size=nodes)))
    for key, width in (("label", 0), ("seeds", 0), ("position", draw(st.sampled_from([2, 3])))):
        if draw(st.booleans()):
            values = st.lists(FLOATS, min_size=width, max_size=width) if width else st.integers(-1, 3)
            whole[key] = np.array(draw(st.lists(values, min_size=nodes, max_size=nodes)))
    channels = draw(st.integers(0, 3))
    row = st.lists(FLOATS, min_size=channels, max_size=channels)
    x = np.array(draw(st.lists(row, min_size=nodes, max_size=nodes)), np.float32) if channels else None
    return graph_sample("drawn", x, index.reshape(2, -1), nodes=nodes, directed=directed, **whole)


def edges_of(sample: Sample, skip: tuple[str, ...] = ()) -> list[tuple[float, ...]]:
    """Return the listed edges with their values in an order that does not depend on the listing."""
    index = np.asarray(sample.signals["edge_index"].values, np.float64)
    columns = [*index]
    for key in ("edge_weight", "edge_attr"):
        if key in sample.signals and key not in skip:
            columns += list(np.atleast_2d(np.asarray(sample.signals[key].values, np.float64).T))
    return sorted(map(tuple, np.array(columns).T.tolist()))


def same(sample: Sample, again: Sample) -> None:
    assert again.domain == sample.domain and again.names == sample.names
    ones = "edge_weight" in sample.signals and bool((sample.signals["edge_weight"].values == 1).all())
    skip = ("edge_weight",) if ones else ()  # weights that are all ones are no weights in a matrix
    assert edges_of(again, skip) == edges_of(sample, skip)
    for key in ("x", "position", "label", "seeds", "batch"):
        if key == "label" and key in sample.signals and key not in again.signals:
            raise AssertionError("the classes are lost")
        if key in sample.signals:
            assert_array_equal(again.signals[key].values, sample.signals[key].values)
        else:
            assert key not in again.signals


@pytest.mark.parametrize("ending", RICH)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sample=graphs())
def test_rich_formats_give_back_all(ending: str, sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / f"drawn{ending}"
    write_file(sample, path)
    again = read_file(path)
    same(sample, again)
    assert again.directed == sample.directed or ending in (".npz",)
    # the second time nothing moves at all
    write_file(again, path)
    third = read_file(path)
    assert_array_equal(third.signals["edge_index"].values, again.signals["edge_index"].values)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sample=graphs(), ending=st.sampled_from([".csv", ".tsv", ".edges", ".txt"]))
@pytest.mark.slow
def test_lists_of_edges_give_back_edges_and_values(sample: Sample, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"drawn{ending}"
    path.unlink(missing_ok=True)
    if not sample.signals["edge_index"].values.size:
        with pytest.raises(ValueError, match="has no edges"):
            write_file(sample, path)
        assert not list(tmp_path.glob(".drawn*")) and not path.exists()
        return
    write_file(sample, path)
    again = read_file(path)
    assert again.directed == sample.directed and len(again.x.values) == len(sample.x.values)
    if again.names:  # numbered in the order in which they come
        at = [sample.names.index(name) for name in again.names]
        index = np.array(at)[again.signals["edge_index"].values]
        extra = {k: again.signals[k].values for k in ("edge_weight", "edge_attr") if k in again.signals}
        again = graph_sample("again", None, index, nodes=len(at), **extra)  # type: ignore[arg-type]
    assert edges_of(again) == edges_of(sample)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sample=graphs())
def test_matrices_give_back_edges_and_weights(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "drawn.mtx"
    index = sample.signals["edge_index"].values
    if len(set(map(tuple, index.T.tolist()))) < index.shape[1]:
        with pytest.raises(ValueError, match="parallel"):
            write_file(sample, path)
        return
    write_file(sample, path)
    again = read_file(path)
    ones = "edge_weight" not in again.signals
    if ones and "edge_weight" in sample.signals:
        assert (sample.signals["edge_weight"].values == 1).all()
    skip = ("edge_attr", "edge_weight") if ones else ("edge_attr",)
    assert edges_of(again, skip) == edges_of(sample, skip)


def test_networkx_reads_what_is_written(tmp_path: Path) -> None:
    sample = find_sample("les-miserables")
    theirs = nx.les_miserables_graph()
    for ending, read in ((".graphml", nx.read_graphml), (".gml", nx.read_gml)):
        write_file(sample, tmp_path / f"a{ending}")
        graph = read(tmp_path / f"a{ending}")
        if ending == ".graphml":
            graph = nx.relabel_nodes(graph, {n: d["name"] for n, d in graph.nodes(data=True)})
        assert set(graph) == set(theirs) and graph.number_of_edges() == 254
        assert all(graph[a][b]["weight"] == d["weight"] for a, b, d in theirs.edges(data=True))
    write_file(sample, tmp_path / "a.json")
    import json

    graph = nx.node_link_graph(json.loads((tmp_path / "a.json").read_text()), edges="links")
    assert graph.number_of_edges() == 254 and not graph.is_multigraph() and not graph.is_directed()
    multi = find_sample("konigsberg")
    for ending, read in ((".graphml", nx.read_graphml), (".gml", nx.read_gml)):
        write_file(multi, tmp_path / f"m{ending}")
        graph = read(tmp_path / f"m{ending}")
        assert graph.is_multigraph() and graph.number_of_edges() == 7
    flights = find_sample("flights")
    write_file(flights, tmp_path / "f.csv")
    graph = nx.read_weighted_edgelist(
        (line for line in (tmp_path / "f.csv").read_bytes().splitlines()[2:]), delimiter=",", create_using=nx.DiGraph
    )
    assert graph["Lisbon"]["Madrid"]["weight"] == 34 and not graph.has_edge("London", "Lisbon")


def test_scipy_and_torch_read_what_is_written(tmp_path: Path) -> None:
    import scipy.io
    import scipy.sparse
    import torch
    from safetensors.numpy import load_file

    sample = find_sample("flights")
    dense = np.zeros((12, 12))
    dense[tuple(sample.signals["edge_index"].values)] = sample.signals["edge_weight"].values
    for ending in (".npz", ".mtx", ".pt", ".safetensors"):
        write_file(sample, tmp_path / f"a{ending}")
    assert_array_equal(scipy.sparse.load_npz(tmp_path / "a.npz").toarray(), dense)
    assert_array_equal(scipy.io.mmread(tmp_path / "a.mtx").toarray(), dense)
    index = sample.signals["edge_index"].values
    assert_array_equal(torch.load(tmp_path / "a.pt", weights_only=True)["edge_index"], index)
    assert_array_equal(load_file(tmp_path / "a.safetensors")["edge_index"], index)


@pytest.mark.parametrize("name", ["caffeine", "aspirin", "decalin", "taurine", "molecules"])
def test_molecules_give_back_atoms_and_bonds(name: str, tmp_path: Path) -> None:
    sample = find_sample(name)
    write_file(sample, tmp_path / "a.sdf")
    again = read_file(tmp_path / "a.sdf")
    assert edges_of(again) == edges_of(sample)
    assert_array_equal(again.x.values, sample.x.values)
    if "batch" in sample.signals:
        assert_array_equal(again.signals["batch"].values, sample.signals["batch"].values)
        with pytest.raises(ValueError, match=r"choose \.sdf"):
            write_file(sample, tmp_path / "a.mol")
    else:
        assert np.abs(again.signals["position"].values - sample.signals["position"].values).max() < 1e-3
        chem = pytest.importorskip("rdkit.Chem")
        write_file(sample, tmp_path / "a.smi")
        theirs = chem.MolFromMolFile(str(tmp_path / "a.sdf"))
        assert (tmp_path / "a.smi").read_text().split() == [chem.MolToSmiles(theirs)]


def test_xyz_gives_back_points_and_molecules(tmp_path: Path) -> None:
    torus = find_sample("torus")
    write_file(torus, tmp_path / "t.xyz")
    again = read_file(tmp_path / "t.xyz")
    assert again.domain == "set" and np.abs(again.x.values - torus.x.values).max() < 1e-6
    caffeine = find_sample("caffeine")
    notes = write_file(caffeine, tmp_path / "c.xyz")
    assert "by distance" in notes[0]
    bonds = read_file(tmp_path / "c.xyz").signals["edge_index"].values
    assert set(map(tuple, bonds.T)) == set(map(tuple, caffeine.signals["edge_index"].values.T))


def test_sets_give_back_points(tmp_path: Path) -> None:
    chair = find_sample("chair")
    for ending in (".json", ".npz", ".safetensors", ".pt"):
        write_file(chair, tmp_path / f"c{ending}")
        same(chair, read_file(tmp_path / f"c{ending}"))


def test_what_cannot_be_written_is_refused_and_nothing_is_left_behind(tmp_path: Path) -> None:
    karate = find_sample("karate")
    for name, match in (
        ("a.png", "choose one of"), ("a", "choose one of"), ("a.sdf", "no molecule"), ("a.smi", "no molecule"),
        ("a.xyz", "no coordinates"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(ValueError, match=match) as caught:
            write_file(karate, tmp_path / name)
        assert "\n" not in str(caught.value) and (tmp_path / name).read_bytes() == b"old"
    with pytest.raises(ValueError, match="parallel"):
        write_file(find_sample("konigsberg"), tmp_path / "a.mtx")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "a.png", "a.sdf", "a.smi", "a.xyz"]
    notes = write_file(karate, tmp_path / "a.mtx")
    assert "label" in notes[0] and "names" in notes[0]


def test_an_undirected_graph_whose_directions_differ_is_written_as_directed(tmp_path: Path) -> None:
    lopsided = graph_sample("l", None, np.array([[0, 1], [1, 0]]), edge_weight=np.array([1.0, 2.0]))
    assert "directed" in write_file(lopsided, tmp_path / "l.json")[0]
    again = read_file(tmp_path / "l.json")
    assert again.directed and edges_of(again) == edges_of(lopsided)


def test_images_go_to_their_own_writer(tmp_path: Path) -> None:
    image = image_sample(np.arange(12.0).reshape(1, 3, 4), "i")
    assert write_file(image, tmp_path / "i.npy") == ()
    assert_array_equal(read_file(tmp_path / "i.npy").x.values, image.x.values)
    assert ".npz" in writable("grid") and ".npz" in writable("graph") and ".gml" not in writable("grid")
    endings = [e for writer in writers("graph").values() for e in writer.extensions]
    assert len(endings) == len(set(endings))


def test_molecules_of_one_file_lie_where_it_says_and_are_drawn_apart(tmp_path: Path) -> None:
    """A ligand in its pocket, beside another: the places of both count, and none is drawn over the other."""
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem import AllChem

    given = []
    with chem.SDWriter(str(tmp_path / "a.sdf")) as out:
        for smiles, away in (("CCO", 3.0), ("C#N", 4.0)):
            molecule = chem.AddHs(chem.MolFromSmiles(smiles))
            AllChem.EmbedMolecule(molecule, randomSeed=1)
            given.append(molecule.GetConformer().GetPositions().round(4) + away)
            for atom, place in enumerate(given[-1]):
                molecule.GetConformer().SetAtomPosition(atom, place.tolist())
            out.write(molecule)
    both = read_file(tmp_path / "a.sdf")
    places = both.signals["position"].values
    assert np.abs(places - np.concatenate(given)).max() < 1e-4
    for part, wanted in (("1", given[0]), ("2", given[1])):
        assert np.abs(read_file(tmp_path / "a.sdf", part).signals["position"].values - wanted).max() < 1e-4
    batch = both.signals["batch"].values
    drawn = set_apart(places, batch)
    left, right = drawn[batch == 0], drawn[batch == 1]
    assert left[:, 0].max() < right[:, 0].min()
    np.testing.assert_allclose(right - right.mean(0), given[1] - given[1].mean(0), atol=1e-4)
    assert set_apart(drawn, batch) is drawn  # those that lie apart stay
