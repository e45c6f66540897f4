"""The paragraph about each panel (resources/panels.md), and about each page over the window (resources/pages.md)."""

from __future__ import annotations

from functools import cache

from explorer.work.files.places import RESOURCES

PANELS, PAGES = "panels.md", "pages.md"


@cache
def paragraphs(file: str = PANELS) -> dict[str, str]:
    """Return {title: what is written about it, in one line}."""
    found: dict[str, str] = {}
    for part in (RESOURCES / file).read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        found[title.strip()] = " ".join(text.split())
    return found
