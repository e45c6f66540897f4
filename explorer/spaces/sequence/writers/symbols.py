"""Text and DNA: TXT and FASTA."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.records import left_out
from explorer.spaces.sequence.network.fit import IUPAC, base_columns, is_one_hot, kind_of
from explorer.spaces.sequence.readers.text import is_prose

_LINE = 60  # letters
_CODES = "ACGTRYSWKMBDHVN"  # each stands for other bases than all others


def symbols_of(sample: Sample) -> tuple[str, ...]:
    """Return the text of each step: its name, or the name of the column that is 1.

    Raises:
        ValueError: neither is there.
    """
    if sample.names:
        return sample.names
    if sample.channels and is_one_hot(sample.x.values):
        return tuple(sample.channels[k] for k in sample.x.values.argmax(1))
    raise ValueError(f"{sample.name!r} is no text: its steps have no names; choose .csv or .npz")


def _write_text(sample: Sample, path: Path) -> tuple[str, ...]:
    texts = symbols_of(sample)
    characters = all(len(text) == 1 for text in texts)
    whole = ("" if characters else " ").join(texts)
    notes: tuple[str, ...] = () if characters else ("words, with spaces between: read back as characters",)
    if "\r" in whole or any((ord(c) < 32 and c not in "\t\n\v\f") or ord(c) == 127 for c in whole):
        raise ValueError(f"{sample.name!r} has control characters, and a text file cannot hold them; choose .npz")
    try:
        path.write_bytes((whole + "\n").encode("utf-8"))
    except UnicodeEncodeError:
        raise ValueError(f"{sample.name!r} has half a character (a surrogate), which is no text; choose .npz") from None
    if path.suffix.lower() == ".txt" and not is_prose(whole):
        notes += ("it looks like a table or a list of edges: name it .text, so that it is read back as text",)
    return notes + left_out(sample, ("x", "names"))


def _letters(sample: Sample) -> str:
    if kind_of(sample) != "dna":
        raise ValueError(f"{sample.name!r} holds no DNA; choose .csv or .npz")
    table = base_columns(_CODES)
    apart = np.abs(sample.x.values[:, None] - table[None]).max(2) if len(sample.x.values) < 4096 else None
    if apart is None:  # by parts: each step is compared with fifteen letters
        pieces = np.array_split(sample.x.values, len(sample.x.values) // 4096 + 1)
        apart = np.concatenate([np.abs(piece[:, None] - table[None]).max(2) for piece in pieces])
    if (far := apart.min(1) > 1e-3).any():
        step = int(far.argmax())
        raise ValueError(
            f"{sample.name!r} has a mixture of bases at step {step} that no letter stands for; choose .npz"
        )
    return "".join(_CODES[k] for k in apart.argmin(1))


def _write_fasta(sample: Sample, path: Path) -> tuple[str, ...]:
    text = _letters(sample)
    assert set(text) <= set(IUPAC)
    batch = sample.signals["batch"].values if "batch" in sample.signals else np.zeros(len(text), np.int64)
    ends = [*(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(text)]
    start = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for k, end in enumerate(ends):
            name = " ".join(sample.name.split()) or "sequence"
            file.write(f">{name}" + (f" {k + 1}" if len(ends) > 1 else "") + "\n")
            for at in range(start, end, _LINE):
                file.write(text[at : min(at + _LINE, end)] + "\n")
            start = end
    return left_out(sample, ("x", "names", "batch"))


WRITER = (
    Writer("text", "Text (TXT)", (".txt", ".text"), _write_text, ("sequence",)),
    Writer("fasta", "DNA (FASTA)", (".fasta", ".fa", ".fna"), _write_fasta, ("sequence",)),
)
