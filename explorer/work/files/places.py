"""Say where the program's own files and packages are, which are read and never written, and where settings are kept."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from explorer.work.words import printable

PREFIX = __name__.removesuffix("explorer.work.files.places")  # before the names of packages: "" in a checkout
INSTALLED = bool(PREFIX)  # from a wheel, where all packages are below `equiscope`
ROOT = Path(__file__).resolve().parents[3]  # what holds explorer, models, widgets and resources
RESOURCES = ROOT / "resources"
COMMAND = ("equiscope",) if INSTALLED else ("python", "main.py")  # what starts the program from a terminal

MOST_OF_NAME = 60  # characters of the name of a file in a sentence


def whole(path: str | Path) -> Path:
    """Return a path from the root, without links where they lead somewhere; opening it says what is wrong with it."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, a name that is too long or has a zero byte
        return Path(os.path.abspath(path))


def free(path: Path, taken: Collection[Path] = ()) -> Path:
    """Return a path of which there is no file yet, and which is none of the whole paths that are taken."""
    k = 2
    found = path
    while found.exists() or found.absolute() in taken:
        found, k = path.with_stem(f"{path.stem}-{k}"), k + 1
    return found


def no_file(path: str) -> str:
    """Return in a sentence that a path is none of a file, "" where it is one; of any text, unlike what Path asks."""
    if os.path.isfile(path):
        return ""
    name = printable(os.path.basename(path))
    shown = name if len(name) <= MOST_OF_NAME else f"{name[: MOST_OF_NAME - 3]}..."
    return f"{shown} is a folder." if os.path.isdir(path) else f"{shown} does not exist."


def at_home(path: str | Path) -> Path:
    """Return a path with ~ as the home it stands for; the ~ of nobody known is a name like any other."""
    return Path(os.path.expanduser(path))


def settings_folder() -> Path:
    """Return where a person's settings are kept; it need not exist."""
    if given := os.environ.get("EQUISCOPE_CONFIG"):
        return Path(given)
    from platformdirs import user_config_path

    return user_config_path("equiscope", appauthor=False)


def cache_folder() -> Path:
    """Return where is kept what can be made again; it need not exist."""
    if given := os.environ.get("EQUISCOPE_CACHE"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("equiscope", appauthor=False)
