"""Figures, numbers and animations as files: written beside their place and then renamed, never half.

A figure is the view itself, painted once more on another device in the light theme, so SVG and PDF hold the same
text and lines as the screen. Controls (widgets with the property "chrome") are left out, and the view's caption
stands below and in the file's metadata.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPoint, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetrics,
    QImage,
    QImageWriter,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QRegion,
)
from PySide6.QtWidgets import QWidget

from explorer.work.files.replacing import replacing
from explorer.work.words import first_line
from widgets.base.look import theme as themes
from widgets.base.look.switched_parts import on_paper, sharp, without_badges
from widgets.base.view import View
from widgets.figures.dressing import dressed, grow, lay_out_bare, left_out
from widgets.figures.style import DPI, Style
from widgets.figures.svg import composed, shortened

T = TypeVar("T")
PLAIN = Style()
FACTORS = (1.0, 1.25, 1.5, 2.0, 2.5)  # by how much wider a view is drawn until nothing in it is shortened
FIGURES = (".png", ".svg", ".pdf")
ANIMATIONS = (".gif", ".mp4")
SHARPNESS = 2  # device pixels of a PNG for one of the screen's
MARGIN = 10
PALETTE_FRAMES = 16  # looked at for the palette of a GIF


class ExportError(Exception):
    """Report what could not be written and why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as the bytes of a file, the size of its text in points, and how many texts in it are shortened."""

    data: bytes
    points: float
    shortened: int


@dataclass(frozen=True, slots=True)
class Glimpsed:
    """The same as a picture."""

    image: QImage
    points: float
    shortened: int


def export_view(view: View, path: str | Path, *, theme: str = "light", style: Style = PLAIN) -> None:
    """Write `view` as a figure; the extension (.png, .svg, .pdf) says how. Raise ExportError."""
    path = Path(path)
    kind = checked_kind(path, FIGURES, "a figure")
    checked_folder(path)
    put(path, drawn(view, kind, theme, style).data)


def drawn(view: View, kind: str, theme: str = "light", style: Style = PLAIN, dpi: float = DPI) -> Drawn:
    """Return `view` as a figure of a kind; `dpi` is that of a PNG of a certain width."""
    return Drawn(*_fitted(view, theme, style, dpi, lambda figure: figure.made(kind)))


def glimpsed(view: View, theme: str = "light", style: Style = PLAIN, dpi: float = DPI) -> Glimpsed:
    """Return the picture of the figure itself: most of the time of a PNG goes into packing it."""
    return Glimpsed(*_fitted(view, theme, style, dpi, _Figure.sharp_image))


def _fitted(
    view: View, theme: str, style: Style, dpi: float, make: Callable[[_Figure], T]
) -> tuple[T, float, int]:  # fmt: skip
    """Return what `make` makes of a figure, the size of its text, and how many texts are shortened."""
    look = themes.DARK_PAPER if theme == "dark" else themes.PAPER
    whole = style.width is not None and style.whole
    cut: dict[float, int] = {}  # texts that are shortened, by the factor
    with _paper(view, look, style) as lay:
        for factor in FACTORS if whole else FACTORS[:1]:
            lay(factor)
            figure = _Figure(view, style, dpi)
            cut[factor] = shortened(figure.svg().decode()) + left_out(view) if style.width is not None else 0
            if not whole or not cut[factor]:
                return make(figure), figure.points, cut[factor]
        best = min(cut, key=lambda factor: (cut[factor], factor))  # smaller text that is shortened too helps nobody
        lay(best)
        figure = _Figure(view, style, dpi)
        return make(figure), figure.points, cut[best]


@contextmanager
def _paper(view: View, look: themes.Theme, style: Style) -> Iterator[Callable[[float], None]]:
    """Dress a view as it will be printed, and give a call that lays it out so much wider."""
    whole = style.width is not None and style.whole
    with dressed(view, look, style) as sized, without_badges(not style.badges), on_paper(whole):
        view.apply_theme()

        def lay(factor: float) -> None:
            sized(factor)
            view.settle()
            lay_out_bare(view)
            if style.width is not None and grow(view):
                lay_out_bare(view)

        yield lay


def save_animation(images: Iterable[NDArray[np.uint8]], path: str | Path, fps: float) -> None:
    """Write pictures (height, width, 3) uint8 of one size as .gif or .mp4 (H.264). Raise ExportError."""
    path = Path(path)
    kind = checked_kind(path, ANIMATIONS, "an animation")
    checked_folder(path)
    if not 1 <= fps <= 120:
        raise ExportError(f"An animation runs at 1 to 120 pictures a second, not {fps:g}.")
    if kind == ".gif":
        put(path, _gif(_checked(images), fps))
    else:
        _mp4(_checked(images), path, fps)


# the figure ---------------------------------------------------------------------------------------------------
class _Figure:
    """A view with its caption below, painted on any device."""

    def __init__(self, view: View, style: Style, dpi: float) -> None:
        self.view, self.caption, self.dpi = view, view.caption() if style.caption else "", dpi
        self.font = QFont(view.font())
        self.font.setPointSizeF(max(6.5, self.font.pointSizeF() * 0.85))
        self.font.setFeature(QFont.Tag("liga"), 0)  # text copied from a PDF says "float", not "ﬂoat"
        size, height = view.size(), 0
        if self.caption:
            room = QRect(0, 0, self._line(size), 10_000)
            height = QFontMetrics(self.font).boundingRect(room, Qt.TextFlag.TextWordWrap, self.caption).height()
            height += MARGIN + 4
        self.size = QSize(size.width(), size.height() + height)
        natural = self.size.width() * 25.4 / view.logicalDpiX()
        self.scale = 1.0 if style.width is None else style.width / natural
        self.width = style.width
        self.points = view.fontInfo().pointSizeF() * self.scale

    @staticmethod
    def _line(size: QSize) -> int:
        """Return the longest line of the caption: programs that set an SVG a little wider cut nothing off."""
        return round(size.width() * 0.97) - 2 * MARGIN

    @property
    def sharp(self) -> float:
        """Return the pixels of a PNG for one of the screen."""
        return SHARPNESS if self.width is None else self.width / 25.4 * self.dpi / self.size.width()

    def paint(self, painter: QPainter) -> None:
        self.ground(painter)
        self.view.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

    def ground(self, painter: QPainter) -> None:
        """Paint what lies round the view: the background and the caption."""
        t = themes.current()
        painter.fillRect(QRect(QPoint(), self.size), QColor(t.window))
        if self.caption:
            painter.setFont(self.font)
            painter.setPen(QColor(t.muted))
            top = self.view.height() + 4
            rect = QRectF(MARGIN, top, self._line(self.size), self.size.height() - top)
            painter.drawText(rect, Qt.TextFlag.TextWordWrap, self.caption)

    def made(self, kind: str) -> bytes:
        """Return the figure as the bytes of a file."""
        return {".png": self._sharp_png, ".svg": self.svg, ".pdf": self._even_pdf}[kind]()

    def _sharp_png(self) -> bytes:
        """Return a PNG with lines as wide as they are beside the text on the screen."""
        return self._stroked(self.sharp, self.png)

    def sharp_image(self) -> QImage:
        """Return the picture of that PNG."""
        return self._stroked(self.sharp, self.image)

    def _even_pdf(self) -> bytes:
        """Return a PDF with lines as wide as they are beside the text: the scale of the page leaves theirs alone."""
        return self._stroked(self.scale, self.pdf)

    def _stroked(self, times: float, make: Callable[[], T]) -> T:
        with sharp(times):
            self.view.apply_theme()
            lay_out_bare(self.view)
            return make()

    def image(self) -> QImage:
        image = QImage(self.size * self.sharp, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(self.sharp)
        image.setText("Description", self.caption)
        image.setText("Software", "Equiscope")
        painter = QPainter(image)
        self.paint(painter)
        painter.end()
        if self.width is not None:  # told at last: fonts in points follow it
            image.setDotsPerMeterX(round(self.dpi / 0.0254))
            image.setDotsPerMeterY(round(self.dpi / 0.0254))
        return image

    def png(self) -> bytes:
        buffer = _open_buffer()
        if not QImageWriter(buffer, QByteArray(b"png")).write(self.image()):
            raise ExportError("The picture cannot be made.")
        return bytes(buffer.data().data())

    def svg(self) -> bytes:
        title = self.view.windowTitle() or type(self.view).__name__.removesuffix("View")
        return _named_fonts(composed(self.view, self.size, self.ground, title, self.caption, self.scale)).encode()

    def pdf(self) -> bytes:
        buffer, dots = _open_buffer(), self.view.logicalDpiX()
        writer = QPdfWriter(buffer)
        writer.setResolution(dots)  # one unit of the page is one pixel, and fonts keep their size
        # told which colours to expect, the engine does not warn of the style's gradients between two kinds of them
        writer.setColorModel(QPdfWriter.ColorModel.RGB)
        points = QSizeF(self.size.width(), self.size.height()) * (72 / dots * self.scale)
        page = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
        writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
        writer.setTitle(self.caption)
        writer.setCreator("Equiscope")
        painter = QPainter(writer)
        painter.scale(self.scale, self.scale)
        self.paint(painter)
        painter.end()
        return bytes(buffer.data().data())


def _open_buffer() -> QBuffer:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer


def _named_fonts(svg: str) -> str:
    """Name fonts that other programs know: Qt writes its own alias "Sans Serif", which none of them has."""

    def named(match: re.Match[str]) -> str:
        asked = [name.strip() for name in match[1].split(",")]
        font = QFont(asked[0])
        font.setFamilies(asked)
        found = QFontInfo(font).family()
        first = asked[0].lower()
        generic = "monospace" if "mono" in first else "serif" if "math" in first or first == "serif" else "sans-serif"
        real = [name for name in (*asked, found) if name.lower() not in ("sans serif", "serif", "monospace")]
        return f'font-family="{", ".join([*dict.fromkeys(real), generic])}"'

    return re.sub(r'font-family="([^"]*)"', named, svg)


# animations ---------------------------------------------------------------------------------------------------
def _checked(images: Iterable[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures as contiguous bytes of one shape; raise ExportError where one does not fit."""
    shape: tuple[int, ...] | None = None
    for image in images:
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
            raise ExportError(f"A picture must be (height, width, 3) uint8, not {image.shape} {image.dtype}.")
        if shape is not None and image.shape != shape:
            raise ExportError(f"All pictures must have one size: {image.shape[:2]} came after {shape[:2]}.")
        shape = image.shape
        yield np.ascontiguousarray(image)
    if shape is None:
        raise ExportError("There are no pictures to make an animation of.")


def _gif(images: Iterator[NDArray[np.uint8]], fps: float) -> bytes:
    """Return a looping GIF; all pictures share one palette, so that nothing shimmers."""
    from PIL import Image

    packed: list[bytes] = []  # compressed: a minute of pictures fits, and the palette needs all of them first
    shape: tuple[int, ...] = ()
    for image in images:
        packed.append(zlib.compress(image.tobytes(), 1))
        shape = image.shape

    def unpacked(k: int) -> NDArray[np.uint8]:
        return np.frombuffer(zlib.decompress(packed[k]), np.uint8).reshape(shape)

    looked = sorted({round(k) for k in np.linspace(0, len(packed) - 1, PALETTE_FRAMES)})
    thin = max(1, max(shape[:2]) // 320)
    sheet = np.concatenate([unpacked(k)[::thin, ::thin] for k in looked])
    palette = Image.fromarray(sheet).quantize(256, method=Image.Quantize.MEDIANCUT)
    frames = (
        Image.fromarray(unpacked(k)).quantize(palette=palette, dither=Image.Dither.NONE) for k in range(len(packed))
    )
    out = io.BytesIO()
    first = next(frames)
    # the format counts hundredths of a second, and players take less than two for ten
    wait = max(20, round(100 / fps) * 10)
    first.save(out, "GIF", save_all=True, append_images=frames, duration=wait, loop=0, optimize=False)
    return out.getvalue()


def _mp4(images: Iterator[NDArray[np.uint8]], path: Path, fps: float) -> None:
    """Hand the pictures one by one to ffmpeg, which writes beside `path`."""
    try:
        with replacing(path) as beside, tempfile.TemporaryFile() as complaints:
            _film(images, beside, fps, complaints)
    except OSError as error:
        raise ExportError(f"Cannot write {path.name}: {reason(error)}.") from error


def _film(images: Iterator[NDArray[np.uint8]], part: Path, fps: float, complaints: IO[bytes]) -> None:
    import imageio_ffmpeg

    first = _even(next(images))  # raises ExportError when there is none
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{first.shape[1]}x{first.shape[0]}", "-r", f"{fps:g}", "-i", "-", "-an", "-c:v", "libx264",
        "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart", str(part),
    ]  # fmt: skip
    film = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints)
    assert film.stdin is not None
    try:
        with suppress(BrokenPipeError):  # ffmpeg gave up: it says why
            for image in chain([first], map(_even, images)):
                film.stdin.write(image.tobytes())
            film.stdin.close()
        film.wait()
    finally:
        if film.poll() is None:  # the pictures ended with an exception
            film.kill()
            film.wait()
        with suppress(BrokenPipeError):
            film.stdin.close()
    if film.returncode:
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise OSError(said[-1])


def _even(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the picture with even sides, which yuv420p (colour at half the resolution) asks for."""
    return np.pad(image, ((0, image.shape[0] % 2), (0, image.shape[1] % 2), (0, 0)), mode="edge")


# files --------------------------------------------------------------------------------------------------------
def checked_kind(path: Path, known: tuple[str, ...], what: str) -> str:
    kind = path.suffix.lower()
    if kind not in known:
        raise ExportError(f"{what.capitalize()} can be written as {', '.join(known)}, not as {path.name!r}.")
    return kind


def checked_folder(path: Path) -> None:
    """Raise ExportError unless the folder of `path` is there and can be written in."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ExportError(f"There is no folder {folder}.")
    if path.is_dir():
        raise ExportError(f"{path.name} is a folder; choose another name.")
    if not os.access(folder, os.W_OK):
        raise ExportError(f"The folder {folder} cannot be written in.")


def put(path: Path, data: bytes) -> None:
    """Write a whole file or none."""
    checked_folder(path)
    try:
        with replacing(path) as beside:
            beside.write_bytes(data)
    except OSError as error:
        raise ExportError(f"Cannot write {path.name}: {reason(error)}.") from error


def reason(error: OSError) -> str:
    """Return why the system refuses, as part of a sentence."""
    return (error.strerror or first_line(error)).lower()
