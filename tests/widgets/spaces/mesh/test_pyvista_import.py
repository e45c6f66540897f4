"""pyvista is imported without what it imports for others, and is whole afterwards."""

from __future__ import annotations

import subprocess
import sys

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
