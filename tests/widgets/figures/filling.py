"""Views filled with what a network of their kind of data answers."""

from __future__ import annotations

from functools import cache
from itertools import islice

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.square.frame import Frame, OrbitCurve
from explorer.square.space import space_of_kind
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.view import View, ViewSpec

CURVES = 6  # parts of an orbit: enough to see it


@cache
def engine() -> LocalEngine:
    return LocalEngine(main.cards())


@cache
def catalogue() -> Catalogue:
    return engine().catalogue()


@cache
def answered(kind: str) -> tuple[Frame, tuple[OrbitCurve, ...]]:
    """Return the whole frame of the first scene of a kind of data, and some of its orbit."""
    scene = space_of_kind(kind).scenes[0]
    state = State(
        scene.model, sample=scene.sample, steps=parse_chain(scene.chain), layer=scene.layer, node=scene.node,
        device="cpu", orbit=(space_of_kind(kind).orbits or ("rotate",))[0],
    )  # fmt: skip
    frame = engine().answer(state, lambda: False)
    *_, frame = frame, *engine().refine(frame)
    curves = list(islice(engine().orbit(state), CURVES))
    return frame, tuple(curves[-1:])


def filled(view: View, spec: ViewSpec) -> View:
    """Show a view what it was made for."""
    frame, curves = answered(spec.domains[0] if spec.domains else "grid")
    view.show_catalogue(catalogue())
    view.set_state(frame.state)
    view.set_frame(frame)
    view.set_orbit(curves)
    return view
