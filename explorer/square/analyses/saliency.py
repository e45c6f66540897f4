"""Maps of which pixels one entry of an image network's answer depends on, on both sides of the square.

Gradients are those of the entry itself, before any softmax. For an entry that no element moves, f(ρ(g) x) = f(x), the
maps have a law of their own: S(ρ(g) x) = ρ(g) S(x), under elements that permute pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from explorer.declare.elements import Element, NoAction, chain_element
from explorer.declare.inputs import Inputs
from explorer.declare.states.model_name import named_as_shown
from explorer.declare.states.saliency import parse_saliency
from explorer.declare.types.fields import FieldType, Scalar
from explorer.equivariance import measure
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture, differentiable, gradients_to_inputs
from explorer.network.tracing.running import evaluating
from explorer.square.drawing.layers import frozen
from explorer.square.frame import Saliency, Square
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import waited

NOISES = 16  # samples of a smooth gradient
NOISE = 0.1  # their standard deviation, as a share of the range of x
BATCH = 32  # positions of a patch in one pass
PATCH = 8  # patches along the shorter side, at least, before they overlap by half

Score = Callable[[Tensor], Tensor]  # images, (batch, channel, height, width) -> the entry of each answer


def score_of(p: Prepared, inputs: Inputs, entry: int) -> Score:
    """Return the function from images to one entry of the answer; of maps and the like its mean over places.

    Args:
        inputs: what else the network is given beside the images, on this side of the square.
    """
    out = p.trace[p.trace.output]
    domain = out.field.domain if out.field is not None else FieldType(p.x_field.domain).domain

    def score(x: Tensor) -> Tensor:
        reseed(p.seed)
        found = capture(p.model, inputs.with_batch(x), [out.name], clone=p.trace.clones, cancelled=waited)[0][out.name]
        return domain.by_channel(found)[:, entry].flatten(1).mean(1) if found.ndim > 1 else found

    return score


def entries(p: Prepared) -> Tensor:
    """Return every entry of F(x), (entries,)."""
    out = p.trace[p.trace.output]
    if p.output.ndim < 2:
        return p.output.flatten()[:1]
    domain = out.field.domain if out.field is not None else p.x_field.domain
    return domain.by_channel(p.output)[0].flatten(1).mean(1)


def gradient(score: Score, x: Tensor) -> Tensor:
    """Return the derivative of each image's score by its pixels."""
    leaf = differentiable(x)
    (found,) = torch.autograd.grad(score(leaf).sum(), leaf, allow_unused=True)
    return torch.zeros_like(x) if found is None else found


def patch_of(height: int, width: int) -> tuple[int, int]:
    """Return (side, step) of a patch whose positions lie alike from every side of the image.

    So the places where it can lie are turned into each other when the image is turned.
    """
    wanted = max(1, min(height, width) // PATCH)
    for side in (wanted, *(wanted + d for k in range(1, min(height, width)) for d in (k, -k))):
        step = max(1, side // 2)
        if 0 < side <= min(height, width) and not (height - side) % step and not (width - side) % step:
            return side, step
    return 1, 1


def occlusion(score: Score, x: Tensor) -> Iterator[tuple[Tensor, float]]:
    """Yield (map, share that is done) of how much the score falls when a patch is set to zero, a batch at a time.

    Every pixel has the mean over the patches that cover it.
    """
    side, step = patch_of(x.shape[-2], x.shape[-1])
    corners = [
        (top, left)
        for top in range(0, x.shape[-2] - side + 1, step)
        for left in range(0, x.shape[-1] - side + 1, step)
    ]  # fmt: skip
    with torch.no_grad():
        whole = score(x)
    total, covered = torch.zeros_like(x[:1, :1]), torch.zeros_like(x[:1, :1])
    for first in range(0, len(corners), BATCH):
        some = corners[first : first + BATCH]
        hidden = x.repeat(len(some), 1, 1, 1)
        for k, (top, left) in enumerate(some):
            hidden[k, :, top : top + side, left : left + side] = 0
        with torch.no_grad():
            drops = whole - score(hidden)
        for drop, (top, left) in zip(drops, some, strict=True):
            total[..., top : top + side, left : left + side] += drop
            covered[..., top : top + side, left : left + side] += 1
        yield (total / covered.clamp_min(1)).expand_as(x), min(1.0, (first + len(some)) / len(corners))


def maps(p: Prepared, method: str, entry: int, inputs: Inputs, element: Element) -> Iterator[tuple[Tensor, float]]:
    """Yield (map of one image, share that is done).

    Args:
        element: what the noise of a smooth gradient moves along with.
    """
    x, score = inputs.x, score_of(p, inputs, entry)
    if method == "occlusion":
        yield from occlusion(score, x)
        return
    if method == "smooth":
        generator = torch.Generator().manual_seed(p.seed)
        noise = torch.randn((NOISES, *p.x.shape[1:]), generator=generator, device="cpu").to(p.x)
        noise = element.act(noise, FieldType(p.x_field.domain)) * (NOISE * (p.x.max() - p.x.min()))
        with gradients_to_inputs(p.model):
            found = gradient(score, x + noise).mean(0, keepdim=True)
        yield found, 1.0
        return
    with gradients_to_inputs(p.model):
        found = gradient(score, x)
    yield (found * x if method == "x-gradient" else found), 1.0


def saliency(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with ever more of the maps that the state asks for; nothing where there is no image.

    Where the network has no gradient, or breaks on what is shown to it, the sentence that says so comes in their place:
    what follows in idle time does not depend on it.
    """
    if not state.saliency or not p.inputs.batched or p.x.ndim != 4:
        return
    method, wanted = parse_saliency(state.saliency)
    if not p.answers:
        problem = f"There is no answer to be asked about: {p.trouble.sentence}."
        yield replace(square, saliency=Saliency(method, wanted or 0, "", 0, problem=problem, done=1.0))
        return
    scores = entries(p)
    entry = int(scores.argmax()) if wanted is None else min(wanted, len(scores) - 1)
    element = chain_element(state.steps).on(p.inputs)
    field = FieldType(p.x_field.domain, Scalar())
    label = p.labels[entry] if entry < len(p.labels) else f"entry {entry}"
    made = Saliency(method, entry, label, len(scores))
    gx = p.inputs.moved(element)
    both = _both(p, method, entry, gx, element)
    while True:
        with evaluating(p.model):  # not over a yield: other work may come between two parts
            try:
                part = next(both, None)
            except torch.OutOfMemoryError:
                raise
            except RuntimeError as error:
                problem = f"The answer of {named_as_shown(p.card.name)} has no such map: {error}"
                yield replace(square, saliency=replace(made, problem=problem, done=1.0))
                return
        if part is None:
            return
        yield replace(square, saliency=_compared(p, made, element, field, *part))


def _both(p: Prepared, method: str, entry: int, gx: Inputs, element: Element) -> Iterator[tuple[Tensor, Tensor, float]]:
    one = maps(p, method, entry, p.inputs, chain_element(()))
    other = maps(p, method, entry, gx, element)
    for (values, share), (moved, _) in zip(one, other, strict=True):
        yield values.detach().clone(), moved.detach().clone(), share


def _compared(
    p: Prepared, made: Saliency, element: Element, field: FieldType, values: Tensor, moved: Tensor, share: float
) -> Saliency:
    out = p.trace[p.trace.output].field
    total = [v.sum(1, keepdim=True) for v in (values, moved)]
    found = replace(made, on_x=frozen(total[0][0]), on_gx=frozen(total[1][0]), done=share)
    try:
        expected = element.act(values, field)
    except NoAction:
        return found
    where = measure.mask(element, values, field)
    sums = expected.sum(1, keepdim=True)
    found = replace(found, expected=frozen(sums[0]), difference=frozen((sums - total[1])[0]))
    fixed = out is not None and isinstance(out.rep, Scalar)
    error = float(measure.apart(expected, moved, where, field).max()) if fixed else None
    exact = element.exact(field, tuple(values.shape)) and not element.identity
    return replace(found, error=error, exact=exact)
