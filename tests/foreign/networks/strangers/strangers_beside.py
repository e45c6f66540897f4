"""Networks from files on data beside numbers that lie at no place, found by trial: a time, a class, a vector."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.foreign.case import REFUSED, Case, Given, drawn, pair
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "beside.py"
SEQUENCES = Path(__file__).parent / "theirs" / "beside_sequences.py"
GREY, COLOUR = drawn(2, 1, 29, 29), drawn(2, 3, 29, 29)
TIMES, CLASSES = torch.tensor([0.3, 0.8]), torch.tensor([1, 4])


def made(name: str, fault: int) -> nn.Module:
    found: nn.Module = getattr(their_file(FILE), name)(fault=fault)
    return found


def beside(name: str, culprit: Sequence[str], out: str, *args: Tensor) -> tuple[Case, ...]:
    acts = tuple("grid" if value.ndim == 4 else "fixed" for value in args)
    cases = pair(
        name, partial(made, name, 0), partial(made, name, 1), culprit, lambda: Given(args, acts), (out,),
        "translation", hooks=False,
    )  # fmt: skip
    files = (
        Case(f"{case.name}, from a file", case.make, case.given, case.group, case.out, case.truth, case.culprit,
             hooks=False, door=f"{FILE}:{name}(fault={k})")
        for k, case in enumerate(cases)
    )  # fmt: skip
    return (*cases, *files)


def beside_sequence(name: str, *args: Tensor) -> tuple[Case, ...]:
    acts = tuple("steps@2" if value.ndim == 3 else "fixed" for value in args)
    make = [partial(getattr(their_file(SEQUENCES), name), fault=k) for k in (0, 1)]
    cases = pair(
        f"{name}, steps", make[0], make[1], ["two"], lambda: Given(args, acts), ("steps@2",), "shift", hooks=False,
    )  # fmt: skip
    return tuple(
        Case(f"{case.name}, from a file", case.make, case.given, case.group, case.out, case.truth, case.culprit,
             hooks=False, door=f"{SEQUENCES}:{name}(fault={k})", inside=8)
        for k, case in enumerate(cases)
    )  # fmt: skip


CASES: tuple[Case, ...] = (
    *beside_sequence("Voice", drawn(1, 5, seed=1), drawn(1, 4, 40)),
    *beside_sequence("OfClass", drawn(1, 3, 40), torch.tensor([4])),
    *beside("Diffusion", ["mid"], "grid", TIMES, GREY),
    # code before the last layer is at fault
    *beside("Scheduled", ["two"], "grid", COLOUR, CLASSES),
    *beside("OfClass", ["out"], "grid", COLOUR, CLASSES),
    *beside("TimeAndClass", ["two"], "grid", COLOUR, TIMES, CLASSES),
    *beside("Film", ["body"], "fixed", COLOUR, drawn(2, 5, seed=1)),
    *beside("Styled", ["out"], "grid", COLOUR, drawn(2, 12, seed=1)),
    Case("an image or one number, from a file", partial(made, "Unclear", 0),
         lambda: Given((COLOUR, drawn(2, 3, 29, 29, seed=1)), ("grid", "grid")), "translation", ("grid",),
         truth=REFUSED, refusable=True, tells="'y': 'below 10'", hooks=False, door=f"{FILE}:Unclear"),
)  # fmt: skip
