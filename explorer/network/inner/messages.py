"""Read messages and attention on edges off the convolutions of torch_geometric, which keep hooks of their own for it.

A convolution may change the list of edges before it sends anything: it drops loops, and adds one for each node. The
values are put back on the edges that the network was given, and those of added loops become a field on nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.inner.value import ATTENTION, MESSAGES, Emit, Inner

_SUMS = 1e-3  # how far the weights that a node receives may be from summing to 1
LOOPS = "_of_loops"


def sends(module: nn.Module) -> bool:
    """Say whether a module is a convolution of torch_geometric."""
    return hasattr(module, "_message_forward_hooks") and hasattr(module, "propagate")


@contextmanager
def heard(module: Any, name: str, listed: Callable[[], Tensor | None], emit: Emit) -> Iterator[None]:
    """Emit what a convolution sends while the block lasts.

    Args:
        listed: the edges that the module was called with, (2, edges), where it was.
    """
    now: list[Tensor] = []

    def enter(_: nn.Module, given: tuple[Any, ...]) -> None:
        now[:] = [given[0]] if isinstance(given[0], Tensor) and not given[0].is_sparse else []

    def message(_: nn.Module, __: Any, out: Any) -> Tensor | None:
        alpha: Any = getattr(module, "_alpha", None)
        other = None
        if isinstance(alpha, Tensor) and isinstance(out, Tensor) and len(alpha) == len(out):
            other = give("attention", ATTENTION, alpha)
        if not isinstance(out, Tensor):
            return None
        if other is not None:  # a message has been multiplied with it already
            ratio = torch.where(alpha == 0, 0.0, other / alpha)
            out = out * ratio.reshape(*ratio.shape, *(1 for _ in range(out.ndim - ratio.ndim)))
        changed = give("message", MESSAGES, out)
        return out if changed is None and other is not None else changed

    def updated(_: nn.Module, given: tuple[Any, ...], out: Any) -> Tensor | None:
        enter(_, given)
        if not isinstance(out, Tensor):
            return None
        shares = bool(now) and _sums_to_one(out, now[0], module.flow)
        return give(*(("attention", ATTENTION) if shares else ("edge_update", MESSAGES)), out)

    def give(what: str, kind: str, value: Tensor) -> Tensor | None:
        edges = listed()
        places = _places(edges, now[0]) if edges is not None and now else None
        if places is None or not len(value):
            return emit(Inner(name, what, kind, lambda: value, on=edges if edges is not None and not now else None))
        own, loops = places
        # what is listed is named by the index of its edge; all of it as it is where nothing was changed
        listed_ones = emit(Inner(name, what, kind, lambda: value if own is None else value[own], on=edges))
        added = emit(Inner(name, what + LOOPS, kind, lambda: value[loops])) if loops is not None else None
        whole = value
        for at, made in ((own, listed_ones), (loops, added)):
            if made is not None:
                whole = made if at is None else whole.index_put((at,), made)
        return None if whole is value else whole

    fused = getattr(module, "fuse", False)
    handles = [
        module.register_propagate_forward_pre_hook(enter),
        module.register_message_forward_hook(message),
        module.register_edge_update_forward_hook(updated),
    ]
    try:
        if fused:  # the fused way sends no messages; the answer is the same but for rounding
            module.fuse = False
        yield
    finally:
        if fused:
            module.fuse = True
        for handle in handles:
            handle.remove()


def _sums_to_one(values: Tensor, edges: Tensor, flow: str) -> bool:
    to = edges[1 if flow == "source_to_target" else 0]
    if len(values) != len(to) or not values.is_floating_point() or not len(values) or values.ndim > 2:
        return False
    flat = values.detach().reshape(len(values), -1)
    sums = flat.new_zeros(int(to.max()) + 1, flat.shape[1]).index_add_(0, to, flat)[to.unique()]
    return bool((sums - 1).abs().max() < _SUMS) and bool((flat >= 0).all())


def _places(listed: Tensor, sent: Tensor) -> tuple[Tensor | None, Tensor | None] | None:
    """Return (where each listed edge is among those sent, where the loop of each node is); None where one is missing.

    The first is None where they are the same, the second where no loops were added.
    """
    if listed.shape == sent.shape and torch.equal(listed, sent):
        return None, None
    nodes = int(max(listed.max() if listed.numel() else 0, sent.max() if sent.numel() else 0)) + 1
    wanted, have = (_numbered(e, nodes) for e in (listed, sent))
    order = have.argsort()
    at = torch.searchsorted(have[order], wanted).clamp_max(max(0, len(have) - 1))
    own = order[at]
    if not torch.equal(have[own], wanted):
        return None
    rest = torch.ones(len(have), dtype=torch.bool, device=have.device)
    rest[own] = False
    loops = sent[0] == sent[1]
    added = loops.nonzero()[:, 0]
    if not bool(rest.any()):
        return own, None
    if not torch.equal(sent[0, added].sort().values, torch.arange(nodes, device=have.device)):
        return own, None
    return own, added[sent[0, added].argsort()]


def _numbered(edges: Tensor, nodes: int) -> Tensor:
    """Return a number for each edge; the second of two alike has another one."""
    key = edges[0] * nodes + edges[1]
    order = key.argsort(stable=True)
    ranked = key[order]
    first = torch.searchsorted(ranked, ranked)  # where the run of those alike begins
    seen = torch.empty_like(key)
    seen[order] = torch.arange(len(key), device=key.device) - first
    return key + seen * nodes * nodes
