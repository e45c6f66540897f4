"""Go through maps and their places by keys, as clicks on them do."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt

from explorer.square.frame import Square
from explorer.state.state import State
from widgets.stage.hands import Hands

MAPS = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}
PLACES = {
    Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
}  # fmt: skip


def stepped(hands: Hands, state: State, square: Square, key: Qt.Key, shift: bool) -> dict[str, Any] | None:
    """Return what of the state a key changes: the next map, or with Shift the next place of F(x); None for others."""
    maps, rows, columns = square.fx.shape
    if key in MAPS and not shift:
        first = 0 if MAPS[key] > 0 else maps - 1
        return {"channel": first if state.channel is None else (state.channel + MAPS[key]) % maps}
    if key not in PLACES or not shift:
        return None
    channel, row, column = hands.chosen(state, square)
    if row < 0:  # from the middle on
        return hands.picked(square, (channel, rows // 2, columns // 2), channel)
    down, right = PLACES[key]
    place = min(max(row + down, 0), rows - 1), min(max(column + right, 0), columns - 1)
    return hands.picked(square, (channel, *place), channel)
