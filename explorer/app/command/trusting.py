"""Say which files a window may execute without a question: the person who types a command is asked by no page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.app.command.doors import BadInput
from explorer.declare.states.model_name import code_of
from explorer.state.runs import models_of
from explorer.state.state import State
from explorer.work.files.places import at_home

if TYPE_CHECKING:
    from explorer.network.opening.files.trust import Trust


def named(shown: State) -> Trust:
    """Return what --trust allows a window: the files that its command names, whatever they hold later, and no other."""
    from explorer.network.opening.files.trust import Trust

    return Trust.of(models_of(shown))


def refuse_code(state: State) -> None:
    """Raise when a model that a session shows would execute a file: opening a session is no word of trust."""
    for name in models_of(state):
        if (path := code_of(name)) is None or not (path := at_home(path)).is_file():
            continue
        from explorer.network.opening.files.looking import digest_of

        what = f"a model of {path} (sha256 {digest_of(path)}), which is code and not trusted"
        raise BadInput(f"the session shows {what}: add --trust, or open the session in the window, which asks")
