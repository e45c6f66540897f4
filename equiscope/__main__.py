"""Run the program: `python -m equiscope`, or `equiscope` where it is installed."""

from __future__ import annotations

import sys

try:
    from explorer.work.processes.no_room import say_no_room

    say_no_room()
    from explorer.work.processes.asked_to_end import leave_at_once

    leave_at_once()  # this module is imported by the command alone; what follows takes half a second
except KeyboardInterrupt:
    raise SystemExit(130) from None

from main import main

if __name__ == "__main__":
    sys.exit(main())
