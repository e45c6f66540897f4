"""Write names of groups as people read them: SE(3), Z², Oₕ."""

from __future__ import annotations

import re

_WORDS = {"translation": "Z²", "permutation": "Sₙ"}
_RAISED = str.maketrans("0123456789n", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ")


def written(name: str) -> str:
    """Return the name of a group as textbooks write it, or as it is where they have no other."""
    if name in _WORDS:
        return _WORDS[name]
    text = re.sub(r"\b(S?E|S?O)(\d)\b", r"\1(\2)", name)
    text = re.sub(r"\b([ZR])(\d)\b", lambda found: found[1] + found[2].translate(_RAISED), text)
    text = re.sub(r"\bOh\b", "Oₕ", text)
    of, _, group = text.partition("-")
    return f"{group}, {of}" if group and group[0].isupper() else text.replace("-", " ")
