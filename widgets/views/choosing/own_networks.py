"""Networks from a person's own files, as cards among the others."""

from __future__ import annotations

import os

from PySide6.QtCore import QSettings

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import code_of, package_of, split_name, told_apart
from explorer.state.catalogue import Catalogue
from widgets.base.settings import open_settings, texts

RECENT = "recent_models"  # as the File menu keeps it


def own_models(catalogue: Catalogue, settings: QSettings | None = None) -> list[ModelInfo]:
    """Return the networks that were opened before and can be opened still; nothing of them is run or read."""
    names = texts(settings or open_settings(), RECENT)
    known = {m.name for m in catalogue.models}
    titles = told_apart(n for n in names if n not in known and _there(n))
    return [_info(name, title) for name, title in titles.items()]


def _there(name: str) -> bool:
    """Return whether a name is of a package, or of a file of code or a folder that is there; weights are no network."""
    code = code_of(name)
    return bool(package_of(name)) or (os.path.isdir(split_name(name)[0]) if code is None else os.path.isfile(code))


def _info(name: str, title: str) -> ModelInfo:
    nothing = dict.fromkeys(("domain", "reference", "equation", "sample"), "")
    none = dict.fromkeys(("groups", "rows", "notes", "params", "labels", "input_shape"), ())
    flags = {"trained": False, "trainable": False}
    return ModelInfo(name=name, title=title, summary=name, **nothing, **none, **flags)  # type: ignore[arg-type]
