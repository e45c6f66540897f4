"""Networks that take several images, or numbers beside them: what each is, found by trial or as declared, and data."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from explorer.data.unplaced import first_text, given_or_first
from explorer.declare.samples import Sample, Signal
from explorer.declare.telling.asking import NUMBER, Named, Sizes, is_unplaced, parse_unplaced
from explorer.declare.telling.counting import number_of
from explorer.declare.telling.values import told_value
from explorer.network.input.arguments import ByName
from explorer.network.input.recognise import Recognised
from explorer.network.input.unplaced import (
    BATCH,
    WHOLE,
    in_order,
    settled_forms,
    unplaced_forms,
    unplaced_others,
    unplaced_trial,
)
from explorer.network.tracing.trials import Counting, answer_of
from explorer.spaces.grid.network.fit import InputShape, fit
from explorer.spaces.grid.network.form import InputSpec
from explorer.work.limits import MAX_SIDE

SIDE = 29  # of the images that come with the program, the first that a network is shown
WORDS = 7  # of a text; no number of samples in a trial, so that no two axes fit by chance
MOST_TRIALS = 64  # of what several arguments could be


def named_images(images: Named) -> InputSpec:
    """Return what a network takes of which the arguments are images, or numbers beside one, given by name.

    Raises:
        ValueError: none is named, one is no name, or none is an image.
    """
    if wrong := [name for name, _ in images if not name.isidentifier()] or ([] if images else [""]):
        raise ValueError(f"INPUT_SHAPE must name the arguments of the network, and {wrong[0]!r:.40} is no name")
    shape = next((form for _, form in images if not is_unplaced(form)), None)
    if shape is None:
        raise ValueError("INPUT_SHAPE needs an image among what it names, as in {'image': (3, None, None)}")
    return InputSpec(shape, images=images)  # type: ignore[arg-type]


def declared_shape(shape: object) -> InputShape:
    """Return the shape of an image as a file says it.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(shape, list | tuple) or len(shape) != 3 or not isinstance(shape[0], int):
        raise ValueError(f"INPUT_SHAPE must be (channels, height, width), not {told_value(shape)}")
    channels, height, width = shape
    for side in (channels, *(s for s in (height, width) if s is not None)):
        if not isinstance(side, int) or isinstance(side, bool) or not 1 <= side <= MAX_SIDE:
            raise ValueError(f"INPUT_SHAPE must hold whole numbers from 1 to {MAX_SIDE}, not {told_value(side)}")
    return (channels, height, width)


def declared_form(form: object) -> Sizes:
    """Return one of several arguments as a file says it: an image, "vector 5", "number", "below 10" a whole number,
    "12 below 50" so many of them.

    Raises:
        ValueError: it is none of them.
    """
    if not isinstance(form, str):
        return declared_shape(form)
    if (found := parse_unplaced(form)) is None:
        raise ValueError(
            f"INPUT_SHAPE says {told_value(form)}, which is none of 'vector 5', 'number', 'below 10' and '12 below 50'"
        )
    return found


def several_images(own: Recognised, names: tuple[str, ...], sides: Iterable[int] = ()) -> Named:
    """Return what a network takes with these names, by trial: images, and numbers beside them; () where unclear.

    An argument is an image if the network runs with one there and neither with one number in its place nor with an
    image of another number of channels. It is a vector, one number for each sample, or the number of a class that is
    looked up, if the network runs with that and with nothing else of these in its place.

    Args:
        sides: of images to try where it runs on none of the first: what got furthest then.
    """
    network = own.network()
    filtered = own.widths_of_filters(2)
    # what is laid over another image is filtered by no layer: a mask, a depth, how sure each pixel is
    images: list[Sizes] = [(channels, None, None) for channels in dict.fromkeys((*filtered, 1))] if filtered else []
    alone = unplaced_forms(network)
    call, reached = Counting(ByName(names)), dict[tuple[Sizes, ...], int]()
    for batch, forms in itertools.product((BATCH, 1), [*_assigned(images, alone, len(names))]):
        given = [_trial(form, batch) for form in forms]
        if answer_of(network, given, call) is None:
            reached[forms] = max(call.calls, reached.get(forms, 0))
            continue
        return _settled(own, names, images, alone, batch, forms)
    furthest = [forms for forms, calls in reached.items() if calls == max(reached.values()) > 0]
    for side, forms in itertools.product(sides, furthest):
        sized = tuple(_of_side(form, side) for form in forms)
        if answer_of(network, [_trial(form, 1) for form in sized], call) is not None:
            return _settled(own, names, [_of_side(form, side) for form in images], alone, 1, sized)
    return ()


def _settled(
    own: Recognised, names: tuple[str, ...], images: Sequence[Sizes], alone: Sequence[Sizes], batch: int,
    forms: tuple[Sizes, ...],
) -> Named:  # fmt: skip
    """Return the forms that a network runs with by name, () where it runs with something else in the place of any."""
    call, given = ByName(names), [_trial(form, batch) for form in forms]
    found = settled_forms(own.network(), call, given, forms, partial(_others, images, alone, batch), batch)
    if found:
        own.why["images"] = f"its forward takes ({', '.join(names)}), and it runs on {_told(forms)}"
    return tuple(zip(names, found, strict=True)) if found else ()


def _of_side(form: Sizes, side: int) -> Sizes:
    return (form[0], side, side) if _is_image(form) else form


def _is_image(form: Sizes) -> bool:
    return not is_unplaced(form)


def _told(forms: Sequence[Sizes]) -> str:
    others = len([form for form in forms if is_unplaced(form)])
    return "such images" + (f" beside {number_of(others, 'argument')} of numbers" if others else "")


def _assigned(images: Sequence[Sizes], alone: Sequence[Sizes], count: int) -> Iterator[tuple[Sizes, ...]]:
    """Return what so many arguments could be: all images first, then few images beside numbers."""
    yield from itertools.islice(itertools.product(images, repeat=count), MOST_TRIALS)
    mixed = itertools.product([*images[:2], *alone], repeat=count)
    some = sorted((f for f in mixed if 0 < sum(map(_is_image, f)) < count), key=lambda f: sum(map(_is_image, f)))
    yield from some[: MOST_TRIALS * 2**count]


def _others(images: Sequence[Sizes], alone: Sequence[Sizes], batch: int, form: Sizes) -> list[Tensor]:
    """Return what a network that takes one form must refuse in its place."""
    if _is_image(form):
        numbers = [unplaced_trial((NUMBER,), n) for n in (1, batch)]
        return [*numbers, _trial((int(form[0] or 0) + 1, *form[1:]), batch)]
    # what looks up several numbers as well as one reads a text, and of that one number is no example
    text = [torch.zeros((batch, WORDS), dtype=torch.long, device="cpu")] if form == WHOLE else []
    return [*text, *(_trial(image, batch) for image in images), *unplaced_others(form, alone, batch)]


def _trial(form: Sizes, batch: int) -> Tensor:
    return noise((batch, *(int(size or SIDE) for size in form))) if _is_image(form) else unplaced_trial(form, batch)


def noise(shape: tuple[int, ...]) -> Tensor:
    """Return the same noise at every call."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(0), device="cpu")


def first_data(images: Named) -> str:
    """Return the data that such a network is shown on first: noise for each argument, one half for one number."""
    side = next((s for _, form in images if _is_image(form) for s in form[1:] if isinstance(s, int)), SIDE)
    return ",".join(
        f"{name}={first_text(form)}"
        if is_unplaced(form)
        else f"{name}=random:1x{form[0]}x{form[1] or side}x{form[2] or side}"
        for name, form in images
    )


def fit_several(sample: Sample, images: Named) -> Sample:
    """Adapt a sample to a network that takes images by name, and numbers beside them.

    Of one image alone the first is made, the others are noise, and numbers are those that a network is shown first.

    Raises:
        ValueError: it has other names, or an image does not fit.
    """
    forms: Mapping[str, Sizes] = dict(images)
    names, _ = in_order(images)
    own = dict(sample.signals)
    single = len(own) == 1 and next(iter(own)) not in names
    if not single and (lacking := [name for name in forms if name not in own]):
        raise ValueError(
            f"{sample.name!r} has {', '.join(own)}, and this network takes {', '.join(forms)}: {lacking[0]} is missing"
        )
    notes = sample.notes
    made: dict[str, Signal] = {}
    for k, name in enumerate(names):
        form = forms[name]
        if is_unplaced(form):
            made[name], told = given_or_first(name, form, None if single else own[name], "image", k)
            notes += told
            continue
        image = declared_shape(form)
        signal = sample.x if single else own[name]
        if single and k:
            height, width = next(iter(made.values())).values.shape[1:]
            sides = image[0], image[1] or height, image[2] or width
            values = np.random.default_rng(k).standard_normal(sides).astype(np.float32)
            notes += (f"the data is one image: {name} is noise",)
            signal = Signal(values, signal.field)
        one = fit(replace(sample, signals=MappingProxyType({name: signal}), notes=()), image)
        notes += tuple(f"{name}: {note}" for note in one.notes)
        made[name] = one.x
    return replace(sample, signals=MappingProxyType(made), notes=notes)
