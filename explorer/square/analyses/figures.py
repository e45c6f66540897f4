"""Figures of every layer beside its errors: statistics, dead channels, operations, a histogram. They come in idle time.

Nothing of it runs in a frame but the histogram of the selected layer: the values are kept by the epoch anyway.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.elements import transforms
from explorer.declare.telling.summaries import Histogram, LayerFigures, ModuleInfo, Silent, Statistics
from explorer.network.changing.moved_network import following
from explorer.network.describing.modules import flops, module_infos
from explorer.network.describing.statistics import first_strange, moments, silent_channels, statistics
from explorer.network.inner.tiled import Tiled, looked_at
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import modules_of
from explorer.square.analyses.orbits import orbit_elements, orbit_values
from explorer.square.frame import Outline, Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import Cancelled

PART_SECONDS = 0.025  # of work between two points where newer work may take over
BINS = 64
MANY = 1000  # modules that are told before the first frame
MOST_PICKED = 2**16  # values of a layer in its histogram
ELEMENTS = 8  # of the orbit, on which dead channels are looked for
MOST_SECONDS = 20.0  # of forward passes that the orbit of dead channels may take


@kept()
def modules(p: Prepared) -> tuple[ModuleInfo, ...]:
    """Return the tree of modules; the same tuple for the whole epoch."""
    return module_infos(p.model, p.trace.layers, p.values, whole=p.answers, without=p.without)


def outline(card: Callable[[str], Card], network: Callable[[State, str], nn.Module], state: State) -> Outline | None:
    """Return the modules of a network that has not run, where they are many: those of others come with the frame."""
    try:
        title, model = card(state.model).title, network(state, state.model)
    except Cancelled:
        raise
    except (Exception, SystemExit):  # the frame says what is wrong with it, or is that of the file before
        return None
    if len(modules_of(model)) <= MANY:
        return None
    return Outline(state, title, module_infos(model, None))


@kept()
def operations(p: Prepared) -> Mapping[str, int]:
    """Return the floating-point operations of each module; {} of a network that cannot be run under a counter."""
    try:
        return flops(p.model, p.inputs)
    except torch.OutOfMemoryError:
        raise
    except Exception:  # somebody else's forward may not run without a fused kernel
        return {}


@kept()
def of_values(p: Prepared) -> dict[str, Statistics]:
    """Return the statistics of F(x)."""
    return {}  # filled by `refine_figures`, a part at a time


@kept()
def _silent(p: Prepared) -> dict[tuple[str, str], Tensor]:
    return {}


def at_once(p: Prepared, square: Square, answers: Mapping[str, Tensor]) -> Square:
    """Return the square with the figures that are known already, and the histogram of its layer."""
    name = square.layer.name
    known = LayerFigures(
        modules=modules(p), flops=operations.there(p) or {}, values=dict(of_values(p)),
        silent=_dead(p),
        histogram=histogram(name, p.values[name], answers[name]),
    )  # fmt: skip
    return replace(square, figures=known)


def histogram(name: str, value: Tensor, moved: Tensor) -> Histogram | None:
    """Return the histogram of a layer for both sides of its square; None where there is no finite value."""
    picked = [_picked(v) for v in (value, moved)]
    both = np.concatenate(picked)
    if not both.size:
        return None
    low, high = float(both.min()), float(both.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, BINS + 1)
    counts = [np.histogram(v, edges)[0].astype(np.int64) for v in picked]
    for array in (edges, *counts):
        array.flags.writeable = False
    return Histogram(name, edges, counts[0], counts[1], len(picked[0]), value.numel())


def _picked(value: Tensor) -> NDArray[np.float64]:
    flat = looked_at(value).detach().flatten()
    some = flat[:: -(-flat.numel() // MOST_PICKED)] if flat.numel() > MOST_PICKED else flat
    array: NDArray[np.float64] = some.double().cpu().numpy()
    finite: NDArray[np.float64] = array[np.isfinite(array)]
    return finite


def refine_figures(p: Prepared, state: State, square: Square, answers: Mapping[str, Tensor]) -> Iterator[Square]:
    """Yield the square with ever more figures, a few milliseconds of work at a time."""
    figures = square.figures or LayerFigures(modules=modules(p))
    base, names = of_values(p), [w.name for w in p.trace.layers if w.name in p.values]
    moved: dict[str, Statistics] = {}
    for found, values in ((base, p.values), (moved, answers)):
        start, waiting = time.perf_counter(), {}
        for name in names:
            if name in found or name not in values:
                continue
            waiting[name] = moments(values[name])
            if time.perf_counter() - start > PART_SECONDS:
                found |= statistics({n: values[n] for n in waiting}, waiting)
                waiting = {}
                yield square
                start = time.perf_counter()
        found |= statistics({n: values[n] for n in waiting}, waiting)
    figures = replace(figures, values=dict(base), moved=moved, strange=_strange(p, base, moved))
    yield replace(square, figures=figures)
    if not operations.made(p):
        figures = replace(figures, flops=operations(p))
        yield replace(square, figures=figures)
    for _ in _look_for_dead(p, state):
        yield replace(square, figures=figures)
    figures = replace(figures, silent=_dead(p))
    yield replace(square, figures=figures)


def _strange(p: Prepared, base: Mapping[str, Statistics], moved: Mapping[str, Statistics]) -> str:
    """Return the sentence about the first layer that has NaN or infinite values."""
    for found, fed, what in ((base, p.fed, "F(x)"), (moved, {}, "F(ρ(g) x)")):
        ordered = {w.name: found[w.name] for w in p.trace.layers if w.name in found}
        if clause := first_strange(ordered, fed):
            return f"{what} has {clause}."
    return ""


def _look_for_dead(p: Prepared, state: State) -> Iterator[None]:
    """Note the channels that are zero everywhere on x, and along the orbit while any are left."""
    store, orbit = _silent(p), state.orbit
    if ("", orbit) in store:
        return
    masks: dict[str, Tensor] = {}
    for w in p.trace.layers:
        if w.field is None or w.name not in p.innermost or isinstance(p.values[w.name], Tiled):
            continue
        mask = silent_channels(w.field.domain.by_channel(p.values[w.name]))
        if mask.numel() > 1 and bool(mask.any()):
            masks[w.name] = mask
    yield
    tried = 1
    transform = transforms().get(orbit)
    few = min(ELEMENTS, int(MOST_SECONDS / max(p.forward_seconds, 1e-6)))
    if masks and few and transform is not None and transform.orbit is not None and p.card.domain in transform.domains:
        values = orbit_values(transform, p.x.shape[-1] if p.inputs.batched else p.inputs.places, few)[:few]
        for word in orbit_elements(state, transform, values):
            try:
                with p.unrecorded(), evaluating(p.model), following(p.model):
                    found = p.run(p.inputs.moved(word.on(p.inputs)))
            except LayerError:
                continue
            tried += 1
            for name in list(masks):
                field = p.trace[name].field
                assert field is not None
                here = silent_channels(field.domain.by_channel(found[name])) if name in found else masks[name]
                masks[name] = masks[name] & here if here.shape == masks[name].shape else masks[name]
            del found
            yield
    for name, mask in masks.items():
        if bool(mask.any()):
            store[name, orbit] = mask.cpu()
    store["", orbit] = torch.tensor(tried, device="cpu")


def _dead(p: Prepared) -> dict[str, Silent]:
    """Return the dead channels that were found, along whichever orbit was looked at last."""
    store = _silent(p)
    found: dict[str, Silent] = {}
    for (name, orbit), mask in store.items():
        if name:
            channels = tuple(int(k) for k in mask.nonzero().flatten())
            found[name] = Silent(channels, len(mask), int(store["", orbit]))
    return found
