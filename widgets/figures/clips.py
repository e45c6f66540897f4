"""Give back their clip to the groups of an SVG that Qt writes with that of another one.

When a painter returns to a clip within which it has clipped further, Qt's engine goes on with the inner clip (Qt 6.11;
`QPainter::restore` sets the old clips again while clipping is off, and an engine for SVG writes none then). What is
drawn afterwards is cut off. What the engine was told can be read from its groups: for each change it writes one. A
return to n clips, each within the one before, is 1 + n groups that hold nothing and have no clip, then one with the
clip that was written last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_UPDATE = re.compile(
    r'(?:<g clip-path="url\(#(?P<clip>\w+)\)">)?<g (?P<style>[^>]*)>(?P<inside>(?:(?!</?g\b).)*)</g>', re.DOTALL
)
_CLIP = re.compile(r'<clipPath id="(\w+)">\s*<path[^>]* d="([^"]*)"')
_POINT = re.compile(r"(-?[\d.]+(?:e[-+]?\d+)?),(-?[\d.]+(?:e[-+]?\d+)?)")
_SLACK = 0.01  # pixels: places are written with six digits

Box = tuple[float, float, float, float]


def with_own_clips(body: str) -> str:
    """Return what Qt has written of one painter, each group with the clip that the painter had."""
    boxes = {match[1]: _box(match[2]) for match in _CLIP.finditer(body)}
    clips: list[str] = []  # each within the one before
    seen: set[str] = set()
    nothing = 0  # groups since the last one with a clip that hold nothing

    def mended(found: re.Match[str]) -> str:
        nonlocal nothing
        name = found["clip"]
        if name is None:
            nothing += 1
            if found["inside"].strip():
                clips.clear()
            return found[0]
        if name not in seen:
            if nothing or (clips and not _within(boxes, name, clips[-1])):
                clips.clear()  # it replaces them
            clips.append(name)
        elif nothing and 0 < nothing - 1 <= len(clips):
            del clips[nothing - 1 :]
        seen.add(name)
        nothing = 0
        return found[0].replace(f"#{name})", f"#{clips[-1]})", 1) if clips else found[0]

    return _UPDATE.sub(mended, body)


def _within(boxes: Mapping[str, Box], inner: str, outer: str) -> bool:
    one, other = boxes.get(inner), boxes.get(outer)
    if one is None or other is None:
        return True
    return all(a >= b - _SLACK for a, b in zip(one[:2], other[:2], strict=True)) and all(
        a <= b + _SLACK for a, b in zip(one[2:], other[2:], strict=True)
    )


def _box(path: str) -> Box:
    points = [(float(x), float(y)) for x, y in _POINT.findall(path)]
    if not points:
        return (0.0, 0.0, 0.0, 0.0)
    xs, ys = zip(*points, strict=True)
    return (min(xs), min(ys), max(xs), max(ys))
