"""Boxes of which the stage consists, in a window of a given size."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

MARGIN = 12.0
HEADER, CAPTION, HINT = 18.0, 17.0, 22.0
LARGEST = 560.0  # a panel beyond this only shows larger pixels


@dataclass(frozen=True, slots=True)
class RowBoxes:
    """One model's row: panels, captions beneath them, its heading and its colour bar."""

    heading: QRectF
    back: QRectF
    fx: QRectF
    rho_fx: QRectF
    f_gx: QRectF
    difference: QRectF
    bar: QRectF

    def panels(self) -> tuple[QRectF, ...]:
        return (self.back, self.fx, self.rho_fx, self.f_gx, self.difference)


@dataclass(frozen=True, slots=True)
class Boxes:
    """The whole stage."""

    header: QRectF
    x: QRectF
    gx: QRectF
    ring_centre: QPointF
    ring_radius: float
    readouts: tuple[QRectF, ...]
    rows: tuple[RowBoxes, ...]
    hint: QRectF
    upright: bool = False  # the panels of a model stand in two lines


def below(panel: QRectF) -> QRectF:
    """Return the box of the caption beneath a panel; a little wider than the panel, as formulas are."""
    return QRectF(panel.left() - 10, panel.bottom() + 1, panel.width() + 20, CAPTION)


def above(panel: QRectF) -> QRectF:
    return QRectF(panel.left() - 10, panel.top() - CAPTION - 1, panel.width() + 20, CAPTION)
