"""Put models into menus: one for each kind of data, those of many models into one for each family."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QMenu

from explorer.declare.card import ModelInfo
from widgets.base.controls.menus import Choices
from widgets.base.text.kinds_of_data import families, place_of, title_of


def fill_by_domain(menu: QMenu, choices: Choices, models: Sequence[ModelInfo], chosen: Callable[[str], None]) -> None:
    """Add models to a menu; with the one of a kind and the one of a family it is two more levels deep at most."""
    domains = sorted({m.domain for m in models}, key=place_of)
    for domain in domains:
        inner = menu.addMenu(title_of(domain)) if len(domains) > 1 else menu
        for title, some in families([m for m in models if m.domain == domain]):
            part = Choices(inner.addMenu(title.replace("&", "&&")) if title else inner, choices.group)
            part.fill([(m.name, _text(m, title)) for m in some], chosen, clear=False)


def by_row(info: ModelInfo) -> tuple[str, int, str]:
    """Return the key that sorts by the id of the row of docs/systems.md ("G7" before "G10"), then by title."""
    row = info.rows[0] if info.rows else "~"
    digits = "".join(c for c in row if c.isdigit())
    return (row.rstrip("0123456789"), int(digits or 0), info.title)


def _text(info: ModelInfo, heading: str) -> str:
    """Return the title of a model with the rows it stands for, but the one that the menu is called by."""
    others = [row for row in info.rows if row != heading.partition(" ")[0]]
    rows = f"  ({', '.join(others)})" if others else ""
    return f"{info.title}{rows}".replace("&", "&&")
