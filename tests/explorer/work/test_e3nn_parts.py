"""e3nn is imported without torch's compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
import torch
usual = torch.compiler.disable
from explorer.spaces.points.harmonics import coupling, spherical
spherical([0, 1], torch.ones(1, 3)), coupling(1, 1, 1)
assert torch.compiler.disable is usual
print("torch._dynamo" in sys.modules)
"""


@pytest.mark.slow
def test_harmonics_import_no_compiler() -> None:
    said = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
