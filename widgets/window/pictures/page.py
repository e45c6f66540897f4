"""A page of documentation that shows the program: whole windows, and every model in the view made for its data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from explorer.app.thread.orders import Engine
from explorer.declare.card import ModelInfo
from explorer.declare.space import kinds
from widgets.views.choosing.pictures import picture_of
from widgets.window.pictures.gallery import models_of, window_pictures
from widgets.window.pictures.thumbnails import thumbnail_pictures

SCALE = 5  # of a card's picture in the Gallery
COLUMNS = 3
THEME = "light"


def page_pictures(start: Callable[[], Engine], folder: Path) -> list[Path]:
    """Save the windows light and dark, a picture of every model, and README.md with all of them; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    models = models_of(start)
    windows = window_pictures(start, folder, models)
    cards = thumbnail_pictures(start, folder, (THEME,), SCALE)
    index = folder / "README.md"
    index.write_text(page(folder, windows, list(models.values())), encoding="utf-8")
    return [*windows, *cards, index]


def page(folder: Path, windows: Sequence[Path], models: Sequence[ModelInfo]) -> str:
    """Return the page as Markdown: windows, then a table of models for each kind of data."""
    lines = [
        "# Gallery",
        "",
        "Every picture here was made by the program: `python main.py gallery --page --out docs/gallery`.",
        "`python main.py gallery --out out/gallery` draws every model in every view.",
        "",
        "## Windows",
        "",
    ]
    for path in windows:
        lines += [f"![{path.stem}]({path.relative_to(folder)})", ""]
    for kind, several in groupby(sorted(models, key=lambda m: kinds()[m.domain].place), lambda m: m.domain):
        lines += [f"## {kinds()[kind].title}", "", *_table(folder, list(several)), ""]
    return "\n".join(lines)


def _table(folder: Path, models: Sequence[ModelInfo]) -> list[str]:
    cells = [f"![{m.name}]({picture_of(m.name, THEME, Path())})<br>{m.title}<br>`{m.name}`" for m in models]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [cells[k : k + COLUMNS] for k in range(0, len(cells), COLUMNS)]
    return ["| " + " | ".join(" " for _ in range(COLUMNS)) + " |", "|" + "---|" * COLUMNS,
            *("| " + " | ".join(row) + " |" for row in rows)]  # fmt: skip
