"""Say which cases are judged rightly today: `python -m tests.foreign.survey [KIND ...]`; not a test.

--device=cuda:0 asks networks that are on a GPU, --part=2/8 asks every eighth case from the second on.
--truth asks the oracle as well, --long prints every answer, --write puts what is wrong into known.py.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # on tensors as small as these more threads wait for each other

from tests.foreign import known
from tests.foreign.case import BROKEN, HOLDS, Case
from tests.foreign.catalogue import KINDS, cases
from tests.foreign.contract import RIGHT, answer
from tests.foreign.oracle import Oracle, blamed


def main(words: list[str]) -> None:
    """Print a line for each case that is not right, then a table."""
    options = dict(w[2:].split("=") for w in words if "=" in w)
    part, parts = map(int, options.get("part", "1/1").split("/"))
    wanted = [w for w in words if not w.startswith("-")] or list(KINDS)
    entries, table = [], []
    for kind in wanted:
        found: Counter[str] = Counter()
        for case in cases(kind)[part - 1 :: parts]:
            start = time.perf_counter()
            untrue = ""
            if "--truth" in words:
                untrue = truth(case)
            given = answer(case, options.get("device", "cpu")) if "--truth-only" not in words else None
            took = time.perf_counter() - start
            found[given.word if given else RIGHT] += 1
            if untrue or (given and (given.word != RIGHT or "--long" in words)):
                word = given.word if given else "-"
                print(
                    f"{kind}: {case.name}  [{case.truth} {case.culprit}] -> {word} ({took:.1f} s) {untrue}", flush=True
                )
                print(f"      {given.said[:300] if given else ''}", flush=True)
            if given and given.word != RIGHT:
                entries.append((f"{kind}: {case.name}", given.word))
        table.append((kind, sum(found.values()), found[RIGHT], found))
    for kind, total, right, found in table:
        rest = ", ".join(f"{n} {word}" for word, n in found.most_common() if word != RIGHT)
        print(f"{kind:<12} {total:>4} {right:>4}  {rest}")
    print(f"{'all':<12} {sum(row[1] for row in table):>4} {sum(row[2] for row in table):>4}")
    if "--write" in words:
        kept = [(n, w) for n, w in known.KNOWN.items() if n.partition(":")[0] not in wanted]
        entries = sorted(kept + entries, key=lambda e: list(KINDS).index(e[0].partition(":")[0]))
        lines = "".join(f'    "{name}": "{word}",\n' for name, word in entries)
        head = Path(known.__file__).read_text().partition("KNOWN")[0]
        Path(known.__file__).write_text(f"{head}KNOWN: dict[str, str] = {{\n{lines}}}\n")


def truth(case: Case) -> str:
    """Return in words how the oracle contradicts what is said of a case, "" where it agrees."""
    if case.truth not in (HOLDS, BROKEN):
        return ""
    try:
        oracle = Oracle(case)
        share = oracle.share()
    except Exception as error:
        return f"ORACLE {type(error).__name__}: {error}"
    said = ""
    if (share < case.limit) != (case.truth == HOLDS) or case.limit <= share < 5 * case.limit:
        said = f"SHARE {share:.1e}"
    if case.truth == BROKEN and case.culprit and case.hooks and not blamed(oracle.first(), case):
        said += f" FIRST {oracle.first()}"
    return said


if __name__ == "__main__":
    main(sys.argv[1:])
