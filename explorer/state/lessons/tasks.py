"""The steps of a lesson as data, read from a session file and written as text.

[{"do": "in Markdown", "when": {"layer": "conv2"}, "show": "layers", "reveal": "the answer"}, ...]

`when` is a pattern (`explorer.state.lessons.pattern`), {"each": [...]} for several that have to be seen, or
{"then": [...]} for several in this order. A step without it is ticked by the person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.state.lessons.pattern import Pattern, check_pattern

PLACE = "**Do this**"  # where the steps stand in the text of a lesson
FIELDS = ("do", "when", "show", "reveal")
SEVERAL = ("each", "then")
_LAYER = re.compile(r"(?<![*\w])\*[^*\s]+\*(?!\*)")
MOST = 20  # steps of a lesson, and patterns of a step


@dataclass(frozen=True, slots=True)
class Task:
    """One step: what to do, when it is done, the place that is meant, and an answer that is not given away."""

    do: str
    patterns: tuple[Pattern, ...] = ()
    in_order: bool = False
    show: str = ""
    reveal: str = ""

    @property
    def names_layer(self) -> bool:
        """Return whether the answer is a layer, which is written in italics: *conv2*."""
        return _LAYER.search(self.reveal) is not None


def read_tasks(value: Any) -> tuple[Task, ...]:
    """Return the steps of a session file; raise ValueError with a clause that says what is wrong."""
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError(f'"tasks" must be a list of at most {MOST} steps')
    return tuple(_task(one, k) for k, one in enumerate(value, 1))


def _task(value: Any, number: int) -> Task:
    where = f'step {number} of "tasks"'
    if not isinstance(value, dict) or not isinstance(value.get("do"), str) or not value["do"].strip():
        raise ValueError(f'{where} must be an object with "do", a text')
    if unknown := sorted(set(value) - set(FIELDS)):
        raise ValueError(f"{where} has the unknown field {ascii(unknown[0])[:60]}")
    for name in ("show", "reveal"):
        if not isinstance(value.get(name, ""), str):
            raise ValueError(f"{where} must have a text as {name!r}")
    if any("\ud800" <= c <= "\udfff" for name in FIELDS for c in str(value.get(name, ""))):
        raise ValueError(f"{where} holds half a character (a lone surrogate)")
    patterns, in_order = _patterns(value["when"], where) if "when" in value else ((), False)
    return Task(value["do"], patterns, in_order, value.get("show", ""), value.get("reveal", ""))


def _patterns(when: Any, where: str) -> tuple[tuple[Pattern, ...], bool]:
    kind = next((kind for kind in SEVERAL if isinstance(when, dict) and set(when) == {kind}), "")
    several = when[kind] if kind else [when]
    if not isinstance(several, list) or not 0 < len(several) <= MOST:
        raise ValueError(f"{where}: {kind!r} must be a list of patterns, 1 to {MOST}")
    try:
        for pattern in several:
            check_pattern(pattern)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return tuple(several), kind == "then"


def tasks_to_json(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Return the steps as plain JSON values, as `read_tasks` takes them."""
    found = []
    for task in tasks:
        when: Mapping[str, Any] | None = None
        if len(task.patterns) == 1:
            when = dict(task.patterns[0])
        elif task.patterns:
            when = {"then" if task.in_order else "each": [dict(one) for one in task.patterns]}
        whole = {"do": task.do, "when": when, "show": task.show, "reveal": task.reveal}
        found.append({name: value for name, value in whole.items() if value})
    return found


def around(text: str) -> tuple[str, str]:
    """Return what of a lesson's text stands before its steps, and what behind."""
    before, _, behind = text.partition(PLACE)
    return before.strip(), behind.strip()


def written(text: str, tasks: Sequence[Task]) -> str:
    """Return the whole text with its steps as a numbered list, answers in place."""
    if not tasks:
        return text
    before, behind = around(text)
    steps = "\n".join(f"{k}. {' '.join(filter(None, (t.do, t.reveal)))}" for k, t in enumerate(tasks, 1))
    return "\n\n".join(filter(None, (before, PLACE, steps, behind))) + "\n"
