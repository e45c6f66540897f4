"""Lines of JSON between a window and the process of a training, kept apart from what a person's own code prints."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from explorer.network.opening.files.trust import Trust

GRACE_S = 5.0  # for a step under way, once the window is gone
RECORD = "told.jsonl"  # in the folder of a training: all that was said, for the next window if this one is killed
DENSE = 100_000  # steps of which each is on record; of the next as many every second one, and so on


class Channel:
    """Takes the standard input and output for the window alone.

    What a network prints goes to the standard error from here on, and what it reads is empty.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self._in = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def trust(self) -> Trust:
        """Return what may run, which the window says first: what a person has allowed there."""
        try:
            everything, contents, followed = json.loads(self._in.readline())["trust"]
        except (ValueError, KeyError, TypeError):
            return Trust()
        return Trust(everything is True, set(contents), {Path(path) for path in followed})

    def say(self, found: Mapping[str, Any]) -> None:
        print(json.dumps(found), file=self._out, flush=True)

    def record(self, folder: Path) -> Callable[[Mapping[str, Any]], None]:
        """Return what says, and writes it down in a folder: a window that is killed takes what it heard along."""

        def say(found: Mapping[str, Any]) -> None:
            self.say(found)
            with contextlib.suppress(OSError), (folder / RECORD).open("a", encoding="utf-8") as file:  # a full disk
                file.write(json.dumps(_thinned(found)) + "\n")

        return say

    def listen(self) -> SimpleQueue[Mapping[str, Any]]:
        """Return what will be asked, as it comes; whatever a step does, the process ends when the window is gone."""
        asked: SimpleQueue[Mapping[str, Any]] = SimpleQueue()
        threading.Thread(target=self._read, args=(asked,), name="equiscope-asked", daemon=True).start()
        return asked

    def _read(self, asked: SimpleQueue[Mapping[str, Any]]) -> None:
        for line in self._in:
            try:
                asked.put(json.loads(line))
            except ValueError:
                continue
        asked.put({"do": "end"})
        time.sleep(GRACE_S)
        os._exit(0)


def _thinned(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is said with ever fewer of its steps, as curves have: a long training must not fill a disk."""
    if "steps" not in found:
        return found
    return {
        **found,
        "steps": [step for step in found["steps"] if step[0] % (1 << (step[0] // DENSE).bit_length()) == 0],
    }


def told(trust: Trust) -> tuple[bool, list[str], list[str]]:
    """Return what may run as `Channel.trust` reads it."""
    return trust.everything, sorted(trust.contents), sorted(map(str, trust.followed))
