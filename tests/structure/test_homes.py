"""Names are imported from the file that defines them; only the public library hands on what others define."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from tests.structure.test_architecture import imports, module_of, tree


def taken(path: str, source: str) -> set[str]:
    """Return the names that a file has at its top level because it imported them."""
    return {
        (alias.asname or alias.name).split(".")[0]
        for statement in ast.parse(source, path).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in statement.names
    }


def detours(files: Mapping[str, str]) -> Iterator[str]:
    """Yield each import, in files {path: source}, of a name from a file that had imported it itself."""
    known = {module_of(path): taken(path, source) for path, source in files.items()}
    for path, source in files.items():
        for one in imports(source, path):
            if one.member in known.get(one.name, ()):
                yield f"{path}:{one.line} takes {one.member} from {one.name}, which only imported it"


def test_names_are_imported_from_where_they_are_defined() -> None:
    assert list(detours(tree("explorer", "models"))) == []


def test_a_name_that_is_handed_on_is_found() -> None:
    files = {"p/a.py": "from p.b import x", "p/b.py": "from p.c import x as x", "p/c.py": "x = 1"}
    assert list(detours(files)) == ["p/a.py:1 takes x from p.b, which only imported it"]
    assert not list(detours({"p/a.py": "from p.c import x", "p/b.py": "from p import c", "p/c.py": "x = 1"}))
