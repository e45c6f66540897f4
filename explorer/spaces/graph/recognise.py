"""Tell whether somebody's network takes a graph, and which of its signals."""

from __future__ import annotations

from explorer.network.recognise import Recognised
from explorer.spaces.graph.form import GraphInput

SIGNALS = ("x", "edge_index", "edge_attr", "edge_weight", "position", "batch")


def graph_input(own: Recognised) -> GraphInput | None:
    """Return what a network on graphs takes, or None for one that takes no graph.

    Raises:
        ValueError: INPUT_SIGNALS or INPUT_CHANNELS are none.
    """
    signals = own.said("input_signals")
    if signals is None:
        # the leading ones that a graph has; what follows must have defaults, or the call says what is missing
        known = own.arguments(SIGNALS)
        signals = known if "edge_index" in known else None
    if signals is None:
        return None
    listed = isinstance(signals, list | tuple)
    if not listed or not all(s in SIGNALS for s in signals) or tuple(signals)[:1] != ("x",):
        raise ValueError(f"INPUT_SIGNALS must begin with 'x' and name {', '.join(SIGNALS)}")
    channels = own.channels()
    return GraphInput(channels=own.first_width() if channels is None else channels, signals=tuple(signals))
