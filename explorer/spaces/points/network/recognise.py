"""Tell whether somebody's network takes points in space, and which of their signals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torch import nn

from explorer.declare.telling.values import told_value
from explorer.network.input.call_forms import of_one, way_of, ways
from explorer.network.input.recognise import Recognised
from explorer.network.input.ways import Way
from explorer.spaces.graph.network.attempts import (
    MANY,
    NODES,
    keeps_apart,
    known_numbers,
    least_nodes,
    other_axes,
    readings,
)
from explorer.spaces.graph.network.recognise import read_off
from explorer.spaces.points.network.form import AXES, EDGES, FEATURES, SIGNALS, PointsInput

OF_POINTS = ("velocity", "charge", "number")  # with places: what no graph and no mesh has by that name


def points_input(own: Recognised) -> PointsInput | None:
    """Return what a network on points takes, or None for one that asks for nothing that only points have.

    A file says INPUT_KIND = "points" where the names of the arguments do not tell.

    Raises:
        ValueError: INPUT_SIGNALS, INPUT_CHANNELS, INPUT_FEATURES, INPUT_EDGES or INPUT_REACH are none.
    """
    signals = own.said("input_signals")
    if signals is None:
        found = _tried(own, ways(own, SIGNALS)) or _tried(own, of_one(own, read_off(own, SIGNALS), SIGNALS))
        if found is not None:
            return found
        signals = own.arguments(SIGNALS)
    if not isinstance(signals, list | tuple):
        return None
    meant = own.said("input_kind") == "points"
    if not meant and not ("position" in signals and any(s in OF_POINTS for s in signals)):
        return None
    if not signals or not all(s in SIGNALS for s in signals) or tuple(signals) == ("edge_index",):
        raise ValueError(f"INPUT_SIGNALS must name one or more of {', '.join(SIGNALS)}")
    return _sized(own, way_of(own, tuple(signals)))


def _tried(own: Recognised, ways: Iterable[Way]) -> PointsInput | None:
    """Return what a network takes in the first way to call it with places that runs; None where none does."""
    for way in (way for way in ways if "position" in way.signals):
        said = own.channels()
        form = taken(own.network(), way, said or own.first_width())
        if form is not None and (said is None or form.channels in (said, None)):
            return _said(own, form)
    return None


def taken(network: nn.Module, way: Way, channels: int | None = None) -> PointsInput | None:
    """Return what a network takes that runs when it is called this way; None for one that does not."""
    for nodes in (NODES, MANY):
        for axes, wide in readings(network, way, channels, AXES if _laid_out(way) else AXES[:1], nodes):
            return PointsInput(
                wide[0] if "x" in way.signals else None, way.signals, axes=axes, given=way.given, names=way.names,
                known=known_numbers(network, way, axes, wide),
                least=least_nodes(network, way, axes, wide) if nodes == MANY else None,
            )  # fmt: skip
    return None


def _laid_out(way: Way) -> bool:
    """Say whether what a network is given may have a batch axis."""
    return not set(way.signals) & {"edge_index", "edge_attr", "batch", "frames"}


def other_readings(network: nn.Module, form: PointsInput) -> Iterator[PointsInput]:
    """Yield a form with each other layout that a network runs with as well."""
    for axes in other_axes(network, form.way, form.axes, (form.channels or 1, 1), AXES):
        yield replace(form, axes=axes)


def attempts(network: nn.Module) -> Iterator[PointsInput]:
    """Yield what a network takes of points that is given one tensor: where they are."""
    way = Way(("position",))
    for nodes in (NODES, MANY):
        found = readings(network, way, None, AXES, nodes)
        for axes, widths in found:
            # an image of one channel runs through a convolution without a batch axis too, and is no cloud
            if not axes.startswith("1") or keeps_apart(network, way, axes, widths, nodes):
                least = least_nodes(network, way, axes, widths) if nodes == MANY else None
                yield PointsInput(None, way.signals, axes=axes, least=least)
        if found:
            return


def _sized(own: Recognised, way: Way) -> PointsInput:
    channels = own.channels()
    width = own.first_width() if channels is None and "x" in way.signals else channels
    own.unproven.append("points")
    own.doubts.append("it runs with no signals of points that were tried; --input says what it takes")
    return _said(own, PointsInput(channels=width, signals=way.signals, given=way.given, names=way.names))


def _said(own: Recognised, form: PointsInput) -> PointsInput:
    """Return a form with what the file says of it besides.

    Raises:
        ValueError: it says what cannot be.
    """
    said = {name: own.said(f"input_{name}") for name in ("features", "edges", "reach")}
    for name, known in (("features", FEATURES), ("edges", EDGES)):
        if said[name] is not None and said[name] not in known:
            raise ValueError(f"INPUT_{name.upper()} must be one of {', '.join(known)}, not {told_value(said[name])}")
    reach = said["reach"]
    if reach is not None and not (isinstance(reach, int | float) and reach > 0):
        raise ValueError(f"INPUT_REACH must be a number above 0, not {told_value(reach)}")
    return replace(form, **{name: value for name, value in said.items() if value is not None})
