"""Movement that only serves the eye: who has asked for less of it is shown where things end up."""

from __future__ import annotations

from PySide6.QtCore import QSettings

KEY = "reduce_motion"
_state = {"reduced": False}


def reduced() -> bool:
    """Return whether nothing should move that need not."""
    return _state["reduced"]


def use(reduced: bool) -> None:
    """Move less from now on, or as usual."""
    _state["reduced"] = reduced


def kept(settings: QSettings) -> bool:
    """Return what the person has chosen."""
    return str(settings.value(KEY, "no")) == "yes"


def keep(settings: QSettings, reduced: bool) -> None:
    """Remember the choice, and follow it."""
    settings.setValue(KEY, "yes" if reduced else "no")
    use(reduced)
