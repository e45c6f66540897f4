"""Settings are kept in a file; what is no file is left alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from widgets.base.settings import SETTINGS, open_settings


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_what_is_no_file_is_not_replaced_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "null"
    os.mkfifo(device)
    monkeypatch.setenv(SETTINGS, str(device))
    settings = open_settings()
    settings.setValue("theme", "light")
    settings.sync()
    assert settings.value("theme") == "light", "a choice holds as long as the window is open"
    assert stat.S_ISFIFO(device.stat().st_mode), "Qt renames a file into the place of its own"
