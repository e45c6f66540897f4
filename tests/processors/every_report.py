"""Check every card twice, as this machine does it and as another would, and compare the reports.

`python -m tests.processors.every_report` does both side by side, with another instruction set, number of threads and
order of hashes, and compares: verdicts, culprits and sentences are the same, figures differ by rounding alone.
`python -m tests.processors.every_report FILE [CARD ...]` writes what `check` finds, of every card or of those named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# two threads would wait for each other in busy loops while the other run has the cores
HERE = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
# a processor of 2013 with AVX2 (the name is OpenBLAS's), and torch's code for any processor
ANOTHER = {
    "OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE", "PYTHONHASHSEED": "7",
}  # fmt: skip
SAME = 1e-6  # absolute, of relative errors
Reports = dict[str, list[dict[str, Any]]]


def reports(names: list[str], device: str = "auto") -> Reports:
    """Return {card: its reports under every group it claims}, and print how long each took."""
    import models
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.command.audit import audit
    from explorer.declare.registry import scan
    from explorer.state.state import State

    engine = LocalEngine(scan(models, "CARD"))
    found: Reports = {}
    for name in names or sorted(engine.cards):
        start = time.process_time()
        made = audit(engine, State(model=name, device=device), "", "float64", None, {}, count=2)
        found[name] = [
            {
                "group": report.group, "verdict": report.verdict, "guilty": list(report.guilty),
                "notes": list(report.warnings), "hints": list(report.hints),
                "layers": {row.name: [row.verdict, row.cumulative, row.local, row.chance] for row in report.layers},
            }
            for report in made
        ]  # fmt: skip
        print(f"{name} {time.process_time() - start:.1f} s {device}", flush=True)
        engine.close()
    return found


def differences(here: Reports, there: Reports) -> list[str]:
    """Return a sentence for everything that is not the same."""
    said = [f"{name} was checked in one run only" for name in sorted(here.keys() ^ there.keys())]
    for name in sorted(here.keys() & there.keys()):
        if len(here[name]) != len(there[name]):
            said.append(f"{name}: {len(here[name])} and {len(there[name])} reports")
        for one, other in zip(here[name], there[name]):
            where = f"{name} under {one['group']}"
            for key in ("group", "verdict", "guilty", "notes", "hints"):
                if one[key] != other[key]:
                    said.append(f"{where}: {key} {one[key]} and {other[key]}")
            if one["layers"].keys() != other["layers"].keys():
                said.append(f"{where}: other layers")
                continue
            for layer, (verdict, *figures) in one["layers"].items():
                again, *others = other["layers"][layer]
                if verdict != again:
                    said.append(f"{where}, {layer}: {verdict} and {again}")
                for what, a, b in zip(("cumulative", "local", "chance"), figures, others, strict=True):
                    if (a is None) != (b is None) or (a is not None and not abs(a - b) <= SAME * max(1.0, abs(a))):
                        said.append(f"{where}, {layer}: {what} {a} and {b}")
    return said


def main(arguments: list[str]) -> int:
    """Write the reports to the file that is named, or make and compare both."""
    if arguments:
        path, *names = arguments
        Path(path).write_text(json.dumps(reports(names)), encoding="utf-8")
        return 0
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for name, environment in (("here", HERE), ("there", ANOTHER)):
            path, log = Path(folder) / f"{name}.json", Path(folder) / f"{name}.log"
            with log.open("w") as out:
                command = [sys.executable, "-m", "tests.processors.every_report", str(path)]
                process = subprocess.Popen(
                    command, cwd=ROOT, env=os.environ | environment, stdout=out, stderr=subprocess.STDOUT
                )
            running.append((process, path, log))
        ended = [process.wait() for process, _, _ in running]
        for code, (_, _, log) in zip(ended, running, strict=True):
            if code:
                print(f"a run ended with {code}:", *log.read_text().splitlines()[-20:], sep="\n")
        if any(ended):
            return 1
        here, there = (json.loads(path.read_text(encoding="utf-8")) for _, path, _ in running)
    said = differences(here, there)
    seconds = time.perf_counter() - start
    print(
        f"{len(here)} cards checked on two kinds of machine in {seconds:.0f} s: {len(said)} difference(s)",
        *said,
        sep="\n",
    )
    return 1 if said or len(here) < 50 else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
