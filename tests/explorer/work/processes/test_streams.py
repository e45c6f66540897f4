"""A program that is started without one of its standard streams works as one whose stream leads nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
CLOSED = [some for k in (1, 2, 3) for some in combinations((0, 1, 2), k)]


@pytest.mark.parametrize("closed", CLOSED)
def test_what_is_meant_for_a_closed_stream_goes_nowhere(closed: tuple[int, ...], tmp_path: Path) -> None:
    told = {}
    for number in (1, 2):
        told[number] = (tmp_path / str(number)).open("wb")
    code = subprocess.run(
        [sys.executable, "main.py", "list", "nothing"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=told[1],
        stderr=told[2], preexec_fn=lambda: [os.close(number) for number in closed],
    ).returncode  # fmt: skip
    for stream in told.values():
        stream.close()
    out, err = ((tmp_path / str(number)).read_text(encoding="utf-8") for number in (1, 2))
    assert code == 2 and out == ""
    assert (
        err == "" if 2 in closed else err.startswith("equiscope: what: there is no 'nothing'") and err.count("\n") == 1
    )


@pytest.mark.parametrize("closed", CLOSED)
def test_a_file_that_is_opened_later_is_no_stream(closed: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "file"
    script = (
        "import os, sys\n"
        f"for number in {closed}: os.close(number)\n"
        "for name in ('stdin', 'stdout', 'stderr'): setattr(sys, name, None)\n"  # as Python does where they are closed
        "from explorer.work.processes.streams import open_missing\n"
        "open_missing()\n"
        f"with open({str(path)!r}, 'w') as file:\n"
        "    assert file.fileno() > 2\n"
        "    print('said'); print('told', file=sys.stderr); os.write(2, b'told')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 0 and path.read_text(encoding="utf-8") == ""
