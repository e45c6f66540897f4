"""Read changed files of all formats and say what comes of them: `make fuzz`.

The same seed gives the same files. What must not be is told with its case, "glb 5:254": the format, the seed and the
number. EQUISCOPE_FUZZ_KEEP names a folder that such files are put into.
"""

from __future__ import annotations

import argparse

from tests.explorer.parts.hostile.records import dealt
from tests.explorer.parts.hostile.structures import structured
from tests.explorer.parts.hostile.trying import mutants, tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--structures", action="store_true", help="files that lie about their structure instead")
    parser.add_argument("--records", action="store_true", help="files whose records are dealt anew instead")
    asked = parser.parse_args()
    files = structured if asked.structures else dealt if asked.records else mutants
    outcome = tried(files(asked.count, asked.seed), lambda text: print(text, flush=True))
    print(outcome)
    print("without a check of their own: " + ", ".join(f"{n} {case}" for case, n in outcome.fallback.most_common()))
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
