"""The box of a number that is written as everywhere else: with a true minus, read with either sign."""

from __future__ import annotations

from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox

from explorer.declare.telling.numerals import with_minus

MINUS = "−"
TURNS = 10  # times round that may be typed


class NumberBox(QDoubleSpinBox):
    """Writes −3.0 where Qt writes -3.0; whoever types has a hyphen on the keyboard, and may paste a minus.

    What goes round may be typed beyond its range: 270° is −90°. Qt takes 27 and drops the last key.
    """

    def textFromValue(self, value: float) -> str:
        return with_minus(super().textFromValue(value))

    def valueFromText(self, text: str) -> float:
        beyond = self._beyond(text)
        if beyond is None:
            return super().valueFromText(text.replace(MINUS, "-"))
        return self.minimum() + (beyond - self.minimum()) % (self.maximum() - self.minimum())

    def validate(self, text: str, at: int) -> tuple[QValidator.State, str, int]:
        """Judge the text as Qt would with a hyphen; what was typed stays as it is."""
        if self._beyond(text) is not None:
            return QValidator.State.Acceptable, text, at
        judged = super().validate(text.replace(MINUS, "-"), at)
        return (judged[0], text, at) if isinstance(judged, tuple) else judged

    def _beyond(self, text: str) -> float | None:
        """Return a number that lies some times round beyond the range; None of any other text."""
        if not self.wrapping():
            return None
        own = text.replace(MINUS, "-").removeprefix(self.prefix()).removesuffix(self.suffix())
        value, known = self.locale().toDouble(own.strip())
        inside = self.minimum() <= value <= self.maximum()
        within = abs(value) <= TURNS * (self.maximum() - self.minimum())
        return value if known and within and not inside else None
