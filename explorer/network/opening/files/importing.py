"""Import a person's modules from the text that was looked at, and never from compiled code that lies beside it.

Python prefers `__pycache__/net.cpython-311.pyc` to net.py where the two say that they belong together, and a folder
from elsewhere may bring one that says so and does something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import machinery
from pathlib import Path
from types import CodeType


class FromText(machinery.SourceFileLoader):
    """Compiles the text each time."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def import_as_text(folders: Iterable[Path]) -> None:
    """Let modules in these folders be made from their text alone, as long as the program runs."""
    for folder in folders:
        sys.path_importer_cache[str(folder)] = machinery.FileFinder(
            str(folder),
            (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
            (FromText, machinery.SOURCE_SUFFIXES),
            (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
        )
