"""Handle rings on the stage: sites are rows, and dragging one turns the ring."""

from __future__ import annotations

from typing import Any

from ring.space import RingPart

from equiscope.views import Hands, Link, Place, Places, Square, Wish


class RingLink(Link):
    """The site to which each site has gone."""

    def __init__(self, order: list[int]) -> None:
        self.order = order

    def forward(self, place: Place, source: Places, target: Places) -> Place | None:
        return (place[0], self.order[place[1]], place[2]) if source.kind == "site" else place

    def back(self, place: Place, source: Places, target: Places) -> Place | None:
        return (place[0], self.order.index(place[1]), place[2]) if source.kind == "site" else place


class RingHands(Hands):
    """Hands on a ring."""

    name = "ring"
    hint = hint_enlarged = tip = "Drag a site of ρ(g)x: turn the ring"
    rows = frozenset({"site"})
    kind_of_x = "site"

    def show(self, square: Square) -> None:
        part = square.of(RingPart)
        self.link = Link() if part is None else RingLink(part.order.tolist())

    def drag(self, grabbed: Place | None, rows: int, right: float, down: float, modifiers: Any, done: bool) -> None:
        if done and grabbed is not None:
            self.wish(Wish(step=("turn", (round(down) % rows,)), tag="drag", done=done))

    def picked(self, square: Square, place: Place, channel: int | None) -> dict[str, Any]:
        return {"node": place[1]}


HANDS = RingHands
