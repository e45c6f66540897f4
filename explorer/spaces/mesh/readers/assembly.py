"""Do what all readers of meshes share: limits, numbers with their line, triangles, repair, values of vertices."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.declare.samples import Sample
from explorer.spaces.mesh.sample import mesh_sample
from explorer.spaces.mesh.surface.repair import repair
from explorer.work.limits import MAX_FACES, MAX_VERTICES

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Numbers = NDArray[Any]

MARK = BOM_UTF8  # before text, by some editors
MAX_TEXT = 2**29  # bytes of a mesh as text: about as many as the largest mesh takes
_MOST_LINES = 2 * MAX_VERTICES
_MOST_CHANNELS = 16  # of a value at the vertices
_LABELS = ("label", "labels", "class", "part")
_SMALLER = "simplify it or take a part of it"


@dataclass(slots=True)
class Found:
    """A mesh as its file gives it, before it is repaired.

    `values` are by name, (V,) or (V, channels); `place` says where the k-th face stands ("line 7"), `vertex_place` the
    same of a vertex.
    """

    vertices: Floats  # (V, 3)
    faces: Index  # (F, 3)
    values: dict[str, Numbers] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    place: Callable[[int], str] = lambda k: f"face {k}"
    vertex_place: Callable[[int], str] = lambda k: f"vertex {k}"


def require_counts(vertices: int, faces: int) -> None:
    """Raise Broken when a file declares more than can be held, before anything of that size is read."""
    for count, most, what in ((vertices, MAX_VERTICES, "vertices"), (faces, MAX_FACES, "faces")):
        if count > most:
            raise Broken(f"it has {count} {what} and the most is {most}", _SMALLER)
        if count < 0:
            raise Broken(f"it claims {count} {what}")


def head_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, without the mark that editors set before text."""
    with path.open("rb") as file:
        return file.read(size + len(MARK)).removeprefix(MARK)[:size]


def text_of(path: Path) -> bytes:
    """Return the content of a mesh as text; Broken when it is too large or no text."""
    size = path.stat().st_size
    if size > MAX_TEXT:
        raise Broken(f"it has {size} bytes and the most for a mesh as text is {MAX_TEXT}", _SMALLER)
    text = path.read_bytes().removeprefix(MARK)
    if b"\0" in text[:4096]:
        raise Broken("it is no text", "save it again, or correct the ending of its name")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if (lines := text.count(b"\n")) > _MOST_LINES:
        raise Broken(f"it has {lines} lines and the most is {_MOST_LINES}", _SMALLER)
    return text


def numbers(lines: list[bytes], place: Callable[[int], str]) -> tuple[Floats, Index]:
    """Return all numbers of the lines, one after the other, and how many stand in each line.

    Raises:
        Broken: something else than numbers, with the place of its line.
    """
    counts = np.fromiter(map(len, map(bytes.split, lines)), np.int64, len(lines))
    values = parsed(b"\n".join(lines))
    if len(values) != counts.sum():
        for k, line in enumerate(lines):
            for word in line.split():
                if not _is_number(word):
                    text = word[:20].decode("utf-8", "replace")
                    raise Broken(f"{place(k)} has {text!r} where a number must stand", "correct it")
        raise Broken("a number in it cannot be read")
    return np.asarray(values, np.float64), counts


def parsed(text: bytes, kind: type = np.float64) -> Numbers:
    """Return the numbers that blanks separate in a text, or fewer where something in it is no number."""
    try:
        return np.fromstring(text, kind, sep=" ") if text.strip() else np.zeros(0, kind)
    except ValueError:
        return np.zeros(0, kind)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word


def whole(values: Floats, place: Callable[[int], str]) -> Index:
    """Return values as integers; Broken with the place of the first that is none."""
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(values) < 2**53) | (values != np.trunc(values))
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise Broken(f"{place(bad)} has {values[bad]:g} where the number of a vertex must stand", "correct it")
    return values.astype(np.int64)


def triangulated(corners: Index, counts: Index) -> tuple[Index, Index, list[str]]:
    """Cut polygons, their corners one after the other, into triangles around the first corner of each.

    Returns (F, 3) faces, (F,) the polygon of each, and notes.
    """
    many = np.maximum(counts - 2, 0)
    require_counts(0, int(many.sum()))
    begin, polygon = np.cumsum(counts) - counts, np.repeat(np.arange(len(counts)), many)
    within = np.arange(len(polygon)) - np.repeat(np.cumsum(many) - many, many)
    first = begin[polygon]
    faces = corners[np.stack([first, first + within + 1, first + within + 2], 1)]
    notes = []
    quads, more, less = (int(np.count_nonzero(m)) for m in (counts == 4, counts > 4, counts < 3))
    if quads or more:
        parts = [f"{n} {what if n > 1 else what[:-1]}" for n, what in ((quads, "quads"), (more, "polygons")) if n]
        notes.append(f"{' and '.join(parts)} cut into triangles, in a fan around the first corner")
    if less:
        notes.append(f"{less} {'points or lines' if less > 1 else 'point or line'} left out")
    return faces, polygon, notes


def stripped(corners: Index, counts: Index) -> Index:
    """Return (F, 3) the triangles of strips, every other one turned."""
    faces, begin = [np.zeros((0, 3), np.int64)], 0
    for count in counts.tolist():
        strip = corners[begin : begin + count]
        some = np.stack([strip[:-2], strip[1:-1], strip[2:]], 1)
        some[1::2] = some[1::2, ::-1]
        faces.append(some)
        begin += count
    return np.concatenate(faces)


def sample_of(path: Path, found: Found) -> Sample:
    """Repair what was found in a file and wrap it as a sample; the notes tell what was changed.

    Raises:
        Broken: too large, no faces, a corner that is not there, a position that is not finite.
    """
    require_counts(len(found.vertices), len(found.faces))
    try:
        made = repair(found.vertices, found.faces, vertex_place=found.vertex_place, face_place=found.place)
    except ValueError as error:
        raise Broken(str(error), "mend it where it was made and save it again") from None
    notes, more, labels = [*found.notes, *made.notes], {}, None
    for name, given in found.values.items():
        values = np.asarray(given)[made.vertex]
        plain = values.dtype.kind in "iufb" and values.ndim in (1, 2) and values.shape[-1:] != (0,)
        if not plain or (values.ndim == 2 and values.shape[1] > _MOST_CHANNELS):
            notes.append(f"{name} left out: it is no number, or more than {_MOST_CHANNELS}, at each vertex")
        elif not np.isfinite(values).all():
            notes.append(f"{name} left out: it is not finite at vertex {np.argwhere(~np.isfinite(values))[0][0]}")
        elif values.ndim == 1 and name.lower() in _LABELS and (values == np.trunc(values)).all():
            labels = values.astype(np.int64)
        elif values.ndim == 1 and name.startswith("label:") and (values == np.trunc(values)).all():
            more[name] = values.astype(np.int64)
        else:
            more[f"scalar:{name}"] = values.astype(np.float32)
    return mesh_sample(
        path.stem, made.vertices, made.faces, labels=labels, more=more, title=path.name, source=str(path),
        notes=tuple(notes),
    )  # fmt: skip
