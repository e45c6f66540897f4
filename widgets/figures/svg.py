"""SVG that other programs draw as Qt does.

Qt writes the clip of a widget that lies inside another one without its place, goes on with an inner clip where it has
ended (see `clips`), and strokes what is not to be scaled in a way that some programs ignore. So each widget is painted
by itself, where its place is the origin, and put into a nested picture that clips it; strokes are written in pixels.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QImageWriter, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from widgets.figures.clips import with_own_clips

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_GROUP = re.compile(
    rf'(<g [^>]*?)transform="matrix\(({_NUMBER}),({_NUMBER}),({_NUMBER}),({_NUMBER}),({_NUMBER}),({_NUMBER})\)"([^>]*>)'
    r"([^<]*(?:<(?!/?g\b)[^>]*>[^<]*)*)</g>"
)
_POINT = re.compile(rf"({_NUMBER}),({_NUMBER})")
_SHARP = re.compile(r'(<image [^>]*?image-rendering="optimizeSpeed" xlink:href="data:image/png;base64,)([^"]+)"')
_TEXT = re.compile(r'(<text [^>]*?)x="([^"]+)"([^>]*)>([^<]*)</text>\s*')
_RUNS = re.compile(r"(?:<text [^>]*>[^<]*</text>\s*){2,}")
_RANGE = re.compile(r"(?<=\s)…(?=\s)")  # from one number to another: nothing is left out
_MEASURED = 64  # pixels: a size at which letters are not fitted to whole pixels
_MOST = 2**22  # pixels of an enlarged picture
_STILL = 'vector-effect="non-scaling-stroke"'


def composed(
    view: QWidget, size: QSize, below: Callable[[QPainter], None], title: str, caption: str, scale: float = 1.0
) -> str:
    """Return a view as SVG, each widget by itself, on what `below` paints on all of it; `scale` is that of its size."""
    dots = view.logicalDpiX()
    parts = [_painted(size, dots, below)]
    for widget, visible in _visible(view, view.rect()):
        place = widget.mapTo(view, QPoint())

        def paint(painter: QPainter, widget: QWidget = widget) -> None:
            # QGraphicsView has another function of this name
            QWidget.render(widget, painter, QPoint(), QRegion(), QWidget.RenderFlag(0))

        body = _painted(widget.size(), dots, paint)
        if (
            "<path" not in body
            and "<rect" not in body
            and not re.search("<(text|image|poly|line|circle|ellipse)", body)
        ):
            continue
        inner = f"{visible.x() - place.x()} {visible.y() - place.y()} {visible.width()} {visible.height()}"
        box = f'x="{visible.x()}" y="{visible.y()}" width="{visible.width()}" height="{visible.height()}"'
        parts.append(f'<svg {box} viewBox="{inner}" overflow="hidden">\n{body}</svg>\n')
    named = [re.sub(r'(id="|url\(#|href="#)', rf"\g<1>w{k}", part) for k, part in enumerate(parts)]
    width, height = (side * 25.4 / dots * scale for side in (size.width(), size.height()))
    head = (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
        f'<svg width="{width:.6g}mm" height="{height:.6g}mm"\n viewBox="0 0 {size.width()} {size.height()}"\n'
        ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1">\n'
    )
    return f"{head}<title>{_escaped(title)}</title>\n<desc>{_escaped(caption)}</desc>\n{''.join(named)}</svg>\n"


def shortened(svg: str) -> int:
    """Return how many texts of a drawing end before their end, or leave out their middle."""
    texts = map(html.unescape, re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    return sum("…" in _RANGE.sub("", text) for text in texts)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _visible(view: QWidget, seen: QRect, widget: QWidget | None = None) -> Iterator[tuple[QWidget, QRect]]:
    """Yield what is seen in a view from the back to the front, with the part that is seen, in the view's pixels."""
    widget = widget or view
    yield widget, seen
    for child in widget.children():
        if isinstance(child, QWidget) and not child.isHidden() and not child.isWindow():
            part = seen.intersected(QRect(child.mapTo(view, QPoint()), child.size()))
            if not part.isEmpty():
                yield from _visible(view, part, child)


def _painted(size: QSize, dots: int, paint: Callable[[QPainter], None]) -> str:
    """Return what lies within the picture of one widget."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # version 1.1 has clip paths, the default (Tiny 1.2) would let elided rows run over
    generator = QSvgGenerator(QSvgGenerator.SvgVersion.Svg11)
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(), size))
    generator.setResolution(dots)
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    text = bytes(buffer.data().data()).decode()
    body = text[text.index(">", text.index("<svg ")) + 1 : text.rindex("</svg>")]
    body = with_own_clips(re.sub(r"<(title|desc)>[^<]*</\1>\s*", "", body))
    return _GROUP.sub(_in_pixels, _RUNS.sub(_joined, body))


def _joined(found: re.Match[str]) -> str:
    """Write the parts of one line of text, which Qt cuts where its alphabet changes, as one text.

    Each has the place that it has in Qt; in a program that sets letters a little wider it would cover the one before.
    """
    texts = [match.groups() for match in _TEXT.finditer(found[0])]
    lines: list[list[str]] = []
    start = at = 0.0  # of the line, and where it goes on in Qt's metrics
    for before, x, after, text in texts:
        size = re.search(r'font-size="([\d.]+)"', after)
        font = QFont([name.strip() for name in (re.findall(r'font-family="([^"]*)"', after) or [""])[0].split(",")])
        font.setPixelSize(_MEASURED)
        font.setBold('font-weight="7' in after)
        scale = float(size[1]) / _MEASURED if size else 0.0
        wide = QFontMetricsF(font).horizontalAdvance(html.unescape(text)) * scale
        same = bool(lines) and lines[-1][0] == before and lines[-1][2] == after
        # a long line differs by more: on the screen each letter is fitted to the pixels
        if same and abs(float(x) - at) < _MEASURED * scale * 0.3 + 0.03 * (at - start):
            lines[-1][3] += text
        else:
            start = float(x)
            lines.append([before, x, after, text])
        at = float(x) + wide
    return "".join(f'{before}x="{x}"{after}>{text}</text>\n' for before, x, after, text in lines)


def _in_pixels(found: re.Match[str]) -> str:
    """Apply the matrix of a group to its paths, where their strokes are not to be scaled; enlarge its pictures."""
    before, *matrix, after, inside = found.groups()
    a, b, c, d, e, f = map(float, matrix)
    if "<image " in inside:
        return found[0].replace(inside, _SHARP.sub(lambda image: _enlarged(image, abs(a) or 1, abs(d) or 1), inside))
    if _STILL not in inside:
        return found[0]
    if (a, b, c, d) == (1, 0, 0, 1):
        return found[0].replace(_STILL, "")
    if re.search(r"<(?!path\b|polyline\b|polygon\b)", inside):
        return found[0]

    def moved(point: re.Match[str]) -> str:
        x, y = float(point[1]), float(point[2])
        return f"{a * x + c * y + e:.6g},{b * x + d * y + f:.6g}"

    inside = _POINT.sub(moved, inside.replace(_STILL, ""))
    return f"{before}{after}{inside}</g>"


def _enlarged(found: re.Match[str], across: float, down: float) -> str:
    """Return a picture whose pixels are squares of several pixels: some programs smooth what is enlarged."""
    image = QImage.fromData(base64.b64decode(found[2]))
    wide, high = (max(1, min(16, round(2 * by))) for by in (across, down))
    if image.isNull() or (wide, high) == (1, 1) or image.width() * image.height() * wide * high > _MOST:
        return found[0]
    stretch, fast = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.FastTransformation
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    large = image.scaled(image.width() * wide, image.height() * high, stretch, fast)
    QImageWriter(buffer, QByteArray(b"png")).write(large)
    return f'{found[1]}{base64.b64encode(bytes(buffer.data().data())).decode()}"'
