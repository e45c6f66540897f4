"""Session files: one State as JSON, with a title, a text and an equation when it is a lesson.

{"equiscope": 1, "state": {...}, "title": "", "text": "in Markdown", "equation": "", "view": "steps",
"tasks": [{"do": "in Markdown", "when": {...}}], "layout": "in base64", "code": {"/path/net.py": "SHA-256"},
"looks": {"points": {"Bonds": true, "eye": [...]}}}

`tasks` are the steps of a lesson (`explorer.state.lessons`); a lesson without them has its steps in its text.

Reading one executes nothing and believes nothing: every field is checked, and what is wrong is said in one
sentence that names the field. A field left out has its default, so that a lesson written by hand states
only what matters to it.
"""

from __future__ import annotations

import json
import math
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from typing import Any, Never, get_type_hints

import msgspec

from explorer.declare.elements import Step, transforms
from explorer.declare.registry import known_names
from explorer.declare.states.interventions import parse_interventions
from explorer.state.lessons.tasks import Task, read_tasks, tasks_to_json, written
from explorer.state.state import State
from explorer.work.files.replacing import write_whole

VERSION = 1
LONGEST = 8 * 2**20  # bytes; a window's layout is a few thousand
LONGEST_TEXT = 10_000  # characters of a name
_LONGEST_NAMES = {"sample": 2**20}  # text that somebody has typed is a sample
TEXTS = ("title", "text", "equation", "view", "layout")
Looks = Mapping[str, Mapping[str, Any]]  # of each view by its name: what was chosen about its picture


class SessionError(ValueError):
    """A session file that cannot be used; the message is one sentence, `where` is the file."""

    def __init__(self, sentence: str, where: str = "") -> None:
        super().__init__(sentence)
        self.where = where


@dataclass(frozen=True, slots=True)
class Session:
    """A session file: `text` is Markdown, `view` is brought to the front, `layout` is the window's own.

    `code` has (path, SHA-256) of each file of code as it was when the session was saved; `looks` are how views showed
    it, by their names, and mean something to those alone.
    """

    state: State
    title: str = ""
    text: str = ""
    equation: str = ""
    view: str = ""
    layout: str = ""
    code: tuple[tuple[str, str], ...] = ()
    tasks: tuple[Task, ...] = ()
    looks: Looks = field(default_factory=dict)
    lost: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        """The whole text, with the steps in place."""
        return written(self.text, self.tasks)


def save_session(
    path: str | Path,
    state: State,
    extras: Mapping[str, str] | None = None,
    code: Iterable[tuple[str, str]] = (),
    tasks: Sequence[Task] = (),
    looks: Looks | None = None,
) -> None:
    """Write a session, beside the file first and then in its place: a reader never sees half of it.

    Raises:
        ValueError: `extras` has a name other than title, text, equation, view or layout.
        OSError: the folder is not there or not writable.
    """
    extras = dict(extras or {})
    if unknown := sorted(set(extras) - set(TEXTS)):
        raise ValueError(f"a session has no {unknown[0]!r}; it may have {', '.join(TEXTS)}")
    text = {name: extras[name] for name in TEXTS if extras.get(name)}
    whole = {"equiscope": VERSION, **text, "state": state_to_json(state)}
    if tasks:
        whole["tasks"] = tasks_to_json(tasks)
    if files := dict(code):
        whole["code"] = files
    if looks:
        whole["looks"] = looks
    write_whole(Path(path), (json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def load_session(path: str | Path, damaged: bool = False) -> Session:
    """Read a session file.

    Args:
        damaged: of one that was damaged, what can be read is used, and `lost` says what cannot.

    Raises:
        SessionError: it is no session that this version understands; one sentence says why.
        OSError: it is not there.
    """
    path = Path(path)
    try:
        if not (stat.S_ISREG(mode := path.stat().st_mode) or stat.S_ISDIR(mode)):
            raise SessionError("it is no file but a device or a pipe")  # reading might not end
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise SessionError(f"it is larger than {LONGEST // 2**20} MiB, so it is no session")
        return read_session(data, damaged)
    except SessionError as error:
        raise SessionError(f"{path.name} cannot be opened: {error}.", str(path)) from None


def is_session(path: str | Path) -> bool:
    """Return whether a JSON file is a session to be opened: also a damaged one, but no graph and no table."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(LONGEST)
        whole = json.loads(head.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return True  # opening it says what is wrong
    if not isinstance(whole, dict):
        # rows, or pairs of nodes, are data: their reader says what is wrong with them
        return not (isinstance(whole, list) and whole and all(isinstance(row, (dict, list)) for row in whole))
    lists = any(isinstance(value, list) for name, value in whole.items() if name != "tasks")
    return "equiscope" in whole or "state" in whole or not lists


def read_session(data: bytes, damaged: bool = False) -> Session:
    """Read the bytes of a session file; raise SessionError with a clause that says what is wrong.

    Args:
        damaged: what is wrong with a field goes to `lost`, and the field has its default; the file is a session still.
    """
    fault = _Faults(damaged)
    try:
        whole = json.loads(data.decode("utf-8-sig"), parse_constant=_not_finite, object_pairs_hook=_once)
    except SessionError:
        raise
    except UnicodeDecodeError:
        raise SessionError("it is not text in UTF-8") from None
    except RecursionError:
        raise SessionError("it is nested too deeply to be a session") from None
    except json.JSONDecodeError as error:
        raise SessionError(f"it is not JSON (line {error.lineno}, column {error.colno})") from None
    except ValueError:
        raise SessionError("a number in it has thousands of digits") from None
    try:
        json.dumps(whole, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # JSON may say "\\ud800", which no file can be named with and nothing can be written of
        raise SessionError("a text in it has half a character") from None
    if not isinstance(whole, dict) or "equiscope" not in whole:
        raise SessionError('it is no Equiscope session: "equiscope" is missing')
    version = whole["equiscope"]
    if type(version) is not int or version < 1:
        raise SessionError(f'its version, "equiscope", must be a whole number, not {_show(version)}')
    if version > VERSION:
        told = f"session version {_show(version)}, this one reads {VERSION}"
        raise SessionError(f"it was written by a newer Equiscope ({told})")
    for name in sorted(set(whole) - {"equiscope", "state", "code", "tasks", "looks", *TEXTS}):
        fault(SessionError(f"unknown field {_show(name)}"))
    texts = {name: fault.read(partial(_value, whole.get(name, ""), str, name), "") for name in TEXTS}
    code = fault.read(lambda: _code(whole.get("code", {})), {})
    tasks = fault.read(lambda: read_tasks(whole.get("tasks", [])), ())
    looks = fault.read(lambda: _looks(whole.get("looks", {})), {})
    state = state_from_json(whole.get("state", {}), fault)
    return Session(state, **texts, code=tuple(code.items()), tasks=tasks, looks=looks, lost=tuple(fault.lost))


class _Faults:
    """Raises what is wrong with a field, or keeps it in mind where the rest is to be used."""

    def __init__(self, damaged: bool = False) -> None:
        self._damaged = damaged
        self.lost: list[str] = []

    def __call__(self, error: ValueError) -> None:
        if not self._damaged:
            raise SessionError(str(error)) from None
        self.lost.append(str(error))

    def read(self, reading: Callable[[], Any], default: Any) -> Any:
        """Return what a field holds, or its default."""
        try:
            return reading()
        except ValueError as error:
            self(error)
            return default


def _code(code: Any) -> dict[str, str]:
    if not isinstance(code, dict) or not all(isinstance(digest, str) for digest in code.values()):
        raise SessionError('"code" must be an object of paths and their SHA-256')
    return code


def _looks(looks: Any) -> Looks:
    if not isinstance(looks, dict) or not all(isinstance(kept, dict) for kept in looks.values()):
        raise SessionError('"looks" must be an object of views and what each of them showed')
    return looks


def state_to_json(state: State) -> dict[str, Any]:
    """Return a State as plain JSON values: all of it, so that a new default changes no session."""
    found = {f.name: getattr(state, f.name) for f in fields(state)}
    # numbers in full, unlike the text of a chain on the command line
    steps = [[step.name, list(step.values)] for step in state.steps]
    return found | {"steps": steps, "interventions": [str(one) for one in state.interventions]}


def state_from_json(value: Any, fault: _Faults | None = None) -> State:
    """Return the State that `state_to_json` wrote; raise SessionError with a clause that names the field.

    Args:
        fault: takes what is wrong with a field, which has its default then.
    """
    fault = fault or _Faults()
    if not isinstance(value, dict):
        fault(SessionError(f'"state" must be an object, not {_show(value)}'))
        value = {}
    kinds, found = _types(), dict[str, Any]()
    for name in sorted(set(value) - set(kinds)):
        fault(SessionError(f"unknown field {_show(name)} in the state"))
    for name in (name for name in value if name in kinds):
        held = fault.read(partial(_held, name, value[name], kinds[name]), _NONE)
        if held is not _NONE:
            found[name] = held
    return State(**found)


def _held(name: str, value: Any, kind: Any) -> Any:
    """Return what a field of a state holds."""
    found = _value(value, kind, name)
    if name == "steps":
        return tuple(_step(key, values) for key, values in found)
    if name == "interventions":
        try:
            return parse_interventions(found)
        except ValueError as error:
            raise SessionError(f'"interventions": {error}') from None
    return found


# msgspec compares values with the types that State declares; the sentences are ours ------------------------------

_NONE = object()
_WANTED = {"str": "must be text", "int": "must be a whole number", "bool": "must be true or false"}
# of all others: pairs
_LISTED = {"pixel": "must be [row, column]", "interventions": "must be a list of texts such as conv2:zero"}


@cache
def _types() -> dict[str, Any]:
    """Return {field of a State: what stands for it in a file}."""
    return get_type_hints(State) | {"steps": tuple[tuple[str, Any], ...], "interventions": tuple[str, ...]}


def _value(value: Any, kind: Any, name: str) -> Any:
    """Return a JSON value as that type; raise SessionError with a clause that names the field."""
    try:
        found = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        told, _, place = str(error).partition(" - at ")
        wanted = told.removeprefix("Expected `").split("`")[0].split(" ")[0]
        if wanted == "array":
            what = _LISTED.get(name, "must be a list of [name, value] pairs")
        else:
            for at in re.findall(r"\[(\d+)\]", place):
                value = value[int(at)]
            what = _WANTED.get(wanted, "must hold numbers" if wanted == "float" else "must hold finite numbers")
        raise SessionError(f'"{name}" {what}, not {_show(value)}') from None
    _require_plain(found, name)
    return found


def _require_plain(value: Any, name: str) -> None:
    """Refuse what a type allows and a State cannot hold: infinite or endless numbers or texts, half a character."""
    if isinstance(value, tuple):
        for item in value:
            _require_plain(item, name)
    elif isinstance(value, float) and not math.isfinite(value):
        raise SessionError(f'"{name}" must hold finite numbers, not {_show(value)}')
    elif isinstance(value, int) and abs(value) > 2**63:
        raise SessionError(f'"{name}" must be a whole number, not {_show(value)}')
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise SessionError(f'"{name}" holds half a character (a lone surrogate)')
    elif isinstance(value, str) and name not in TEXTS and len(value) > _LONGEST_NAMES.get(name, LONGEST_TEXT):
        raise SessionError(f'"{name}" holds a text of {len(value)} characters, {_show(value)}: no name is as long')


def _step(key: str, values: Any) -> Step:
    known = transforms()
    if key not in known:
        raise SessionError(
            f'"steps" has the unknown transform {_show(key)}; {known_names(str(key), known, "list transforms")}'
        )
    defaults = known[key].defaults
    if not isinstance(values, list) or not min(1, len(defaults)) <= len(values) <= len(defaults):
        raise SessionError(f'"steps": {key} takes a list of {len(defaults)} value(s), not {_show(values)}')
    # a transform may have been given more parameters since the file was written
    return Step(key, (*_value(values, tuple[float, ...], "steps"), *defaults[len(values) :]))


def _not_finite(text: str) -> Never:
    raise SessionError(f"it holds {text}, which is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SessionError(f"the field {_show(twice)} stands there twice")
    return found


def _show(value: Any) -> str:
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
