"""The relative error and its verdict, in little room."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QGraphicsScene

from explorer.square.frame import Measure
from widgets.base.look.switched_parts import on_paper
from widgets.maps.diagram import ROLES, Label, ReadOut

ROOM = 300  # pixels of the picture: more than the item has


def painted(box: QRectF, verdict: str, title: str = "") -> np.ndarray:
    """Return which pixels of a picture have something on them, (height, width)."""
    scene, item = QGraphicsScene(), ReadOut()
    scene.addItem(item)
    item.place(box)
    item.show_measure(Measure(0.0, 0.0, 7.5e-8, None, True, verdict), verdict, title, "accent" if title else "")
    image = QImage(ROOM, ROOM, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    with on_paper():  # words of the glossary are underlined on screen
        scene.render(painter, QRectF(0, 0, ROOM, ROOM), QRectF(0, 0, ROOM, ROOM))
    painter.end()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(ROOM, ROOM, 4)
    return np.asarray(pixels[..., 3] > 0)


@pytest.mark.parametrize("verdict", ROLES)
@pytest.mark.parametrize("width", [92, 120, 200])
def test_a_verdict_is_not_wider_than_its_place(qapp: object, verdict: str, width: int) -> None:
    found = painted(QRectF(10, 10, width, 130), verdict)
    assert found.any(0)[10:40].any()
    assert not found[:, 11 + width :].any()


def test_in_little_height_the_figure_is_smaller_and_all_lines_are_there(qapp: object) -> None:
    def lines(height: float) -> int:
        rows = painted(QRectF(10, 10, 140, height), "holds").any(1).astype(int)
        return int((np.diff(rows, prepend=0) == 1).sum())

    assert lines(200) == lines(94) == 5  # relative error, the figure, the verdict, floor, local


def test_what_was_not_measured_alone_is_no_layer_without_a_law(qapp: object) -> None:
    """Beside the error of a container stood "local no law"."""
    scene, item = QGraphicsScene(), ReadOut()
    scene.addItem(item)
    item.place(QRectF(10, 10, 200, 200))
    item.show_measure(Measure(0.3, None, 1e-7, None, True, "broken"), "broken")
    texts = [part.text for part in item.childItems() if isinstance(part, Label)]
    assert "local –" in texts and "local no law" not in texts
