"""Patterns: say in plain JSON what has to be true of a State, and of the views in sight, for a step to be done.

A pattern is an object, {"layer": "conv2", "steps": {"rotate": {"angle": 90}}}; all of it has to be true at once.
Its names are those of the fields of State, and three more: "models" is any of the models shown, "view" any view in
sight, or what is chosen in one of its lists, as "matrix > V*", and "any" a list of patterns of which one is enough.
What stands beside a name is a condition on the value:

- true, false: there is one, there is none;
- text: equal to it, where * stands for anything; a number: equal to it; a choice of a parameter by its name;
- a list: one of these;
- {"from": a, "to": b}: a number in between; {"not": condition}; {"changed": true}: not as the lesson began,
  or, in an order, not as the pattern before was seen; a transform that is not there is not changed;
- beside "params" and "steps": an object, {parameter: condition} and {transform: condition}, in which the condition
  on a transform may again be an object, {parameter: condition}.

Nothing here knows one field of State from another but by the type of its value, so a new field needs no new code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from typing import Any

from explorer.declare.elements import Step, transforms
from explorer.declare.params import Param
from explorer.state.state import State

Pattern = Mapping[str, Any]
NEARLY = 1e-6  # numbers as typed and as kept
DEEPEST = 8  # objects and lists in one another
OPERATORS = ("from", "to", "not", "changed")
CHOSEN = " > "  # between the name of a view and what is chosen in a list of it
SEEN = ("models", "view", "any")  # what can be asked for beside the fields of State
ONE_BY_ONE = ("params", "steps")  # fields of named values


@dataclass(frozen=True, slots=True)
class Sight:
    """Everything that a pattern is asked of.

    Attributes:
        state, start: as it is, and as it was when the lesson began.
        views: names of those in sight, and "name > text" for what is chosen in each of their lists.
        params: those of the model.
    """

    state: State
    start: State
    views: Collection[str] = ()
    params: Sequence[Param] = field(default=())


def holds(pattern: Pattern, sight: Sight) -> bool:
    """Return whether all of a pattern is true."""
    return all(_part(name, wanted, sight) for name, wanted in pattern.items())


def views_in(pattern: Pattern) -> set[str]:
    """Return the names of views that a pattern speaks of."""
    found: set[str] = set()
    for name, wanted in pattern.items():
        for one in wanted if isinstance(wanted, list) else [wanted]:
            if name == "any":
                found |= views_in(one)
            elif name == "view" and isinstance(one, str):
                found.add(view_named(one))
    return found


def view_named(condition: str) -> str:
    """Return the name of the view in a condition that may ask for a choice in it."""
    return condition.partition(CHOSEN)[0]


def _part(name: str, wanted: Any, sight: Sight) -> bool:
    if name == "view":
        return any(_is(view, wanted, "") for view in sight.views)
    if name == "any":
        return any(holds(one, sight) for one in wanted)
    if name == "models":
        return any(_is(model, wanted, "") for model in (sight.state.model, *sight.state.compared))
    now, before = getattr(sight.state, name), getattr(sight.start, name)
    if name in ONE_BY_ONE and isinstance(wanted, Mapping) and not _is_operator(wanted):
        named, former = (_named(name, value, sight.params) for value in (now, before))
        declared = _declared(name, sight.params)
        return all(_one(named.get(key), former.get(key), asked, declared.get(key)) for key, asked in wanted.items())
    if name == "compare" and not isinstance(wanted, Mapping | bool):
        return any(_is(model, wanted, "") for model in sight.state.compared)
    return _is(now, wanted, before)


def _named(name: str, value: Any, params: Sequence[Param]) -> dict[str, Any]:
    """Return {parameter: value} with defaults, or {transform: values of its last step}."""
    if name == "params":
        return {p.name: p.default for p in params} | dict(value)
    return {step.name: step for step in value}


def _declared(name: str, params: Sequence[Param]) -> dict[str, Any]:
    return {p.name: p for p in params} if name == "params" else {t.name: t.params for t in transforms().values()}


def _one(value: Any, before: Any, wanted: Any, declared: Any) -> bool:
    """Return whether a condition on one parameter, or on one transform, is true."""
    if not isinstance(value, Step):
        gone = isinstance(before, Step) and isinstance(wanted, Mapping) and wanted.get("changed") is True
        if gone or (isinstance(wanted, Mapping) and not _is_operator(wanted)):
            return False  # a transform that is not there: whoever has taken it out has not moved it
        return _is(value, wanted, before, declared if isinstance(declared, Param) else None)
    if isinstance(wanted, Mapping) and not _is_operator(wanted):
        params = {p.name: (k, p) for k, p in enumerate(declared or ())}
        return all(
            key in params
            and _is(value.values[params[key][0]], asked, before and before.values[params[key][0]], params[key][1])
            for key, asked in wanted.items()
        )
    return _is(value, wanted, before)


def _is(value: Any, wanted: Any, before: Any, param: Param | None = None) -> bool:
    """Return whether a condition is true of one value."""
    if isinstance(wanted, bool):
        return wanted is not (value is None or value == "" or value == () or value is False)
    if isinstance(wanted, list):
        return any(_is(value, one, before, param) for one in wanted)
    if isinstance(wanted, Mapping):
        return all(_operator(name, value, asked, before, param) for name, asked in wanted.items())
    if isinstance(wanted, str) and param is not None and wanted in param.choices:
        wanted = float(param.choices.index(wanted))
    if isinstance(wanted, str):
        # of several, such as interventions, any
        texts = [str(one) for one in value] if isinstance(value, tuple) else [value]
        return any(isinstance(text, str) and fnmatchcase(text, wanted) for text in texts)
    return isinstance(value, int | float) and abs(value - wanted) <= NEARLY


def _operator(name: str, value: Any, asked: Any, before: Any, param: Param | None) -> bool:
    if name == "not":
        return not _is(value, asked, before, param)
    if name == "changed":
        return bool(value != before) is bool(asked)
    if not isinstance(value, int | float):
        return False
    return bool(value >= asked - NEARLY if name == "from" else value <= asked + NEARLY)


def _is_operator(wanted: Mapping[str, Any]) -> bool:
    return bool(wanted) and set(wanted) <= set(OPERATORS)


# reading: nothing is believed ----------------------------------------------------------------------------------


def check_pattern(pattern: Any) -> None:
    """Raise ValueError with a clause that says what is wrong, if that is no pattern."""
    if _deeper(pattern, DEEPEST):
        raise ValueError("a pattern is nested too deeply")
    if not isinstance(pattern, Mapping) or not pattern:
        raise ValueError(f"a pattern must be an object with a condition in it, not {_show(pattern)}")
    known = {f.name for f in fields(State)} | set(SEEN)
    for name, wanted in pattern.items():
        if name not in known:
            raise ValueError(f"a pattern asks for {_show(name)}, which is no field of the state")
        if name == "any":
            if not isinstance(wanted, list) or not wanted:
                raise ValueError(f'"any" must be a list of patterns, not {_show(wanted)}')
            for one in wanted:
                check_pattern(one)
        elif name in ONE_BY_ONE and isinstance(wanted, Mapping) and not _is_operator(wanted):
            for key, asked in wanted.items():
                if name == "steps":
                    _check_transform(key, asked)
                else:
                    _check(asked, key)
        else:
            _check(wanted, name)


def _deeper(value: Any, than: int) -> bool:
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return bool(inside) and (than == 0 or any(_deeper(one, than - 1) for one in inside))


def _check_transform(name: str, wanted: Any) -> None:
    if name not in transforms():
        raise ValueError(f"a pattern asks for the unknown transform {_show(name)}")
    if not isinstance(wanted, Mapping) or _is_operator(wanted):
        _check(wanted, name)
        return
    params = {p.name: p for p in transforms()[name].params}
    for key, asked in wanted.items():
        if key not in params:
            raise ValueError(f"a pattern asks for {_show(key)} of {name}, which has {', '.join(params) or 'none'}")
        _check(asked, key)
        for one in asked if isinstance(asked, list) else [asked]:
            if isinstance(one, str) and one not in params[key].choices:
                raise ValueError(f"a pattern asks for {_show(one)}, which is no choice of {name}'s {key}")


def _check(wanted: Any, name: str) -> None:
    """Raise ValueError if that is no condition."""
    if isinstance(wanted, list) and wanted:
        for one in wanted:
            _check(one, name)
    elif isinstance(wanted, Mapping) and _is_operator(wanted):
        for key, asked in wanted.items():
            if key == "not":
                _check(asked, name)
            elif key == "changed" and not isinstance(asked, bool):
                raise ValueError(f'"changed" of {_show(name)} must be true or false, not {_show(asked)}')
            elif key in ("from", "to") and (isinstance(asked, bool) or not isinstance(asked, int | float)):
                raise ValueError(f"{_show(key)} of {_show(name)} must be a number, not {_show(asked)}")
    elif not isinstance(wanted, str | int | float | bool):
        raise ValueError(f"{_show(wanted)} is no condition on {_show(name)}")


def _show(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
