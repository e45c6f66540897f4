"""Dialogues between two people with profiles, a turn of one as a set of sentences or as a sequence of words.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018,
section 3: a person replies to what was said last, knowing the sentences of a profile, and the reply stands among
others in a list of candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from explorer.declare.samples import Sample
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.sequence.sample import sequence_sample
from explorer.spaces.sequence.samples.tokens import one_hot, words_of

ROLES = ("in profile", "in history", "is query", "is candidate")  # the first columns of a set; no word has a space
RIGHT = len(ROLES)  # the class of the candidate that was really said
# symbols between the words of a sequence; UNKNOWN stands for every word that a network does not know
PROFILE, PARTNER, OWN, BLANK, END, UNKNOWN = "¶", "«", "»", "_", "■", "�"
SYMBOLS = (PROFILE, PARTNER, OWN, BLANK, END, UNKNOWN)
LONGEST_REPLY = 16  # steps, the end included, that a sequence leaves for the reply
YOURS, THEIRS = "your persona: ", "partner's persona: "


@dataclass(frozen=True, slots=True)
class Turn:
    """An example: what is known when a reply is due, the reply, and the candidates, of which it is one.

    `history` is what was said before `query`, the partner first or, where a dialogue begins so, in turns.
    """

    profile: tuple[str, ...]
    history: tuple[str, ...]
    query: str
    reply: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One line of a dialogue: what the partner says, the reply, and the candidates for it."""

    query: str
    reply: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The profile of the person who replies, that of the partner where it is told, and what they say."""

    own: tuple[str, ...]
    partner: tuple[str, ...]
    exchanges: tuple[Exchange, ...]

    @property
    def profile(self) -> tuple[str, ...]:
        """Return all that is known of both, whose it is where it is the partner's."""
        return (*self.own, *(THEIRS + sentence for sentence in self.partner))

    def turn(self, k: int) -> Turn:
        """Return the k-th exchange with all that was said before it."""
        before = tuple(said for e in self.exchanges[:k] for said in (e.query, e.reply))
        now = self.exchanges[k]
        return Turn(self.profile, before, now.query, now.reply, now.candidates)


def turns_of(dialogues: Iterable[Dialogue]) -> Iterator[Turn]:
    """Return the turns of all dialogues, one after the other."""
    return (dialogue.turn(k) for dialogue in dialogues for k in range(len(dialogue.exchanges)))


def text_of(dialogues: Iterable[Dialogue]) -> str:
    """Return dialogues in the published format: numbered lines, which begin at 1 with each dialogue."""
    lines: list[str] = []
    for dialogue in dialogues:
        told = [YOURS + s for s in dialogue.own] + [THEIRS + s for s in dialogue.partner]
        told += [f"{e.query}\t{e.reply}\t\t{'|'.join(e.candidates)}" for e in dialogue.exchanges]
        lines += [f"{number} {line}" for number, line in enumerate(told, 1)]
    return "".join(f"{line}\n" for line in lines)


def words_in(sentence: str) -> tuple[str, ...]:
    """Return the words of a sentence; whose profile it is from is none of them."""
    return words_of(sentence.removeprefix(THEIRS))


def turn_set(turn: Turn, name: str, title: str = "", source: str = "", notes: tuple[str, ...] = ()) -> Sample:
    """Return a turn as a set: an element for each sentence, x its role, one-hot, and how often each word is in it.

    The classes are the roles, and RIGHT for the reply that was given.
    """
    sentences = (*turn.profile, *turn.history, turn.query, *turn.candidates)
    roles = np.repeat(np.arange(4), [len(turn.profile), len(turn.history), 1, len(turn.candidates)])
    bags = [words_in(sentence) for sentence in sentences]
    known = tuple(sorted({word for bag in bags for word in bag}))
    at = {word: k for k, word in enumerate(known)}
    counts = np.zeros((len(bags), len(known)), np.float32)
    for row, bag in zip(counts, bags, strict=True):
        np.add.at(row, [at[word] for word in bag], 1.0)
    label = roles.copy()
    label[len(roles) - len(turn.candidates) + turn.candidates.index(turn.reply)] = RIGHT
    told = f"classes: 0 profile, 1 history, 2 query, 3 candidate, 4 the reply that was given: {turn.reply!r}"
    sample = graph_sample(
        name, np.concatenate([one_hot(roles, len(ROLES)), counts], 1), np.zeros((2, 0), np.int64), domain="set",
        title=title, label=label, names=sentences, source=source, notes=(*notes, told),
    )  # fmt: skip
    return replace(sample, channels=(*ROLES, *known))


def tokens_of(turn: Turn) -> tuple[str, ...]:
    """Return the words of profile, history and query, a symbol before each sentence, then blanks for the reply."""
    speakers = [(PARTNER, OWN)[k % 2] for k in range(len(turn.history))]
    marked = [
        *((PROFILE, s) for s in turn.profile),
        *zip(speakers, turn.history, strict=True),
        (PARTNER, turn.query),
    ]
    words = [word for mark, sentence in marked for word in (mark, *words_in(sentence))]
    return (*words, *(BLANK,) * LONGEST_REPLY)


def turn_words(
    turn: Turn,
    name: str,
    vocabulary: tuple[str, ...] | None = None,
    title: str = "",
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Return a turn as a sequence of words, one-hot over `vocabulary` or over the words that occur.

    The label is the reply, at the blanks that are left for it.
    """
    tokens, reply = tokens_of(turn), (*words_in(turn.reply)[: LONGEST_REPLY - 1], END)
    known = vocabulary or (*SYMBOLS, *sorted({*tokens, *reply} - set(SYMBOLS)))
    at = {word: k for k, word in enumerate(known)}
    numbers = np.array([at.get(word, at[UNKNOWN]) for word in tokens], np.int64)
    label = np.full(len(tokens), -1, np.int64)
    start = len(tokens) - LONGEST_REPLY
    label[start : start + len(reply)] = [at.get(word, at[UNKNOWN]) for word in reply]
    told = f"label: the reply that was given, {turn.reply!r}; {PROFILE} profile, {PARTNER} partner, {OWN} oneself"
    return sequence_sample(
        name, one_hot(numbers, len(known)), title=title, label=label, names=tokens, channels=known, source=source,
        notes=(*notes, told),
    )  # fmt: skip
