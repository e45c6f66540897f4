"""Meshes in real windows: opened from a file, cut, turned once round for a film, and saved as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.spaces.mesh.drawing.values import MeshPart
from explorer.state.state import State
from tests.explorer.parts.surfaces import bumpy
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.frames.mesh_frames import engine, mesh_frame
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.figures.export import export_view
from widgets.spaces.mesh.drawing.look import Slice
from widgets.spaces.mesh.views.surface import SurfaceView
from widgets.window.main_window import MainWindow


@pytest.fixture
def view(qtbot: QtBot) -> SurfaceView:
    made = opened(qtbot, SurfaceView(), 720, 420)
    assert isinstance(made, SurfaceView)
    made.set_frame(mesh_frame())
    made.grab()
    return made


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = MainWindow(lambda: LocalEngine(engine().cards), State(model="gem-cnn", sample="mesh-sphere-small"), settings)
    made.resize(1280, 800)
    with qtbot.waitExposed(made):
        made.show()
    made.controller.begin()
    wait(qtbot, lambda: made.controller.frame is not None and not made.controller.waiting)
    yield made
    made.close()
    made.deleteLater()


def wait(qtbot: QtBot, condition: Callable[[], Any]) -> None:
    qtbot.waitUntil(lambda: bool(condition()), timeout=20_000)


def surface_of(window: MainWindow) -> SurfaceView:
    found = next(v for spec, v in window.panes.views if spec.name == "surface")
    assert isinstance(found, SurfaceView)
    window.panes.raise_tab("surface")
    return found


def cut(view: SurfaceView, axis: int) -> Slice | None:
    """Choose from the list as a hand does."""
    view.cut.axis.setCurrentIndex(axis + 1)
    view.cut.axis.activated.emit(axis + 1)
    found: Slice | None = view.canvas.pictures.slice
    return found


# Cuts.


def test_a_cut_is_made_where_the_slider_is(view: SurfaceView) -> None:
    assert view.canvas.pictures.slice is None and not view.cut.slider.isVisible()
    low, high = (float(f(view.canvas.looks[0].vertices[:, 2])) for f in (np.min, np.max))
    assert cut(view, 2) == Slice((0.0, 0.0, 1.0), pytest.approx((low + high) / 2)) and view.cut.slider.isVisible()
    view.cut.slider.setValue(view.cut.slider.maximum())
    at = view.canvas.pictures.slice
    assert at is not None and at.offset == pytest.approx(high)
    view.cut.slider.setValue(0)
    at = view.canvas.pictures.slice
    assert at is not None and at.offset == pytest.approx(low)
    assert cut(view, -1) is None and not view.cut.slider.isVisible()


def test_a_cut_lets_one_look_inside(view: SurfaceView) -> None:
    def shown() -> Any:
        image = view.canvas.picture(ratio=1.0)
        return np.frombuffer(image.constBits(), np.uint8).copy()

    whole = shown()
    cut(view, 1)
    assert (shown() != whole).mean() > 0.02
    cut(view, -1)
    np.testing.assert_array_equal(shown(), whole)


def test_a_cut_is_as_far_along_another_surface(view: SurfaceView) -> None:
    before = cut(view, 0)
    view.set_frame(mesh_frame(chain="translate3d:2,0,0"))
    after = view.canvas.pictures.slice
    assert before is not None and after is not None and after.offset != before.offset
    low, high = view.canvas.slice_span((1.0, 0.0, 0.0))
    assert after.offset == pytest.approx((low + high) / 2)


def test_there_is_nothing_to_cut_without_a_mesh(view: SurfaceView) -> None:
    cut(view, 0)
    view.set_frame(make_frame())
    assert not view.cut.isVisible() and view.turntable(4) is None
    view.set_frame(mesh_frame())
    assert view.cut.isVisible() and view.canvas.pictures.slice is not None


# Pictures and films.


def test_a_turntable_goes_once_round_and_leaves_the_eye(view: SurfaceView) -> None:
    eye = view.canvas.eye
    turn = view.turntable(4)
    assert turn is not None
    pictures = [np.frombuffer(p.constBits(), np.uint8).copy() for p in turn]
    assert len(pictures) == 4 and view.canvas.eye == eye
    assert all((a != b).any() for a, b in pairwise(pictures))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_the_view_is_saved_as_a_picture(view: SurfaceView, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"surface{ending}"
    cut(view, 0)
    export_view(view, path)
    if ending == ".png":
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
        assert pixels.shape[1] == 2 * view.width() and pixels.std() > 10
    elif ending == ".svg":
        assert b"<image" in path.read_bytes() and b"<text" in path.read_bytes()  # the surface, and real words
    else:
        assert path.read_bytes()[:5] == b"%PDF-" and path.stat().st_size > 20_000


@pytest.mark.slow
def test_a_turntable_is_filmed_from_the_menu(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    surface_of(window)
    path = tmp_path / "turn.gif"
    monkeypatch.setattr("widgets.window.files.PICTURES_OF_A_TURN", 5)
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(path))
    window.menus.actions["export_turntable"].trigger()
    wait(qtbot, lambda: window.infobar.text.text() == f"Saved {path}")
    with Image.open(path) as film:
        assert getattr(film, "n_frames", 1) == 5
    # one that is given up is not written
    path.unlink()
    window.menus.actions["export_turntable"].trigger()
    window.cancel()
    monkeypatch.setattr("widgets.window.files.PICTURES_OF_A_TURN", 3)
    path = tmp_path / "second.gif"
    window.menus.actions["export_turntable"].trigger()
    wait(qtbot, path.exists)
    assert not (tmp_path / "turn.gif").exists()


@pytest.mark.slow
def test_nothing_is_filmed_where_nothing_turns(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(window.files, "ask_save", lambda *words: asked.append(words) or "")
    monkeypatch.setattr(window.panes, "active", lambda: None)
    window.menus.actions["export_turntable"].trigger()
    assert not asked and "choose a view in space" in window.infobar.text.text()


# Files.


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["ply", "obj", "stl", "off"])
def test_a_mesh_opened_on_a_network_for_images_brings_one_for_meshes(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, ending: str
) -> None:
    c = window.controller
    c.set_model("c4-cnn")
    wait(qtbot, lambda: not c.waiting)
    v, f = bumpy(300)
    path = tmp_path / f"shape.{ending}"
    meshio.write(path, meshio.Mesh(v, [("triangle", f)]))
    told: list[str] = []
    c.told.connect(told.append)
    window.files.open(str(path))  # so does a drop
    wait(qtbot, lambda: c.state.sample == str(path))  # the worker has tried which network takes it
    assert c.info is not None and c.info.domain == "mesh"
    assert len(told) == 1 and "shape" in told[0] and "mesh" in told[0] and c.info.title in told[0]
    wait(qtbot, lambda: not c.waiting)
    assert c.frame is not None and c.frame.squares[0].of(MeshPart) is not None
    assert len(c.frame.squares[0].of(MeshPart).shape.vertices) == 300
    # and a picture brings one for pictures back
    picture = tmp_path / "picture.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (29, 29), np.uint8)).save(picture)
    window.files.open(str(picture))
    wait(qtbot, lambda: c.state.sample == str(picture))
    assert c.info is not None and c.info.domain == "grid"


@pytest.mark.slow
def test_a_layer_is_saved_at_the_vertices_of_the_mesh(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = tmp_path / "values.ply", []
    monkeypatch.setattr(window.files, "ask_save", lambda *words: asked.append(words) or str(path))
    window.menus.actions["export_captures"].trigger()
    wait(qtbot, lambda: window.infobar.text.text() == f"Saved {path}")
    assert "*.ply" in asked[0][2]
    assert set(meshio.read(path).point_data) and len(meshio.read(path).points) > 100


@pytest.mark.slow
def test_meshes_have_pictures_in_the_gallery(qtbot: QtBot, window: MainWindow) -> None:
    def pictures() -> list[Any]:
        catalogue = window.controller.catalogue
        return [s.thumbnail for s in catalogue.samples if s.domain == "mesh"] if catalogue is not None else [None]

    wait(qtbot, lambda: all(picture is not None for picture in pictures()))
    assert pictures() and all(picture.std() > 5 for picture in pictures())
