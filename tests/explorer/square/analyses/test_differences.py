"""Differences of two runs: against numpy, where shapes differ, and between checkpoints, inputs and edits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.registry import scan
from explorer.declare.states.interventions import parse_interventions
from explorer.declare.telling.summaries import Difference, Differences
from explorer.square.analyses.differences import difference
from explorer.state.runs import compared_state, held_text, run_text
from explorer.state.state import State

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(1, 4, 3, padding=1)
        self.two = nn.Conv2d(4, {width}, 3, padding=1)
        self.three = nn.Conv2d({width}, 2, 3, padding=1)

    def forward(self, x):
        return self.three(self.two(self.one(x)).tanh())
"""


@pytest.fixture
def engine() -> LocalEngine:
    return LocalEngine(scan(models, "CARD"), trust=True)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET.format(width=4))
    return path


def weights(tmp_path: Path, name: str, seed: int, changed: str = "") -> Path:
    """Write weights; with another layer's changed."""
    torch.manual_seed(seed)
    shapes = {"one": (4, 1), "two": (4, 4), "three": (2, 4)}
    tensors = {}
    for layer, (out, given) in shapes.items():
        tensors[f"{layer}.weight"] = torch.randn(out, given, 3, 3) * 0.3
        tensors[f"{layer}.bias"] = torch.zeros(out)
    if changed:
        tensors[f"{changed}.weight"] = tensors[f"{changed}.weight"] * 1.5
    save_file(tensors, tmp_path / name)
    return tmp_path / name


def compared(engine: LocalEngine, state: State) -> Differences:
    frame = engine.answer(state, lambda: False)
    last = list(engine.refine(frame))[-1]
    assert last.squares[0].differences is not None
    return last.squares[0].differences


def test_a_difference_is_that_of_numpy():
    a, b = torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    found = difference(a, b)
    x, y = a.double().numpy(), b.double().numpy()
    assert found.relative == pytest.approx(np.linalg.norm(x - y) / np.linalg.norm(x), rel=1e-5)
    assert found.largest == pytest.approx(np.abs(x - y).max(), rel=1e-6)
    assert difference(a, a) == Difference(0.0, 0.0)
    assert difference(a, None).note == "not there" and difference(a, b[:2]).note == "2×4×5 there"
    assert difference(torch.zeros(3), torch.ones(3)).relative == 1.0


@pytest.mark.parametrize("changed", ["one", "two", "three"])
def test_two_checkpoints_differ_from_the_changed_layer_on(engine, net, tmp_path, changed):
    a, b = weights(tmp_path, "a.safetensors", 0), weights(tmp_path, "b.safetensors", 0, changed)
    state = State(model=f"{net}:Net@{a}", compare=f"{net}:Net@{b}", sample="digit-3")
    found = compared(engine, state)
    same = [n for n, d in found.layers.items() if d.relative == 0]
    assert same == ["one", "two", "three"][: ["one", "two", "three"].index(changed)]
    assert found.layers[changed].relative == pytest.approx(0.5, rel=1e-4)
    assert f"from {changed} on" in found.sentence and "b.safetensors" in found.other


def test_another_input_is_compared_layer_by_layer(engine):
    state = State(model="plain-cnn", sample="digit-3", against=run_text(sample="digit-5"), layer="conv2")
    found = compared(engine, state)
    p = engine.prepared(replace(state, against=""), "plain-cnn")
    q = engine.prepared(replace(state, sample="digit-5", against=""), "plain-cnn")
    for name, d in found.layers.items():
        a, b = p.values[name], q.values[name]
        assert d.relative == pytest.approx(float((a - b).norm() / a.norm()), rel=1e-5)
    assert found.layer == "conv2" and np.allclose(found.apart, (p.values["conv2"] - q.values["conv2"])[0])


def test_a_run_that_is_held_outlives_an_edit(engine, net):
    state = State(model=f"{net}:Net", sample="digit-3")
    engine.answer(state, lambda: False)
    text = engine.comparing.hold(state)
    held = replace(state, against=text)
    assert all(d.relative == 0 for d in compared(engine, held).layers.values())
    net.write_text(NET.format(width=4).replace(".tanh()", ".relu()"))
    found = compared(engine, held).layers
    assert found["one"].relative == 0 and found["three"].relative > 0.1
    net.write_text(NET.format(width=6))
    assert compared(engine, held).layers["two"].note == "1×4×29×29 there"


def test_another_network_of_ones_own_has_the_name_that_it_has_elsewhere(engine, net):
    other = net.with_name("other.py")
    other.write_text(NET.format(width=6))
    assert compared(engine, State(f"{net}:Net", compare=f"{other}:Net", sample="digit-3")).other == "Net (other.py)"


def test_a_run_that_is_held_names_its_parameters(engine):
    state = State(model="residual-ode", sample="digit-3")
    info = next(m for m in engine.catalogue().models if m.params)
    param = info.params[0]
    state = State(model=info.name, params=((param.name, param.default),))
    text = held_text(state, "some")
    again = compared_state(replace(state, params=(), against=text))
    assert again is not None and again.params == state.params and again.sample == "some"
    plain = held_text(replace(state, params=()), "some")
    back = compared_state(replace(state, against=plain))
    assert back is not None and back.params == ()


@pytest.mark.parametrize("text", ["param=a=b", "model", "&&&", "sample=%00", "param=x", "nothing=1"])
def test_a_session_may_hold_any_text(text):
    assert compared_state(State(against=text)) is not None


def test_interventions_are_of_the_first_network_alone(engine):
    """Layers of the same name were changed in the other one too, and one that it has not was an error."""
    plain = State("gat", compare="gcn", sample="karate")
    other = compared(engine, plain)
    for text in ("conv1.linear:zero", "conv1.attention:zero"):
        changed = replace(plain, interventions=parse_interventions([text]))
        found = compared(engine, changed)
        assert found.other == other.other
        wanted = compared_state(changed)
        assert wanted is not None and not wanted.interventions
    same = replace(
        plain, compare="", against=run_text(sample="cora"), interventions=parse_interventions(["conv1:zero"])
    )
    wanted = compared_state(same)
    assert wanted is not None and wanted.interventions == same.interventions
