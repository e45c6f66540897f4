"""Sources are compiled once where Python writes nothing beside them, and read as they are now."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.work.files.places import ROOT

SCRIPT = """
import sys
from pathlib import Path
from importlib.machinery import SourceFileLoader
from explorer.work.files.compiled import keep_compiled
made = []
real = SourceFileLoader.source_to_code
def counting(self, data, path, **kwargs):
    made.append(Path(path).name)
    return real(self, data, path, **kwargs)
SourceFileLoader.source_to_code = counting
keep_compiled([Path(sys.argv[1], "pack")])
sys.path.insert(0, sys.argv[1])
import pack.inner.one
print(pack.inner.one.VALUE, sum(name == "one.py" for name in made), pack.inner.one.where())
"""


def run(folder: Path, cache: Path, **variables: str) -> list[str]:
    told = os.environ | {"EQUISCOPE_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder)], cwd=ROOT, env=told, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "pack" / "inner"
    inner.mkdir(parents=True)
    for package in (inner.parent, inner):
        (package / "__init__.py").touch()
    write(tmp_path, 1)
    return tmp_path


def write(folder: Path, value: int) -> None:
    text = f"VALUE = {value}\n\n\ndef where():\n    return where.__code__.co_filename\n"
    (folder / "pack" / "inner" / "one.py").write_text(text)


def test_a_module_is_compiled_once_and_again_when_it_has_changed(folder: Path, tmp_path: Path) -> None:
    cache, source = tmp_path / "cache", str(folder / "pack" / "inner" / "one.py")
    assert run(folder, cache) == ["1", "1", source]
    assert run(folder, cache) == ["1", "0", source]
    write(folder, 2)
    assert run(folder, cache) == ["2", "1", source]
    assert run(folder, cache) == ["2", "0", source]
    assert not list(folder.glob("**/__pycache__")), "nothing is written beside the sources"


def test_what_is_kept_and_damaged_is_made_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(folder, cache)
    kept = list((cache / "compiled").iterdir())
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:-20])
    assert run(folder, cache)[:2] == ["1", "1"]
    write(folder, 123456)
    run(folder, cache)
    for path in kept:  # another number, which the interpreter would believe
        path.write_bytes(path.read_bytes().replace((123456).to_bytes(4, "little"), (654321).to_bytes(4, "little")))
    assert run(folder, cache)[:2] == ["123456", "1"]
    for path in kept:
        path.write_bytes(b"")
    assert run(folder, cache)[:2] == ["123456", "1"]
    assert run(folder, cache)[:2] == ["123456", "0"]


def test_without_a_cache_the_program_runs_as_before(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file in its place")
    assert run(folder, cache)[:2] == ["1", "1"]


def test_where_python_writes_by_itself_nothing_is_kept(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(folder, cache, PYTHONDONTWRITEBYTECODE="")[:2] == ["1", "1"]
    assert not cache.exists() and list(folder.glob("**/__pycache__"))
    assert run(folder, cache)[:2] == ["1", "0"], "what lies beside the sources is read"
