"""All networks of other people, by kind."""

from __future__ import annotations

import importlib
from pathlib import Path

from tests.foreign.case import Case

HERE = Path(__file__).parent
PATHS = sorted(HERE.glob("networks/*/*.py"))  # each file in a folder of networks/ is a kind, under its own name
KINDS = {path.stem: f"tests.foreign.networks.{path.parent.name}.{path.stem}" for path in PATHS}


def cases(kind: str) -> tuple[Case, ...]:
    """Return the cases of one kind."""
    found: tuple[Case, ...] = importlib.import_module(KINDS[kind]).CASES
    return found


def by_name() -> dict[str, tuple[str, Case]]:
    """Return {"kind: name": (kind, case)} of all."""
    found: dict[str, tuple[str, Case]] = {}
    for kind in KINDS:
        for case in cases(kind):
            name = f"{kind}: {case.name}"
            assert name not in found, f"two cases are called {name!r}"
            found[name] = (kind, case)
    return found
