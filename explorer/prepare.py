"""What one epoch (model, sample, device, precision) needs once: the network, its trace, and every layer of F(x)."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from explorer.capture import capture
from explorer.card import Card
from explorer.equivariance.check import noise
from explorer.fields import FieldType
from explorer.samples import Sample
from explorer.trace import OUTPUT, Layer, LayerError, Trace, evaluating, trace

DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(slots=True)
class Prepared:
    """F(x) with all its layers, on the device; built once per epoch, read by every request and orbit of it.

    `other` holds the layers of another input (a rolled and mirrored one for single samples): the "chance" baseline.
    """

    card: Card
    model: nn.Module
    trace: Trace
    x: Tensor  # (1, channels, height, width)
    x_field: FieldType
    values: Mapping[str, Tensor]
    fed: Mapping[str, tuple[Tensor, ...]]
    forward_seconds: float
    watched: tuple[Layer, ...]
    chance: Mapping[str, Tensor] = field(default_factory=dict)
    float_floor: dict[str, float] = field(default_factory=dict)

    @property
    def output(self) -> Tensor:
        return self.values[self.trace.output]

    def layer(self, name: str, fraction: float | None = None) -> Layer:
        """Return the layer called `name`, else the one at relative depth `fraction`, else the first worth seeing."""
        if name in self.trace.by_name and self.trace[name] in self.watched:
            return self.trace[name]
        if fraction is not None:
            return self.watched[round(fraction * (len(self.watched) - 1))]
        first = (w for w in self.watched if w.leaf and w.params and w.field and len(w.shape) == 4)
        return next(first, self.watched[0])


def to_tensor(sample: Sample, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return the sample's first signal with a batch axis; raise ValueError on NaN and infinities."""
    values = sample.x.values
    if not np.isfinite(values).all():
        bad = int((~np.isfinite(values)).sum())
        raise ValueError(f"{sample.title or sample.name} holds {bad} NaN or infinite value(s); nothing can be measured on it")
    return torch.from_numpy(np.array(values))[None].to(device=device, dtype=dtype)


def prepare(
    card: Card,
    model: nn.Module,
    sample: Sample,
    *,
    device: torch.device,
    dtype: torch.dtype,
    overrides: Mapping[str, str] | None = None,
    declared: bool = True,
    seed: int = 0,
    cancelled: Callable[[], bool] | None = None,
) -> Prepared:
    """Run F(x) once with everything captured.

    Raises:
        LayerError: a layer raised, or gave NaN; ValueError: unusable data.
    """
    x = to_tensor(sample, device, dtype)
    model = model.to(device=device, dtype=dtype).eval()
    try:
        traced = trace(model, x, sample.x.field, overrides=overrides, declared=declared)
    except KeyError as error:
        raise ValueError(f"{error.args[0]}; the layers of {card.name} are listed in the Layers panel") from None
    names = [layer.name for layer in traced.layers]
    with torch.no_grad(), evaluating(model):
        values, fed = capture(model, x, names, clone=traced.clones, inputs=True, cancelled=cancelled)
        for name in names:
            if not torch.isfinite(values[name]).all():
                raise LayerError(name, f"layer {name} of {card.name} gave NaN or infinite values on this input")
        start = time.perf_counter()
        model(x)
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        other = x.flip(-1).roll((x.shape[-2] // 3, x.shape[-1] // 3), (-2, -1))
        if torch.allclose(other, x):
            other = noise(tuple(x.shape), seed, dtype).to(device)
        chance, _ = capture(model, other, names, clone=traced.clones, cancelled=cancelled)
    watched = tuple(layer for layer in traced.layers if layer.field is not None or layer.name == traced.output)
    watched = watched or traced.layers
    prepared = Prepared(card, model, traced, x, sample.x.field, values, fed, seconds, watched, chance)
    prepared.float_floor = {w.name: torch.finfo(dtype).eps * math.sqrt(max(w.rank, 1)) for w in traced.layers}
    if dtype == torch.float32 and seconds < 0.05:
        # rounding is measured, not guessed, where a second run in double precision costs nothing noticeable
        with torch.no_grad():
            exact, _ = capture(copy.deepcopy(model).double(), x.double(), names, clone=True)
        for name in names:
            size = float(exact[name].norm())
            if size:
                prepared.float_floor[name] = float((values[name].double() - exact[name]).norm()) / size
    return prepared


__all__ = ["DTYPES", "OUTPUT", "Prepared", "prepare", "to_tensor"]
