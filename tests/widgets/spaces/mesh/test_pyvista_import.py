"""pyvista is imported without what it imports for others, and is whole afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from widgets.spaces.mesh.drawing import pyvista_import

CODE = """
import sys
from widgets.spaces.mesh.drawing import pyvista_import
pyvista_import.wait()
import matplotlib
found = [name for name in ("mypy.nodes", "matplotlib.pyplot", "matplotlib.figure") if name in sys.modules]
print(found, hasattr(matplotlib, "pyplot"))
import logging
print(logging.getLogger("matplotlib.font_manager").isEnabledFor(logging.WARNING))
from pyvista.plotting import charts, colors
import matplotlib.pyplot as real
print(colors.get_matplotlib_theme_cycler() == real.rcParams["axes.prop_cycle"], type(real).__name__)
print(charts.plt.subplots is real.subplots, matplotlib.pyplot is real)
import mypy
print(mypy.__name__)
"""


def test_pyvista_comes_without_what_nobody_uses_here_and_is_whole_when_it_is_used() -> None:
    said = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=120)
    assert said.stdout.splitlines() == ["[] False", "False", "True module", "True True", "mypy"]


@pytest.mark.parametrize(("free", "kept"), [(2**30, True), (2**20, False)])
def test_compiled_shaders_are_kept_where_there_is_room_for_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, kept: bool
) -> None:
    asked = []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: asked.append(path) or SimpleNamespace(free=free))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none" / "yet"))
    monkeypatch.delenv("MESA_SHADER_CACHE_DIR", raising=False)
    monkeypatch.setenv(pyvista_import.SWITCH, "")  # so that it is put back
    monkeypatch.delenv(pyvista_import.SWITCH)
    pyvista_import.without_shaders_on_a_full_disk()
    assert (pyvista_import.SWITCH not in os.environ) is kept and asked == [tmp_path]
