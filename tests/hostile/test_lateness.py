"""Check that a person is told within two seconds of the fact, on a machine as slow as this one is at the moment."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.hostile.lateness import ENDS, LOOPS, WITHIN, Told, by_command

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="limits and processes of Linux")]
SOME = ("os._exit", "segmentation fault", "kill of its parent", "BaseException", "closed pipes", "too much output")


def in_time(told: Told) -> None:
    assert told.said and told.sentence < WITHIN * told.slowed, told
    assert told.end < 2 * WITHIN * told.slowed, told


@pytest.mark.parametrize("name", (*SOME, "memory of Python", "SIGSTOP to itself"))
def test_an_end_is_told_in_time(name: str, tmp_path: Path) -> None:
    in_time(by_command(ENDS[name], tmp_path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_loop_that_hears_nothing_is_ended_in_time(number: signal.Signals, tmp_path: Path) -> None:
    told = by_command(LOOPS["a loop that hears nothing"], tmp_path, by=number)
    in_time(told)
    assert told.said == "equiscope: stopped"
