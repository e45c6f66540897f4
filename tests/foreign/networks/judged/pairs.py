"""Pairs of a sound network and ones with a fault, each opened from its file and called in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.foreign.case import BROKEN, Case, Given
from tests.foreign.their_files import built

THEIRS = Path(__file__).parent / "theirs"
CASES = ()  # this file makes them, and has none


def pairs(
    file: str, name: str, given: Callable[[], Given], group: str, out: tuple[str, ...], faults: Mapping[int, str],
    sample: str = "", **more: Any,
) -> list[Case]:  # fmt: skip
    """Return a sound network and its twins, called in Python and opened from their file.

    Args:
        faults: {the place of a fault: names of the layers that may be blamed, with blanks between}.
        sample: that the file is checked on; "" checks no file.
        more: attributes of the cases; those that begin with "file_" are of the networks from a file alone.
    """
    of_file = {k.removeprefix("file_"): more.pop(k) for k in list(more) if k.startswith("file_")}
    more = {"hooks": False, **more}
    called = Case(f"{name}, {group}", partial(built, THEIRS, file, name, 0), given, group, out, **more)
    found = []
    for case, suffix in ((called, ""), (replace(called, name=f"{called.name}, from a file", **of_file), "door")):
        if suffix and not sample:
            continue
        door = f"{THEIRS / file}.py:{name}" if suffix else ""
        found.append(replace(case, door=door, sample=sample if suffix else ""))
        for fault, culprit in faults.items():
            found.append(
                replace(
                    case, name=f"{case.name}, fault {fault}", make=partial(built, THEIRS, file, name, fault),
                    truth=BROKEN, culprit=tuple(culprit.split()), twin=case.name, sample=sample if suffix else "",
                    door=f"{door}(fault={fault})" if suffix else "",
                )
            )  # fmt: skip
    return found
