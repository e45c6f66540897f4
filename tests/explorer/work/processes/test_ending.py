"""Figures that the system keeps of a process."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from explorer.work.processes.ending import age


@pytest.mark.skipif(not Path("/proc/uptime").exists(), reason="the system does not tell since when it runs")
def test_a_process_is_as_old_as_it_is_whatever_the_clocks_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "clock_gettime", lambda _: 1e9)  # as faketime and a namespace of time set them
    with subprocess.Popen(["sleep", "60"]) as process:
        assert age(process.pid) < 30
        process.kill()
