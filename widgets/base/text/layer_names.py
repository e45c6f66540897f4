"""Names of layers where there is little room: what a layer is stands at the end of its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF


def endings(names: Iterable[str]) -> Counter[str]:
    """Count the names that end in the same parts: {"0.conv1": 4, "conv1": 9}."""
    counted: Counter[str] = Counter()
    for name in set(names):
        parts = name.split(".")
        counted.update(".".join(parts[k:]) for k in range(len(parts)))
    return counted


def shortened(metrics: QFontMetricsF, name: str, room: float, among: Mapping[str, int] | None = None) -> str:
    """Return as many of the last parts of a dotted name as fit: "conv1.attention", "…attention", "att…ion".

    Args:
        among: the endings of all names that stand beside it; one that several of them share says too little, and the
            parts before it are cut to a letter and their number instead: "l2.0.conv1" for "layer2.0.conv1".
    """
    if metrics.horizontalAdvance(name) <= room:
        return name
    parts = name.split(".")
    for k in range(1, len(parts)):
        end = ".".join(parts[k:])
        alone = among is None or among.get(end, 0) < 2
        if alone and not end.replace(".", "").isdigit() and metrics.horizontalAdvance(f"…{end}") <= room:
            return f"…{end}"
    if among is not None and among.get(parts[-1], 0) > 1:
        last = _in_letters(name)
    else:
        last = name if parts[-1].isdigit() else parts[-1]
    return metrics.elidedText(last, Qt.TextElideMode.ElideMiddle, room)


def alike(metrics: QFontMetricsF, names: Sequence[str], room: float, among: Mapping[str, int]) -> list[str]:
    """Return names that stand beside each other, all shortened in the way that the first of them needs.

    A name that has room as it is would look like that of another block between "l1.0.conv1" and "l1.0.conv2".
    """
    texts = [shortened(metrics, name, room, among) for name in names]
    short = [(name, text) for name, text in zip(names, texts, strict=True) if text != name]
    letters = any(text == _in_letters(name) for name, text in short)
    ends = [(name, text) for name, text in short if len(text) > 1 and name.endswith(text.removeprefix("…"))]
    fewest = min((name.count(".") - text.count(".") for name, text in ends), default=0)
    out = []
    for name, text in zip(names, texts, strict=True):
        end = ".".join(name.split(".")[fewest:])
        other = text
        if letters:
            other = _in_letters(name)
        elif fewest and text == name and among.get(end, 0) == 1 and not end.isdigit():
            other = f"…{end}"
        out.append(other if metrics.horizontalAdvance(other) <= room else text)
    return out


def told_apart(metrics: QFontMetricsF, name: str, room: float, among: Iterable[str]) -> str:
    """Return a name, cut where it is too wide: in the middle, or where no other one that is cut looks the same."""
    if metrics.horizontalAdvance(name) <= room:
        return name
    others = [other for other in set(among) - {name} if metrics.horizontalAdvance(other) > room]
    modes = (Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideLeft, Qt.TextElideMode.ElideRight)
    cuts = [metrics.elidedText(name, mode, room) for mode in modes]
    seen = ({metrics.elidedText(other, mode, room) for other in others} for mode in modes)
    return next((cut for cut, taken in zip(cuts, seen, strict=True) if cut not in taken), cuts[0])


def _in_letters(name: str) -> str:
    """Return a name with the parts before the last cut to a letter and their number."""
    *before, last = name.split(".")
    return ".".join([*map(_cut, before), last])


def _cut(part: str) -> str:
    return re.sub(r"^(.).*?(\d*)$", r"\1\2", part)
