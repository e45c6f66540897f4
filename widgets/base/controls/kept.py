"""Choices in the controls of a view, as plain values that a session keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QAbstractButton, QComboBox, QSlider, QWidget


def values_of(controls: Mapping[str, QWidget]) -> dict[str, Any]:
    """Return the text of each box of choices, whether each tick is set and the number of each slider."""
    found: dict[str, Any] = {}
    for name, control in controls.items():
        match control:
            case QComboBox():
                found[name] = control.currentText()
            case QAbstractButton():
                found[name] = control.isChecked()
            case QSlider():
                found[name] = control.value()
    return found


def take_values(controls: Mapping[str, QWidget], kept: Mapping[str, Any]) -> None:
    """Set controls as a hand would. What a file says wrongly, or of a choice that there is not, changes nothing."""
    for name, control in controls.items():
        match control, kept.get(name):
            case QComboBox(), str() as text if (at := control.findText(text)) >= 0 and at != control.currentIndex():
                control.setCurrentIndex(at)
                control.activated.emit(at)
            case QAbstractButton(), bool() as on:
                control.setChecked(on)
            case QSlider(), int() as number if not isinstance(number, bool) and abs(number) < 2**31:
                control.setValue(number)
