"""Text as a sequence of characters, one-hot over the characters that occur.

A .txt may also be a table or a list of edges. It is text when its only line is no table, when a sentence ends in it,
when a line of it has four words or more, or when its lines are verses, of unequal length with commas at their ends;
".text" and ".md" are always text. Bytes that are no UTF-8 are read as Windows-1252, which is told.
"""

from __future__ import annotations

import re
from pathlib import Path

from explorer.data.formats.checks import Broken, refusing
from explorer.data.formats.texts import note_of, table_encoding
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.sequence.readers.assembly import Series, decoded, head_of, series_sample, symbols

_WORDS = 4
_SENTENCE = re.compile(r"\w[.!?…][\"'”’)]*\s*$", re.M)
_PAUSE = re.compile(r"[^\W\d_][,:;–—]\s*$", re.M)


def _sniff(head: bytes) -> bool:
    return False  # bytes that are text are often something else as well


def is_prose(text: str) -> bool:
    """Return whether the beginning of a text is language rather than a table."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or not re.search(r"[^\W\d_]", text):
        return False
    if lines[0].lstrip().startswith(("#", "%", "//")) or "\t" in lines[0]:
        return False
    uneven = len({len(line.split()) for line in lines}) > 1 and not re.search(r"\d|,\S", text)
    if uneven and _PAUSE.search(text):  # verses
        return True
    if len(lines) == 1 or any(not re.search(r"\d", m[0]) for m in _SENTENCE.finditer(text)):
        return True
    return any(len(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", line)) >= _WORDS and ";" not in line for line in lines)


def _rates(path: Path) -> Fit:
    text = head_of(path)
    if text is None:
        return Fit.NO
    return Fit.LIKELY if path.suffix.lower() == ".txt" and is_prose(text) else Fit.ALLOWED


def text_series(text: str) -> Series:
    """Return the characters of a text, one-hot."""
    x, alphabet = symbols(text)
    one = {letter: letter for letter in alphabet}  # Python makes most letters anew for each place, of 76 bytes
    return Series(
        x, names=tuple(map(one.__getitem__, text)), channels=alphabet, notes=[f"{len(alphabet)} different characters"]
    )


def _read(path: Path) -> Sample:
    with refusing(path, "text"):
        encoding = table_encoding(path)
        text = decoded(path, encoding).removesuffix("\n")
        if not text:
            raise Broken("it holds nothing but the end of a line", "write a text into it")
        series = text_series(text)
        series.notes = note_of(encoding) + series.notes
        return series_sample(path, series)


_ENDINGS = (".text", ".md", ".txt", ".csv", ".tsv")
READER = Reader("text", "Text (TXT)", _ENDINGS, "sequence", _sniff, _read, rates=_rates)
