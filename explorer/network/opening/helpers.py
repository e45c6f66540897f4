"""Find the modules that a Python file has imported from its own folder, and forget them before it runs again."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from explorer.network.opening.files.importing import import_as_text
from explorer.network.opening.own_names import own_names
from explorer.work.files.places import ROOT

_OURS = (*(str(ROOT / room) + "/" for room in ("explorer", "models", "widgets")), str(ROOT / "main.py"))


_folders: set[str] = set()  # of the files that were run


@contextmanager
def importing_from(path: Path, files: Iterable[str]) -> Iterator[None]:
    """Let modules beside a file be imported, from their text, as `python file.py` there has it.

    Args:
        files: all that the file executes.
    """
    folder = path.resolve().parent
    import_as_text({Path(file).parent for file in files})
    if not any(isinstance(finder, _Later) for finder in sys.meta_path):
        sys.meta_path.append(_Later())
    _make_room(folder)
    sys.path.insert(0, str(folder))
    # bytecode is found by a time in whole seconds: a file saved twice in one would be run as it was first
    unwritten, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with own_names(folder):
            yield
    finally:
        sys.dont_write_bytecode = unwritten
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def _make_room(folder: Path) -> None:
    """Forget helpers of files in other folders that have the names of helpers in the folder of this one."""
    others = tuple(other + "/" for other in _folders if other != str(folder))
    _folders.add(str(folder))
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if others and isinstance(file, str) and file.startswith(others) and not file.startswith((*_OURS, f"{folder}/")):
            top = name.partition(".")[0]
            if (folder / f"{top}.py").is_file() or (folder / top).is_dir():
                del sys.modules[name]


class _Later(MetaPathFinder):
    """Finds modules beside a file that its code imports when it has long been run, as in a forward."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        frame = sys._getframe(1) if path is None else None
        asked = set[str]()
        while frame is not None:
            if (file := frame.f_code.co_filename) not in asked:
                asked.add(file)
                real = os.path.realpath(file)
                for folder in (f for f in _folders if real.startswith(f + os.sep)):
                    if (found := PathFinder.find_spec(fullname, [folder])) is not None:
                        return found
            frame = frame.f_back
        return None


def helpers(path: Path) -> dict[str, ModuleType]:
    """Return the loaded modules, by name, whose source lies in the folder of a file or below it.

    Installed packages are left out, even where the environment lies in that folder, and so are our own.
    """
    folder = str(path.resolve().parent).rstrip("/") + "/"
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.startswith(folder) or not file.endswith(".py"):
            continue
        installed = "site-packages/" in file[len(folder) :] or file.startswith(_OURS)
        if not installed and name != "__main__":
            found[name] = module
    return found


def forget(path: Path) -> dict[str, ModuleType]:
    """Take the helpers of a file out of `sys.modules`, so that it imports them anew; return them."""
    found = helpers(path)
    for name in found:
        del sys.modules[name]
    importlib.invalidate_caches()  # a helper that was written a moment ago is found
    return found


def remember(path: Path, modules: dict[str, ModuleType]) -> None:
    """Put back the helpers that `forget` returned, in place of what was imported since."""
    forget(path)
    sys.modules.update(modules)


def place_of(error: BaseException, path: Path) -> tuple[str, int] | None:
    """Return (file, line) where an exception arose in the folder of a file, None where it came from elsewhere."""
    folder = str(path.resolve().parent)
    found: tuple[str, int] | None = None
    for step in causes(error):  # a sentence for a person is raised from what it tells of
        for frame in traceback.extract_tb(step.__traceback__):
            if _within(frame.filename, folder):
                found = (frame.filename, frame.lineno or 0)
        if isinstance(step, SyntaxError) and step.filename and _within(step.filename, folder):
            found = (step.filename, step.lineno or 0)
    return found


def line_told(error: BaseException, path: Path) -> str:
    """Return " (line n)" of a file, or of which one beside it, for where an exception arose.

    It is "" for one that came from elsewhere, and for one that says itself which line it is about.
    """
    at = place_of(error, path)
    if at is None or (isinstance(error, SyntaxError) and f"line {at[1]}" in str(error)):
        return ""
    beside = "" if Path(at[0]).resolve() == path.resolve() else f"{Path(at[0]).name}, "
    return f" ({beside}line {at[1]})"


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, what it was raised from, and so on; one may be its own cause, or the cause of its cause."""
    seen = set[int]()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        step = step.__cause__


def _within(file: str, folder: str) -> bool:
    try:
        inside = Path(file).resolve().is_relative_to(folder)
    except (OSError, ValueError):
        return False
    return inside and not str(Path(file).resolve()).startswith(_OURS) and "site-packages" not in file
