"""Place the parts of the commuting square in a window of a given size. Pure geometry."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from widgets.maps.colour_bar import ColourBar
from widgets.maps.ring import Ring
from widgets.stage.boxes import CAPTION, HEADER, HINT, LARGEST, MARGIN, Boxes, RowBoxes
from widgets.stage.upright import HIGH, stand

OPERATOR = 24.0  # between panels of the lower row
ELBOW = 18.0  # left of F(x), where the second model's arrow comes down
WORDS = 96.0  # for the element on the arrow, and for the error beside the ring
CROWDED = 60.0  # of a panel: below it their names have no room side by side
FLAT = {1: 0.75, 2: 0.92}  # of its width: the height of a figure of so many models


def arrange(width: float, height: float, models: int, back: bool) -> Boxes:
    """Lay out the stage of `models` rows (1 or 2), with room for the pulled-back answer when `back`.

    Where four panels in a line are crowded, one model stands in two lines if that makes them clearly larger.
    """
    lying = _lie(width, height, models, back)
    if models > 1 or back or lying.rows[0].fx.width() >= CROWDED:
        return lying
    upright = stand(width, height)
    return upright if upright.rows[0].fx.width() > 1.25 * lying.rows[0].fx.width() else lying


def figure_height(width: float, models: int, back: bool) -> float:
    """Return the height of a figure: what its maps ask for, as wide as a column lets them."""
    return max(
        width * (FLAT.get(models, 1.0)), HIGH * width if arrange(width, HIGH * width, models, back).upright else 0
    )


def _lie(width: float, height: float, models: int, back: bool) -> Boxes:
    """Lay out all panels of a model in one line."""
    columns = 5 if back else 4
    elbow = ELBOW if models > 1 else 0.0
    arrow = 58.0 if width > 560 else 44.0  # from F(x) to rho'(g) F(x), with its label
    between = (OPERATOR if back else 0.0) + elbow + arrow + 2 * OPERATOR
    bar_room = ColourBar.WIDTH + 10
    room = width - 2 * MARGIN - between - bar_room

    down = 34.0  # the arrows F
    heading = CAPTION + 3 if models > 1 else 0.0
    fixed = 2 * MARGIN + HEADER + CAPTION + 2 * Ring.MARGIN_Y + down + HINT + models * (heading + CAPTION)
    # the upper row needs a square's diagonal, since the ring goes round the corners
    least = share = 1.0 if models == 1 else 0.8
    by_height = (height - fixed) / (2**0.5 * share + models)
    size = max(24.0, min(room / columns, by_height, LARGEST))
    # what is left over in height goes to the picture that is dragged, centred over its column
    share = max(share, min((height - fixed - models * size) / 2**0.5 / size, 1.5, LARGEST / size))
    # but what stands between the pictures and beside the ring is not to be cut for it
    ring = Ring.MARGIN_X + 3 + WORDS
    between_them = (2 * size + arrow + OPERATOR - ring) / (0.5 + 0.5**0.5)
    beside_it = (1.5 * size + OPERATOR + bar_room - ring) / 0.5**0.5
    share = max(least, min(share, between_them / size, beside_it / size))
    overhang = 0.0 if back else max(0.0, (share - 1) / 2)
    size = max(24.0, min(size, room / (columns + overhang)))
    top_size = share * size

    radius = top_size / 2**0.5 + 3
    used = fixed + 2**0.5 * top_size + models * size
    y = MARGIN + max(0.0, (height - used) / 2)
    total = (columns + overhang) * size + between + bar_room
    left = MARGIN + max(0.0, (width - 2 * MARGIN - total) / 2)
    header = QRectF(MARGIN, MARGIN, width - 2 * MARGIN, HEADER)

    at = left
    column_back = at
    if back:
        at += size + OPERATOR
    column_fx = at + elbow + overhang * size
    column_rho = column_fx + size + arrow
    column_f = column_rho + size + OPERATOR
    column_difference = column_f + size + OPERATOR

    middle = y + HEADER + CAPTION + Ring.MARGIN_Y + radius
    centre = QPointF(column_f + size / 2, middle)
    gx = QRectF(centre.x() - top_size / 2, middle - top_size / 2, top_size, top_size)
    x = QRectF(column_fx + size / 2 - top_size / 2, gx.top(), top_size, top_size)

    rows = []
    top = middle + radius + Ring.MARGIN_Y + down
    for _ in range(models):
        # as far as where the second model's arrow comes down
        heading_box = QRectF(column_fx, top, column_f - ELBOW - column_fx, heading)
        top += heading
        bar = QRectF(column_difference + size + 10, top, ColourBar.WIDTH, size)
        rows.append(
            RowBoxes(
                heading=heading_box,
                back=QRectF(column_back, top, size, size),
                fx=QRectF(column_fx, top, size, size),
                rho_fx=QRectF(column_rho, top, size, size),
                f_gx=QRectF(column_f, top, size, size),
                difference=QRectF(column_difference, top, size, size),
                bar=bar,
            )
        )
        top += size + CAPTION

    read_left = max(centre.x() + radius + Ring.MARGIN_X + 10, column_difference + 2)
    read_top = middle - radius - Ring.MARGIN_Y + 4
    read = QRectF(read_left, read_top, max(60.0, width - MARGIN - read_left), 2 * radius + 2 * Ring.MARGIN_Y)
    # the numbers may go on beside the arrow, down to the maps: a heading does not reach so far
    room = rows[0].fx.top() - 8 - read_top
    each = room if models == 1 else min(room / models, 72.0)
    readouts = tuple(QRectF(read.left(), read.top() + i * each, read.width(), each) for i in range(models))
    hint = QRectF(MARGIN, height - MARGIN - HINT + 8, width - 2 * MARGIN, HINT)
    return Boxes(header, x, gx, centre, radius, readouts, tuple(rows), hint)
