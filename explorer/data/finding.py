"""Find a sample by what a person typed, and fit an image to what a network takes."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.data.samples import Sample, SampleSpec, Signal
from explorer.spaces.graph.form import GraphInput
from explorer.spaces.grid.form import InputSpec
from explorer.spaces.mesh.form import MeshInput
from explorer.spaces.sequence.form import SequenceInput
from explorer.declare.fields import domain_word
from explorer.spaces.graph.samples.texts import graph_sample_text, is_graph_text
from explorer.spaces.grid.samples.tensors import is_tensor_text, tensor_sample
from explorer.spaces.sequence.fit import one_sequence

Floats = NDArray[np.float32]
InputShape = tuple[int, int | None, int | None]  # channels, height, width; None takes any

_LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)  # Rec. 709


@cache
def samples() -> dict[str, SampleSpec]:
    """Return every shipped sample by name."""
    import explorer.spaces as package
    from explorer.declare.registry import scan

    return scan(package, "SAMPLES", "samples")


def find_sample(text: str, seed: int = 0) -> Sample:
    """Return the sample that `text` means: a name, a file, or a text: "random:1x3x33x33", "ramp:1x1x9x9",
    "graph:40x90x6", "sbm:40,40:0.3:0.02", "smiles:CCO". "file#12" is one of several things in a file.

    A name wins over a file of the same name; write "./name" for the file.

    Raises:
        ValueError: in one sentence, with the nearest name if there is one (ReadError when a file is bad).
    """
    from explorer.data.opening import read_file, readers

    known = samples()
    if text in known:
        return known[text].make()
    if is_tensor_text(text):
        return tensor_sample(text, seed)
    if is_graph_text(text):
        return graph_sample_text(text, seed)
    if text.startswith("smiles:"):
        from explorer.spaces.graph.readers.smiles import smiles_sample

        return smiles_sample(text)
    before, part = split_part(text)
    if part and before in known:
        return one_sequence(known[before].make(), part)
    path = Path(before).expanduser() if text.strip() else None
    if path is not None:
        suffixes = {e for reader in readers().values() for e in reader.extensions}
        # what looks like a file is taken for one, so that a typing error in a path is told as such
        if "/" in text or "\\" in text or path.suffix.lower() in suffixes or _exists(path):
            return read_file(path, part)
    near = get_close_matches(text, known, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else "'list data' names them all"
    raise ValueError(f"there is no sample or file {text!r}; {hint}")


def split_part(text: str) -> tuple[str, str]:
    """Return ("file", "12") of "file#12", the name of a sample or of a file; (text, "") where no part is meant."""
    before, mark, after = text.rpartition("#")
    if not (mark and before.strip()) or _exists(Path(text).expanduser()):
        return text, ""
    return (before, after) if before in samples() or _exists(Path(before).expanduser()) else (text, "")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # longer than names can be, or with a NUL in it
        return False


def fitted(sample: Sample, spec: InputSpec | GraphInput | SequenceInput | MeshInput) -> Sample:
    """Adapt a sample to what a network takes; raise ValueError where it lies on another kind of domain."""
    if isinstance(spec, GraphInput):
        from explorer.spaces.graph.features import fit_graph

        return fit_graph(sample, spec)
    if isinstance(spec, SequenceInput):
        from explorer.spaces.sequence.fit import fit_sequence

        return fit_sequence(sample, spec)
    if isinstance(spec, MeshInput):
        from explorer.spaces.mesh.fit import fit_mesh

        return fit_mesh(sample, spec)
    return fit(sample, spec.shape)


def fit(sample: Sample, shape: InputShape) -> Sample:
    """Adapt an image to a network's input (channels, height, width); None accepts any side.

    Colour becomes grey by Rec. 709 luma, grey is repeated; then the largest centred rectangle of the wanted
    proportions is resized with an antialiasing filter, within the range of the values. A sample that fits
    already is returned as it is; else `notes` gain what was done.

    Raises:
        ValueError: the sample is not an image, or its channels have no obvious conversion.
    """
    if sample.domain != "grid" or sample.x.values.ndim != 3:
        raise ValueError(f"{sample.name!r} lies on a {domain_word(sample.domain)}, and this network takes an image")
    values = np.asarray(sample.x.values, np.float32)
    values, notes = _channels(sample.name, values, shape[0])
    values, resized = _resize(values, shape[1], shape[2])
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


def _channels(name: str, values: Floats, wanted: int) -> tuple[Floats, tuple[str, ...]]:
    have = values.shape[0]
    match have, wanted:
        case _ if have == wanted:
            return values, ()
        case 3, 1:
            return np.tensordot(_LUMA, values, 1)[None].astype(np.float32), ("colour turned grey (Rec. 709)",)
        case 1, _:
            return np.repeat(values, wanted, axis=0), (f"grey repeated in {wanted} channels",)
    raise ValueError(f"{name!r} has {have} channels and this network takes {wanted}; choose another sample")


def _resize(values: Floats, height: int | None, width: int | None) -> tuple[Floats, tuple[str, ...]]:
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
    from PIL import Image

    scale = min(have_h / height, have_w / width)
    crop_h, crop_w = height * scale, width * scale
    # fractions of a pixel are kept: rounding would move the centre that rotations turn about
    top, left = max(0.0, (have_h - crop_h) / 2), max(0.0, (have_w - crop_w) / 2)
    box = (left, top, min(left + crop_w, have_w), min(top + crop_h, have_h))
    resized = np.empty((len(values), height, width), np.float32)
    for channel, plane in enumerate(values):
        image = Image.fromarray(np.ascontiguousarray(plane))
        large = np.asarray(image.resize((width, height), Image.Resampling.LANCZOS, box))
        # the filter overshoots at edges; no value is made that was not between two that were there
        resized[channel] = np.clip(large, plane.min(), plane.max())
    cropped = "the centre of " if have_h * width != have_w * height else ""
    return resized, (f"{cropped}{have_h}x{have_w} resized to {height}x{width}",)
