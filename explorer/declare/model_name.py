"""Read the names of models: "d4-cnn", "net.py:Net", and either with "@weights.safetensors" behind it."""

from __future__ import annotations

import re
from pathlib import Path

PARTLY = "partly:"  # "d4-cnn@partly:my.safetensors": what fits of them
WEIGHTS_MARK = "@"  # "d4-cnn@my.safetensors": that card with the parameters of that file
# a folder's name may hold an @ as well
_NAME = re.compile(r"(?P<base>.+\.py:[^@:/\\]*|[^@/\\]+)(?:@(?P<weights>.+))?", re.DOTALL)


def split_name(name: str) -> tuple[str, str]:
    """Return (model, weights file or "") of a model's name: "d4-cnn@my.safetensors" or "net.py:Net@my.safetensors"."""
    found = _NAME.fullmatch(name)
    return (found["base"], (found["weights"] or "").removeprefix(PARTLY)) if found else (name, "")


def code_of(name: str) -> Path | None:
    """Return the Python file that makes a model of this name, as it stands there; None of a built-in one."""
    before, mark, _ = name.partition(".py:")
    return Path(before + ".py") if mark else None


def files_of(name: str) -> tuple[str, ...]:
    """Return the files that a model's name mentions."""
    base, weights = split_name(name)
    return tuple(path for path in (base.rpartition(":")[0], weights) if path)
