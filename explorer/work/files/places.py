"""Say where the program's own files and packages are, which are read and never written, and where settings are kept."""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = __name__.removesuffix("explorer.work.files.places")  # before the names of packages: "" in a checkout
INSTALLED = bool(PREFIX)  # from a wheel, where all packages are below `equiscope`
ROOT = Path(__file__).resolve().parents[3]  # what holds explorer, models, widgets and resources
RESOURCES = ROOT / "resources"
COMMAND = ("equiscope",) if INSTALLED else ("python", "main.py")  # what starts the program from a terminal


def at_home(path: str | Path) -> Path:
    """Return a path with ~ as the home it stands for; the ~ of nobody known is a name like any other."""
    return Path(os.path.expanduser(path))


def settings_folder() -> Path:
    """Return where a person's settings are kept; it need not exist."""
    if given := os.environ.get("EQUISCOPE_CONFIG"):
        return Path(given)
    from platformdirs import user_config_path

    return user_config_path("equiscope", appauthor=False)
