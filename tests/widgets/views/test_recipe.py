"""The view of docs/guide/recipes.md is a view: found by the scan, empty by design, and fed with frames."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import widgets
from explorer.declare.registry import PLUGINS, scan
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.view import ViewSpec

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ViewSpec]:
    recipes = (ROOT / "docs" / "guide" / "recipes.md").read_text(encoding="utf-8")
    page = recipes.partition("`mine/views/statistics.py`")[2]
    code = re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert code is not None
    room = tmp_path / "mine" / "views"
    room.mkdir(parents=True)
    for folder in (room, room.parent):
        (folder / "__init__.py").touch()
    (room / "statistics.py").write_text(code[1], encoding="utf-8")
    monkeypatch.setenv(PLUGINS, str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])  # the scan adds the folder
    importlib.invalidate_caches()
    yield scan(widgets, "VIEW", "views")["statistics"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def test_the_recipe_shows_a_frame_and_its_absence(spec: ViewSpec, qtbot: QtBot) -> None:
    view = spec.make()
    qtbot.addWidget(view)
    view.show()
    view.set_frame(make_frame())
    shown = view.label.text()
    assert [line.partition(":")[0] for line in shown.splitlines()] == ["F(x)", "ρ′(g)F(x)", "F(ρ(g)x)"]
    assert list(view.numbers()) == ["F(x)", "ρ′(g)F(x)", "F(ρ(g)x)"] and "lift" in view.caption()
    view.set_frame(None)
    assert view.label.text().startswith("No answer yet") and not view.numbers() and not view.caption()
