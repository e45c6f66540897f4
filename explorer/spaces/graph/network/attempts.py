"""Find by trial what a network on graphs or sets takes: the widths of x and of edge_attr, a batch axis of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from explorer.network.tracing.trials import answer_of
from explorer.spaces.graph.network.form import AXES, GraphInput

NODES = 7
WIDEST = 16  # of widths that no layer tells


def widths(network: nn.Module) -> list[int]:
    """Return widths to try: those that layers take, in their order, then small numbers."""
    told = (getattr(m, name, None) for m in network.modules() for name in ("in_channels", "in_features"))
    return list(dict.fromkeys([*(w for w in told if isinstance(w, int) and w > 0), *range(1, WIDEST + 1)]))


def taken_widths(network: nn.Module, signals: Sequence[str], channels: int | None) -> tuple[int, int] | None:
    """Return the widths of x and of edge_attr that a network runs with; None where it runs with none.

    Args:
        channels: of x, where something tells it; it is tried first.
    """
    wide = widths(network)
    for x in dict.fromkeys([channels, *wide] if channels else wide):
        for edge in [1, *wide] if "edge_attr" in signals else [1]:
            if answer_of(network, _graph(signals, int(x), edge)) is not None:
                return int(x), edge
    return None


def set_inputs(network: nn.Module) -> Iterator[GraphInput]:
    """Yield what a network takes of a set: with the axes on which an element hears of another, the others after it."""
    for width in widths(network):
        x = torch.randn(NODES, width, generator=torch.Generator().manual_seed(0))
        found = [(axes, heard) for axes in AXES if (heard := _hears(network, x, axes)) is not None]
        for axes, _ in sorted(found, key=lambda pair: not pair[1]):
            yield GraphInput(channels=width, signals=("x",), axes=axes)
        if found:
            return


def laid(x: Tensor, axes: str) -> Tensor:
    """Return x of (nodes, channels) on the axes that a network asks for."""
    return x if axes == "NC" else x[None] if axes == "1NC" else x.t()[None].contiguous()


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


def _graph(signals: Sequence[str], x: int, edge: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    at = torch.arange(NODES)
    index = torch.stack([torch.cat([at, (at + 1) % NODES]), torch.cat([(at + 1) % NODES, at])])
    made = {
        "x": torch.randn(NODES, x, generator=generator),
        "edge_index": index,
        "edge_attr": torch.randn(2 * NODES, edge, generator=generator),
        "edge_weight": torch.rand(2 * NODES, generator=generator),
        "position": torch.randn(NODES, 3, generator=generator),
        "batch": torch.zeros(NODES, dtype=torch.int64),
    }
    return tuple(made[name] for name in signals)
