"""Readers of graphs against files that networkx, scipy, torch_geometric and RDKit wrote, and against bad ones."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from explorer.data import in_process
from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.data.readers import ReadError
from explorer.data.writers import write_file
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers import edges as edge_lists
from explorer.spaces.graph.samples.molecules import FOLDER


def place(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path) -> str:
    """Return the sentence after checking its form."""
    with pytest.raises(ReadError) as caught:
        read_file(path)
    text = str(caught.value)
    assert text.startswith(f"cannot read {path.name}: ") and text.endswith(".") and ";" in text, text
    assert "\n" not in text and "Traceback" not in text and len(text) < 400, text
    return text


def weights(sample: Sample) -> dict[tuple[str, str], float]:
    names = sample.names or tuple(map(str, range(len(sample.x.values))))
    w = sample.signals["edge_weight"].values if "edge_weight" in sample.signals else np.ones(10**6)
    return {(names[a], names[b]): float(v) for (a, b), v in zip(sample.signals["edge_index"].values.T, w)}


def of_networkx(graph: nx.Graph) -> dict[tuple[str, str], float]:
    found = {(str(a), str(b)): float(w) for a, b, w in graph.edges(data="weight", default=1.0)}
    return found if graph.is_directed() else found | {(b, a): w for (a, b), w in found.items()}


def example(directed: bool) -> nx.Graph:
    graph = (nx.DiGraph if directed else nx.Graph)()
    for i, name in enumerate(("Ann", "Bob", "Zoë", 'O\'Neil & "sons"')):
        graph.add_node(name, age=20.5 + i, club="red" if i % 2 else "blue", happy=i == 2)
    graph.add_edge("Ann", "Bob", weight=2.5)
    graph.add_edge("Bob", "Zoë", weight=0.1)
    graph.add_edge("Zoë", "Ann", weight=3.0)
    graph.add_edge("Zoë", "Zoë", weight=7.0)
    return graph


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ending", [".graphml", ".gml", ".json", ".links.json"])
def test_files_of_networkx(ending: str, directed: bool, tmp_path: Path) -> None:
    graph, path = example(directed), tmp_path / f"a{ending}"
    if ending == ".graphml":
        nx.write_graphml(graph, path)
    elif ending == ".gml":
        nx.write_gml(graph, path)
    else:
        key = "links" if "links" in ending else "edges"
        path.write_text(json.dumps(nx.node_link_data(graph, edges=key)))
    sample = read_file(path)
    assert sample.directed == directed and sample.names == tuple(graph)
    assert weights(sample) == pytest.approx(of_networkx(graph))
    assert_allclose(sample.x.values[:, 0], [20.5, 21.5, 22.5, 23.5])
    assert_array_equal(sample.signals["label"].values, [0, 1, 0, 1])
    told = " ".join(sample.notes)
    assert "1 self-loop" in told and "1 node has no edge" in told and "0 blue, 1 red" in told


def test_multigraphs_of_networkx(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "a")])
    nx.write_graphml(graph, tmp_path / "m.graphml")
    nx.write_gml(graph, tmp_path / "m.gml")
    (tmp_path / "m.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    for ending in (".graphml", ".gml", ".json"):
        sample = read_file(tmp_path / f"m{ending}")
        assert sorted(map(tuple, sample.signals["edge_index"].values.T.tolist())) == [(0, 1), (0, 1), (1, 0)]
        assert any("1 edge is parallel" in note for note in sample.notes)


def test_lists_of_edges_of_networkx(tmp_path: Path) -> None:
    graph = nx.les_miserables_graph()
    nx.write_weighted_edgelist(graph, tmp_path / "a.tsv", delimiter="\t")
    nx.write_edgelist(nx.relabel_nodes(graph, lambda n: n.replace(" ", "_")), tmp_path / "a.edgelist")
    nx.write_edgelist(nx.karate_club_graph(), tmp_path / "k.txt", data=False)
    assert weights(read_file(tmp_path / "a.tsv")) == of_networkx(graph)
    under = {
        (a.replace("_", " "), b.replace("_", " ")): w
        for (a, b), w in weights(read_file(tmp_path / "a.edgelist")).items()
    }
    assert under == of_networkx(graph)
    karate = read_file(tmp_path / "k.txt")
    assert not karate.names and set(weights(karate)) == set(of_networkx(nx.karate_club_graph()))


@pytest.mark.parametrize(
    ("text", "edges", "nodes"),
    [
        ("0,1\n1,2\n", [(0, 1), (1, 2)], 3),
        ("source,target,weight\n0,1,2\n1,2,3\n", [(0, 1), (1, 2)], 3),
        ("target;source\n1;0\n2;1\n", [(0, 1), (1, 2)], 3),
        ("# remark\n\n7 9\n9 12\n", [(0, 1), (1, 2)], 3),
        ("who,whom\n1,2\n2,3\n", [(0, 1), (1, 2)], 3),
        ("a,b\nb,c\n", [(0, 1), (1, 2)], 3),
        ('"Ann, the 1st",Bob\nBob,Zoe\n', [(0, 1), (1, 2)], 3),
        ("0,1\n1,0\n1,2\n2,1\n", [(0, 1), (1, 2)], 3),
        ("# nodes: 5\n0,1\n1,2\n", [(0, 1), (1, 2)], 5),
        ("\ufeff0,1\r\n1,2\r\n", [(0, 1), (1, 2)], 3),
        ("123456789012 5\n5 -3\n", [(0, 1), (1, 2)], 3),
    ],
)
def test_ways_to_write_a_list_of_edges(text: str, edges: list[tuple[int, int]], nodes: int, tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.csv", text))
    assert len(sample.x.values) == nodes and not sample.directed
    both = sorted(edges + [(b, a) for a, b in edges])
    assert sorted(map(tuple, sample.signals["edge_index"].values.T.tolist())) == both


def test_edges_of_a_spreadsheet_with_decimal_commas(tmp_path: Path) -> None:
    """With a mark of the byte order, semicolons, quotes: the heading was an edge, and no column a weight."""
    rows = "".join(f'"Ort {k}";"Ort {(k + 1) % 5}";0,{k + 1}5\n' for k in range(5))
    path = place(tmp_path, "kanten.csv", "\ufeffvon;nach;gewicht\n" + rows)
    sample = find_sample(str(path))
    assert len(sample.x.values) == 5 and "decimal commas read as points" in sample.notes
    assert any(note.startswith("attributes of edges: gewicht") for note in sample.notes)
    weighted = find_sample(f"{path}?as=edges&weight=3")
    assert sorted({round(w, 2) for w in weights(weighted).values()}) == [0.15, 0.25, 0.35, 0.45, 0.55]
    bare = find_sample(str(place(tmp_path, "bare.csv", rows)))
    assert sorted({round(w, 2) for w in weights(bare).values()}) == [0.15, 0.25, 0.35, 0.45, 0.55]
    either = place(tmp_path, "either.csv", "a\tb\t1,234\nb\tc\t2,345\n")
    assert "decimals or of thousands" in refused(either)


def test_words_above_names_are_no_edge(tmp_path: Path) -> None:
    """Nodes called word and next stood beside the sentence; a first edge of a part of its own is read on request."""
    path = place(tmp_path, "words.csv", "word,next\nthe,cat\ncat,sat\nsat,on\non,the\nthe,mat\n")
    sample = find_sample(str(path))
    assert len(sample.x.values) == 5 and "first line a heading: no other line names word or next" in sample.notes
    assert find_sample(f"{path}?as=edges&header=no").x.values.shape[0] == 7


@pytest.mark.parametrize("text", ["a,b\nb,c\nc,d\nd,a\n", "a,b\nc,d\ne,f\ng,h\n", "a,b\nc,d\nd,e\n"])
def test_a_first_edge_between_names_is_an_edge(text: str, tmp_path: Path) -> None:
    """It shares a name with others, others stand apart as well, or there are too few to tell."""
    sample = find_sample(str(place(tmp_path, "a.csv", text)))
    assert len(sample.x.values) == len(set(text) - set(",\n")) and not any("heading" in note for note in sample.notes)


def test_gephi_says_what_is_directed(tmp_path: Path) -> None:
    sample = read_file(place(tmp_path, "a.csv", "Source,Target,Type,Weight\na,b,Directed,2\nb,a,Directed,5\n"))
    assert sample.directed and weights(sample) == {("a", "b"): 2, ("b", "a"): 5}
    text = refused(place(tmp_path, "b.csv", "Source,Target,Type\na,b,Directed\nb,a,Undirected\n"))
    assert "1 of 2 edges are directed" in text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "0,1\n1,2\n3\n", "line 3 has no target"),
        ("b.csv", "source,target\na,b\n,c\n", "line 3 has no source"),
        ("c.csv", "source,target,weight\n0,1,2\n1,2,nan\n", "line 3"),
        ("d.csv", "0,1,2\n1,2,inf\n", "line 2"),
        ("e.csv", "0,1,2\n\n1,2,x\n", "line 3 has 'x' where a number must stand"),
        ("f.csv", "# nothing\n", "no line that is an edge"),
        ("g.csv", "hello, this is a text\n" * 9, "line 1 is text"),
        ("h.txt", "one\ntwo\n", "line 1 has one column"),
        ("i.csv", b"\xff\xfe\x00\x01" * 9, "one column"),
        ("j.csv", "a" * 2_000_000, "characters"),
        ("a.gml", 'graph [\n node [\n id 0\n ]\n edge [\n source 0\n target 3\n ]\n]\n', "edge in line 5 leads to 3"),
        ("b.gml", "graph [\n node [\n id 0\n", "truncated"),
        ("c.gml", "graph [\n node [ id 0 ]\n node [ id 0 ]\n]\n", "line 3"),
        ("d.gml", "graph [\n node [ id 0 value NAN ]\n]\n", "line 2"),
        ("e.gml", "graph [\n ]\n", "no nodes"),
        ("f.gml", "graph " + "[ a " * 99, "nested"),
        ("g.gml", "graph [\n node [ id 0 ?\n", "line 2"),
        ("a.json", '{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}', "edge 0 leads to 'b'"),
        ("b.json", '{"nodes": [],\n "links": ]}', "line 2"),
        ("c.json", '{"equiscope": 1, "state": {}}', "session"),
        ("d.json", '{"type": "FeatureCollection"}', "no lists 'nodes'"),
        ("e.json", '{"nodes": [], "links": []}', "no nodes"),
        ("f.json", '{"nodes": [{"id": 0, "v": NaN}], "links": []}', "NaN"),
        ("g.json", "[" * 100_000, "nested"),
        ("h.json", '{"nodes": [{"id": 0}, {"id": 0}], "links": []}', "earlier"),
        ("i.json", '{"nodes": [{"id": 0, "v": 1e999}], "links": []}', "NaN, infinite"),
        ("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 999999999\n1 2 1\n", "line 2 claims 999999999"),
        ("b.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 2 1\n", "not square"),
        ("c.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n1 9 1\n", "ine 4"),
        ("d.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 nan\n1 3 1\n", "NaN"),
        ("e.mtx", "%%MatrixMarket matrix coordinate real general\n", "no size"),
        ("a.xyz", "3\nwater\nO 0 0 0\nH 0 0 1\n", "claims 3 atoms and 2 are there"),
        ("b.xyz", "1\n\nQq 0 0 0\n", "line 3"),
        ("c.xyz", "2\n\nO 0 0 0\nH 0 zero 1\n", "line 4"),
        ("d.xyz", "1 2 3\n4 5\n", "line 2"),
        ("e.xyz", "1 2 3\n4 5 nan\n", "line 2"),
        ("f.xyz", "99999999\n\nO 0 0 0\n", "claims"),
        ("a.sdf", "x\n\n\n  1  0\n", "truncated"),
        ("b.sdf", "x\n\n\n  1  1  0\n    0.0       0.0       0.0    C   0\n  1  7  1\nM  END\n", "line 6 leads to"),
        ("c.sdf", "x\n\n\nnonsense\n", "line 4"),
        ("a.smi", "CCO\nC1CC\n", "line 2"),
        ("b.smi", "# none\n", "no line"),
        ("a.graphml", "<graphml><graph><node id='a'/><edge source='a' target='b'/></graph></graphml>", "'b'"),
        ("b.graphml", "<graphml><graph>\n<node/></graph></graphml>", "line 2 has no 'id'"),
        ("c.graphml", "<graphml>\n<graph>\n<node id=", "line 3"),
        ("d.graphml", "<svg/>", "<svg>"),
        ("e.graphml", "<graphml/>", "no <graph>"),
        ("f.graphml", "<graphml><graph edgedefault='undirected'/></graphml>", "no nodes"),
        ("g.graphml", "<graphml><key id='k' for='node' attr.name='v' attr.type='double'/><graph>\n<node id='a'>"
         "<data key='k'>much</data></node></graph></graphml>", "line 2 holds 'much'"),
        ("h.graphml", "<graphml><graph><hyperedge/></graph></graphml>", "two ends"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_the_place(name: str, content: str | bytes, says: str, tmp_path: Path) -> None:
    if name.endswith(".smi"):
        pytest.importorskip("rdkit")
    assert says in refused(place(tmp_path, name, content))


def test_entity_bombs_are_refused_before_they_expand(tmp_path: Path) -> None:
    lines = ['<!DOCTYPE graphml [<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12)]
    bomb = "\n".join(['<?xml version="1.0"?>', *lines, "]><graphml><graph><node id='&a11;'/></graph></graphml>"])
    assert "line 2" in refused(place(tmp_path, "bomb.graphml", bomb))
    outside = '<!DOCTYPE graphml SYSTEM "file:///etc/passwd"><graphml/>'
    assert "document type" in refused(place(tmp_path, "outside.graphml", outside))


def npz(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return path


def test_an_npz_is_an_image_or_a_graph_by_what_it_holds(tmp_path: Path) -> None:
    import scipy.sparse

    picture = np.random.default_rng(0).random((12, 12))
    assert read_file(npz(tmp_path / "image.npz", arr_0=picture)).domain == "grid"
    assert read_file(npz(tmp_path / "x.npz", x=picture)).domain == "grid"
    matrix = np.array([[0, 2.5, 0], [0, 0, 1], [0, 0, 0]])
    for name, arrays in {
        "named": {"adjacency": matrix}, "beside": {"arr_0": matrix, "x": np.eye(3)},
        "index": {"edge_index": np.array([[0, 1], [1, 2]]), "edge_weight": np.array([2.5, 1])},
    }.items():  # fmt: skip
        sample = read_file(npz(tmp_path / f"{name}.npz", **arrays))
        assert sample.domain == "graph" and sample.directed
        assert weights(sample) == {("0", "1"): 2.5, ("1", "2"): 1}
    for kind in ("csr", "csc", "coo"):
        made = scipy.sparse.coo_array(matrix + matrix.T).asformat(kind)
        scipy.sparse.save_npz(tmp_path / f"{kind}.npz", made)
        sample = read_file(tmp_path / f"{kind}.npz")
        assert not sample.directed and weights(sample)["1", "0"] == 2.5
        assert sample.signals["edge_index"].values.shape == (2, 4)


def test_lying_arrays_are_refused(tmp_path: Path) -> None:
    whole = {"indices": np.array([1, 2]), "indptr": np.array([0, 1, 2, 2]), "format": np.array(b"csr")}
    whole |= {"shape": np.array([3, 3]), "data": np.ones(2)}
    assert read_file(npz(tmp_path / "good.npz", **whole)).signals["edge_index"].values.shape == (2, 2)
    for name, wrong, says in (
        ("indptr", np.array([0, 1, 9, 2]), "indptr"), ("indices", np.array([1, 99]), "node 99"),
        ("shape", np.array([3, 5]), "square"), ("data", np.array([np.nan, 1]), "NaN"),
        ("format", np.array(b"dia"), "'dia'"), ("data", np.array(["a", "b"]), "numbers"),
        ("data", np.array([{}, {}], object), "run code"),
    ):  # fmt: skip
        assert says in refused(npz(tmp_path / f"bad-{name}.npz", **(whole | {name: wrong})))
    index = np.array([[0, 5], [1, 1]])
    assert "leads to node 5" in refused(npz(tmp_path / "d.npz", edge_index=index, x=np.ones((3, 2))))
    assert "edge_index" in refused(npz(tmp_path / "e.npz", edge_index=np.array([[0.5], [1.5]])))
    assert "'x'" in refused(npz(tmp_path / "f.npz", edge_index=index, x=np.ones((3, 2)), num_nodes=np.array(6)))


def test_data_of_torch_geometric_is_read_and_no_pickle_is_run(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from torch_geometric.data import Data

    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x, y = torch.randn(3, 4), torch.tensor([0, 1, 1])
    parts = {"x": x, "edge_index": edge_index, "y": y, "edge_attr": torch.ones(4, 2), "pos": torch.rand(3, 2)}
    torch.save(Data(**parts), tmp_path / "data.pt")
    torch.save(parts, tmp_path / "dict.pt")
    save_file(parts, tmp_path / "s.safetensors")
    for name in ("data.pt", "dict.pt", "s.safetensors"):
        sample = read_file(tmp_path / name)
        assert_array_equal(sample.x.values, x.numpy())
        assert_array_equal(sample.signals["label"].values, y.numpy())
        assert_array_equal(sample.signals["edge_index"].values, edge_index.numpy())
        assert sample.signals["edge_attr"].values.shape == (4, 2) and not sample.directed
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
            return Path.touch, (ran,)

    torch.save({"x": Evil()}, tmp_path / "evil.pt")
    assert "could run code" in refused(tmp_path / "evil.pt")
    refused(place(tmp_path, "plain.pt", pickle.dumps(Evil())))
    assert not ran.exists()
    torch.save(torch.nn.Linear(2, 2).state_dict(), tmp_path / "weights.pt")
    assert "--model" in refused(tmp_path / "weights.pt")


def test_a_data_is_read_without_torch_geometric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import torch
    from torch_geometric.data import Data

    torch.save(Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]])), tmp_path / "data.pt")
    torch.save({"x": torch.ones(2, 1), "edge_index": torch.tensor([[0], [1]])}, tmp_path / "dict.pt")
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch_geometric"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("data.pt", "dict.pt"):
        assert len(in_process.read_file(tmp_path / name).x.values) == 2


def test_molecules(tmp_path: Path) -> None:
    water = read_file(place(tmp_path, "w.xyz", "3\nwater\nO 0 0 0.117\nH 0 0.757 -0.469\nH 0 -0.757 -0.469\n"))
    assert weights(water).keys() == {("O1", "H1"), ("O1", "H2"), ("H1", "O1"), ("H2", "O1")}
    assert_array_equal(water.x.values.argmax(1), [3, 0, 0])
    chem = pytest.importorskip("rdkit.Chem")
    molecule = chem.MolFromMolFile(str(FOLDER / "caffeine.sdf"), removeHs=False)
    place(tmp_path, "v3.mol", chem.MolToV3KMolBlock(molecule, kekulize=False))
    old, new = find_sample("caffeine"), read_file(tmp_path / "v3.mol")
    for key in ("x", "edge_index", "edge_attr"):
        assert_array_equal(new.signals[key].values, old.signals[key].values)
    ethanol = find_sample("smiles:CCO")
    assert weights(ethanol).keys() == {("C1", "C2"), ("C2", "C1"), ("C2", "O1"), ("O1", "C2")}
    batch = read_file(place(tmp_path, "b.smi", "smiles name\nCCO ethanol\nc1ccccc1 benzene\n"))
    assert_array_equal(np.bincount(batch.signals["batch"].values), [3, 6])
    with pytest.raises(ValueError, match="no molecule"):
        find_sample("smiles:C1CC")


def test_without_rdkit_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ReadError, match=r"pip install equiscope\[molecules\]"):
        in_process.read_file(place(tmp_path, "a.smi", "CCO\n"))
    with pytest.raises(ValueError, match=r"pip install equiscope\[molecules\]"):
        find_sample("smiles:CCO")
    assert len(find_sample("caffeine").names) == 24, "shipped files need no RDKit"


@pytest.mark.parametrize(
    "ending", [".graphml", ".gml", ".json", ".csv", ".npz", ".mtx", ".safetensors", ".pt", ".sdf", ".xyz"]
)
def test_cut_and_damaged_files_are_refused_or_read(ending: str, tmp_path: Path) -> None:
    """Whatever is in a file: a sample or one sentence; never another error, never a warning."""
    path = tmp_path / f"a{ending}"
    write_file(find_sample("caffeine" if ending in (".sdf", ".xyz") else "flights"), path)
    content, generator = path.read_bytes(), np.random.default_rng(0)
    versions = [content[: int(cut)] for cut in generator.integers(1, len(content), 25)]
    for _ in range(25):
        damaged = bytearray(content)
        for at in generator.integers(0, len(content), 3):
            damaged[at] = int(generator.integers(0, 256))
        versions.append(bytes(damaged))
    versions += [generator.bytes(300), b"\0" * 300]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for version in versions:
            place(tmp_path, path.name, version)
            try:
                sample = read_file(path)
            except ReadError:
                refused(path)
            else:
                assert np.isfinite(sample.x.values).all() and len(sample.x.values)


def test_one_node_and_parts_and_strings(tmp_path: Path) -> None:
    one = read_file(place(tmp_path, "one.json", '{"nodes": [{"id": "only"}], "links": []}'))
    assert one.names == ("only",) and one.signals["edge_index"].values.shape == (2, 0)
    parts = read_file(place(tmp_path, "parts.csv", "a,b\nc,d\na,b\nb,b\n"))
    told = " | ".join(parts.notes)
    assert "1 self-loop" in told and "1 edge is parallel" in told and "2 separate parts" in told
    d3 = read_file(place(tmp_path, "d3.json", json.dumps({
        "nodes": [{"name": "Myriel", "group": 1}, {"name": "Napoleon", "group": 2}],
        "links": [{"source": 1, "target": 0, "value": 4}],
    })))  # fmt: skip
    assert d3.names == ("Myriel", "Napoleon") and weights(d3)["Napoleon", "Myriel"] == 4
    assert_array_equal(d3.signals["label"].values, [1, 2])


def test_many_edges_are_read_in_chunks_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = np.random.default_rng(0).integers(0, 5000, (30_000, 2))
    text = "source,target,weight\n" + "".join(f"{a},{b},{(a + b) % 7}\n" for a, b in ends.tolist())
    path = place(tmp_path, "many.csv", text)
    monkeypatch.setattr(edge_lists, "CHUNK", 999)
    sample = in_process.read_file(path)
    kept = sample.signals["edge_index"].values[:, :30_000].T
    ids = np.unique(ends)
    assert_array_equal(ids[kept], ends)
    assert_array_equal(sample.signals["edge_weight"].values[:30_000], ends.sum(1) % 7)
    monkeypatch.setattr(edge_lists, "MOST", 20_000)
    with pytest.raises(ReadError, match="more than 20000 edges"):
        in_process.read_file(path)
    place(tmp_path, "many.csv", text.replace("source,target", "from_,to_").replace("\n", "a\n", 1) + "x,y,1\n")
    with pytest.raises(ReadError, match="more than 20000 edges"):
        in_process.read_file(path)


@pytest.mark.slow
def test_a_million_edges_take_seconds_not_minutes(tmp_path: Path) -> None:
    import time

    ends = np.random.default_rng(0).integers(0, 100_000, (1_000_000, 2))
    np.savetxt(tmp_path / "a.csv", ends, "%d", delimiter=",")
    start = time.process_time()
    sample = read_file(tmp_path / "a.csv")
    assert sample.signals["edge_index"].values.shape[1] > 1_999_900
    assert time.process_time() - start < 6


@pytest.mark.parametrize(
    ("text", "names", "directed"),
    [
        ("0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n", (), False),
        (";A;B;C;D\nA;0;0.5;0;0\nB;0.5;0;2;0\nC;0;2;0;1\nD;0;0;1;0\n", ("A", "B", "C", "D"), False),
        ("A B C D\n0 1 0 0\n0 0 1 0\n0 0 0 1\n0 0 0 0\n", ("A", "B", "C", "D"), True),
        ("A\t0\t1\t0\t0\nB\t0\t0\t1\t0\nC\t0\t0\t0\t1\nD\t0\t0\t0\t0\n", ("A", "B", "C", "D"), True),
    ],
)
def test_an_adjacency_matrix_as_text_is_a_graph_of_as_many_nodes(
    text: str, names: tuple[str, ...], directed: bool, tmp_path: Path
) -> None:
    sample = read_file(place(tmp_path, "a.csv", text))
    assert len(sample.x.values) == 4 and tuple(sample.names) == names
    pairs = {tuple(pair) for pair in sample.signals["edge_index"].values.T.tolist()}
    path = {(0, 1), (1, 2), (2, 3)}
    assert pairs == (path if directed else path | {(b, a) for a, b in path})
    assert "read as an adjacency matrix" in sample.notes
