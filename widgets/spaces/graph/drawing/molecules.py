"""Draw molecules as chemists do: bonds of two and three lines, dashes in aromatic rings, symbols of atoms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from explorer.spaces.graph.chemistry.atoms import element_of, sign_of
from widgets.base.look import theme
from widgets.maps.diagram import font
from widgets.spaces.graph.drawing.geometry import Strands
from widgets.spaces.graph.drawing.ground import Ground
from widgets.spaces.graph.drawing.look import Panel

Array = NDArray[Any]
BESIDE = {1: (0.0,), 2: (-0.5, 0.5), 3: (-1.0, 0.0, 1.0), 4: (0.0,)}  # where the lines of a bond lie, in gaps
GAP = 0.34  # of an atom's radius, between two lines of a bond
LEAST_GAP = 2.6  # pixels
LEGIBLE = 6.5  # pixels of radius from which an atom has its symbol in it
SHORTER = 0.16  # of a bond: what is left out at either end of the dashes within a ring


def symbols_of(names: Any, nodes: int) -> tuple[str, ...]:
    """Return the symbols of atoms; () where nodes are none."""
    found = tuple(map(element_of, names)) if len(names) == nodes else ()
    return found if found and all(found) else ()


def paint_bonds(p: QPainter, g: Ground, lines: Array, pen: QPen) -> None:
    """Paint chemical bonds with a pen: as many lines beside each other as the bond has, dashes for an aromatic one."""
    kinds = g.lines.kinds
    assert kinds is not None
    a, b = g.ends(lines)
    across, inner = _across(a, b), inwards(g.points, g.lines)[lines]
    gap = max(GAP * g.radius, LEAST_GAP)
    p.setPen(pen)
    for kind, sides in BESIDE.items():
        mine = kinds[lines] == kind
        for side in sides if mine.any() else ():
            shift = across[mine] * (side * gap)
            p.drawLines([QLineF(*ends) for ends in np.hstack([a[mine] + shift, b[mine] + shift]).tolist()])
    mine = kinds[lines] == 4
    if mine.any():
        dashes = QPen(pen)
        dashes.setDashPattern([3.0, 2.0])
        p.setPen(dashes)
        shift = across[mine] * (gap * inner[mine])[:, None]
        start, end = a[mine] + shift, b[mine] + shift
        way = (end - start) * SHORTER
        p.drawLines([QLineF(*ends) for ends in np.hstack([start + way, end - way]).tolist()])
        p.setPen(pen)


def _across(a: Array, b: Array) -> Array:
    along = b - a
    length = np.maximum(np.hypot(*along.T), 1e-9)
    return np.asarray(np.stack([-along[:, 1], along[:, 0]], 1) / length[:, None])


def inwards(points: Array, lines: Strands) -> Array:
    """Return for each line on which side of it, 1 or -1, the neighbours of its ends that are not bonded to both lie.

    In a ring that is the inner side. Only bonds of the same kind count: a ring's hydrogens point outwards.
    """
    assert lines.kinds is not None
    a, b = points[lines.start], points[lines.end]
    total, many = np.zeros((len(points), 2)), np.zeros(len(points))
    same = lines.kinds == 4
    for here, there in ((lines.start, lines.end), (lines.end, lines.start)):
        np.add.at(total, here[same], points[there[same]])
        np.add.at(many, here[same], 1)
    # the sum over the neighbours of both ends, without the ends themselves
    others = total[lines.start] + total[lines.end] - same[:, None] * (a + b)
    count = many[lines.start] + many[lines.end] - 2 * same
    middle = np.where(count[:, None] > 0, others / np.maximum(count, 1)[:, None], (a + b) / 2)
    side = ((middle - (a + b) / 2) * _across(a, b)).sum(1)
    return np.where(side < 0, -1.0, 1.0)


def paint_symbols(p: QPainter, g: Ground, panel: Panel, shown: Array) -> None:
    """Write the symbol of each atom into it, in black or white, whichever is read on its colour."""
    symbols = symbols_of(g.names, len(g.points))
    if not symbols or g.labels == "none" or g.radius < LEGIBLE:
        return
    t = theme.current()
    for i in shown.tolist():
        r = g.radius * float(panel.grow[i])
        if panel.number[i] < 0 or r < LEGIBLE:
            continue
        text = symbols[i] + sign_of(g.names[i])
        p.setFont(font(max(7, round(1.15 * r - 0.15 * r * (len(text) - 1))), bold=True))
        light = float(panel.fill[i].astype(float) @ (0.299, 0.587, 0.114)) > 140
        ink = QColor("#1a1a1a" if light else "#ffffff")
        if panel.near is not None and not panel.near[i]:
            ink = QColor(t.muted)
        p.setPen(ink)
        x, y = g.points[i]
        p.drawText(QRectF(x - 2 * r, y - 2 * r, 4 * r, 4 * r), Qt.AlignmentFlag.AlignCenter, text)
