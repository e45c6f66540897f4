"""Declare ways in which somebody's own network is found: each is ONE file in `ways` that exports ONE constant, WAY."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from explorer.declare.registry import scan, scanned

if TYPE_CHECKING:
    from explorer.declare.card import Card
    from explorer.network.opening.files.trust import Trust


class Way(ABC):
    """One way in.

    Attributes:
        name: of what the way leads to.
        form: how such a model is named, with an example.
    """

    name: ClassVar[str]
    form: ClassVar[str]

    @abstractmethod
    def takes(self, base: str) -> bool:
        """Return whether a model of this name, without its weights, comes in here; nothing is executed."""

    @abstractmethod
    def card(self, base: str, trust: bool | Trust) -> Card:
        """Return the card of such a model.

        Raises:
            ModelError: it cannot be made, or is code without `trust`.
        """


@scanned
def ways() -> dict[str, Way]:
    """Return every way in by name."""
    import explorer.network as package

    return scan(package, "WAY", "ways")
