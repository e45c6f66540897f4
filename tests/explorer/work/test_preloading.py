"""torch's library is mapped before Python imports it, and nothing depends on whether that worked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.work import preloading

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="done on Linux only")


def test_the_library_is_there_before_torch_is_imported() -> None:
    code = """
import os, sys
os.cpu_count = lambda: 2
from explorer.work.preloading import load_ahead
load_ahead().join()
mapped = "libtorch_cpu" in open("/proc/self/maps").read()
print(mapped, "torch" in sys.modules)
import torch
print(torch.ones(2).sum().item(), load_ahead())
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "False", "2.0", "None"]


def test_a_library_that_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preloading, "find_spec", lambda name: None)
    preloading.load()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / preloading.LIBRARIES[0]).write_bytes(b"no library")
    origin = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(preloading, "find_spec", lambda name: origin)
    preloading.load()
