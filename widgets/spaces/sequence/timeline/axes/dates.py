"""Dates on an axis: round ones between two moments, and how each is written. Numpy only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widgets.charts.axis.scales import linear_ticks

DAY = 86_400.0
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
_MONTH = 30.4 * DAY
_MONDAY = 4 * DAY  # the first one of 1970 was the fifth of January
# the longest step for which more than the form before has to be written
_FORMS = ((1.0, "%H:%M:%S.%f"), (60.0, "%H:%M:%S"), (DAY, "%m-%d %H:%M"), (28 * DAY, "%Y-%m-%d"), (360 * DAY, "%Y-%m"))


def seconds_of(times: NDArray[Any]) -> NDArray[np.float64]:
    """Return datetime64 as seconds since 1970."""
    return times.astype("datetime64[ms]").astype(np.int64) / 1e3


def date_ticks(low: float, high: float, most: int) -> tuple[list[float], str]:
    """Return at most `most` round dates between two moments in seconds since 1970, and the form to write them in."""
    if not high > low or most < 1:
        return [], _FORMS[3][1]
    rough = (high - low) / most
    step = next((float(s) for s in _STEPS if s >= rough), None)
    if rough < 1:
        return linear_ticks(low, high, most), _form(rough)
    if step is not None:
        start = _MONDAY if step == 7 * DAY else 0.0
        first = np.ceil((low - start) / step - 1e-9)
        found = [start + k * step for k in np.arange(first, np.floor((high - start) / step + 1e-9) + 1)]
        return found, _form(step)
    months = next((m for m in _MONTHS if m * _MONTH >= rough), None)
    if months is None:
        return [], "%Y"
    return _of_months(low, high, months), _form(months * _MONTH)


def _of_months(low: float, high: float, months: int) -> list[float]:
    first = np.datetime64(int(low), "s").astype("datetime64[M]").astype(int) // months * months
    last = np.datetime64(int(high), "s").astype("datetime64[M]").astype(int)
    moments = np.arange(first, last + 1, months).astype("datetime64[M]").astype("datetime64[s]").astype(np.int64)
    return [float(m) for m in moments if low <= m <= high]


def _form(step: float) -> str:
    return next((form for limit, form in _FORMS if step < limit), "%Y")


def date_text(moment: float, form: str = "") -> str:
    """Return a moment in seconds since 1970 as text: in a form, else whole and as short as it can be."""
    when = datetime.fromtimestamp(0, UTC) + np.timedelta64(round(moment * 1e3), "ms").astype(object)
    if form:
        text = when.strftime(form)
        return text[:-3] if form.endswith("%f") else text
    text = when.strftime("%Y-%m-%d %H:%M:%S") + (f".{when.microsecond // 1000:03}" if when.microsecond else "")
    return text.removesuffix(" 00:00:00").removesuffix(":00") if text.endswith("00:00:00") else text
