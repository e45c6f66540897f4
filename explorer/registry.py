"""Find what a package's files export: one new file, one constant, nothing to register."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def scan(package: ModuleType, constant: str) -> dict[str, Any]:
    """Return {name: value} for the `constant` (one value or a tuple of them) of every file of `package`.

    Each value has a `.name`. Files without the constant are skipped.

    Raises:
        ValueError: two files export the same name.
    """
    found: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        exported = getattr(module, constant, ())
        for value in exported if isinstance(exported, tuple) else (exported,):
            if value.name in found:
                raise ValueError(f"{value.name!r} is exported by both {origin[value.name]} and {module.__name__}")
            found[value.name], origin[value.name] = value, module.__name__
    return found
