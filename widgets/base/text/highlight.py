"""Python source as HTML in the theme's colours: enough grammar to read by, no more."""

from __future__ import annotations

import html
import keyword
import re

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
    if theme.current() is DARK:
        return {"text": "#9ccf8f", "comment": "#8b95a3", "decorator": "#d7ba7d", "number": "#d19a66",
                "keyword": "#7fb8f0", "name": "#e6c07b"}  # fmt: skip
    return {"text": "#1d6b3a", "comment": "#66707c", "decorator": "#8a5a00", "number": "#9a4a00",
            "keyword": "#0b55a5", "name": "#7a3e9d"}  # fmt: skip


def python_as_html(source: str) -> str:
    """Return `source` as spans inside one <pre>; also for source that is cut off or no Python at all."""
    inks, made, at, before = colours(), [], 0, ""
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup or "", match.group()
        made.append(html.escape(source[at : match.start()]))
        at = match.end()
        if kind == "word":
            # of the names, the one being defined is the one worth finding
            defined = "name" if before in ("def", "class") else ""
            kind = "keyword" if keyword.iskeyword(text) or text == "self" else defined
            before = text
        ink = inks.get(kind)
        shown = html.escape(text)
        made.append(f'<span style="color:{ink}">{shown}</span>' if ink else shown)
    made.append(html.escape(source[at:]))
    return f"<pre>{''.join(made)}</pre>"
