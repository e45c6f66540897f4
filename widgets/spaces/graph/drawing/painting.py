"""Paint a graph: a few thousand lines and discs as such, more of them as a picture of how dense they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QImage,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
    QPolygonF,
    QRadialGradient,
)

from widgets.base.look import theme
from widgets.spaces.graph.drawing.geometry import SAMPLES, control, hull, ink, loop_circles, seen
from widgets.spaces.graph.drawing.ground import Ground
from widgets.spaces.graph.drawing.labels import RING, paint_graphs, paint_labels, paint_numbers
from widgets.spaces.graph.drawing.look import Panel, faded, heat_colour, rgb
from widgets.spaces.graph.drawing.molecules import paint_bonds, paint_symbols

Array = NDArray[Any]
LINES = 6000  # seen lines up to which each one is a line
CROWD = 250_000  # lines at most that a picture is made of
DISCS = 3000  # seen nodes up to which each one is an ellipse
BENT = 1500  # seen lines up to which those that share their ends bow
THIN = 5.0  # times the root of one over the number of pairs, their lines are thinner than those of edges
BOND = 1.5  # a chemical bond is that much thicker than another plain edge
BULK = 40  # nodes from which a hull is that of the most central ones
NONE = Qt.PenStyle.NoPen


def paint_graph(p: QPainter, g: Ground, panel: Panel) -> None:
    """Paint one picture with its upper left corner at the origin."""
    p.setRenderHint(QPainter.RenderHint.Antialiasing)
    for members, colour in g.hulls:
        paint_hull(p, g.points[members], colour, g.radius)
    shown = g.seen_nodes()
    if panel.halo is not None:
        _paint_halos(p, g, panel, shown)
    crowded = _paint_lines(p, g, panel)
    many = len(shown) > DISCS
    if many and (panel.values.nodes is not None or not crowded):  # else they would only hide the lines
        p.drawImage(QRectF(0, 0, g.width, g.height), _discs(g, panel, shown))
    if (many or crowded) and g.selected is not None and panel.dim is not None:
        there = ~panel.dim if panel.gone is None else ~(panel.dim | panel.gone)
        near = np.flatnonzero(there & (True if panel.heat is not None else g.lines.single))[: LINES // 3]
        _paint_strokes(p, g, panel, near)
        ends = np.unique(np.concatenate([g.lines.start[near], g.lines.end[near], [g.selected]]))
        _paint_nodes(p, g, panel, ends if many else shown)
    elif not many:
        _paint_nodes(p, g, panel, shown)
        paint_symbols(p, g, panel, shown)
    taken = paint_numbers(p, g, panel) if panel.texts else np.zeros((0, 4))
    paint_labels(p, g, panel, shown, np.concatenate([taken, paint_graphs(p, g)]))


# clusters ---------------------------------------------------------------------------------------------------------
def paint_hull(p: QPainter, points: Array, colour: str, radius: float, strong: bool = False) -> None:
    """Paint a rounded, see-through hull round points."""
    if len(points) < 1:
        return
    fill, edge = QColor(colour), QColor(colour)
    fill.setAlpha(52 if strong else 34)
    edge.setAlpha(190 if strong else 110)
    if len(points) > BULK:  # a few that lie far off must not stretch it over everything
        away = np.hypot(*(points - np.median(points, axis=0)).T)
        points = points[away <= np.quantile(away, 0.85)]
    corners = QPolygonF([QPointF(*c) for c in hull(points)])
    path = QPainterPath()
    path.addPolygon(corners)
    path.closeSubpath()
    pen = QPen(edge, 2 * radius + 14, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
    outer = QPainterPathStroker(pen).createStroke(path).united(path).simplified()
    p.setPen(QPen(edge, 1.2))
    p.setBrush(fill)
    p.drawPath(outer)


# lines ------------------------------------------------------------------------------------------------------------
def _paint_lines(p: QPainter, g: Ground, panel: Panel) -> bool:
    """Paint all lines; return whether there are so many that they became a picture."""
    lines, plain = g.lines, panel.heat is None
    if lines.under is not None:
        _paint_under(p, g, lines.under)
    if not len(lines.start):
        return False

    def find() -> Array:
        within = seen(g.points, lines.start, lines.end, g.width, g.height)
        within = within if panel.gone is None else within & ~panel.gone
        return np.flatnonzero(within & lines.single if plain else within)

    name = "plain" if plain else f"{panel.role} {panel.side == 'difference'}"
    some_gone = "" if panel.gone is None else " some gone"  # the sides do not take what they keep from each other
    shown = g.once(f"lines {plain}{some_gone}", (*g.view, id(lines), id(panel.gone)), find, g.places, lines, panel.gone)
    if len(shown) <= LINES:
        _paint_strokes(p, g, panel, shown)
        return False

    def make() -> QImage:
        # of a million lines a part is as good a sample as all of them, and which part does not change with the eye
        some = shown[:: max(1, len(shown) * (2 if g.budget < SAMPLES else 1) // CROWD)]
        heat = None if panel.heat is None else panel.heat[some] * np.float32(min(panel.boost, 1.0))
        return _picture(g, g.points[lines.start[some]], g.points[lines.end[some]], heat)

    key = (*g.view, id(lines), id(panel.gone), id(panel.heat), min(panel.boost, 1.0), g.colours, g.budget)
    picture = g.once(f"picture {name}{some_gone}", key, make, g.places, lines, panel.heat, panel.gone)
    p.setOpacity(0.45 if g.selected is not None else 1.0)
    p.drawImage(QRectF(0, 0, g.width, g.height), picture)
    p.setOpacity(1.0)
    return True


def _paint_under(p: QPainter, g: Ground, edges: Array) -> None:
    """Paint the edges of the graph faintly, below lines that are pairs of nodes."""
    shown = np.flatnonzero(seen(g.points, edges[0], edges[1], g.width, g.height))[:LINES]
    ends = np.hstack([g.points[edges[0, shown]], g.points[edges[1, shown]]])
    p.setPen(QPen(QColor(*(int(v) for v in faded(rgb(theme.current().muted), 0.3, theme.current().plot))), 1.0))
    p.drawLines([QLineF(*one) for one in ends.tolist()])


def _paint_strokes(p: QPainter, g: Ground, panel: Panel, shown: Array) -> None:
    """Paint lines one by one."""
    plain = panel.heat is None
    lanes = g.lines.lane_single if plain else g.lines.lane
    loops = shown[g.lines.loop[shown]]
    shown = shown[~g.lines.loop[shown]]
    for bucket, colour, width in _buckets(g, panel, shown):
        p.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        p.setBrush(Qt.BrushStyle.NoBrush)
        if plain and g.lines.kinds is not None and len(shown) <= BENT:
            pen = QPen(p.pen())
            pen.setWidthF(BOND * width)
            paint_bonds(p, g, bucket, pen)
            continue
        bent = bucket[lanes[bucket] != 0] if len(shown) <= BENT else bucket[:0]
        straight = bucket[lanes[bucket] == 0] if len(bent) else bucket
        if len(bent):
            p.drawPath(_curves(*g.ends(bent), lanes[bent]))
        p.drawLines([QLineF(*ends) for ends in np.hstack(g.ends(straight)).tolist()])
        if (g.directed or (g.arrows and not plain)) and len(shown) <= BENT:
            _paint_arrows(p, g, panel, bucket, *g.ends(bucket), colour, width, lanes[bucket])
    if len(loops):
        _paint_loops(p, g, panel, loops)


def _buckets(g: Ground, panel: Panel, shown: Array) -> list[tuple[Array, QColor, float]]:
    """Return the lines in groups of one pen, the thinnest first and the emphasised last."""
    t = theme.current()
    dim = panel.dim[shown] if panel.dim is not None else np.zeros(len(shown), bool)
    base = 1.0 if len(shown) < 1200 else 0.7
    level, sign = np.zeros(len(shown), int), np.zeros(len(shown), bool)
    if panel.heat is not None:
        level = np.ceil((panel.heat[shown] * panel.boost).clip(0, 1) * 12).astype(int)
    if panel.below is not None:
        sign = panel.below[shown]
    groups = []
    key = np.where(dim, 0, 1) * 1000 + level * 2 + sign
    for k in np.unique(key).tolist():
        if g.lines.under is not None and panel.heat is not None and k % 1000 < 2:
            continue  # a pair without a value is no line
        mine, share = shown[key == k], (k % 1000) // 2 / 12
        if panel.heat is not None:
            colour = heat_colour(share, None if panel.below is None else bool(k % 2))
            width = base * (0.7 + min(4.3, 0.35 * max(g.radius, 4.0)) * share)  # thinner than the nodes they join
            if g.lines.under is not None:  # pairs that are all alike would be a blot
                width = max(0.8, width * min(1.0, THIN / np.sqrt(max(len(shown), 1))))
        else:
            # bonds are what a molecule is; edges of other graphs are behind what lies on them
            colour, width = faded(rgb(t.muted), 0.55 if g.lines.kinds is None else 0.9, t.plot), base
            if panel.dim is not None and k >= 1000:
                colour, width = rgb(t.accent), 1.8
        if k < 1000 and panel.dim is not None:
            colour, width = faded(colour, 0.25, t.plot), min(width, 1.0)
        groups.append((mine, QColor(*(int(v) for v in colour)), width))
    return groups


def _curves(a: Array, b: Array, lane: Array) -> QPainterPath:
    path = QPainterPath()
    for (ax, ay), (cx, cy), (bx, by) in zip(a.tolist(), control(a, b, lane).tolist(), b.tolist()):
        path.moveTo(ax, ay)
        path.quadTo(cx, cy, bx, by)
    return path


def _paint_arrows(
    p: QPainter, g: Ground, panel: Panel, bucket: Array, a: Array, b: Array, colour: QColor, width: float, lane: Array
) -> None:
    """Paint heads where lines meet the rims of the nodes they lead to."""
    c = control(a, b, lane)
    d = b - c
    length = np.maximum(np.hypot(*d.T), 1e-6)
    d = d / length[:, None]
    size = 4.0 + 1.3 * width
    tip = b - d * (g.radius * panel.grow[g.lines.end[bucket]] + 1)[:, None]
    n = np.stack([-d[:, 1], d[:, 0]], 1) * size * 0.45
    back = tip - d * size
    path = QPainterPath()
    for k in np.flatnonzero(length > size + g.radius):
        path.addPolygon(QPolygonF([QPointF(*tip[k]), QPointF(*(back[k] + n[k])), QPointF(*(back[k] - n[k]))]))
        path.closeSubpath()
    p.fillPath(path, colour)


def _paint_loops(p: QPainter, g: Ground, panel: Panel, loops: Array) -> None:
    middle, big = loop_circles(g.points[g.lines.start[loops]], g.lines.lane[loops], g.radius, g.points)
    index = {int(line): k for k, line in enumerate(loops)}
    p.setBrush(Qt.BrushStyle.NoBrush)
    for bucket, colour, width in _buckets(g, panel, loops):
        p.setPen(QPen(colour, width))
        for line in bucket:
            k = index[int(line)]
            p.drawEllipse(QPointF(*middle[k]), float(big[k]), float(big[k]))


def _picture(g: Ground, a: Array, b: Array, heat: Array | None) -> QImage:
    """Return how dense the lines are, as a picture; panels whose lines look alike share it."""
    w, h = max(1, round(g.width * g.ratio)), max(1, round(g.height * g.ratio))
    total, mean = ink(a * g.ratio, b * g.ratio, heat, w, h, g.budget)
    t = theme.current()
    some = total[::3, ::3]
    some = some[some > 0]
    usual = float(np.quantile(some, 0.7)) if some.size else 1.0
    alpha = 1 - np.exp(total * np.float32(-0.55 / max(usual, 0.8)))
    alpha *= np.float32(0.8)
    colour = rgb(t.muted).astype(np.float32)
    if mean is not None:
        share = np.sqrt(mean.clip(0, 1))[..., None]
        return _image((colour + (rgb(t.accent).astype(np.float32) - colour) * share) * alpha[..., None], alpha)
    return _image(colour * alpha[..., None], alpha)


def _image(colour: Array, alpha: Array) -> QImage:
    """Return RGB times opacity (h, w, 3) from 0 to 255, with the opacity (h, w) from 0 to 1, as an image."""
    h, w = alpha.shape
    pixels = np.empty((h, w, 4), np.uint8)  # blue, green, red, alpha in memory
    pixels[..., :3] = colour[..., ::-1]
    pixels[..., 3] = alpha * np.float32(255)
    return QImage(pixels.data, w, h, 4 * w, QImage.Format.Format_ARGB32_Premultiplied).copy()


# nodes ------------------------------------------------------------------------------------------------------------
def _paint_halos(p: QPainter, g: Ground, panel: Panel, shown: Array) -> None:
    """Paint how much each node moves the selected one, as a glow behind it."""
    assert panel.halo is not None
    ink_ = QColor(theme.current().second)
    clear = QColor(ink_)
    clear.setAlpha(0)
    p.setPen(NONE)
    strong = shown[panel.halo[shown] > 0.08]
    for i in strong[np.argsort(-panel.halo[strong])][:600]:
        share, at = float(panel.halo[i]), QPointF(*g.points[i])
        r = g.radius * panel.grow[i] + 2 + (0.9 * g.radius + 9) * share
        glow = QRadialGradient(at, r)
        ink_.setAlphaF(0.12 + 0.5 * share)
        glow.setColorAt(0.35, ink_)
        glow.setColorAt(1.0, clear)
        p.setBrush(QBrush(glow))
        p.drawEllipse(at, r, r)


def _paint_nodes(p: QPainter, g: Ground, panel: Panel, shown: Array) -> None:
    t = theme.current()
    pins = set(g.pins)
    small = g.radius < 3
    rim = QPen(QColor(*(int(v) for v in faded(rgb(t.text), 0.55, t.plot))), 1.0 if not small else 0.6)
    quiet = QPen(QColor(*(int(v) for v in faded(rgb(t.text), 0.18, t.plot))), 1.0)
    near = panel.near if panel.near is not None else np.ones(len(g.points), bool)
    order = shown[np.argsort(near[shown], kind="stable")]  # what is emphasised lies on top
    for i in order.tolist():
        at, r = QPointF(*g.points[i]), g.radius * float(panel.grow[i])
        gone = panel.number[i] < 0
        p.setBrush(QColor(*(int(v) for v in panel.fill[i])))
        p.setPen(QPen(rim.color(), 1, Qt.PenStyle.DotLine) if gone else rim if near[i] else quiet)
        p.drawEllipse(at, r, r)
        if i in pins and not small:
            p.setBrush(QColor(t.text))
            p.setPen(QPen(QColor(t.plot), 1))
            p.drawEllipse(at + QPointF(0.75 * r, -0.75 * r), 2.6, 2.6)
    p.setBrush(Qt.BrushStyle.NoBrush)
    if panel.marks is not None:
        p.setPen(QPen(QColor(t.second), 1.3 if small else 1.8))
        for i in order[panel.marks[order]].tolist():
            r = g.radius * float(panel.grow[i]) + 2.6
            p.drawEllipse(QPointF(*g.points[i]), r, r)
    if len(g.chosen) and len(g.chosen) <= DISCS:
        p.setPen(QPen(QColor(t.accent), 1.6))
        for i in g.chosen.tolist():
            p.drawEllipse(QPointF(*g.points[i]), g.radius * panel.grow[i] + 1.5, g.radius * panel.grow[i] + 1.5)
    if g.selected is not None and g.selected < len(g.points):
        r = g.radius * float(panel.grow[g.selected]) + RING
        p.setPen(QPen(QColor(t.accent), 2.4))
        p.drawEllipse(QPointF(*g.points[g.selected]), r, r)


def _discs(g: Ground, panel: Panel, shown: Array) -> QImage:
    """Return the nodes as a picture, each stamped as a small smooth disc with a rim."""
    w, h = max(1, round(g.width * g.ratio)), max(1, round(g.height * g.ratio))
    radius = min(max(g.radius * g.ratio, 1.1), 9.0)
    reach = int(np.ceil(radius + 1.5))
    wide = w + 2 * reach
    pixels = np.zeros(((h + 2 * reach) * wide, 4), np.float32)  # colour times opacity, and opacity

    def settle() -> tuple[Array, Array]:
        at = np.round(g.points[shown] * g.ratio).astype(np.int32) + reach
        x, y = at[:, 0], at[:, 1]
        ok = (x >= reach) & (y >= reach) & (x < w + reach) & (y < h + reach)
        return y[ok] * wide + x[ok], shown[ok]

    place, there = g.once("discs", (*g.view, g.radius), settle, g.places)
    fill = np.ones((len(place), 4), np.float32)
    fill[:, :3] = panel.fill[there]
    rim = np.array([*rgb(theme.current().text), 1], np.float32)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            away = float(np.hypot(dx, dy))
            cover = min(max(radius + 0.5 - away, 0.0), 1.0)
            if cover <= 0:
                continue
            edge = 0.5 * min(max(away - radius + 1.2, 0.0), 1.0) if radius >= 2.5 else 0.22
            here = place + dy * wide + dx
            new = (fill * np.float32(1 - edge) + rim * np.float32(edge)) * np.float32(cover)
            pixels[here] = new if cover == 1 else pixels[here] * np.float32(1 - cover) + new
    inner = pixels.reshape(-1, wide, 4)[reach : reach + h, reach : reach + w]
    return _image(inner[..., :3], inner[..., 3])
