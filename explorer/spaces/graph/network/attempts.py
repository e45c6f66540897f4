"""Find by trial what a network on graphs or sets takes: the widths of x and of edge_attr, a batch axis of one."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from explorer.network.input.ways import Way
from explorer.network.tracing.trials import answer_of
from explorer.spaces.graph.network.form import AXES, GraphInput

NODES = 7
WIDEST = 16  # of widths that no layer tells

Widths = tuple[int, int]  # of x and of edge_attr


def widths(network: nn.Module) -> list[int]:
    """Return widths to try: those that layers take, in their order, then small numbers."""
    told = (getattr(m, name, None) for m in network.modules() for name in ("in_channels", "in_features"))
    return list(dict.fromkeys([*(w for w in told if isinstance(w, int) and w > 0), *range(1, WIDEST + 1)]))


def taken_widths(network: nn.Module, way: Way, channels: int | None = None, axes: str = AXES[0]) -> Widths | None:
    """Return the widths of x and of edge_attr that a network runs with, called this way; None where with none.

    Args:
        channels: of x, where something tells it; it is tried first.
    """
    wide = widths(network)
    first = dict.fromkeys([channels, *wide] if channels else wide) if "x" in way.signals else [1]
    call = way.call(way.signals)
    for x in first:
        for edge in [1, *wide] if "edge_attr" in way.signals else [1]:
            made = trial_graph(int(x), edge)
            given = [laid(made[s], axes, s) for s in way.signals]
            if answer_of(network, given, call) is not None:
                return int(x), edge
    return None


def set_inputs(network: nn.Module) -> Iterator[GraphInput]:
    """Yield what a network takes of a set: with the axes on which an element hears of another, the others after it."""
    for width in widths(network):
        x = torch.randn(NODES, width, generator=torch.Generator().manual_seed(0))
        found = [(axes, heard) for axes in AXES[:3] if (heard := _hears(network, x, axes)) is not None]
        for axes, _ in sorted(found, key=lambda pair: not pair[1]):
            yield GraphInput(channels=width, signals=("x",), axes=axes)
        if found:
            return
    for axes in ("N", "1N"):
        form = GraphInput(signals=("number",), axes=axes)
        if taken_widths(network, form.way, axes=axes) is not None:
            yield form


def laid(values: Tensor, axes: str, signal: str = "x") -> Tensor:
    """Return values with a row for each node on the axes that a network asks for."""
    if axes == AXES[0] or signal not in ("x", "adjacency", "position", "number"):
        return values
    if signal != "x":
        return values[None] if axes.startswith("1") else values
    match axes:
        case "1NC":
            return values[None]
        case "1CN":
            return values.t()[None].contiguous()
        case "1N":
            return values[:, 0][None]
        case _:
            return values[:, 0]


def _hears(network: nn.Module, x: Tensor, axes: str) -> bool | None:
    """Return whether an element changes what is said of others, or of all; None where the network does not run."""
    other = x.clone()
    other[0] += 1.0
    one, two = (answer_of(network, (laid(v, axes),)) for v in (x, other))
    if one is None or two is None or one.shape != two.shape:
        return None
    changed = one != two
    if NODES not in one.shape:
        return bool(changed.any())
    by_node = changed.movedim(one.shape.index(NODES), 0).flatten(1).any(1)
    return bool(by_node[1:].any())


def trial_graph(x: int, edge: int) -> dict[str, Tensor]:
    """Return a small graph in space with everything that a graph or points may have, so wide."""
    generator = torch.Generator().manual_seed(0)
    at = torch.arange(NODES)
    index = torch.stack([torch.cat([at, (at + 1) % NODES]), torch.cat([(at + 1) % NODES, at])])
    adjacency = torch.zeros(NODES, NODES)
    adjacency[index[0], index[1]] = 1.0
    return {
        "x": torch.randn(NODES, x, generator=generator),
        "edge_index": index,
        "edge_attr": torch.randn(2 * NODES, edge, generator=generator),
        "edge_weight": torch.rand(2 * NODES, generator=generator),
        "position": torch.randn(NODES, 3, generator=generator),
        "batch": torch.zeros(NODES, dtype=torch.int64),
        "adjacency": adjacency,
        "number": torch.tensor([6, 1, 7, 1, 8, 1, 1]),
        "velocity": torch.randn(NODES, 3, generator=generator),
        "charge": torch.randn(NODES, 1, generator=generator),
        "frames": torch.randn(NODES, 72, generator=generator),
    }
