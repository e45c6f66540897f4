"""Help on a page over the window (F1): what it is for, and what each of its controls does."""

from __future__ import annotations

import html
import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from widgets.base.controls.text_page import TextPage
from widgets.base.text.gestures import as_html
from widgets.base.text.paragraphs import PAGES, paragraphs

SIZE = (460, 420)
_SHORT = 40  # letters: what is longer is no name, but what the control holds


def help_text(page: QWidget, about: str) -> str:
    """Return what is written about a page and said by its controls, or nothing."""
    if not (text := paragraphs(PAGES).get(about, "")):
        return ""
    rows = "".join(
        f'<tr><td style="padding-right:16px"><b>{html.escape(name)}</b></td><td>{html.escape(told)}</td></tr>'
        for name, told in controls_of(page)
    )
    table = f"<h4>On this page</h4><table>{rows}</table>" if rows else ""
    return f"<h3>{html.escape(about)}</h3><p>{as_html(text)}</p>{table}"


def controls_of(page: QWidget) -> list[tuple[str, str]]:
    """Return the name of each control that says what it does, with that, as Tab goes through them."""
    named = {label.buddy(): label.text() for label in page.findChildren(QLabel) if label.buddy() is not None}
    found: dict[str, str] = {}
    widget = page.nextInFocusChain()
    while widget is not None and widget is not page:
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        name = _plain(text or named.get(widget, "") or widget.accessibleName())
        if name and len(name) <= _SHORT and widget.isVisibleTo(page) and (told := widget.toolTip()) and told != name:
            found.setdefault(name, told)
        widget = widget.nextInFocusChain()
    return list(found.items())


def help_page(text: str) -> TextPage:
    """Return the text as something to read."""
    page = TextPage()
    page.setHtml(text)
    page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return page


def _plain(title: str) -> str:
    """Return a title without the mark of its key, and without what follows it."""
    return re.sub(r"&(.)", r"\1", title).strip(" …:")
