"""Tell by trial on which axes the places of an image lie, as on the last two of capsules, or of a map of one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from explorer.network.space import Trial
from explorer.network.tracing.layers import Layer, LayerError
from explorer.spaces.grid.stacks import Stack

LEAST = 3  # axes: that of the batch and those of the places


def stacks(
    run: Trial, x: Tensor, layers: Sequence[Layer], spacing: Callable[[Sequence[int]], float | None]
) -> dict[tuple[int, ...], Stack]:
    """Return {shape: where the places lie} of layers with two neighbouring axes that grow with those of the image.

    Shapes of which two layers have them elsewhere are left out.

    Args:
        spacing: how many pixels lie between two of so many places, None where nothing tells it.
    """
    x, count = x[:1], len(x)
    many = [n for n in layers if len(n.shape) >= LEAST and n.shape[0] == count]
    if not many:
        return {}
    names = [layer.name for layer in many]
    taller, wider = on_larger(run, x, names, 2, 1), on_larger(run, x, names, 1, 2)
    if taller is None or wider is None:
        return {}
    found: dict[tuple[int, ...], Stack] = {}
    unlike: set[tuple[int, ...]] = set()
    for layer in many:
        rows, columns = _grown(layer, taller), _grown(layer, wider)
        if len(rows) != 1 or columns != [rows[0] + 1]:
            continue
        if (step := spacing(layer.shape[rows[0] : rows[0] + 2])) is not None:
            laid = Stack(rows[0] - 1, len(layer.shape) - rows[0] - 2, step)
            if found.setdefault(layer.shape, laid) != laid:
                unlike.add(layer.shape)  # of two layers of one shape each may have its places elsewhere
    return {shape: laid for shape, laid in found.items() if shape not in unlike}


def on_larger(
    run: Trial, x: Tensor, names: Sequence[str], rows: int = 2, columns: int = 2
) -> Mapping[str, Tensor] | None:
    """Return the values of layers for images so many times as large; None where a network takes this size alone."""
    try:
        return run(x.repeat(1, 1, rows, columns), names)
    except torch.OutOfMemoryError:
        raise
    except LayerError:
        return None


def of_frames(run: Trial, x: Tensor, layers: Sequence[Layer]) -> frozenset[int]:
    """Return how many samples layers have whose samples are whole images, several of each input, as frames of a video.

    Of a larger image they are as many, and larger; parts of an image are more, and as large.
    """
    many = [n for n in layers if len(n.shape) > LEAST and n.shape[0] > len(x) and not n.shape[0] % len(x)]
    if not many:
        return frozenset()
    if (larger := on_larger(run, x, [layer.name for layer in many])) is None:
        return frozenset()
    shapes = {layer: tuple(larger[layer.name].shape) for layer in many}
    kept = [n for n, s in shapes.items() if s[:2] == n.shape[:2] and all(a > b for a, b in zip(s[-2:], n.shape[-2:]))]
    return frozenset(layer.shape[0] for layer in kept)


def _grown(layer: Layer, larger: Mapping[str, Tensor]) -> list[int]:
    """Return the axes along which a layer gives more for a larger image."""
    shape = (layer.shape[0], *larger[layer.name].shape[1:])
    if len(shape) != len(layer.shape):
        return []
    return [k for k, (now, size) in enumerate(zip(shape, layer.shape, strict=True)) if now > size]
