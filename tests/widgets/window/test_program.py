"""The whole program, with real networks in a real window: what the synthetic frames of the other tests cannot show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import main
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle

ROOT = Path(main.__file__).parent


def test_keys_turn_and_mirror_a_digit_and_the_group_network_does_not_mind(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    stage = window.panes.front()
    # the picture has the focus from the start, so that keys are for it
    held = window.focusWidget()
    assert stage is not None and held is not None and (held is stage or stage.isAncestorOf(held))
    qtbot.keyClick(held, Qt.Key.Key_BracketLeft)
    settle(qtbot, window, measured=True)
    qtbot.keyClick(held, Qt.Key.Key_F)
    settle(qtbot, window, measured=True)
    frame = window.controller.frame
    assert frame is not None and {s.name for s in frame.state.steps} == {"rotate", "reflect"}
    square = frame.squares[0]
    assert {m.verdict for m in square.measures.values()} == {"holds"}
    turned = [np.rot90(square.x, k, (1, 2)) for k in (1, 3)]
    assert any(np.array_equal(square.gx, t[:, :, ::-1]) or np.array_equal(square.gx, t) for t in turned)
    assert square.output_g == pytest.approx(square.output, abs=1e-5)


def test_the_plain_network_is_told_to_be_guilty_beside_the_group_network(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="plain-cnn", compare="d4-cnn", sample="digit-3"))
    window.controller.apply("rotate", (90.0,))
    settle(qtbot, window, measured=True)
    frame = window.controller.frame
    assert frame is not None
    plain, group = frame.squares
    assert {n for n, m in plain.measures.items() if m.verdict == "broken"} == {"conv1", "conv2", "conv3"}
    assert {m.verdict for m in group.measures.values()} == {"holds"}
    assert plain.hints and not group.hints


def test_a_photograph_is_opened_and_a_broken_one_leaves_the_session_as_it_was(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    good, bad = tmp_path / "photo.jpg", tmp_path / "torn.jpg"
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (60, 80, 3), dtype=np.uint8)).save(good)
    bad.write_bytes(good.read_bytes()[:500])
    window.controller.open_path(str(good))
    qtbot.waitUntil(lambda: window.controller.state.sample == str(good), timeout=60_000)
    settle(qtbot, window, measured=True)
    shown = window.controller.frame
    assert shown is not None and shown.squares[0].x.shape == (1, 29, 29)
    with qtbot.waitSignal(window.controller.failed, timeout=10_000) as failed:
        window.controller.open_path(str(bad))
    assert "torn.jpg" in failed.args[0].sentence
    # the last good picture stays on screen
    assert window.controller.frame is not None
    assert np.array_equal(window.controller.frame.squares[0].x, shown.squares[0].x)


def program(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    command = [sys.executable, str(ROOT / "main.py"), *words]
    return subprocess.run(
        command, cwd=cwd, env={**kept, **environment}, capture_output=True, text=True, timeout=110, check=False
    )


@pytest.mark.slow
def test_run_draws_every_view(tmp_path: Path) -> None:
    words = ("run", "c4-cnn", "--data", "digit-7", "--transform", "rotate:90", "--layers", "relu1", "--out", "made")
    done = program(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = {p.name for p in (tmp_path / "made").iterdir()}
    assert {"report.json", "captures.safetensors", "window.png", "stage.png", "errors.png", "orbit.png"} <= made
    with Image.open(tmp_path / "made" / "stage.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert min(pixels.shape[:2]) > 300 and len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
    report = json.loads((tmp_path / "made" / "report.json").read_text(encoding="utf-8"))
    assert report["layers"][0]["verdict"] == "holds"


@pytest.mark.slow
def test_without_a_display_the_window_is_drawn_off_screen(tmp_path: Path) -> None:
    done = program(cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "off screen" in done.stdout
    assert (tmp_path / "out" / "report" / "report.json").is_file()
    with Image.open(tmp_path / "out" / "window.png") as picture:
        assert picture.size == (1280, 800)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11")
def test_a_display_that_does_not_answer_is_told_before_qt_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    import main

    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main.no_display() == "", "that of the tests answers"
    monkeypatch.setenv("DISPLAY", ":65000")
    assert main.no_display() == "The display :65000 does not answer"
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert main.no_display() == "", "nobody asks it for a window"
    monkeypatch.delenv("DISPLAY")
    assert main.no_display() == "No display"


WITH_A_FILE = """
import sys
from explorer.data import opening
def expect():
    print("bound" if "shiboken6" in sys.modules else "not bound")
    raise SystemExit  # the question is answered
opening.expect_file = expect
import main
main.main(["--data", __file__, "--screenshot", "never.png"])
"""


def test_no_thread_imports_anything_while_the_classes_of_qt_are_bound(tmp_path: Path) -> None:
    # binding them goes through all modules: one that the thread for a file imported then ended the program
    script = tmp_path / "start.py"
    script.write_text(WITH_A_FILE)
    own = os.environ | {"PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, env=own, check=False)
    assert said.stdout == "bound\n"
