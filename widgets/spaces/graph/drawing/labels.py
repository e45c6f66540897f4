"""Write onto a graph: numbers and names of nodes, values of edges, names of the graphs of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from widgets.base.look import theme
from widgets.maps.diagram import font
from widgets.spaces.graph.drawing.geometry import Strands, along, beside, control, legible
from widgets.spaces.graph.drawing.ground import Ground
from widgets.spaces.graph.drawing.look import Panel
from widgets.spaces.graph.drawing.molecules import LEGIBLE, symbols_of

Array = NDArray[Any]
TEXT = 1500  # seen nodes up to which some have a label
LINED = 3000  # lines up to which a label keeps off those of its node
RING = 3  # pixels between the selected node and the ring round it
NONE = Qt.PenStyle.NoPen


def paint_numbers(p: QPainter, g: Ground, panel: Panel) -> Array:
    """Write the values of the selected node's incoming edges where there is room; return the boxes they take."""
    t, small = theme.current(), font(10, fixed=True)
    metrics = QFontMetricsF(small)
    lines = np.array([k for k in panel.texts if g.lines.start[k] != g.lines.end[k]], int)
    a, b = g.ends(lines)
    lines = lines[np.hypot(*(b - a).T) > 2 * g.radius + 34]
    heat = panel.heat[lines] if panel.heat is not None else np.zeros(len(lines))
    lines = lines[np.argsort(-heat, kind="stable")]
    wide = np.array([metrics.horizontalAdvance(panel.texts[int(k)]) + 6 for k in lines])
    high, r = metrics.height(), 0.8 * g.radius
    around = g.points[g.seen_nodes()] if len(g.points) <= TEXT else g.points[np.unique(g.lines.end[lines])]
    taken = np.concatenate([around - r, around + r], 1)  # a number must not hide the nodes that it is about
    first, left = len(taken), np.arange(len(lines))
    p.setFont(small)
    for share in (0.42, 0.58, 0.28):
        mine = lines[left]
        a, b = g.ends(mine)
        at = along(a, control(a, b, g.lines.lane[mine]), b, share)
        sizes = np.stack([wide[left], np.full(len(left), high)], 1)
        boxes = np.concatenate([at - sizes / 2, sizes], 1)
        kept = _together(g, boxes, taken)
        for k in kept:
            rect = QRectF(*boxes[k])
            p.setPen(NONE)
            p.setBrush(QColor(t.plot))
            p.drawRoundedRect(rect, 3, 3)
            p.setPen(QColor(t.text))
            p.drawText(rect, Qt.AlignmentFlag.AlignCenter, panel.texts[int(mine[k])])
        corners = np.concatenate([boxes[kept, :2], boxes[kept, :2] + boxes[kept, 2:]], 1)
        taken, left = np.concatenate([taken, corners]), np.delete(left, kept)
    return taken[first:]


def paint_graphs(p: QPainter, g: Ground) -> Array:
    """Write above each graph of a batch which one it is; return the boxes that this takes, left, top, right, bottom."""
    t, face = theme.current(), font(11, bold=True)
    metrics = QFontMetricsF(face)
    p.setFont(face)
    p.setPen(QColor(t.muted))
    written: list[QRectF] = []
    for k, members in enumerate(g.graphs):
        if len(members):
            low, high = g.points[members].min(axis=0), g.points[members].max(axis=0)
            text, r = f"graph {k}", g.radius + 4
            wide = metrics.horizontalAdvance(text) + 2
            if wide < 1.6 * (high[0] - low[0]) + 60:
                rect = QRectF((low[0] + high[0] - wide) / 2, low[1] - r - metrics.height(), wide, metrics.height())
                if not any(rect.intersects(other) for other in written):
                    p.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
                    written.append(rect)
    return np.array([box.getCoords() for box in written]).reshape(-1, 4)


def _in_sight(g: Ground) -> tuple[float, float]:
    """Return the size of what is seen of a picture at rest."""
    return g.width - 2 * g.beyond[0], g.height - 2 * g.beyond[1]


def _together(g: Ground, boxes: Array, taken: Array) -> list[int]:
    """Return which boxes can stand together, whole in what is seen at rest."""
    out = np.array([*g.beyond, 0.0, 0.0])
    return legible(boxes - out, np.arange(len(boxes)), *_in_sight(g), taken=taken - np.tile(g.beyond, 2))


def _placed(
    g: Ground, panel: Panel, order: Array, sizes: Array, shown: Array, taken: Array, must: int, lines: Strands | None
) -> dict[int, Array]:
    """Return boxes for texts beside their nodes, whole in what is seen at rest: a hand that pans sees beyond it."""
    out = np.array(g.beyond)
    points, elsewhere = g.points - out, taken - np.tile(out, 2)
    found = beside(points, _reach(g, panel), order, sizes, shown, _in_sight(g), elsewhere, must, lines=lines)
    return {i: box + np.array([*out, 0.0, 0.0]) for i, box in found.items()}


def _reach(g: Ground, panel: Panel) -> Array:
    """Return how far each node reaches from its middle, in pixels: the selected one to the outside of its ring."""
    reach = np.array(g.radius * panel.grow, np.float64)
    if g.selected is not None and g.selected < len(reach):
        reach[g.selected] += RING + 1
    return reach


def paint_labels(p: QPainter, g: Ground, panel: Panel, shown: Array, taken: Array) -> None:
    """Write numbers or names beside nodes and on none of them, as many as are legible."""
    cloud = not len(g.lines.start) and g.labels == "number"  # numbers beside small points would hide their shape
    if g.labels == "none" or len(shown) > TEXT or (g.radius < (7.5 if cloud else 2.2) and len(shown) > 60):
        return
    t, face = theme.current(), font(11, fixed=True)
    named = g.labels == "name" and len(g.names) == len(g.points)
    # an atom that is large enough has its symbol in it, and only its number beside it
    atoms = () if named or g.radius >= LEGIBLE else symbols_of(g.names, len(g.points))
    atoms = tuple(f"{symbol} " for symbol in atoms) or ("",) * len(g.points)
    texts = {
        int(i): g.names[i] if named else f"{atoms[i]}{int(panel.number[i])}" for i in shown if panel.number[i] >= 0
    }
    p.setFont(face)
    metrics = QFontMetricsF(face)
    long = max(map(len, atoms), default=0) + len(str(len(g.points) - 1))
    widest = 0.0 if named else metrics.horizontalAdvance("0") * long + 2

    def place() -> dict[int, Array]:
        """Find room for each text; of numbers for the longest, so that all panels and frames have the same places."""
        mine = [int(i) for i in g.rank if int(i) in texts]
        first = [g.selected] if g.selected in texts else []
        order = np.array([*first, *(i for i in mine if i != g.selected)][:TEXT], int)
        wide = [metrics.horizontalAdvance(texts[i]) + 2 if named else widest for i in order.tolist()]
        sizes = np.stack([np.array(wide), np.full(len(order), metrics.height() - 2)], 1)
        lines = g.lines if len(g.lines.start) <= LINED and g.lines.under is None else None
        return _placed(g, panel, order, sizes, shown, taken, len(first), lines)

    key = (*g.view, g.radius, g.labels, g.selected, len(texts), panel.grow.sum(), taken.tobytes())
    plot = QColor(t.plot)
    plot.setAlpha(215)
    for i, box in g.once("labels", key, place, g.places).items():
        rect = QRectF(*box)
        p.fillRect(rect.adjusted(0, 1, 0, -1), plot)
        far = panel.near is not None and not panel.near[i]
        p.setPen(QColor(t.muted if far else t.text))
        middle = rect.center().x() - g.points[i][0]  # a short number stands close to its node, on whichever side
        sides = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignLeft
        p.drawText(rect, sides[1 if abs(middle) < 1 else 2 * (middle > 0)] | Qt.AlignmentFlag.AlignVCenter, texts[i])
