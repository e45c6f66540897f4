"""Colours of the theme as Qt, as bytes and as text, and the colours of a look's scale. No pyvista."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from widgets.base.look import theme
from widgets.spaces.mesh.drawing.look import Ink, MeshLook

Array = NDArray[Any]


def ink_of(ink: Ink) -> QColor:
    """Return an ink, the theme's where it is a role."""
    return QColor(getattr(theme.current(), ink)) if isinstance(ink, str) else QColor(*ink)


def rgb(ink: Ink) -> tuple[int, int, int]:
    """Return red, green and blue of an ink."""
    found = ink_of(ink)
    return found.red(), found.green(), found.blue()


def mixed(first: Ink, second: Ink, part: float) -> tuple[int, int, int]:
    """Return `part` of the first ink on the second."""
    a, b = np.array(rgb(first)), np.array(rgb(second))
    red, green, blue = (int(v) for v in np.round(part * a + (1 - part) * b))
    return red, green, blue


def scale_table(look: MeshLook) -> Array:
    """Return the colours (N, 4) uint8 of a look's scale: its own, or those of the theme."""
    if look.table is None:
        return theme.signed_map() if look.scale[0] < 0 else theme.error_map()
    if look.table.shape[1] == 4:
        return look.table
    return np.concatenate([look.table, np.full((len(look.table), 1), 255, np.uint8)], 1)
