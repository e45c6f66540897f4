"""Say where the program's own files and packages are: they are read, never written."""

from __future__ import annotations

from pathlib import Path

PREFIX = __name__.removesuffix("explorer.work.places")  # before the names of packages: "" in a checkout
INSTALLED = bool(PREFIX)  # from a wheel, where all packages are below `equiscope`
ROOT = Path(__file__).resolve().parents[2]  # what holds explorer, models, widgets and resources
RESOURCES = ROOT / "resources"
COMMAND = ("equiscope",) if INSTALLED else ("python", "main.py")  # what starts the program from a terminal
