"""Run the program: `python -m equiscope`, or `equiscope` where it is installed."""

from __future__ import annotations

import sys

from main import main

if __name__ == "__main__":
    sys.exit(main())
