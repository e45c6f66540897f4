"""Answer `check --laws`: the table of all candidate groups of a network's kind of data."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING

from explorer.app.command.doors import BadInput
from explorer.app.remote.tampering import measured_by_us
from explorer.state.state import State

if TYPE_CHECKING:
    from explorer.app.answering.engine import LocalEngine

UNTESTED = 3


def told_laws(
    start: Callable[[], LocalEngine], state: State, overrides: Mapping[str, str], args: argparse.Namespace
) -> int:
    """Print which laws hold, and how far. Exit code 0: some could be tested; nothing was claimed that could be broken.

    Raises:
        BadInput: an option that belongs to the check of one group.
    """
    if args.table or args.tol is not None:
        raise BadInput("--laws tests every group with its own tolerance; --tol and --table belong to one group")
    from explorer.app.command.audit import explored
    from explorer.equivariance.verdict.laws import ALL, table

    with redirect_stdout(sys.stderr), measured_by_us(state.model):  # what a network prints is no part of the answer
        group = "" if args.group == ALL else args.group or ""
        found = explored(start(), state, args.dtype or "float64", overrides, group=group)
    if args.json:
        print(json.dumps({"model": state.model, "laws": [asdict(law) for law in found]}, ensure_ascii=False))
    else:
        print(table(found))
    tested = any(law.verdict != "no law" for law in found)
    return 0 if tested or args.allow_untested else UNTESTED
