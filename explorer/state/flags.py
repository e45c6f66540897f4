"""Flags of fields of a State: written by "copy as command", read when a window opens."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Flag:
    """One field of a State as a flag.

    Attributes:
        field, name: of the State, and of the flag.
        read: makes the value of a word; None where the flag stands alone.
        write: makes the word.
        several: the flag may stand several times, and the field is a tuple.
    """

    field: str
    name: str
    help: str
    metavar: str = ""
    read: Callable[[str], Any] | None = None
    write: Callable[[Any], str] = str
    several: bool = False

    @property
    def dest(self) -> str:
        """Return its name among what was parsed, which no verb has."""
        return f"shown_{self.field}"

    def add_to(self, parser: ArgumentParser) -> None:
        if self.read is None:
            parser.add_argument(self.name, dest=self.dest, action="store_true", help=self.help)
        else:
            action = "append" if self.several else "store"
            default: list[str] | None = [] if self.several else None
            parser.add_argument(
                self.name, dest=self.dest, action=action, default=default, metavar=self.metavar, help=self.help
            )

    def value(self, args: Namespace) -> Any:
        """Return the value that was given, None where none was.

        Raises:
            ValueError: it is none of this field.
        """
        found = getattr(args, self.dest)
        if self.read is None:
            return found or None
        if self.several:
            return tuple(self.read(word) for word in found) or None
        return None if found is None else self.read(found)

    def words(self, value: Any) -> list[str]:
        """Return the words that give a value."""
        if self.read is None:
            return [self.name]
        return [word for one in (value if self.several else (value,)) for word in (self.name, self.write(one))]


def _count(name: str) -> Callable[[str], int]:
    def read(word: str) -> int:
        if not word.isdecimal():
            raise ValueError(f"{name} {word!r} is no number of one, counted from 0")
        return int(word)

    return read


def _pixel(word: str) -> tuple[int, int]:
    row, comma, column = word.partition(",")
    if not (comma and row.isdecimal() and column.isdecimal()):
        raise ValueError(f"--pixel {word!r} is not ROW,COLUMN, counted from 0")
    return int(row), int(column)


def _gradient(word: str) -> str:
    if word != "norm" and not word.isdecimal():
        raise ValueError(f"--gradient {word!r} is neither norm nor the number of an entry of the output")
    return word


def _field(word: str) -> tuple[str, str]:
    from explorer.declare.types.field_text import parse_field

    layer, equals, text = word.partition("=")
    if not (layer and equals):
        raise ValueError(f"--field {word!r} is not LAYER=FIELD")
    return layer, str(parse_field(text))


def _latent(word: str) -> str:
    from explorer.declare.states.latent import checked_latent

    return checked_latent(word)


FLAGS = (
    Flag("channel", "--channel", "enlarge a channel of the layer", "N", _count("--channel")),
    Flag("pixel", "--pixel", "select a pixel of the layer", "R,C", _pixel, lambda at: f"{at[0]},{at[1]}"),
    Flag("other", "--other", "with --node, the node that sends: select an edge or a pair", "N", _count("--other")),
    Flag("untransform", "--untransform", "pull the answers back"),
    Flag("gradient", "--gradient", "by the parameters: of the output's norm, or of an entry", "OF", _gradient),
    Flag("overrides", "--field", "correct a guessed field", "LAYER=FIELD", _field, "=".join, several=True),
    Flag("watched", "--watch", "measure a layer in every frame", "LAYER", str, several=True),
    Flag("against", "--against", "another run to compare with, as sessions write it", "RUN", str),
    Flag("laws", "--laws", "which groups it keeps, and how far"),
    Flag("latent", "--latent", "the plane of codes: a projection, a place, an example", "tsne@X,Y>N", _latent),
)
