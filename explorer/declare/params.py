"""Declared parameters: one declaration gives the control, the command-line syntax, clamping and the caption."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Param:
    """One adjustable number or choice.

    A choice is stored as the index into `choices` so that every value is a float and a State stays a plain value.
    """

    name: str
    title: str
    default: float
    minimum: float
    maximum: float
    step: float = 1.0  # what an arrow key adds; `minimum + k * step` are the values a snapped control offers
    unit: str = ""
    choices: tuple[str, ...] = ()
    periodic: bool = False  # maximum and minimum are the same point (angles)
    whole: bool = False
    quiet: bool = False  # no control of its own: it is dragged in a view
    least: str = ""  # what the minimum stands for, where it is no number as the others: "all"

    def clamp(self, value: float) -> float:
        """Return the nearest admissible value; raise ValueError on NaN and infinities."""
        if not math.isfinite(value):
            raise ValueError(f"{self.name} must be a finite number, not {value!r}")
        if self.periodic:
            if not self.minimum <= value < self.maximum:  # what lies within keeps its digits: 10.88 is 10.88
                value = round(self.minimum + (value - self.minimum) % (self.maximum - self.minimum), 12)
            if value == self.minimum == -self.maximum:
                value = self.maximum  # half a turn is called 180°, not -180°
        value = min(max(value, self.minimum), self.maximum)
        return float(round(value)) if self.whole or self.choices else float(value)

    def parse(self, text: str) -> float:
        """Read a value as typed on the command line; raise ValueError with one clear sentence."""
        text = text.strip()
        if self.choices:
            if text in self.choices:
                return float(self.choices.index(text))
            raise ValueError(f"{self.name} must be one of {', '.join(self.choices)}, not {text!r}")
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{self.name} must be a number, not {text!r}") from None
        if not math.isfinite(value):
            raise ValueError(f"{self.name} must be a finite number, not {text!r}")
        if self.whole and value != round(value):
            raise ValueError(f"{self.name} must be a whole number, not {text!r}")
        if not self.periodic and not self.minimum <= value <= self.maximum:
            raise ValueError(f"{self.name} must lie between {self.minimum:g} and {self.maximum:g}, not {text}")
        return value

    def text(self, value: float) -> str:
        return self.choices[int(value)] if self.choices else f"{value:.6g}"
