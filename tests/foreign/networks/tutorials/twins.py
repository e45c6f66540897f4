"""Twins of a file: a sound network and ones with a fault, opened as `check` opens them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from torch import nn

from tests.foreign.case import BROKEN, Case, Given

THEIRS = Path(__file__).parent / "theirs"
CASES = ()  # this file makes them, and has none


@cache
def _file(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"tutorials_{name}", THEIRS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module


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
            made: nn.Module = getattr(_file(file), name)()
            return made

        door = f"{THEIRS / file}.py:{name}"
        return Case(name, make, given, group, out, hooks=False, door=door, sample=sample, **{**more, **own})

    broken = [case(n, truth=BROKEN, culprit=tuple(c.split()), twin=sound) for n, c in faults.items()]
    return [case(sound), *broken]
