"""Handle data of one space on the stage: gestures as wishes, links between places, what a click selects.

The widgets of a space export one constant, HANDS, from a file `hands.py`: a class derived from `Hands`. Data of a space
without one get the general answers below: no gestures, places paired by index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from PySide6.QtCore import Qt

from explorer.declare.registry import scan, scanned
from explorer.declare.space import kinds, space_of_kind
from explorer.square.frame import Square
from explorer.state.state import State
from widgets.base.view import Wish
from widgets.maps.linking import Link, Place, Places

LARGEST = 2**21  # cells of a picture whose values are drawn wide


class Hands:
    """The hands of a person on data that has no gesture of its own.

    Attributes:
        name: of the space.
        hint, hint_enlarged: what a hand can do, for the line below the maps, and while one channel is enlarged.
        tip: what a drag of ρ(g)x does.
        turns: whether a ring round ρ(g)x turns it.
        rows: kinds of places that are rows of the pictures, with channels as their columns.
        kind_of_x: kind of the places of x; "" where its picture has rows and columns.
        selected: fields of the state that a selection sets.
    """

    name: ClassVar[str] = ""
    hint: ClassVar[str] = "Click a map: enlarge"
    hint_enlarged: ClassVar[str] = "Click a value: what it sees of x · wheel: zoom · Esc: all channels again"
    tip: ClassVar[str] = "Ctrl and wheel: enlarge."
    turns: ClassVar[bool] = False
    rows: ClassVar[frozenset[str]] = frozenset()
    kind_of_x: ClassVar[str] = ""
    selected: ClassVar[tuple[str, ...]] = ("channel", "pixel")

    def __init__(self, wish: Callable[[Wish], None]) -> None:
        self.wish = wish
        self.state = State()
        self.link = Link()

    def follow(self, state: State) -> None:
        """Follow the person's choice, which the frame that answers it comes after."""
        self.state = state

    def show(self, square: Square) -> None:
        """Take note of the first square of a frame."""

    # gestures -------------------------------------------------------------------------------------------------
    def ring(self) -> tuple[float, float, float]:
        """Return the angle, the direction of "up" and the sense of the ring round ρ(g)x."""
        return (0.0, 90.0, 1.0)

    def turn(self, angle: float, done: bool) -> None:
        """Follow the ring."""

    def drag(
        self, grabbed: Place | None, rows: int, right: float, down: float, modifiers: Qt.KeyboardModifier, done: bool
    ) -> None:
        """Follow a drag of ρ(g)x by so many places to the right and down, since the press at `grabbed`.

        Args:
            rows: how many the picture has.
        """

    def dilate(self, notches: float) -> None:
        """Follow the wheel with Shift held."""

    def key(self, key: Qt.Key) -> bool:
        """Carry out a key's gesture; return False when the key has none."""
        return False

    def key_released(self, key: Qt.Key) -> bool:
        """End the gesture of a key that was held down; return False for other keys."""
        return False

    # places ---------------------------------------------------------------------------------------------------
    def picked(self, square: Square, place: Place, channel: int | None) -> dict[str, Any]:
        """Return what of the state changes when a place of F(x) is clicked, in the picture of a channel."""
        return {"pixel": place[1:], "channel": channel}

    def chosen(self, state: State, square: Square) -> Place:
        """Return the place of F(x) that is selected; row -1 for none."""
        return (state.channel or 0, *(state.pixel or (-1, -1)))

    def place_of_x(self, layer: Places, place: Place, x: Places) -> Place | None:
        """Return the place of x that a place of a layer belongs to; None where it has none."""
        return x.place(0, layer.point(place), False)

    def wide(self, kind: str, height: int, width: int) -> int:
        """Return how wide a value is drawn: many rows of few channels would make a thin strip."""
        if not kind or kind not in self.rows:
            return 1
        return max(1, min(round(0.62 * height / max(1, width)), LARGEST // max(1, height * width)))


@scanned
def hands_of(kind: str) -> type[Hands]:
    """Return the hands for a kind of data."""
    import widgets

    found: dict[str, type[Hands]] = scan(widgets, "HANDS", "hands")
    return found.get(space_of_kind(kind).name, Hands) if kind in kinds() else Hands
