"""Find out what a network of somebody's own takes: as they say it, as is remembered beside its file, or by looking."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.declare.card import Form
from explorer.declare.space import kinds
from explorer.declare.states.model_name import beside
from explorer.declare.telling.asking import Declared, declared_from
from explorer.network.input.absent import with_absent
from explorer.network.input.recognise import Ambiguous, Recognised
from explorer.network.opening.helpers import line_told
from explorer.network.opening.refusals import ModelError
from explorer.network.space import NetworkSpace, space_of_kind, spaces
from explorer.network.tracing.layers import named_error
from explorer.network.tracing.trials import Noted, noting
from explorer.work.files.replacing import write_whole
from explorer.work.progress import waited

VERSION = 1
LARGEST = 2**20  # bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """The input that a network takes, and where that is known from: {name of an attribute: reason}."""

    space: NetworkSpace
    kind: str
    form: Form
    why: dict[str, str]

    def declared(self) -> Declared:
        """Return it as somebody would say it."""
        answers = ((q.name, q.write(getattr(self.form, q.name))) for q in self.space.asks())
        return Declared(self.kind, tuple((name, text) for name, text in answers if text))


def taken(own: Recognised, said: Declared | None, where: str) -> Taken:
    """Return what a network takes: as it is said, else as it is recognised.

    Args:
        where: it is said, for the reasons.

    Raises:
        ValueError: what is said cannot be, or nothing tells what it takes; in one sentence.
    """
    if said is None:
        with noting() as noted:
            try:
                space, form = _as_it_runs(own)
            except ValueError as error:
                _require_all(own, noted.lacking)
                if told := _whatever_it_is_given(own, noted):
                    raise ValueError(f"{told}; {error}") from error
                raise
        if own.unproven:
            _require_all(own, noted.lacking)
        return Taken(space, form.data or space.kinds[0].name, form, dict(own.why))
    if said.kind not in kinds():
        raise ValueError(f"{said.kind!r:.40} is no kind of data; the kinds are {', '.join(kinds())}")
    space = space_of_kind(said.kind)
    form = space.completed(space.declared(said), said, own)
    return Taken(space, said.kind, form, dict.fromkeys(("data", *(name for name, _ in said.answers)), where))


def _require_all(own: Recognised, lacking: Sequence[Exception]) -> None:
    """Refuse a network that ran with nothing that was tried, where its forward asks for what is not here."""
    if lacking:
        line = line_told(lacking[0], Path(own.where))
        told = f"{own.where}: its forward raised {named_error(lacking[0])}{line}"
        raise ModelError(own.where, told) from lacking[0]


def _whatever_it_is_given(own: Recognised, noted: Noted) -> str:
    """Return what a network's own code raises whatever it is given; "" where that depends on what that is."""
    if (error := noted.every) is None or not (line := line_told(error, Path(own.where))):
        return ""
    return f"its forward raised {named_error(error)}{line} with all that was tried"


def _as_it_runs(own: Recognised) -> tuple[NetworkSpace, Form]:
    """Return what a network takes with all of its arguments, else with None for some of them.

    Raises:
        ValueError: it takes nothing either way, or several things with all of them; in one sentence.
    """
    try:
        found, refused = _recognised(own), None
        if not own.unproven:
            return found
    except Ambiguous:
        raise
    except ValueError as error:
        found, refused = None, error
    for names, other in () if own.says_something() else with_absent(own):
        waited()
        try:
            space, form = _recognised(other)
        except ValueError:
            continue
        if other.unproven or other.last_resort:
            continue
        own.why.update(other.why)
        are = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
        own.doubts.extend([*other.doubts, f"{are} None: with nothing else that was tried it runs; --input says more"])
        return space, replace(form, absent=names)
    if found is not None:
        return found
    assert refused is not None
    raise refused


def _recognised(own: Recognised) -> tuple[NetworkSpace, Form]:
    """Return the space that knows a network for its own, and what that takes there.

    Where one knows it and finds no way to run it, the others are asked what it runs with, unless its file says more.

    Raises:
        ValueError: what the file says is wrong, or nothing runs; in one sentence.
    """
    refused: ValueError | None = None
    for space in spaces().values():
        if refused is not None:
            if (form := space.runs_with(own)) is not None:
                return space, form
            continue
        try:
            form = space.recognise(own)
        except ValueError as error:
            if own.says_something():
                raise
            refused = error
            continue
        if form is not None:
            if own.last_resort and (others := _others(own)):
                raise ValueError(_in_doubt((*own.last_resort, *others)))
            return space, form
    raise refused or ValueError("nothing says what it takes; say INPUT_SHAPE in the file")


def _others(own: Recognised) -> list[str]:
    """Return the kinds of data, but for those that were taken for want of a better, that a network runs on too."""
    found = []
    for space, kind in ((s, k.name) for s in spaces().values() for k in s.kinds if k.name not in own.last_resort):
        try:
            runs = next(space.attempts(own.network(), kind), None) is not None
        except ValueError as error:
            runs = isinstance(error, Ambiguous)
        found += [kind] if runs else []
    return found


def _in_doubt(runs: Sequence[str]) -> str:
    words = {kind.name: kind.one for space in spaces().values() for kind in space.kinds}
    listed = " or ".join(words[name] for name in runs)
    return (
        f"no layer of it tells what it takes, and it runs on {listed}: say it in the file, INPUT_SHAPE = (1, 28, 28) "
        f"of an image or INPUT_LAYOUT = 'NTC' of a sequence, or by --input {runs[-1]}"
    )


def remembered_inputs(code: Path) -> dict[str, Declared]:
    """Return {callable: what it takes} as the file beside a network's own remembers; {} where there is none.

    Raises:
        ValueError: it is damaged, in one sentence.
    """
    path = beside(code)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {(error.strerror or '').lower()}") from None
    try:
        whole = json.loads(data) if len(data) <= LARGEST else None
        if not isinstance(whole, dict) or whole.get("equiscope_inputs") != VERSION:
            raise ValueError(f'"equiscope_inputs" must be {VERSION}')
        held = whole.get("inputs")
        if not isinstance(held, dict):
            raise ValueError('"inputs" must be an object')
        return {name: declared_from(value) for name, value in held.items()}
    except (ValueError, RecursionError) as error:
        reason = "it is no JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)
        raise ValueError(
            f"{path.name}, which remembers what the network takes, is damaged ({reason:.120}): mend or delete it"
        ) from None


def remember_input(code: Path, name: str, said: Declared) -> Path:
    """Write what a callable takes into the file beside a network's own, all or nothing; return its path.

    A damaged one is written anew.

    Raises:
        OSError: the folder cannot be written to.
    """
    try:
        held = remembered_inputs(code)
    except ValueError:
        held = {}
    inputs: dict[str, Any] = {key: value.to_json() for key, value in {**held, name: said}.items()}
    path = beside(code)
    text = json.dumps({"equiscope_inputs": VERSION, "inputs": inputs}, indent=1, ensure_ascii=False)
    write_whole(path, (text + "\n").encode())
    return path
