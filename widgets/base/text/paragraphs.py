"""The paragraph about each panel, on the page of all panels (resources/panels.md)."""

from __future__ import annotations

from functools import cache

from explorer.work.files.places import RESOURCES

PAGE = "panels.md"


@cache
def paragraphs() -> dict[str, str]:
    """Return {title of a panel: what is written about it, in one line}."""
    found: dict[str, str] = {}
    for part in (RESOURCES / PAGE).read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        found[title.strip()] = " ".join(text.split())
    return found
