"""Dialogues with profiles as text, the format in which Persona-chat is published; a file holds many turns.

    1 your persona: i have a dog.
    2 partner's persona: i like to cook.
    3 hello , do you have pets ?<tab>yes , a dog.<tab><tab>no .|yes , a dog.|i am fine .

Lines are numbered from 1 in each dialogue. A turn is what the partner says, the reply, an empty column, and the
candidates with "|" between them. "file.txt#12" is the twelfth turn of the file, "file.txt#12:words" the same as a
sequence of words instead of a set of sentences.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from explorer.data.formats.checks import Broken, refusing
from explorer.data.readers import Fit, Reader
from explorer.declare.samples import Sample
from explorer.spaces.sequence.readers.assembly import decoded, head_of
from explorer.spaces.sequence.samples.persona_chat import THEIRS, YOURS, Dialogue, Exchange, turn_set, turn_words

MOST_CANDIDATES = 1000
WORDS = "words"
_CORRECT = "correct that line"
_FORM = "write the partner's words, a tab, the reply, two tabs, and the candidates with | between them"
_LINE = re.compile(r"([0-9]{1,6}) (.*)", re.DOTALL)
_PART = re.compile(r"(?:([0-9]{1,9})(?::words)?|words)", re.ASCII)
# a number that is missing is told; without a profile only the tabs tell a dialogue from other text
_LOOKS = re.compile(r"(?:[0-9]+ )?(?:your|partner's) persona: |1 [^\t\n]+\t[^\t\n]+(?:\t[^\t\n]*){0,2}$", re.MULTILINE)


def _sniff(head: bytes) -> bool:
    return head.startswith((b"1 your persona: ", b"1 partner's persona: "))


def _rates(path: Path) -> Fit:
    text = head_of(path)
    return Fit.CLEAR if text is not None and _LOOKS.match(text) is not None else Fit.NO


def _exchange(line: str, start: int, number: int, notes: list[str]) -> Exchange:
    """Return the turn that stands in a line from `start` on."""
    columns = line[start:].split("\t")
    if len(columns) < 2:
        raise Broken(f"line {number}, column {len(line) + 1}: a turn has no tab and so no reply", _FORM)
    if len(columns) > 4:
        raise Broken(f"line {number} has {len(columns)} columns and a turn has 4", _FORM)
    query, reply = columns[0].strip(), columns[1].strip()
    for what, text in (("what the partner says", query), ("the reply", reply)):
        if not text:
            raise Broken(f"line {number}: {what} is empty", _CORRECT)
    if len(columns) < 4:
        _once(notes, f"line {number}", "has no candidates; the reply is the only one")
        return Exchange(query, reply, (reply,))
    written = columns[3].split("|")
    candidates = tuple(text.strip() for text in written)
    if "" in candidates:
        k = candidates.index("")
        at = len(line) - len(columns[3]) + sum(len(text) + 1 for text in written[:k]) + 1
        raise Broken(f"line {number}, column {at}: candidate {k + 1} is empty", _CORRECT)
    if len(candidates) > MOST_CANDIDATES:
        raise Broken(
            f"line {number} has {len(candidates)} candidates and the most is {MOST_CANDIDATES}", "leave some out"
        )
    if reply not in candidates:
        _once(notes, f"line {number}", "has a reply that is no candidate; it is added to them")
        candidates = (*candidates, reply)
    return Exchange(query, reply, candidates)


def _once(notes: list[str], where: str, what: str) -> None:
    """Say of the first line what may be true of many."""
    if not any(what in note for note in notes):
        notes.append(f"{where} {what}")


def dialogues_in(text: str) -> tuple[list[Dialogue], list[str]]:
    """Return the dialogues of a text and what is worth telling of it.

    Raises:
        Broken: a line that is none of a dialogue, with its number.
    """
    dialogues: list[Dialogue] = []
    notes: list[str] = []
    own: list[str] = []
    partner: list[str] = []
    exchanges: list[Exchange] = []
    last = started = 0

    def finish() -> None:
        if last and not exchanges:
            raise Broken(f"the dialogue that begins in line {started} has no turn", _FORM)
        if exchanges:
            dialogues.append(Dialogue(tuple(own), tuple(partner), tuple(exchanges)))
        for kept in (own, partner, exchanges):
            kept.clear()

    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise Broken(
                f"line {number}, column 1: no number and a space begin the line",
                "number the lines of a dialogue from 1",
            )
        count, rest = int(found[1]), found[2]
        if count == 1:
            finish()
            started = number
        elif count != last + 1:
            before = f"after {last}" if last else "and begins the file"
            raise Broken(f"line {number} has the number {count} {before}", "number the lines of a dialogue from 1")
        last = count
        low = rest.lower()
        if (yours := low.startswith(YOURS.rstrip())) or low.startswith(THEIRS.rstrip()):
            sentence = rest[len(YOURS if yours else THEIRS) - 1 :].strip()
            if exchanges:
                raise Broken(f"line {number} tells of a persona after the first turn", "put it before the turns")
            if not sentence or "\t" in sentence:
                raise Broken(
                    f"line {number}: a sentence of a persona is {'cut by a tab' if sentence else 'empty'}", _CORRECT
                )
            (own if yours else partner).append(sentence)
        else:
            exchanges.append(_exchange(line, found.start(2), number, notes))
    finish()
    if not dialogues:
        raise Broken("it has no dialogue", _FORM)
    return dialogues, notes


def _read(path: Path, part: str = "") -> Sample:
    with refusing(path, "dialogue with profiles"):
        wanted = _PART.fullmatch(part) if part else None
        if part and wanted is None:
            raise Broken(f"it has no part {part[:40]!r}", "write #12 for turn 12, or #12:words for its words")
        dialogues, notes = dialogues_in(decoded(path))
        ends = list(accumulate(len(dialogue.exchanges) for dialogue in dialogues))
        count = ends[-1]
        number = int(wanted[1]) if wanted is not None and wanted[1] else 1
        if not 1 <= number <= count:
            raise Broken(f"it has no turn {number}", f"choose one from 1 to {count}")
        k = bisect_right(ends, number - 1)
        dialogue = dialogues[k]
        turn = dialogue.turn(number - 1 - ends[k] + len(dialogue.exchanges))
        others = f"; {path.name}#2 is the next one" if count > number == 1 else ""
        notes.append(f"turn {number} of {count}, in dialogue {k + 1} of {len(dialogues)}{others}")
        told = tuple(notes)
        title = f"{path.name}, turn {number}" if part else path.name
        if part.endswith(WORDS):
            sample = turn_words(turn, path.stem, title=title, source=str(path), notes=told)
        else:
            sample = turn_set(turn, path.stem, title, str(path), told)
        return replace(sample, parts=count)


READER = Reader(
    "persona-chat", "Dialogues with profiles (Persona-chat)", (".persona", ".txt"), "set", _sniff, _read,
    part=_read, rates=_rates,
)  # fmt: skip
