"""Tell whether somebody's network takes points in space, and which of their signals."""

from __future__ import annotations

from explorer.network.input.recognise import Recognised
from explorer.spaces.points.network.form import EDGES, FEATURES, SIGNALS, PointsInput

OF_POINTS = ("velocity", "charge", "number")  # with places: what no graph and no mesh has by that name


def points_input(own: Recognised) -> PointsInput | None:
    """Return what a network on points takes, or None for one that asks for nothing that only points have.

    A file says INPUT_KIND = "points" where the names of the arguments do not tell.

    Raises:
        ValueError: INPUT_SIGNALS, INPUT_CHANNELS, INPUT_FEATURES, INPUT_EDGES or INPUT_REACH are none.
    """
    signals = own.said("input_signals")
    signals = own.arguments(SIGNALS) if signals is None else signals
    if not isinstance(signals, list | tuple):
        return None
    meant = own.said("input_kind") == "points"
    if not meant and not ("position" in signals and any(s in OF_POINTS for s in signals)):
        return None
    if not signals or not all(s in SIGNALS for s in signals):
        raise ValueError(f"INPUT_SIGNALS must name one or more of {', '.join(SIGNALS)}")
    said = {name: own.said(f"input_{name}") for name in ("features", "edges", "reach")}
    for name, known in (("features", FEATURES), ("edges", EDGES)):
        if said[name] is not None and said[name] not in known:
            raise ValueError(f"INPUT_{name.upper()} must be one of {', '.join(known)}, not {said[name]!r:.60}")
    reach = said["reach"]
    if reach is not None and not (isinstance(reach, int | float) and reach > 0):
        raise ValueError(f"INPUT_REACH must be a number above 0, not {reach!r:.60}")
    channels = own.channels()
    width = own.first_width() if channels is None and "x" in signals else channels
    given = {name: value for name, value in said.items() if value is not None}
    return PointsInput(channels=width, signals=tuple(signals), **given)
