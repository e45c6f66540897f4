"""Let nobody in particular use the program for hours: `python -m tests.widgets.soak.run --count 10000 --seed 1`.

The interactions follow from the seed. What fails is cut to the shortest sequence that fails, each tried in a process of
its own; `--replay FILE` does such a sequence again. `--out FILE` keeps the figures as JSON lines.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tests.widgets.soak.draws import Interaction, sequence, tour
from tests.widgets.soak.holdings import holders

if TYPE_CHECKING:
    from tests.widgets.soak.world import World

T = TypeVar("T")
EVERY = 200  # interactions between two looks at what is held
WARM = 60  # interactions before the first look, and their seed
FIRST = (
    1_000  # interactions after which caches are full; each time as many, memory is compared, with a window made anew
)
GROWTH = 0.05  # of memory from there on
STUCK_S = 900.0  # for one interaction
LOOK_BACK = (5, 20, 80, 320)  # interactions before a failure that are tried to repeat it
FAILED = 3  # exit code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0, help="end after so long; 0 for never")
    parser.add_argument("--replay", default="", help="do the interactions of a file, written when something failed")
    parser.add_argument("--out", default="", help="write the figures here")
    parser.add_argument("--keep-going", action="store_true", help="note what fails and go on")
    parser.add_argument("--no-shrink", action="store_true")
    args = parser.parse_args()
    prepare()
    import main as program
    from tests.widgets.soak.interactions import DONE

    weights = {name: share for name, (share, _) in DONE.items()}
    if args.replay:
        told = json.loads(Path(args.replay).read_text(encoding="utf-8"))
        wanted = [Interaction(name, tuple(numbers)) for name, numbers in told]
    else:
        # what memory is compared with has met everything once: modules and tables that stay are no growth
        wanted = [*tour(len(program.cards())), *sequence(args.seed, weights, args.count)][: args.count]
    return _soak(wanted, args, weights)


def prepare() -> None:
    """Open a display, and settings and caches that are nobody's."""
    from tests.widgets.parts.driving import display

    place = tempfile.mkdtemp(prefix="equiscope-soak-")
    os.environ |= dict.fromkeys(("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"), place)
    os.environ |= {"EQUISCOPE_CACHE": f"{place}/cache", "EQUISCOPE_CONFIG": f"{place}/config", "SOAK_FOLDER": place}
    os.environ["EQUISCOPE_SETTINGS"] = f"{place}/settings.ini"
    os.environ["TMPDIR"] = tempfile.tempdir = f"{place}/tmp"
    Path(place, "tmp").mkdir()
    display.open_one()


def a_world() -> World:
    """Return the program with no window yet, started as `main.py` starts it."""
    import main as program
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.remote.engine import DividedEngine
    from explorer.work.memory import hold_one_heap
    from explorer.work.threads import tune
    from tests.widgets.soak.world import World
    from widgets.window.app import leave_sources_unread

    hold_one_heap()
    leave_sources_unread()

    def start() -> DividedEngine:
        tune()
        return DividedEngine(LocalEngine(program.cards()), "main", spare=False)

    return World(start, Path(os.environ["SOAK_FOLDER"], "Größe 한글"))


def _soak(wanted: Sequence[Interaction], args: argparse.Namespace, weights: Mapping[str, float]) -> int:
    from explorer.state.state import State
    from tests.widgets.soak.world import Broken

    print("open files:", ", ".join(sorted(_files())))
    world = a_world()
    for one in sequence(
        WARM, weights, 0 if args.replay else WARM
    ):  # what is made once for the whole process is made then
        with contextlib.suppress(Broken):
            world.do(one)
    world.settle()
    while world.windows:
        world.close_window()
    begin = world.figures()
    _say(args, "at the start", 0, begin.text(), asdict(begin))
    world.open_window(State())
    faulthandler.enable()  # a crash in a library says which interaction it was in
    faulthandler.register(signal.SIGUSR1)  # says where it is
    failures, since, done = 0, time.monotonic(), 0
    memory: list[int] = []  # at each look, once caches are full
    known = set(sys.modules)
    for number, one in enumerate(wanted, 1):
        faulthandler.dump_traceback_later(STUCK_S, exit=True)
        try:
            world.do(one)
        except Broken as error:
            failures += 1
            print(f"interaction {number} of seed {args.seed}: {error}", flush=True)
            if not args.keep_going:
                faulthandler.cancel_dump_traceback_later()
                world.close()
                if not (args.no_shrink or args.replay):
                    _shrunk(list(wanted[:number]))
                return FAILED
        done = number
        if number % EVERY == 0:
            world.rest(anew=number % FIRST == 0)
            now = world.figures()
            print(f"held at {number}: {holders()}; {_imported(known)}", flush=True)
            if number % FIRST == 0:
                memory.append(now.memory)
            seconds = time.monotonic() - since
            _say(args, f"{number} interactions, {seconds:.0f} s", number, now.text(), asdict(now))
        if args.minutes and time.monotonic() - since > 60 * args.minutes:
            break
    faulthandler.cancel_dump_traceback_later()
    last = world.figures()
    while world.windows:
        world.close_window()
    world.pump(200)
    end = world.figures()
    _say(args, "at the end, one window", done, last.text(), asdict(last))
    _say(args, "at the end, none", done, end.text(), asdict(end))
    print(f"held at the end: {holders(listing=True)}", flush=True)
    print("open files:", ", ".join(sorted(_files())))
    print(f"windows opened: {world.opened}, closed late: {world.late}; requests cancelled: {world.cancelled}")
    print(f"done: {dict(world.done.most_common())}")
    print("said:", *(f"\n  {count} x {text}" for text, count in world.sentences.most_common()))
    left = [name for name in ("files", "threads", "timers", "widgets", "windows", "hooks", "children")
            if getattr(end, name) > getattr(begin, name)]  # fmt: skip
    rest = sorted(str(p.relative_to(os.environ["TMPDIR"])) for p in Path(os.environ["TMPDIR"]).rglob("*"))
    grown = max(memory) / memory[0] - 1 if memory else 0.0
    world.close()
    for text in (
        f"more than at the start: {', '.join(left)}" if left else "",
        f"left in the folder of temporary files: {', '.join(rest[:5])}" if rest else "",
        f"memory grew by {grown:.1%} from interaction {FIRST} on" if grown > GROWTH else "",
    ):
        failures += bool(text)
        print(text or "", end="\n" if text else "", flush=True)
    print(f"{done} interactions, {failures} failures, memory {grown:+.1%} from interaction {FIRST} on")
    return FAILED if failures else 0


def _imported(known: set[str]) -> str:
    """Say of which packages modules were imported since the last look."""
    new = Counter(name.partition(".")[0] for name in set(sys.modules) - known)
    known.update(sys.modules)
    return f"imported since: {', '.join(f'{count} of {name}' for name, count in new.most_common(8)) or 'none'}"


def _files() -> list[str]:
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return found


def _say(args: argparse.Namespace, title: str, number: int, text: str, figures: dict[str, Any]) -> None:
    print(f"{title}: {text}", flush=True)
    if args.out:
        with open(args.out, "a", encoding="utf-8") as file:
            file.write(json.dumps({"interaction": number, "title": title, **figures}) + "\n")


# what fails is made short -------------------------------------------------------------------------------------


def shortest(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a shortest part of a failing sequence that fails still: without any one item of it, it does not."""
    found, size = list(items), max(1, len(items) // 2)
    while True:
        at, cut = 0, False
        while at < len(found):
            less = found[:at] + found[at + size :]
            if less and fails(less):
                found, cut = less, True
            else:
                at += size
        if size == 1 and not cut:
            return found
        size = max(1, size // 2)


def _shrunk(done: list[Interaction]) -> None:
    """Print the shortest sequence that fails, where the last interactions alone do."""
    for count in LOOK_BACK:
        tried = done[-count:]
        if _fails(tried):
            found = shortest(tried, _fails)
            path = Path(tempfile.gettempdir(), f"soak-{random.randrange(10**6)}.json")
            path.write_text(json.dumps([[one.name, list(one.numbers)] for one in found]), encoding="utf-8")
            print(f"the shortest sequence that fails, in {path}:", *(f"\n  {one}" for one in found), flush=True)
            return
        if count >= len(done):
            break
    print("it does not fail again by its last interactions alone", flush=True)


def _fails(tried: Sequence[Interaction]) -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump([[one.name, list(one.numbers)] for one in tried], file)
        file.flush()
        words = [sys.executable, "-m", "tests.widgets.soak.run", "--replay", file.name]
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == FAILED


if __name__ == "__main__":
    sys.exit(main())
