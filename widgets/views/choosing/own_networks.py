"""Networks from a person's own files, as cards among the others."""

from __future__ import annotations

import os

from PySide6.QtCore import QSettings

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import code_of, named_as_shown
from explorer.state.catalogue import Catalogue
from widgets.base.settings import open_settings, texts

RECENT = "recent_models"  # as the File menu keeps it


def own_models(catalogue: Catalogue, settings: QSettings | None = None) -> list[ModelInfo]:
    """Return the networks that were opened before and whose files are still there; nothing of them is run or read."""
    names = texts(settings or open_settings(), RECENT)
    known = {m.name for m in catalogue.models}
    return [_info(n) for n in names if n not in known and (code := code_of(n)) is not None and os.path.isfile(code)]


def _info(name: str) -> ModelInfo:
    nothing = dict.fromkeys(("domain", "reference", "equation", "sample"), "")
    none = dict.fromkeys(("groups", "rows", "notes", "params", "labels", "input_shape"), ())
    flags = {"trained": False, "trainable": False}
    return ModelInfo(name=name, title=named_as_shown(name), summary=name, **nothing, **none, **flags)  # type: ignore[arg-type]
