"""What `run` and `check` write: all of it or none, and what was there before comes back."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.app.engine import LocalEngine
from explorer.app.report import audit, capture_report, save_table, save_weights, write_report
from explorer.data.finding import fitted, samples
from explorer.declare.elements import parse_chain
from explorer.declare.space import space_of_kind
from explorer.network.loading import ModelError
from explorer.network.trace import LayerError
from explorer.spaces.graph.form import GraphInput
from explorer.spaces.grid.form import InputSpec
from explorer.state.state import State
from tests.explorer.small_cards import CARDS, card, symmetric_net

REPORT = {"transform": "rotate:90", "number": 1.5}


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(CARDS)
    yield made
    made.close()


def tensors() -> dict[str, Tensor]:
    return {"a": torch.ones(2, 3), "a@base": torch.zeros(2, 3)}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_report_is_a_folder(tmp_path: Path) -> None:
    write_report(tmp_path / "o", REPORT, tensors(), lambda out: [Path((out / "a.png").write_bytes(b"x") and "a.png")])
    assert set(files(tmp_path / "o")) == {"report.json", "captures.safetensors", "a.png"}
    assert json.loads((tmp_path / "o" / "report.json").read_text()) == REPORT
    assert torch.equal(load_file(tmp_path / "o" / "captures.safetensors")["a"], torch.ones(2, 3))
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "o").stat().st_mode) == 0o777 & ~mask  # others may read it, as any new folder
    assert [path.name for path in tmp_path.iterdir()] == ["o"]


def test_a_second_report_replaces_the_first_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "o"
    write_report(out, REPORT, tensors())
    (out / "notes.txt").write_text("mine")
    write_report(out, REPORT | {"number": 2}, tensors())
    assert json.loads((out / "report.json").read_text())["number"] == 2
    assert set(files(out)) == {"report.json", "captures.safetensors", "notes.txt"}


@pytest.mark.parametrize("obstacle", ["report.json", "captures.safetensors", "zebra.png"])
def test_what_cannot_be_replaced_leaves_all_as_it_was(tmp_path: Path, obstacle: str, monkeypatch: Any) -> None:
    out = tmp_path / "o"
    write_report(out, REPORT, tensors(), lambda folder: [Path((folder / "zebra.png").write_bytes(b"old") and "")])
    before = files(out)
    replace = os.replace

    def failing(source: Any, target: Any) -> None:
        if Path(target) == out / obstacle and Path(source).parent.name != ".replaced":
            raise PermissionError(13, "Permission denied", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(PermissionError):
        write_report(
            out, REPORT | {"number": 2}, tensors(), lambda f: [Path((f / "zebra.png").write_bytes(b"new") and "")]
        )
    assert files(out) == before and [path.name for path in tmp_path.iterdir()] == ["o"]


def test_numbers_that_are_none_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        write_report(tmp_path / "deep" / "o", REPORT | {"number": math.nan}, tensors())
    assert list(tmp_path.iterdir()) == []


def test_a_capture_is_a_copy(engine: LocalEngine) -> None:
    state = State("fine", sample="digit-3", steps=parse_chain("rotate:90"))
    report, found = capture_report(engine, state, "2, 5,2")
    assert set(found) == {"2", "2@base", "5", "5@base", "input", "input@base"}
    assert [row["name"] for row in report["layers"]] == ["2", "5"]
    found["2@base"].zero_()
    assert engine.prepared(state, "fine").values["2"].any()
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["model_hash"] and report["exact"] and len(report["output"]) == 10


@pytest.mark.parametrize("layers", ["", "2,,5", "nope", "all,2"])
def test_a_layer_that_is_not_there_is_told(engine: LocalEngine, layers: str) -> None:
    with pytest.raises(ModelError, match="fine has no layer"):
        capture_report(engine, State("fine", sample="digit-3"), layers)


def test_a_network_that_breaks_on_moved_data_gets_no_verdict() -> None:
    class First(nn.Module):
        """Infinite as soon as the top row of the picture has ink."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Identity()

        def forward(self, x: Tensor) -> Tensor:
            top = x[..., 0, :].abs().amax((1, 2), keepdim=True)[..., None]
            return self.inner(x / (top < 0.5))

    engine = LocalEngine({"brittle": card("brittle", First)})
    values = np.zeros((1, 29, 29), np.float32)
    values[:, 20:] = 1.0
    engine._samples[engine._sample_key(State("brittle", sample="low"), engine.card("brittle"))] = _sample(values)
    with pytest.raises(LayerError, match="NaN"):
        audit(engine, State("brittle", sample="low"), "D4", "float64", None, {})
    with pytest.raises(LayerError, match="NaN"):
        capture_report(engine, State("brittle", sample="low", steps=parse_chain("rotate:180")))


def _sample(values: np.ndarray[Any, Any]) -> Any:
    from explorer.spaces.grid.sample import image_sample

    return image_sample(values, "low")


def test_an_audit_uses_real_data_of_the_same_kind(engine: LocalEngine) -> None:
    reports = audit(engine, State("faulty"), "", "float64", None, {})
    assert [r.group for r in reports] == ["C4", "D4"] and {r.samples for r in reports} == {4}
    assert {r.guilty for r in reports} == {("2",)} and all(r.dtype == "float64" for r in reports)
    one = audit(engine, State("faulty", sample="digit-1"), "D4", "float32", None, {})
    assert one[0].samples == 1 and one[0].dtype == "float32"


@pytest.mark.parametrize(
    ("domain", "given", "sample"),
    [
        ("grid", InputSpec((1, 29, 29)), "digit-3"),
        ("grid", InputSpec((3, 32, 32)), "photo-china"),
        ("graph", GraphInput(channels=6), "karate"),
        ("graph", GraphInput(channels=6, most=20), "path-20"),
        ("graph", GraphInput(channels=8, signals=("x", "edge_index", "edge_attr"), features="atoms"), "caffeine"),
        ("graph", GraphInput(channels=3, signals=("x", "edge_index", "position"), features="position"), "knn-torus"),
        ("set", GraphInput(channels=10, signals=("x",)), "digit-set-5"),
        ("set", GraphInput(channels=3, signals=("x", "batch"), features="position", most=512), "torus"),
    ],
    ids=str,
)
def test_a_check_draws_what_the_network_takes(domain: str, given: Any, sample: str) -> None:
    """An image network is never given a set because their names begin alike."""
    found = space_of_kind(domain).several(card("any", symmetric_net, domain=domain, input=given, sample=sample), 4)
    assert found[0] == sample and len(set(found)) == len(found) > 1
    for name in found:
        assert samples()[name].domain == domain
        assert fitted(samples()[name].make(), given).domain == domain
    if domain == "grid":
        assert {name.split("-")[0] for name in found} == {sample.split("-")[0]}


def test_the_table_has_a_row_for_each_layer(engine: LocalEngine, tmp_path: Path) -> None:
    reports = audit(engine, State("fine"), "", "float64", None, {})
    save_table(tmp_path / "t.npz", reports)
    with np.load(tmp_path / "t.npz", allow_pickle=False) as table:
        for r in reports:
            assert table[f"{r.group}/layers"].tolist() == [row.name for row in r.layers]
            assert table[f"{r.group}/elements"].tolist() == list(r.elements)
            assert table[f"{r.group}/local"].shape == (len(r.layers), len(r.elements))
    assert [path.name for path in tmp_path.iterdir()] == ["t.npz"]


def test_weights_are_halved_only_where_nothing_is_lost(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    with torch.no_grad():
        net[0].weight.copy_(net[0].weight.half().float())  # type: ignore[union-attr, operator]
    save_weights(tmp_path / "w.safetensors", net, {"model": "x"})
    found = load_file(tmp_path / "w.safetensors")
    assert found["0.weight"].dtype == torch.float16 and found["0.bias"].dtype == torch.float32
    assert found["1.num_batches_tracked"].dtype == torch.int64
    for name, value in net.state_dict().items():
        assert torch.equal(found[name].to(value.dtype), value)


def test_the_hash_is_that_of_the_parameters(engine: LocalEngine) -> None:
    first, _ = capture_report(engine, State("fine", sample="digit-3"), "0")
    again, _ = capture_report(engine, State("modest", sample="digit-1"), "0")
    other, _ = capture_report(engine, State("faulty", sample="digit-3"), "0")
    assert first["model_hash"] == again["model_hash"] != other["model_hash"]
    assert symmetric_net().state_dict().keys() == engine.prepared(State("fine"), "fine").model.state_dict().keys()
