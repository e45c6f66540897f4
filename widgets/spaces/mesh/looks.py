"""Frames of meshes made into looks: what each panel of the commuting square shows on its surface. Numpy only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.telling.numerals import with_minus
from explorer.spaces.mesh.drawing.values import MeshPart, Shape, Transported
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.spaces.mesh.drawing.glyphs import field_glyphs, frame_glyphs, spacing, vertex_normals
from widgets.spaces.mesh.drawing.inks import scale_table
from widgets.spaces.mesh.drawing.look import Glyphs, Marks, MeshLook, Path, Text, blank

Array = NDArray[Any]
SIDES = ("x", "F(x)", "ρ′(g)F(x)", "F(ρ(g)x)", "difference")
# Okabe and Ito, as far as they differ on a shaded surface, and two greys
PARTS = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167),
         (150, 150, 150), (90, 90, 110), (200, 200, 160))  # fmt: skip
CARRIED = 9  # places at which a carried vector is drawn
EMPTY = 1e-3  # of the values: a difference that is smaller everywhere looks like none
USUAL = 0.98  # of the vertices lie on the scale where the others are more than twice as large
NO_PLACES = "This layer has one answer for the whole mesh: see Output."
ON_EDGES = "This layer has values at edges; their mean at each vertex is drawn."


@dataclass(frozen=True, slots=True)
class Choice:
    """Choices of a person about the picture of a surface.

    Attributes:
        sides: which panels, of SIDES; empty chooses by itself: x and F(x) for the identity, else the square.
        colour: "layer", "answer" (the most likely class), "parts" (known classes), "gauge" (how ambiguous).
        block: which feature (channel of scalars, block and order of tangents, channel of regular ones); -1 the
            strongest.
        frames, arrows, wireframe: drawn or not. glyphs: at how many places at most.
    """

    sides: tuple[str, ...] = ()
    colour: str = "layer"
    block: int = -1
    frames: bool = False
    arrows: bool = True
    wireframe: bool = False
    glyphs: int = 500


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One feature of a field as it is drawn: a number at each vertex, and a direction where it has one.

    `directions` are (V, k) angles in the frames, k alike ones for a feature of order k; `signed` numbers have a zero.
    `lengths` (V,) are those of the arrows, where they are not the numbers themselves.
    """

    name: str
    size: Array
    directions: Array | None = None
    signed: bool = False
    lengths: Array | None = None

    @property
    def arrow(self) -> Array:
        """Return the lengths of the arrows."""
        return self.size if self.lengths is None else self.lengths


def features(part: MeshPart, rep: str, count: int) -> list[str]:
    """Return the names of the features in `count` channels."""
    if rep == "tangent" and part.orders:
        width = sum(1 if m == 0 else 2 for m in part.orders)
        words = {0: "scalar", 1: "vector"}
        blocks = range(max(1, count // width))
        return [f"{b} · {words.get(m, f'order {m}')}" for b in blocks for m in part.orders]
    if rep == "regular" and part.directions:
        return [f"{c} · {part.directions} directions" for c in range(max(1, count // part.directions))]
    return [f"channel {c}" for c in range(count)]


def feature(part: MeshPart, rep: str, values: Array, block: int) -> Feature:
    """Return one feature of values (V, C)."""
    names = features(part, rep, values.shape[1])
    block = min(max(block, 0), len(names) - 1)
    if rep == "tangent" and part.orders:
        width = sum(1 if m == 0 else 2 for m in part.orders)
        m = part.orders[block % len(part.orders)]
        at = block // len(part.orders) * width + sum(
            1 if o == 0 else 2 for o in part.orders[: block % len(part.orders)]
        )
        if m == 0:
            return Feature(names[block], values[:, at], signed=True)
        real, imaginary = values[:, at], values[:, at + 1]
        # a feature of order m looks the same in m directions
        angle = np.arctan2(imaginary, real)[:, None] / m + np.arange(m) * (2 * np.pi / m)
        return Feature(names[block], np.hypot(real, imaginary), angle)
    if rep == "regular" and part.directions:
        here = values[:, block * part.directions : (block + 1) * part.directions]
        best = here.argmax(1)
        angle = (best * (2 * np.pi / part.directions))[:, None]
        # an arrow is as long as its direction is better than the worst one
        return Feature(names[block], here.max(1), angle, signed=True, lengths=here.max(1) - here.min(1))
    return Feature(names[block], values[:, block], signed=True)


def strongest(part: MeshPart, rep: str, values: Array, arrows: bool = False) -> int:
    """Return the feature that differs most over the surface; with `arrows` of the vectors, where there are any."""
    count = min(len(features(part, rep, values.shape[1])), 64)
    least = min((m for m in part.orders if m > 0), default=0) if rep == "tangent" and arrows else 0
    meant = [k for k in range(count) if not least or part.orders[k % len(part.orders)] == least]
    found = [float(np.nanstd(feature(part, rep, values, k).size)) for k in meant]
    return meant[int(np.argmax(found))] if found else 0


def answers(square: Square) -> bool:
    """Say whether the layer is the network's own answer: a score of each class at each vertex."""
    part = square.of(MeshPart)
    last = bool(square.layers) and square.layers[-1].name == square.layer.name
    return part is not None and last and 0 < len(square.labels) == part.values.shape[1] and part.kind == "vertex"


def block_of(part: MeshPart, choice: Choice) -> int:
    """Return the feature that is drawn of the layer: the chosen one, or the strongest."""
    if choice.block >= 0 or part.kind == "invariant":
        return choice.block
    return strongest(part, part.rep, _at_vertices(part, part.values, part.shape), choice.arrows)


def colours_of(look: MeshLook) -> Array:
    """Return the colours (V, 3) uint8 of a panel's vertices without its light; grey where there is no value."""
    if look.colours is not None:
        return look.colours
    grey = np.array([int(theme.current().muted[k : k + 2], 16) for k in (1, 3, 5)], np.uint8)
    if look.scalars is None:
        return np.tile(grey, (len(look.vertices), 1))
    table, (low, high) = scale_table(look), look.scale
    known = np.isfinite(look.scalars)
    at = np.clip((np.where(known, look.scalars, low) - low) / (high - low), 0, 1) * (len(table) - 1)
    return np.where(known[:, None], table[np.round(at).astype(int), :3], grey)


def sides_of(part: MeshPart, choice: Choice, identity: bool) -> tuple[str, ...]:
    """Return which panels are shown."""
    if choice.sides:
        return choice.sides
    return ("x", "F(x)") if identity else ("F(x)", "F(ρ(g)x)", "difference")


def looks(square: Square, choice: Choice, identity: bool, node: int | None, other: int | None) -> tuple[MeshLook, ...]:
    """Return the panels of one square."""
    part = square.of(MeshPart)
    if part is None:
        return ()
    block = block_of(part, choice)
    scale = _scale(part, block)
    return tuple(
        _panel(square, part, side, choice, block, scale, node, other) for side in sides_of(part, choice, identity)
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale that both sides of the square share: the end of the colours and whether some numbers lie beyond it, whether
    any is negative, the length of the longest arrow, and how large the values of all channels together are."""

    limit: float
    beyond: bool
    negative: bool
    longest: float
    norm: float


def _scale(part: MeshPart, block: int) -> Scale:
    if part.kind == "invariant":
        return Scale(1.0, False, False, 1.0, 1.0)
    values = [_at_vertices(part, v, part.shape) for v in (part.values, part.answer)]
    both = [feature(part, part.rep, v, block) for v in values]
    negative = any(one.signed and float(np.nanmin(one.size, initial=0)) < 0 for one in both)
    norm = _limit(*(np.sqrt((v**2).sum(1)) for v in values))[0]
    return Scale(*_limit(*(one.size for one in both)), negative, _limit(*(one.arrow for one in both))[0], norm)


def _limit(*sizes: Array) -> tuple[float, bool]:
    """Return the end of a scale for sizes, and whether some lie beyond it."""
    found = np.abs(np.concatenate([*sizes, np.zeros(0)]))
    found = found[np.isfinite(found)]
    if not len(found):
        return 1.0, False
    most, usual = float(found.max()), float(np.quantile(found, USUAL))
    # a few vertices at tips and toes would leave all others without colour
    beyond = most > 2 * usual > 0
    return (usual if beyond else most) or 1.0, beyond


def _at_vertices(part: MeshPart, values: Array, shape: Shape) -> Array:
    """Return values of edges as means at the vertices that they lead to; those of vertices as they are."""
    if part.kind != "edge" or len(values) != shape.edges.shape[1]:
        return values
    total = np.zeros((len(shape.vertices), values.shape[1]))
    np.add.at(total, shape.edges[1], values)
    count = np.bincount(shape.edges[1], minlength=len(total))
    return total / np.maximum(count, 1)[:, None]


def _panel(
    square: Square, part: MeshPart, side: str, choice: Choice, block: int, scale: Scale,
    node: int | None, other: int | None,
) -> MeshLook:  # fmt: skip
    moved = side not in ("x", "F(x)")
    shape = part.moved if moved else part.shape
    values = {"x": part.x, "F(x)": part.values, "ρ′(g)F(x)": part.expected, "F(ρ(g)x)": part.answer,
              "difference": part.difference}[side]  # fmt: skip
    title = {"x": "x", "F(x)": f"F(x) · {square.layer.name}"}.get(side, side)
    if values is None:
        return blank(square.no_action or "No action of this element on this field.", title)
    if side != "x" and part.kind == "invariant":
        return blank(NO_PLACES, title)
    rep = part.x_rep if side == "x" else part.rep
    values = _at_vertices(part, values, shape)
    chosen = strongest(part, rep, values) if side == "x" else block
    found = feature(part, rep, values, chosen)
    colours = _classes(square, part, side, choice, values, shape)
    glyphs: list[Glyphs] = []
    if choice.frames:
        glyphs += frame_glyphs(shape.vertices, shape.faces, shape.axes, choice.glyphs)
    if choice.arrows and found.directions is not None and side != "difference":
        glyphs += arrows(shape, found, choice.glyphs, scale.longest if side != "x" else _limit(found.arrow)[0])
    if not moved and node is not None:
        glyphs += [_carried(shape, carried) for carried in _ways(part)]
    scalars, levels, table, bar, note = found.size, None, None, found.name, _note(part, side)
    singular: tuple[tuple[int, float], ...] = ()
    if side == "difference":
        scalars, table, bar = np.sqrt((values**2).sum(1)), theme.error_map(), "norm"  # over all channels
        most = float(np.nanmax(scalars, initial=0.0))
        if most < EMPTY * scale.norm:  # rounding is not to look like an error
            levels, note = (0.0, EMPTY * scale.norm), f"at most {figure(most)}" if most else "none"
    elif choice.colour == "gauge" and part.ambiguity is not None:
        singular = () if moved else part.singular  # of another surface the direction has its singularities elsewhere
        where = part.order if moved else np.arange(len(part.ambiguity))
        scalars = np.zeros(len(shape.vertices))
        scalars[where] = part.ambiguity
        levels, table, bar = (0.0, 1.0), theme.error_map(), "ambiguity"
    elif side != "x":
        # a size has no sign: it is drawn from nothing to the largest
        levels = (-scale.limit if scale.negative else 0.0, scale.limit)
        table = None if scale.negative else theme.error_map()
        if scale.beyond and colours is None and not note:
            note = f"{100 * (1 - USUAL):.0f} % beyond the scale"
    return MeshLook(
        shape.vertices, shape.faces, title, note, colours, scalars if colours is None else None,
        levels, table, bar=bar, wireframe=choice.wireframe, glyphs=tuple(glyphs),
        marks=replace(_marks(part, moved, shape, node, other), faces=tuple(face for face, _ in singular)),
        texts=tuple(Text(shape.vertices[shape.faces[face]].mean(0), index_words(index)) for face, index in singular),
    )  # fmt: skip


def _note(part: MeshPart, side: str) -> str:
    if side in ("F(ρ(g)x)", "ρ′(g)F(x)") and part.stretch:
        return f"edges change by up to {100 * part.stretch:.2g} %"
    return ""


def legend(square: Square, choice: Choice) -> tuple[tuple[str, tuple[int, int, int]], ...]:
    """Return the classes that colours mean, with the colours; none where these are of a scale."""
    part = square.of(MeshPart)
    known = part.shape.labels if part is not None and choice.colour == "parts" else None
    if known is None and not (choice.colour == "answer" and answers(square)):
        return ()
    count = 0 if known is None else int(known.max(initial=-1)) + 1
    names = square.labels if len(square.labels) >= count else [f"class {k}" for k in range(count)]
    return tuple((name, PARTS[k % len(PARTS)]) for k, name in enumerate(names))


def _classes(square: Square, part: MeshPart, side: str, choice: Choice, values: Array, shape: Shape) -> Array | None:
    """Return colours (V, 3) of classes where these are asked for, or where the layer is the answer itself."""
    table = np.array(PARTS, np.uint8)
    if choice.colour == "parts" and part.shape.labels is not None and side != "difference":
        labels = part.shape.labels
        if shape is not part.shape:
            labels = np.full(len(shape.vertices), -1)
            labels[part.order] = part.shape.labels
        return np.where(labels[:, None] < 0, np.uint8(160), table[labels % len(table)])
    if choice.colour == "answer" and answers(square) and side in ("F(x)", "F(ρ(g)x)", "ρ′(g)F(x)"):
        found: Array = table[values.argmax(1) % len(table)]
        return found
    return None


def arrows(shape: Shape, found: Feature, most: int, longest: float) -> list[Glyphs]:
    """Return the directions of a feature as arrows in space; one of order m points m ways at once."""
    assert found.directions is not None
    made = []
    for k in range(found.directions.shape[1]):
        size = np.clip(found.arrow, -longest, longest)
        c, s = (f(found.directions[:, k]) * size for f in (np.cos, np.sin))
        vectors = c[:, None] * shape.axes[:, 0] + s[:, None] * shape.axes[:, 1]
        made.append(field_glyphs(shape.vertices, shape.faces, vectors, "text", most, longest))
    return made


def _marks(part: MeshPart, moved: bool, shape: Shape, node: int | None, other: int | None) -> Marks:
    """Return what is pointed out: the selected vertices, the patch, the way and the loop."""
    if node is None or node >= len(part.order):
        return Marks()
    chosen = [v for v in (node, other) if v is not None and v < len(part.order)]
    vertices = tuple(int(part.order[v]) if moved else v for v in chosen)
    paths = []
    if not moved:
        if part.patch is not None and part.patch.points is not None and part.patch.vertex == node:
            paths.append(Path(part.patch.points[-1], "first", closed=True))  # its inside is in Patch
        paths += [Path(carried.points, "accent") for carried in _ways(part)]
    return Marks(vertices=vertices, paths=tuple(paths))


def _ways(part: MeshPart) -> list[Transported]:
    """Return along what a vector is carried: to the other vertex, or round the selected one."""
    found = part.loop if part.path is None else part.path
    return [] if found is None else [found]


def _carried(shape: Shape, carried: Transported) -> Glyphs:
    """Return the vector at some places of its way, at its start and at its end, as arrows that do not touch."""
    steps = np.linalg.norm(np.diff(carried.points, axis=0), axis=1)
    gone = np.concatenate([[0.0], np.cumsum(steps)])
    count = min(CARRIED, len(carried.points))
    at = np.unique(np.searchsorted(gone, np.linspace(0, gone[-1], count)).clip(0, len(gone) - 1))
    length = min(1.6 * spacing(shape.vertices, shape.faces, 500), 0.9 * float(gone[-1]) / CARRIED * 2) or 1.0
    size = np.linalg.norm(carried.vectors[at], axis=1, keepdims=True)
    near = [int(((shape.vertices - point) ** 2).sum(1).argmin()) for point in carried.points[at]]
    normals = vertex_normals(shape.vertices, shape.faces)[near]
    ways = carried.vectors[at] / np.maximum(size, 1e-12) * length
    return Glyphs(carried.points[at], ways, "bad", normals, 0.15 * length, arrows=True, above=True)


def transport_words(part: MeshPart) -> str:
    """Return what was read off the path or the loop, in one line."""
    if part.path is not None:
        arrived = _degrees(part.path.angle)
        return f"X of the first vertex, carried along the geodesic, arrives at {arrived} from X of the second"
    if part.loop is None:
        return ""
    enclosed = part.loop.enclosed or 0.0
    return f"Round the loop a vector turns by {_degrees(part.loop.angle)}; curvature inside {_degrees(enclosed)}"


def index_words(index: float) -> str:
    """Return the index of a singularity with its sign, in halves where the direction is that of a line."""
    twice = round(2 * index)
    size = {1: "½"}.get(abs(twice), figure(abs(twice) / 2))
    return f"{'−' if twice < 0 else '+'}{size}"


def singular_words(part: MeshPart) -> str:
    """Return how many faces have a singularity, and what their indices add up to."""
    if not part.singular:
        return "The direction that fixes the gauge has no singularity here."
    count, total = len(part.singular), sum(index for _, index in part.singular)
    faces = "1 face" if count == 1 else f"{count} faces"
    return f"The direction turns round at {faces}; the indices add up to {figure(total).replace('-', '−')}"


def _degrees(angle: float) -> str:
    return with_minus(f"{np.degrees(angle):.1f}°")


def vertex_words(square: Square, part: MeshPart, panel: str, vertex: int, choice: Choice) -> str:
    """Return the read-out of one vertex of one panel."""
    moved = panel not in ("x", "F(x)")
    shape = part.moved if moved else part.shape
    if not 0 <= vertex < len(shape.vertices):
        return ""
    at = ", ".join(figure(float(v)) for v in shape.vertices[vertex])
    words = [f"vertex {vertex} at ({at})"]
    values = {"x": part.x, "F(x)": part.values, "ρ′(g)F(x)": part.expected, "F(ρ(g)x)": part.answer,
              "difference": part.difference}[panel]  # fmt: skip
    if values is not None and part.kind == "vertex" and len(values) == len(shape.vertices):
        row = values[vertex]
        if answers(square) and panel not in ("x", "difference"):
            words.append(square.labels[int(row.argmax())])
        words.append(" ".join(figure(float(v)) for v in row[:6]) + (" …" if len(row) > 6 else ""))
    if not moved and part.shape.labels is not None and square.labels and part.shape.labels[vertex] >= 0:
        known = int(part.shape.labels[vertex])
        words.append(f"really {square.labels[known]}" if known < len(square.labels) else f"class {known}")
    if not moved and part.ambiguity is not None:
        words.append(f"gauge {100 * (1 - float(part.ambiguity[vertex])):.0f} % determined")
    return " · ".join(words)
