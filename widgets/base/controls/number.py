"""The box of a number that is written as everywhere else: with a true minus, read with either sign."""

from __future__ import annotations

from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox

from explorer.declare.telling.numerals import with_minus

MINUS = "−"


class NumberBox(QDoubleSpinBox):
    """Writes −3.0 where Qt writes -3.0; whoever types has a hyphen on the keyboard, and may paste a minus."""

    def textFromValue(self, value: float) -> str:
        return with_minus(super().textFromValue(value))

    def valueFromText(self, text: str) -> float:
        return super().valueFromText(text.replace(MINUS, "-"))

    def validate(self, text: str, at: int) -> tuple[QValidator.State, str, int]:
        """Judge the text as Qt would with a hyphen; what was typed stays as it is."""
        judged = super().validate(text.replace(MINUS, "-"), at)
        return (judged[0], text, at) if isinstance(judged, tuple) else judged
