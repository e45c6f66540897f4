"""Help on a panel (F1): what it shows, a picture of it as it is now, mouse and keys, and the words in it."""

from __future__ import annotations

import html

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from widgets.base.controls.dialog import Dialog
from widgets.base.controls.text_page import TextPage
from widgets.base.look import theme
from widgets.base.look.icons import app_icon
from widgets.base.text import glossary
from widgets.base.text.gestures import as_html, gestures_of
from widgets.base.text.paragraphs import paragraphs
from widgets.base.view import View, ViewSpec

WIDE = 460  # pixels of the picture
ALWAYS = ("ρ(g)", "ρ′(g)", "cumulative", "local", "floor", "chance")  # what most panels speak of


def panel_dialog(parent: QWidget, spec: ViewSpec, view: View) -> QDialog:
    """Return a window about one panel."""
    page = TextPage()
    picture = view.snapshot()
    if not picture.isNull() and picture.width() > WIDE:
        picture = picture.scaledToWidth(WIDE, Qt.TransformationMode.SmoothTransformation)
    page.document().addResource(int(QTextDocument.ResourceType.ImageResource), QUrl("panel:now"), picture)
    caption, text = view.caption(), paragraphs().get(spec.title, "")
    words = dict.fromkeys([*glossary.words_in(f"{spec.summary} {text} {caption}"), *ALWAYS])
    rows = "".join(
        f'<tr><td style="padding-right:16px"><b>{html.escape(word)}</b></td><td>{html.escape(told)}</td></tr>'
        for word in words
        if (told := glossary.meaning(word))
    )
    done = "".join(
        f'<tr><td style="padding-right:16px">{as_html(gesture)}</td><td>{as_html(does)}</td></tr>'
        for gesture, does in gestures_of(spec.title)
    )
    done = f"<h4>Mouse and keys</h4><table>{done}</table>" if done else ""
    about = f"<p>{as_html(glossary.say(text))}</p>" if text else ""
    muted = theme.current().muted
    key = f'<p style="color:{muted}">Its key is {html.escape(spec.key)}.</p>' if spec.key else ""
    page.setHtml(
        f"<h3>{html.escape(spec.title)}</h3><p><b>{html.escape(spec.summary)}</b></p>"
        f'<p><img src="panel:now"></p>{about}{key}<p style="color:{muted}">{html.escape(glossary.say(caption))}</p>'
        f"{done}<h4>Words</h4><table>{rows}</table>"
    )
    dialog = Dialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(f"Help: {spec.title}")
    dialog.setWindowIcon(app_icon())
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.close)
    column = QVBoxLayout(dialog)
    column.addWidget(page)
    column.addWidget(buttons)
    dialog.resize(QSize(WIDE + 80, 600))
    return dialog
