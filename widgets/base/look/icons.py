"""Icons: line drawings from resources/icons, in the colours of the theme, sharp on every screen."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from explorer.work.files.places import RESOURCES
from widgets.base.look.theme import current

FOLDER = RESOURCES / "icons"
SIDE = 16  # logical pixels


def icon(name: str, colour: str = "") -> QIcon:
    """Return the icon in the text colour of the theme in force, or in `colour` ("#rrggbb")."""
    theme = current()
    return _icon(name, colour or theme.text, theme.muted)


def picture(name: str, side: int, colour: str) -> QPixmap:
    """Return one drawing `side` logical pixels large."""
    svg = (FOLDER / f"{name}.svg").read_text("utf-8")
    return _picture(svg.replace("currentColor", colour), side, max(1.0, _screen_ratio()))


def app_icon() -> QIcon:
    """Return the program's own icon, whose colours are its own."""
    found = QIcon()
    for side in (16, 32, 64, 256):
        found.addPixmap(_picture((FOLDER / "equiscope.svg").read_text("utf-8"), side, 1.0))
    return found


@cache
def _icon(name: str, colour: str, disabled: str) -> QIcon:
    svg = (FOLDER / f"{name}.svg").read_text("utf-8")
    found = QIcon()
    faded = QColor(disabled)
    faded.setAlphaF(0.55)
    # two sharp sizes are enough for Qt to choose from, and the one that this screen wants
    for ratio in sorted({1.0, 2.0, _screen_ratio()}):
        normal = _picture(svg.replace("currentColor", colour), SIDE, ratio)
        found.addPixmap(normal, QIcon.Mode.Normal)
        found.addPixmap(_tinted(normal, faded), QIcon.Mode.Disabled)
    return found


def _screen_ratio() -> float:
    screen = QGuiApplication.primaryScreen()
    return screen.devicePixelRatio() if screen is not None else 1.0


def _picture(svg: str, side: int, ratio: float) -> QPixmap:
    pixmap = QPixmap(QSize(round(side * ratio), round(side * ratio)))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap


def _tinted(pixmap: QPixmap, colour: QColor) -> QPixmap:
    found = QPixmap(pixmap)
    painter = QPainter(found)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(QRectF(0, 0, SIDE, SIDE), colour)
    painter.end()
    return found
