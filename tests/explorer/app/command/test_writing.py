"""Files of `run` and `check`: all of it or none, and what was there before comes back."""

from __future__ import annotations

import json
import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.app.command.writing import save_table, save_tensors, save_weights, write_report
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS

REPORT = {"transform": "rotate:90", "number": 1.5}


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


def test_a_full_disk_is_told_with_the_place_that_was_asked_for(tmp_path: Path) -> None:
    def draw(folder: Path) -> list[Path]:
        raise OSError(28, "No space left on device", str(folder / "window.png"))

    with pytest.raises(OSError) as told:
        write_report(tmp_path / "deep" / "o", REPORT, tensors(), draw)
    assert told.value.filename == str(tmp_path / "deep" / "o" / "window.png")
    assert list(tmp_path.iterdir()) == []


def test_the_table_has_a_row_for_each_layer(tmp_path: Path) -> None:
    engine = LocalEngine(CARDS)
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


def test_the_same_tensors_are_the_same_bytes(tmp_path: Path) -> None:
    tensors = {"b": torch.arange(5.0), "a": torch.arange(3)}
    told = {f"key {k}": f"“{k}”\n" for k in range(12)}  # in whose order safetensors has none
    for k, metadata in enumerate((told, dict(reversed(told.items())), told)):
        save_tensors(tmp_path / f"{k}.safetensors", tensors, metadata)
    first, *others = [(tmp_path / f"{k}.safetensors").read_bytes() for k in range(3)]
    assert others == [first, first]
    with safe_open(tmp_path / "0.safetensors", "pt") as file:
        assert file.metadata() == told
        assert all(torch.equal(file.get_tensor(name), value) for name, value in tensors.items())
