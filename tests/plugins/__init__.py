"""Packages of one's own, as somebody would write them; nothing of the program knows of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from explorer.declare.registry import PLUGINS, forget


@contextmanager
def plugged(folder: Path, package: str) -> Iterator[None]:
    """Let the scans find a package in a folder, and forget it afterwards."""

    def gone() -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
        forget()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLUGINS, str(folder))
        patch.setattr(sys, "path", [*sys.path])  # the scan adds the folder
        gone()
        yield
    gone()
