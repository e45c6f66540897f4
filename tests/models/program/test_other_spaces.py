"""Two more kinds of data unlike the ring, dropped into a folder: a group that does not commute, and a batch axis."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import models
from explorer.app.answering.engine import LocalEngine
from explorer.app.command import cli
from explorer.data.finding import find_sample
from explorer.data.opening import read_file
from explorer.declare.elements import chain_element, parse_chain, transforms
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.declare.types.field_text import parse_field
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial.inert import inert
from explorer.square.analyses.orbits import orbit_values
from explorer.state.random_element import random_steps
from explorer.state.state import State
from tests.explorer.parts.command_line import Said
from tests.explorer.parts.small_cards import doors
from tests.plugins import plugged

ROOT = Path(__file__).resolve().parents[3]


def engine_with(folder: Path, package: str) -> Iterator[LocalEngine]:
    shutil.copytree(ROOT / "tests" / "plugins" / package, folder / package)
    with plugged(folder, package):
        made = LocalEngine(scan(models, "CARD"))
        yield made
        made.close()


@pytest.fixture
def trees(tmp_path: Path) -> Iterator[LocalEngine]:
    yield from engine_with(tmp_path / "plugins", "tree")


@pytest.fixture
def combs(tmp_path: Path) -> Iterator[LocalEngine]:
    yield from engine_with(tmp_path / "plugins", "honeycomb")


def run(capsys: pytest.CaptureFixture[str], *words: object) -> Said:
    code = cli.main([str(w) for w in words], doors(cards=lambda: scan(models, "CARD"), pictures=lambda *_: []))
    out, err = capsys.readouterr()
    return Said(code, out, err)


def test_swaps_are_a_group_that_does_not_commute(trees: LocalEngine) -> None:
    x, field = torch.arange(15.0)[:, None], parse_field("joint scalar")
    words = "swap-children:0+swap-children:1", "swap-children:1+swap-children:0"
    one, other = (chain_element(parse_chain(text)) for text in words)
    assert not torch.equal(one.act(x, field), other.act(x, field))
    assert torch.equal(one.inverse().act(one.act(x, field), field), x)
    moved = one.act(x, field)
    assert [moved[one.place_of(k, 15), 0].item() for k in range(15)] == list(range(15))


def test_a_tree_is_judged_at_its_joints_and_its_tips(trees: LocalEngine, capsys: pytest.CaptureFixture[str]) -> None:
    sound = run(capsys, "check", "tree-sum")
    assert sound.code == 0 and "tip scalar" in sound.out
    # what holds the left children alone is neither: it has no law, and nobody is accused
    assert [line.split()[1] for line in sound.out.splitlines() if line.startswith("hear1.child")] == ["unknown"] * 2
    broken = run(capsys, "check", "tree-sided")
    assert broken.code == 1 and "the fault is made in hear2" in broken.out


def test_data_of_ones_own_are_described_read_and_written(
    trees: LocalEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find_sample("bintree:5").x.values.shape == (63, 2)
    assert "write bintree:DEPTH" in run(capsys, "check", "tree-sum", "--data", "bintree:99").err
    file = tmp_path / "family.heap"
    assert run(capsys, "export", "family", "--out", file).code == 0
    np.testing.assert_array_equal(read_file(file).x.values, find_sample("family").x.values)
    (tmp_path / "bad.heap").write_text("1 2\n3 4\n")
    assert "no complete binary tree" in run(capsys, "check", "tree-sum", "--data", tmp_path / "bad.heap").err


def test_a_file_that_says_nothing_is_told_how_to_say_it(
    trees: LocalEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = tmp_path / "net.py"
    net.write_text("from torch import nn\n\ndef net():\n    return nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1))\n")
    given = ("check", f"{net}:net", "--trust", "--data", "family")
    refused = run(capsys, *given)
    assert refused.code == 2 and "--input KIND" in refused.err
    assert run(capsys, *given, "--input", "bintree channels=2").code == 0


@pytest.mark.parametrize(("model", "group"), [("tree-sum", "C4"), ("plain-cnn", "swaps")])
def test_a_group_of_another_space_is_refused_with_those_that_fit(
    model: str, group: str, trees: LocalEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(capsys, "check", model, "--group", group)
    assert said.code == 2 and "; groups of a " in said.err and "equiscope." not in said.err
    assert ("swaps" if model == "tree-sum" else "C4, D4") in said.err.partition("; groups of a ")[2]


def test_the_random_element_moves_something(trees: LocalEngine) -> None:
    drawn = [random_steps(np.random.default_rng(seed), (15, 1), "bintree") for seed in range(20)]
    assert {step.name for (step,) in drawn} == {"swap-children"}
    assert {step.values[0] for (step,) in drawn} <= set(range(7)), "joints of this tree that have children"


def test_an_element_that_moves_nothing_tests_nothing(trees: LocalEngine) -> None:
    state = State(model="tree-sided", steps=parse_chain("swap-children:64"), layer="hear2")
    frame = trees.answer(state, lambda: False)
    assert frame.squares[0].verdict == "unmoved" and frame.squares[0].measures["hear2"].verdict == "unmoved"
    moved = trees.answer(replace(state, steps=parse_chain("swap-children:1")), lambda: False)
    assert moved.squares[0].measures["hear2"].verdict == "broken"


def test_a_constant_input_is_moved_all_the_same(trees: LocalEngine) -> None:
    field = parse_field("joint scalar")
    same = Inputs((torch.ones(15, 2),), (field,))
    for text, still in (("swap-children:1", False), ("swap-children:64", True)):
        element = chain_element(parse_chain(text))
        assert inert(element, same, same.moved(element)) is still


def test_a_honeycomb_has_a_batch_and_orientations(combs: LocalEngine, capsys: pytest.CaptureFixture[str]) -> None:
    sound = run(capsys, "check", "comb-c6")
    assert sound.code == 0 and "cell regular(C6)" in sound.out
    broken = run(capsys, "check", "comb-forgetful")
    assert broken.code == 1 and "the fault is made in 0" in broken.out
    assert "leave out --node" in run(capsys, "run", "comb-c6", "--node", "3", "--out", "nowhere").err


def test_every_channel_of_a_honeycomb_is_drawn(combs: LocalEngine) -> None:
    square = combs.answer(State(model="comb-c6", steps=parse_chain("sixth:1"), layer="0"), lambda: False).squares[0]
    assert square.fx is not None and square.fx.shape == (1, 18, 61) and square.shown == square.layer.channels == 18


def test_an_orbit_ends_where_its_parameter_does(combs: LocalEngine) -> None:
    assert orbit_values(transforms()["sixth"], 61).tolist() == list(range(6))
    curve = list(combs.orbit(State(model="comb-forgetful", orbit="sixth")))[-1]
    assert curve.values.tolist() == list(range(6)) and np.nanmax(curve.errors["0"]) > 0.1


def test_a_group_of_elements_that_move_nothing_gives_no_verdict(combs: LocalEngine) -> None:
    card = combs.cards["comb-forgetful"]
    x = Inputs((torch.rand(1, 1, 1, dtype=torch.float64),), (parse_field("cell scalar"),))
    report = check_equivariance(card.build(), x, "sixth", name="one cell")
    assert report.verdict == "no law" and "but the identity" in " ".join(report.warnings)


def test_the_table_says_the_worst_where_half_of_the_elements_are_kept(combs: LocalEngine) -> None:
    report = check_equivariance(combs.cards["comb-forgetful"].build(), _bees(), "sixth")
    row = report["0"]
    kept = replace(row, local=0.0, cumulative=0.0)
    text = replace(report, layers=tuple(kept if other is row else other for other in report.layers)).text()
    line = next(line for line in text.splitlines() if line.startswith("0 "))
    assert f"^{row.local_max:.1e}" in line and "^: the largest one found" in text


def _bees() -> Inputs:
    values = torch.from_numpy(find_sample("bees").x.values.copy()).double()[None]
    return Inputs((values,), (parse_field("cell scalar"),))
