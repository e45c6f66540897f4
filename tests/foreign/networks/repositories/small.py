"""Networks with tiny answers: what they take is found all the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "small.py"


def made(fault: int = 0) -> nn.Module:
    found: nn.Module = their_file(FILE).Rate(fault)
    return found


def places() -> Given:
    return Given((drawn(1, 12, 3),), ("places@2",))


SOUND = Case("Rate", made, places, "E3", ("fixed",), door=f"{FILE}:Rate", hooks=False)
CASES = (
    SOUND,
    SOUND.broken("a middle that is not theirs", partial(made, 1), "f.0", door=f"{FILE}:Rate(fault=1)"),
)
