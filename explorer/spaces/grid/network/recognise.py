"""Tell of what size the images are that somebody's network takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from explorer.declare.telling.counting import number_of
from explorer.declare.telling.values import told_value
from explorer.network.input.arguments import ByName
from explorer.network.input.call_forms import asked
from explorer.network.input.patience import Patience
from explorer.network.input.recognise import Recognised, filters_planes, shapes_of
from explorer.network.input.typed_tensors import declares, is_type
from explorer.network.opening.helpers import line_told
from explorer.network.tracing.layers import named_error
from explorer.network.tracing.trials import answer_of, noting
from explorer.network.tracing.walking import modules_of, named_modules
from explorer.spaces.grid.network.fit import InputShape
from explorer.spaces.grid.network.form import AXES, InputSpec
from explorer.spaces.grid.network.several import (
    MOST_TRIALS,
    SIDE,
    declared_form,
    declared_shape,
    named_images,
    noise,
    several_images,
)

SMALLEST = 8  # sides of images that are recognised by their number of pixels: less is as likely a table
LARGER = 37  # another side: what runs on one alone is shown a size that it is likelier made for, such as 28
FRAMES = (6, 8, 10, 16)  # of videos: no number of channels that is tried
MULTIPLES = (2, 4, 8, 16)
SIDES = (16, 28, 32, 48, 64, 84, 96, 128, 224, 256, 299)  # that networks are made for


def image_input(own: Recognised) -> InputSpec:
    """Return what a network on images takes.

    Raises:
        ValueError: INPUT_SHAPE or INPUT_AXES are none, or the former is missing where nothing else tells.
    """
    declared = own.said("input_shape")
    if isinstance(declared, Mapping):
        return named_images(tuple((str(name), declared_form(form)) for name, form in declared.items()))
    if len(needed := own.required()) > 1:
        sides = sorted({*SIDES, *_sides_told(own.network())}) if declared is None else []
        if declared is None and (found := several_images(own, tuple(needed), sides)):
            return named_images(found)
        first = needed[0]
        raise ValueError(
            f"its forward takes ({', '.join(needed)}): say INPUT_SHAPE = {{{first!r}: (3, None, None), 't': 'number', "
            f"'y': 'below 10', ...}}, INPUT_CHANNELS = {{{first!r}: 8, ...}} of sequences, "
            f"INPUT_SIGNALS = ('x', 'edge_index', ...) or INPUT_TABLES = {{{first!r}: '1xAx3', ...}} of sets, which "
            "--group permutation finds by trial"
        )
    shape = _input_shape(own) if declared is None else declared_shape(declared)
    if declared is None and own.takes_one() and (names := _read_off(own, shape[0])):
        return named_images(tuple((name, shape) for name in names))
    if own.by_keyword():
        return named_images(((needed[0], shape),))
    if isinstance(frames := own.said("input_frames"), int) and frames > 1:
        return InputSpec(shape, frames=frames)
    if (axes := own.said("input_axes")) is not None:
        if axes not in AXES:
            raise ValueError(f"INPUT_AXES must be one of {', '.join(AXES)}, not {told_value(axes)}")
        return InputSpec(shape, axes=axes)
    return _sized(own, shape) if declared is None and shape[1:] == (None, None) else InputSpec(shape)


def _read_off(own: Recognised, channels: int) -> tuple[str, ...]:
    """Return the names of the images that a network reads off its only argument; () of a tensor.

    Raises:
        ValueError: it does not run with images of those names.
    """
    x = noise((1, channels, SIDE, SIDE))
    found: tuple[str, ...] = ()
    while (names := asked(own, dict.fromkeys(found, x))) and not set(names) <= set(found):
        found = tuple(dict.fromkeys((*found, *names)))
        if answer_of(own.network(), [x] * len(found), ByName(found)) is not None:
            own.why["images"] = f"its forward reads {', '.join(found)} off its argument"
            return found
    if found and set(asked(own, dict.fromkeys(found, x))) & set(found):
        raise ValueError(
            f"its forward reads {', '.join(map(repr, found))} off its argument; say in the file what that is, "
            f"INPUT_SHAPE = {{{found[0]!r}: (channels, height, width), ...}} for images, INPUT_CHANNELS = "
            f"{{{found[0]!r}: 8, ...}} for sequences, or call check_equivariance with the object itself"
        )
    return ()


def _sized(own: Recognised, shape: InputShape) -> InputSpec:
    """Return what a network takes that says nothing of sides: any, multiples of a number, or one size, as it runs."""
    if (found := image_by_trial(own, shape)) is None:
        own.unproven.append("grid")
        own.doubts.append(f"it runs on no images of {shape[0]} channel(s) that were tried; --input says what it takes")
    return found or InputSpec(shape)


def image_by_trial(own: Recognised, shape: InputShape | None = None) -> InputSpec | None:
    """Return the images that a network of one argument runs with, of the widths and sizes that are tried.

    Args:
        shape: what is expected, and needs no reason.
    """
    if len(own.required()) != 1:
        return None
    # a first convolution may be given more than the image, and filters may be a parameter of the network itself
    wide = (*(shape or ())[:1], 1, 3, *own.widths_of_filters(2), _dense(own.network()))
    found = next(images_by_trial(own.network(), wide), None)
    if found is not None and found.frames > 1:
        own.why["frames"] = f"it runs on no image alone, and on {found.frames} of them, (batch, frames, channels, ...)"
    if found is not None and found.axes != AXES[0]:
        own.why["axes"] = "it runs on images with their channels last, (batch, height, width, channels), alone"
    if found is not None and (shape is None or found != InputSpec(shape)):
        own.why["shape"] = own.why["multiple"] = "of the sizes that were tried it runs on such images"
        if shape is None:
            own.why["data"] = own.why["shape"]
    return found


def images_by_trial(network: nn.Module, widths: Iterable[int | None]) -> Iterator[InputSpec]:
    """Yield the images that a network runs with, of each width that is tried."""
    wide = [channels for channels in dict.fromkeys(widths) if channels]
    alone, patience = False, Patience()
    for channels in wide:
        if (found := sized(network, channels, patience=patience)) is not None:
            alone = True
            yield found
    for frames in () if alone else FRAMES:
        for found in (sized(network, c, frames, patience) for c in wide):
            if found is not None:
                alone = True
                yield found
    # what has no filters over planes may as well be on a matrix of pairs
    for c in () if alone or not filters_planes(network) else wide:
        if (found := sized(network, c, patience=patience, axes=AXES[1])) is not None:
            yield found


def sized(
    network: nn.Module, channels: int, frames: int = 1, patience: Patience | None = None, axes: str = AXES[0]
) -> InputSpec | None:
    """Return sides that a network runs on with images of so many channels, or videos; None where it does on none."""
    held = patience or Patience()
    found = InputSpec((channels, None, None), frames=frames, axes=axes)

    def runs(side: int) -> bool:
        return held.allows(lambda: _runs(network, found, side), side)

    first = runs(SIDE)
    if first and runs(LARGER):
        return found
    if found.otherwise and not first and not any(runs(side) for side in (16, 32, 64)):
        return None  # many sides, one after the other, take long to be refused
    for multiple in MULTIPLES:
        # odd multiples, so that a network that needs twice as much refuses them
        least = (SIDE // multiple // 2 * 2 + 1) * multiple
        if all(runs(side) for side in (least, least + 2 * multiple)):
            return replace(found, multiple=multiple)
    # the smallest first: where every place attends to every other, a large image takes minutes to be refused
    sides = sorted({*SIDES, *_sides_told(network)})
    one = next((side for side in sides if runs(side)), SIDE if first else None)
    if one is None:
        return None
    # with a table of places that is cut to the size of the image it runs on smaller ones than it is made for
    multiples = [side for side in sides if side % one == 0]
    *_, last = itertools.takewhile(lambda side: side == one or runs(side), multiples)
    bounded = last != multiples[-1] or not runs(2 * last)
    one = last if bounded else one
    return replace(found, shape=(channels, one, one))


def _sides_told(network: nn.Module) -> set[int]:
    """Return sides of images for which a network may keep a value a place or a patch, as its tensors' shapes tell."""
    shapes = shapes_of(network)
    roots = {a for shape in shapes for a, b in itertools.pairwise(shape) if a == b}
    # as many as places, or one more for a token of the class
    roots |= {math.isqrt(n) for shape in shapes for size in shape for n in (size, size - 1) if _square(n)}
    sides = (root * multiple for root in roots for multiple in (1, *MULTIPLES))
    return set(itertools.islice((side for side in sorted(sides) if SMALLEST <= side <= SIDES[-1]), MOST_TRIALS))


def _square(number: int) -> bool:
    return number > 1 and math.isqrt(number) ** 2 == number


def _runs(network: nn.Module, form: InputSpec, side: int) -> bool:
    return answer_of(network, (form.laid(noise((1, form.drawn[0], side, side))),)) is not None


def _in_type(module: nn.Module) -> Any:
    return getattr(module, "in_type", None)


def _input_shape(own: Recognised) -> InputShape:
    """Return what the first convolution eats: its input channels, any size.

    Raises:
        ValueError: there is none, and a dense layer eats vectors, whose image size nobody knows.
    """
    model = own.network()
    for name, module in named_modules(model):
        if declares(module) and is_type(declared := _in_type(module)):
            own.why["shape"] = f"{name or type(module).__name__} declares {number_of(declared.size, 'channel')}"
            return (int(declared.size), None, None)
        # 0 is what a lazy convolution says
        if isinstance(channels := getattr(module, "in_channels", None), int) and channels > 0:
            own.why["shape"] = (
                f"its first convolution, {name or type(module).__name__}, takes {number_of(channels, 'channel')}"
            )
            return (channels, None, None)
    numbers = _dense(model)
    if not numbers and any(type(m).__name__.endswith("2d") for m in modules_of(model)):
        return (1, None, None)  # so torch names what goes over images, lazy convolutions too
    if numbers is None:
        own.last_resort.append("grid")
        return (1, None, None)
    if not numbers:
        raise ValueError(
            f"its first layer is made for as many numbers as it is first given; {_asked_for('(1, 28, 28)', 1)}"
        )
    for channels in (1, 3):
        root = math.isqrt(numbers // channels)
        form = InputSpec((channels, None, None))
        flat = channels * root**2 == numbers and root >= SMALLEST and not _runs(model, form, 2 * root)
        if (numbers == channels or flat) and _runs(model, form, root if flat else SIDE):
            own.why["shape"] = f"its first layer takes {numbers} numbers, and it runs on such images"
            if not flat:
                return (channels, None, None)
            own.doubts.append(
                f"the {numbers} numbers that it takes are taken for images of {channels}x{root}x{root}; "
                "--input says what they are"
            )
            return (channels, root, root)
        if channels * root**2 == numbers and root > 1 and (found := _of_patches(model, channels, numbers)):
            own.why["shape"] = f"its first layer takes patches of {channels}x{root}x{root}, and it runs on such images"
            return found
    side = math.isqrt(numbers)
    image = f"(1, {side}, {side})" if side > 1 and side**2 == numbers else "(channels, height, width)"
    with noting() as noted:
        alone = answer_of(model, (noise((1, numbers)),))
    if alone is None:
        said = f" ({named_error(noted.first)}{line_told(noted.first, Path(own.where))})" if noted.first else ""
        told = f"a dense layer of it takes {number_of(numbers, 'number')}, on which alone it does not run{said}"
        raise ValueError(f"{told}; {_asked_for('(channels, height, width)', numbers)}")
    vector = ", and no group moves a vector" if numbers > 1 else ""
    raise ValueError(f"the first layer takes {number_of(numbers, 'number')}{vector}; {_asked_for(image, numbers)}")


def _of_patches(model: nn.Module, channels: int, numbers: int) -> InputShape | None:
    """Return the images that a network runs on whose first layer takes so many numbers; None for none."""
    if answer_of(model, (noise((1, channels, 1, numbers)),)) is not None:
        return None  # rows of any image that is as wide
    found = sized(model, channels)
    return None if found is None else found.shape


def _asked_for(image: str, width: int) -> str:
    """Return how a file says of what kind its data are, where a dense layer comes first."""
    return (
        f"say by --input KIND what its data are, or in the file INPUT_SHAPE = {image} of an image, INPUT_CHANNELS = "
        f"{width} of a sequence, INPUT_SIGNALS of a graph, INPUT_TABLES of sets"
    )


def proposed_shape(own: Recognised) -> tuple[InputShape, str] | None:
    """Return a shape that an image could have, and why; None where nothing tells."""
    try:
        return _input_shape(own), own.why.get("shape", "")
    except ValueError:
        numbers = _dense(own.network()) or 0
    for channels in (1, 3):
        side = math.isqrt(numbers // channels)
        if numbers and channels * side**2 == numbers:
            return (channels, side, side), f"its first layer takes {numbers} numbers"
    return None


def _dense(model: nn.Module) -> int | None:
    """Return how many numbers the first dense layer takes, 0 for a lazy one; None where there is none."""
    return next((m.in_features for m in modules_of(model) if isinstance(m, nn.Linear)), None)
