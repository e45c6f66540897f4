"""Sequences with an answer that can be computed: what networks learn from, and a few of them to look at.

Each task is drawn from a numpy generator, so that a sample on the screen and the examples of a training are of one
kind: tokens to be written backwards, dates to be written in another form, numbers to be sorted, points whose convex
hull is asked for, DNA with a planted motif on either strand, a noisy series to be predicted, pulses to be held, marked
values to be added, and letters that are repeated, once evenly and once at a changing pace.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.sequence.sample import sequence_sample

Values = NDArray[np.float32]
Tokens = NDArray[np.int64]

LETTERS = "abcdefgh"
BLANK = " "
TEXT = BLANK + "-0123456789" + "abcdefghijklmnopqrstuvwxyz"
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december")  # fmt: skip
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
BASES = "ACGT"
MOTIF = "TTGACA"  # the -35 box of bacterial promoters; the other strand reads TGTCAA
SITES = 2
WARPED = "abcdefghij"
NOTHING = len(WARPED)


def one_hot(tokens: Tokens, size: int) -> Values:
    """Return one-hot rows; (...,) of ints -> (..., size)."""
    return np.eye(size, dtype=np.float32)[tokens]


def encode(text: str, alphabet: str) -> Tokens:
    """Return the place of each letter in an alphabet, (T,); raise ValueError where a letter is not in it."""
    return np.array([alphabet.index(letter) for letter in text], dtype=np.int64)


def decode(tokens: Tokens, alphabet: str) -> str:
    """Return the text of (T,) tokens."""
    return "".join(alphabet[k] for k in tokens)


def letters(chance: np.random.Generator, count: int, steps: int) -> tuple[Tokens, Tokens]:
    """Draw texts of random letters with what they are backwards; (count, T), (count, T)."""
    drawn = chance.integers(0, len(LETTERS), (count, steps))
    return drawn, drawn[:, ::-1].copy()


def date_pair(chance: np.random.Generator) -> tuple[str, str]:
    """Draw a date of 1900 to 2099 in one of four forms; return it with the same as year-month-day."""
    month = int(chance.integers(12))
    day, year = int(chance.integers(1, DAYS[month] + 1)), int(chance.integers(1900, 2100))
    name = MONTHS[month] if chance.random() < 0.5 else MONTHS[month][:3]
    given = f"{day} {name} {year}" if chance.random() < 0.5 else f"{name} {day} {year}"
    return given, f"{year:04d}-{month + 1:02d}-{day:02d}"


def dates(chance: np.random.Generator, count: int, steps: int = 17) -> tuple[Tokens, Tokens]:
    """Draw dates and what they are to become, both filled up with blanks; (count, T), (count, T)."""
    pairs = [date_pair(chance) for _ in range(count)]
    given, wanted = (np.stack([encode(text.ljust(steps), TEXT) for text in side]) for side in zip(*pairs, strict=True))
    return given, wanted


def numbers(chance: np.random.Generator, count: int, size: int = 5) -> tuple[Values, Tokens]:
    """Draw sets of numbers from [0, 1] with the order that sorts them; (count, N, 1), (count, N)."""
    x = chance.random((count, size, 1)).astype(np.float32)
    return x, np.argsort(x[..., 0], axis=1, kind="stable")


def hull_order(points: NDArray[np.floating]) -> list[int]:
    """Return the corners of the convex hull, counter-clockwise, from the one of the lowest number; (N, 2).

    Andrew's monotone chain; a point on an edge is no corner.
    """
    order = sorted(range(len(points)), key=lambda k: (float(points[k, 0]), float(points[k, 1])))

    def half(indices: list[int]) -> list[int]:
        found: list[int] = []
        for k in indices:
            while len(found) > 1 and _turn(points[found[-2]], points[found[-1]], points[k]) <= 0:
                found.pop()
            found.append(k)
        return found[:-1]

    corners = half(order) + half(order[::-1])
    start = corners.index(min(corners))
    return corners[start:] + corners[:start]


def _turn(a: NDArray[np.floating], b: NDArray[np.floating], c: NDArray[np.floating]) -> float:
    """Return twice the area of the triangle, positive where it turns to the left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def points(chance: np.random.Generator, count: int, size: int) -> tuple[Values, Tokens]:
    """Draw points of the unit square with their hull, gone round again and again; (count, N, 2), (count, N)."""
    x = chance.random((count, size, 2)).astype(np.float32)
    hulls = [hull_order(one.astype(np.float64)) for one in x]
    return x, np.array([[hull[k % len(hull)] for k in range(size)] for hull in hulls], dtype=np.int64)


def other_strand(bases: Tokens) -> Tokens:
    """Return the reverse complement of A, C, G, T as 0 to 3, (..., T)."""
    return 3 - bases[..., ::-1]


def motif_sites(bases: Tokens) -> Values:
    """Say on which strand the motif lies centred at each base, (count, T) -> (count, T, 2): this one, the other one.

    The motif's six bases have their centre between two bases: the last of the first three counts on this strand, and
    the base that is opposite to it on the other strand.
    """
    motif = encode(MOTIF, BASES)
    size, half = len(motif), (len(motif) - 1) // 2

    def found(given: Tokens) -> NDArray[np.bool_]:
        hits = np.zeros(given.shape, bool)
        windows = np.lib.stride_tricks.sliding_window_view(given, size, axis=-1)
        hits[..., half : half + windows.shape[-2]] = (windows == motif).all(-1)
        return hits

    return np.stack([found(bases), found(other_strand(bases))[..., ::-1]], -1).astype(np.float32)


def dna(chance: np.random.Generator, count: int, steps: int = 60) -> tuple[Tokens, Values]:
    """Draw bases with SITES motifs planted on random strands; (count, T), and where they are, (count, T, 2)."""
    bases = chance.integers(0, 4, (count, steps))
    motif = encode(MOTIF, BASES)
    for row in bases:
        for _ in range(SITES):
            start = int(chance.integers(0, steps - len(motif) + 1))
            row[start : start + len(motif)] = motif if chance.random() < 0.5 else other_strand(motif)
    return bases, motif_sites(bases)


def waves(chance: np.random.Generator, count: int, steps: int, noise: float = 0.1) -> Values:
    """Draw sums of two sinusoids, of periods 16 and 5.5 steps and random phases, with noise; (count, T, 1)."""
    t = np.arange(steps)
    phases = chance.uniform(0, 2 * np.pi, (count, 2, 1))
    series = np.sin(2 * np.pi * t / 16 + phases[:, 0]) + 0.5 * np.sin(2 * np.pi * t / 5.5 + phases[:, 1])
    return (series + noise * chance.standard_normal(series.shape))[..., None].astype(np.float32)


def adding(chance: np.random.Generator, count: int, steps: int) -> tuple[Values, Values]:
    """Draw values in [0, 1], one marked in each half, and the sum of the marked two; (count, T, 2), (count,).

    Channel 0 is the value, channel 1 the mark, 1 at two steps and 0 at all others (Hochreiter, Schmidhuber, 1997).
    """
    x = np.zeros((count, steps, 2), np.float32)
    x[..., 0] = chance.random((count, steps))
    for low, high in ((0, steps // 2), (steps // 2, steps)):
        x[np.arange(count), chance.integers(low, high, count), 1] = 1.0
    return x, (x[..., 0] * x[..., 1]).sum(1)


def warped(chance: np.random.Generator, count: int, steps: int, most: int, even: bool = False) -> tuple[Values, Tokens]:
    """Draw letters that are repeated, with the letter before the present one; (count, T, 10), (count, T).

    No letter follows itself. Each is repeated `most` times if `even`, else 1 to `most` times, anew for every letter.
    What is asked for before the second letter is NOTHING.
    """
    jumps = chance.integers(1, len(WARPED), (count, steps))
    jumps[:, 0] = chance.integers(0, len(WARPED), count)
    letter = jumps.cumsum(1) % len(WARPED)
    repeats = np.full((count, steps), most) if even else chance.integers(1, most + 1, (count, steps))
    # which letter stands at each step: as many as have ended before
    at = (repeats.cumsum(1)[:, None] <= np.arange(steps)[:, None]).sum(-1)
    x = one_hot(np.take_along_axis(letter, at, 1), len(WARPED))
    before = np.take_along_axis(letter, np.maximum(at - 1, 0), 1)
    return x, np.where(at > 0, before, NOTHING)


def held(chance: np.random.Generator, count: int, steps: int) -> tuple[Values, Values]:
    """Draw pulses in noise, with the height of the last pulse at each step; (count, T, 1), (count, T, 1).

    A step in twelve has a pulse, 0.5 to 1.5 high; the noise has a spread of 0.1. Before the first pulse 0 is asked for.
    """
    shape = (count, steps)
    height = chance.uniform(0.5, 1.5, shape)
    pulse = chance.random(shape) < 1 / 12
    x = np.where(pulse, height, 0.1 * chance.standard_normal(shape))
    last = np.maximum.accumulate(np.where(pulse, np.arange(steps), -1), 1)
    wanted = np.where(last >= 0, np.take_along_axis(height, np.maximum(last, 0), 1), 0.0)
    return x[..., None].astype(np.float32), wanted[..., None].astype(np.float32)


def backwards_sample(steps: int) -> Sample:
    """Return random letters whose label is what they are backwards."""
    given, wanted = (side[0] for side in letters(np.random.default_rng(steps), 1, steps))
    text = decode(given, LETTERS)
    note = f"{text} is to become {decode(wanted, LETTERS)}"
    return sequence_sample(
        f"letters-{steps}", one_hot(given, len(LETTERS)), title=f"{steps} letters", label=wanted, names=tuple(text),
        channels=tuple(LETTERS), source="computed", notes=(note,),
    )  # fmt: skip


def date_sample(text: str = "7 september 2026", wanted: str = "2026-09-07", steps: int = 17) -> Sample:
    """Return one date, filled up with blanks, whose label is the same as year-month-day."""
    given, to = encode(text.ljust(steps), TEXT), encode(wanted.ljust(steps), TEXT)
    note = f"{text} is to become {wanted}"
    return sequence_sample(
        "date", one_hot(given, len(TEXT)), title=text, label=to, names=tuple(text.ljust(steps)), channels=tuple(TEXT),
        source="computed", notes=(note,),
    )  # fmt: skip


def numbers_sample(size: int) -> Sample:
    """Return numbers from [0, 1] whose label is the order that sorts them."""
    x, order = (side[0] for side in numbers(np.random.default_rng(size), 1, size))
    names = tuple(f"{v:.3f}" for v in x[:, 0])
    return sequence_sample(
        f"numbers-{size}", x, title=f"{size} numbers to sort", label=order, names=names, channels=("number",),
        source="computed", notes=("label: which comes first, which second, ...",),
    )  # fmt: skip


def points_sample(size: int) -> Sample:
    """Return points of the unit square whose label is their convex hull, gone round again and again."""
    x, order = (side[0] for side in points(np.random.default_rng(size), 1, size))
    corners = len(hull_order(x.astype(np.float64)))
    return sequence_sample(
        f"points-{size}", x, title=f"{size} points", label=order, channels=("x", "y"), source="computed",
        notes=(f"{corners} of the {size} points are corners of the hull",),
    )  # fmt: skip


def dna_sample(steps: int = 60) -> Sample:
    """Return bases with planted motifs."""
    bases, sites = (side[0] for side in dna(np.random.default_rng(3), 1, steps))
    this, other = (tuple(map(int, np.flatnonzero(column))) for column in sites.T)
    note = f"{MOTIF} at {this} on this strand and at {other} on the other one"
    return sequence_sample(
        "planted-dna", one_hot(bases, 4), title="DNA with sites on both strands", names=tuple(decode(bases, BASES)),
        channels=tuple(BASES), source="computed", notes=(note,),
    )  # fmt: skip


def waves_sample(steps: int = 96) -> Sample:
    """Return a noisy sum of two sinusoids."""
    note = "periods of 16 and 5.5 steps; the noise of 0.1 cannot be predicted"
    return sequence_sample(
        "two-waves", waves(np.random.default_rng(5), 1, steps)[0], title="Two waves and noise", channels=("value",),
        source="computed", notes=(note,),
    )  # fmt: skip


def adding_sample(steps: int) -> Sample:
    """Return values and marks; the sum of the two marked values is to be said after the last step."""
    x, total = (side[0] for side in adding(np.random.default_rng(steps), 1, steps))
    first, second = np.flatnonzero(x[:, 1]).tolist()
    note = (
        f"marked: {x[first, 0]:.3f} at step {first} and {x[second, 0]:.3f} at step {second}; their sum is {total:.3f}"
    )
    return sequence_sample(
        f"adding-{steps}", x, title=f"Two of {steps} values to add", channels=("value", "mark"), source="computed",
        notes=(note,),
    )  # fmt: skip


def warped_sample(most: int, even: bool, steps: int = 100) -> Sample:
    """Return letters, each repeated evenly or at a changing pace; the label is the letter before."""
    x, wanted = (side[0] for side in warped(np.random.default_rng(2), 1, steps, most, even))
    names = tuple(WARPED[k] for k in x.argmax(1))
    how = f"each letter stands {most} times" if even else f"each letter stands 1 to {most} times"
    return sequence_sample(
        "even-warp" if even else "changing-warp", x, title="Letters at an even pace" if even else
        "Letters at a changing pace", label=wanted, names=names, channels=tuple(WARPED), source="computed",
        notes=(f"{how}; the letter before it is asked for",),
    )  # fmt: skip


def held_sample(steps: int = 96) -> Sample:
    """Return pulses in noise, each to be remembered until the next one."""
    x, _ = held(np.random.default_rng(4), 1, steps)
    pulses = int((x[0] > 0.45).sum())
    return sequence_sample(
        "held-pulses", x[0], title="Pulses to hold", channels=("value",), source="computed",
        notes=(f"{pulses} pulses in noise of 0.1; the height of the last one is asked for at every step",),
    )  # fmt: skip


def bag_sample(size: int) -> Sample:
    """Return a set of numbers from [0, 1], without edges and without order."""
    x, _ = numbers(np.random.default_rng(size), 1, size)
    return graph_sample(
        f"bag-{size}", x[0], np.zeros((2, 0), np.int64), title=f"A set of {size} numbers", domain="set",
        source="computed", notes=("numbers drawn evenly from 0 to 1",),
    )  # fmt: skip


SAMPLES = (
    *(
        SampleSpec(f"letters-{n}", f"{n} letters", "sequence", partial(backwards_sample, n), "To be written backwards.")
        for n in (8, 12, 24)
    ),
    SampleSpec("date", "A date", "sequence", date_sample, "To be written as year-month-day."),
    SampleSpec("numbers-5", "5 numbers", "sequence", partial(numbers_sample, 5), "To be sorted by pointing at them."),
    SampleSpec("points-8", "8 points", "sequence", partial(points_sample, 8), "Whose convex hull is to be pointed at."),
    SampleSpec(
        "planted-dna", "DNA with sites on both strands", "sequence", dna_sample, "One motif lies on either strand."
    ),
    *(
        SampleSpec(f"adding-{n}", f"Two of {n} values to add", "sequence", partial(adding_sample, n), "Two are marked.")
        for n in (60, 100, 200)
    ),
    SampleSpec(
        "even-warp",
        "Letters at an even pace",
        "sequence",
        partial(warped_sample, 16, True),
        "Each stands for 16 steps.",
    ),
    SampleSpec(
        "changing-warp",
        "Letters at a changing pace",
        "sequence",
        partial(warped_sample, 32, False),
        "Each stands for 1 to 32 steps.",
    ),
    SampleSpec("held-pulses", "Pulses to hold", "sequence", held_sample, "The last pulse is to be remembered."),
    SampleSpec("two-waves", "Two waves and noise", "sequence", waves_sample, "To be predicted one step ahead."),
    *(SampleSpec(f"bag-{n}", f"{n} numbers", "set", partial(bag_sample, n), "A set without order.") for n in (5, 12)),
)
