"""Turns by multiples of 60°."""

from honeycomb.transforms import Sixth

from equiscope.transforms import Element, Situation, Symmetry


def elements(name: str, situation: Situation) -> list[tuple[str, Element]]:
    return [(f"{60 * k}°", Sixth(k)) for k in range(1, 6)]


SYMMETRY = Symmetry("sixth", "turns by 60°", ("honeycomb",), "sixth", elements)
