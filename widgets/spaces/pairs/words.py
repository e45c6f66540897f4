"""Write what the pair view says of a matrix: its four properties, and the caption of a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextDocument
from PySide6.QtWidgets import QLabel

from explorer.spaces.graph.drawing.pairs.matrix import PairMatrix, Properties
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Frame, Square
from widgets.base.look.theme import current
from widgets.base.text.words import figure, subject
from widgets.maps.linking import precise
from widgets.spaces.pairs.panel import Panel

ACROSS = (6, 3, 2, 1)  # properties beside each other below the matrices
SAME = 1e-4  # relative difference up to which the matrix moved with the nodes and did not change otherwise

NO_GRAPH = (
    "{} is not a graph: it has no pairs of nodes.\nPick a graph or a set to see attention and adjacency as matrices."
)
NOT_SELECTED = "{} is a sequence.\nSelect a layer on pairs of its steps, such as {}, to see it as a matrix."
NO_PAIRS = (
    "{} is a sequence, and no layer of this model lies on pairs of its steps.\nWhere it is too long for a matrix of "
    "attention, click a step in the timeline to see what that step attends to."
)
NO_PATCHES = (
    "{}: no layer of this model lies on pairs of its patches.\nOpen a network with attention over the "
    "image, such as a ViT, to see it as a matrix."
)


def without_pairs(square: Square, sample: str) -> str:
    """Return why there is no matrix to show, and what to do."""
    if square.domain == "grid":
        return NO_PATCHES.format(sample)
    if square.of(TimePart) is None:
        return NO_GRAPH.format(sample)
    formed = [layer.name for layer in square.layers if layer.kind_of_places == "pair"]
    return NOT_SELECTED.format(sample, formed[-1]) if formed else NO_PAIRS.format(sample)


def share(value: float) -> str:
    """Return a share as a percentage that does not round to all or nothing: "99.98 %"."""
    percent = 100 * value
    digits = 2 if percent > 99 or percent < 1 else 1 if percent < 10 or percent > 90 else 0
    text = f"{percent:.{digits}f}" if percent % 1 else f"{percent:.0f}"
    text = "< 0.01" if 0 < value < 1e-4 else "> 99.99" if 1 - 1e-4 < value < 1 else text
    return f"{text} %".replace(" ", "\N{NO-BREAK SPACE}")


Form = Literal["column", "lines", "row"]


def properties_table(
    title: str,
    matrix: PairMatrix,
    properties: Properties,
    moved: float | None,
    form: Form = "column",
    room: float = 0.0,
    places: str = "nodes",
    across: int = 6,
) -> str:
    """Return the read-out as rich text: static, square, sparse, symmetric, sums.

    They stand below each other, in one line each ("lines": the figure without its formula), or so many `across`.
    The title is cut to `room` pixels, rows and columns are `places`. `moved` is ||P A P^T - A'|| / ||A||, A' being the
    matrix of the moved input; None where it is not known.
    """
    if moved is None:
        static, how = "when x moves", "known for the selected layer"
    else:
        static = f"moves with the {places}" if moved <= SAME else "changes with the input"
        how = f"‖PAPᵀ − A′‖ / ‖A‖ = {figure(moved)}"
    asymmetry = properties.asymmetry
    if asymmetry is None:
        symmetric, off = "–", "not worked out at this size" if not properties.exact else "all entries are 0"
    else:
        symmetric = "symmetric" if asymmetry <= 1e-6 else "not symmetric"
        off = f"‖A − Aᵀ‖ / ‖A‖ = {figure(asymmetry)}"
    low, high = properties.sums
    sums = "rows sum to 1" if properties.stochastic else "row sums"
    near = f"≤ {figure(properties.near)}"
    lines = [
        (static, how),
        ("square", f"{matrix.n:,} × {matrix.n:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")),
        ("sparse" if properties.near_zero >= 0.5 else "dense", f"{share(properties.near_zero)} of |a| {near}"),
        (symmetric, off),
        (sums, f"{figure(low)} … {figure(high)}"),
    ]
    if properties.masked:
        lines.append(("masked", f"{share(properties.masked)} of the entries"))
    t = current()
    muted, kept = f"color:{t.muted}", "white-space:nowrap"
    shown = QFontMetricsF(QFont()).elidedText(title, Qt.TextElideMode.ElideMiddle, room) if room else title
    name = f"<span style='{muted}'>{escape(shown)}</span>"
    if form == "lines":
        lines[2] = "zero", lines[2][1]  # the share alone is of those, be it dense or sparse
        rows = [f"<tr><td style='{kept}'><b>{a}</b>&nbsp;&nbsp;</td><td style='{muted}; {kept}'>{_short(b)}</td></tr>"
                for a, b in (lines if moved is not None else lines[1:])]  # fmt: skip
        return f"{name}<table cellspacing='0'>{''.join(rows)}</table>"
    if form == "row":
        style = f"padding-right:28px; {kept}"
        cells = [f"<td style='{style}'><b>{a}</b><br><span style='{muted}'>{b}</span></td>" for a, b in lines]
        rows = [f"<tr>{''.join(cells[k : k + across])}</tr>" for k in range(0, len(cells), across)]
        return f"{name}<table cellspacing='0'>{''.join(rows)}</table>"
    rows = [f"<div style='{kept}'><b>{a}</b></div><div style='{muted}; margin-bottom:3px'>{b}</div>" for a, b in lines]
    return name + "".join(rows)


def within(write: Callable[[int], str], label: QLabel, room: float) -> str:
    """Return the read-out in a label with as many properties beside each other as there is room for."""
    page, around, words = QTextDocument(), label.contentsMargins(), ""
    page.setDefaultFont(label.font())
    for across in ACROSS:
        words = write(across)
        page.setHtml(words)
        if page.idealWidth() + around.left() + around.right() <= room:
            break
    return words


def _short(text: str) -> str:
    """Return the figure of "formula = figure" or "25 % of |a| ≤ figure"; "" of a sentence that explains its absence.

    What a formula measures is how far off that is: "symmetric 0" would be read as no.
    """
    _, measured, figure_ = text.rpartition(" = ")
    if measured:
        return f"off by {figure_}"
    text = text.partition(" of ")[0]
    return text if any(c.isdigit() for c in text) else ""


def caption(frame: Frame, panels: Sequence[Panel], order: str) -> str:
    """Return one line that says what is shown of what, in which order, on which scale."""
    words = []
    for panel in panels:
        scale = panel.high or panel.matrix.largest
        low = figure(-scale) if panel.matrix.signed else "0"
        title = panel.title.partition(", head")[0] + ", all heads" if panel.small else panel.title
        text = f"{title} (colours {low} to {figure(scale)}{', logarithmic' if panel.log else ''}"
        if panel.threshold:
            kept = share(panel.matrix.kept(panel.head, panel.threshold))
            text += f", entries of at least {figure(panel.threshold)}: {kept}"
        words.append(text + ")")
    return f"{subject(frame)}: {'; '.join(words)}; rows receive, columns send, {order}"


def read_out(name: str, panel: Panel, row: int, column: int | None, hand: str) -> str:
    """Return what is said of an entry, or of a row; an entry that is a mask is no value."""
    matrix, head = panel.matrix, panel.head
    received = f"row sum {precise(float(matrix.row_sums(head)[row]))}"
    if column is None:
        return f"{node_words(panel, row, True)}, {received}{hand}"
    value = matrix.value(head, row, column)
    told = f"masked ({figure(value)})" if matrix.masked(np.array([value]))[0] else precise(value)
    sent = f"column sum {precise(float(matrix.column_sums(head)[column]))}"
    return f"{name}, to {node_words(panel, row, True)} from {node_words(panel, column)}: {told}, {received}, {sent}"


def change(matrix: PairMatrix, values: NDArray[Any], difference: NDArray[Any]) -> float | None:
    """Return how much of its values a matrix is off, None where they are zero; masks are no values."""
    norm = float(np.linalg.norm(matrix.cleared(np.asarray(values)).astype(np.float64)))
    off = float(np.linalg.norm(np.asarray(difference, np.float64)))
    return off / norm if norm else None


def node_words(panel: Panel, place: int, row: bool = False) -> str:
    """Return how a place of a matrix is called, with its number in x where it has a name."""
    number, name = int(panel.view.nodes[place]), panel.name(place, row)
    if row and panel.rows is not None:
        number = int(panel.view.numbers[place])
        return f"{panel.to} {number}" + (f" “{name}”" if name != str(number) else "")
    return f"{name} ({number})" if name != str(number) else f"{panel.of} {number}"
