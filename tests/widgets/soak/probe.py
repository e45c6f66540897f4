"""Repeat one kind of interaction and see what it leaves: `python -m tests.widgets.soak.probe undo view --times 100`.

Each round does the same interactions again, so that what the first rounds leave is what is kept to be quick, and what
later ones leave is lost. `--fresh` draws others in each round: then tables fill, up to what they are allowed.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from tests.widgets.soak.draws import Interaction, sequence
from tests.widgets.soak.holdings import MB, heap, holders, kinds, resident
from tests.widgets.soak.run import STUCK_S, a_world, prepare

if TYPE_CHECKING:
    from tests.widgets.soak.world import World

EVERYTHING = "everything"  # all kinds as the soak mixes them
NOTHING = "nothing"  # only a window made anew, as before each figure
SHOWN = 12  # classes of objects that became more


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"of interactions, {EVERYTHING}, {NOTHING}; all if none is named")
    parser.add_argument("--times", type=int, default=100, help="interactions in each round")
    parser.add_argument("--rounds", type=int, default=4, help="the first is a warm-up")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="other interactions in each round")
    parser.add_argument("--same-window", action="store_true", help="do not make the window anew before each figure")
    parser.add_argument("--objects", action="store_true", help="name the classes of which there are more objects")
    args = parser.parse_args()
    prepare()
    from explorer.state.state import State
    from tests.widgets.soak.interactions import DONE

    world = a_world()
    world.open_window(State())
    for kind in args.kinds or (NOTHING, *sorted(DONE)):
        _probe(world, kind, args)
    world.close()
    return 0


def _wanted(kind: str, seed: int, times: int) -> list[Interaction]:
    from tests.widgets.soak.interactions import DONE

    weights = {name: share for name, (share, _) in DONE.items()}
    return [] if kind == NOTHING else sequence(seed, weights if kind == EVERYTHING else {kind: 1.0}, times)


def _probe(world: World, kind: str, args: argparse.Namespace) -> None:
    from tests.widgets.soak.world import Broken

    faulthandler.dump_traceback_later(STUCK_S * max(1, args.times // 20), exit=True)
    before, objects, began = heap(), Counter[str](), time.process_time()
    for number in range(args.rounds):
        for one in _wanted(kind, args.seed + (number if args.fresh else 0), args.times):
            try:
                world.do(one)
            except Broken as error:
                print(f"{kind}: {error}", flush=True)
        world.rest(anew=not args.same_window)
        world.figures()
        now = heap()
        more, seconds = (now.live - before.live) / MB, time.process_time() - began
        print(
            f"{kind:16s} round {number}: {more:+7.1f} MB in {args.times}, resident {resident().all / MB:.0f}, "
            f"{seconds:.0f} s; {holders()}",
            flush=True,
        )
        before, began = heap(), time.process_time()
        if args.objects:
            found = kinds()
            for name, count in (found - objects).most_common(SHOWN if number else 0):
                print(f"    {count:+7d} {name}")
            objects = found
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    sys.exit(main())
