"""Settings: the place where the program remembers how a person likes it."""

from __future__ import annotations

import os

from PySide6.QtCore import QSettings

SETTINGS = "EQUISCOPE_SETTINGS"  # environment: the path of an INI file in place of the person's own settings


def open_settings() -> QSettings:
    """Return where layout, theme, recent files and columns are remembered."""
    path = os.environ.get(SETTINGS)
    return QSettings(path, QSettings.Format.IniFormat) if path else QSettings("equiscope", "equiscope")
