"""DNA as FASTA and FASTQ: letters as columns A, C, G, T; several records become a batch.

Lower case is read as upper case. N and the other letters of IUPAC's code are spread evenly over what they stand for,
U counts as T. D. Lipman, W. Pearson, 1985; P. Cock et al., 2010.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from explorer.data.formats.checks import Broken, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.sequence.network.fit import BASES, IUPAC, base_columns
from explorer.spaces.sequence.readers.assembly import Series, decoded, head_of, require_steps, series_sample

_LETTERS = "".join(sorted(IUPAC)) + "".join(sorted(IUPAC)).lower()
_WRONG = re.compile(rf"[^{_LETTERS}]")
_SHOWN = 6

Records = list[tuple[str, str]]


def _sniff(head: bytes) -> bool:
    return False  # a quotation in a mail begins with > too


def _fits(path: Path) -> bool:
    """Return whether a file begins with a record, whatever it is called."""
    text = head_of(path, 4096)
    if text is None:
        return False
    lines = text.lstrip("\n").split("\n")
    if lines[0].startswith(">"):
        following = next((line.strip() for line in lines[1:] if line.strip()), "")
        return bool(following) and not _WRONG.search(following)
    return (
        lines[0].startswith("@") and len(lines) > 2 and lines[2].startswith("+") and not _WRONG.search(lines[1].strip())
    )


def _letters(line: str, number: int) -> str:
    """Return the letters of a line, or Broken with the place of the first that is none."""
    text = line.rstrip()
    if found := _WRONG.search(text):
        what = f"line {number}, column {found.start() + 1} has {found[0]!r}, which is no letter of DNA"
        gap = found[0] in "-.*"
        raise Broken(
            what, "leave out the gaps of an alignment" if gap else "write A, C, G, T, or N where it is not known"
        )
    return text.upper().replace("U", "T")


def _fasta(lines: list[str]) -> Records:
    records: list[tuple[str, list[str]]] = []
    began = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            if records and not records[-1][1]:
                raise Broken(f"the record that begins in line {began} has no letters", "complete or leave it out")
            records.append((line[1:].strip(), []))
            began = number
        elif line.startswith(";") or not line.strip():
            continue
        elif not records:
            raise Broken(
                f"line {number} comes before a line that begins with '>'", "begin each record with '>' and a name"
            )
        elif letters := _letters(line, number):
            records[-1][1].append(letters)
    if not records:
        raise Broken("it has no record", "begin each record with '>' and a name")
    if not records[-1][1]:
        raise Broken(f"the record that begins in line {began} has no letters", "complete or leave it out")
    return [(name, "".join(parts)) for name, parts in records]


def _fastq(lines: list[str]) -> tuple[Records, str]:
    records: Records = []
    qualities: list[float] = []
    while lines and not lines[-1].strip():
        lines.pop()
    for at in range(0, len(lines), 4):
        four = [line.rstrip() for line in lines[at : at + 4]]
        number = at + 1
        if not four[0].startswith("@"):
            raise Broken(f"line {number} does not begin with '@'", "write four lines for each record")
        if len(four) < 4:
            raise Broken(f"the record that begins in line {number} is truncated: it has {len(four)} of 4 lines")
        if not four[2].startswith("+"):
            raise Broken(f"line {number + 2} does not begin with '+'", "write four lines for each record")
        letters = _letters(four[1], number + 1)
        if not letters:
            raise Broken(f"the record that begins in line {number} has no letters", "complete or leave it out")
        if len(four[3]) != len(letters):
            what = f"line {number + 3} has {len(four[3])} qualities for the {len(letters)} letters of line {number + 1}"
            raise Broken(what, "write a quality for each letter")
        if wrong := re.search(r"[^!-~]", four[3]):
            raise Broken(f"line {number + 3}, column {wrong.start() + 1} is no quality", "write the characters ! to ~")
        records.append((four[0][1:].strip(), letters))
        qualities.append(sum(map(ord, four[3])) / len(four[3]) - 33)
    mean = sum(q * len(text) for q, (_, text) in zip(qualities, records)) / sum(len(text) for _, text in records)
    return records, f"qualities left out: {mean:.1f} on average (Phred)"


def _read(path: Path) -> Sample:
    with refusing(path, "FASTA"):
        lines = decoded(path).split("\n")
        first = next((line for line in lines if line.strip()), "")
        notes = []
        if first.startswith("@"):
            records, told = _fastq(lines)
            notes.append(told)
        else:
            records = _fasta(lines)
        text = "".join(letters for _, letters in records)
        require_steps(len(text), len(BASES))
        series = Series(base_columns(text), names=tuple(text), channels=tuple(BASES), notes=notes)
        unknown = len(text) - sum(text.count(base) for base in BASES)
        if unknown:
            series.notes.append(
                f"{unknown} of {len(text)} letters are not known for certain: spread over what they may be"
            )
        if len(records) > 1:
            series.batch = np.repeat(np.arange(len(records)), [len(letters) for _, letters in records])
        named = [" ".join(name.split())[:60] for name, _ in records if name]
        if named:
            more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
            series.notes.append(", ".join(named[:_SHOWN]) + more)
        return series_sample(path, series)


_EXTENSIONS = (".fasta", ".fa", ".fna", ".ffn", ".fastq", ".fq")
READER = Reader("fasta", "DNA (FASTA, FASTQ)", _EXTENSIONS, "sequence", _sniff, _read, fits=_fits)
