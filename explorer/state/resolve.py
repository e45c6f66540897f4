"""Bring a State to what can be: the one place where choices that no longer fit each other are mended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from explorer.declare.card import ModelInfo
from explorer.declare.elements import Step, transforms
from explorer.declare.params import Param
from explorer.declare.registry import did_you_mean
from explorer.declare.space import kinds, same_space, space_of_kind
from explorer.declare.states.latent import checked_latent
from explorer.declare.states.saliency import parse_saliency, saliency_text
from explorer.declare.types.field_text import parse_field
from explorer.state.catalogue import Catalogue
from explorer.state.state import State

MOST_BESIDE = 2  # models beside the first, where there is room for them: three flavours of message passing
DTYPES = ("float32", "float64")


class LayerSeen(Protocol):
    """The questions that are asked of a layer of the model that is shown."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def channels(self) -> int: ...


def resolve(state: State, catalogue: Catalogue, layers: Sequence[LayerSeen] = ()) -> State:
    """Return the nearest state that can be shown; the same state when nothing is wrong with it.

    An unknown model or sample is kept: it may be a file, and if not, the engine says so better than a silent
    change would. `layers` are those of this model; while they are not known (empty), a layer is believed.
    """
    info = catalogue.by_name.get(state.model)
    domain = info.domain if info is not None else ""
    state = replace(
        state,
        params=_params(state.params, info.params) if info is not None else state.params,
        compare=_compare(state, catalogue),
        sample=_sample(state.sample, info, catalogue),
        steps=tuple(step for s in state.steps if (step := _step(s, domain)) is not None),
        orbit=_orbit(state.orbit, domain),
        device=state.device if state.device in catalogue.devices else "auto",
        dtype=state.dtype if state.dtype in DTYPES else DTYPES[0],
        seed=max(0, state.seed),
        truncate=state.truncate if state.truncate is not None and state.truncate > 0 else None,
        gradient=state.gradient if state.gradient == "norm" or state.gradient.isdecimal() else "",
        saliency=_saliency(state.saliency),
        latent=_latent(state.latent),
        overrides=tuple((layer, text) for layer, text in dict(state.overrides).items() if _is_field(text)),
    )
    return _place(state, layers)


def corrected(wanted: State, state: State, catalogue: Catalogue) -> list[str]:
    """Return sentences about what of a wanted state cannot be, and was left out of `state` or replaced in it."""
    info = catalogue.by_name.get(wanted.model)
    if info is None:
        return []
    lives = f"{info.name} lives on {_one(info.domain)}"
    said, out = [], set()
    for step in wanted.steps:
        transform = transforms().get(step.name)
        if transform is not None and info.domain not in transform.domains:
            out.add(step.name)
            where = " or ".join(map(_one, transform.domains))
            said.append(f"{step.name} acts on {where}, and {lives}: it is left out.")
    known = {s.name: s.domain for s in catalogue.samples}
    if wanted.sample and wanted.sample != state.sample and wanted.sample in known:
        lies = f"{wanted.sample!r} lies on {_one(known[wanted.sample])}"
        said.append(f"{lies}, and {info.name} takes {_one(info.domain)}: {state.sample} is shown.")
    domains = {m.name: m.domain for m in catalogue.models}
    for name in wanted.compared:
        if name in domains and name != wanted.model and not same_space(domains[name], info.domain):
            said.append(f"{name} lives on {_one(domains[name])}, and {lives}: it is not shown beside.")
    orbit = transforms().get(wanted.orbit)
    # a step that is left out takes the curve over it along
    if wanted.orbit not in (state.orbit, State().orbit, *out) and orbit is not None:
        said.append(f"{wanted.orbit} has no curve here: that of {state.orbit} is shown.")
    return said


def without_missing(
    state: State, layers: Sequence[LayerSeen], shown: str, places: int, was: State | None = None
) -> tuple[State, str]:
    """Return the state without a layer or a place that the answer does not have, and a sentence about it or "".

    A layer that `was` shown of this network has gone with a parameter, and nobody has misspelt it.
    """
    if sentence := missing_layer(state, layers):
        if was is not None and (was.model, was.layer) == (state.model, state.layer):
            return replace(state, layer=""), f"That leaves out {state.layer}: {shown} is shown."
        return replace(state, layer=""), f"{sentence}{'' if sentence.endswith('?') else ';'} {shown} is shown."
    if sentence := missing_place(state.sample, places, state.node):
        return replace(state, node=None, other=None), f"{sentence}; none is selected."
    return state, ""


def missing_layer(state: State, layers: Sequence[LayerSeen]) -> str:
    """Return a sentence about a layer that is not there, "" where it is."""
    names = [layer.name for layer in layers]
    if not state.layer or not names or state.layer in names:
        return ""
    some = f"; it has: {', '.join(names[:12])}{', …' if names[12:] else ''}"
    return f"{state.model} has no layer {state.layer!r}{did_you_mean(state.layer, names, some)}"


def missing_place(sample: str, places: int, number: int | None) -> str:
    """Return a sentence about a place that data with so many of them do not have, "" where they have it."""
    if number is None or 0 <= number < places:
        return ""
    if not places:
        return f"places of {sample!r} have no numbers: leave out --node and --step"
    return f"{sample!r} has {places:,} places, 0 to {places - 1}, and --node or --step says {number}"


def _one(domain: str) -> str:
    return (kinds()[domain].one if domain in kinds() else "") or f"a {domain}"


def _params(values: tuple[tuple[str, float], ...], params: Sequence[Param]) -> tuple[tuple[str, float], ...]:
    """Keep what the model has, in its order, within its limits, and only what differs from the default."""
    given = dict(values)
    clamped = [(p, p.clamp(given[p.name])) for p in params if math.isfinite(given.get(p.name, math.nan))]
    return tuple((p.name, value) for p, value in clamped if value != p.default)


def _sample(name: str, info: ModelInfo | None, catalogue: Catalogue) -> str:
    """Return the sample, or the model's own where there is none or it lies on another kind of domain."""
    if info is None:
        return name
    known = next((s for s in catalogue.samples if s.name == name), None)
    return name if name and (known is None or same_space(known.domain, info.domain)) else info.sample


def _compare(state: State, catalogue: Catalogue) -> str:
    domains = {m.name: m.domain for m in catalogue.models}
    one = domains.get(state.model)
    # models on one element need one domain; that of a file is known to the engine only
    fit = [
        name
        for name in dict.fromkeys(state.compared)
        if name != state.model and not (one and domains.get(name) and not same_space(one, domains[name]))
    ]
    return ",".join(fit[: kinds()[one].beside if one in kinds() else MOST_BESIDE])


def _step(step: Step, domain: str) -> Step | None:
    transform = transforms().get(step.name)
    if transform is None or (domain and domain not in transform.domains):
        return None
    given = [*step.values, *transform.defaults[len(step.values) :]]
    return Step(
        step.name,
        tuple(p.clamp(v if math.isfinite(v) else p.default) for p, v in zip(transform.params, given, strict=False)),
    )


def _orbit(name: str, domain: str) -> str:
    """Return a transform that has a curve in this domain, `name` if it is one."""
    fit = [t.name for t in transforms().values() if t.orbit is not None and (not domain or domain in t.domains)]
    if name in fit or not fit:
        return name
    # a group before what only leaves something out
    first = space_of_kind(domain).orbits if domain in kinds() else ()
    return next((n for n in (*first, State().orbit) if n in fit), fit[0])


def _saliency(text: str) -> str:
    """Return what asks for a map of pixels, "" where nothing does."""
    try:
        return saliency_text(*parse_saliency(text)) if text else ""
    except ValueError:
        return ""


def _latent(text: str) -> str:
    """Return what is looked at in the plane of codes, "" where that cannot be read."""
    try:
        return checked_latent(text) if text else ""
    except ValueError:
        return ""


def _is_field(text: str) -> bool:
    try:
        parse_field(text)
    except ValueError:
        return False
    return True


def _place(state: State, layers: Sequence[LayerSeen]) -> State:
    """Drop a layer that is not there, and a channel or pixel outside of the layer."""
    found = next((layer for layer in layers if layer.name == state.layer), None)
    if layers and found is None:
        state = replace(state, layer="")
    channel, pixel = state.channel, state.pixel
    if channel is not None and (channel < 0 or (found and not channel < found.channels)):
        channel = None
    if pixel is not None and (min(pixel) < 0 or (found and not _inside(pixel, found.shape))):
        pixel = None
    node = state.node if state.node is not None and state.node >= 0 else None
    other = state.other if node is not None and state.other is not None and state.other >= 0 else None
    return replace(state, channel=channel, pixel=pixel, node=node, other=other)


def _inside(pixel: tuple[int, int], shape: tuple[int, ...]) -> bool:
    return len(shape) >= 4 and pixel[0] < shape[-2] and pixel[1] < shape[-1]
