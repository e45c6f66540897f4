"""Place the commuting square upright, for a stage that is too narrow for four panels with their names in a line."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from widgets.maps.colour_bar import ColourBar
from widgets.maps.ring import Ring
from widgets.stage.boxes import CAPTION, HEADER, HINT, LARGEST, MARGIN, Boxes, RowBoxes

FIGURES = 44.0  # of height for the error, which lies above the pictures
BETWEEN = ColourBar.WIDTH + 24  # the columns: the colour bar stands there, and the name of the element above it
DOWN = 34.0  # the arrows F and rho'(g)
ARROW = 64.0  # at least, from x to the ring
SHARE = 0.75  # of a panel: the pictures at the top, at least
HIGH = 1.45  # times its width: a figure in a column


def stand(width: float, height: float) -> Boxes:
    """Lay out one model: x and rho(g) x above F(x) and F(rho(g) x), below these rho'(g) F(x) and the difference."""
    room = width - 2 * MARGIN - BETWEEN
    beside = Ring.MARGIN_X + 3  # the ring reaches so much farther than the corners of its picture
    fixed = 2 * MARGIN + HEADER + FIGURES + 3 * CAPTION + 2 * Ring.MARGIN_Y + 6 + 2 * DOWN + HINT
    # the ring goes beyond its column, by what both columns leave
    size = min((2**0.5 * (room - beside)) / (SHARE + 1.5 * 2**0.5), (height - fixed) / (2**0.5 * SHARE + 2), LARGEST)
    size = max(24.0, min(size, room / 2))
    right = max(0.0, room - 2 * size)  # beyond the second column
    top_size = min(
        size, (right + size / 2 - beside) * 2**0.5, (size + BETWEEN - ARROW - beside - 12) / (0.5 + 0.5**0.5)
    )
    top_size = max(20.0, min(top_size, (height - fixed - 2 * size) / 2**0.5))
    radius = top_size / 2**0.5 + 3
    reach = max(size / 2, radius + Ring.MARGIN_X)  # to the right of the middle of the second column
    left, column = MARGIN, max(MARGIN + size + BETWEEN, width - MARGIN - reach - size / 2)
    header = QRectF(MARGIN, MARGIN, width - 2 * MARGIN, HEADER)
    figures = QRectF(left, header.bottom() + 2, width - 2 * MARGIN, FIGURES)
    used = fixed + 2**0.5 * top_size + 2 * size
    middle = figures.bottom() + CAPTION + Ring.MARGIN_Y + radius + max(0.0, (height - used) / 3)
    centre = QPointF(column + size / 2, middle)
    picture = QRectF(0, middle - top_size / 2, top_size, top_size)
    x, gx = (picture.translated(at + (size - top_size) / 2, 0) for at in (left, column))
    first = middle + radius + Ring.MARGIN_Y + DOWN
    second = first + size + CAPTION + DOWN
    panels = [QRectF(at, top, size, size) for top in (first, second) for at in (left, column)]
    fx, f_gx, rho_fx, difference = panels
    bar = QRectF(rho_fx.right() + 10, second, ColourBar.WIDTH, size)
    row = RowBoxes(QRectF(left, first, size, 0), QRectF(), fx, rho_fx, f_gx, difference, bar)
    hint = QRectF(MARGIN, height - MARGIN - HINT + 8, width - 2 * MARGIN, HINT)
    return Boxes(header, x, gx, centre, radius, (figures,), (row,), hint, upright=True)
