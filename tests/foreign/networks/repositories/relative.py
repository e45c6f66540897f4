"""Networks with a table of relative positions: the table is no sequence of steps, and not at fault."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from torch import nn

from tests.foreign.case import Given, drawn, pair
from tests.foreign.their_files import their_file

FILE = Path(__file__).parent / "theirs" / "relative.py"


def made(fault: int) -> nn.Module:
    found: nn.Module = their_file(FILE).Causal(fault)
    return found


def series() -> Given:
    return Given((drawn(1, 64, 5),), ("steps@1",), layout="NTC")


CASES = pair("Causal", partial(made, 0), partial(made, 1), ["two"], series, ("steps@1",), "shift", hooks=False)
