"""All networks of other people, by kind."""

from __future__ import annotations

import importlib

from tests.foreign.case import Case

KINDS = (
    "images",
    "turns",
    "patches",
    "sequences",
    "strands",
    "graphs",
    "arguments",
    "geometric",
    "sets",
    "tokens",
    "meshes",
    "outputs",
    "precision",
    "styles",
    "opened",
    "declared",
    "vision",
    "zoo",
)


def cases(kind: str) -> tuple[Case, ...]:
    """Return the cases of one kind."""
    found: tuple[Case, ...] = importlib.import_module(f"tests.foreign.{kind}").CASES
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
