"""SVG drawn by librsvg and PDF drawn by poppler look as the PNG does: what Qt writes is what other programs read."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import widgets
from explorer.declare.registry import scan
from tests.widgets.figures.filling import filled
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.view import View
from widgets.figures.export import export_view
from widgets.figures.style import Style
from widgets.figures.svg import composed
from widgets.latent.samples_view import Tiles
from widgets.views.layer_tree.layers import LayersView

SPECS = scan(widgets, "VIEW", "views")
CELL = 8  # pixels of a PNG along a side: letters of another font still fill about the same cells
MOST = 0.3  # of the range from black to white, that a cell differs by: thin lines and letters fall otherwise into cells
FEW = 0.003  # of the cells that differ by more: a title or a curve that is missing is more than that


def cells(path: Path, size: tuple[int, int]) -> NDArray[np.float64]:
    """Return the mean of each cell of a picture that is brought to a size, (rows, columns, 3) from 0 to 1."""
    with Image.open(path) as image:
        small = image.convert("RGB").resize(size, Image.Resampling.BOX)
    grid = np.asarray(small.resize((size[0] // CELL, size[1] // CELL), Image.Resampling.BOX), np.float64)
    return grid / 255


def by_librsvg(path: Path, width: int) -> Path:
    made = path.with_suffix(".rsvg.png")
    subprocess.run(["rsvg-convert", "-w", str(width), "-o", made, path], check=True, capture_output=True)
    return made


def by_poppler(path: Path, width: int) -> Path:
    made = path.with_suffix(".poppler")
    subprocess.run(
        ["pdftoppm", "-png", "-singlefile", "-scale-to-x", str(width), "-scale-to-y", "-1", path, made], check=True
    )
    return made.with_suffix(".poppler.png")


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(
    ("kind", "tool", "draw"), [("svg", "rsvg-convert", by_librsvg), ("pdf", "pdftoppm", by_poppler)]
)
def test_a_view_looks_the_same_to_other_programs(
    qtbot: QtBot, tmp_path: Path, name: str, kind: str, tool: str, draw: object
) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    view = filled(opened(qtbot, SPECS[name].make(), 640, 300), SPECS[name])
    export_view(view, tmp_path / "figure.png")
    export_view(view, tmp_path / f"figure.{kind}")
    with Image.open(tmp_path / "figure.png") as image:
        size = image.size
    other = draw(tmp_path / f"figure.{kind}", size[0])
    apart = np.abs(cells(tmp_path / "figure.png", size) - cells(other, size)).max(-1)
    assert (apart > MOST).mean() < FEW, f"{(apart > MOST).mean():.1%} of the cells differ, at most by {apart.max():.2f}"


@pytest.mark.parametrize("name", ["errors", "gates", "phase"])
def test_a_figure_of_one_column_is_the_same_as_png_and_as_pdf(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    """In a PNG of 600 dots an inch lines are widened: what forgot it had hairs, or blots, in place of lines."""
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed")
    view = filled(opened(qtbot, SPECS[name].make(), 640, 300), SPECS[name])
    for kind in ("png", "pdf"):
        export_view(view, tmp_path / f"figure.{kind}", style=Style(width=85.0, caption=False))
    with Image.open(tmp_path / "figure.png") as image:
        size = image.width // 3, image.height // 3
    made = (tmp_path / "figure.png", by_poppler(tmp_path / "figure.pdf", size[0]))
    apart = np.abs(np.subtract(*(cells(path, size) for path in made))).max(-1)
    assert (apart > MOST).mean() < FEW, f"{(apart > MOST).mean():.1%} of the cells differ, at most by {apart.max():.2f}"


class Many(View):
    """Shows more images than it has room for."""

    def __init__(self) -> None:
        super().__init__()
        self.tiles = Tiles()
        self.tiles.show_images(np.zeros((2000, 8, 8), np.uint8))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tiles)

    def caption(self) -> str:
        return "Black images on a ground, as many as there is room for."


def test_images_that_scroll_leave_the_caption_its_place_and_no_bar_is_drawn(qtbot: QtBot, tmp_path: Path) -> None:
    """In a PDF the row that is seen in part was whole and covered the caption; a scroll bar stood beside all."""
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed")
    view = opened(qtbot, Many(), 640, 300)
    for kind in ("png", "pdf"):
        export_view(view, tmp_path / f"figure.{kind}")
    with Image.open(tmp_path / "figure.png") as image:
        size = image.size
    made = cells(tmp_path / "figure.png", size), cells(by_poppler(tmp_path / "figure.pdf", size[0]), size)
    apart = np.abs(np.subtract(*made)).max(-1)
    assert (apart > MOST).mean() < FEW, f"{(apart > MOST).mean():.1%} of the cells differ, at most by {apart.max():.2f}"
    assert view.tiles.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded, "it is there again"
    assert view.tiles.verticalScrollBar().maximum() > 0
    edge = made[0][2:20, -1].reshape(-1, 3)
    assert np.ptp(edge, axis=0).max() < 0.01, "what is beyond the last image is the ground alone"


def words_in(path: Path) -> str:
    return " ".join(element.text or "" for element in ElementTree.parse(path).getroot().iter(f"{SVG}text"))


def test_the_numbers_of_the_stage_are_all_in_a_narrow_figure(qtbot: QtBot, tmp_path: Path) -> None:
    view = filled(opened(qtbot, SPECS["stage"].make(), 640, 480), SPECS["stage"])
    view.set_frame(make_frame())
    export_view(view, tmp_path / "stage.svg", style=Style(width=85.0))
    words = words_in(tmp_path / "stage.svg")
    assert "floor " in words and "local " in words, words


def test_a_figure_of_a_graph_says_nothing_of_the_mouse(qtbot: QtBot, tmp_path: Path) -> None:
    view = filled(opened(qtbot, SPECS["graph"].make(), 820, 520), SPECS["graph"])
    export_view(view, tmp_path / "graph.svg")
    words = words_in(tmp_path / "graph.svg")
    assert "nodes" in words and not any(word in words for word in ("Click", "Drag", "Wheel")), words


def test_a_line_in_two_alphabets_is_one_text_and_two_labels_are_two(qapp: QApplication) -> None:
    """Qt writes a text for each alphabet; set a little wider elsewhere, one would cover the end of the one before."""
    whole = "Histograms of the gates over all steps, filled: F(x), line: F(ρ(g)x); forgetting time 1/γ with γ < 1"

    def paint(painter: QPainter) -> None:
        painter.drawText(10, 20, whole)
        painter.drawText(10, 40, "ρ")
        painter.drawText(60, 40, "x")

    page = QWidget()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", composed(page, QSize(900, 60), paint, "", ""))
    assert [html.unescape(text) for text in texts] == [whole, "ρ", "x"]


def test_the_search_above_the_layers_is_no_part_of_a_figure(qtbot: QtBot, tmp_path: Path) -> None:
    view = opened(qtbot, LayersView(), 640, 500)
    view.set_frame(make_frame())
    export_view(view, tmp_path / "layers.svg")
    drawn = (tmp_path / "layers.svg").read_text()
    assert view.squares[0].layers[-1].name in drawn and "Search" not in drawn
    assert view.bar.isVisible(), "and it is there again"


SIDE = 96  # pixels of the pictures below

RECTS = st.tuples(*(st.integers(0, 60) for _ in range(2)), *(st.integers(12, 60) for _ in range(2)))
DRAWN = st.recursive(
    st.tuples(st.just("draw"), RECTS),
    lambda inner: st.tuples(st.just("clip"), RECTS, st.booleans(), st.lists(inner, min_size=1, max_size=4)),
    max_leaves=12,
)


def paint(painter: QPainter, what: Any) -> None:
    """Draw a rectangle, or other things within a clip; with a scale too, as a chart does."""
    if what[0] == "draw":
        painter.fillRect(QRect(*what[1]), QColor("black"))
        return
    _, rect, scaled, inner = what
    painter.save()
    painter.setClipRect(QRect(*rect), Qt.ClipOperation.IntersectClip)
    if scaled:
        painter.translate(4, 2)
    for part in inner:
        paint(painter, part)
    painter.restore()


@pytest.mark.skipif(shutil.which("rsvg-convert") is None, reason="rsvg-convert is not installed")
@settings(max_examples=40, deadline=None)
@given(st.lists(DRAWN, min_size=1, max_size=4))
@example(
    [
        (
            "clip",
            (0, 0, 90, 90),
            False,
            [("clip", (0, 0, 12, 12), False, [("draw", (0, 0, 9, 9))]), ("draw", (40, 40, 30, 30))],
        )
    ]
)
def test_what_follows_a_clip_within_another_is_not_clipped_by_it(tmp_path_factory: Any, parts: list[Any]) -> None:
    def all_of(painter: QPainter) -> None:
        for part in parts:
            paint(painter, part)

    image = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    all_of(painter)
    painter.end()
    folder = tmp_path_factory.mktemp("clips")
    image.save(str(folder / "clips.png"))
    page = QWidget()
    page.resize(SIDE, SIDE)

    def below(painter: QPainter) -> None:
        painter.fillRect(0, 0, SIDE, SIDE, QColor("white"))
        all_of(painter)

    (folder / "clips.svg").write_text(composed(page, QSize(SIDE, SIDE), below, "", ""))
    other = by_librsvg(folder / "clips.svg", SIDE)
    with Image.open(folder / "clips.png") as one, Image.open(other) as two:
        apart = np.abs(np.asarray(one.convert("L"), float) - np.asarray(two.convert("L"), float))
    assert apart.max() < 64, parts
