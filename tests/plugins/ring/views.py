"""Draw a ring as a circle of dots."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtGui import QPainter
from ring.space import RingPart

from equiscope.views import View, ViewSpec


class Circle(View):
    """The values of the first channel, as dots round a circle."""

    def __init__(self) -> None:
        super().__init__()
        self.part: RingPart | None = None

    def show_frame(self, frame: Any) -> None:
        self.part = frame.squares[0].of(RingPart) if frame is not None and frame.squares else None
        self.update()

    def numbers(self) -> dict[str, np.ndarray]:
        return {} if self.part is None else {"x": self.part.x, "F(x)": self.part.values, "order": self.part.order}

    def paintEvent(self, event: Any) -> None:
        if self.part is None:
            return
        painter = QPainter(self)
        for k, value in enumerate(self.part.x[:, 0]):
            angle = 2 * np.pi * k / len(self.part.x)
            at = self.width() * (0.5 + 0.4 * np.cos(angle)), self.height() * (0.5 - 0.4 * np.sin(angle))
            painter.drawText(int(at[0]), int(at[1]), f"{value:.1f}")
        painter.end()


VIEW = ViewSpec("circle", "Circle", Circle, summary="The ring as a circle.", domains=("ring",), area="center")
