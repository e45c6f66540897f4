"""Samples of sequences fitted to what a network takes: values, tokens or DNA, of a certain width."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.named_columns import named_columns
from explorer.data.kinds import of_another_kind
from explorer.declare.samples import Array, Sample, Signal
from explorer.declare.space import domain_word
from explorer.declare.telling.counting import number_of
from explorer.spaces.sequence.fields import STEP_INPUT
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.network.ids import fit_ids

Floats = NDArray[np.float32]

BASES = "ACGT"
# what a letter of IUPAC's code stands for (A. Cornish-Bowden, 1985); U is the T of RNA
IUPAC = {
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT", "X": "ACGT",
}  # fmt: skip
_NAMED = 4  # columns that a note names
LEVELS = 10  # symbols that a series is cut into where a network takes any number of them


def base_columns(letters: str) -> Floats:
    """Return (letters, 4) in the order A, C, G, T; a letter that stands for several is spread evenly over them.

    Raises:
        ValueError: a letter that IUPAC's code does not have.
    """
    table = np.zeros((256, 4), np.float32)
    for letter, bases in IUPAC.items():
        row = [(base in bases) / len(bases) for base in BASES]
        table[ord(letter)] = table[ord(letter.lower())] = row
    codes = np.frombuffer(letters.encode("latin-1", "replace"), np.uint8)
    wrong = np.flatnonzero(table[codes].sum(1) == 0)
    if wrong.size:
        raise ValueError(f"{letters[wrong[0]]!r} at place {wrong[0] + 1} is no letter of DNA")
    return np.asarray(table[codes])


def is_one_hot(x: Array) -> bool:
    """Return whether each row of (steps, channels) is 1 in one column and 0 in all others, with two columns or more."""
    return x.shape[1] > 1 and bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) == 1).all())


def kind_of(sample: Sample) -> str:
    """Return "values", "tokens" or "dna": DNA by the names of its columns or steps, tokens by one-hot rows."""
    x = sample.x.values
    if x.shape[1] == len(BASES):
        if sample.channels:
            named = tuple(sample.channels) == tuple(BASES)
        else:
            named = bool(sample.names) and set(sample.names) <= set(IUPAC)
        if named and bool((np.abs(x.sum(1) - 1) < 1e-5).all()):
            return "dna"
    return "tokens" if is_one_hot(x) else "values"


def fit_sequence(sample: Sample, wanted: SequenceInput) -> Sample:
    """Return the sample with x as a network takes it, (steps, channels) float32; what was done is told in the notes.

    Of several sequences the first is taken, and of a longer one the first `wanted.most` steps. Values: surplus
    columns are left out, missing ones are zero, and symbols become their number where one column is wanted. Tokens: a
    series is cut into levels of equal height, and surplus symbols share the last column; where the network
    and the sample name them, symbols are found by name. DNA is taken from letters.

    Raises:
        ValueError: no sequence, no steps, no columns, no DNA where a network takes DNA; in one sentence.
    """
    if sample.domain != "sequence":
        raise of_another_kind(sample, "sequence")
    own: Floats = np.asarray(sample.x.values, np.float32)
    if own.ndim != 2 or not own.shape[1]:
        raise ValueError(f"{sample.name!r} has no channels, and this network needs at least one")
    if not len(own):
        raise ValueError(f"{sample.name!r} has no steps, and this network needs at least one")
    notes: list[str] = []
    if wanted.kind == "ids":
        made_ids = fit_ids(_first_steps(sample, None, notes), wanted)
        return replace(made_ids, notes=(*made_ids.notes, *notes))
    sample = _first_steps(sample, wanted.most, notes)
    own = np.asarray(sample.x.values, np.float32)
    kind = kind_of(sample)
    channels = sample.channels
    values: Floats
    match wanted.kind:
        case "values":
            values, channels = _values(own, kind, channels, wanted.channels, notes)
        case "tokens":
            if wanted.columns and kind == "tokens" and channels:
                values, note = named_columns(own, channels, wanted.columns, wanted.unknown)
                channels, notes = wanted.columns, [*notes, note] if note else notes
            else:
                values, channels = _tokens(own, kind, channels, wanted.channels, notes)
        case "dna":
            if wanted.channels not in (None, len(BASES)):
                raise ValueError(f"this network's card asks for {wanted.channels} columns of DNA, which has 4")
            values, channels = _dna(sample, kind, notes), tuple(BASES)
        case other:
            raise ValueError(f"this network's card asks for {other!r}; write 'values', 'tokens', 'dna' or 'ids'")
    if not notes and values is own and sample.x.field == STEP_INPUT:
        return sample
    made: Floats = np.ascontiguousarray(values)
    signals = dict(sample.signals) | {next(iter(sample.signals)): Signal(made, STEP_INPUT)}
    return replace(
        sample, signals=MappingProxyType(signals), channels=channels, notes=sample.notes + tuple(notes)
    )  # fmt: skip


def sequences_in(sample: Sample) -> int:
    """Return how many sequences a sample holds."""
    return int(sample.signals["batch"].values[-1]) + 1 if "batch" in sample.signals else 1


def one_sequence(sample: Sample, part: str) -> Sample:
    """Return the k-th of several sequences, `part` = "k" from 1; raise ValueError where there is none."""
    count = sequences_in(sample) if sample.domain == "sequence" else 0
    if not count:
        raise ValueError(f"{sample.name!r} lies on a {domain_word(sample.domain)}, which has no part {part[:40]!r}")
    if not (part.isascii() and part.isdigit() and 1 <= int(part[:12]) <= count):
        there = f"it holds {count} sequences, #1 to #{count}" if count > 1 else "it holds one sequence, #1"
        raise ValueError(f"{sample.name!r} has no part {part[:40]!r}: {there}")
    if count == 1:
        return sample
    rows = np.flatnonzero(sample.signals["batch"].values == int(part) - 1)
    signals = {
        name: Signal(signal.values[rows].copy(), signal.field)
        for name, signal in sample.signals.items()
        if name != "batch"
    }
    names = tuple(sample.names[k] for k in rows) if sample.names else ()
    note = f"sequence {part} of {count}, {len(rows)} step{'s' * (len(rows) != 1)}"
    return replace(
        sample, name=f"{sample.name}#{part}", title=f"{sample.title}, {part} of {count}",
        signals=MappingProxyType(signals), names=names, notes=(*sample.notes, note),
    )  # fmt: skip


def _first_steps(sample: Sample, most: int | None, notes: list[str]) -> Sample:
    """Return the first sequence of several, and of that the first `most` steps."""
    steps, title = len(sample.x.values), sample.title
    kept = steps
    if "batch" in sample.signals:
        batch = sample.signals["batch"].values
        kept, several = int(np.count_nonzero(batch == batch[0])), int(batch.max()) + 1
        if several > 1:
            title = f"{title}, 1 of {several}"
            long = f"{kept} step{'s' * (kept != 1)}"
            notes.append(f"the first of {several} sequences, {long}; write #2 after the name for the second")
    if most is not None and kept > most:
        notes.append(f"the first {most} of {kept} steps: this network takes no more")
        kept = most
    if kept == steps:
        return sample
    signals = {name: Signal(signal.values[:kept].copy(), signal.field) for name, signal in sample.signals.items()}
    return replace(sample, title=title, signals=MappingProxyType(signals), names=sample.names[:kept])


def _values(
    own: Floats, kind: str, channels: tuple[str, ...], width: int | None, notes: list[str]
) -> tuple[Floats, tuple[str, ...]]:
    have = own.shape[1]
    if width is None or width == have:
        return own, channels
    if width == 1 and kind == "tokens":
        notes.append(f"symbols as numbers from 0 to 1, in steps of 1/{have - 1}")
        return own.argmax(1).astype(np.float32)[:, None] / np.float32(have - 1), ()
    return _columns(own, channels, width, notes)


def _columns(
    own: Floats, channels: tuple[str, ...], width: int, notes: list[str]
) -> tuple[Floats, tuple[str, ...]]:  # fmt: skip
    """Leave out columns, or fill them up with zeros."""
    have = own.shape[1]
    made = np.zeros((len(own), width), np.float32)
    made[:, : min(have, width)] = own[:, :width]
    if have > width:
        named = f" ({', '.join(channels[:width])})" if channels and width <= _NAMED else ""
        notes.append(f"columns 1 to {width} of {have}{named}" if width > 1 else f"column 1 of {have}{named}")
    else:
        notes.append(f"{number_of(have, 'channel')} filled up with zeros to {width}")
    names = (*channels, *(f"none {k}" for k in range(have + 1, width + 1)))[:width] if channels else ()
    return made, names


def _tokens(
    own: Floats, kind: str, channels: tuple[str, ...], width: int | None, notes: list[str]
) -> tuple[Floats, tuple[str, ...]]:
    have = own.shape[1]
    if kind == "values":
        levels = width or LEVELS
        first = own[:, 0].astype(np.float64)
        low, high = float(first.min()), float(first.max())
        level = ((first - low) / ((high - low) or 1.0) * levels).astype(np.int64).clip(0, levels - 1)
        of = f"channel 0 of {have}" if have > 1 else "values"
        notes.append(f"{of} from {low:g} to {high:g} cut into {levels} levels of equal height")
        return np.eye(levels, dtype=np.float32)[level], ()
    if width is None or width == have:
        return own, channels
    if have < width:
        return _columns(own, channels, width, notes)
    made = own[:, :width].copy()
    made[:, -1] = own[:, width - 1 :].sum(1)  # an all-zero row would be no symbol at all
    notes.append(f"{have - width + 1} of {have} symbols share the last column: this network knows {width}")
    return made, (*channels[: width - 1], "other") if channels else ()


def _dna(sample: Sample, kind: str, notes: list[str]) -> Floats:
    if kind == "dna":
        return np.asarray(sample.x.values, np.float32)
    if kind == "tokens" and sample.names and all(name.upper() in IUPAC for name in sample.names):
        notes.append("letters read as the bases of DNA")
        return base_columns("".join(sample.names))
    raise ValueError(f"{sample.name!r} holds no DNA, and this network takes the letters A, C, G, T")
