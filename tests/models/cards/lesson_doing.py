"""Do what a step of a lesson asks for, by trying: what `holds` says of each thing a person could choose decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

from explorer.declare.card import ModelInfo
from explorer.declare.elements import Step, transforms
from explorer.declare.params import Param
from explorer.square.frame import LayerInfo
from explorer.state.lessons.pattern import Pattern, Sight, holds
from explorer.state.resolve import resolve
from explorer.state.state import State
from tests.models.cards.lesson_frames import catalogue, engine

FRESH = {"layer": "", "channel": None, "pixel": None, "node": None, "other": None, "params": (), "interventions": ()}
FIRST = ("model", "models", "compare", "sample", "params")  # what decides which layers there are
NUMBERS = (None, 0, 1, 2, 3, 5)
PIXELS = (None, (0, 0), (1, 2))
LATENTS = ("@0.5,0.5", ">17", "x-pca", "x-lda", "x-isomap")  # a place, a walk, and planes of inputs


def info(name: str) -> ModelInfo:
    return next(model for model in catalogue().models if model.name == name)


def params_of(name: str) -> tuple[Param, ...]:
    return info(name).params


@cache
def _layers(model: str, params: tuple[tuple[str, float], ...], sample: str) -> tuple[LayerInfo, ...]:
    state = replace(State(model=model, params=params, sample=sample), device="cpu")
    return engine().answer(resolve(state, catalogue()), lambda: False).squares[0].layers


def layers(state: State) -> tuple[LayerInfo, ...]:
    return _layers(state.model, state.params, state.sample)


def sight(state: State, start: State, views: set[str]) -> Sight:
    return Sight(state, start, views, params_of(state.model))


def do(pattern: Pattern, state: State, start: State, views: set[str]) -> tuple[State, set[str]]:
    """Return a state, as the window would have it, and views in sight, of which a pattern holds."""
    for one in [pattern] if "any" not in pattern else pattern["any"]:
        wanted, seen = state, set(views)
        for name in sorted(one, key=lambda n: (n not in FIRST, FIRST.index(n) if n in FIRST else 0)):
            wanted, seen = _choose(name, one[name], wanted, start, seen)
        known = layers(wanted) if any(n in one for n in ("layer", "channel", "pixel")) else ()
        shown = resolve(wanted, catalogue(), known)
        if holds(pattern, sight(shown, start, seen)):
            return shown, seen
    raise AssertionError(f"nothing that can be chosen is what {dict(pattern)} asks for; tried {shown}")


def _choose(name: str, asked: Any, state: State, start: State, views: set[str]) -> tuple[State, set[str]]:
    if name == "view":
        return state, views | set(asked if isinstance(asked, list) else [asked])
    for candidate in _candidates(name, asked, state):
        if holds({name: asked}, sight(candidate, start, views)):
            return candidate, views
    raise AssertionError(f"no {name} is what {asked!r} asks for, at {state}")


def _candidates(name: str, asked: Any, state: State) -> Iterator[State]:
    yield state
    match name:
        case "model" | "models":
            for model in catalogue().models:
                yield resolve(replace(state, **FRESH, model=model.name, steps=state.steps), catalogue())
        case "compare":
            yield from (resolve(replace(state, compare=model.name), catalogue()) for model in catalogue().models)
        case "sample":
            for sample in catalogue().samples:
                yield resolve(replace(state, sample=sample.name, node=None, other=None), catalogue())
        case "layer":
            yield from (replace(state, layer=layer.name, channel=None, pixel=None) for layer in layers(state))
        case "params":
            known = {p.name: p for p in params_of(state.model)}
            several = [_values(known[key], wanted) for key, wanted in asked.items() if key in known]
            for values in product(*several):
                given = dict(state.params) | dict(zip((k for k in asked if k in known), values, strict=True))
                yield resolve(replace(state, params=tuple(given.items())), catalogue())
        case "steps":
            yield from (replace(state, steps=steps) for steps in _elements(asked, state))
        case "pixel":
            yield from (replace(state, channel=0 if at else None, pixel=at) for at in PIXELS)
        case "latent":
            yield from (replace(state, latent=text) for text in LATENTS)
        case "gradient":
            yield from (replace(state, gradient=of) for of in ("norm", "0"))
        case "untransform" | "laws":
            yield from (replace(state, **{name: on}) for on in (False, True))
        case _:
            yield from (replace(state, **{name: value}) for value in (*NUMBERS, *_numbers(asked)))


def _elements(asked: Any, state: State) -> Iterator[tuple[Step, ...]]:
    yield ()
    if not isinstance(asked, Mapping) or "changed" in asked:
        for transform in transforms().values():
            if info(state.model).domain in transform.domains:
                yield tuple(Step(transform.name, values) for values in _tuples(transform.params, {}))[1:2]
        return
    kept = tuple(step for step in state.steps if step.name not in asked)
    several = []
    for name, wanted in asked.items():
        own = next((step for step in state.steps if step.name == name), None)
        made = [Step(name, v) for v in _tuples(transforms()[name].params, wanted)]
        several.append([None, *([own] if own else []), *made])
    for chosen in product(*several):
        yield (*kept, *(step for step in chosen if step is not None))


def _tuples(params: tuple[Param, ...], wanted: Any) -> Iterator[tuple[float, ...]]:
    asked = wanted if isinstance(wanted, Mapping) else {}
    any_change = wanted is True or "changed" in asked or not asked
    tried = [
        _values(p, asked.get(p.name)) if p.name in asked or (any_change and k == 0) else [p.default]
        for k, p in enumerate(params)
    ]
    yield from product(*tried)


def _values(param: Param, wanted: Any) -> list[float]:
    """Return values of a parameter that are worth trying: what is asked for by number first."""
    if param.choices:
        return [float(k) for k in range(len(param.choices))]
    near = [param.default, param.default + param.step, param.minimum, param.maximum, param.default + 20 * param.step]
    return [param.clamp(v) for v in (*_numbers(wanted), *near)]


def _numbers(wanted: Any) -> list[float]:
    if isinstance(wanted, Mapping):
        return [n for value in wanted.values() for n in _numbers(value)]
    if isinstance(wanted, list):
        return [n for value in wanted for n in _numbers(value)]
    return [] if isinstance(wanted, bool | str) or wanted is None else [wanted]
