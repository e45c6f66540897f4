"""Field types read back from their text, as on the command line and in sessions: what `str(field)` writes."""

from __future__ import annotations

import re

from explorer.declare.fields import (
    INVARIANT,
    Ambient,
    Direction,
    Domain,
    Edges,
    Faces,
    FieldType,
    Frame,
    Graphs,
    Grid,
    Metric,
    NodeIndex,
    Nodes,
    Pairs,
    Patch,
    Point,
    Regular,
    Representation,
    Scalar,
    Steps,
    Strands,
    Tangent,
    Transporter,
    Vertices,
)
from explorer.declare.groups import group

_TEXT = re.compile(
    r"invariant"
    r"|(?P<on>node|edge|pair|graph|(?P<step>step)|vertex|face) (?P<of>scalar|intensity|index|strands|position|vector"
    r"|direction|transporter|metric|frame|patch corner|patch weight|tangent\((?P<orders>[0-9]+(?:,[0-9]+)*)\)"
    r"|regular\((?P<fibre>[A-Za-z0-9]+)\))"
    r"(?(step)(?: on axis (?P<axis>[0-9]))?)"
    r"|point (?P<point>scalar|intensity|regular\((?P<point_group>[A-Za-z0-9]+)\))"
    r"|grid (?P<rep>scalar|intensity|regular\((?P<group>[A-Za-z0-9]+)\))"
    r"(?: /(?P<spacing>[0-9.]+(?:e[+-]?[0-9]+)?|inf))?(?: flat (?P<h>[1-9][0-9]*)x(?P<w>[1-9][0-9]*))?"
)


def parse_field(text: str) -> FieldType:
    """Read what `str(field)` writes, for example "grid regular(D4) /2" or "invariant"; raise ValueError."""
    m = _TEXT.fullmatch(text.strip())
    if m is None:
        raise ValueError(
            f"unknown field type {text!r}; write 'invariant', 'grid scalar', 'grid regular(D4)', 'grid scalar /2', "
            "'point regular(C4)', 'node scalar', 'edge scalar', 'pair scalar', 'step scalar', 'vertex scalar', "
            "'step scalar on axis 1', 'vertex tangent(0,1,2)' or 'vertex regular(C8)'"
        )
    if m["point"]:
        return FieldType(Point(), _representation(m["point"], m["point_group"]))
    if m["on"]:
        domain = Steps(int(m["axis"] or 0)) if m["step"] else _DOMAINS[m["on"]]
        return FieldType(domain, _on_places(text, m))
    if not m["rep"]:
        return INVARIANT
    try:
        spacing = float(m["spacing"] or 1.0)
    except ValueError:
        spacing = 0.0
    if spacing <= 0.0:
        raise ValueError(f"field type {text!r}: the spacing must be a positive number, not {m['spacing']!r}")
    flat = (int(m["h"]), int(m["w"])) if m["h"] else None
    return FieldType(Grid(spacing, flat), _representation(m["rep"], m["group"]))


_DOMAINS: dict[str, Domain] = {
    "node": Nodes(),
    "edge": Edges(),
    "pair": Pairs(),
    "graph": Graphs(),
    "vertex": Vertices(),
    "face": Faces(),
}


def _on_places(text: str, m: re.Match[str]) -> Representation:
    """Return the representation of a field on nodes, edges, steps, vertices...; raise ValueError where it has none."""
    on, of = m["on"], m["of"]
    homes = {
        "index": ("edge", "face"),
        "direction": ("edge",),
        "transporter": ("edge",),
        "position": ("vertex",),
        "vector": ("vertex", "face"),
        "patch": ("vertex",),
        "frame": ("vertex",),
        "metric": ("vertex", "edge"),
        "tangent": ("vertex",),
        "regular": ("vertex",),
    }
    word = re.split(r"[ (]", of)[0]
    if word == "index" and on not in homes[word]:
        raise ValueError(f"field type {text!r}: only edges are given by indices of nodes, and faces by their corners")
    if on not in homes.get(word, (on,)):
        where = " or ".join(homes[word])
        raise ValueError(f"field type {text!r}: {word!r} is for values at each {where}, not at each {on}")
    if m["orders"]:
        return Tangent(tuple(int(order) for order in m["orders"].split(",")))
    if m["fibre"]:
        return Regular(group(m["fibre"]))
    match word:
        case "index":
            return NodeIndex()
        case "strands":
            return Strands()
        case "direction":
            return Direction()
        case "transporter":
            return Transporter()
        case "position" | "vector":
            return Ambient(word)
        case "metric":
            return Metric()
        case "frame":
            return Frame()
        case "patch":
            return Patch(of.partition(" ")[2])
        case _:
            return Scalar(word == "intensity")


def _representation(text: str, name: str | None) -> Representation:
    return Regular(group(name)) if name else Scalar(text == "intensity")
