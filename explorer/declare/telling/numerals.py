"""Numbers as they are set."""

from __future__ import annotations

import re

_EXPONENT = re.compile(r"(?<=\d)e([+-])0*(?=\d)")


def with_minus(text: str) -> str:
    """Return a written number with minus signs in place of hyphens, and its exponent in short: "−2.1e−7", "1e5"."""
    return _EXPONENT.sub(lambda sign: "e" + sign[1].replace("+", ""), text).replace("-", "−")
