"""Sequences of symbols, one-hot: warped ones, the copy task, and a sentence as characters and as words."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.sequence.sample import sequence_sample
from explorer.spaces.sequence.samples.series import FOLDER

Tokens = NDArray[np.int64]

TEXT = FOLDER / "alice.txt"
ALPHABET = 10  # symbols of the warped sequences
WARPED = 100  # steps
DIGITS = tuple("0123456789")
COPIED, BLANK, SIGNAL = "abcdefgh", "_", "!"
_CARROLL = "Lewis Carroll, Alice's Adventures in Wonderland, 1865 (public domain)"


def one_hot(tokens: Tokens, size: int) -> NDArray[np.float32]:
    """Return (steps, size) of (steps,) numbers of symbols."""
    return np.eye(size, dtype=np.float32)[tokens]


def typed_text(text: str, name: str) -> Sample:
    """Return the characters of a text that was typed, one-hot over those that occur.

    Raises:
        ValueError: there are none.
    """
    if not text.strip():
        raise ValueError(f"{name!r} has no text; write one behind the colon, as in 'text:The cat sat.'")
    alphabet = tuple(sorted(set(text)))
    x = one_hot(np.array([alphabet.index(c) for c in text], np.int64), len(alphabet))
    return sequence_sample(
        name, x, title=text if len(text) <= 40 else text[:39] + "…", names=tuple(text), channels=alphabet
    )


def base(length: int, chance: np.random.Generator) -> Tokens:
    """Draw symbols without equal neighbours, so that only a warp repeats a symbol."""
    steps = chance.integers(1, ALPHABET, length)
    return np.asarray(np.cumsum(steps) % ALPHABET, np.int64)


def previous(tokens: Tokens) -> Tokens:
    """Return at each step the last symbol that was not the present one, -1 before there is one."""
    changes = np.concatenate([[False], tokens[1:] != tokens[:-1]])
    before = np.concatenate([[-1], tokens[:-1]])
    last = np.maximum.accumulate(np.where(changes, np.arange(len(tokens)), 0))
    return np.asarray(before[last], np.int64)


def copy_task(delay: int, chance: np.random.Generator) -> tuple[Tokens, Tokens]:
    """Draw one example of the copy task: 10 symbols of 8, delay - 1 blanks, a signal, 10 blanks; and what is wanted.

    Wanted are delay + 10 blanks and then the 10 symbols. S. Hochreiter, J. Schmidhuber, 1997; as in M. Arjovsky,
    A. Shah, Y. Bengio, Unitary evolution recurrent neural networks, 2016, section 4.1. 8 is the blank, 9 the signal.
    """
    symbols = chance.integers(0, 8, 10)
    given = np.concatenate([symbols, np.full(delay - 1, 8), [9], np.full(10, 8)])
    return given, np.concatenate([np.full(delay + 10, 8), symbols])


def _warped(kind: str) -> Sample:
    """Make a base sequence, or the same with each symbol repeated (C. Tallec, Y. Ollivier, 2018, section 3)."""
    chance = np.random.default_rng(6)
    tokens = base(WARPED, chance)
    if kind == "base":
        title, told = "Symbols, not warped", "each symbol once"
        tokens = tokens[:25]
    elif kind == "uniform":
        title, told = "Symbols, each four times", "a uniform warp: each symbol four times"
        tokens = np.repeat(tokens, 4)[:WARPED]
    else:
        title, told = "Symbols, once to eight times", "a variable warp: each symbol from once to eight times"
        tokens = np.repeat(tokens, chance.integers(1, 9, len(tokens)))[:WARPED]
    return sequence_sample(
        f"warp-{kind}", one_hot(tokens, ALPHABET), title=title, label=previous(tokens),
        names=tuple(DIGITS[k] for k in tokens), channels=DIGITS, source="seed 6",
        notes=(told, "label: the last symbol that was another one"),
    )  # fmt: skip


def _copy() -> Sample:
    given, wanted = copy_task(20, np.random.default_rng(7))
    names = COPIED + BLANK + SIGNAL
    return sequence_sample(
        "copy-task", one_hot(given, len(names)), title="Copy task, delay 20", label=wanted,
        names=tuple(names[k] for k in given), channels=tuple(names), source="seed 7",
        notes=("ten symbols are to be said again after the signal '!'", "label: what is to be said, 8 for nothing"),
    )  # fmt: skip


def text_sample(name: str, title: str, texts: tuple[str, ...], source: str = "", notes: tuple[str, ...] = ()) -> Sample:
    """Return texts (characters, words) as a sequence, one-hot over those that occur, in ascending order."""
    alphabet = tuple(sorted(set(texts)))
    at = {text: k for k, text in enumerate(alphabet)}
    tokens = np.array([at[text] for text in texts], np.int64)
    return sequence_sample(
        name, one_hot(tokens, len(alphabet)), title=title, names=texts, channels=alphabet, source=source,
        notes=(f"{len(alphabet)} different symbols", *notes),
    )  # fmt: skip


def words_of(text: str) -> tuple[str, ...]:
    """Split a text into words, in lower case, and marks of punctuation."""
    return tuple(re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text.lower()))


def _alice(words: bool) -> Sample:
    text = TEXT.read_text(encoding="utf-8").strip()
    if words:
        return text_sample("alice-words", "A sentence in words", words_of(text), _CARROLL)
    return text_sample("alice-characters", "A sentence in characters", tuple(text), _CARROLL)


SAMPLES = (
    SampleSpec("warp-base", "Symbols, not warped", "sequence", partial(_warped, "base"),
    "A random text of ten symbols.",
               ("tokens", "warp")),
    SampleSpec("warp-uniform", "Uniform warp", "sequence", partial(_warped, "uniform"),
               "The same text, each symbol four times.", ("tokens", "warp")),
    SampleSpec("warp-variable", "Variable warp", "sequence", partial(_warped, "variable"),
               "The same text, each symbol from once to eight times.", ("tokens", "warp")),
    SampleSpec("copy-task", "Copy task", "sequence", _copy, "Ten symbols are to be remembered over a delay.",
               ("tokens", "task")),
    SampleSpec("alice-characters", "A sentence in characters", "sequence", partial(_alice, False),
               "The first sentence of Alice in Wonderland.", ("tokens", "text")),
    SampleSpec("alice-words", "A sentence in words", "sequence", partial(_alice, True),
               "The first sentence of Alice in Wonderland.", ("tokens", "text")),
)  # fmt: skip
