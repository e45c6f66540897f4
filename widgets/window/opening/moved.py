"""Find a file of code that a session names and that is no longer where it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from explorer.declare.states.model_name import split_call, split_name
from explorer.state.runs import renamed
from explorer.state.session import Session
from explorer.work.files.places import at_home, whole
from widgets.window.opening.recents import MOST_LOOKED_AT
from widgets.window.room.shell import Shell

LARGEST = 2**28  # bytes of a file whose content is compared


def offer_another(
    shell: Shell, gone: str, session: Session, path: str, find: Callable[[str], str], go_on: Callable[[Session], None]
) -> None:
    """Say that a file of a session is gone, and offer one of the same content or name, or to look for it by hand."""
    name, there = os.path.basename(gone), os.path.dirname(gone)
    told = f"{name}, which the session {os.path.basename(path)} shows, is no longer in {there}"

    def take(other: str) -> None:
        go_on(with_file(session, gone, other))

    def by_hand() -> None:
        if chosen := find(f"Find {name}"):
            take(chosen)

    def then(found: tuple[str, bool]) -> None:
        other, same = found
        if not other:
            shell.offer(f"{told}.", "Find it…", by_hand)
            return
        what = "has its content" if same else "is called so too"
        shell.offer(f"{told}; {other} {what}.", f"Open {os.path.basename(other)}", partial(take, other))

    digest = dict(session.code).get(str(whole(at_home(gone))), "")
    shell.controller.do(partial(_found_again, at_home(gone), digest, Path(path).parent), f"Looking for {name}…", then)


def with_file(session: Session, gone: str, other: str) -> Session:
    """Return a session that names another file in place of one that is gone."""

    def named(name: str) -> str:
        file = split_call(split_name(name)[0])[0]
        return other + name[len(file) :] if file == gone else name

    state = session.state
    beside = ",".join(map(named, state.compared))
    against = renamed(state.against, named, str) if state.against else state.against
    before = str(whole(at_home(gone)))
    code = tuple((str(whole(other)) if path == before else path, digest) for path, digest in session.code)
    return replace(session, state=replace(state, model=named(state.model), compare=beside, against=against), code=code)


def _found_again(gone: Path, digest: str, beside: Path, engine: Any) -> tuple[str, bool]:
    """Return (file, whether it has the content) of what may be one that is gone, in its folder or that of a session."""
    from explorer.network.opening.files.looking import digest_of

    for folder in dict.fromkeys((beside, gone.parent)):
        try:
            paths = [Path(entry.path) for entry in islice(os.scandir(folder), MOST_LOOKED_AT) if entry.is_file()]
        except OSError:
            continue
        alike = [path for path in paths if path.suffix.lower() == gone.suffix.lower()]
        for path in sorted(alike, key=lambda path: (path.name != gone.name, path.name)):
            if digest and path.stat().st_size <= LARGEST and digest_of(path) == digest:
                return str(path), True
    named = beside / gone.name
    return (str(named), False) if named.is_file() else ("", False)
