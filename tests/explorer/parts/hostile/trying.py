"""Have a process read one changed file after the other, and count what comes of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

from explorer.data.reader_process.asking import Process
from explorer.data.reader_process.bounds import MB
from explorer.data.readers import ReadError
from explorer.declare.samples import Sample
from tests.explorer.parts.hostile.accepted import accepted_files
from tests.explorer.parts.hostile.mutations import changed

SLOW = 5.0  # seconds of the processor for a file of some KB; what takes longer hangs
BUDGET = 64 * MB  # of memory, and three times what was read
LIBRARIES = 192 * MB  # of memory, once for a process: what it imports for a format
LONGEST = 300  # characters of a sentence
# what a person cannot make anything of: bytes, objects, Python's and libraries' own words
BAD = re.compile(
    r"[\x00-\x1f\x7f-\x9f]|(?<![\w'\"])b['\"](?=[^\s;,.])|\\x[0-9a-f]{2}| at 0x[0-9a-f]{6}"
    r"|<[\w.]+ object|<class|Traceback|Errno|out of bounds"
    r"|NoneType|object is not|has no attribute|list index|positional argument|not subscriptable|cannot reshape"
    r"|could not be broadcast|invalid literal|codec can't|unpack requires|not enough values|codepoint|ndarray|ufffd"
    r"|well-formed|Expecting|delimiter|Exceeds the limit|decoder lost|malformed|Error :|Error in"
)


def fault_of(sentence: str, path: Path) -> str:
    """Return what is wrong with a sentence, "" where nothing is."""
    if not sentence.startswith(f"cannot read {path.name}: ") or not sentence.endswith("."):
        return "form"
    if len(sentence) > LONGEST or "\n" in sentence:
        return "length"
    if not sentence.isprintable() or (found := BAD.search(sentence)):
        return f"words {found[0]!r}" if sentence.isprintable() else "bytes"
    return "defect" if "its reader failed" in sentence or "the reader '" in sentence else ""


def result_bytes(sample: Sample) -> int:
    """Return how much memory the numbers of a sample take, and the texts."""
    return sum(signal.values.nbytes for signal in sample.signals.values()) + 64 * len(sample.names)


@dataclass
class Outcome:
    """The outcome of many files: how many of each kind, and examples of what must not be."""

    counts: Counter[str] = field(default_factory=Counter)
    seen: list[str] = field(default_factory=list)
    fallback: Counter[str] = field(default_factory=Counter)  # refused without a check of their own, by case
    seconds: float = 0.0
    slowest: tuple[float, str] = (0.0, "")
    largest: tuple[int, str] = (0, "")

    @property
    def faults(self) -> int:
        return sum(count for kind, count in self.counts.items() if kind not in ("read", "refused"))

    def __str__(self) -> str:
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        more = "".join(f"\n  {one}" for one in self.seen[:60])
        return (
            f"{sum(self.counts.values())} files in {self.seconds:.0f} s: {told}; "
            f"slowest {self.slowest[0]:.1f} s ({self.slowest[1]}), most memory {self.largest[0] // MB} MB "
            f"({self.largest[1]}); without a check of their own: {self.fallback.total()}{more}"
        )


def mutants(count: int, seed: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield (case, name, content), each case in turn; the same for the same seed."""
    cases = list(accepted_files().items())
    for k in range(count):
        case, (name, content) = cases[k % len(cases)]
        yield f"{case} {seed}:{k}", name, changed(content, Random(f"{seed}:{k}"))


def tried(files: Iterator[tuple[str, str, bytes]], told: Callable[[str], None] = lambda _: None) -> Outcome:
    """Read all files and count what comes of them."""
    outcome, process, began = Outcome(), Process(), monotonic()
    imported = 0
    with TemporaryDirectory() as folder:
        for number, (case, name, content) in enumerate(files):
            path = Path(folder, name)
            path.write_bytes(content)
            if not process.alive:
                process, imported = Process(), 0
            kind, size, sentence = "read", 0, ""
            try:
                sample = process.ask("read", path, "", {})
                size = result_bytes(sample)
                if wrong := [one for one in sample.notes if len(one) > LONGEST or not one.isprintable()]:
                    kind, sentence = "bad note", wrong[0]
            except ReadError as error:
                kind, sentence = _kind(str(error), path)
            memory, seconds = process.spent if process.alive else (0, 0.0)
            process.spent = 0, 0.0
            over = memory - 3 * size - BUDGET
            if over > 0 and imported + over < LIBRARIES and kind in ("read", "refused"):
                imported += over
            elif over > 0:
                kind = f"{kind}, more memory than three results and 64 MB"
            if seconds > SLOW:
                kind = "hang"
            outcome.counts[kind] += 1
            outcome.slowest = max(outcome.slowest, (seconds, case))
            outcome.largest = max(outcome.largest, (memory, case))
            if re.search(r": the [\w \-]+ is damaged;", sentence):
                outcome.fallback[case.split()[0]] += 1
            if kind not in ("read", "refused"):
                outcome.seen.append(f"{kind}: {case} ({memory // MB} MB, {seconds:.1f} s) {sentence!r}")
                if keep := os.environ.get("EQUISCOPE_FUZZ_KEEP"):
                    Path(keep, f"{case.replace(' ', '-').replace(':', '-')}-{name}").write_bytes(content)
            path.unlink()
            if (number + 1) % 1000 == 0:
                told(f"{number + 1} files, {outcome.faults} faults, {monotonic() - began:.0f} s")
    process.kill()
    outcome.seconds = monotonic() - began
    return outcome


def _kind(sentence: str, path: Path) -> tuple[str, str]:
    if "gave no answer" in sentence:
        return "answer that was not understood", sentence
    if "crashed" in sentence:
        return "crash", sentence
    if "takes longer than" in sentence:
        return "hang", sentence
    if "MB of memory" in sentence:
        return "stopped for its memory", sentence
    fault = fault_of(sentence, path)
    return (f"bad sentence ({fault})" if fault else "refused"), sentence
