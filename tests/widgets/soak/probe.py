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
    parser.add_argument("--objects", action="store_true", help="name the classes of which there are more")
    args = parser.parse_args()
    prepare()
    from explorer.state.state import State
    from tests.widgets.soak.interactions import DONE

    world = a_world()
    world.open_window(State())
    for kind in args.kinds or (NOTHING, *sorted(DONE)):
        faulthandler.dump_traceback_later(STUCK_S * args.rounds * max(1, args.times // 50), exit=True)
        probe(world, kind, args.times, args.rounds, args.seed, args.fresh, args.same_window, args.objects)
    faulthandler.cancel_dump_traceback_later()
    world.close()
    return 0


def _wanted(kind: str, seed: int, times: int) -> list[Interaction]:
    from tests.widgets.soak.interactions import DONE

    weights = {name: share for name, (share, _) in DONE.items()}
    return [] if kind == NOTHING else sequence(seed, weights if kind == EVERYTHING else {kind: 1.0}, times)


def probe(
    world: World,
    kind: str,
    times: int,
    rounds: int,
    seed: int,
    fresh: bool = False,
    same_window: bool = False,
    objects: bool = False,
) -> None:
    """Print what `times` interactions of one kind leave, round after round; see `--help` for the choices."""
    from tests.widgets.soak.world import Broken

    before, found, began = heap(), Counter[str](), time.process_time()
    for number in range(rounds):
        for one in _wanted(kind, seed + (number if fresh else 0), times):
            try:
                world.do(one)
            except Broken as error:
                print(f"{kind}: {error}", flush=True)
        world.rest(anew=not same_window)
        world.figures()
        now = heap()
        more, seconds = (now.live - before.live) / MB, time.process_time() - began
        print(
            f"{kind:16s} round {number}: {more:+7.1f} MB in {times}, resident {resident().all / MB:.0f}, "
            f"{seconds:.0f} s; {holders()}",
            flush=True,
        )
        before, began = heap(), time.process_time()
        if objects:
            while world.windows:  # nothing may work while all objects are listed
                world.close_window()
            world.figures()
            now_found = kinds()
            for name, count in (now_found - found).most_common(SHOWN if number else 0):
                print(f"    {count:+7d} {name}")
            found = now_found


if __name__ == "__main__":
    sys.exit(main())
