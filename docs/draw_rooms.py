"""Draw the rooms of the program and what they import of each other, from the imports themselves, into docs/rooms.svg.

`python docs/draw_rooms.py` writes the picture anew. Each room stands on the diagonal, above all rooms that it imports.
A line runs from it to the right, turns at a dot and ends in the room that is imported; there is no line back.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "rooms.svg"
# {room: (colour, what is in it)}; rooms of explorer/ are blue
WORDS = {
    "equiscope": ("#f3e3c3", "the public library"),
    "main.py": ("#f3e3c3", "the command, joins the parts"),
    "widgets": ("#d3ecd5", "the window"),
    "models": ("#ecd6ea", "networks, one card a file"),
    "app": ("#d6e4f7", "command line, worker thread"),
    "spaces": ("#d6e4f7", "grid, graph, mesh, sequence"),
    "square": ("#d6e4f7", "from a request to a frame"),
    "equivariance": ("#d6e4f7", "the measurement"),
    "network": ("#d6e4f7", "load, trace, capture"),
    "state": ("#d6e4f7", "what a person has chosen"),
    "data": ("#d6e4f7", "read and write samples"),
    "work": ("#d6e4f7", "limits, threads, caches"),
    "declare": ("#d6e4f7", "fields, elements, spaces"),
}
# the scan for spaces starts at their package, which is empty
SCANNED = "explorer.spaces"
LINE, INK, FAINT = "#7f8ba0", "#16202e", "#435063"
BOX, TALL, RIGHT, DOWN, MARGIN = 214, 44, 64, 62, 16


def modules() -> dict[str, Path]:
    """Return the files that are drawn, by the dotted name under which each is imported."""
    tops = ("equiscope", "explorer", "models", "widgets")
    found = {path for top in tops for path in (ROOT / top).rglob("*.py")} | {ROOT / "main.py"}
    names = {path: path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in found}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, wherever the statement stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(module: str) -> str:
    """Return the room of a module: a folder of explorer/, or a part of the program."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "explorer" and rest else {"main": "main.py"}.get(first, first)


def counted() -> Counter[tuple[str, str]]:
    """Return how many files of one room import another room, and how many modules of it."""
    known, found = modules(), Counter[tuple[str, str]]()
    for module, path in known.items():
        targets = {name if name in known else name.rpartition(".")[0] for name in imported(path)} & known.keys()
        for target in targets - {SCANNED}:
            rooms = room(module), room(target)
            if rooms[0] != rooms[1]:
                found[rooms] += 1
    return found


def weight(count: int) -> int:
    """Return 1 for up to 3 imports, 2 for up to 15, 3 for up to 63, 4 for more."""
    return min(4, (count.bit_length() + 1) // 2)


def ordered(arrows: nx.DiGraph[str]) -> list[str]:
    """Return the rooms from the uppermost to the lowest; raise NetworkXUnfeasible where imports make a circle."""
    upside = arrows.reverse()
    height = {name: row for row, names in enumerate(nx.topological_generations(upside)) for name in names}
    return sorted(arrows, key=lambda name: (-height[name], list(WORDS).index(name)))


def picture() -> str:
    """Return the picture as the text of an SVG file."""
    found = counted()
    rooms = ordered(nx.DiGraph(list(found)))
    corner = {name: (MARGIN + k * RIGHT, MARGIN + k * DOWN) for k, name in enumerate(rooms)}
    width, height = 2 * MARGIN + (len(rooms) - 1) * RIGHT + BOX, 2 * MARGIN + (len(rooms) - 1) * DOWN + TALL
    lines, dots, boxes = [], [], []
    for one, other in sorted(found, key=lambda pair: (weight(found[pair]), pair)):
        (x, y), (right, below), thick = corner[one], corner[other], weight(found[one, other])
        turn, level = right + BOX - 22, y + TALL // 2
        lines.append(
            f'<path d="M{x + BOX} {level}H{turn}V{below - 7}" fill="none" stroke="{LINE}" stroke-width="{thick}"/>'
        )
        dots.append(f'<circle cx="{turn}" cy="{level}" r="{2 + 2 * thick}" fill="{LINE}"/>')
    for name in rooms:
        (x, y), (colour, words) = corner[name], WORDS[name]
        if any(other == name for _, other in found):
            tip = x + BOX - 22
            lines.append(f'<path d="M{tip - 6} {y - 9}h12l-6 9z" fill="{LINE}"/>')
        boxes.append(f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="6" fill="{colour}" stroke="{LINE}"/>')
        boxes.append(_text(x + 10, y + 19, name, f'font-size="15" font-weight="bold" fill="{INK}"'))
        boxes.append(_text(x + 10, y + 36, words, f'font-size="13" fill="{FAINT}"'))
    head = (
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif"'
    )
    body = "\n".join([*lines, *dots, *boxes, *_legend(MARGIN, height - MARGIN)])
    title = "<title>The rooms of Equiscope, and which imports which</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {head}>\n{title}\n{body}\n</svg>\n'


def _legend(left: int, bottom: int) -> list[str]:
    top = bottom - 172
    made = [f'<rect x="{left}" y="{top}" width="296" height="172" rx="6" fill="#f4f5f7" stroke="{LINE}"/>']
    for k, words in enumerate(("A line leads right from a room, turns", "at a dot, and ends in what it imports.")):
        made.append(_text(left + 12, top + 24 + 18 * k, words, f'font-size="13" fill="{INK}"'))
    for k, words in enumerate(("1 to 3 imports", "4 to 15", "16 to 63", "64 and more")):
        y = top + 64 + 20 * k
        made.append(f'<path d="M{left + 12} {y}H{left + 52}" fill="none" stroke="{LINE}" stroke-width="{k + 1}"/>')
        made.append(f'<circle cx="{left + 52}" cy="{y}" r="{4 + 2 * k}" fill="{LINE}"/>')
        made.append(_text(left + 76, y + 5, words, f'font-size="13" fill="{INK}"'))
    made.append(f'<rect x="{left + 12}" y="{top + 146}" width="14" height="14" rx="3" fill="#d6e4f7" stroke="{LINE}"/>')
    made.append(_text(left + 34, top + 158, "rooms of explorer/: no Qt", f'font-size="13" fill="{INK}"'))
    return made


def _text(x: int, y: int, words: str, look: str) -> str:
    return f'<text x="{x}" y="{y}" {look}>{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
