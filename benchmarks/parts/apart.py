"""Measure in a process of its own: Qt wants the main thread, and a peak of memory is that of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def surroundings(**variables: str) -> dict[str, str]:
    """Return the variables of this process, and others; where there is no screen, Qt is told to draw without one."""
    found = warm(os.environ | variables)
    if not found.get("DISPLAY") and not found.get("WAYLAND_DISPLAY"):
        found["QT_QPA_PLATFORM"] = "offscreen"
    return found


def warm(variables: dict[str, str]) -> dict[str, str]:
    """Have modules kept compiled, as they are where a program was installed, also where this process was told not to.

    To compile all of Equiscope's takes as long as to import torch.
    """
    return {name: value for name, value in variables.items() if name != "PYTHONDONTWRITEBYTECODE"}


def apart(module: str, *words: str, **variables: str) -> Any:
    """Run a module with these words in a process of its own and return what its last line says, as JSON."""
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(
        command, cwd=ROOT, env=surroundings(**variables), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])
