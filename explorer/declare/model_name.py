"""Read the names of models: "d4-cnn", "net.py:Net", and either with "@weights.safetensors" behind it.

What a network of one's own takes may stand in brackets: "net.py:Net[graph channels=3]@weights.safetensors".
"""

from __future__ import annotations

import re
from pathlib import Path

PARTLY = "partly:"  # "d4-cnn@partly:my.safetensors": what fits of them
WEIGHTS_MARK = "@"  # "d4-cnn@my.safetensors": that card with the parameters of that file
BESIDE = ".equiscope.json"  # ending of the file beside a network's own that remembers what it takes
# a folder's name may hold an @ as well
_NAME = re.compile(r"(?P<base>.+\.py:[^@:/\\]*|[^@/\\]+)(?:@(?P<weights>.+))?", re.DOTALL)
_INPUT = re.compile(r"(?P<bare>.+\.py:[^@:/\\\[]*)\[(?P<input>[^@/\\\[\]]*)\](?P<rest>@.+)?", re.DOTALL)


def split_name(name: str) -> tuple[str, str]:
    """Return (model, weights file or "") of a model's name: "d4-cnn@my.safetensors" or "net.py:Net@my.safetensors"."""
    found = _NAME.fullmatch(name)
    return (found["base"], (found["weights"] or "").removeprefix(PARTLY)) if found else (name, "")


def split_input(name: str) -> tuple[str, str]:
    """Return (name without brackets, what stands in them or "")."""
    found = _INPUT.fullmatch(name)
    return (found["bare"] + (found["rest"] or ""), found["input"]) if found else (name, "")


def with_input(name: str, text: str) -> str:
    """Return the name of the same network with another input, or with none where the text is empty."""
    bare = split_input(name)[0]
    found = _NAME.fullmatch(bare)
    base = found["base"] if found else bare
    return f"{base}[{text}]{bare[len(base) :]}" if text else bare


def code_of(name: str) -> Path | None:
    """Return the Python file that makes a model of this name, as it stands there; None of a built-in one."""
    before, mark, _ = name.partition(".py:")
    return Path(before + ".py") if mark else None


def beside(code: Path) -> Path:
    """Return the file beside a network's own that may remember what it takes."""
    return code.with_name(code.stem + BESIDE)


def files_of(name: str) -> tuple[str, ...]:
    """Return the files that a model's name mentions, and what is remembered beside its own."""
    base, weights = split_name(name)
    code = base.rpartition(":")[0]
    told = str(beside(Path(code))) if code.endswith(".py") else ""
    return tuple(path for path in (code, told, weights) if path)
