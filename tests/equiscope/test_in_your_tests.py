"""docs/guide/in_your_tests.md: its tests pass, and the message that it shows is the one that comes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import equiscope

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "in_your_tests.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Run the code as one file, as a reader would write it."""
    found: dict[str, Any] = {"__name__": "page"}
    exec(compile("\n".join(BLOCKS), PAGE.name, "exec"), found)
    return found


@pytest.mark.parametrize("test", re.findall(r"^def (test_\w+)\(\)", "\n".join(BLOCKS), re.MULTILINE))
def test_the_tests_of_the_page_pass(names: dict[str, Any], test: str) -> None:
    torch.manual_seed(0)
    names[test]()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_test_with_a_precision_passes(names: dict[str, Any], dtype: torch.dtype) -> None:
    names["test_in_either_precision"](dtype)


def test_the_message_is_the_one_shown(names: dict[str, Any]) -> None:
    shown = re.search(r"^```text\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert shown
    torch.manual_seed(0)
    with pytest.raises(AssertionError) as caught:
        equiscope.assert_equivariant(names["convolutions"](), torch.rand(2, 1, 16, 16), "C4")
    said = str(caught.value).splitlines()
    # without its figures, whose last digits are the processor's
    plain = [re.sub(r"[-+.\de]*\d", "#", line) for line in said]
    for line in shown[1].splitlines():
        assert line == "..." or re.sub(r"[-+.\de]*\d", "#", line) in plain, line
    assert said[0].startswith("Sequential under C4: the law is broken, first in layer '0' (Conv2d): local error")


@pytest.mark.slow
def test_the_page_passes_where_warnings_are_errors(tmp_path: Path) -> None:
    """Many suites run so; what torch warns of itself when it is first differentiated forwards is not theirs."""
    (tmp_path / "test_laws.py").write_text("\n".join(BLOCKS), encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_laws.py"]
    path = os.pathsep.join(filter(None, (str(PAGE.parents[2]), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
