"""Show help: the table of keys, and who made this with what."""

from __future__ import annotations

import html
from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from explorer.state.catalogue import Catalogue
from widgets.base.controls.dialog import Dialog
from widgets.base.controls.text_page import TextPage
from widgets.base.look import theme
from widgets.base.look.icons import app_icon


def keys_dialog(parent: QWidget, actions: Sequence[tuple[str, QAction]]) -> QDialog:
    """Return a window with every action that has a key, by menu."""
    rows, menu, seen = [], "", set()
    for path, action in actions:
        if action in seen:
            continue
        seen.add(action)
        keys = [k.toString(QKeySequence.SequenceFormat.NativeText) for k in action.shortcuts()]
        if not keys:
            continue
        top, _, rest = path.partition(" › ")
        if top != menu:
            menu = top
            rows.append(f'<tr><td colspan="2" style="padding-top:10px"><b>{html.escape(menu)}</b></td></tr>')
        named = " &nbsp;or&nbsp; ".join(html.escape(k) for k in keys)
        rows.append(
            f'<tr><td style="padding-right:24px">{html.escape(rest)}</td>'
            f'<td style="color:{theme.current().muted}">{named}</td></tr>'
        )
    hand = (
        "<p>On the stage: drag the picture to shift it, drag the ring to turn it, click a pixel for its "
        "receptive field, click a map to enlarge it.</p>"
    )
    return _dialog(parent, "Keyboard shortcuts", f"<table>{''.join(rows)}</table>{hand}", QSize(460, 560))


def about_dialog(parent: QWidget, catalogue: Catalogue | None) -> QDialog:
    """Return a window that says what this is and which versions it runs on."""
    versions = "<br>".join(f"{html.escape(n)} {html.escape(v)}" for n, v in (catalogue.versions if catalogue else ()))
    text = (
        "<h2>Equiscope</h2><p>See what a neural network does to a symmetry, layer by layer: is "
        "F(ρ(g) x) equal to ρ′(g) F(x), and if not, where and by how much?</p>"
        f'<p style="color:{theme.current().muted}">{versions or "The engine is not loaded yet."}</p>'
    )
    return _dialog(parent, "About Equiscope", text, QSize(380, 320))


def _dialog(parent: QWidget, title: str, text: str, size: QSize) -> QDialog:
    dialog = Dialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setWindowIcon(app_icon())
    page = TextPage()
    page.setHtml(text)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.close)
    column = QVBoxLayout(dialog)
    column.addWidget(page)
    column.addWidget(buttons)
    dialog.resize(size)
    return dialog
