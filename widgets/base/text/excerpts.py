"""Lines of source as HTML: numbered, those about a layer on a ground in the colour of its verdict."""

from __future__ import annotations

import html
from pathlib import Path

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetricsF

from explorer.declare.telling.excerpt import Excerpt
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.text.highlight import python_as_html
from widgets.base.text.words import figure, inherited
from widgets.charts.inks import mixed

TRY = "equiscope:symmetric"  # the link that tries symmetric versions of the guilty layer
GROUND = 0.16  # of the verdict's colour, under the marked lines


def layer_as_html(square: Square, points: float) -> str:
    """Return the selected layer with its own error, the lines that make and compute it, and the hints; "" if none."""
    if not square.source:
        return ""
    t, layer = theme.current(), square.layer
    measure = square.measures.get(layer.name)
    role = {"holds": "good", "broken": "bad"}.get(measure.verdict if measure is not None else "", "muted")
    colour = getattr(t, role)
    words = "not measured"
    if measure is not None:
        verdict = "holds itself; the error comes from earlier layers" if inherited(measure) else measure.verdict
        local = "" if measure.local is None else f"local error {figure(measure.local)}, "
        words = f"{local}{verdict}"
    parts = [
        f'<p style="margin-bottom:2px"><a name="layer"></a><b>{html.escape(layer.name)}</b> '
        f'<span style="color:{t.muted}">{html.escape(layer.kind)}</span> &nbsp;'
        f'<b style="color:{colour}">{html.escape(words)}</b></p>'
    ]
    ground = mixed(colour, t.raised, GROUND).name()
    parts += [_excerpt(one, points, ground, colour) for one in square.source]
    own = [hint.removeprefix(f"{layer.name}: ") for hint in square.hints if hint.startswith(f"{layer.name}: ")]
    if own:
        items = "".join(f"<li>{html.escape(hint)}</li>" for hint in own)
        parts.append(f'<p style="color:{t.muted}; margin-bottom:0">What may break it:</p>'
                     f'<ul style="margin-left:-18px; margin-top:2px">{items}</ul>')  # fmt: skip
    if layer.name in square.guilty and layer.mendable:
        parts.append(f'<p style="margin-top:6px"><a style="color:{t.accent}" href="{TRY}">Try a symmetric version</a>'
                     f'<span style="color:{t.muted}"> of {html.escape(layer.mendable)}</span></p>')  # fmt: skip
    return "".join(parts)


def _excerpt(one: Excerpt, points: float, ground: str, colour: str) -> str:
    t = theme.current()
    style, letter = _fixed(points)
    rows = []
    for number, (indent, line) in enumerate(python_as_html("\n".join(one.text.splitlines())), one.first):
        marked = number in one.marked
        ink, back = (colour, f' bgcolor="{ground}"') if marked else (t.muted, "")
        rows.append(
            f'<tr><td align="right"{back} style="padding-right:6px"><p style="{style}; color:{ink}; margin:0; '
            f'white-space:nowrap">{number}</p></td>'
            # a line too long for the dock goes on under itself
            f'<td width="100%"{back}><p style="{style}; margin:0 0 0 {(indent + 2) * letter:.0f}px; '
            f'text-indent:{-2 * letter:.0f}px">{line or "&nbsp;"}</p></td></tr>'
        )
    where = f"{html.escape(one.title)} · {html.escape(Path(one.file).name)}, line {one.first}"
    return (
        f'<p style="color:{t.muted}; margin-top:6px; margin-bottom:2px">{where}</p>'
        f'<table width="100%" cellspacing="0" cellpadding="1" bgcolor="{t.raised}">{"".join(rows)}</table>'
    )


def source_as_html(source: str, points: float) -> str:
    """Return source in colours on a ground of its own; a line too long for the page goes on under itself."""
    style, letter = _fixed(points)
    rows = (
        f'<p style="margin:0 0 0 {(indent + 2) * letter:.0f}px; text-indent:{-2 * letter:.0f}px">{line or "&nbsp;"}</p>'
        for indent, line in python_as_html(source)
    )
    return (
        f'<table width="100%" cellpadding="8" style="margin-top:8px" bgcolor="{theme.current().raised}">'
        f'<tr><td style="{style}">{"".join(rows)}</td></tr></table>'
    )


def _fixed(points: float) -> tuple[str, float]:
    """Return the style of source beside text of a size, and the pixels of a letter."""
    fixed = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)).family()
    font = QFont(fixed)
    font.setPointSizeF(0.92 * points)
    style = f"font-family:'{fixed}', monospace; font-size:{0.92 * points:.1f}pt"
    return style, QFontMetricsF(font).horizontalAdvance("0")
