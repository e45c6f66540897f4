"""Networks on hypergraphs: the order of the groups is as free as that of the nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "groups.py"
GROUPS = ("fixed", "nodes@1")


def made(name: str, fault: int) -> nn.Module:
    found: nn.Module = getattr(their_file(FILE), name)(fault=fault)
    return found


def twice(name: str, culprit: str, given: Callable[[], Given], out: str) -> list[Case]:
    """Return a sound network and the one with a fault, called in Python and opened from their file."""
    sound = Case(name, partial(made, name, 0), given, "permutation", (out,), hooks=False)
    faulty = sound.broken("a fault", partial(made, name, 1), *culprit.split())
    of_file = f"{FILE}:{name}"
    return [
        sound, faulty, replace(sound, name=f"{name}, from a file", door=f"{of_file}(fault=0)"),
        replace(faulty, name=f"{name}, from a file, a fault", door=f"{of_file}(fault=1)"),
    ]  # fmt: skip


def incidence(nodes: int = 9, groups: int = 6) -> Given:
    held = (drawn(nodes, groups, seed=39) > 0).float()
    held[range(groups), range(groups)] = 1.0
    return Given((drawn(nodes, 4, seed=40), held), GROUPS)


def pairs() -> Given:
    weights = drawn(8, 8).abs()
    return Given((drawn(8, 4), weights + weights.t()), ("nodes", "pairs"))


CASES = (
    *twice("Hyper", "hgc2", incidence, "fixed"),
    *twice("Sums", "hgc2", incidence, "fixed"),
    *twice("Attended", "", incidence, "nodes"),
    *twice("Laplacian", "", pairs, "nodes"),
)  # fmt: skip
