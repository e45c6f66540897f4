"""The command line on meshes: verdicts, curves, networks and meshes from files, captures, exports, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.declare.types.fields import FieldType
from explorer.spaces.mesh.fields import VERTEX, Tangent, Vertices
from explorer.spaces.mesh.network.form import MeshInput
from tests.explorer.parts.command_line import HEAD, Said, refused
from tests.explorer.parts.small_cards import card


class Slope(nn.Module):
    """The gradient of x by the mean over neighbours of log_i(j) (x_j - x_i) / r^2: a vector; (V, 1) -> (V, 2)."""

    out_field = FieldType(Vertices(), Tangent((1,)))

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor) -> Tensor:
        source, target = edge_index
        steep = (x[source] - x[target]) / radius[:, None]
        steps = torch.cat([steep * angle.cos()[:, None], steep * angle.sin()[:, None]], 1)
        return torch.zeros(len(x), 2).to(x).index_add(0, target, steps)


class Steepness(nn.Module):
    """The length of a vector, or the size of its first number; (V, 2) -> (V, 1)."""

    out_field = VERTEX

    def __init__(self, honest: bool) -> None:
        super().__init__()
        self.honest = honest

    def forward(self, x: Tensor) -> Tensor:
        return x.norm(dim=1, keepdim=True) if self.honest else x[:, :1].abs()


class Hills(nn.Module):
    def __init__(self, honest: bool) -> None:
        super().__init__()
        self.slope, self.steepness = Slope(), Steepness(honest)

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor) -> Tensor:
        out: Tensor = self.steepness(self.slope(x, edge_index, radius, angle))
        return out


def mesh_card(name: str, honest: bool, *groups: str, gauge: str = "edge") -> Any:
    wanted = MeshInput(channels=1, signals=("x", "edge_index", "radius", "angle"), features="hks", gauge=gauge)
    return card(name, lambda: Hills(honest), *groups, input=wanted, domain="mesh", sample="mesh-torus")


CARDS = {
    "fair": mesh_card("fair", True, "gauge", "permutation", "E3"),
    "unfair": mesh_card("unfair", False, "gauge"),
    "principal": mesh_card("principal", False, "SE3", gauge="principal"),
}
OWN = HEAD + (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.mix = nn.Linear(16, 3)\n\n"
    "    def forward(self, x, edge_index, radius, {argument}):\n"
    "        j, i = edge_index\n"
    "        steep = (x[j] - x[i]) / radius[:, None]\n"
    "        return self.mix(torch.zeros_like(x).index_add(0, i, steep * {weight}[:, None]))\n"
)


@pytest.fixture
def said(run: Any) -> Any:
    def command(*words: object) -> Said:
        answer: Said = run(*words, cards=lambda: CARDS)
        return answer

    return command


@pytest.fixture
def net(tmp_path: Path) -> Any:
    def written(argument: str = "angle", weight: str = "radius", more: str = "") -> str:
        path = tmp_path / "net.py"
        path.write_text(OWN.format(argument=argument, weight=weight) + more)
        return f"{path}:Net"

    return written


@pytest.mark.parametrize("group", ["gauge", "gauge-C5", "permutation", "SE3", "E3"])
def test_lengths_of_vectors_have_every_symmetry(said: Any, group: str) -> None:
    found = said("check", "fair", "--group", group, "--json")
    assert (found.code, found.json["verdict"]) == (0, "holds")
    assert [row["field"] for row in found.json["layers"]] == ["vertex tangent(1)", "vertex scalar"]


@pytest.mark.slow
def test_a_number_of_a_vector_depends_on_the_frame(said: Any) -> None:
    found = said("check", "unfair", "--group", "gauge", "--json")
    assert (found.code, found.json["verdict"], found.json["guilty"]) == (1, "broken", ["steepness"])
    assert said("check", "unfair", "--group", "SE3", "--json").json["verdict"] == "holds", "frames move with the body"
    mirrored = said("check", "principal", "--group", "E3", "--json")
    assert mirrored.json["verdict"] == "holds", "a mirror turns Y over, and the size of X is the same"


@pytest.mark.slow
def test_bends_are_a_curve_without_a_verdict(said: Any) -> None:
    found = said("check", "fair", "--group", "isometry", "--json")
    assert (found.code, found.json["verdict"]) == (3, "no law")
    by_name = {row["name"]: row for row in found.json["layers"]}
    errors = [by_name[name]["resampled_cumulative"] for name in ("slope", "steepness")]
    assert all(1e-6 < e < 1 for e in errors)
    chance = by_name["steepness"]["chance"]
    assert chance > 1.3 * errors[1], "an unrelated signal on the bent surface is farther off than the bend"
    table = said("check", "fair", "--group", "isometry")
    assert "no law" in table.out and "cumul." in table.out and "a curve but no verdict" in table.out


@pytest.mark.parametrize(
    "word", ["random-gauge:3", "gauge:40", "bend:40", "remesh:0.05", "shake:0.01", "rotate3d:0,0,30"]
)
def test_every_element_can_be_run(said: Any, word: str, tmp_path: Path) -> None:
    answer = said("run", "fair", "--transform", word, "--no-pictures", "--out", tmp_path / "o")
    assert answer.code == 0, answer.err
    found = {k: np.asarray(v) for k, v in load_file(tmp_path / "o" / "captures.safetensors").items()}
    radius, angle = found["radius@base"], found["angle@base"]
    match word.partition(":")[0]:
        case "gauge":
            np.testing.assert_allclose(np.exp(1j * found["angle"]), np.exp(1j * (angle - np.radians(40))), atol=1e-5)
        case "random-gauge":
            np.testing.assert_array_equal(found["radius"], radius)
            assert np.abs(np.exp(1j * found["angle"]) - np.exp(1j * angle)).mean() > 0.5
        case "rotate3d":
            np.testing.assert_array_equal(found["angle"], angle)
        case "remesh":
            assert found["edge_index"].shape == found["edge_index@base"].shape
            assert not np.array_equal(found["edge_index"], found["edge_index@base"])
        case _:
            assert 0 < np.abs(found["radius"] / radius - 1).max() < 1.5


@pytest.mark.slow
def test_a_body_takes_another_pose(said: Any, tmp_path: Path) -> None:
    words = ("run", "fair", "--transform", "pose:1,0.5", "--no-pictures", "--out", tmp_path / "o")
    assert said(*words, "--data", "body").code == 0
    refused(said(*words, "--data", "mesh-torus"), "one pose only")


@pytest.mark.slow
def test_a_network_on_meshes_is_known_by_its_arguments(said: Any, net: Any) -> None:
    fair = said("check", net(), "--trust", "--group", "gauge", "--data", "mesh-sphere-small", "--json")
    assert (fair.code, fair.json["verdict"]) == (0, "holds"), fair.err
    assert fair.json["layers"][0]["field"].startswith("vertex scalar")
    unfair = said("check", net(weight="angle"), "--trust", "--group", "gauge", "--data", "mesh-sphere-small", "--json")
    assert (unfair.code, unfair.json["verdict"]) == (1, "broken")
    said_so = net(argument="turn", weight="turn", more="\nINPUT_SIGNALS = ('x', 'edge_index', 'radius', 'transport')\n")
    carried = said("check", said_so, "--trust", "--group", "gauge", "--data", "mesh-sphere-small", "--json")
    assert (carried.code, carried.json["verdict"]) == (1, "broken")


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ("INPUT_SIGNALS = ('x', 'radius', 'colour')", ["INPUT_SIGNALS must begin with 'x'", "patch_weight"]),
        ("INPUT_SIGNALS = ('radius', 'x')", ["INPUT_SIGNALS must begin with 'x'"]),
        ("INPUT_GAUGE = 'north'", ["INPUT_GAUGE must be one of edge, principal, gradient, not 'north'"]),
        ("INPUT_CHANNELS = 0", ["INPUT_CHANNELS must be a whole number above 0"]),
        ("INPUT_FEATURES = 3", ["INPUT_FEATURES must be a text"]),
        ("INPUT_FEATURES = 'height'", ["has no 'height' at its vertices", "hks"]),
    ],
)
def test_what_a_file_says_wrongly_is_told(said: Any, net: Any, more: str, parts: list[str]) -> None:
    refused(said("check", net(more=f"\n{more}\n"), "--trust", "--data", "mesh-sphere-small"), *parts)


@pytest.mark.parametrize("ending", [".obj", ".off", ".ply", ".stl"])
def test_an_export_is_read_back_and_checked(said: Any, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"sphere{ending}"
    assert said("export", "mesh-sphere-small", "--out", path).code == 0
    back, before = read_file(path), find_sample("mesh-sphere-small")
    assert back.domain == "mesh" and len(back.signals["faces"].values) == len(before.signals["faces"].values)
    ours, theirs = (np.asarray(s.signals["position"].values, np.float64) for s in (back, before))
    # files of triangles alone number the vertices in the order in which faces name them
    apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2).min(1)
    assert ours.shape == theirs.shape and apart.max() < 1e-6
    found = said("check", "fair", "--group", "gauge", "--data", path, "--json")
    assert (found.code, found.json["verdict"]) == (0, "holds")


def test_meshes_are_listed(said: Any) -> None:
    rows = said("list", "data", "--json").json
    assert {"body", "mesh-torus", "saddle"} <= {row["name"] for row in rows if row["domain"] == "mesh"}
    assert {row["name"]: row["domain"] for row in said("list", "models", "--json").json}["fair"] == "mesh"
    groups = {row["name"] for row in said("list", "groups", "--json").json}
    assert {"gauge", "SE3", "E3", "isometry"} <= groups


FILES = {
    "torn.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\n",
    "far.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n",
    "nan.off": "OFF\n3 1 0\n0 0 0\n1 0 0\nnan 1 0\n3 0 1 2\n",
    "empty.stl": "solid x\nendsolid x\n",
    "short.ply": "ply\n",
}


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("check fair --data torn.obj", ["torn.obj", "no faces"]),
        ("check fair --data far.off", ["far.off", "line 6", "vertex 9"]),
        ("check fair --data nan.off", ["nan.off", "NaN or infinite"]),
        ("check fair --data empty.stl", ["empty.stl", "no faces"]),
        ("check fair --data short.ply", ["short.ply", "header"]),
        ("check fair --data none.obj", ["none.obj", "no such file"]),
        ("check fair --data karate", ["karate", "lies on a graph", "takes a mesh"]),
        ("check fair --group D4", ["D4 acts on a grid, and the input is a mesh"]),
        ("check fair --group gauges", ["did you mean 'gauge'"]),
        ("run fair --out o --no-pictures --transform rotate:90", ["rotate acts on a grid", "mesh"]),
        ("run fair --out o --no-pictures --transform shake:9", ["amount must lie between 0 and 0.5"]),
        ("export mesh-torus --out t.graphml", ["a mesh is not written as .graphml", ".obj"]),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    said: Any, words: str, parts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    refused(said(*words.split()), *parts)
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
