"""Read the names of models: "d4-cnn", "net.py:Net(3, width=4)", "net.pt2", a folder, "timm:NAME", each with weights.

"@weights.safetensors" may stand behind any of them.
"""

from __future__ import annotations

import re
from pathlib import Path

PARTLY = "partly:"  # "d4-cnn@partly:my.safetensors": what fits of them
WEIGHTS_MARK = "@"  # "d4-cnn@my.safetensors": that card with the parameters of that file
# files that are executed where they are opened as a model
PYTHON = ".py"
PROGRAMS = (".pt2", ".pt", ".pth", ".pkl", ".pickle", ".ts", ".torchscript")
# a folder's name may hold an @ as well, and arguments may hold anything
_CALLED = r"(?::[^@:/\\()]*(?:\((?P<arguments>.*)\))?)?"
_ENDINGS = "|".join(re.escape(ending) for ending in PROGRAMS)
_NAMES = (
    re.compile(rf"(?P<base>.+\.py{_CALLED})(?:@(?P<weights>.+))?", re.DOTALL),
    re.compile(rf"(?P<base>[^@]*[/\\].*(?:{_ENDINGS}))(?:@(?P<weights>.+))?", re.DOTALL),
    re.compile(r"(?P<base>[a-z0-9]+:[^@/\\()]*\((?P<arguments>.*)\))(?:@(?P<weights>.+))?", re.DOTALL),
    re.compile(r"(?P<base>[^@/\\]+)(?:@(?P<weights>.+))?", re.DOTALL),
)
_PYTHON = re.compile(rf"(?P<path>.+\.py){_CALLED}", re.DOTALL)


def split_name(name: str) -> tuple[str, str]:
    """Return (model, weights file or "") of a model's name: "d4-cnn@my.safetensors" or "net.py:Net@my.safetensors"."""
    found = next((match for pattern in _NAMES if (match := pattern.fullmatch(name))), None)
    return (found["base"], (found["weights"] or "").removeprefix(PARTLY)) if found else (name, "")


def split_call(base: str) -> tuple[str, str, str | None]:
    """Return (file, name, arguments) of "net.py:Net(3)"; arguments are None without brackets, the name "" without one.

    Of what is no Python file, all is the file.
    """
    found = _PYTHON.fullmatch(base)
    if found is None:
        return base, "", None
    return found["path"], base[len(found["path"]) + 1 :].partition("(")[0], found["arguments"]


def code_of(name: str) -> Path | None:
    """Return the file that is executed to make a model of this name, as it stands there; None of all others."""
    path = split_call(split_name(name)[0])[0]
    return Path(path) if path.lower().endswith((PYTHON, *PROGRAMS)) else None


def files_of(name: str) -> tuple[str, ...]:
    """Return the files that a model's name mentions."""
    base, weights = split_name(name)
    path = split_call(base)[0]
    named = path.lower().endswith((PYTHON, *PROGRAMS)) or "/" in path
    return tuple(file for file in (path if named else "", weights) if file)


def named_as_shown(name: str) -> str:
    """Return a model's name in short: "Net in net.py", or the name of its file or folder."""
    base, weights = split_name(name)
    path, chosen, _ = split_call(base)
    short = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    return f"{chosen} in {short}" if chosen else re.split(r"[/\\]", weights)[-1] if weights else short
