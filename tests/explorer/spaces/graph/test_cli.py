"""The command line on graphs and sets: networks from files, verdicts, exports, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from safetensors.torch import load_file

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.state.state import State
from tests.explorer.parts.command_line import HEAD, Said, refused

NET = HEAD + (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.first = nn.Linear(6, 4)\n"
    "        self.last = nn.Linear(4, 2)\n\n"
    "    def forward(self, x, edge_index):\n"
    "        h = self.first(x)\n"
    "        total = torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])\n"
    "        return self.last({then})\n"
)
FAIR, UNFAIR = NET.format(then="total"), NET.format(then="total + torch.arange(len(x)).to(x)[:, None]")


@pytest.fixture
def net(tmp_path: Path) -> Any:
    def written(source: str) -> str:
        path = tmp_path / "net.py"
        path.write_text(source)
        return f"{path}:Net"

    return written


@pytest.mark.slow
def test_a_network_on_graphs_is_known_by_its_arguments(run: Any, net: Any) -> None:
    fair = run("check", net(FAIR), "--trust", "--json")
    assert (fair.code, fair.json["group"], fair.json["verdict"]) == (0, "permutation", "holds")
    assert [row["field"].split()[0] for row in fair.json["layers"]] == ["node", "node"]
    assert fair.json["samples"] == 5, "other graphs are measured too, and noise"
    unfair = run("check", net(UNFAIR), "--trust", "--json")
    assert (unfair.code, unfair.json["verdict"]) == (1, "broken")


def test_an_answer_for_each_edge_of_a_graph_without_edges_is_empty(run: Any, net: Any, tmp_path: Path) -> None:
    (tmp_path / "apart.json").write_text('{"nodes": [{"id": 0}, {"id": 1}], "links": []}')
    words = (net(NET.format(then="h[edge_index[0]]")), "--trust", "--data", tmp_path / "apart.json", "--json")
    said = run("check", *words)
    assert said.code == 0 and said.json["layers"][-1]["shape"] == [0, 2], said.err
    report = run("run", *words, "--transform", "swap:0,1", "--no-pictures", "--out", tmp_path / "o").json
    assert report["layers"][-1]["name"] == "last" and report["output"] == [0.0, 0.0]


def test_captures_of_a_graph_are_what_the_network_computes(run: Any, net: Any, tmp_path: Path) -> None:
    words = ("run", net(FAIR), "--trust", "--data", "karate", "--transform", "permute:3", "--no-pictures")
    assert run(*words, "--out", tmp_path / "o").code == 0
    found = load_file(tmp_path / "o" / "captures.safetensors")
    karate = find_sample("karate")
    before, after = (np.asarray(found[key]) for key in ("edge_index@base", "edge_index"))
    assert np.array_equal(before, karate.signals["edge_index"].values)
    there, here = nx.Graph(before.T.tolist()), nx.Graph(after.T.tolist())
    assert not np.array_equal(before, after) and there.number_of_edges() == 78
    assert nx.is_isomorphic(there, here)
    # a node is known again by its answer where no other node has the same
    last, moved = (np.asarray(found[key], np.float64) for key in ("last@base", "last"))
    apart = np.abs(last[:, None] - moved[None]).sum(-1)
    order, told = apart.argmin(1), np.flatnonzero((apart < 1e-4).sum(1) == 1)
    assert len(told) > 10 and len(set(order[told])) == len(told) and (order[told] != told).any()
    for i in told:
        assert there.degree[i] == here.degree[order[i]]
        assert np.array_equal(found["input@base"][i], found["input"][order[i]])


def test_export_writes_what_is_read_back(run: Any, tmp_path: Path) -> None:
    said = run("export", "les-miserables", "--out", tmp_path / "a.graphml")
    assert said.code == 0 and said.out.strip() == str(tmp_path / "a.graphml")
    made, before = read_file(tmp_path / "a.graphml"), find_sample("les-miserables")
    assert made.names == before.names
    theirs = nx.read_graphml(tmp_path / "a.graphml")
    assert nx.is_isomorphic(theirs, nx.les_miserables_graph())
    drawn = [run("export", "graph:9x12", "--seed", seed, "--out", tmp_path / f"{seed}.npz") for seed in (1, 2)]
    assert all(said.code == 0 for said in drawn)
    first, second = (read_file(tmp_path / f"{seed}.npz").signals["edge_index"].values for seed in (1, 2))
    assert first.shape == second.shape == (2, 24) and not np.array_equal(first, second)


def test_the_window_gets_the_selected_node(run: Any) -> None:
    got: list[State] = []

    def window(start: Any, state: State, args: Any) -> int:
        got.append(state)
        return 0

    assert run("--model", "fine", "--node", 5, window=window).code == 0
    assert got == [State("fine", node=5)]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("export", ["'export' needs D", "and --out"]),
        ("export karate", ["--out"]),
        ("export karate --out k.docx", ["k.docx", ".graphml"]),
        ("export karate --out k", ["k"]),
        ("export karate --out k.xyz", ["coordinates"]),
        ("export digit-3 --out d.graphml", ["a grid is not written as .graphml", ".npy"]),
        ("export karat --out k.gml", ["did you mean 'karate'"]),
        ("export karate --out /nowhere/k.gml", ["/nowhere"]),
        ("export graph:3x9 --out k.gml", ["graph:3x9"]),
        ("export graph:3x2 --seed -1 --out k.gml", ["seed"]),
        ("check fine --data karate", ["karate", "takes an image"]),
        ("check fine --data digit-set-5", ["digit-set-5", "takes an image"]),
        ("check fine --group permutation", ["permutation acts on a graph or set", "grid"]),
        ("run fine --out o --no-pictures --transform permute:3", ["permute", "graph"]),
        ("run fine --out o --no-pictures --node 0", ["places of 'digit-3' have no numbers", "leave out --node"]),
        ("--model fine --node -1", ["--node"]),
        ("--model fine --node Ann", ["--node", "'Ann'"]),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    run: Any, words: str, parts: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run(*words.split()), *parts)
    assert list(tmp_path.iterdir()) == []


def test_pictures_of_a_node_that_is_not_there_are_refused(run: Any, net: Any, tmp_path: Path, monkeypatch: Any) -> None:
    path = net(FAIR)
    monkeypatch.chdir(tmp_path)
    words = ("run", path, "--trust", "--data", "karate", "--no-pictures", "--out", "o", "--node")
    refused(run(*words, 34), "'karate' has 34 places, 0 to 33, and --node or --step says 34")
    assert not (tmp_path / "o").exists()
    assert run(*words, 33).code == 0


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("--data digit-3", ["digit-3", "takes a graph or a set"]),
        ("--group D4", ["D4 acts on a grid"]),
        ("--data nothing-such", ["nothing-such"]),
        ("--data smiles:C1CC", ["smiles:C1CC"]),
    ],
)
def test_a_network_on_graphs_takes_graphs(run: Any, net: Any, words: str, parts: list[str]) -> None:
    said: Said = run("check", net(FAIR), "--trust", *words.split())
    refused(said, *parts)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("INPUT_SIGNALS = ('edge_index',)\n" + FAIR, ["INPUT_SIGNALS must name 'x'"]),
        ("INPUT_SIGNALS = 'x'\n" + FAIR, ["INPUT_SIGNALS"]),
        ("INPUT_SIGNALS = ('x', 'colour')\n" + FAIR, ["INPUT_SIGNALS", "edge_index"]),
        ("INPUT_SIGNALS = 7\n" + FAIR, ["INPUT_SIGNALS"]),
        ("INPUT_CHANNELS = 0\n" + FAIR, ["INPUT_CHANNELS", "0"]),
        ("INPUT_CHANNELS = 'six'\n" + FAIR, ["INPUT_CHANNELS", "six"]),
        ("INPUT_CHANNELS = 3\n" + FAIR, ["first"]),
        (NET.format(then="total[:, :3]"), ["layer last"]),
        (NET.format(then="total * float('nan')"), ["NaN"]),
        (NET.format(then="total[:0]"), ["no values"]),
    ],
)
def test_foreign_code_on_graphs_may_do_anything(run: Any, net: Any, source: str, parts: list[str]) -> None:
    refused(run("check", net(source), "--trust", "--json"), *parts)
