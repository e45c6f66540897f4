"""Names of colour scales: whole, cut where something of them can be read, else left out."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QApplication, QGraphicsScene

from widgets.charts.scene.labels import Scale


@pytest.mark.parametrize(("wide", "says"), [(300, "0 · scalar"), (136, "cut"), (62, "")])
def test_a_name_of_which_only_dots_would_be_left_goes(qapp: QApplication, wide: float, says: str) -> None:
    """Four panels beside each other in a small window had "…" below them."""
    scene, scale, font = QGraphicsScene(), Scale(), QFont()
    scene.addItem(scale)
    font.setPixelSize(11)
    inks = QColor("grey"), QColor("black"), QColor("grey")
    table = np.linspace(0, 255, 256)[:, None].repeat(3, 1)
    scale.show_scale(("−24.9", "24.9"), table, QRectF(0, 0, wide, 18), font, inks, "0 · scalar")
    shown = scale.name.text() if scale.name.isVisible() else ""
    if says == "cut":
        assert shown == "0 · scalar" or (shown.endswith("…") and len(shown) > 4)
    else:
        assert shown == says
