"""A training in the window whose disk is full: said and not forgotten, nothing that was reached is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open
from tests.widgets.window.training.test_adversarial_window import click


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_said_until_somebody_acts_and_the_training_goes_on(
    qtbot: QtBot, open_window: Open, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State("vae", device="cpu"))
    window.menus.actions["train"].trigger()
    page = window.files.trainer.page
    assert page is not None
    monkeypatch.setenv("EQUISCOPE_CACHE", str(small))
    # the disk is for what is learned: compiled sources would fill it before the first step is kept
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    out = tmp_path / "out.safetensors"
    page.path.setText(str(out))
    click(qtbot, page.go)
    run = page.runs[-1]
    qtbot.waitUntil(lambda: "is full" in page.status.text(), timeout=LONGEST_MS)
    kept, step = list(run.told.kept), run.told.step
    qtbot.waitUntil(lambda: run.told.step > step + 20, timeout=LONGEST_MS)
    page.draw()
    assert "goes on without new checkpoints, the last one kept is of step" in page.status.text()
    assert kept and run.told.kept == kept and page.time.isEnabled()
    click(qtbot, page.play)
    qtbot.waitUntil(lambda: run.told.paused and "is full" not in page.status.text(), timeout=LONGEST_MS)
    run.back(kept[-1])
    qtbot.waitUntil(lambda: run.told.step == kept[-1], timeout=LONGEST_MS)
    click(qtbot, page.play)
    qtbot.waitUntil(lambda: run.told.step > kept[-1] + 3, timeout=LONGEST_MS)
    click(qtbot, page.finish)
    qtbot.waitUntil(lambda: not run.process.running, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: page.status.text().startswith("Trained"), timeout=LONGEST_MS)
    assert out.exists()
    assert "goes on" not in page.status.text(), "it is over"
