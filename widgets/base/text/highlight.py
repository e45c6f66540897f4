"""Python source as HTML in the theme's colours: enough grammar to read by, no more."""

from __future__ import annotations

import html
import keyword
import re
from collections.abc import Iterator

from widgets.base.look import theme
from widgets.base.look.theme import DARK

_TOKEN = re.compile(
    r"""(?P<text>[rbfu]{0,2}(?:\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))
      | (?P<comment>\#[^\n]*)
      | (?P<decorator>^[ \t]*@[\w.]+)
      | (?P<number>\b(?:0x[0-9a-fA-F]+|\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?)j?\b)
      | (?P<word>\b[A-Za-z_]\w*\b)""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def colours() -> dict[str, str]:
    """Return the colour of each kind of token on the panel's ground."""
    if theme.current().name == DARK.name:
        return {"text": "#9ccf8f", "comment": "#8b95a3", "decorator": "#d7ba7d", "number": "#d19a66",
                "keyword": "#7fb8f0", "name": "#e6c07b"}  # fmt: skip
    return {"text": "#1d6b3a", "comment": "#66707c", "decorator": "#8a5a00", "number": "#9a4a00",
            "keyword": "#0b55a5", "name": "#7a3e9d"}  # fmt: skip


def python_spans(source: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of each token that has a colour; also for source that is cut off or no Python at all."""
    before = ""
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup or "", match.group()
        if kind == "word":
            # of the names, the one being defined is the one worth finding
            defined = "name" if before in ("def", "class") else ""
            kind = "keyword" if keyword.iskeyword(text) or text == "self" else defined
            before = text
        if kind:
            yield match.start(), match.end(), kind


def python_as_html(source: str) -> list[tuple[int, str]]:
    """Return of each line how many blanks it begins with, and the rest of it as HTML in colours."""
    inks, made, at = colours(), [""], 0

    def add(text: str, kind: str = "") -> None:
        for k, part in enumerate(text.split("\n")):  # a string may go over lines
            if k:
                made.append("")
            own = part if made[-1] else part.lstrip(" ")
            own = html.escape(own).replace("  ", " &nbsp;")
            made[-1] += f'<span style="color:{inks[kind]}">{own}</span>' if kind and own else own

    for start, end, kind in python_spans(source):
        add(source[at:start])
        add(source[start:end], kind)
        at = end
    add(source[at:])
    lines = source.split("\n")
    return [(len(line) - len(line.lstrip(" ")), text) for line, text in zip(lines, made, strict=True)]
