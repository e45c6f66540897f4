"""Write onto a graph: numbers and names of nodes, values of edges, names of the graphs of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from widgets.base.look import theme
from widgets.graph.drawing.geometry import along, control, legible
from widgets.graph.drawing.ground import Ground
from widgets.graph.drawing.look import Panel, faded, rgb
from widgets.maps.diagram import font

Array = NDArray[Any]
TEXT = 1500  # seen nodes up to which some have a label
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
    around = g.points[np.unique(np.concatenate([g.lines.start[lines], g.lines.end[lines]]))]
    taken = np.concatenate([around - r, around + r], 1)  # a number must not hide the nodes that it is about
    first, left = len(taken), np.arange(len(lines))
    p.setFont(small)
    for share in (0.42, 0.58, 0.28):
        mine = lines[left]
        a, b = g.ends(mine)
        at = along(a, control(a, b, g.lines.lane[mine]), b, share)
        sizes = np.stack([wide[left], np.full(len(left), high)], 1)
        boxes = np.concatenate([at - sizes / 2, sizes], 1)
        kept = legible(boxes, np.arange(len(left)), g.width, g.height, taken=taken)
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


def paint_graphs(p: QPainter, g: Ground) -> None:
    """Write above each graph of a batch which one it is."""
    t, face = theme.current(), font(11, bold=True)
    metrics = QFontMetricsF(face)
    p.setFont(face)
    p.setPen(QColor(t.muted))
    for k, members in enumerate(g.graphs):
        if len(members):
            low, high = g.points[members].min(axis=0), g.points[members].max(axis=0)
            text, r = f"graph {k}", g.radius + 4
            wide = metrics.horizontalAdvance(text) + 2
            if wide < 1.6 * (high[0] - low[0]) + 60:
                rect = QRectF((low[0] + high[0] - wide) / 2, low[1] - r - metrics.height(), wide, metrics.height())
                p.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def paint_labels(p: QPainter, g: Ground, panel: Panel, shown: Array, taken: Array) -> None:
    """Write numbers into discs that hold them, names and other numbers beside, as many as are legible."""
    cloud = not len(g.lines.start) and g.labels == "number"  # numbers beside small points would hide their shape
    if g.labels == "none" or len(shown) > TEXT or (g.radius < (7.5 if cloud else 2.2) and len(shown) > 60):
        return
    t = theme.current()
    shown = shown[panel.number[shown] >= 0]
    named = g.labels == "name" and len(g.names) == len(g.points)
    texts = {int(i): g.names[i] if named else str(int(panel.number[i])) for i in shown}
    within = not named and g.radius >= 7.5
    size = min(max(g.radius * 0.95, 8.5), 12.0) if within else 11
    face = font(size, fixed=True)
    p.setFont(face)
    metrics = QFontMetricsF(face)
    if within:
        for i, text in texts.items():
            r = max(g.radius * float(panel.grow[i]), 8.0) + 6
            p.setPen(_contrast(panel.fill[i], panel.near is None or bool(panel.near[i])))
            at = g.points[i]
            p.drawText(QRectF(at[0] - r, at[1] - r, 2 * r, 2 * r), Qt.AlignmentFlag.AlignCenter, text)
        return
    order = [i for i in g.rank.tolist() if i in texts]
    if g.selected in texts:
        order = [g.selected, *(i for i in order if i != g.selected)]
    gap, high = g.radius + 2, metrics.height()
    boxes = np.zeros((len(g.points), 4))
    for i in order[:TEXT]:
        x, y = g.points[i]
        boxes[i] = (x + gap * float(panel.grow[i]), y - high / 2, metrics.horizontalAdvance(texts[i]) + 2, high)
    plot = QColor(t.plot)
    plot.setAlpha(190)
    for i in legible(boxes, np.array(order[:TEXT], int), g.width, g.height, 250, taken):
        rect = QRectF(*boxes[i])
        p.fillRect(rect.adjusted(0, 2, 0, -2), plot)
        far = panel.near is not None and not panel.near[i]
        p.setPen(QColor(t.muted if far else t.text))
        p.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, texts[i])


def _contrast(fill: Array, near: bool) -> QColor:
    """Return black or white, whichever is legible on that colour; grey on what is faded."""
    t = theme.current()
    if not near:
        return QColor(*(int(v) for v in faded(rgb(t.text), 0.35, t.plot)))
    bright = float(fill @ np.array([0.299, 0.587, 0.114]))
    return QColor("#101418" if bright > 140 else "#ffffff")
