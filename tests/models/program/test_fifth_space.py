"""A fifth kind of data, dropped into a folder: everything works on it, and no file of the program is changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import models
from explorer.app.answering.engine import LocalEngine
from explorer.app.command import cli
from explorer.data.finding import find_sample, samples
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.declare.space import kinds
from explorer.declare.types.field_text import parse_field
from explorer.square.space import spaces
from explorer.state.random_element import random_steps
from explorer.state.resolve import resolve
from explorer.state.session import load_session, save_session
from explorer.state.state import History, State
from tests.explorer.parts.command_line import Said
from tests.explorer.parts.small_cards import doors
from tests.plugins import plugged

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalEngine]:
    shutil.copytree(ROOT / "tests" / "plugins" / "ring", tmp_path / "plugins" / "ring")
    with plugged(tmp_path / "plugins", "ring"):
        made = LocalEngine(scan(models, "CARD"))
        yield made
        made.close()


def run(capsys: pytest.CaptureFixture[str], *words: object) -> Said:
    code = cli.main([str(w) for w in words], doors(cards=lambda: scan(models, "CARD"), pictures=lambda *_: []))
    out, err = capsys.readouterr()
    return Said(code, out, err)


def test_it_is_not_there_without_the_folder() -> None:
    assert "ring" not in spaces() and "ring-wave" not in samples() and "ring-net" not in scan(models, "CARD")


def test_it_is_found_with_all_that_belongs_to_it(engine: LocalEngine) -> None:
    assert kinds()["ring"].title == "Rings" and find_sample("ring-wave").domain == "ring"
    assert str(parse_field("site scalar")) == "site scalar"
    catalogue = engine.catalogue()
    full = [c for c in engine.illustrate(catalogue) if c is not None][-1]
    wave = next(s for s in full.samples if s.name == "ring-wave")
    assert wave.thumbnail is not None and len(np.unique(wave.thumbnail)) > 3
    assert {"ring-net", "ring-numbered"} <= {m.name for m in catalogue.models}


def test_check_judges_it(engine: LocalEngine, capsys: pytest.CaptureFixture[str]) -> None:
    sound = run(capsys, "check", "ring-net")
    assert sound.code == 0 and "verdict: holds" in sound.out
    broken = run(capsys, "check", "ring-numbered")
    assert broken.code == 1 and "the fault is made in 2" in broken.out


def test_what_takes_it_can_be_declared(engine: LocalEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = tmp_path / "net.py"
    net.write_text("from torch import nn\n\ndef net():\n    return nn.Linear(2, 1)\n")
    given = ("check", f"{net}:net", "--trust", "--data", "ring-wave", "--group", "cyclic")
    said = run(capsys, *given, "--input", "ring channels=2")
    assert said.code == 0 and "verdict: holds" in said.out, said.err
    refused = run(capsys, *given, "--input", "ring sites=1")
    assert refused.code == 2 and "has no 'sites'; it has channels" in refused.err


def test_run_writes_its_report(engine: LocalEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "run", "ring-numbered", "--transform", "turn:2", "--out", tmp_path / "out")
    assert said.code == 0, said.err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["exact"] and {r["name"]: r["verdict"] for r in report["layers"]}["2"] == "broken"


def test_a_frame_has_its_part_and_two_models_stand_beside_each_other(engine: LocalEngine) -> None:
    state = State(model="ring-net", compare="ring-numbered", steps=parse_chain("turn:2"), layer="2", node=3)
    frame = engine.answer(state, lambda: False)
    assert [s.measures["2"].verdict for s in frame.squares] == ["holds", "broken"]
    part = frame.squares[0].part
    assert type(part).__name__ == "RingPart" and part.order.tolist() == [(k + 2) % 12 for k in range(12)]  # type: ignore[union-attr]
    assert frame.squares[0].domain == "ring" and frame.squares[0].layer.kind_of_places == "site"
    # the answer at the selected site is followed to where it has gone
    np.testing.assert_allclose(frame.squares[0].output, frame.squares[0].output_g, atol=1e-6)


def test_its_orbit_is_drawn(engine: LocalEngine) -> None:
    curve = list(engine.orbit(State(model="ring-numbered", orbit="turn")))[-1]
    assert curve.values.tolist() == list(range(12)) and np.nanmax(curve.errors["3"][1:]) > 0.1
    assert np.nanmax(curve.errors["0.here"]) < 1e-6


def test_sessions_undo_and_the_random_element(engine: LocalEngine, tmp_path: Path) -> None:
    start = State(model="ring-net", sample="ring-wave", orbit="turn", steps=parse_chain("turn:2"))
    save_session(tmp_path / "a.json", start)
    assert load_session(tmp_path / "a.json").state == start
    catalogue = engine.catalogue()
    assert resolve(start, catalogue) == start
    history = History(start)
    drawn = random_steps(np.random.default_rng(0), (12, 1), "ring")
    assert drawn and drawn[0].name == "turn"
    history.change(start.inverted())
    assert history.state.steps == parse_chain("turn:-2") and history.undo() == start


def test_what_belongs_to_another_space_is_refused(engine: LocalEngine, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, "check", "ring-net", "--data", "digit-3")
    assert said.code == 2 and "lies on a grid, and this network takes a ring" in said.err
    said = run(capsys, "run", "ring-net", "--transform", "rotate:90", "--out", "nowhere")
    assert said.code == 2 and "rotate acts on a grid, and ring-net lives on a ring" in said.err
