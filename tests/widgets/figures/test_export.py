"""Figures hold text and lines, films their pictures, tables their numbers; and a failure leaves nothing behind."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QCheckBox

import widgets
from explorer.declare.registry import scan
from tests.widgets.parts.driving.view_driving import odd_frames, opened, with_square
from tests.widgets.parts.frames.sample_catalogue import make_catalogue
from tests.widgets.parts.frames.sample_frames import make_frame, make_orbit
from widgets.base.look import theme
from widgets.base.view import View
from widgets.figures.export import ExportError, drawn, export_view, save_animation
from widgets.figures.numbers import export_numbers, without_ones
from widgets.figures.style import Style
from widgets.views.charts.errors import ErrorsView
from widgets.views.charts.orbit import OrbitView
from widgets.views.stage import Stage
from widgets.window.files import name_in_file

SPECS = scan(widgets, "VIEW", "views")
MINE = ("errors", "orbit", "output", "layers", "gallery", "inspector", "equation")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def in_light():
    yield
    theme.use("light")


def filled(view: View) -> View:
    view.show_catalogue(make_catalogue())
    view.set_frame(make_frame(compare=True))
    view.set_orbit((make_orbit(), make_orbit("plain-cnn")))
    return view


def text_of_pdf(path: Path) -> str:
    return subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_every_view_as_svg_is_text_and_vectors(qtbot, tmp_path, name):
    view = filled(opened(qtbot, SPECS[name].make(), 640, 300))
    path = tmp_path / "figure.svg"
    export_view(view, path)
    root = ET.parse(path).getroot()
    words = " ".join(t.text or "" for t in root.iter(f"{SVG}text"))
    assert len(words) > 10, "no real text"
    assert any(True for kind in ("path", "rect", "polyline", "line", "polygon") for _ in root.iter(f"{SVG}{kind}"))
    caption = view.caption()
    if caption:
        assert root.find(f"{SVG}desc").text == caption
        assert caption.split()[0] in words
    if name in ("errors", "orbit", "output"):
        assert not list(root.iter(f"{SVG}image"))
    assert 'font-family="Sans Serif' not in path.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_every_view_as_pdf_is_text_and_vectors(qtbot, tmp_path, name):
    view = filled(opened(qtbot, SPECS[name].make(), 640, 300))
    path = tmp_path / "figure.pdf"
    export_view(view, path)
    data = path.read_bytes()
    assert data.startswith(b"%PDF") and b"/FontFile2" in data
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    text = text_of_pdf(path)
    assert len(text.split()) > 3
    if view.caption():
        assert view.caption().split()[0] in text


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_every_view_as_png_is_sharp(qtbot, tmp_path, name):
    view = filled(opened(qtbot, SPECS[name].make(), 640, 300))
    path = tmp_path / "figure.PNG"
    export_view(view, path)
    with Image.open(path) as image:
        assert image.width >= 2 * 640 and image.height >= 2 * 160
        assert image.info.get("Description", "") == view.caption()
        assert len(image.convert("RGB").getcolors(1 << 24)) > 4


@pytest.mark.parametrize("name", MINE)
def test_a_view_that_was_never_shown_can_be_exported(qtbot, tmp_path, name):
    view = SPECS[name].make()
    qtbot.addWidget(view)
    filled(view)
    export_view(view, tmp_path / "figure.svg")
    words = [t.text or "" for t in ET.parse(tmp_path / "figure.svg").getroot().iter(f"{SVG}text")]
    assert len(words) > 8
    assert not view.isVisible()


@pytest.mark.slow
@pytest.mark.parametrize("name", MINE)
@pytest.mark.parametrize("odd", ["no frame", "odd measures", "200 layers"])
def test_odd_frames_can_be_exported(qtbot, tmp_path, name, odd):
    view = opened(qtbot, SPECS[name].make(), 300, 200)
    view.set_frame(odd_frames()[odd])
    for kind in ("svg", "pdf", "png"):
        export_view(view, tmp_path / f"figure.{kind}")


def test_a_figure_is_light_and_the_window_stays_dark(qtbot, tmp_path, in_light):
    theme.use("dark")
    view = filled(opened(qtbot, ErrorsView(), 640, 200))
    view.apply_theme()
    before, base = view.grab().toImage(), QApplication.palette().color(QPalette.ColorRole.Base)
    sheet, geometry = view.styleSheet(), view.geometry()
    export_view(view, tmp_path / "dark.png", theme="dark")
    export_view(view, tmp_path / "light.png")
    with Image.open(tmp_path / "light.png") as light, Image.open(tmp_path / "dark.png") as dark:
        assert np.asarray(light.convert("L")).mean() > 180 > 80 > np.asarray(dark.convert("L")).mean()
    assert theme.current() is theme.DARK and QApplication.palette().color(QPalette.ColorRole.Base) == base
    assert (view.styleSheet(), view.geometry()) == (sheet, geometry)
    assert view.grab().toImage() == before


def test_all_comes_back_when_an_export_fails(qtbot, tmp_path, monkeypatch, in_light):
    theme.use("dark")
    view = filled(opened(qtbot, ErrorsView(), 640, 200))

    def broken(self: object) -> str:
        raise RuntimeError("a caption that cannot be made")

    monkeypatch.setattr(ErrorsView, "caption", broken)
    with pytest.raises(RuntimeError):
        export_view(view, tmp_path / "figure.svg")
    assert theme.current() is theme.DARK and not list(tmp_path.iterdir())


def test_controls_are_left_out_and_come_back(qtbot, tmp_path):
    view = filled(opened(qtbot, OrbitView(), 640, 300))
    export_view(view, tmp_path / "figure.svg")
    assert "All layers" not in (tmp_path / "figure.svg").read_text("utf-8")
    assert view.combo.isVisible() and view.play.isVisible()


def test_a_long_list_is_exported_whole(qtbot, tmp_path):
    view = opened(qtbot, SPECS["layers"].make(), 300, 120)
    view.set_frame(odd_frames()["200 layers"])
    export_view(view, tmp_path / "figure.svg")
    words = {t.text for t in ET.parse(tmp_path / "figure.svg").getroot().iter(f"{SVG}text")}
    assert {"0", "199"} <= words
    assert view.height() == 120


# numbers ------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_numbers_as_csv_and_npz_are_the_views_own(qtbot, tmp_path, name):
    view = filled(opened(qtbot, SPECS[name].make(), 640, 300))
    numbers = view.numbers()
    if not numbers:
        with pytest.raises(ExportError):
            export_numbers(view, tmp_path / "n.csv")
        return
    export_numbers(view, tmp_path / "n.csv")
    export_numbers(view, tmp_path / "n.npz")
    with np.load(tmp_path / "n.npz", allow_pickle=False) as read:
        assert set(read.files) == set(numbers)
        for key, array in numbers.items():
            np.testing.assert_array_equal(read[key], array)
    rows = list(csv.reader(io.StringIO((tmp_path / "n.csv").read_text("utf-8"))))
    heads = [k for k, row in enumerate(rows) if row[:1] == ["row"]]
    arrays = {name: without_ones(np.asarray(array)) for name, array in numbers.items()}
    assert len(heads) == len({a.shape[0] if a.ndim else 1 for a in arrays.values()})
    titles = [title.partition("[")[0] for k in heads for title in rows[k][1:]]
    assert set(titles) == set(arrays)
    written = sum(len(row) - 1 for row in rows if row and row[0] != "row")
    assert written == sum(a.size for a in arrays.values())


def test_text_with_commas_and_quotes_stays_one_value(qtbot, tmp_path):
    view = opened(qtbot, SPECS["output"].make())
    labels = ('tench, "Tinca tinca"', *"123456789")
    view.set_frame(with_square(make_frame(), labels=labels))
    export_numbers(view, tmp_path / "n.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "n.csv").read_text("utf-8"))))
    assert [row[rows[0].index("label")] for row in rows[1:]] == list(labels)


# films --------------------------------------------------------------------------------------------------------
def pictures(n: int = 9, height: int = 41, width: int = 63) -> list[np.ndarray]:
    made = []
    for i in range(n):
        picture = np.full((height, width, 3), 255, np.uint8)
        picture[5:25, 6 * i : 6 * i + 12] = (200, 30 * i % 255, 60)
        made.append(picture)
    return made


def test_a_gif_has_every_picture_and_one_palette(tmp_path):
    save_animation(iter(pictures()), tmp_path / "film.gif", 10)
    with Image.open(tmp_path / "film.gif") as film:
        assert (film.n_frames, film.size, film.info["loop"]) == (9, (63, 41), 0)
        for i, picture in enumerate(pictures()):
            film.seek(i)
            assert film.info["duration"] == 100
            shown = np.asarray(film.convert("RGB")).astype(int)
            assert np.abs(shown - picture).mean() < 3


@pytest.mark.parametrize("size", [(41, 63), (40, 64), (1, 1)])
def test_an_mp4_has_every_picture_at_even_size(tmp_path, size):
    save_animation(iter(pictures(9, *size)), tmp_path / "film.mp4", 12)
    done = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-i", tmp_path / "film.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    height, width = (n + n % 2 for n in size)
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)
    said = done.stderr.decode()
    assert len(frames) == 9 and "h264" in said and "yuv420p" in said and "12 fps" in said
    for shown, picture in zip(frames, pictures(9, *size)):
        assert np.abs(shown[: size[0], : size[1]].astype(int) - picture).mean() < 12


@pytest.mark.parametrize("name", ["film.gif", "film.mp4"])
@pytest.mark.parametrize(
    ("images", "says"),
    [
        ([], "no pictures"),
        ([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)], "one size"),
        ([np.zeros((4, 4), np.uint8)], "uint8"),
        ([np.zeros((4, 4, 3), np.float32)], "uint8"),
    ],
)
def test_pictures_that_make_no_film_are_refused(tmp_path, name, images, says):
    with pytest.raises(ExportError, match=says):
        save_animation(images, tmp_path / name, 10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["film.gif", "film.mp4"])
def test_a_film_that_stops_midway_leaves_the_old_one(tmp_path, name):
    (tmp_path / name).write_bytes(b"old")

    def stopping():
        yield from pictures(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_animation(stopping(), tmp_path / name, 10)
    assert (tmp_path / name).read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == [name]


# what cannot be written ---------------------------------------------------------------------------------------
def save_as(view: View, path: Path) -> None:
    if path.suffix in (".csv", ".npz"):
        export_numbers(view, path)
    elif path.suffix in (".gif", ".mp4"):
        save_animation(pictures(2), path, 10)
    else:
        export_view(view, path)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "npz", "gif", "mp4"])
def test_a_place_that_is_not_there_is_said_in_one_sentence(qtbot, tmp_path, kind):
    view = filled(opened(qtbot, ErrorsView(), 400, 200))
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / f"folder.{kind}").mkdir()
    for path in (tmp_path / "missing" / f"a.{kind}", tmp_path / "file" / f"a.{kind}", tmp_path / f"folder.{kind}"):
        with pytest.raises(ExportError) as caught:
            save_as(view, path)
        assert re.fullmatch(r"[A-Z\d/a-z].*\.", str(caught.value)) and "\n" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", f"folder.{kind}"]


@pytest.mark.parametrize("name", ["figure", "figure.jpg", "figure.svgz", ".png"])
def test_an_unknown_extension_is_refused_with_those_there_are(qtbot, tmp_path, name):
    view = filled(opened(qtbot, ErrorsView(), 400, 200))
    with pytest.raises(ExportError, match=r"\.png, \.svg, \.pdf"):
        export_view(view, tmp_path / name)
    with pytest.raises(ExportError, match=r"\.csv, \.npz"):
        export_numbers(view, tmp_path / name)
    with pytest.raises(ExportError, match=r"\.gif, \.mp4"):
        save_animation(pictures(), tmp_path / name, 10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "csv", "npz", "gif", "mp4"])
def test_an_existing_file_is_replaced_and_nothing_else_is_left(qtbot, tmp_path, kind):
    view = filled(opened(qtbot, ErrorsView(), 400, 200))
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"old")
    save_as(view, path)
    assert path.read_bytes() != b"old" and list(tmp_path.iterdir()) == [path]


def test_a_disk_that_fills_up_leaves_the_old_file(qtbot, tmp_path, monkeypatch):
    view = filled(opened(qtbot, ErrorsView(), 400, 200))
    path = tmp_path / "a.svg"
    path.write_bytes(b"old")

    def full(self: Path, data: bytes) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ExportError, match="no space left on device"):
        export_view(view, path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_paths_may_be_text(qtbot, tmp_path):
    view = filled(opened(qtbot, ErrorsView(), 400, 200))
    export_view(view, str(tmp_path / "a.svg"))
    export_numbers(view, str(tmp_path / "a.csv"))
    save_animation(pictures(2), str(tmp_path / "a.gif"), 18.0)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_ffmpeg_says_is_handed_on(tmp_path, monkeypatch):
    script = tmp_path / "ffmpeg"
    script.write_text("#!/bin/sh\necho Unknown encoder libx264 >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(script))
    with pytest.raises(ExportError, match="unknown encoder"):
        save_animation(pictures(300), tmp_path / "film.mp4", 10)
    assert [p.name for p in tmp_path.iterdir()] == ["ffmpeg"]


def test_a_figure_leaves_controls_their_outlines(qtbot, tmp_path, in_light):
    theme.use("dark")  # the palette of one kind of widget is lost when the program's is set, as a figure does
    before = QApplication.palette(QCheckBox()).window().color()
    assert before == QColor(theme.DARK.edge).lighter(theme.DARKER)
    export_view(filled(opened(qtbot, ErrorsView(), 640, 300)), tmp_path / "figure.png")
    assert QApplication.palette(QCheckBox()).window().color() == before


@pytest.mark.parametrize("make", [ErrorsView, OrbitView])
def test_lines_of_a_picture_for_a_paper_are_as_wide_as_those_of_the_drawing(qtbot, tmp_path, make):
    """A PNG of 600 dots an inch has pixels a seventh as large as the screen's: lines of one pixel were hairs in it."""
    view = filled(opened(qtbot, make(), 800, 260))
    for ending in (".png", ".svg"):
        export_view(view, tmp_path / f"figure{ending}", style=Style(width=85.0, caption=False))
    picture = Image.open(tmp_path / "figure.png").convert("L")
    drawing = tmp_path / "drawing.png"
    run = ["rsvg-convert", "-w", str(picture.width), tmp_path / "figure.svg", "-o", drawing]
    subprocess.run(run, check=True, capture_output=True)
    dark = [np.asarray(one, float) < 200 for one in (picture, Image.open(drawing).convert("L").resize(picture.size))]
    assert dark[0].mean() == pytest.approx(dark[1].mean(), rel=0.06)
    assert picture.getpixel((2, 2)) == 255, "paper is white"


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("d4-cnn", "d4-cnn"),
        ("vae@/tmp/some where/training.safetensors", "vae-training"),
        ("my/net.py:Net(3, width=4)@partly:w.safetensors", "net-w"),
        ("timm:resnet18", "timm-resnet18"),
    ],
)
def test_the_name_of_a_model_is_part_of_the_name_of_a_file(model: str, named: str) -> None:
    assert name_in_file(model) == named


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_caption_stands_on_the_ground_of_the_view(qtbot, tmp_path, in_light, name):
    theme.use("dark")
    view = filled(opened(qtbot, ErrorsView(), 640, 200))
    assert view.caption()
    export_view(view, tmp_path / "figure.png", theme=name)
    with Image.open(tmp_path / "figure.png") as picture:
        pixels = np.asarray(picture.convert("RGB"))
    ground = {"light": theme.PAPER, "dark": theme.DARK_PAPER}[name].panel
    for row in (1, -2):  # above the charts, and below the caption
        assert "#{:02x}{:02x}{:02x}".format(*pixels[row, 1]) == ground


def test_two_networks_pulled_back_have_whole_captions_in_one_column(qtbot):
    """Two captions of four were cut off: "ρ′(g)⁻¹F(ρ(…"."""
    frame = make_frame(compare=True)
    squares = tuple(replace(square, back=square.fx) for square in frame.squares)
    view = opened(qtbot, Stage(), 439, 330)
    view.set_frame(replace(frame, squares=squares, state=replace(frame.state, untransform=True)))
    made = drawn(view, ".svg", style=Style(width=85.0))
    assert made.shortened == 0 and "ρ′⁻¹F(ρx)" in made.data.decode()
