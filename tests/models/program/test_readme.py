"""README.md and the pages beside it: the code runs, the commands parse, what is named exists."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

import models
from explorer.app.command import cli
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.declare.states.model_name import PROGRAMS, PYTHON, split_name

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "README.md", ROOT / "CHANGELOG.md")}
PAGES |= {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
CARDS = scan(models, "CARD")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"`python main\.py ([^`]+)`", "".join(p.read_text(encoding="utf-8") for p in PAGES.values()))


def test_the_code_prints_what_it_says() -> None:
    """All blocks run one after the other, as a reader would; `print(...)  # text` states the line that comes."""
    assert len(BLOCKS) == 4
    code = "\n".join(BLOCKS)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    stated = re.findall(r"^print\(.*\)  # (.+)$", code, re.MULTILINE)
    assert stated and said.getvalue().splitlines() == stated


@pytest.mark.parametrize("page", PAGES)
def test_code_imports_from_the_public_package_only(page: str) -> None:
    text = PAGES[page].read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        tree = ast.parse(block, page)
        names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        names += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
        assert not {n.partition(".")[0] for n in names} & {"explorer", "models", "widgets", "main"}


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_commands_are_understood(command: str) -> None:
    """Every command of every page; in "bench NAME" the name stands for any."""
    args = cli.parser().parse_args(shlex.split(command))
    parse_chain(getattr(args, "transform", ""))
    for name in (getattr(args, "model", ""), getattr(args, "compare", "")):
        base = split_name(name or "NAME")[0]
        own = Path(base).suffix in (PYTHON, *PROGRAMS) or any(mark in base for mark in (".py:", "/", "timm:"))
        assert base in ("NAME", *CARDS) or own, f"{name} is no model"


def test_every_verb_is_in_the_table() -> None:
    for verb in cli.VERBS:
        assert f"| `python main.py {verb}" in README


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    path = PAGES[page]
    for target in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
        # pictures are made by `make gallery`
        if "://" not in target and not target.endswith(".png"):
            assert (path.parent / target).resolve().exists(), f"{page} links to {target}"


def test_the_gallery_shows_every_model_and_what_it_shows_is_there() -> None:
    """Otherwise `python main.py gallery --page --out docs/gallery` makes it again."""
    path = ROOT / "docs" / "gallery" / "README.md"
    page = path.read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", page)
    assert {name for name, _ in shown} >= set(CARDS)
    assert all((path.parent / picture).is_file() for _, picture in shown)
    left = {p.relative_to(path.parent).as_posix() for p in path.parent.rglob("*.*")} - {picture for _, picture in shown}
    assert left == {"README.md"}, "pictures that nobody sees"


def test_the_table_of_what_is_covered_is_that_of_the_cards() -> None:
    for row, names in re.findall(r"^\| ([A-Z]\d+) \| [^|]+ \| (.+) \|$", README, re.MULTILINE):
        assert sorted(re.findall(r"`([^`]+)`", names)) == sorted(n for n, card in CARDS.items() if row in card.rows)
    rows = re.findall(r"^\| ([A-Z]\d+) \|", README, re.MULTILINE)
    assert sorted(rows) == sorted({row for c in CARDS.values() for row in c.rows})


def test_the_index_of_models_is_that_of_the_cards() -> None:
    page = PAGES["docs/models/README.md"].read_text(encoding="utf-8")
    found = re.findall(r"^\| `([^|]+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", page, re.MULTILINE)
    assert sorted(name for name, _, _ in found) == sorted(CARDS)
    for name, rows, claims in found:
        assert rows == ", ".join(sorted(CARDS[name].rows))
        falsely = name.startswith("fault-") and bool(CARDS[name].groups)
        assert claims == (", ".join(CARDS[name].groups) or "nothing") + (", falsely" if falsely else "")


def test_the_number_of_lessons_is_right() -> None:
    count = len(list((ROOT / "resources" / "lessons").glob("*.json")))
    assert re.findall(r"(\d+) short ones", README) == [str(count)]


def test_benchmarks_in_the_table_exist() -> None:
    page = PAGES["docs/PERFORMANCE.md"].read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    files = [path for path in (ROOT / "benchmarks").rglob("*.py") if "def run(" in path.read_text(encoding="utf-8")]
    assert named == {path.stem for path in files}
