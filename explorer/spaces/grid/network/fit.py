"""Fit images to what a network takes."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.data.kinds import of_another_kind
from explorer.declare.samples import Sample, Signal

Floats = NDArray[np.float32]
InputShape = tuple[int, int | None, int | None]  # channels, height, width; None takes any

_LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)  # Rec. 709


def fit(sample: Sample, shape: InputShape, multiple: int = 1) -> Sample:
    """Adapt an image to a network's input (channels, height, width); None accepts any side that is such a multiple.

    Colour becomes grey by Rec. 709 luma, or one of its channels where that was chosen; grey is repeated; then the
    largest centred rectangle of the wanted proportions is resized with an antialiasing filter, within the range of the
    values; or the whole picture, padded by the mean of its edge or stretched. A sample that fits already is returned as
    it is; else `notes` gain what was done.

    Raises:
        ValueError: the sample is not an image, or its channels have no obvious conversion.
    """
    if sample.domain != "grid" or sample.x.values.ndim != 3:
        raise of_another_kind(sample, "grid")
    values = np.asarray(sample.x.values, np.float32)
    values, notes = _channels(sample.name, values, shape[0], sample.choice("colour", "grey"))
    height, width = shape[1:]
    if multiple > 1 and height is None and width is None:
        height, width = (-(-side // multiple) * multiple for side in values.shape[1:])
    values, resized = _resize(values, height, width, sample.choice("fit", "crop"))
    notes += resized
    if float(np.ptp(values)) == 0.0:
        flat = f"every value is {float(values.flat[0]):g}: on a constant image most laws hold for nothing"
        if flat not in sample.notes:
            notes += (flat,)
    if not notes:
        return sample
    if values is sample.x.values:
        return replace(sample, notes=sample.notes + notes)
    # any further signals lie on the old grid and would no longer match
    first = next(iter(sample.signals))
    signals = MappingProxyType({first: Signal(np.ascontiguousarray(values), sample.x.field)})
    return replace(sample, signals=signals, notes=sample.notes + notes)


def _channels(name: str, values: Floats, wanted: int, colour: str) -> tuple[Floats, tuple[str, ...]]:
    have = values.shape[0]
    match have, wanted:
        case _ if have == wanted:
            return values, ()
        case 3, 1 if colour != "grey":
            k = ("red", "green", "blue").index(colour)
            return values[k : k + 1].copy(), (f"{colour} alone of three colours",)
        case 3, 1:
            return np.tensordot(_LUMA, values, 1)[None].astype(np.float32), ("colour turned grey (Rec. 709)",)
        case 1, _:
            return np.repeat(values, wanted, axis=0), (f"grey repeated in {wanted} channels",)
    raise ValueError(f"{name!r} has {have} channels and this network takes {wanted}; choose another sample")


def _resize(
    values: Floats, height: int | None, width: int | None, how: str = "crop"
) -> tuple[Floats, tuple[str, ...]]:  # fmt: skip
    _, have_h, have_w = values.shape
    # with one side given the other follows the picture's proportions
    if height is None and width is None:
        height, width = have_h, have_w
    elif height is None and width is not None:
        height = max(1, round(have_h * width / have_w))
    elif width is None and height is not None:
        width = max(1, round(have_w * height / have_h))
    assert height is not None and width is not None
    if (have_h, have_w) == (height, width):
        return values, ()
    told = f"{have_h}x{have_w} resized to {height}x{width}"
    if have_h * width == have_w * height:
        return _drawn(values, height, width), (told,)
    if how == "stretch":
        return _drawn(values, height, width), (f"{have_h}x{have_w} stretched to {height}x{width}",)
    if how == "pad":
        scale = max(have_h / height, have_w / width)
        inner_h, inner_w = max(1, round(have_h / scale)), max(1, round(have_w / scale))
        rows, columns = values[:, [0, -1]], values[:, :, [0, -1]]
        edge = np.concatenate([rows.reshape(len(values), -1), columns.reshape(len(values), -1)], 1)
        made = np.broadcast_to(edge.mean(1)[:, None, None], (len(values), height, width)).astype(np.float32)
        top, left = (height - inner_h) // 2, (width - inner_w) // 2
        made[:, top : top + inner_h, left : left + inner_w] = _drawn(values, inner_h, inner_w)
        return made, (f"{have_h}x{have_w} resized to {inner_h}x{inner_w}, padded to {height}x{width}",)
    scale = min(have_h / height, have_w / width)
    crop_h, crop_w = height * scale, width * scale
    # fractions of a pixel are kept: rounding would move the centre that rotations turn about
    top, left = max(0.0, (have_h - crop_h) / 2), max(0.0, (have_w - crop_w) / 2)
    box = (left, top, min(left + crop_w, have_w), min(top + crop_h, have_h))
    told = f"{have_h}x{have_w} cropped to {crop_h:.4g}x{crop_w:.4g}, resized to {height}x{width}"
    return _drawn(values, height, width, box), (told,)


def _drawn(values: Floats, height: int, width: int, box: tuple[float, float, float, float] | None = None) -> Floats:
    """Resize what is in a box of a picture with an antialiasing filter."""
    from PIL import Image

    resized = np.empty((len(values), height, width), np.float32)
    for channel, plane in enumerate(values):
        image = Image.fromarray(np.ascontiguousarray(plane))
        large = np.asarray(image.resize((width, height), Image.Resampling.LANCZOS, box))
        # the filter overshoots at edges; no value is made that was not between two that were there
        resized[channel] = np.clip(large, plane.min(), plane.max())
    return resized
