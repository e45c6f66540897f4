"""Let a person's file import its own `models`, `widgets` or `main` where a checkout has packages of the same names.

In a wheel ours are equiscope.models and so on, and hide nobody's. A checkout has them at the top, already imported, and
`from models import Net` is what people write.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from explorer.work.files.places import INSTALLED, ROOT

KEPT = ("explorer", "equiscope")  # imported all the time while a network runs

_ours: dict[str, ModuleType] = {}  # that were put aside, by name
_last: list[Path] = []  # the folder that the modules of these names belong to that are in sys.modules


@contextmanager
def own_names(folder: Path) -> Iterator[None]:
    """Look for what a file in this folder imports among its own modules first, and among ours then."""
    if INSTALLED or folder == ROOT:
        yield
        return
    _put_aside(folder)
    finder = _TheirsFirst()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
        for name, module in _ours.items():
            sys.modules.setdefault(name, module)


def _put_aside(folder: Path) -> None:
    """Take the tops of ours out of `sys.modules`, and the modules of files in other folders for good."""
    same, _last[:] = _last == [folder], [folder]
    for name, module in list(sys.modules.items()):
        if not _shared(name.partition(".")[0]):
            continue
        if not _is_ours(module):
            if not same:
                del sys.modules[name]
        elif "." not in name:
            _ours[name] = sys.modules.pop(name)


def _give_way(top: str, theirs: Sequence[str]) -> None:
    """Take out of `sys.modules` what is below a package of ours and below theirs too, which lies in these folders."""
    for name, module in list(sys.modules.items()):
        parts = name.split(".")
        if parts[0] == top and _is_ours(module) and PathFinder.find_spec(".".join(parts[:2]), theirs):
            _ours[name] = sys.modules.pop(name)


@cache
def _shared(top: str) -> bool:
    """Return whether a module of a checkout has this name, and another may have it meanwhile."""
    return top not in KEPT and ((ROOT / top).is_dir() or (ROOT / f"{top}.py").is_file())


def _is_ours(module: ModuleType) -> bool:
    try:
        paths = [getattr(module, "__file__", None), *(getattr(module, "__path__", None) or ())]
    except KeyError:  # a folder without an __init__.py asks the one above for its path, which is put aside
        return True
    return any(isinstance(path, str) and _below(path) for path in paths)


def _below(path: str) -> bool:
    inside = os.path.abspath(path).removeprefix(f"{ROOT}{os.sep}")
    return inside != os.path.abspath(path) and _shared(inside.partition(os.sep)[0].removesuffix(".py"))


class _TheirsFirst(MetaPathFinder):
    """Finds a module of a name that is also one of ours: theirs where there is one, else ours, as it is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, inner = fullname.partition(".")
        if not _shared(top):
            return None
        if not inner:
            found = PathFinder.find_spec(top, [p for p in sys.path if os.path.realpath(p) != str(ROOT)])
            if found is not None:
                _give_way(top, found.submodule_search_locations or ())
        else:  # below a package of ours there is nothing of theirs
            found = None if sys.modules.get(top) is _ours.get(top) else PathFinder.find_spec(fullname, path)
        if found is None and fullname in _ours:
            return ModuleSpec(fullname, _AsItIs(), is_package=hasattr(_ours[fullname], "__path__"))
        return found


class _AsItIs(Loader):
    """Gives a module of ours that is imported already."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _ours[spec.name]
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
