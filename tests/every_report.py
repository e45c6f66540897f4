"""Check every card twice, as this machine does it and as another would, and compare the reports.

`python -m tests.every_report FILE` writes what `check` finds of every card; `python -m tests.every_report` runs that
here and with other kernels, another instruction set and another number of threads, and compares: verdicts and culprits
are the same, figures differ by rounding alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# a processor of 2013 with AVX2 and one thread more; the name is OpenBLAS's
ANOTHER = {"OPENBLAS_CORETYPE": "Haswell", "ATEN_CPU_CAPABILITY": "default", "OMP_NUM_THREADS": "2"}
SAME = 1e-6  # absolute, of relative errors


def reports() -> dict[str, list[dict[str, Any]]]:
    """Return {card: its reports under every group it claims}."""
    import models
    from explorer.app.audit import audit
    from explorer.app.engine import LocalEngine
    from explorer.declare.registry import scan
    from explorer.state.state import State

    engine = LocalEngine(scan(models, "CARD"))
    found: dict[str, list[dict[str, Any]]] = {}
    for name in sorted(engine.cards):
        made = audit(engine, State(model=name), "", "float64", None, {}, count=2)
        found[name] = [
            {
                "group": report.group, "verdict": report.verdict, "guilty": list(report.guilty),
                "layers": {row.name: [row.verdict, row.cumulative, row.local, row.chance] for row in report.layers},
            }
            for report in made
        ]  # fmt: skip
        engine.close()
    return found


def differences(here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """Return a sentence for everything that is not the same."""
    said = []
    for name in sorted(here.keys() | there.keys()):
        for one, other in zip(here.get(name, []), there.get(name, [None]), strict=True):
            where = f"{name} under {one['group']}"
            for key in ("verdict", "guilty"):
                if one[key] != other[key]:
                    said.append(f"{where}: {key} {one[key]} and {other[key]}")
            for layer, (verdict, *figures) in one["layers"].items():
                again, *others = other["layers"][layer]
                if verdict != again:
                    said.append(f"{where}, {layer}: {verdict} and {again}")
                for what, a, b in zip(("cumulative", "local", "chance"), figures, others, strict=True):
                    if (a is None) != (b is None) or (a is not None and abs(a - b) > SAME * max(1.0, abs(a))):
                        said.append(f"{where}, {layer}: {what} {a} and {b}")
    return said


def main() -> int:
    """Write the reports to the file that is named, or make and compare both."""
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(reports()), encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for name, environment in (("here", {"OMP_NUM_THREADS": "1"}), ("there", ANOTHER)):
            path = Path(folder) / f"{name}.json"
            command = [sys.executable, "-m", "tests.every_report", str(path)]
            subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)
            made.append(json.loads(path.read_text(encoding="utf-8")))
    said = differences(*made)
    print(f"{len(made[0])} cards checked on two kinds of machine: {len(said)} difference(s)", *said, sep="\n")
    return 1 if said or len(made[0]) < 50 else 0


if __name__ == "__main__":
    raise SystemExit(main())
