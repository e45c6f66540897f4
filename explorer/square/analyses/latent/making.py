"""Make what a frame says of a network's codes: what is known already at once, the rest in idle time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Waiting
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import NoAction
from explorer.declare.states.latent import PIXELS, PROJECTIONS, LatentChoice, parse_latent
from explorer.square.analyses.latent.codes import Coder, coder, pictures, plain
from explorer.square.analyses.latent.orbit import turned, way
from explorer.square.analyses.latent.part import Floats, Latent, Walk
from explorer.square.analyses.latent.projections import Plane, fitted, offered
from explorer.square.both_ways import BothWays
from explorer.square.frame import Square
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import step

CELLS = 13  # of the decoded grid, along each axis
FEWEST = 3  # examples that have a covariance
STEPS = 9  # of a walk, both ends included
SAMPLES = 2048
FIRST = 256  # of them, before the plane: as many as a person sees of them at once
LITTLE = 16  # of those, which come at once
CHUNK = 128  # samples that are decoded between two points where newer work may take over
MOST_BYTES = 2**25  # of all samples
TELL = 0.3  # seconds between two words on how many examples are encoded
POLL = 0.02  # seconds between two looks at an embedding that is being computed
ENDS = (0.5, 99.5)  # per cent of the examples that the decoded grid covers


def at_once(one: BothWays) -> Latent | None:
    """Return what is known of the codes for a frame; None of a network without a code."""
    found = coder(one.p)
    if found is None:
        return None
    z, moved = (found.code_of(values, given) for values, given in ((one.p.values, one.p.inputs), (one.answers, one.gx)))
    expected = None
    if found.code_field is not None and found.images:
        import torch

        try:
            expected = plain(one.element.act(torch.tensor(z, device="cpu"), found.code_field))
        except NoAction:
            expected = None
    node = one.state.node or 0
    place = 0 if found.images else min(node, len(z) - 1)
    there = place if found.images else max(one.element.place_of(place, len(z)), 0)
    return _assembled(found, one.state, z[place], moved[there], None if expected is None else expected[place])


def refine_latent(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with ever more of the codes, a few milliseconds of work at a time."""
    found, known = coder(p), square.latent
    if found is None or known is None or found.problem:
        return
    z = (known.code, known.moved, known.expected)
    if _draws(found):  # then the examples tell nothing of them
        yield from _first_samples(found, state, square, z)
        square = replace(square, latent=_assembled(found, state, *z))
    start = told = time.perf_counter()
    for _ in found.encode_examples():
        step("Encoding examples", float("nan"))
        if time.perf_counter() - told > TELL:
            told = time.perf_counter()
            square = replace(square, latent=_assembled(found, state, *z))
        if time.perf_counter() - start > POLL:
            start = time.perf_counter()
            yield square
    choice = taken(found, state)
    yield from _first_samples(found, state, square, z)
    square = replace(square, latent=_assembled(found, state, *z))
    for _ in _fit(found, choice, state.seed):
        yield square
    yield (square := replace(square, latent=_assembled(found, state, *z)))
    if not isinstance(found.made.get(_key(choice, state)), Plane):
        yield _whole(square)
        return
    for work in (_grid(found, choice, state), _walk(found, choice, state), way(found, state)):
        for _ in work:
            yield square
        yield (square := replace(square, latent=_assembled(found, state, *z)))
    if found.posterior and found.images:
        _terms(found)
    square = replace(square, latent=replace(_assembled(found, state, *z), laid=True))
    yield square
    for _ in _samples(found, state, SAMPLES):
        yield square
    yield _whole(replace(square, latent=replace(_assembled(found, state, *z), laid=True)))


def _first_samples(
    found: Coder, state: State, square: Square, z: tuple[Floats, Floats, Floats | None]
) -> Iterator[Square]:
    """Yield the square with a few samples, then with as many as a person sees of them at once."""
    for most in (LITTLE, FIRST):
        for _ in _samples(found, state, most):
            yield square
        yield (square := replace(square, latent=_assembled(found, state, *z)))


def _draws(found: Coder) -> bool:
    """Return whether a network says itself from what its random codes are drawn."""
    return any(getattr(found.p.model, name, None) is not None for name in ("draw_codes", "posterior"))


def _whole(square: Square) -> Square:
    assert square.latent is not None
    return replace(square, latent=replace(square.latent, whole=True))


def taken(found: Coder, state: State) -> LatentChoice:
    """Return the choice of the person with a projection that there is."""
    try:
        choice = parse_latent(state.latent)
    except ValueError:
        choice = LatentChoice()
    turning = found.complete and found.arrow() is not None
    names = offered(turning, found.images)
    if choice.projection in names:
        return choice
    dims = found.codes[0].shape[1] if found.codes else 2
    drawn = bool(found.posterior)
    return replace(choice, projection="turning" if turning else "axes" if dims <= 2 or drawn else "pca")


def _key(choice: LatentChoice, state: State) -> tuple[Any, ...]:
    return ("plane", choice.projection, state.seed)


def _vectors(found: Coder, choice: LatentChoice) -> Floats:
    """Return what is projected: codes, or the inputs themselves."""
    if choice.projection.startswith(PIXELS) and found.examples is not None:
        return np.asarray(found.examples.inputs, float).reshape(len(found.examples.inputs), -1)
    return found.all_codes()


def _fit(found: Coder, choice: LatentChoice, seed: int) -> Iterator[None]:
    """Fit a projection in a thread of its own, and yield while it is not ready."""
    key = ("plane", choice.projection, seed)
    if key in found.made:
        return
    waiting = ("fitting", *key)
    if waiting not in found.made:
        vectors = _vectors(found, choice)
        arrow = found.arrow() if choice.projection == "turning" else None
        weights = kl_of(found).mean(0) if found.posterior else vectors.var(0)
        found.made[waiting] = _begun(fitted, choice.projection, vectors, found.labels(), weights, arrow, seed)
    future: Future[Plane] = found.made[waiting]
    while True:
        try:
            found.made[key] = future.result(POLL)
            break
        except Waiting:
            step(f"Computing {PROJECTIONS[choice.projection]}", float("nan"))
            yield
        except ValueError as error:
            found.made[key] = str(error)
            break
    del found.made[waiting]


def _begun(work: Callable[..., Plane], *given: Any) -> Future[Plane]:
    """Begin some work in a thread that ends with it."""
    future: Future[Plane] = Future()

    def run() -> None:
        try:
            future.set_result(work(*given))
        except BaseException as error:  # whoever waits for it hears of it
            future.set_exception(error)

    threading.Thread(target=run, name="equiscope-embedding", daemon=True).start()
    return future


def kl_of(found: Coder) -> Floats:
    """Return KL(q(z|x) ‖ N(0, 1)) of each number of the code of each example, (n, d)."""
    mean, log_variance = (np.concatenate([part[k] for part in found.posterior]) for k in (0, 1))
    with np.errstate(over="ignore"):  # of a network that has diverged: infinite, and drawn as that
        return np.asarray(0.5 * (mean**2 + np.exp(log_variance) - 1.0 - log_variance))


def _assembled(found: Coder, state: State, z: Floats, moved: Floats, expected: Floats | None) -> Latent:
    choice = taken(found, state)
    turning = found.complete and found.arrow() is not None
    layer = "code" if found.code_field is not None else ""
    encoded, count = sum(map(len, found.codes)), 0 if found.examples is None else len(found.examples.inputs)
    share = f" {encoded / count:.0%}" if encoded and count else ""
    made = Latent(
        choice, offered(turning, found.images), layer, str(found.code_field or "unknown"), len(z), z, moved, expected,
        busy=found.problem or f"Encoding the examples…{share}", whole=bool(found.problem),
    )  # fmt: skip
    if found.examples is not None:
        made = replace(made, title=found.examples.title, names=found.examples.names)
    elif found.code_field is not None:
        made = replace(made, title=f"{found.code_field.domain.name}s of the input")
    if found.images:
        made = replace(made, picture=pictures(found.p.x.detach().cpu().float().numpy())[0])
    if found.problem:
        return made
    if (images := found.made.get(("samples", state.seed))) is not None:
        drawn, asked = found.made[("drawn", state.seed)]
        made = replace(made, samples=images, drawn=drawn, asked=asked, few=len(images) <= LITTLE)
    if not found.complete:
        return made
    plane = found.made.get(_key(choice, state))
    if not isinstance(plane, Plane):
        return replace(made, busy=plane or f"Computing {PROJECTIONS[choice.projection]}…")
    pixels = choice.projection.startswith(PIXELS)
    here, there, wanted = _places(found, plane, pixels, z, moved, expected)
    made = replace(
        made, busy="", points=plane.points, labels=found.labels(), axes=plane.axes, linear=plane.linear,
        here=here, there=there, wanted=wanted,
        grid=(found.made.get(("cells", choice.projection, state.seed)) or (None,))[0],
        extent=_extent(plane.points),
        orbit=turned(found, state, plane, choice.projection), walk=_drawn_walk(found, state, choice, plane, pixels),
    )  # fmt: skip
    if choice.at is not None and found.images:
        made = replace(made, decoded=_image(found, plane, pixels, np.array([choice.at]), z)[0])
    if found.examples is not None:
        at = np.array(choice.at) if choice.at is not None else there if there is not None else plane.points[0]
        nearest = int(((plane.points - at) ** 2).sum(1).argmin())
        made = replace(made, nearest=(nearest, pictures(found.examples.inputs[nearest : nearest + 1])[0]))
    if found.posterior:
        kl = kl_of(found)
        made = replace(made, divergence=kl.mean(0), terms=found.made.get(("terms",), {}))
    return made


def _places(
    found: Coder, plane: Plane, pixels: bool, z: Floats, moved: Floats, expected: Floats | None
) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return where the input, the moved input and the expected code lie."""
    if pixels:
        x = found.p.x.detach().cpu().double().numpy().reshape(1, -1)
        return plane.forward(x)[0], None, None
    rows = [z, moved] + ([expected] if expected is not None else [])
    at = plane.forward(np.stack(rows))
    return at[0], at[1], at[2] if expected is not None else None


def _image(found: Coder, plane: Plane, pixels: bool, at: Floats, rest: Floats) -> NDArray[np.float32]:
    """Return what places of the plane stand for, (m, h, w); `rest` is a code that says what the plane does not."""
    if pixels and found.examples is not None:
        shape = found.examples.inputs.shape[1:]
        mean = found.examples.inputs.reshape(len(found.examples.inputs), -1).mean(0).astype(float)
        return pictures(np.clip(plane.back(at, mean), 0.0, 1.0).reshape(-1, *shape))
    return found.decode(plane.back(at, rest))


def _extent(points: Floats) -> tuple[float, float, float, float]:
    low, high = np.percentile(points, ENDS, axis=0)
    wide = np.maximum(high - low, 1e-9)
    (left, bottom), (right, top) = low - 0.06 * wide, high + 0.06 * wide
    return float(left), float(right), float(bottom), float(top)


def _grid(found: Coder, choice: LatentChoice, state: State) -> Iterator[None]:
    """Decode the middle of each cell of the plane, a row at a time."""
    key, plane = ("cells", choice.projection, state.seed), found.made[_key(choice, state)]
    if key in found.made or not found.images:
        return
    left, right, bottom, top = _extent(plane.points)
    x = left + (np.arange(CELLS) + 0.5) * (right - left) / CELLS
    y = top - (np.arange(CELLS) + 0.5) * (top - bottom) / CELLS
    pixels, rest = choice.projection.startswith(PIXELS), found.all_codes().mean(0)
    rows = []
    for row in y:
        rows.append(_image(found, plane, pixels, np.stack([x, np.full(CELLS, row)], 1), rest))
        step("Decoding the plane", len(rows) / CELLS)
        yield
    found.made[key] = (_frozen(np.stack(rows)),)


def _walk(found: Coder, choice: LatentChoice, state: State) -> Iterator[None]:
    """Make the images of a walk to the chosen example."""
    key = ("walk", choice.other)
    if choice.other is None or key in found.made or found.examples is None:
        return
    number = min(choice.other, len(found.examples.inputs) - 1)
    share = np.linspace(0.0, 1.0, STEPS)
    x, other = found.p.x.detach().cpu().float().numpy(), found.examples.inputs[number : number + 1]
    between = (1 - share)[:, None, None, None] * x + share[:, None, None, None] * other
    z = (1 - share)[:, None] * found.encode(x) + share[:, None] * found.encode(other)
    decoded = found.decode(z)
    found.made[key] = (_frozen(pictures(between)), _frozen(decoded), z, between.reshape(STEPS, -1).astype(float))
    yield


def _drawn_walk(found: Coder, state: State, choice: LatentChoice, plane: Plane, pixels: bool) -> Walk | None:
    made = found.made.get(("walk", choice.other)) if choice.other is not None else None
    if made is None:
        return None
    between, decoded, z, flat = made
    rough = tuple(_roughness(images) for images in (between, decoded))
    return Walk(between, decoded, plane.forward(flat if pixels else z), (rough[0], rough[1]))


def _roughness(images: NDArray[np.floating]) -> float:
    """Return the longest step from image to image, in units of the mean step."""
    steps = np.sqrt(((images[1:] - images[:-1]).astype(float) ** 2).sum((1, 2)))
    return float(steps.max() / max(steps.mean(), 1e-12))


def _samples(found: Coder, state: State, most: int) -> Iterator[None]:
    """Decode random codes: as the network draws them, of N(0, 1), or of a Gaussian like the examples' codes.

    Args:
        most: how many there are afterwards, if there were not more before.
    """
    key = ("samples", state.seed)
    count = min(SAMPLES, MOST_BYTES // max(1, int(np.prod(found.p.x.shape[-2:]))))
    if len(found.made.get(key, ())) >= min(count, most) or not found.images:
        return
    chance = np.random.default_rng(state.seed)
    own = getattr(found.p.model, "draw_codes", None)
    if own is not None:
        vectors, drawn = own(count, state.seed)
        z = plain(vectors)
    elif _draws(found):
        z, drawn = chance.standard_normal((count, found.encoded(found.p.inputs).shape[1])), "z from N(0, 1)"
    elif len(codes := found.all_codes()) < FEWEST or not np.isfinite(codes).all():
        return  # there is no plane of them either, and what is said of it stands in the place of both
    else:
        mean, covariance = codes.mean(0), np.atleast_2d(np.cov(codes.T))
        z = chance.multivariate_normal(mean, covariance, count, method="eigh")
        drawn = "z from a Gaussian with the mean and covariance of the examples' codes"
    count = len(z)
    # of all classes and captions, which follow each other, some are seen at first
    at = np.arange(count)
    order = np.argsort(sum((at % max(1, count // some) > 0).astype(int) for some in (LITTLE, FIRST)), kind="stable")
    parts = found.made.setdefault(("parts", state.seed), [])  # what newer work interrupts goes on from there
    while (done := sum(map(len, parts))) < (wanted := min(count, most)):
        images = found.decode(z[order[done : min(done + CHUNK, wanted)]])
        parts.append(np.round(255 * np.clip(images, 0.0, 1.0)).astype(np.uint8))
        step("Decoding random codes", done / count)
        yield
    made = np.concatenate(parts)
    z, every = z[order][: len(made)], count // len(made)
    if len(made) == count or every > 1:
        back = np.argsort(order[: len(made)], kind="stable")
        made, z = made[back], z[back]
    if every > 1:
        drawn = f"one in {every} of those to come: {drawn}"
    found.made[key], found.made[("drawn", state.seed)] = _frozen(made), (drawn, found.asked(z))


def _terms(found: Coder) -> None:
    """Note the terms of the bound on the log-likelihood, with the mean of each code in place of a draw."""
    if ("terms",) in found.made or found.examples is None:
        return
    x = found.examples.inputs.mean(1).astype(float)
    decoded = np.clip(found.decode(found.all_codes()).astype(float), 1e-7, 1 - 1e-7)
    nats = -(x * np.log(decoded) + (1 - x) * np.log1p(-decoded)).sum((1, 2)).mean()
    kl = float(kl_of(found).sum(1).mean())
    found.made[("terms",)] = {"reconstruction": float(nats), "divergence": kl, "bound": -float(nats) - kl}


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values
