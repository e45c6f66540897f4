"""Freed memory goes back to the system; in a process of its own, whose heaps nobody else uses."""

from __future__ import annotations

import ctypes
import gc
import queue
import subprocess
import sys
import threading

import pytest

from explorer.work.memory import HOME, Resident, uncollected

# many small blocks of several threads, every other one kept: the heaps stay as large as they were
CODE = """
import os, threading
from explorer.work.memory import give_back, hold_one_heap
import sys
if sys.argv[1] == "shared":
    hold_one_heap()

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


# twice large blocks in a thread that is not the first; prints the page faults of the second time, and MB. Those of the
# second time are smaller, for before 2.38 glibc's memalign found no room in a hole of just the size
AGAIN = """
import os, resource, sys, threading
import torch
from explorer.work import memory
from explorer.work.threads import tune
if sys.argv[1] == "held":
    memory.hold_one_heap()
tune()

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def work(size):
    values = [torch.ones(size) for _ in range(int(sys.argv[2]))]

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def run(size):
    thread = threading.Thread(target=work, args=[size])
    thread.start()
    thread.join()

run(10_000_000)
before = faults()
run(9_000_000)
again, held = faults() - before, resident()
memory.give_back_much()
print(again, held, resident())
"""


def again(how: str, blocks: int) -> list[float]:
    """Return the faults of the second time, and MB before and after much is given back."""
    call = [sys.executable, "-c", AGAIN, how, str(blocks)]
    return [float(n) for n in subprocess.run(call, capture_output=True, text=True, check=True).stdout.split()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the heaps of glibc")
def test_one_heap_keeps_what_is_freed_until_that_is_much() -> None:
    faults, _, _ = again("own", 5)
    kept, held, left = again("held", 5)
    assert faults > 40_000 > 3 * kept and held - left < 20, (faults, kept, held, left)
    kept, held, left = again("held", 30)
    assert held - left > 1_000, (kept, held, left)


# layers of as many shapes as a person meets in an hour: how much more is held after the second half of them
KERNELS = """
import ctypes, sys
from explorer.work.threads import tune
if sys.argv[1] == "tuned":
    tune()
import torch
from torch.nn.functional import conv2d

class Mallinfo(ctypes.Structure):
    _fields_ = [(n, ctypes.c_size_t) for n in ("arena", "o", "s", "h", "m", "u", "f", "used", "free", "k")]

def used():
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = Mallinfo
    return ask().used

def run(first, last):
    with torch.no_grad():
        for k in range(first, last):
            conv2d(torch.zeros(4, 3 + k % 37, 16, 16), torch.zeros(3 + k // 37, 3 + k % 37, 3, 3), padding=1)

torch.set_num_threads(1)
run(0, 400)
before = used()
run(400, 800)
print((used() - before) / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc")
def test_kernels_of_shapes_that_are_not_met_again_do_not_stay() -> None:
    plain, tuned = (
        float(subprocess.run([sys.executable, "-c", KERNELS, how], capture_output=True, text=True, check=True).stdout)
        for how in ("plain", "tuned")
    )
    assert tuned < 0.5, (plain, tuned)
    assert plain > 2 * tuned, "as long as torch keeps them of itself, there is something to bound"


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


FACTORS = """
import os, threading
import scipy.sparse as sp
from explorer.work.eigenspaces import Factors

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

n, held = 60, []
matrix = sp.diags([-1, -1, 4.1, -1, -1], [-n, -1, 0, 1, n], shape=(n * n, n * n)).tocsc()

def some(count):
    for _ in range(count):
        thread = threading.Thread(target=lambda: held.append(Factors(matrix)))
        thread.start()
        thread.join()
        held.clear()

some(3)
before = resident()
some(40)
print(resident() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="how much is resident")
def test_factors_are_freed_whoever_lets_go_of_them() -> None:
    """SuperLU gives back nothing on another thread than the one that factorised: a surface cost megabytes for good."""
    run = subprocess.run([sys.executable, "-c", FACTORS], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 30  # MB; it was 70


def test_residents_are_made_freed_and_used() -> None:
    class Here:
        def __init__(self) -> None:
            self.made = threading.get_ident()

        def __del__(self) -> None:
            freed.put((self.made, threading.get_ident()))

    freed: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
    several = [Resident(Here) for _ in range(3)]
    (home,) = [thread for thread in threading.enumerate() if thread.name == HOME]
    assert {one.use(lambda here: here.made) for one in several} == {home.ident}
    assert several[0].use(lambda here: threading.get_ident()) == threading.get_ident()
    while several:
        several.pop()
        assert freed.get(timeout=10) == (home.ident, home.ident)
    home.join(timeout=10)  # it goes with the last one
    assert not home.is_alive()

    def fails() -> None:
        raise ValueError("planted")

    with pytest.raises(ValueError, match="planted"):
        Resident(fails)
    assert Resident(lambda: 7).use(lambda number: number + 1) == 8
