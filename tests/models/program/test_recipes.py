"""The recipes of docs/guide/recipes.md work: each is put into a package of one's own, found by the scan, and used."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch

import explorer.data.finding
import explorer.data.opening
import explorer.declare.elements
import explorer.declare.symmetries
import models
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.data.readers import ReadError
from explorer.declare.elements import chain_element, inverse_steps, parse_chain, transforms
from explorer.declare.inputs import Inputs
from explorer.declare.registry import forget, scan
from explorer.declare.space import kinds
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import Scalar
from explorer.equivariance.check import check_equivariance
from explorer.spaces.grid.fields import grid
from explorer.spaces.mesh.network.form import MeshInput
from explorer.state.state import State
from tests.plugins import plugged

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "guide" / "recipes.md"


def recipes() -> dict[str, str]:
    """Return {path: file} of the page: the path stands in a heading, the file in the first block after it."""
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        heading, _, rest = section.partition("\n")
        path, code = re.search(r"`([^`]+\.py)`", heading), re.search(r"^```python\n(.*?)^```", rest, re.M | re.S)
        assert path and code, heading
        found[path[1]] = code[1]
    return found


RECIPES = recipes()
each_recipe = pytest.mark.parametrize("path", RECIPES)

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Install]:
    """Put a recipe into a package of one's own, which the scans find; take it out again after the test."""

    def put(path: str) -> None:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        for folder in file.relative_to(tmp_path).parents[:-1]:
            (tmp_path / folder / "__init__.py").touch()
        file.write_text(RECIPES[path], encoding="utf-8")
        forget()

    with plugged(tmp_path, "mine"):
        yield put


def room(path: str) -> str:
    """Return the room that a file is found in: its folder, or the file itself; "" for a network of one's own."""
    folder = Path(path).parent.name
    return Path(path).stem if folder == "mine" else folder


def test_there_is_a_recipe_for_everything_that_is_scanned() -> None:
    rooms = ("models", "transforms", "samples", "readers", "symmetries", "views", "space")
    assert {room(path) for path in RECIPES} == {"", *rooms}
    assert PAGE.read_text(encoding="utf-8").count("```python") == len(RECIPES)


@each_recipe
def test_a_recipe_is_a_complete_and_tidy_file(path: str) -> None:
    tree = ast.parse(RECIPES[path], path)
    constants = {"models": "CARD", "transforms": "TRANSFORM", "samples": "SAMPLES", "readers": "READER"}
    constants |= {"symmetries": "SYMMETRY", "views": "VIEW", "space": "SPACE"}
    if folder := room(path):
        assert ast.get_docstring(tree)
        names = [
            t.id for node in tree.body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)
        ]
        assert constants[folder] in names
    assert max(map(len, RECIPES[path].splitlines())) <= 120


def test_recipes_pass_the_linter(tmp_path: Path) -> None:
    for path, text in RECIPES.items():
        (tmp_path / Path(path).name).write_text(text, encoding="utf-8")
    for command in (["check"], ["format", "--check", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), str(tmp_path)],
            capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_model_is_found_runs_and_keeps_its_word(install: Install) -> None:
    install("mine/models/laplacian.py")
    cards = scan(models, "CARD")
    card = cards["laplacian"]
    frame = LocalEngine(cards).answer(State(model="laplacian", steps=parse_chain("rotate:90")), lambda: False)
    measure = frame.squares[0].measures["laplacian"]
    assert measure.verdict == "holds" and measure.cumulative is not None and measure.cumulative < 1e-6
    for group in card.groups:
        assert check_equivariance(card.build(), (2, 1, 12, 12), group, declared=True).holds


def test_the_transform_is_a_group_element_with_an_exact_inverse(install: Install) -> None:
    install("mine/transforms/glide.py")
    steps = parse_chain("glide:3")
    x = torch.rand(1, 1, 9, 9, dtype=torch.float64)
    element, field = chain_element(steps), grid(Scalar())
    assert element.exact(field, (1, 1, 9, 9))
    moved = element.act(x, field)
    assert torch.equal(moved, x.flip(-1).roll(-3, -2))
    assert torch.equal(chain_element(inverse_steps(steps)).act(moved, field), x)
    assert torch.equal(chain_element(parse_chain("glide:3+glide:-3")).act(x, field), x)
    assert transforms()["glide"].orbit == 0


def test_the_sample_can_be_asked_for_by_name(install: Install) -> None:
    install("mine/samples/spiral.py")
    values = explorer.data.finding.find_sample("spiral", 0).x.values
    assert values.shape == (1, 29, 29) and values.dtype == np.float32
    assert 0 <= values.min() < values.max() <= 1
    moved = [np.rot90(image, k) for image in (values[0], values[0][:, ::-1]) for k in range(4)]
    assert all(np.abs(image - values[0]).max() > 0.1 for image in moved[1:]), "only the identity leaves it alone"


@pytest.mark.slow
def test_the_reader_reads_and_refuses_in_one_sentence(install: Install, tmp_path: Path) -> None:
    install("mine/readers/table.py")
    known = explorer.data.opening.readers().values()
    for extension in {e for reader in known for e in reader.extensions}:
        blind = [
            reader.name for reader in known if extension in reader.extensions and not (reader.fits or reader.rates)
        ]
        assert len(blind) <= 1, f"{extension}: all readers but one look into the file"
    assert len([reader for reader in known if ".table" in reader.extensions]) == 1
    good, bad = tmp_path / "good.table", tmp_path / "bad.table"
    good.write_text("0,1,2\n3,4,5\n")
    bad.write_text("0,1\n2\n")
    sample = explorer.data.opening.read_file(good)
    assert sample.x.values.tolist() == [[[0, 1, 2], [3, 4, 5]]]
    with pytest.raises(ReadError, match=r"cannot read bad\.table: .+\.$"):
        explorer.data.opening.read_file(bad)
    (tmp_path / "nan.table").write_text("0,nan\n")
    with pytest.raises(ReadError, match="NaN"):
        explorer.data.opening.read_file(tmp_path / "nan.table")


def test_the_symmetry_gives_a_verdict(install: Install) -> None:
    install("mine/symmetries/horizontal.py")
    holds = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"))
    report = check_equivariance(holds, (2, 1, 12, 12), "horizontal")
    assert report.holds and all(report.exact) and len(report.elements) == 6

    class Column(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.arange(1.0, 13.0, dtype=x.dtype)

    broken = torch.nn.Sequential(Column(), *holds)
    assert check_equivariance(broken, (2, 1, 12, 12), "horizontal").verdict == "broken"


def test_the_space_is_found_and_its_networks_are_judged(install: Install) -> None:
    install("mine/space.py")
    install("mine/symmetries/cyclic.py")
    field = parse_field("site scalar")
    assert kinds()["ring"].title == "Rings" and field.domain.space == "ring"
    given = Inputs((torch.rand(7, 2, dtype=torch.float64),), (field,))

    class Neighbours(torch.nn.Module):
        def __init__(self, numbered: bool) -> None:
            super().__init__()
            self.linear, self.numbered = torch.nn.Linear(2, 3), numbered

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            made: torch.Tensor = self.linear(x) + self.linear(x.roll(1, 0))
            return made + torch.arange(len(x)).to(x)[:, None] if self.numbered else made

    sound = check_equivariance(Neighbours(numbered=False), given, "cyclic")
    assert sound.verdict == "holds" and len(sound.elements) == 6
    assert {row.field for row in sound.layers} == {"site scalar"}
    assert check_equivariance(Neighbours(numbered=True), given, "cyclic").verdict == "broken"


@pytest.mark.slow
def test_a_network_of_ones_own_is_checked_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "my_network.py"
    path.write_text(RECIPES["my_network.py"], encoding="utf-8")
    command = [sys.executable, "main.py", "check", f"{path}:Network", "--group", "C4", "--json"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert refused.returncode == 2 and "--trust" in refused.stderr
    done = subprocess.run([*command, "--trust"], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] == "broken" and "conv1" in report["guilty"]


@pytest.mark.slow
def test_a_network_of_ones_own_on_sequences_is_checked_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "my_sequence_network.py"
    path.write_text(RECIPES["my_sequence_network.py"], encoding="utf-8")
    state = State(f"{path}:Network", sample="sunspots")
    (report,) = audit(LocalEngine({}, trust=True), state, "shift", "float64", None, {})
    assert report.verdict == "broken" and report.guilty == ("lstm",)
    fields = {row.name: row.field for row in report.layers}
    assert fields["lstm"] == fields["head"] == fields["lstm.l0.forget_gate"] == "step scalar on axis 1"
    head = report["head"].local_max
    assert head is not None and head < 1e-12


def test_the_network_on_graphs_keeps_the_law_that_it_claims(install: Install) -> None:
    install("mine/models/neighbour_mean.py")
    card = scan(models, "CARD")["neighbour-mean"]
    frame = LocalEngine({card.name: card}).answer(
        State(model=card.name, sample="karate", steps=parse_chain("permute:3"), layer="round1.messages"), lambda: False
    )
    square = frame.squares[0]
    fields = {layer.name: layer.field.partition(" ")[0] for layer in square.layers}
    assert (fields["round1.messages"], fields["round2"], fields["readout"]) == ("edge", "node", "graph")
    torch.manual_seed(0)
    network = card.build().double()
    x, edges = torch.rand(5, 6, dtype=torch.float64), torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 1]])
    heard = network.round1(x, edges)
    assert torch.allclose(heard[1], network.round1.linear(x[[0, 2, 3]]).mean(0)) and not heard[4].any()
    assert check_equivariance(network, (x, edges), "permutation").verdict == "holds"


def test_the_graph_can_be_asked_for_by_name(install: Install) -> None:
    install("mine/samples/petersen.py")
    sample = explorer.data.finding.find_sample("petersen", 0)
    made = nx.Graph(sample.signals["edge_index"].values.T.tolist())
    assert nx.is_isomorphic(made, nx.petersen_graph()) and sample.signals["edge_index"].values.shape == (2, 30)
    assert sample.signals["position"].values.shape == (10, 2)


def test_the_network_on_meshes_holds_in_every_gauge(tmp_path: Path) -> None:
    from explorer.data.finding import find_sample, fitted
    from explorer.network.input.inputs import inputs_from
    from explorer.network.opening.loading import find_card, load_model

    path = tmp_path / "my_mesh_network.py"
    path.write_text(RECIPES[path.name], encoding="utf-8")
    card = find_card(f"{path}:Network", {}, trust=True)
    assert isinstance(card.input, MeshInput)
    assert (card.domain, card.input.channels, card.input.gauge) == ("mesh", 6, "edge")
    inputs = inputs_from(
        fitted(find_sample("mesh-sphere-small"), card.input), card.input, torch.device("cpu"), torch.float64
    )
    network = load_model(card).double()
    assert check_equivariance(network, [inputs], "gauge", dtype=torch.float64).holds
    assert check_equivariance(network, [inputs], "permutation", dtype=torch.float64).holds
    # one coordinate of the slope alone is another thing in every frame
    path.write_text(RECIPES[path.name].replace("along**2 + across**2", "along**2"), encoding="utf-8")
    other = load_model(find_card(f"{path}:Network", {}, trust=True)).double()
    assert check_equivariance(other, [inputs], "gauge", dtype=torch.float64).verdict == "broken"
