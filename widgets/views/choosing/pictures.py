"""Find the small pictures of models that `gallery --thumbnails` has made."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QImage

from explorer.work.budget import budgeted
from explorer.work.files.places import RESOURCES

FOLDER = RESOURCES / "thumbnails"
THEMES = ("light", "dark")
SIZE = (112, 72)  # logical pixels of a card's picture


def picture_of(model: str, theme: str, folder: Path = FOLDER) -> Path:
    """Return the path of a model's picture, whether or not it is there."""
    return folder / theme / f"{model}.webp"


@budgeted
def thumbnail(model: str, theme: str) -> QImage | None:
    """Return a model's picture, None where there is none: a network of somebody's own, or a new card."""
    if not model.replace("-", "").isalnum():
        return None  # the path of a file, which is no name here
    path = picture_of(model, theme)
    image = QImage(str(path)) if path.is_file() else QImage()
    return None if image.isNull() else image
