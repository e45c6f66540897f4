"""Count the code that paints by hand: `python -m tests.structure.painting` prints it file by file.

A function paints by hand where it calls a drawing method of a QPainter: `draw...` with a capital after it (`drawText`,
`drawRect`, `drawImage`, also a style's `drawControl`), `fillRect`, `fillPath` or `strokePath`. All of its lines count,
those of the layout round the calls too. Items of a scene that Qt or pyqtgraph draws have none.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "widgets"
PAINTS = re.compile(r"draw[A-Z]\w*|fillRect|fillPath|strokePath")


def painted(source: str) -> tuple[int, int]:
    """Return the lines of the functions that paint by hand in a source, and how many calls they have."""
    lines: set[int] = set()
    calls: set[tuple[int, int]] = set()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            found = {
                (call.lineno, call.func.end_col_offset or 0)
                for call in ast.walk(function)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and PAINTS.fullmatch(call.func.attr)
            }
            if found:
                calls |= found
                lines |= set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
    return len(lines), len(calls)


def counted(root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """Return lines and calls of every file below a folder that paints, the most first."""
    found = {str(path.relative_to(root)): painted(path.read_text(encoding="utf-8")) for path in root.rglob("*.py")}
    return dict(sorted(((k, v) for k, v in found.items() if v[0]), key=lambda pair: (-pair[1][0], pair[0])))


def main(root: Path = ROOT) -> None:
    found = counted(root)
    lines, calls = (sum(part) for part in zip(*found.values(), strict=True)) if found else (0, 0)
    print(f"{lines} lines, {calls} calls, {len(found)} files")
    for name, (here, there) in found.items():
        print(f"{here:5} {there:4}  {name}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
