"""The way of a code along the orbit of the input: does it rotate, stand still, jump, or wander?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from explorer.declare.elements import NoAction, Transform, transforms
from explorer.declare.states.latent import PIXELS
from explorer.square.analyses.latent.codes import Coder, plain
from explorer.square.analyses.latent.part import Floats, Turned
from explorer.square.analyses.latent.projections import Plane
from explorer.square.analyses.orbits import orbit_elements, orbit_values
from explorer.state.state import State
from explorer.work.progress import step

COUNT = 48
STILL = 1e-3  # of the spread of all codes: what moves less stands still
LAW = 1e-3  # relative error up to which a code goes where its field says; rounding is far below, a broken law far above
JUMP = 6.0  # median steps


def _transform(found: Coder, state: State) -> Transform | None:
    transform = transforms().get(state.orbit)
    fits = transform is not None and transform.orbit is not None and found.p.card.domain in transform.domains
    return transform if fits and found.images else None


def _key(state: State) -> tuple[Any, ...]:
    return ("orbit", state.orbit, tuple(s for s in state.steps if s.name != state.orbit))


def way(found: Coder, state: State) -> Iterator[None]:
    """Encode the input along the orbit, an element at a time."""
    transform = _transform(found, state)
    if transform is None or _key(state) in found.made:
        return
    p = found.p
    values = orbit_values(transform, p.x.shape[-1], COUNT)
    codes, wanted, exact, along = [], [], [], []
    start = torch.tensor(found.encoded(p.inputs), device="cpu")
    for k, word in enumerate(orbit_elements(state, transform, values)):
        element = word.on(p.inputs)
        moved = p.inputs.moved(element)
        codes.append(found.encoded(moved)[0])
        exact.append(p.inputs.exact(element))
        wanted.append(np.full(start.shape[1], np.nan))
        if found.code_field is not None:
            try:
                wanted[-1] = plain(element.act(start, found.code_field))[0]
            except NoAction:
                pass  # of a code that permutes by quarter turns alone
        along.append(moved.x.detach().cpu().double().numpy().reshape(-1))
        if k % 8 == 7:
            step("Encoding the orbit", k / len(values))
            yield
    found.made[_key(state)] = (values, np.stack(codes), np.stack(wanted), np.array(exact), np.stack(along))


def turned(found: Coder, state: State, plane: Plane, projection: str) -> Turned | None:
    """Return the way in a plane, and what kind of way it is; None where it is not known yet."""
    transform, made = _transform(found, state), found.made.get(_key(state))
    if transform is None or made is None:
        return None
    drawn = ("turned", projection, state.seed, *_key(state))
    if drawn not in found.made:
        found.made[drawn] = _turned(found, transform, made, plane, projection.startswith(PIXELS))
    known: Turned = found.made[drawn]
    return known


def _turned(found: Coder, transform: Transform, made: Any, plane: Plane, pixels: bool) -> Turned:
    values, codes, wanted, exact, along = made
    param = transform.params[transform.orbit or 0]
    kind, told = judged(codes, wanted, exact, found.all_codes(), param.periodic, str(found.code_field or ""))
    expected = np.full((len(values), 2), np.nan)
    if pixels:
        path = plane.forward(along)
    else:
        path = plane.forward(codes)
        known = np.isfinite(wanted).all(1)
        if known.any():
            expected[known] = plane.forward(wanted[known])
    return Turned(values, param.unit, path, exact, expected, kind, f"Along {transform.name}, {told}", transform.name)


def judged(codes: Floats, wanted: Floats, exact: Any, examples: Floats, closed: bool, field: str) -> tuple[str, str]:
    """Return what a way of codes (m, d) is, in a word and in a sentence.

    Args:
        wanted: where the code's own field would bring it; NaN where that says nothing.
        exact: (m,), the elements that permute pixels: these alone are judged.
        examples: (n, d), whose spread distances are told in.
        closed: whether the way ends where it begins.
    """
    spread = float(np.sqrt(examples.var(0).sum())) or 1.0
    known = np.asarray(exact, bool) & np.isfinite(wanted).all(1)
    moves = np.sqrt(((codes - codes[0]) ** 2).sum(1))
    if moves.max() < STILL * spread:
        return "stands still", f"the code stands still: it moves by {moves.max() / spread:.1e} of the codes' spread"
    if known.sum() > 1:
        error = float(np.sqrt(((codes - wanted)[known] ** 2).sum(1)).max() / max(np.linalg.norm(codes[0]), 1e-12))
        asked = float(np.sqrt(((wanted - wanted[0])[known] ** 2).sum(1)).max())
        if error < LAW and asked > STILL * spread:
            told = f"the code rotates as its field {field} says: relative error {error:.1e}"
            return "rotates", f"{told} at the {int(known.sum())} exact elements"
        if error < LAW:
            return "stands still", f"the code stands still at the {int(known.sum())} exact elements, to {error:.1e}"
    ends = np.concatenate([codes, codes[:1]]) if closed else codes
    steps = np.sqrt(((ends[1:] - ends[:-1]) ** 2).sum(1))
    longest = float(steps.max() / max(float(np.median(steps)), 1e-12))
    far = f"by up to {moves.max() / spread:.2f} of the codes' spread, its longest step {longest:.1f} times the median"
    if longest > JUMP:
        return "jumps", f"the code obeys no law and jumps: it moves {far}"
    return "wanders", f"the code obeys no law and wanders: it moves {far}"
