"""Twins of a file: a sound network and ones with a fault, opened as `check` opens them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from tests.foreign.case import BROKEN, Case, Given
from tests.foreign.their_files import their_file

THEIRS = Path(__file__).parent / "theirs"
CASES = ()  # this file makes them, and has none


def twins(
    file: str, sound: str, faults: Mapping[str, str], given: Callable[[], Given], group: str, out: tuple[str, ...],
    sample: str = "", **more: Any,
) -> list[Case]:  # fmt: skip
    """Return the cases of a sound network and of its twins.

    Args:
        faults: {name of a twin: names of the layers that may be blamed, with blanks between}.
        given: what the oracle calls them with.
        sample: that the file is checked on.
    """

    def case(name: str, **own: Any) -> Case:
        def make() -> nn.Module:
            made: nn.Module = getattr(their_file(THEIRS / f"{file}.py"), name)()
            return made

        door = f"{THEIRS / file}.py:{name}"
        return Case(name, make, given, group, out, hooks=False, door=door, sample=sample, **{**more, **own})

    broken = [case(n, truth=BROKEN, culprit=tuple(c.split()), twin=sound) for n, c in faults.items()]
    return [case(sound), *broken]
