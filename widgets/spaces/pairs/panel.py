"""One pair matrix as it is laid out: its box, its picture's frame, and which entries are seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

from explorer.spaces.graph.drawing.pairs.matrix import PairMatrix, Range
from explorer.spaces.graph.drawing.pairs.pooling import Pool
from widgets.base.camera import Camera
from widgets.maps.diagram import Label, font
from widgets.spaces.pairs.fields import Ordered
from widgets.spaces.pairs.tiles import Style, TileStore, make_style

TITLE, SMALL_TITLE = 21.0, 15.0  # heights of the title of a matrix, and of one head among others
BAR = 66.0  # width of a colour bar with its numbers
NEAREST = 36.0  # pixels of a cell when zoomed in as far as it goes
LABELLED = 11.0  # pixels of a row from which each can bear its name


@dataclass(eq=False)
class Panel:
    """A matrix with all that its picture depends on.

    `small` panels (heads side by side) have a `short` title and nothing else round them; `heading` stands once above
    all of them. `high` is the end of a scale that is shared; 0 for the matrix's own.
    """

    matrix: PairMatrix
    head: int
    title: str
    view: Ordered
    names: tuple[str, ...]
    role: str = ""
    small: bool = False
    log: bool = False
    threshold: float = 0.0
    pool: Pool = "max"
    high: float = 0.0
    sum_high: float = 0.0  # the same for the sums
    short: str = ""
    heading: str = ""
    of: str = "node"  # what a column is
    to: str = "node"  # what a row is
    rows: tuple[str, ...] | None = None  # their names from above, where they are not the columns'
    signed: bool = False  # a difference has two signs, even where only one occurs
    box: QRectF = field(default_factory=QRectF)
    frame: QRectF = field(default_factory=QRectF)  # of the picture
    left: float = 0.0  # room of the labels
    above: float = 0.0
    strip: float = 0.0  # of the sums
    bar: float = 0.0

    # where things are -------------------------------------------------------------------------------------------
    def place(self, box: QRectF) -> None:
        """Lay the panel out in a box."""
        self.box = box
        roomy = not self.small and min(box.width(), box.height()) >= 300
        slim = not self.small and not roomy and min(box.width(), box.height()) >= 130
        long = max(name_room(some, self.matrix.n) for some in (self.names, self.rows or self.names))
        self.left = max(68.0, min(long, 124.0)) if roomy else min(long, 84.0) if slim else 0.0
        self.above = max(58.0, min(long, 92.0)) if roomy else 0.0
        self.strip = 30.0 if roomy else 14.0 if slim else 0.0
        title = SMALL_TITLE if self.small else TITLE
        self.bar = BAR if not self.small and box.width() >= 200 else 0.0
        gap = 5.0 if self.strip else 0.0
        wide = box.width() - self.left - self.strip - gap - self.bar
        high = box.height() - title - self.above - self.strip - gap
        side = max(8.0, min(wide, high))
        x = box.left() + self.left + max(0.0, (wide - side) / 2)
        y = box.top() + title + self.above + (max(0.0, (high - side) / 2) if self.small else 0.0)
        self.frame = QRectF(round(x), round(y), side, side)

    def write_title(self, label: Label) -> None:
        """Write the title above the picture."""
        label.size, label.role, label.bold = (10, "muted", False) if self.small else (12, "text", True)
        left = self.frame.left() if self.small else max(self.box.left(), self.frame.left() - self.left)
        room = self.frame.width() if self.small else self.box.right() - left
        text, high = self.title, 17.0
        if self.small:
            # the bare number where the word has no room
            fits = QFontMetricsF(font(10)).horizontalAdvance(self.short) <= room
            text, high = self.short if fits else str(self.head), SMALL_TITLE
        label.dot = "" if self.small else self.role
        label.set_text(text)
        label.place(QRectF(left, self.frame.top() - self.above - (SMALL_TITLE if self.small else TITLE), room, high))

    def cell(self, camera: Camera) -> float:
        """Return how many pixels one entry has."""
        return self.frame.width() * camera.zoom / max(1, self.matrix.n)

    def seen(self, camera: Camera) -> tuple[Range, Range]:
        """Return which rows and columns are seen, parts included."""
        n, half = self.matrix.n, 0.5 / camera.zoom
        spans = []
        for middle in (camera.y, camera.x):
            first = int(np.floor(n * (middle - half) + 1e-6))
            spans.append((max(0, first), min(n, max(first + 1, int(np.ceil(n * (middle + half) - 1e-6))))))
        return spans[0], spans[1]

    def level(self, camera: Camera, ratio: float = 1.0) -> int:
        """Return the level of pooling at which a place has one to two pixels; 0 where an entry has more."""
        return max(0, int(np.ceil(-np.log2(max(1e-9, self.cell(camera) * ratio)) - 1e-6)))

    def name(self, place: int, row: bool = False) -> str:
        """Return what the node in a place is called: its name, else its number as in x; or what a `row` is called."""
        if row and self.rows is not None:
            return self.rows[place]
        node = int(self.view.nodes[place])
        return self.names[node] if self.names else str(node)

    def places(self, node: int | None) -> int | None:
        """Return the place of a node numbered as in x, None where it is not shown."""
        if node is None or not 0 <= node < len(self.view.place_of):
            return None
        found = int(self.view.place_of[node])
        return found if found >= 0 else None

    def style(self, store: TileStore, level: int) -> Style:
        """Return the scale at a level: means have one of their own, or all would be pale."""
        high = store.peak(self.matrix, level) if self.pool == "mean" and level else self.high
        made = make_style(self.matrix, self.log, self.threshold, high)
        return replace(made, signed=True) if self.signed else made


def name_room(names: tuple[str, ...], n: int) -> float:
    """Return the width that the names of nodes need, with the strip of classes; the first ones stand for all."""
    metrics = QFontMetricsF(font(10, bold=True))
    return max(map(metrics.horizontalAdvance, names[:256] or (str(n),))) + 14
