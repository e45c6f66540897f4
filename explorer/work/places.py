"""Say where the program's own files are: those that are read, never written."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # what holds explorer, models, widgets and resources
RESOURCES = ROOT / "resources"
