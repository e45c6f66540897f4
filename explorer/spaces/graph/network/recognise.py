"""Tell whether somebody's network takes a graph, and which of its signals."""

from __future__ import annotations

from explorer.network.input.recognise import Recognised
from explorer.spaces.graph.network.attempts import taken_widths
from explorer.spaces.graph.network.form import SIGNALS, GraphInput


def graph_input(own: Recognised) -> GraphInput | None:
    """Return what a network on graphs takes, or None for one that takes no graph.

    Raises:
        ValueError: INPUT_SIGNALS or INPUT_CHANNELS are none.
    """
    signals = own.said("input_signals")
    if signals is None:
        # what a call must give, where a graph has all of it
        known = own.arguments(SIGNALS)
        signals = known if "edge_index" in known else None
        _require_known(own, known)
    if signals is None:
        return None
    listed = isinstance(signals, list | tuple)
    if not listed or not all(s in SIGNALS for s in signals) or tuple(signals)[:1] != ("x",):
        raise ValueError(f"INPUT_SIGNALS must begin with 'x' and name {', '.join(SIGNALS)}")
    if by_name := own.by_keyword():
        raise ValueError(
            f"its forward takes {by_name[0]} by keyword alone, and a graph network is called with its arguments in "
            "their order; take the * out of its forward"
        )
    channels = own.channels()
    if channels is not None:
        return GraphInput(channels=channels, signals=tuple(signals))
    first = own.first_width()
    if (found := taken_widths(own.network(), signals, first)) is None:
        return GraphInput(channels=first, signals=tuple(signals))
    if found[0] != first:
        own.why["channels"] = f"it runs with {found[0]}"
    edges = found[1] if "edge_attr" in signals and found[1] > 1 else None
    return GraphInput(channels=found[0], signals=tuple(signals), edge_channels=edges)


def _require_known(own: Recognised, known: tuple[str, ...]) -> None:
    """Raise ValueError where a network takes the edges of a graph, and something that no graph has by that name."""
    needed = own.required()
    if "edge_index" in needed and needed != known:
        other = next(name for name in needed if name not in SIGNALS or name not in known)
        raise ValueError(
            f"its forward takes ({', '.join(needed)}), and a graph has no {other!r} of that place; say in the file "
            f"which of {', '.join(SIGNALS)} it is called with, in order, INPUT_SIGNALS = ('x', 'edge_index', ...), or "
            "call check_equivariance with the tensors themselves"
        )
