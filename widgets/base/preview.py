"""Look at one view alone: `python -m widgets.views.charts.errors [light|dark] [WIDTHxHEIGHT] [PICTURE.png]`."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtWidgets import QApplication

from widgets.base.look import theme
from widgets.base.view import View

TESTS = Path(__file__).resolve().parents[2] / "tests" / "widgets" / "parts" / "frames"


def preview(make: Callable[[], View], fill: Callable[[Any, SimpleNamespace], None]) -> None:
    """Show the view filled with made-up frames; `samples` has make_frame, make_orbit, make_catalogue, make_looks."""
    words = sys.argv[1:]
    app = QApplication(sys.argv[:1])
    theme.use(next((w for w in words if w in ("light", "dark")), "system"))
    view = make()
    view.apply_theme()
    # run as files: the window's code imports no tests
    names = ("sample_frames", "sample_catalogue", "sample_meshes")
    samples = {key: made for name in names for key, made in runpy.run_path(str(TESTS / f"{name}.py")).items()}
    fill(view, SimpleNamespace(**samples))
    size = next((w.split("x") for w in words if w.replace("x", "").isdigit()), ["960", "320"])
    view.resize(int(size[0]), int(size[1]))
    view.wished.connect(lambda wish: print(wish))
    view.show()
    if picture := next((w for w in words if w.endswith(".png")), None):
        app.processEvents()
        view.settle()
        view.grab().save(picture)
        return
    app.exec()
