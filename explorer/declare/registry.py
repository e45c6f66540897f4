"""Find what files export: one new file, one constant, nothing to register.

A file is found by the room it stands in: `transforms/glide.py` and `transforms.py` are both in the room "transforms",
whatever package they belong to. Packages of one's own are scanned too: EQUISCOPE_PLUGINS names the folders that hold
them.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
PLUGINS = "EQUISCOPE_PLUGINS"  # folders that hold packages, separated as in PATH
SHORT = 100  # characters of a list of names in a sentence
ALIKE = 0.6  # from here on letters that are alike make two names alike, wherever they stand
FEW = 6  # of the names that a longer list tells


_caches: list[Any] = []
_forgotten = 0


def scanned(function: Callable[P, T]) -> Callable[P, T]:
    """Call a function once for each arguments, until `forget`: for what follows from what was scanned."""
    kept = cache(function)
    _caches.append(kept)
    return cast("Callable[P, T]", kept)


def forget() -> None:
    """Scan again from here on, when a package of one's own has come or gone."""
    global _forgotten
    _forgotten += 1
    importlib.invalidate_caches()
    for kept in _caches:
        kept.cache_clear()


def plugged_in() -> object:
    """Return what is the same as before for as long as the same packages of one's own are there."""
    return _forgotten, os.environ.get(PLUGINS, "")


@scanned
def plugged_names() -> frozenset[str]:
    """Return the dotted names of all modules of one's own packages."""
    return frozenset(_plugins())


def scan(package: ModuleType, constant: str, room: str = "") -> dict[str, Any]:
    """Return {name: value} for the `constant` (one value or a tuple of them) of every file in a room.

    Args:
        package: where the rooms are, however deep, beside the packages of EQUISCOPE_PLUGINS.
        constant: name of what the files export; each value has a `.name`, and files without the constant are skipped.
        room: name of the folders, or of the single files, to look into; that of the package if empty.

    Raises:
        ValueError: two files export the same name.
    """
    room = room or package.__name__.rpartition(".")[2]
    found: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name in modules_of(package, room):
        module = importlib.import_module(name)
        exported = getattr(module, constant, ())
        for value in exported if isinstance(exported, tuple) else (exported,):
            if value.name in found:
                raise ValueError(f"{value.name!r} is exported by both {origin[value.name]} and {name}")
            found[value.name], origin[value.name] = value, name
    return found


def modules_of(package: ModuleType, room: str) -> Iterator[str]:
    """Yield the names of the modules in a room, those of plug-ins last, without importing any."""
    yield from (n for n in _known(tuple(package.__path__), package.__name__) if room in n.split("."))
    yield from (n for n in _plugins() if room in n.split(".")[1:])


@scanned
def _known(paths: tuple[str, ...], package: str) -> tuple[str, ...]:
    """Return the modules of a package: its folders are walked once, and not for each constant."""
    return tuple(_modules(paths, package))


def _plugins() -> Iterator[str]:
    """Yield the modules of all plug-in packages, which can be imported from here on."""
    for folder in filter(None, os.environ.get(PLUGINS, "").split(os.pathsep)):
        if folder not in sys.path:
            sys.path.append(folder)  # last: a plug-in hides no module of anybody else's
        yield from _modules([folder], "")


def _modules(paths: Sequence[str], package: str) -> Iterator[str]:
    """Yield the dotted names of all modules below a package, sorted, without importing any."""
    for info in sorted(pkgutil.iter_modules(paths), key=lambda m: m.name):
        name = f"{package}.{info.name}".lstrip(".")
        yield name
        if info.ispkg:
            # what was imported may have been given more folders than the one it is in
            known = getattr(sys.modules.get(name), "__path__", None)
            inner = known or filter(os.path.isdir, (os.path.join(path, info.name) for path in paths))
            yield from _modules(list(inner), name)


def most_alike(name: str, names: Iterable[str]) -> list[str]:
    """Return the few names that are written most like one that is unknown, the most similar one first."""
    return sorted(names, key=lambda one: -SequenceMatcher(None, one, name[:SHORT]).ratio())[:FEW]


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", least: float = ALIKE) -> str:
    """Return "; did you mean 'b'?" for the known name that is written most like one that is unknown.

    Args:
        otherwise: said where none is alike by `least`, between 0 and 1.
    """
    near = [one for one in get_close_matches(name, list(known), FEW, least) if _is_near(name, one)]
    return f"; did you mean {near[0]!r}?" if near else otherwise


def _is_near(name: str, one: str) -> bool:
    """Return whether two names are alike, or share more than letters here and there: 'nope' is no 'gan-collapse'."""
    match = SequenceMatcher(None, one, name)
    return match.ratio() >= ALIKE or match.find_longest_match().size >= max(3, len(name) / 2)


def known_names(name: str, known: Iterable[str], all_of_them: str) -> str:
    """Return "known are a, b, c; did you mean 'b'?" for a name that is unknown.

    Args:
        all_of_them: the command that lists all; of many only the most similar ones are told.
    """
    names = sorted(known)
    hint = did_you_mean(name, names)
    if len(text := ", ".join(names)) <= SHORT:
        return f"known are {text}{hint}"
    return f"known are {', '.join(most_alike(name, names))} and {len(names) - FEW} more ({all_of_them!r}){hint}"
