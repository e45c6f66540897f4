"""Keep the program's sources compiled in its cache, where Python is told to write nothing beside them.

A start imports nearly a thousand modules, which take two seconds to compile each time. Where they have been compiled
beside the sources, as by `make setup`, that is read. A file that cannot be read or written is none.
"""

from __future__ import annotations

import marshal
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType

from explorer.work.files.places import ROOT, cache_folder

DIGEST = 16  # bytes before the code, which follow from it
PACKAGES = tuple(ROOT / name for name in ("explorer", "models", "widgets"))


class KeptLoader(SourceFileLoader):
    """Loads a module as Python does, with its code from the folder `home`."""

    def __init__(self, fullname: str, path: str, home: Path) -> None:
        super().__init__(fullname, path)
        self._home = home

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of the source as it is now."""
        path = self.get_filename(fullname)
        if os.path.exists(cache_from_source(path)):
            return super().get_code(fullname)
        # what decides on the code, and at the same time how it is read
        read = os.stat(path)
        key = MAGIC_NUMBER + f"{sys.version} {sys.flags.optimize} {path} {read.st_mtime_ns} {read.st_size}\n".encode()
        kept = self._home / f"{blake2b(path.encode(errors='surrogateescape'), digest_size=12).hexdigest()}.code"
        try:
            data = kept.read_bytes()
            at = len(key) + DIGEST
            # a file that a disk has damaged would crash the interpreter
            if data.startswith(key) and data[len(key) : at] == _digest(data[at:]):
                code = marshal.loads(data[at:])
                if isinstance(code, CodeType):
                    return code
        except (OSError, ValueError, EOFError, TypeError):
            pass
        made: CodeType = self.source_to_code(self.get_data(path), path)
        data = marshal.dumps(made)
        _write(kept, key + _digest(data) + data)
        return made


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST).digest()


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and without a word where that fails."""
    half = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(data)
        os.replace(half, path)
    except OSError:
        with suppress(OSError):
            half.unlink()


def keep_compiled(packages: Sequence[Path] = PACKAGES) -> None:
    """Let modules of packages that are imported from now on be compiled once."""
    if not sys.dont_write_bytecode or sys.implementation.cache_tag is None:
        return
    loader = partial(KeptLoader, home=cache_folder() / "compiled")
    roots = tuple(map(str, packages))

    def hook(path: str) -> FileFinder:
        if not any(path == root or path.startswith(root + os.sep) for root in roots):
            raise ImportError
        return FileFinder(path, (loader, SOURCE_SUFFIXES))  # type: ignore[arg-type]

    sys.path_hooks.insert(0, hook)
    for path in [known for known in sys.path_importer_cache if known.startswith(roots)]:
        del sys.path_importer_cache[path]
