"""Set indices and exponents of equations that are written as plain text."""

from __future__ import annotations

import re
from unicodedata import decomposition

# x_p¹: an exponent that is a character of its own is none of the index before it
_RAISED = "".join(chr(k) for k in range(0x2100) if decomposition(chr(k)).startswith("<super>"))
_WORD = re.compile(rf"([_^])([−+-]?[^\W_{_RAISED}]+)")


def with_indices(text: str) -> str:
    """Return an equation with x_i, f^l_m, x_{i,j}, D^−½ and x^(k+1) set as indices and exponents."""
    text = text.replace("  ", "&nbsp; ").replace("( ", "(&nbsp;").replace(" )", "&nbsp;)")  # no bracket on its own
    for _ in range(3):  # the innermost braces first
        text = re.sub(r"([_^])\{([^{}]*)\}", _index, text)
    text = _WORD.sub(_index, text)
    return re.sub(r"([_^])\(([^()]*)\)", _index, text)


def _index(match: re.Match[str]) -> str:
    tag = "sub" if match[1] == "_" else "sup"
    return f"<{tag}>{match[2]}</{tag}>"
