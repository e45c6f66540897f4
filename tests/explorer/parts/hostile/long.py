"""Words of text files replaced by long and odd ones: what a reader quotes of them must not become its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from tests.explorer.parts.hostile.accepted import accepted_files

WORDS = (
    *("L" * 5000, "한글" * 2000, "e" + "\u0301" * 900, "'" * 401, '"' * 401, "<b>" * 200, "../" * 100, "_" * 300 + "x"),
    *("\x1b[31mred\x1b[0m" * 20, "\x1b]0;own\x07", "\u202eevil\u2066" * 30, "\x9b31m\x85", "\x00\x01\x02", "a\nb\r\nc"),
    *("9" * 4000, "9" * 5000, "-" + "9" * 400 + "." + "9" * 400, "1e99999", "0x" + "f" * 300, "\u2028\u2029"),
    *("{0}{x!r}%s%n", "\\x1b\\u202e\\N{DIGIT ONE}", "[" * 300, "w " * 3000, "\U000e0041" * 50, "\ud7ff\uffff"),
)


def lengthened(count: int, seed: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield (case, name, content) of text files, in each of which one word or more are others."""
    texts: list[tuple[str, str, str]] = []
    for case, (name, content) in accepted_files().items():
        try:
            texts.append((case, name, content.decode()))
        except UnicodeDecodeError:
            continue
    for k in range(count):
        case, name, text = texts[k % len(texts)]
        chance = Random(f"long {seed}:{k}")
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            at, end = chance.choice([found.span() for found in re.finditer(r"[\w.+-]+", text)])
            word = chance.choice(WORDS)
            before, after = chance.choice((("", ""), ("", ""), (text[at:end], ""), ("", text[at:end])))
            text = text[:at] + before + word + after + text[end:]
        yield f"{case} {seed}:{k}", name, text.encode()
