"""Files of networks as people write them, run as the command line runs them: beside the others of their folder."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any


@cache
def their_file(path: Path) -> Any:
    """Return the module that a file makes; each is run once."""
    spec = importlib.util.spec_from_file_location(f"{path.parents[1].name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses and compilers look
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


def built(folder: Path, file: str, name: str, fault: int) -> Any:
    """Return a network of a file in a folder, sound or with a fault; 0 is none."""
    return getattr(their_file(folder / f"{file}.py"), name)(fault=fault)
