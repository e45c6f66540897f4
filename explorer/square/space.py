"""Declare what a space is asked about the commuting square, on top of what it is asked about networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from explorer.declare import space as declared
from explorer.network.space import NetworkSpace

if TYPE_CHECKING:
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.square.both_ways import BothWays
    from explorer.square.drawing.answer import Answer
    from explorer.square.frame import Square
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State


class Space(NetworkSpace):
    """One kind of data: what a package of its own derives from and exports as SPACE."""

    def sweepers(self) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
        """Return two like `square.sweep.sweep`, one to estimate errors, one that is quicker; None: it does for both."""
        return None

    def look_at(self, p: Prepared) -> None:
        """Keep what must be read off the network before it is changed along with the signal."""
        return

    def part(self, one: BothWays) -> object | None:
        """Return what views of this space draw beside the images of the square, as frozen values and arrays."""
        return None

    def answer(self, square: Square, place: int | None) -> Answer | None:
        """Return whose the numbers at the network's end are when `place` is selected; None where labels say enough."""
        return None

    def refine(self, p: Prepared, state: State, square: Square) -> Iterator[Square]:
        """Yield the square with ever more of what takes longer; advanced in idle time."""
        return iter(())

    def written_layer(self, p: Prepared, state: State) -> Sample:
        """Return the values of the selected layer of F(x) as a sample, for `capture_endings`.

        Raises:
            ValueError: the layer has none that could be written.
        """
        raise ValueError(f"{p.card.name} does not live on anything that is written in this format")


def spaces() -> Mapping[str, Space]:
    """Return every space by name, those of the lowest rank first."""
    return cast(Mapping[str, Space], declared.spaces())


def space_of_kind(kind: str) -> Space:
    """Return the space of a kind of data; raise KeyError where there is none."""
    return cast(Space, declared.space_of_kind(kind))


def space_of(inputs: Inputs) -> Space:
    """Return the space that some inputs live in."""
    return spaces()[inputs.field.domain.space]
