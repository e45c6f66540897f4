"""Frames of points made into looks: what each panel of the commuting square shows of them. Numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.chemistry.atoms import sign_of
from explorer.spaces.points.drawing.ball import fineness
from explorer.spaces.points.drawing.chemistry import colours, radii
from explorer.spaces.points.drawing.values import PointsPart
from explorer.spaces.points.fields import Irreps
from explorer.spaces.points.vectors import EDGES
from explorer.square.frame import BACK, Square
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.spaces.mesh.drawing.inks import rgb
from widgets.spaces.mesh.drawing.look import GROUND, Glyphs, Marks, MeshLook, Path, Text, blank
from widgets.spaces.mesh.looks import EMPTY
from widgets.spaces.points.solids import Solids, fewer, rings, solids, spacing

Array = NDArray[Any]
NEGATIVE, NEUTRAL, POSITIVE = (0, 114, 178), (150, 150, 150), (213, 94, 0)  # charges; Okabe and Ito
OWN = ("x", "F(x)", BACK)  # panels with the places of x; those of rho(g) x have others
PLAIN = ("x", "ρ(g)x")  # panels of the data alone
NO_ARROWS = "-"
NO_PAIRS = "Pairs of points: see Matrix for the difference."
NO_PLACES = "This layer has one answer for the whole cloud: see Output."
MANY_LINES = 400
MOST_BONDS, MOST_LINES, MOST_NAMES, MOST_ARROWS, MOST_BODIES = 20_000, 3000, 40, 4000, 1500
CONTRAST = 1.5  # to the ground, of what colours points
ATOM = 0.45  # of the covalent radius
DOT = 0.28  # of the usual distance to the nearest point
LEAST_DOT = 0.004  # of the longest side of the cloud
ARROW = 0.95  # of that distance, the longest arrow; SURFACE of it the farthest point of a body
SURFACE = 0.62


@dataclass(frozen=True, slots=True)
class Choice:
    """Choices of a person about the picture: which panels, which value of the layer (-1 the strongest), what else."""

    sides: tuple[str, ...] = ()
    block: int = -1
    bonds: bool = True
    edges: bool = False
    names: bool = True
    charges: bool = False
    arrows: str = ""  # which vectors of the data, the first without a choice; none of them: NO_ARROWS
    cell: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One value of a field at each point: (N, 2 l + 1) numbers of a degree and parity."""

    name: str
    degree: int
    parity: str
    numbers: Array

    @property
    def size(self) -> Array:
        return np.asarray(np.linalg.norm(self.numbers, axis=1))

    @property
    def short(self) -> str:
        """Its number, degree and parity without the word for them: "19 · 2e"."""
        number, dot, kind = self.name.partition(" · ")
        return f"{number}{dot}{kind.split()[0]}" if dot else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A look, and of which point each of its vertices is."""

    look: MeshLook
    owner: Array


def value_names(part: PointsPart) -> list[str]:
    """Return the names of the values of the selected layer."""
    if part.kind == "invariant" or part.rep == "coordinates":
        return []
    return [v.name for v in _values(part.rep, part.irreps, part.values[:1])]


def _values(rep: str, irreps: Irreps | None, table: Array) -> list[Value]:
    if rep != "irreps" or irreps is None or table.shape[1] % irreps.size:
        return [Value(f"channel {k}", 0, "e", table[:, k : k + 1]) for k in range(table.shape[1])]
    found: list[Value] = []
    for block in range(table.shape[1] // irreps.size):
        for degree, parity, at in irreps.slices:
            start = block * irreps.size + at
            if degree == 0:
                word = "scalar" if parity == "e" else "pseudo-scalar"
            elif degree == 1:
                word = "vector" if parity == "o" else "pseudo-vector"
            else:
                word = f"degree {degree}"
            name = f"{len(found)} · {degree}{parity} {word}"
            found.append(Value(name, degree, parity, table[:, start : start + 2 * degree + 1]))
    return found


def chosen_value(part: PointsPart, block: int) -> int:
    """Return which value is drawn: the chosen one, or the strongest of the vectors, else of the highest degree."""
    found = _values(part.rep, part.irreps, at_points(part, part.values))
    if 0 <= block < len(found):
        return block
    degrees = {v.degree for v in found if v.numbers.any()}
    degree = 1 if 1 in degrees else max(degrees, default=0)
    meant = [k for k, v in enumerate(found) if v.degree == degree][:128]
    spread = [float(np.nanstd(found[k].numbers)) if degree == 0 else float(found[k].size.max(initial=0)) for k in meant]
    return meant[int(np.argmax(spread))] if meant else 0


def at_points(part: PointsPart, table: Array, moved: bool = False) -> Array:
    """Return values of edges as means at the points that they lead to; those of points as they are."""
    if part.kind != "edge" or len(table) != part.edges.shape[1]:
        return table
    target = part.edges[1]
    if moved:
        there = np.empty_like(target)
        there[part.edge_order] = part.order[target]
        target = there
    total = np.zeros((len(part.position), table.shape[1]))
    np.add.at(total, target, table)
    return np.asarray(total / np.maximum(np.bincount(target, minlength=len(total)), 1)[:, None])


def chosen_arrows(part: PointsPart, choice: Choice) -> str:
    """Return the name of the vectors of the data that are drawn; "" for none."""
    if choice.arrows == NO_ARROWS or not part.vectors:
        return ""
    return choice.arrows if choice.arrows in part.vectors else next(iter(part.vectors))


def sides_of(choice: Choice, identity: bool, back: bool = False) -> tuple[str, ...]:
    """Return which panels are shown; where answers are taken `back`, these in place of F(ρ(g)x)."""
    sides = choice.sides or (("x", "F(x)") if identity else ("F(x)", "F(ρ(g)x)", "difference"))
    return tuple(BACK if back and side == "F(ρ(g)x)" else side for side in sides)


def panels(square: Square, choice: Choice, identity: bool, node: int | None) -> tuple[Panel, ...]:
    """Return the panels of one square, all in the numbering of x."""
    part = square.of(PointsPart)
    if part is None:
        return ()
    made = _Maker(square, part, choice, node)
    return tuple(made.panel(side) for side in sides_of(choice, identity, part.back is not None))


class _Maker:
    """Makes the panels of one square, with the scales that its sides share."""

    def __init__(self, square: Square, part: PointsPart, choice: Choice, node: int | None) -> None:
        self.square, self.part, self.choice = square, part, choice
        self.node = node if node is not None and node < len(part.position) else None
        self.apart = spacing(part.position)
        self.atoms = bool(part.numbers.any())
        extent = float(np.ptp(part.position, axis=0).max(initial=0.0))
        dot = max(DOT * self.apart, LEAST_DOT * extent)  # of very many points, dots that are seen
        self.radius = ATOM * radii(part.numbers) if self.atoms else np.full(len(part.position), dot)
        self.bonds = part.bonds if choice.bonds and part.bonds.shape[1] <= MOST_BONDS else part.bonds[:, :0]
        self.kinds = part.bond_kinds[: self.bonds.shape[1]]
        self.block = chosen_value(part, choice.block) if part.kind != "invariant" else 0
        self.limit, self.norm = 1.0, 1.0
        if part.kind != "invariant" and part.rep != "coordinates":
            both = [self._value(at_points(part, t, m)) for t, m in ((part.values, False), (part.answer, True))]
            self.limit = max([float(np.nanmax(v.size, initial=0.0)) for v in both if v is not None] or [0.0]) or 1.0
        if part.kind != "invariant":
            self.norm = float(np.nanmax(np.linalg.norm(at_points(part, part.values), axis=1), initial=0.0)) or 1.0

    def _value(self, table: Array) -> Value | None:
        found = _values(self.part.rep, self.part.irreps, table)
        return found[min(self.block, len(found) - 1)] if found else None

    def panel(self, side: str) -> Panel:
        part, moved = self.part, side not in OWN
        title = {"x": "x", "F(x)": f"F(x) · {self.square.layer.name}"}.get(side, side)
        nothing = np.zeros(0, np.int64)
        if side in PLAIN:
            return self._plain(part.moved[part.order] if moved else part.position, title, moved)
        table = {"F(x)": part.values, "ρ′(g)F(x)": part.expected, "F(ρ(g)x)": part.answer,
                 "difference": part.difference, BACK: part.back}[side]  # fmt: skip
        if table is None:
            return Panel(blank(self.square.no_action or "No action of this element on this field.", title), nothing)
        places = part.moved[part.order] if moved else part.position
        if side in ("F(x)", "F(ρ(g)x)", BACK) and part.links is not None:
            return self._linked(places, part.links if side == "F(x)" else part.answer_links, title)
        if part.kind == "invariant":
            return Panel(blank(NO_PAIRS if part.links is not None else NO_PLACES, title), nothing)
        table = at_points(part, table, moved)
        table = table[part.order] if moved else table  # everything in the numbering of x
        if side == "difference":
            return self._difference(places, table, title)
        if part.rep == "coordinates":
            return self._moved_points(places, table[:, :3], title, side)
        found = self._value(table)
        assert found is not None
        if found.degree == 0:
            return self._scalars(places, found, title)
        if found.degree == 1:
            return self._vectors(places, found, title)
        return self._bodies(places, found, title)

    # kinds of pictures ------------------------------------------------------------------------------------------
    def _plain(self, places: Array, title: str, moved: bool) -> Panel:
        """Draw the data: its vectors as arrows, and the cell of a crystal."""
        glyphs, notes, around = [], [], []
        if name := chosen_arrows(self.part, self.choice):
            vectors = (self.part.vectors_after if moved else self.part.vectors)[name]
            longest = float(np.linalg.norm(self.part.vectors[name], axis=1).max(initial=0))
            if longest:
                glyphs.append(self._arrows(places, vectors, longest))
            notes.append(f"{name}, at most {figure(longest)}" if longest else f"{name}: all are zero")
        corners = self.part.corners_after if moved else self.part.corners
        if self.choice.cell and corners is not None:
            ends = corners[np.array(EDGES)]
            glyphs.append(Glyphs(ends[:, 0], ends[:, 1] - ends[:, 0], "muted"))
            around.append(corners)
        if self._charged:
            low, high = (figure(float(v)) for v in (self.part.charge.min(), self.part.charge.max()))  # type: ignore[union-attr]
            notes.append(f"charges from {low} to {high}, blue to orange")
        return self._drawn(
            places,
            title,
            self._solids(places),
            colours=self._elements(),
            glyphs=tuple(glyphs),
            note=" · ".join(notes),
            around=around,
        )

    def _linked(self, places: Array, links: Array | None, title: str) -> Panel:
        """Draw the pairs that a layer joins: an inferred graph, or who listens to whom."""
        pairs = np.zeros((2, 0), np.int64) if links is None else links
        note, ink = f"{pairs.shape[1]:,} strongest pairs", "accent"
        if self.node is not None:
            pairs = pairs[:, pairs[1] == self.node]
            note = f"{pairs.shape[1]:,} that it hears"
        elif pairs.shape[1] > MANY_LINES:
            note, ink = f"{pairs.shape[1]:,} pairs; click a point", "muted"
        lines = Glyphs(places[pairs[1]], places[pairs[0]] - places[pairs[1]], ink)
        return self._drawn(places, title, self._solids(places), colours=self._elements(), glyphs=(lines,), note=note)

    def _scalars(self, places: Array, found: Value, title: str) -> Panel:
        numbers = found.numbers[:, 0]
        levels = (-self.limit if self._signed() else 0.0, self.limit)
        table = standing_out(theme.signed_map() if levels[0] < 0 else theme.error_map())
        return self._drawn(
            places, title, self._solids(places), numbers=numbers, levels=levels, table=table, bar=found.short
        )

    def _signed(self) -> bool:
        part = self.part
        both = [self._value(at_points(part, t, m)) for t, m in ((part.values, False), (part.answer, True))]
        return any(v is not None and float(np.nanmin(v.numbers, initial=0.0)) < 0 for v in both)

    def _vectors(self, places: Array, found: Value, title: str) -> Panel:
        body = self._solids(places)
        arrows = self._arrows(places, found.numbers, self.limit)
        longest = np.linalg.norm(found.numbers, axis=1).max(initial=0.0)
        note = f"{found.name}, at most {figure(self.limit)}" if longest else f"{found.name}: all are zero"
        return self._drawn(places, title, body, colours=self._elements(), glyphs=(arrows,), note=note)

    def _bodies(self, places: Array, found: Value, title: str) -> Panel:
        """Draw values of a higher degree: as far from the atom as the function is large, in the colour of its sign."""
        n, harmonics = len(places), self.part.harmonics.get(found.degree)
        if harmonics is None or n > MOST_BODIES:
            few = f"Values of degree {found.degree} are drawn at up to {MOST_BODIES:,} points."
            return Panel(blank(few, title), np.zeros(0, np.int64))
        function = found.numbers @ harmonics.T
        # the largest value that a function of this size can have, in the basis that is in use
        most = self.limit * np.sqrt(2 * found.degree + 1)
        reach = SURFACE * self.apart * np.abs(function) / most + 0.02 * self.apart
        made = solids(places, self.radius, self.bonds, self._width(), reach, fineness(n), self.kinds)
        scalars = np.full(len(made.owner), np.nan)
        scalars[n : n + function.size] = function.ravel()
        shown = self._peak(harmonics)
        return self._panel(places, title, made, MeshLook(
            made.vertices, made.faces, title, "", None, scalars, (-shown, shown), bar=found.short,
        ))  # fmt: skip

    def _peak(self, harmonics: Array) -> float:
        """Return how far from zero the drawn functions come on either side, so that colours mean the same on both."""
        part = self.part
        both = [self._value(at_points(part, t, m)) for t, m in ((part.values, False), (part.answer, True))]
        return max([float(np.nanmax(np.abs(v.numbers @ harmonics.T), initial=0.0)) for v in both if v] or [0.0]) or 1.0

    def _moved_points(self, places: Array, there: Array, title: str, side: str) -> Panel:
        """Draw points where a layer has moved them, with a line from where they were."""
        lines = Glyphs(places, there - places, "muted")
        marks = []
        if side == "F(x)" and self.part.target is not None:
            marks = [Path(circle, "good", closed=True) for at in self.part.target
                     for circle in rings(at, 1.4 * float(self.radius.max()))][: 3 * MOST_NAMES]  # fmt: skip
        note = "rings: where they really will be" if marks else "lines: from where they were"
        return self._drawn(there, title, self._solids(there), colours=self._elements(), glyphs=(lines,), note=note,
                           paths=tuple(marks))  # fmt: skip

    def _difference(self, places: Array, table: Array, title: str) -> Panel:
        size = np.linalg.norm(table, axis=1)
        most = float(np.nanmax(size, initial=0.0))
        levels, note = None, ""
        if most < EMPTY * self.norm:  # rounding is not to look like an error
            levels, note = (0.0, EMPTY * self.norm), f"at most {figure(most)}" if most else "none"
        table = standing_out(theme.error_map())
        return self._drawn(
            places, title, self._solids(places), numbers=size, levels=levels, table=table, bar="all channels", note=note
        )

    # what they share --------------------------------------------------------------------------------------------
    def _elements(self) -> Array:
        charge = self.part.charge
        if charge is None or (self.atoms and not self._charged):
            return colours(self.part.numbers)
        share = charge / (float(np.abs(charge).max(initial=0.0)) or 1.0)
        ends = np.where(share[:, None] < 0, NEGATIVE, POSITIVE)
        return np.asarray(np.round(NEUTRAL + np.abs(share)[:, None] * (ends - np.array(NEUTRAL))), np.uint8)

    @property
    def _charged(self) -> bool:
        """Say whether atoms are to be coloured by their charges, and have some."""
        return self.choice.charges and self.atoms and self.part.charge is not None

    def _width(self) -> float:
        return 0.35 * float(np.median(self.radius)) if len(self.radius) else 0.1

    def _solids(self, places: Array) -> Solids:
        return solids(places, self.radius, self.bonds, self._width(), kinds=self.kinds)

    def _arrows(self, places: Array, vectors: Array, longest: float) -> Glyphs:
        at = np.arange(len(places))[:: -(-len(places) // MOST_ARROWS)]
        length = ARROW * max(self.apart, 2.2 * float(np.median(self.radius)))
        way = vectors[at] * (length / longest)
        size = np.linalg.norm(way, axis=1, keepdims=True)
        # from the skin of the ball outwards
        start = (
            places[at]
            + way / np.where(size > 0, size, 1) * np.where(size > 1e-3 * length, 0.9, 0) * (self.radius[at, None])
        )
        return Glyphs(start, way, "accent", arrows=True)

    def _drawn(
        self, places: Array, title: str, made: Solids, *, colours: Array | None = None, numbers: Array | None = None,
        levels: tuple[float, float] | None = None, table: Array | None = None, bar: str = "", note: str = "",
        glyphs: tuple[Glyphs, ...] = (), paths: tuple[Path, ...] = (), around: Sequence[Array] = (),
    ) -> Panel:  # fmt: skip
        scalars = None
        if numbers is not None:
            scalars = np.where(made.bonded, np.nan, np.asarray(numbers, float)[made.owner])
        painted = None if colours is None else colours[made.owner]
        look = MeshLook(made.vertices, made.faces, title, note, painted, scalars, levels, table, bar=bar, glyphs=glyphs)
        return self._panel(places, title, made, look, paths, around)

    def _panel(
        self, places: Array, title: str, made: Solids, look: MeshLook, paths: tuple[Path, ...] = (),
        around: Sequence[Array] = (),
    ) -> Panel:  # fmt: skip
        """Add what is pointed out: the selected point, the network's edges, names."""

        part, glyphs, texts = self.part, look.glyphs, []
        if self.node is not None:
            wide = max(1.5 * float(self.radius[self.node]), 0.3 * self.apart)
            paths += tuple(Path(circle, "accent", closed=True) for circle in rings(places[self.node], wide))
        edges = part.edges[:, (part.edges[0] < part.edges[1])]
        if self.node is not None and not self.choice.edges:
            edges = part.edges[:, part.edges[1] == self.node]
        elif not self.choice.edges:
            edges = edges[:, :0]
        if 0 < edges.shape[1] <= MOST_LINES:
            glyphs += (Glyphs(places[edges[0]], places[edges[1]] - places[edges[0]], "muted"),)
        if self.choice.names:
            texts = [Text(places[k], part.names[k]) for k in _named(part.names)]
        few = fewer(made, len(places))
        ends = [*around, *(g.points + g.directions for g in look.glyphs if g.arrows)]
        return Panel(
            replace(
                look,
                glyphs=glyphs,
                marks=Marks(paths=paths),
                texts=tuple(texts),
                few=few,
                around=np.concatenate(ends) if ends else None,
            ),
            made.owner,
        )


@lru_cache(maxsize=8)
def _named(names: tuple[str, ...]) -> list[int]:
    """Return which points are named: all where they are few, else those with a formal charge, where these are few."""
    if len(names) <= MOST_NAMES:
        return list(range(len(names)))
    charged = [k for k, name in enumerate(names) if sign_of(name)]
    return charged if len(charged) <= MOST_NAMES else []


def standing_out(table: Array) -> Array:
    """Return a table in which colours that the ground would swallow are mixed with an ink that stands out there."""
    colour, other = table[:, :3].astype(float), np.array(rgb("muted"), float)
    ground = _light(np.array([rgb(GROUND)], float))[0]
    part = np.zeros(len(table))
    for share in np.linspace(0, 1, 21)[1:]:
        mixture = (1 - part[:, None]) * colour + part[:, None] * other
        low, high = np.sort(np.stack([_light(mixture), np.full(len(table), ground)]), axis=0)
        part = np.where((high + 0.05) / (low + 0.05) < CONTRAST, share, part)
    made = table.copy()
    made[:, :3] = np.round((1 - part[:, None]) * colour + part[:, None] * other).astype(table.dtype)
    return made


def _light(colours: Array) -> Array:
    """Return the relative luminance of colours (n, 3) from 0 to 255, as WCAG has it."""
    share = colours / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])


def point_words(square: Square, part: PointsPart, side: str, point: int) -> str:
    """Return the read-out of one point of one panel, by its number on x."""
    if not 0 <= point < len(part.position):
        return ""
    moved = side not in OWN
    place = (part.moved[part.order] if moved else part.position)[point]
    name = part.names[point] if point < len(part.names) else f"point {point}"
    words = [f"{name} at ({', '.join(figure(float(v)) for v in place)})"]
    if part.charge is not None:
        words.append(f"charge {figure(float(part.charge[point]))}")
    if side in PLAIN:
        for key, vectors in (part.vectors_after if moved else part.vectors).items():
            words.append(f"{key} ({', '.join(figure(float(v)) for v in vectors[point])})")
    table = {"x": part.x, "F(x)": part.values, "ρ′(g)F(x)": part.expected, "F(ρ(g)x)": part.answer,
             "difference": part.difference, BACK: part.back}.get(side)  # fmt: skip
    if table is not None and (part.kind == "particle" or side == "x") and len(table) == len(part.position):
        row = table[part.order[point]] if moved else table[point]
        words.append(" ".join(figure(float(v)) for v in row[:6]) + (" …" if len(row) > 6 else ""))
    return " · ".join(words)
