"""Freed memory goes back to the system; in a process of its own, whose heaps nobody else uses."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from explorer.work.memory import uncollected

# many small blocks of several threads, every other one kept: the heaps stay as large as they were
CODE = """
import os, threading
from explorer.work.memory import give_back, share_arenas
import sys
if sys.argv[1] == "shared":
    share_arenas()

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def work():
    blocks = [bytearray(65_536) for _ in range(800)]
    allocated.wait()  # what the next thread allocates must not go where this one has freed
    kept.append(blocks[::8])

kept, allocated = [], threading.Barrier(6)
threads = [threading.Thread(target=work) for _ in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
held = resident()
give_back()
print(held, resident())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the heaps of glibc")
@pytest.mark.parametrize("how", ["shared", "own"])
def test_freed_pages_are_given_back(how: str) -> None:
    run = subprocess.run([sys.executable, "-c", CODE, how], capture_output=True, text=True, check=True)
    held, left = map(float, run.stdout.split())
    assert left < held - 100


@pytest.mark.parametrize("on", [True, False])
def test_no_cycles_are_looked_for_meanwhile(on: bool) -> None:
    was = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        with pytest.raises(ValueError), uncollected():
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() is on
    finally:
        (gc.enable if was else gc.disable)()
