"""Set indices and exponents of equations that are written as plain text."""

from __future__ import annotations

import re


def with_indices(text: str) -> str:
    """Return an equation with x_{i,j}, x_i and x^{2} set as indices and exponents."""
    text = text.replace("  ", "&nbsp; ").replace("( ", "(&nbsp;").replace(" )", "&nbsp;)")  # no bracket on its own
    for _ in range(3):  # the innermost braces first
        text = re.sub(r"([_^])\{([^{}]*)\}", _index, text)
    return re.sub(r"([_^])(\w+)", _index, text)


def _index(match: re.Match[str]) -> str:
    tag = "sub" if match[1] == "_" else "sup"
    return f"<{tag}>{match[2]}</{tag}>"
