"""Declare ways in which somebody's own network is found: each is ONE file in `ways` that exports ONE constant, WAY."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from explorer.declare.registry import scan, scanned
from explorer.network.opening.packages import standing

if TYPE_CHECKING:
    from explorer.declare.card import Card
    from explorer.network.opening.files.trust import Trust


@dataclass(frozen=True, slots=True)
class Offer:
    """Words on what a way opens, before anything is opened.

    Attributes:
        form: how such a model is named.
        prefix: what the names of its models begin with, where it can list them.
        told: what it needs, and whether that is there; "" where it needs nothing.
        ready: nothing is missing.
    """

    form: str
    prefix: str = ""
    told: str = ""
    ready: bool = True


class Way(ABC):
    """One way in.

    Attributes:
        name: of what the way leads to.
        form: how such a model is named, with an example.
        package: the extra that makes its networks; "" for none.
        prefix: what the names of its models begin with, where it can list them.
    """

    name: ClassVar[str]
    form: ClassVar[str]
    package: ClassVar[str] = ""
    prefix: ClassVar[str] = ""

    def offer(self) -> Offer:
        """Return what this way opens; nothing is imported for it."""
        ready, told = standing(self.package) if self.package else (True, "")
        return Offer(self.form, self.prefix, told, ready)

    def listed(self) -> tuple[str, ...]:
        """Return the names of the models that it makes, which imports its package.

        Raises:
            ModelError: that is not installed.
        """
        return ()

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


def offers() -> tuple[Offer, ...]:
    """Return what each way opens."""
    return tuple(way.offer() for way in ways().values())


def listed(prefix: str) -> tuple[str, ...]:
    """Return the names of the models that begin so, of the ways that can list them.

    Raises:
        ModelError: the package that makes them is not installed.
    """
    return tuple(name for way in ways().values() if way.prefix and way.prefix == prefix for name in way.listed())
