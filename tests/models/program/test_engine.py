"""The worker's half of the program on the shipped models: what is kept, completed, cancelled and let go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

import explorer.app.answering.engine
import explorer.square.evaluate
import models
from explorer.app.answering.devices import device_of
from explorer.app.answering.engine import LocalEngine, shared
from explorer.app.command.audit import audit
from explorer.declare.card import Card
from explorer.declare.elements import parse_chain, transforms
from explorer.declare.registry import scan
from explorer.declare.space import kinds
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.layers import LayerError
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.grid.thumbnail import image_thumbnail
from explorer.square.frame import Frame, OrbitCurve
from explorer.state.state import State
from explorer.work.progress import Cancelled

CARDS: dict[str, Card] = scan(models, "CARD")
EACH = {
    "grid": ("rotate:90", "D4"),
    "graph": ("permute:3", "permutation"),
    "set": ("permute:3", "permutation"),
    "sequence": ("shift:5", "shift"),
    "volume": ("cube:xyz120", "Oh"),
    "sphere": ("turn-sphere:60,0,30", "sphere-SO3"),
    "mesh": ("random-gauge:3", "gauge"),
    "points": ("rotation:40,25,10", "E3"),
}
DIGITS = ("plain-cnn", "c4-cnn", "d4-cnn")


def state(model: str = "d4-cnn", chain: str = "rotate:90", **more: object) -> State:
    given = {"sample": "digit-3", "device": "cpu"} | more
    return State(model, steps=parse_chain(chain), **given)  # type: ignore[arg-type]


def never() -> bool:
    return False


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(CARDS)
    yield made
    made.close()
    assert not any(made.kept.values())


def complete(engine: LocalEngine, wanted: State) -> Frame:
    frame = engine.answer(wanted, never)
    return list(engine.refine(frame))[-1]


# every card ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CARDS)
def test_every_model_answers_and_is_measured_completely(name: str) -> None:
    engine, card = LocalEngine(CARDS), CARDS[name]
    chain, law = EACH[card.domain]
    if steps := next((claim for claim in card.groups if claim.startswith("gauge-C")), ""):
        chain, law = f"{chain},{steps.removeprefix('gauge-C')}", steps  # directions that the frames may be turned to
    frame = complete(engine, State(name, steps=parse_chain(chain), device="cpu"))
    (square,) = frame.squares
    assert square.model == name and {i.name for i in square.layers} == set(square.measures)
    assert all(m.cumulative is None or np.isfinite(m.cumulative) for m in square.measures.values())
    assert np.isfinite(square.output).all() and frame.milliseconds > 0
    # a claimed law holds in the window as it does for `check`
    broken = [n for n, m in square.measures.items() if m.verdict == "broken" and m.local is not None]
    if law in card.groups:
        assert (broken != []) == name.startswith("fault-"), (name, broken)
    if card.domain != "grid":
        assert any(m.verdict != "no law" for m in square.measures.values()), "nothing was moved"


def test_a_network_of_a_file_is_made_to_be_recognised_and_once_more(tmp_path: Path) -> None:
    file, mark = tmp_path / "net.py", tmp_path / "made"
    file.write_text(
        "from torch import nn\n\n"
        f"def net():\n    with open({str(mark)!r}, 'a') as mark:\n        mark.write('.')\n"
        "    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())\n"
    )
    engine = LocalEngine({}, trust=True)
    wanted = State(f"{file}:net", device="cpu")
    opened = replace(wanted, **engine.open_model(wanted.model, wanted))  # type: ignore[arg-type]
    engine.answer(opened, never)
    assert mark.read_text() == ".."
    engine.close()


@pytest.mark.parametrize("name", DIGITS)
@pytest.mark.slow
def test_an_orbit_is_completed_with_floors(engine: LocalEngine, name: str) -> None:
    curves = list(engine.orbit(state(name)))
    last = curves[-1]
    assert isinstance(last, OrbitCurve) and last.done == len(last.values) == 72 and last.model == name
    leaves = [w.name for w in engine.prepared(state(name), name).watched if w.leaf]
    assert list(last.errors) == leaves
    for layer in leaves:
        assert np.isfinite(last.errors[layer]).all() and np.isfinite(last.floor[layer]).all(), layer
    if name == "d4-cnn":
        assert max(e[last.exact].max() for e in last.errors.values()) < 1e-4
    assert [c.done for c in curves] == sorted(c.done for c in curves)


@pytest.mark.parametrize(
    ("name", "chain", "along"),
    [("simple-rnn", "shift:10", "shift"), ("simple-rnn", "warp:0,0.125,0", "warp"), ("gat", "permute:1", "permute"),
     ("strand-cnn", "shift:7", "shift"), ("d4-cnn", "translate:5,0", "translate")],
)  # fmt: skip
def test_an_orbit_has_the_figure_of_the_frame_where_the_element_is(
    engine: LocalEngine, name: str, chain: str, along: str
) -> None:
    wanted = State(name, steps=parse_chain(chain), orbit=along, device="cpu")
    (square,) = complete(engine, wanted).squares
    last = list(engine.orbit(wanted))[-1]
    assert isinstance(last, OrbitCurve)
    (at,) = np.flatnonzero(np.isclose(last.values, wanted.steps[0].values[transforms()[along].orbit or 0]))
    for layer, errors in last.errors.items():
        if (measure := square.measures[layer]).cumulative is not None:
            assert errors[at] == pytest.approx(measure.cumulative, rel=0.01, abs=1e-6), layer


# what is kept -------------------------------------------------------------------------------------------------
def test_an_epoch_is_prepared_once(engine: LocalEngine) -> None:
    first = engine.prepared(state(), "d4-cnn")
    for same in (state(chain="rotate:31"), state(layer="conv2"), state(orbit="translate"), state(channel=3)):
        assert engine.prepared(same, "d4-cnn") is first
    others = (
        state(sample="digit-4"),
        state(dtype="float64"),
        state(seed=1),
        state(overrides=(("lift", "grid scalar"),)),
    )
    for other in others:
        assert engine.prepared(other, "d4-cnn") is not first


@pytest.mark.slow
def test_no_more_than_a_few_epochs_are_kept(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(10):
        engine.answer(state("plain-cnn", sample=f"digit-{k}"), never)
        engine.answer(state("plain-cnn", sample=f"random:1x1x29x{20 + k}"), never)
    assert engine.kept == {"epochs": 4, "models": 1, "samples": 8}
    monkeypatch.setattr(shared, "most", 0)
    engine.answer(state("plain-cnn", compare="d4-cnn"), never)
    assert engine.kept["epochs"] == 2, "what is in use is kept whatever it takes"
    engine.answer(state("c4-cnn"), never)
    assert engine.kept["epochs"] == 1


def test_the_bytes_of_shared_tensors_count_once(engine: LocalEngine) -> None:
    p = engine.prepared(state(), "d4-cnn")
    values = sum(v.nbytes for v in p.values.values())
    assert 2 * values <= p.nbytes < 2.2 * values  # F(x) and the other picture; what layers are fed is F(x) again


def test_a_network_serves_two_precisions_at_once(engine: LocalEngine) -> None:
    single, double = (engine.prepared(state(dtype=d), "d4-cnn") for d in ("float32", "float64"))
    assert single.output.dtype == torch.float32 and double.output.dtype == torch.float64
    assert next(single.model.parameters()).dtype == torch.float32
    torch.testing.assert_close(single.output.double(), double.output, rtol=1e-3, atol=1e-3)
    assert complete(engine, state(dtype="float64")).squares[0].measures["conv2"].verdict == "holds"


def test_a_file_that_has_changed_is_read_again(engine: LocalEngine, tmp_path: Path) -> None:
    path = tmp_path / "image.npy"
    np.save(path, np.eye(29, dtype=np.float32))
    wanted = state("plain-cnn", sample=str(path))
    first = engine.answer(wanted, never).squares[0]
    np.save(path, 0.5 * np.eye(29, dtype=np.float32)[::-1] + np.eye(29, 29, 3, dtype=np.float32))
    assert not np.array_equal(engine.answer(wanted, never).squares[0].x, first.x)


# two models, layers, devices ----------------------------------------------------------------------------------
@pytest.mark.slow
def test_two_models_on_one_element(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer.square.evaluate, "ATTRIBUTE_SECONDS", 60.0)  # on however busy a machine
    frame = complete(engine, state("plain-cnn", compare="d4-cnn", layer="relu3"))
    plain, d4 = frame.squares
    assert (plain.model, d4.model) == ("plain-cnn", "d4-cnn")
    assert np.array_equal(plain.gx, d4.gx) and plain.layer.name == d4.layer.name == "relu3"
    first = engine.answer(state("plain-cnn", compare="d4-cnn", layer="conv1"), never)
    assert [s.layer.name for s in first.squares] == ["conv1", "lift"]  # else the same relative depth
    engine.answer(frame.state, never)
    for square in frame.squares:
        assert set(square.measures) == {i.name for i in square.layers}
    assert plain.measures["conv1"].verdict == "broken" and plain.measures["conv1"].attributed
    assert d4.measures["lift"].verdict == "holds" and plain.hints and not d4.hints
    assert {c.model for c in engine.orbit(state("plain-cnn", compare="d4-cnn"))} == {"plain-cnn", "d4-cnn"}


def test_a_frame_of_another_state_is_not_completed(engine: LocalEngine) -> None:
    frame = engine.answer(state(), never)
    engine.answer(state(chain="rotate:20"), never)
    assert list(engine.refine(frame)) == []


def test_frames_are_numbered(engine: LocalEngine) -> None:
    serials = [engine.answer(state(chain=f"rotate:{a}"), never).serial for a in (1, 2, 3)]
    assert serials == sorted(set(serials))


def test_devices() -> None:
    assert device_of("cpu").type == "cpu"
    assert device_of("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for name in ("gpu", "meta", "cuda:99", "vulkan", ""):
        with pytest.raises(ValueError, match=r"device|measure"):
            device_of(name)


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.matrix is not None])
def test_drawing_its_matrices_leaves_a_network_as_it_was(engine: LocalEngine, name: str) -> None:
    wanted = State(name, steps=parse_chain(EACH[CARDS[name].domain][0]), device="cpu", dtype="float64")
    assert engine.answer(wanted, never).squares[0].matrices
    model = engine.prepared(wanted, name).model
    assert all(p.dtype == torch.float64 for p in model.parameters() if p.is_floating_point())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_the_gpu_gives_the_same_figures(engine: LocalEngine) -> None:
    cpu = complete(engine, state("plain-cnn")).squares[0]
    gpu = complete(engine, replace(state("plain-cnn"), device="cuda:0")).squares[0]
    for name, m in cpu.measures.items():
        assert gpu.measures[name].cumulative == pytest.approx(m.cumulative, rel=1e-3, abs=1e-5)
        assert gpu.measures[name].verdict == m.verdict


# what goes wrong ----------------------------------------------------------------------------------------------
class Slow(nn.Module):
    """A layer that takes its time."""

    def forward(self, x: Tensor) -> Tensor:
        time.sleep(0.02)
        return x


@pytest.mark.parametrize(("after", "prepared"), [(0, 0), (5, 0), (40, 0), (60, 1)])
def test_a_slow_network_is_left_between_two_layers(after: int, prepared: int) -> None:
    def build() -> nn.Module:
        return nn.Sequential(nn.Conv2d(1, 2, 3), *(Slow() for _ in range(50)))

    engine = LocalEngine({"slow": replace(CARDS["plain-cnn"], name="slow", build=build, weights=None, labels=())})
    asked: list[float] = []

    def cancelled() -> bool:
        asked.append(time.perf_counter())
        return len(asked) > after

    with pytest.raises(Cancelled):
        engine.answer(state("slow"), cancelled)
    assert len(asked) == after + 1 and time.perf_counter() - asked[-1] < 0.2
    assert engine.kept["epochs"] == prepared, "what is half prepared is not kept, what is whole is"


def test_a_persons_own_network_says_which_layer(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "from torch import nn\n\nclass Bad(nn.Module):\n    def forward(self, x): raise ValueError('not today')\n\n"
        "def net():\n    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Sequential(nn.ReLU(), Bad()))\n"
    )
    engine = LocalEngine(CARDS, trust=True)
    with pytest.raises(LayerError, match="not today") as caught:
        engine.answer(state(f"{path}:net"), never)
    assert caught.value.where == "1.1"
    engine.answer(state(), never)  # the next request is answered
    with pytest.raises(ModelError, match="add --trust") as refused:
        LocalEngine(CARDS).answer(state(f"{path}:net"), never)
    assert refused.value.where == str(path)


def test_an_element_is_kept_on_data_of_the_same_kind_alone(engine: LocalEngine) -> None:
    """A renumbering of nodes acts on points too, and shows nothing of a network whose law is one of motions."""
    renumbered = replace(State(), model="gcn", sample="karate", steps=parse_chain("permute:3"))
    assert engine.open_model("gat", renumbered)["steps"] == renumbered.steps
    assert engine.open_model("egnn", renumbered)["steps"] == parse_chain(kinds()["points"].showcase)


def test_a_network_of_short_data_is_opened_under_an_element_that_leaves_some_of_them(engine: LocalEngine) -> None:
    """A delay by five steps cuts five numbers off, and all but three of eight corners."""
    turned = state()
    for name in ("pointer-network", "pointer-glimpse", "pointer-hull"):
        assert engine.first_steps(State(name)) == engine.open_model(name, turned)["steps"] == parse_chain("shift:2")
    long = State("lstm", steps=parse_chain("shift:40"))
    assert engine.first_steps(long) == engine.open_model("gru", long)["steps"] == long.steps  # chosen by somebody
    assert engine.open_model("pointer-hull", long)["steps"] == parse_chain("shift:2")  # there it would leave nothing


def test_what_cannot_be_is_one_sentence(engine: LocalEngine) -> None:
    for wanted, message in (
        (state("d5-cnn"), "did you mean"),
        (state(sample="digit-33"), "did you mean 'digit-3'"),
        (state(sample="random:1x2x29x29"), "2 channels"),
        (state(device="cuda:99"), "no device"),
        (state(overrides=(("nothing", "invariant"),)), "'nothing'"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            engine.answer(wanted, never)
        assert "\n" not in str(caught.value)


# files --------------------------------------------------------------------------------------------------------
def test_weights_open_into_the_model_in_use(engine: LocalEngine, tmp_path: Path) -> None:
    weights = dict(load_file(Path(models.__file__).parents[1] / "resources" / "weights" / "plain-cnn.safetensors"))
    weights["head.bias"] = weights["head.bias"] + 5
    path = tmp_path / "mine.safetensors"
    save_file(weights, path)
    change = engine.open(str(path), state("plain-cnn", layer="conv2"))
    opened = replace(state("plain-cnn"), **change)  # type: ignore[arg-type]
    assert opened.layer == "conv2"
    ours, theirs = (engine.prepared(s, s.model).output for s in (state("plain-cnn"), opened))
    torch.testing.assert_close(theirs, ours + 5, rtol=1e-3, atol=1e-3)
    again = replace(opened, **engine.open(str(path), opened))  # type: ignore[arg-type]
    assert again.model == opened.model  # not weights upon weights
    with pytest.raises(ModelError, match="do not fit"):
        engine.open(str(path), state("d4-cnn"))
    (tmp_path / "net.py").write_text("raise SystemExit")
    with pytest.raises(ModelError, match="Python code"):
        engine.open(str(tmp_path / "net.py"), state())


def test_shipped_weights_that_do_not_fit_are_told(engine: LocalEngine) -> None:
    changed = State("gcn", params=(("depth", 3.0),), sample="karate", device="cpu")
    (note,) = engine.answer(changed, never).model_notes
    assert note.startswith("gcn.safetensors fits 2 of 6 tensors; untrained are conv2.bias, conv2.linear.weight, ")
    (report,) = audit(engine, changed, "permutation", "float64", None, {})
    assert report.holds and note in report.warnings
    assert not engine.answer(replace(changed, params=()), never).model_notes


def test_captures_are_exported(engine: LocalEngine, tmp_path: Path) -> None:
    engine.export_captures(state("plain-cnn"), str(tmp_path / "c.safetensors"))
    found = load_file(tmp_path / "c.safetensors")
    x = found["input@base"]
    assert torch.equal(found["input"], torch.rot90(x, 1, (-2, -1)))
    with torch.no_grad():
        torch.testing.assert_close(engine.prepared(state("plain-cnn"), "plain-cnn").model(x), found["head@base"])


@pytest.mark.slow
def test_the_catalogue_is_plain_values(engine: LocalEngine) -> None:
    catalogue = engine.catalogue()
    assert {m.name for m in catalogue.models} == set(CARDS) and "cpu" in catalogue.devices
    assert dict(catalogue.versions)["torch"] == torch.__version__ and ".png" in catalogue.extensions
    assert all(s.thumbnail is None for s in catalogue.samples) and not any(m.source for m in catalogue.models)
    full = [c for c in engine.illustrate(catalogue) if c is not None][-1]
    assert all(m.source for m in full.models) and len(full.samples) == len(catalogue.samples)
    for sample in full.samples:
        assert sample.thumbnail is not None and sample.thumbnail.shape == (48, 48, 3), sample.name
    two = image_sample(np.random.default_rng(0).normal(size=(2, 10, 14)).astype(np.float32), "two channels")
    assert image_thumbnail(two).dtype == np.uint8
