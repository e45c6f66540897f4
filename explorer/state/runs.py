"""Name the run that the present one is compared with, as text that a State and a session hold.

"sample=digit-5" is the present network on another input; "model=net.py:Net@b.safetensors" another network on the same.
What is left out is as in the present state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from explorer.declare.states.model_name import split_name
from explorer.state.state import State

PLAIN = "/:@,#."  # what stands as it is in the text of a run


def run_text(model: str = "", sample: str = "", params: tuple[tuple[str, float], ...] | None = None) -> str:
    """Return the text of a run; empty parts are as in the present state."""
    told = [("model", model), ("sample", sample)]
    # no parameter that differs from its default is something else than those of the present state
    numbers = [("param", f"{name}={value!r}") for name, value in params] if params else [("param", "")] * (params == ())
    return urlencode([(k, v) for k, v in told if v] + numbers, safe=PLAIN)


def renamed(text: str, model: Callable[[str], str], sample: Callable[[str], str]) -> str:
    """Return the text of a run with its model and its sample named otherwise."""
    by_key = {"model": model, "sample": sample}
    told = [
        (key, by_key[key](value) if key in by_key else value) for key, value in parse_qsl(text, keep_blank_values=True)
    ]
    return urlencode(told, safe=PLAIN)


def held_text(state: State, sample: str = "") -> str:
    """Return the text of the run that is shown now, in full: it stays this one whatever is changed afterwards."""
    return run_text(state.model, state.sample or sample, state.params)


def compared_state(state: State) -> State | None:
    """Return the state of the run that the present one is compared with, None where it is compared with none.

    A model beside the first is one where nothing else was chosen.
    """
    text = state.against or (run_text(model=state.compared[0]) if state.compared else "")
    if not text:
        return None
    model, sample = state.model, state.sample
    params: list[tuple[str, float]] | None = None
    for key, value in parse_qsl(text, keep_blank_values=True):
        if key == "model":
            model = value
        elif key == "sample":
            sample = value
        elif key == "param":
            params = params or []
            name, _, number = value.partition("=")
            try:
                params += [(name, float(number))] if name else []
            except ValueError:
                continue  # a session may hold anything
    same = model == state.model
    chosen = tuple(params) if params is not None else state.params if same else ()
    overrides = state.overrides if same else ()
    # of another network no layer is meant, though one may be called as in the first
    some = state.interventions if split_name(model)[0] == split_name(state.model)[0] else ()
    return replace(
        state, model=model, sample=sample, params=chosen, overrides=overrides, compare="", against="",
        interventions=some,
    )  # fmt: skip


def models_of(state: State) -> tuple[str, ...]:
    """Return the names of all models that a state shows or compares with."""
    other = compared_state(state)
    return tuple(dict.fromkeys((state.model, *state.compared, *([other.model] if other is not None else []))))
