"""A step of a sequence put into words: every value at it, and what the timeline shows as a caption."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.square.frame import Frame
from widgets.base.text.words import figure, subject
from widgets.spaces.sequence.charts.gradient_chart import rate_of
from widgets.spaces.sequence.timeline.axes.dates import date_text, seconds_of
from widgets.spaces.sequence.timeline.rows import Row, Scene

FEW = 4  # values that are all written out


def step_text(scene: Scene, side: str, step: int, under: Row | None = None, unit: int | None = None) -> str:
    """Return every row's values at a step; those of the row under the mouse come first."""
    own = step if side == "before" else scene.back(step)
    words = [f"step {step}" if side == "before" else f"step {step} of ρ(g)x"]
    names = scene.names if side == "before" else scene.moved_names
    if step < len(names) and names[step]:
        words[0] += f" “{names[step]}”"
    tint = scene.tint.get("before" if side == "before" else "after")
    if tint is not None and step < len(tint):
        words.append(f"{scene.tint_name} {figure(float(tint[step]))}")
    if scene.times is not None and own is not None and own < len(scene.times):
        dated = np.issubdtype(scene.times.dtype, np.datetime64)
        when = scene.times[own]
        words[0] += f" at {date_text(float(seconds_of(when))) if dated else format(when, '.6g')}"
    if under is not None and unit is not None and under.pyramid is not None:
        at = scene.at(under, step, side)
        if at is not None and 0 <= at < under.pyramid.steps:
            words.append(f"{under.title} unit {unit} = {figure(float(under.pyramid.values[at, unit]))}")
    if scene.order.size and scene.after and any(r.side == "after" for r in scene.rows):
        words.append(_matched(scene, side, step))
    for row in scene.rows:
        if (row.side == "before") != (side == "before"):
            continue
        if step < len(row.written):
            words.append(f"{row.name} “{row.written[step]}”")
        if row.pyramid is None or row.kind == "tokens":
            continue
        at = scene.at(row, step, side)
        if at is None or not 0 <= at < row.pyramid.steps:
            continue
        words.append(f"{row.title} {_values(row.pyramid.values[at], row.units)}")
    if scene.known is not None and side == "after" and step < len(scene.known) and not scene.known[step]:
        words.append("not compared")
    if scene.gradient is not None and scene.selected is not None and own is not None:
        fit = rate_of(np.asarray(scene.gradient), scene.selected)
        if fit is not None:
            words.append(f"the gradient of step {scene.selected} changes by ×{fit.rate:.3g} a step back")
    return " · ".join(words)


def _matched(scene: Scene, side: str, step: int) -> str:
    if side == "before":
        place = scene.there(step)
        return "cut off by ρ(g)" if place is None else f"is at {place:.6g} in ρ(g)x"
    back = scene.back(step)
    return "padding" if back is None else f"was step {back} of x"


def _values(values: np.ndarray, units: Sequence[str] = ()) -> str:
    if units:
        return ", ".join(f"{unit} {figure(float(v))}" for unit, v in zip(units, values, strict=True))
    if len(values) <= FEW:
        return ", ".join(figure(float(v)) for v in values)
    if not np.isfinite(values).any():
        return figure(float("nan"))
    low, mean, high = (figure(float(f(values))) for f in (np.nanmin, np.nanmean, np.nanmax))
    return f"{mean} ({low} to {high})"


def caption_of(frame: Frame, scene: Scene, low: float, high: float, sides: Sequence[str], peak: bool) -> str:
    """Return one line for a figure."""
    rows = [row for row in scene.rows if row.kind in ("line", "heat", "tokens")]
    layers = list(dict.fromkeys(row.title for row in rows if row.layer))
    first, last = max(0, int(low)), min(scene.longest, int(np.ceil(high)))
    words = [f"{subject(frame)}, steps {first} to {max(first, last - 1)} of {scene.longest}"]
    if layers:
        words.append(f"{', '.join(layers)} over time, units from above to below")
    limits = {row.title: row.limit for row in rows if row.kind == "heat" and row.scale != "gate"}
    if limits:
        words.append("colours to " + ", ".join(f"{name} {figure(limit)}" for name, limit in list(limits.items())[:6]))
    if any(row.scale == "gate" for row in rows):
        words.append("gates 0 to 1")
    if "after" in sides and any(row.side == "after" for row in rows):
        words.append("below: the same of ρ(g)x, hatched where it is not compared")
    if scene.selected is not None:
        words.append(f"step {scene.selected} selected")
        if scene.gradient is not None and (fit := rate_of(np.asarray(scene.gradient), scene.selected)) is not None:
            words.append(f"gradient ×{fit.rate:.3g} a step back")
    words.append("each column the extreme of its steps" if peak else "each column the mean of its steps")
    return "; ".join(words) + "."
