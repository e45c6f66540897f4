"""Time how long after a network has ended, hung or taken too much a person is told: the sentence, and the end of all.

`python -m tests.hostile.lateness` measures every kind, by `check` and on the engine of the window. The network writes
down the moment of the fact just before it; both sides read the same clock. How much slower the machine is than its
processor, because others use it too, is measured beside each and told.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.explorer.parts.misbehaving import network, ramp

PROGRAM = Path(__file__).parents[2] / "main.py"
WITHIN = 2.0  # seconds after the fact, on a machine of one's own
TIMEOUT = 16  # seconds that `check` gives a loop; its fact is that they are over
MEMORY = "2"  # GB that a network may have
LONGEST = 120.0  # seconds; only ever reached by a fault
STAMPED = "STAMPED"  # where the moment is written down; what goes on is written down again and again
_CLOSED = "[os.close(f) for f in range(3, 64) if os.path.exists(f'/proc/self/fd/{f}')]; time.sleep(60)"
ENDS: Mapping[str, str] = {
    "os._exit": "STAMPED; os._exit(7)",
    "os._exit(0)": "STAMPED; os._exit(0)",
    "sys.exit": "STAMPED; sys.exit(3)",
    "abort": "STAMPED; os.abort()",
    "segmentation fault": "STAMPED; ctypes.string_at(0)",
    "bus error": "STAMPED; os.kill(os.getpid(), signal.SIGBUS)",
    "kill -9 of itself": "STAMPED; os.kill(os.getpid(), 9)",
    "SIGTERM to itself": "STAMPED; os.kill(os.getpid(), 15); time.sleep(60)",
    "SIGSTOP to itself": "STAMPED; os.kill(os.getpid(), signal.SIGSTOP)",
    "kill of its parent": "STAMPED; os.kill(os.getppid(), 9); time.sleep(60)",
    "kill of its group": "STAMPED; os.killpg(os.getpgid(os.getppid()), 9); time.sleep(60)",
    "BaseException": "STAMPED; raise BaseException('no more')",
    "GeneratorExit": "STAMPED; raise GeneratorExit",
    "KeyboardInterrupt": "STAMPED; raise KeyboardInterrupt",
    "an exception": "STAMPED; raise ValueError('no more')",
    "recursion": "STAMPED\n        def deep(n): return deep(n + 1)\n        deep(0)",
    "Python's fatal error": "STAMPED; ctypes.pythonapi.Py_FatalError(b'gone')",
    "closed pipes": f"STAMPED; {_CLOSED}",
    "another program": "STAMPED; os.execv('/bin/sleep', ['sleep', '60'])",
    "too much output": "for _ in range(200):\n            STAMPED; print('y' * 10 ** 6)\n        time.sleep(60)",
    "memory of Python": "y = []\n        while True:\n            STAMPED; y.append(bytearray(b'x') * 2 ** 24)",
    "memory of torch": "y = []\n        while True:\n            STAMPED; y.append(torch.ones(2 ** 22))",
    "memory at once": "STAMPED; torch.ones(2 ** 38)",
}
# what only a time limit ends; in the window a person does
LOOPS: Mapping[str, str] = {
    "a loop": "STAMPED\n        while True: pass",
    "a wait": "STAMPED; threading.Event().wait()",
    "a loop that hears nothing": "STAMPED\n        while True:\n            try:\n                while True: pass\n"
    "            except BaseException: pass",
    "the interpreter held": "STAMPED; ctypes.PyDLL(None).sleep(1000)",
}


@dataclass(frozen=True, slots=True)
class Told:
    """When it was told.

    Attributes:
        sentence: seconds from the fact to the sentence.
        end: seconds from the fact to the end of the command, or to when the window is free for the next request.
        slowed: times that the machine was slower than its processor just then, at least 1.
        said: the sentence.
    """

    sentence: float
    end: float
    slowed: float
    said: str


def slowed() -> float:
    """Return how many times longer a piece of work takes by the clock than of the processor."""
    began, spent = time.monotonic(), time.process_time()
    while time.process_time() - spent < 0.1:
        pass
    return max(1.0, (time.monotonic() - began) / (time.process_time() - spent))


def written(action: str, folder: Path) -> tuple[str, Path]:
    """Write a network that notes the moment before it does something; return its name, and where the moment stands."""
    note = folder / "moment"
    stamp = f"open({str(note)!r}, 'a').write(f'{{time.monotonic()}}\\n')"
    return network(folder, action.replace(STAMPED, stamp)), note


def by_command(action: str, folder: Path, loops: bool = False, by: signal.Signals | None = None) -> Told:
    """Have a network misbehave under `check`, as a program of its own; `by` is a signal that a person sends it."""
    name, note = written(action, folder)
    words = ["check", name, "--trust", "--group", "C4", "--data", ramp(folder), "--device", "cpu"]
    words += ["--timeout", str(TIMEOUT if loops and by is None else LONGEST)]
    place = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "EQUISCOPE_MEMORY": MEMORY}
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env=place, preexec_fn=heard,
    )  # fmt: skip
    sent = 0.0
    if by is not None:
        until = began + LONGEST
        while not note.exists() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.2)
        sent = time.monotonic()
        process.send_signal(by)
    assert process.stderr is not None
    said, seen = b"", 0.0
    with process:
        while select.select([process.stderr], [], [], LONGEST)[0]:
            if not (more := os.read(process.stderr.fileno(), 2**16)):
                break
            said = (said + more)[-(2**17) :]
            if not seen and b"equiscope: " in said:
                seen = time.monotonic()
        process.wait(LONGEST)
    end = time.monotonic()
    fact = sent or (began + TIMEOUT if loops else float(note.read_text().split()[-1]))
    line = next((x for x in said.decode(errors="replace").splitlines() if x.startswith("equiscope:")), "")
    return Told(seen - fact, end - fact, slowed(), line)


def measured(
    names: Mapping[str, str], tell: Callable[[str, Told], None], how: Callable[[str, Path], Told]
) -> list[Told]:
    """Try some in turn."""
    found = []
    for name, action in names.items():
        with tempfile.TemporaryDirectory() as place:
            found.append(how(action, Path(place)))
        tell(name, found[-1])
    return found


def in_window(tell: Callable[[str, Told], None]) -> list[Told]:
    """Have networks misbehave in a real window; a loop is stopped there by the person, a second after it has begun."""
    from dataclasses import replace

    from explorer.declare.elements import parse_chain
    from explorer.state.state import State
    from tests.hostile.networks import Window
    from tests.widgets.parts.driving import display

    place = tempfile.mkdtemp(prefix="equiscope-late-")
    names = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "EQUISCOPE_CACHE", "EQUISCOPE_CONFIG")
    os.environ |= dict.fromkeys(names, place) | {"EQUISCOPE_MEMORY": MEMORY}
    display.open_one()
    window, found = Window(Path(place)), []
    heard: list[float] = []
    window.controller.failed.connect(lambda failure: heard.append(time.monotonic()))

    def until(seen: Callable[[], bool], seconds: float = LONGEST) -> None:
        end = time.monotonic() + seconds
        while not seen() and time.monotonic() < end:
            window.app.processEvents()
            time.sleep(0.002)

    for name, action in {**ENDS, **LOOPS}.items():
        folder = Path(tempfile.mkdtemp(dir=place))
        network_name, note = written(action, folder)
        heard.clear()
        window.said.clear()
        state = State(network_name, sample=ramp(folder), device="cpu")
        window.controller.open_state(replace(state, steps=parse_chain("rotate:180")))
        fact = 0.0
        if name in LOOPS:
            until(note.exists)
            until(lambda: False, 1.0)
            fact = time.monotonic()
            window.window.cancel()
        until(lambda: bool(heard))
        told = heard[0] if heard else float("inf")
        fact = fact or float(note.read_text().split()[-1])
        until(lambda: not window.controller.waiting)
        found.append(Told(told - fact, time.monotonic() - fact, slowed(), " ".join(window.said)))
        tell(name, found[-1])
    window.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("where", choices=("check", "window"), default="check", nargs="?")
    asked = parser.parse_args()

    def tell(name: str, told: Told) -> None:
        late = told.sentence > WITHIN * told.slowed or not told.said
        print(
            f"{'LATE ' if late else ''}{name}: told after {told.sentence:.2f} s, ended after {told.end:.2f} s"
            f" (slowed {told.slowed:.1f} times): {told.said[:150]!r}",
            flush=True,
        )

    if asked.where == "window":
        found = in_window(tell)
    else:
        found = measured(ENDS, tell, by_command)
        found += measured(LOOPS, tell, partial(by_command, loops=True))
        for by in (signal.SIGINT, signal.SIGTERM):
            found += measured({f"{by.name} in {n}": a for n, a in LOOPS.items()}, tell, partial(by_command, by=by))
    late = [told for told in found if told.sentence > WITHIN * told.slowed or not told.said]
    longest = max(told.sentence for told in found)
    print(f"{len(found)} kinds, the latest {longest:.2f} s after the fact, {len(late)} too late")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
