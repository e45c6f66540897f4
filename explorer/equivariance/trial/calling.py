"""Find by trial which modules are only called in another order: frames that are averaged, both ways of a series.

A network that applies one module to several views of its input, and whose symmetry exchanges these views, keeps its law
whatever the module does. After an element such a module is given the tensors that it was given before, by other calls,
and answers them as before: a fault that shows later was not made in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch
from torch import Tensor

from explorer.declare.elements import NoAction
from explorer.network.tracing.layers import Trace

_SAME = 1e6  # roundings by which a tensor may differ from the one that it is
_WIDEST = 4096  # slices that are looked for among others

Given = Mapping[str, tuple[Tensor, ...]]


def calling(trace: Trace, runs: Sequence[tuple[Given, Given]]) -> list[str]:
    """Return the outermost modules whose calls exchange what they are given, under each element.

    Args:
        runs: what each call is given, before and after an element.
    """
    calls: dict[str, list[str]] = {}
    for layer in trace.layers:
        if layer.within is None and not layer.part and layer.module:
            calls.setdefault(layer.module, []).append(layer.name)
    found: list[str] = []
    for module in sorted((m for m, of in calls.items() if len(of) > 1), key=len):
        inside = any(module.startswith(f"{outer}.") for outer in found)
        if not inside and runs and all(_exchanged(calls[module], *run) for run in runs):
            found.append(module)
    return found


def caller(trace: Trace, guilty: Sequence[str], alone: Collection[str]) -> str:
    """Return the layer that calls the one module whose calls are guilty, where it breaks its law alone too; else "".

    A module that is to be called with several views of the data, as both strands, may be as it should be, and what is
    around it not.

    Args:
        alone: the layers that break their law on their own transformed inputs.
    """
    modules = {trace[name].module for name in guilty}
    if len(guilty) < 2 or len(modules) > 1:
        return ""
    owner = next(iter(modules)).rpartition(".")[0]
    while owner and owner not in trace.by_name:  # as a list of modules, which nobody calls
        owner = owner.rpartition(".")[0]
    return owner if owner in alone else ""


def _exchanged(calls: Sequence[str], before: Given, after: Given) -> bool:
    """Say whether every call is given what a call was given before, each of them once, and not all by themselves."""
    left = list(calls)
    moved = False
    for name in calls:
        tensors = after.get(name, ())
        own = next((n for n in left if tensors and alike(before.get(n, ()), tensors)), None)
        if own is None:
            return False
        left.remove(own)
        moved = moved or own != name
    return moved


def alike(one: Sequence[Tensor], other: Sequence[Tensor]) -> bool:
    """Say whether tensors are the same but for rounding."""
    if [t.shape for t in one] != [t.shape for t in other]:
        return False
    return all(_close(a, b) for a, b in zip(one, other, strict=True))


def _close(a: Tensor, b: Tensor) -> bool:
    if not a.is_floating_point():
        return torch.equal(a, b)
    size = float(a.abs().max()) if a.numel() else 0.0
    return bool(((a - b).abs() <= _SAME * torch.finfo(a.dtype).eps * size).all())


def in_slices(one: Tensor, other: Tensor) -> tuple[int, Tensor | None]:
    """Return along which axis, and how, slices of one tensor are exchanged in the other; None for the same tensor.

    Raises:
        NoAction: along none.
    """
    if one.shape != other.shape or not one.is_floating_point():
        raise NoAction("other shapes")
    size = float(one.abs().max()) if one.numel() else 0.0
    near = _SAME * torch.finfo(one.dtype).eps * size
    if bool(((one - other).abs() <= near).all()):
        return 0, None
    for axis in range(one.ndim):
        a, b = (v.movedim(axis, 0).reshape(v.shape[axis], -1) for v in (one, other))
        if not 1 < len(a) <= _WIDEST or not a.shape[1]:
            continue
        chance = torch.Generator().manual_seed(0)
        ray = torch.randn(a.shape[1], generator=chance, device="cpu", dtype=torch.float64).to(a)
        came, went = (a @ ray).argsort(), (b @ ray).argsort()
        order = torch.empty_like(came)
        order[went] = came
        if bool(((a[order] - b).abs() <= near).all()):
            return axis, order
    raise NoAction("no slices are exchanged")
