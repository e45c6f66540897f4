"""Networks from files, on the first data that the program itself finds for them: nobody names any."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import nn

from tests.foreign.case import BROKEN, HOLDS, REFUSED, Case, Given, drawn
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "first_data.py"
NUMBERS = torch.tensor([6, 8, 1, 1, 7, 1])


def made(name: str, fault: int) -> nn.Module:
    found: nn.Module = getattr(their_file(FILE), name)(fault=fault)
    return found


def first(
    name: str, given: Callable[[], Given], group: str, out: str, fault: int, truth: str = HOLDS, culprit: str = "",
    **more: object,
) -> Case:  # fmt: skip
    return Case(
        f"{name}, {group}, fault {fault}",
        partial(made, name, fault),
        given,
        group,
        (out,),
        truth,
        tuple(culprit.split()),
        hooks=False,
        door=f"{FILE}:{name}(fault={fault})",
        **more,
    )  # type: ignore[arg-type]  # attributes of the case


def molecule(how: str = "places@1") -> Given:
    return Given((NUMBERS, drawn(6, 3)), ("fixed", how), form="points", names=("number", "position"))


def renumbered() -> Given:
    return Given((NUMBERS, drawn(6, 3)), ("nodes", "nodes"), form="points", names=("number", "position"))


def types() -> Given:
    return Given((NUMBERS % 5, drawn(6, 3)), ("fixed", "places@1"), form="points", names=("number", "position"))


def node_types() -> Given:
    ring = torch.arange(6)
    edges = torch.stack([torch.cat([ring, (ring + 1) % 6]), torch.cat([(ring + 1) % 6, ring])])
    return Given((NUMBERS % 4, edges), ("nodes", "index"))


def cloud() -> Given:
    return Given((drawn(9, 3),), ("places@1",), form="points", names=("position",))


def columns() -> Given:
    return Given((drawn(1, 3, 9),), ("places@1",))


def masked() -> Given:
    return Given((drawn(2, 3, 29, 29), drawn(2, 1, 29, 29, seed=1).abs()), ("grid", "grid"))


def steps(count: int, width: int = 3) -> Given:
    return Given((drawn(1, count, width),), ("steps@1",), layout="NTC")


def rows(count: int, width: int = 3) -> Given:
    return Given((drawn(1, count, width),), ("nodes@1",))


def words() -> Given:
    return Given((torch.arange(9)[None] * 2 % 19,), ("nodes@1",))


def rows_of_pixels() -> Given:
    return Given((drawn(2, 1, 28, 28),), ("grid",))


def series() -> Given:
    return Given((drawn(1, 1, 16),), ("steps@2",), layout="NCT")


def patched() -> Given:
    return Given((drawn(2, 1, 16, 16),), ("grid",), step=4)


def picture() -> Given:
    return Given((drawn(2, 1, 12, 12),), ("grid",))


CASES: tuple[Case, ...] = (
    first("Egnn", molecule, "E3", "places@1", 0),
    first("Egnn", molecule, "E3", "places@1", 1, BROKEN, "two"),
    first("Egnn", molecule, "O3", "arrows@1", 2, BROKEN, "two"),
    first("Egnn", molecule, "SE3", "places@1", 2),
    first("Egnn", renumbered, "permutation", "nodes", 0),
    first("Handed", cloud, "O3", "fixed", 0),
    first("Handed", cloud, "O3", "fixed", 1, BROKEN, "net.0"),
    first("Handed", cloud, "SO3", "fixed", 1),
    first("Summed", columns, "O3", "arrows@2", 0),
    first("Summed", columns, "O3", "arrows@2", 1, BROKEN, "out"),
    first("Partial", masked, "translation", "grid", 0),
    first("Partial", masked, "translation", "grid", 1, BROKEN),
    first("Table", partial(rows, 16), "permutation", "nodes@1", 0),
    first("Table", partial(rows, 16), "permutation", "nodes@1", 1, BROKEN, "att att.attention"),
    first("Table", partial(steps, 16), "circular-shift", "steps@1", 0),
    first("Table", partial(steps, 16), "circular-shift", "steps@1", 1, BROKEN, "att att.attention"),
    first("Language", words, "permutation", "nodes@1", 0),
    first("Language", words, "permutation", "nodes@1", 1, BROKEN, "places att att.attention"),
    first(
        "Inverted", partial(steps, 24), "circular-shift", "steps@1", 0, REFUSED, refusable=True, tells="INPUT_LAYOUT"
    ),
    first("Mixer", partial(steps, 24), "circular-shift", "steps@1", 0, REFUSED, refusable=True, tells="INPUT_STEPS"),
    first("Normed", partial(steps, 20), "circular-shift", "steps@1", 0),
    first("Normed", partial(steps, 20), "circular-shift", "steps@1", 1, BROKEN, "one"),
    first("Corner", picture, "translation", "grid", 0),
    first("Corner", picture, "translation", "grid", 1, BROKEN),
    first("Types", types, "E3", "fixed", 0),
    first("Types", types, "E3", "fixed", 1, BROKEN, "net.0"),
    first("NodeTypes", node_types, "permutation", "nodes", 0),
    first("NodeTypes", node_types, "permutation", "nodes", 1, BROKEN, "out"),
    first("Square", patched, "translation", "fixed", 0),
    first("Square", patched, "translation", "fixed", 1, BROKEN, "places"),
    first("Pooled", picture, "translation", "fixed", 0),
    first("Pooled", picture, "translation", "fixed", 1, BROKEN, "conv"),
    first("Rows", rows_of_pixels, "D4", "fixed", 0, BROKEN),
    first("Kernel", series, "shift", "steps@2", 0),
    first("Blocks", series, "shift", "fixed", 0, REFUSED, refusable=True, tells="INPUT_LAYOUT"),
)
