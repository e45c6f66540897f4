"""Build the wheel: everything goes below `equiscope`, so that it hides nobody's own `models`, `widgets` or `main`.

A checkout runs as it is, from explorer/, models/, widgets/, resources/ and main.py side by side. In a wheel these are
equiscope.explorer, equiscope.models and so on, and every import of them is written that way, on the line where it
stood. An editable install remains a checkout.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.errors import SetupError

TOP = "equiscope"
MOVED = ("explorer", "models", "widgets", "resources", "main")


def moved(name: str) -> bool:
    """Return whether a dotted name begins with a package that goes below `equiscope`."""
    return name.partition(".")[0] in MOVED


def placed(source: bytes, path: str) -> bytes:
    """Rewrite the imports of a file as they must be in the wheel: `models.layers` -> `equiscope.models.layers`.

    Raises:
        SetupError: an import that binds the first of several names, or several modules at once, or a module named by
            a text. None of them can be rewritten on its line.
    """
    lines = source.split(b"\n")

    def replace(node: ast.stmt, pattern: str, by: str) -> None:
        line, column = lines[node.lineno - 1], node.col_offset
        changed, count = re.subn(pattern.encode(), by.encode(), line[column:], count=1)
        if not count:
            raise SetupError(f"{path}:{node.lineno}: write the name of the module behind the keyword, on its line")
        lines[node.lineno - 1] = line[:column] + changed

    for node in ast.walk(ast.parse(source, path)):
        match node:
            case ast.ImportFrom(module=str(name), level=0) if moved(name):
                replace(node, rf"^from\s+{re.escape(name)}\b", f"from {TOP}.{name}")
            case ast.Import(names=[ast.alias(name=name, asname=None)]) if name in MOVED:
                replace(node, rf"^import\s+{name}\b", f"from {TOP} import {name}")
            case ast.Import(names=[ast.alias(name=name, asname=str())]) if moved(name):
                replace(node, rf"^import\s+{re.escape(name)}\b", f"import {TOP}.{name}")
            case ast.Import(names=names) if any(moved(alias.name) for alias in names):
                raise SetupError(f"{path}:{node.lineno}: write `import package.module as name`, one for each line")
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if moved(name):
                if getattr(function, "attr", getattr(function, "id", "")) in ("import_module", "__import__"):
                    raise SetupError(f"{path}:{node.lineno}: a module named by a text is not found in the wheel")
    return b"\n".join(lines)


class BuildPy(build_py):
    """Copies the packages, then puts them below `equiscope`."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        library = Path(self.build_lib)
        # what an earlier build has left there would go into this wheel
        for name in (TOP, *MOVED):
            shutil.rmtree(library / name, ignore_errors=True)
        super().run()
        for name in MOVED:
            there = name if (library / name).is_dir() else f"{name}.py"
            shutil.move(library / there, library / TOP / there)
        for path in (library / TOP).rglob("*.py"):
            path.write_bytes(placed(path.read_bytes(), path.relative_to(library).as_posix()))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the paths of the files where they end up."""
        found = super().get_outputs(include_bytecode)
        if self.editable_mode:
            return found
        library = Path(self.build_lib)
        parts = [Path(path).relative_to(library).parts for path in found]
        return [str(library.joinpath(*(() if part[0] == TOP else (TOP,)), *part)) for part in parts]


class EggInfo(egg_info):
    """Writes the metadata; what is at the top level of the wheel is `equiscope` alone."""

    def run(self) -> None:
        super().run()
        Path(self.egg_info, "top_level.txt").write_text(f"{TOP}\n", encoding="utf-8")


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildPy, "egg_info": EggInfo})
