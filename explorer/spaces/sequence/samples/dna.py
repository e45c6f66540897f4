"""DNA: a motif planted on both strands, a piece of a real genome, and records of unequal length."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.sequence.network.fit import BASES, base_columns
from explorer.spaces.sequence.sample import sequence_sample
from explorer.spaces.sequence.samples.series import FOLDER

GENOME = FOLDER / "phix174.fasta"
MOTIF = "TTGACA"  # the -35 box of bacterial promoters; the other strand reads TGTCAA
_OTHER = str.maketrans("ACGT", "TGCA")


def reverse_complement(letters: str) -> str:
    """Return what the other strand reads; N stays N."""
    return letters.translate(_OTHER)[::-1]


def planted(steps: int, places: tuple[int, ...], other: tuple[int, ...], seed: int) -> tuple[str, NDArray[np.int64]]:
    """Draw random bases with the motif at `places` and its reverse complement at `other`.

    Returns:
        the letters, and (steps,) 1 where the motif lies on this strand, 2 where on the other, else 0. There are no
        further copies: a base of each that came by chance is drawn again.
    """
    chance = np.random.default_rng(seed)
    letters = [BASES[k] for k in chance.integers(0, 4, steps)]
    label = np.zeros(steps, np.int64)
    for strand, (at, motif) in enumerate(((places, MOTIF), (other, reverse_complement(MOTIF))), 1):
        for place in at:
            letters[place : place + len(motif)] = motif
            label[place : place + len(motif)] = strand
    while strays := _strays("".join(letters), {*places, *other}):
        free = [k for k in range(strays[0], strays[0] + len(MOTIF)) if not label[k]]
        letters[free[0]] = BASES[int(chance.integers(0, 4))]
    return "".join(letters), label


def _strays(text: str, wanted: set[int]) -> list[int]:
    """Return where the motif lies on either strand without having been put there."""
    motifs = (MOTIF, reverse_complement(MOTIF))
    return [k for k in range(len(text)) if text.startswith(motifs, k) and k not in wanted]


def dna_sample(name: str, title: str, letters: str, **more: object) -> Sample:
    """Return letters of DNA as a sequence with the columns A, C, G, T."""
    return sequence_sample(
        name, base_columns(letters), title=title, names=tuple(letters.upper()), channels=tuple(BASES),
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def _motif(other: bool) -> Sample:
    letters, label = planted(120, (20, 84), (51,), 8)
    if other:
        letters, label = reverse_complement(letters), np.array([0, 2, 1])[label[::-1]]
    strands = "the other strand of dna-motif" if other else f"{MOTIF} twice on this strand, once on the other one"
    name, title = ("dna-motif-reversed", "DNA, the other strand") if other else ("dna-motif", "DNA with a motif")
    return dna_sample(
        name, title, letters, label=label, source="seed 8",
        notes=(strands, "label: 1 the motif on this strand, 2 on the other one"),
    )  # fmt: skip


def _genome() -> Sample:
    from explorer.spaces.sequence.readers.fasta import READER

    made = READER.read(GENOME)
    return replace(made, name="phix174", title="phiX174, 500 bases", source="NC_001422.1, bases 1 to 500")


def _unknown() -> Sample:
    letters = list(planted(96, (40,), (), 9)[0])
    letters[10:16], letters[70], letters[80] = "NNNNNN", "R", "Y"
    return dna_sample(
        "dna-unknown", "DNA with unknown letters", "".join(letters), source="seed 9",
        notes=("N is 0.25 of each base, R is A or G, Y is C or T",),
    )  # fmt: skip


def _records() -> Sample:
    parts = [planted(steps, (steps // 2,), (), 10 + steps)[0] for steps in (40, 75, 58)]
    return dna_sample(
        "dna-records", "Three pieces of DNA", "".join(parts), batch=np.repeat(np.arange(3), [len(p) for p in parts]),
        source="seeds 50, 85, 68", notes=("sequences of 40, 75, 58 steps",),
    )  # fmt: skip


SAMPLES = (
    SampleSpec("dna-motif", "DNA with a motif", "sequence", partial(_motif, False),
               "One motif on both strands of made-up DNA.", ("dna",)),
    SampleSpec("dna-motif-reversed", "DNA, the other strand", "sequence", partial(_motif, True),
               "The same piece, read on the other strand.", ("dna",)),
    SampleSpec("phix174", "phiX174", "sequence", _genome, "The first 500 bases of the genome of a phage.", ("dna",)),
    SampleSpec("dna-unknown", "DNA with unknown letters", "sequence", _unknown,
    "N and other letters that leave it open.",
               ("dna",)),
    SampleSpec("dna-records", "Three pieces of DNA", "sequence", _records, "Of unequal length, in one batch.",
               ("dna", "batch")),
)  # fmt: skip
