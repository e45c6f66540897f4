"""Colours derived from the theme's: thinner, mixed with a ground, quiet selections."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

from widgets.base.look import theme
from widgets.base.look.theme import Theme


def faded(colour: str, alpha: int) -> QColor:
    """Return a colour with an alpha of 0 to 255."""
    made = QColor(colour)
    made.setAlpha(alpha)
    return made


def mixed(colour: str, ground: str, part: float) -> QColor:
    """Return `part` of a colour on a ground, opaque."""
    a, b = QColor(colour), QColor(ground)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return QColor(*(round(part * one + (1 - part) * other) for one, other in pairs))


def quiet_selection(t: Theme) -> QPalette:
    """Return the palette of lists whose rows carry colours of their own: a selected row is tinted, not filled."""
    palette = theme.palette(t)
    palette.setColor(QPalette.ColorRole.Highlight, mixed(t.accent, t.panel, 0.22))
    palette.setColor(QPalette.ColorRole.HighlightedText, QColor(t.text))
    return palette
