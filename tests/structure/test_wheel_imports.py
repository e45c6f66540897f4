"""Imports of every file can be rewritten for the wheel, as building it does once."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from setuptools.errors import SetupError

ROOT = Path(__file__).resolve().parents[2]
placed = runpy.run_path(str(ROOT / "setup.py"))["placed"]


@pytest.mark.parametrize("part", ["equiscope", "explorer", "models", "widgets"])
def test_every_import_has_its_line(part: str) -> None:
    paths = sorted((ROOT / part).rglob("*.py"))
    assert paths
    for path in paths:
        placed(path.read_bytes(), str(path))


def test_an_import_that_binds_the_package_is_refused() -> None:
    assert placed(b"import models.images.digits as d", "a.py") == b"import equiscope.models.images.digits as d"
    with pytest.raises(SetupError, match="one for each line"):
        placed(b"import models.images.digits", "a.py")
