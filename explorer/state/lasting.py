"""Make a session outlast the window: weights of a network that learns go with its training unless they are copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from explorer.declare.states import model_name
from explorer.declare.states.model_name import in_training, split_name
from explorer.state.runs import compared_state, models_of, renamed, run_text
from explorer.state.state import State
from explorer.work.files.places import free
from explorer.work.files.replacing import write_whole


def learning(state: State) -> tuple[str, ...]:
    """Return the names of the networks of a state whose weights go with their training."""
    return tuple(name for name in models_of(state) if in_training(name))


def with_whole_paths(state: State, sample: Callable[[str], str]) -> State:
    """Return the state with its files named from the root: a session is opened from another folder too.

    Args:
        sample: does so with the name of a sample.
    """
    return replace(
        state,
        model=model_name.with_whole_paths(state.model),
        compare=",".join(map(model_name.with_whole_paths, state.compared)),
        against=renamed(state.against, model_name.with_whole_paths, sample),
        sample=sample(state.sample),
    )


def with_copies(state: State, session: Path) -> tuple[State, Sequence[Path]]:
    """Return the state with weights that last, copied beside a session from what learns, and the copies.

    Raises:
        OSError: a training has ended in the meantime and its weights are gone, or they cannot be written; nothing is.
    """
    names, copies = dict[str, str](), list[Path]()
    try:
        for name in learning(state):
            weights = split_name(name)[1]
            copy = free(session.with_suffix(".safetensors"))
            write_whole(copy, Path(weights).read_bytes())
            copies.append(copy)
            names[name] = f"{name.removesuffix(weights)}{copy.absolute()}"
    except OSError:
        for copy in copies:
            copy.unlink(missing_ok=True)
        raise
    if not names:
        return state, ()
    other, against = compared_state(state), state.against
    if other is not None and against and other.model in names:
        against = run_text(names[other.model], other.sample, other.params)
    compare = ",".join(names.get(name, name) for name in state.compared)
    kept = replace(state, model=names.get(state.model, state.model), compare=compare, against=against)
    return kept, copies
