"""Put the mean over positions in place of a table of positions, whether the layer holds it or a module around it."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from explorer.equivariance.symmetric.setting import Experiment, NotApplicable, Setting, mended


def _tables(setting: Setting) -> Iterator[tuple[Tensor, bool]]:
    """Yield the parameters and buffers of the layer, of each module around it and beside it, the nearest first.

    Beside each stands whether it may be longer than there are positions: not what a layer multiplies its input with.
    """
    path = setting.layer.owner.split(".") if setting.layer.owner else []
    for cut in range(len(path), -1, -1):
        module = setting.model.get_submodule(".".join(path[:cut]))
        multiplies = not any(True for _ in module.children()) and any(t.is_floating_point() for t in setting.fed)
        for own in (module._parameters, module._buffers):
            yield from ((t, not multiplies) for t in own.values() if t is not None and _numbers(t))
    for beside in setting.model.get_submodule(".".join(path[:-1])).children() if path else ():
        yield from ((p, False) for p in beside._parameters.values() if p is not None and _numbers(p))
        if isinstance(beside, nn.Embedding):  # which numbers of positions are given to
            yield beside.weight, True


def _numbers(table: Tensor) -> bool:
    return table.is_floating_point() and table.numel() > 1


def places_of(setting: Setting) -> tuple[int, ...]:
    """Return the sizes of the axes of the layer's tensor that its places lie along, found by numbering its entries."""
    field, shape = setting.layer.field, setting.layer.shape
    if field is None or not field.domain.placed:
        return ()
    shape = (1, *shape[1:]) if field.batched else shape
    entries = torch.arange(torch.Size(shape).numel(), device="cpu").reshape(shape)
    first = field.domain.by_channel(entries)[0, 0]
    return tuple(
        size for size, at in zip(shape, torch.unravel_index(first, shape), strict=True) if len(at.unique()) > 1
    )


def _ways(table: Tensor, sizes: tuple[int, ...], longer: bool) -> Iterator[tuple[int, ...]]:
    """Yield the axes of a table that may count positions."""
    alike = tuple(k for k, n in enumerate(table.shape) if n in sizes)
    if alike:
        yield alike
    least = min(sizes)
    # positions in a row, with room for more of them or for what stands before them
    yield from ((k,) for k, n in enumerate(table.shape) if longer and n >= least > 1 and (k,) != alike)


def mean_over_positions(setting: Setting) -> None:
    """Find the table by trying, and put its mean in its place."""
    sizes, before = places_of(setting), setting.error()
    if not sizes:
        raise NotApplicable("it has no positions")
    for table, longer in _tables(setting):
        kept = table.detach().clone()
        for axes in _ways(table, sizes, longer):
            with torch.no_grad():
                table.copy_(kept.mean(axes, keepdim=True).expand_as(kept))
            if not torch.equal(table, kept) and mended(before, setting.error(), setting.tolerance):
                return
            with torch.no_grad():
                table.copy_(kept)
    raise NotApplicable("no table of positions beside it makes the fault")


EXPERIMENT = Experiment(
    "positions",
    "Mean over its table of positions",
    "its table of positions replaced by the mean",
    mean_over_positions,
    20,
    around=True,
)
