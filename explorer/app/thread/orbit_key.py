"""Say whether two states have the same orbit."""

from __future__ import annotations

from explorer.declare.elements import transforms
from explorer.state.state import State


def orbit_key(state: State) -> object:
    """Return what the orbit depends on: the epoch, and the elements."""
    return state.epoch, elements_key(state)


def elements_key(state: State) -> object:
    """Return what the elements of the orbit depend on: the whole chain but for the one parameter that runs."""
    running = transforms().get(state.orbit)
    if running is None or running.orbit is None:
        return (state.orbit, state.steps, state.node)
    step = state.step(state.orbit)
    held = list(step.values if step is not None else running.defaults)
    held[running.orbit] = running.params[running.orbit].default
    # with the step set, a state that has it and one that has not run through the same elements
    # the answer along the orbit is that of the selected node
    return (state.orbit, state.with_step(state.orbit, tuple(held)).steps, state.node)
