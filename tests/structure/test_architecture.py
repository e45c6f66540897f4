"""The direction of imports: widgets -> explorer <- models, main.py above all three; no circle, no file too long."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from tests.conftest import TOOLKITS, AbsentToolkits

ROOT = Path(__file__).resolve().parents[2]
FIRST_PARTY = frozenset({"equiscope", "explorer", "widgets", "models", "resources", "main", "tests", "benchmarks"})
LONGEST = 450  # lines; what one person can hold in the head
WIDEST = 15  # entries of a folder; about ten are meant


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, by its absolute dotted name.

    Attributes:
        name: of the module, or of what is taken from a package at the top.
        line: of the statement.
        member: the name taken from the module, which may be a module itself, or nothing.
    """

    name: str
    line: int
    member: str = ""

    def within(self, *modules: str) -> bool:
        """Say whether this is one of the modules or inside of one."""
        return any(self.name == module or self.name.startswith(f"{module}.") for module in modules)


@dataclass(frozen=True, slots=True)
class Rule:
    """The imports that files of one part may have: nothing `forbidden`, and only what is `allowed`, where given."""

    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] | None = None

    def broken_by(self, found: Import) -> bool:
        """Say whether an import goes in a wrong direction."""
        if found.within(*self.forbidden):
            return True
        return self.allowed is not None and not found.within(*self.allowed)


ROOMS = ("declare", "work", "state", "data", "network", "equivariance", "square", "spaces", "app")  # from the lowest
SPACES = ("graph", "grid", "mesh", "points", "sequence", "sphere", "volume")
# Of the core, models know declarations, data and the work of a space; of libraries, what computes.
FOR_MODELS = (
    *("explorer.declare", "explorer.declare.samples", "explorer.spaces", "explorer.work"),
    *("networkx", "numpy", "scipy", "sklearn", "torch"),
    *sys.stdlib_module_names,
)

# The longest matching path decides, so that main.py, the one that may import everything, needs no rule.
RULES = {
    "equiscope": Rule(forbidden=("tests", "benchmarks")),
    "explorer": Rule(forbidden=("equiscope", "widgets", "models", "main", "tests", *TOOLKITS)),
    "models": Rule(allowed=("models", *FOR_MODELS)),
    "models/layers": Rule(allowed=("models.layers", *FOR_MODELS)),
    "models/training": Rule(allowed=("models.layers", "models.training", *FOR_MODELS)),
    # torch lives in the worker thread; a widget sees numpy arrays.
    "widgets": Rule(
        forbidden=("equiscope", "models", "main", "tests", "torch", "torch_geometric", "sklearn", "safetensors")
    ),
    "resources": Rule(allowed=()),
    "tests/equiscope": Rule(forbidden=("widgets", *TOOLKITS)),
    "tests/explorer": Rule(forbidden=("widgets", *TOOLKITS)),
    "tests/models": Rule(forbidden=("widgets", *TOOLKITS)),
    "tests/foreign": Rule(forbidden=("widgets", "models", *TOOLKITS)),
}


def sources() -> Iterator[str]:
    """Yield the path, relative to the root, of each Python file of the project."""
    for top in sorted(FIRST_PARTY):
        yield from (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / top).rglob("*.py")))
    yield from (path.name for path in sorted(ROOT.glob("*.py")))


@cache
def imports(source: str, path: str) -> tuple[Import, ...]:
    """Return every import in a file, wherever it stands: in a function and under TYPE_CHECKING too."""
    return tuple(found_imports(source, path))


def found_imports(source: str, path: str) -> Iterator[Import]:
    """Yield every import in a file."""
    package = path.removesuffix(".py").split("/")[:-1]
    for node in ast.walk(ast.parse(source, path)):
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, node.lineno) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                start = package[: len(package) - level + 1] if level else []
                base = [*start, *(module.split(".") if module else [])]
                # `from explorer import state` imports the module explorer.state.
                whole = len(base) <= 1 or not module
                for alias in names:
                    if whole:
                        yield Import(".".join([*base, alias.name]), node.lineno)
                    else:
                        yield Import(".".join(base), node.lineno, alias.name)
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                called = getattr(function, "attr", getattr(function, "id", ""))
                if called in ("import_module", "__import__") and not name.startswith("."):
                    yield Import(name, node.lineno)


def tree(*parts: str) -> dict[str, str]:
    """Return the files below some folders of the project, each path with its source."""
    wanted = tuple(f"{part}/" for part in parts)
    return {path: (ROOT / path).read_text("utf-8") for path in sources() if path.startswith(wanted)}


def module_of(path: str) -> str:
    """Return the dotted name under which a file is imported."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def import_graph(files: Mapping[str, str]) -> dict[str, set[str]]:
    """Return which of the files, {path: source}, each of them imports, by their dotted names.

    Imports in functions and under TYPE_CHECKING count. `from a.b import c` imports a.b.c where that is a file, and a.b
    else. That Python runs the __init__ of a package before what lies in it does not count.
    """
    known = {module_of(path) for path in files}

    def meant(found: Import) -> str | None:
        names = [found.name, found.name.rpartition(".")[0]]
        if found.member:
            names.insert(0, f"{found.name}.{found.member}")
        return next((name for name in names if name in known), None)

    return {
        module_of(path): {name for found in imports(source, path) if (name := meant(found)) is not None}
        for path, source in files.items()
    }


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a shortest circle, "a -> b -> a", through the first module of each group that import one another."""
    arrows = nx.DiGraph({module: sorted(imported) for module, imported in graph.items()})
    found = []
    for group in nx.strongly_connected_components(arrows):
        first, inner = min(group), arrows.subgraph(group)
        ways = [[first, *nx.shortest_path(inner, second, first)] for second in sorted(inner[first])]
        found += [" -> ".join(way) for way in sorted(ways, key=len)[:1]]
    return sorted(found)


def exporters(files: Mapping[str, str], constant: str) -> set[str]:
    """Return the modules, of files {path: source}, that assign a constant at their top level."""
    return {
        module_of(path)
        for path, source in files.items()
        for statement in ast.parse(source, path).body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name) and target.id == constant
    }


def between(graph: Mapping[str, set[str]], group: set[str]) -> list[str]:
    """Return one line for each import by which one module of a group knows another."""
    return sorted(f"{one} imports {other}" for one in group for other in graph[one] & group - {one})


def rule_for(path: str) -> Rule:
    """Return the rule of the innermost folder that has one."""
    folders = [folder for folder in RULES if path.startswith(f"{folder}/")]
    return RULES[max(folders, key=len)] if folders else Rule()


def violations(source: str, path: str) -> list[str]:
    """Return one line for each thing in a file that breaks the architecture."""
    found = list(imports(source, path))
    rule = rule_for(path)
    broken = [f"{path}:{one.line} imports {one.name}" for one in found if rule.broken_by(one)]
    parts = {part for part in ("explorer", "models", "widgets") for one in found if one.within(part)}
    above = path == "main.py" or path.startswith(("equiscope/", "tests/"))
    if len(parts) == 3 and not above:
        broken.append(f"{path} imports explorer, models and widgets, which only main.py may")
    length = source.count("\n")
    if path.split("/")[0] in ("explorer", "models", "widgets") and length > LONGEST:
        broken.append(f"{path} has {length} lines, more than {LONGEST}")
    return broken


def test_the_tree_keeps_to_the_architecture() -> None:
    broken = [line for path in sources() for line in violations((ROOT / path).read_text("utf-8"), path)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("part", ["explorer", "models", "widgets", "tests"])
def test_a_folder_is_seen_at_a_glance(part: str) -> None:
    """Folders split along their ideas before their entries are too many to look through."""
    held: dict[str, set[str]] = {}
    for path in tree(part):
        for parent in Path(path).parents:
            inside = Path(path).relative_to(parent).parts[0]
            if inside != "__init__.py":
                held.setdefault(parent.as_posix(), set()).add(inside)
    wide = {folder: len(names) for folder, names in held.items() if folder != "." and len(names) > WIDEST}
    assert not wide, f"{wide}: split them"


@pytest.mark.parametrize("part", ["explorer", "models", "widgets"])
def test_imports_make_no_circle(part: str) -> None:
    assert circles(import_graph(tree(part))) == []


def test_no_room_imports_a_higher_one() -> None:
    """Types count as well; the scans alone begin at the package of the spaces."""
    broken = []
    for module, imported in import_graph(tree("explorer")).items():
        room = module.split(".")[1:2]
        for name in imported - {"explorer.spaces"}:
            there = name.split(".")[1:2]
            if room and there and ROOMS.index(there[0]) > ROOMS.index(room[0]):
                broken.append(f"{module} imports {name}")
    assert not broken, "\n".join(broken)


def test_nothing_outside_a_space_asks_which_one_it_is() -> None:
    broken = [line for path in sources() if general(path) for line in asked(path, (ROOT / path).read_text("utf-8"))]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("if p.domain == 'mesh':\n    pass", "'mesh'"),
        ("ok = isinstance(field.domain, Nodes | Edges)", "isinstance"),
        ("from explorer.spaces.graph.drawing.part import graph_part", "explorer.spaces.graph.drawing.part"),
        ("def f():\n    return {'sequence': 1}", "'sequence'"),
        ("from widgets.spaces.graph.words import told", "widgets.spaces.graph.words"),
    ],
)
def test_the_search_for_questions_finds_them(source: str, complaint: str) -> None:
    (line,) = asked("explorer/square/a.py", source)
    assert complaint in line
    assert not list(asked("explorer/square/a.py", '"""Say mesh, graph and grid."""\nx = field.domain.batched'))


def general(path: str) -> bool:
    """Say whether a file belongs to no single kind of data."""
    parts = path.split("/")
    if parts[0] not in ("explorer", "widgets", "main.py"):
        return False
    return parts[1:2] != ["spaces"]


def asked(path: str, source: str) -> Iterator[str]:
    """Yield where a file names a space or a kind of data, or asks of which class a domain is."""
    found = ast.parse(source, path)
    texts = {id(n.value) for n in ast.walk(found) if isinstance(n, ast.Expr)}
    for node in ast.walk(found):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in texts and text in (*SPACES, "set", "sequence"):
                yield f"{path}:{node.lineno} names {text!r}"
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Attribute(attr="domain"), _]):
                yield f"{path}:{node.lineno} asks isinstance of a domain"
    for one in imports(source, path):
        if any(one.within(f"{room}.{space}") for room in ("explorer.spaces", "widgets.spaces") for space in SPACES):
            yield f"{path}:{one.line} imports {one.name}"


def test_no_card_imports_a_card() -> None:
    files = tree("models")
    cards = exporters(files, "CARD")
    assert len(cards) > 50
    assert between(import_graph(files), cards) == []


def test_the_page_of_the_architecture_is_read_in_fifteen_minutes() -> None:
    assert len((ROOT / "docs" / "ARCHITECTURE.md").read_text("utf-8")) < 12_000


def test_the_picture_of_the_rooms_shows_the_imports() -> None:
    fresh = runpy.run_path(str(ROOT / "docs" / "draw_rooms.py"))["picture"]()
    assert (ROOT / "docs" / "rooms.svg").read_text("utf-8") == fresh, "run python docs/draw_rooms.py"


def asking(source: str, path: str) -> Iterator[str]:
    """Yield where a docstring begins with a question word in place of a verb or a noun."""
    for node in ast.walk(ast.parse(source, path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").split(" ", 1)[0]
            if first in ("What", "Where", "How", "Whether", "Which", "Who", "Whose"):
                yield f"{path}:{getattr(node, 'lineno', 1)} begins with {first!r}"


@pytest.mark.parametrize("part", ["benchmarks", "equiscope", "explorer", "models", "tests", "widgets"])
def test_docstrings_begin_with_a_verb_or_a_noun(part: str) -> None:
    broken = [line for path, source in tree(part).items() for line in asking(source, path)]
    assert not broken, "\n".join(broken)
    assert list(asking('def f():\n    """Whether it holds."""', "a.py")) == ["a.py:1 begins with 'Whether'"]


def test_there_is_a_tree_to_check() -> None:
    paths = list(sources())
    for part in ("explorer/", "models/", "widgets/"):
        assert any(path.startswith(part) for path in paths), f"no Python file found in {part}"


@pytest.mark.parametrize(
    ("path", "source", "complaint"),
    [
        ("explorer/a.py", "import widgets.window.main_window", "explorer/a.py:1 imports widgets.window.main_window"),
        ("explorer/a.py", "from models import gcnn", "imports models.gcnn"),
        ("explorer/a.py", "def f():\n    from PySide6.QtCore import Qt", ":2 imports PySide6.QtCore"),
        ("explorer/deep/a.py", "from ... import widgets", "imports widgets"),
        ("explorer/a.py", "import importlib\nimportlib.import_module('pyvista')", ":2 imports pyvista"),
        ("explorer/a.py", "if True:\n    import numpy, pyqtgraph", ":2 imports pyqtgraph"),
        ("models/a.py", "from explorer import session", "imports explorer.session"),
        ("models/a.py", "from explorer.fields_extra import x", "imports explorer.fields_extra"),
        ("models/a.py", "import explorer", "imports explorer"),
        ("models/a.py", "import pyvista", "imports pyvista"),
        (
            "models/layers/a.py",
            "from models.training.images.digits import Recipe",
            "imports models.training.images.digits",
        ),
        (
            "models/layers/deep/a.py",
            "def f():\n    from models.graphs.sets import deep_sets",
            ":2 imports models.graphs.sets",
        ),
        ("models/training/a.py", "from models.images.plain_cnn import PlainCNN", "imports models.images.plain_cnn"),
        ("models/a.py", "from PySide6 import QtCore", "imports PySide6"),
        ("widgets/views/a.py", "from torch import nn", "imports torch"),
        (
            "widgets/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
            ":3 imports torch",
        ),
        ("widgets/a.py", "__import__('models.gcnn')", "imports models.gcnn"),
        ("resources/a.py", "import os", "imports os"),
        ("tests/explorer/test_a.py", "from widgets import icons", "imports widgets.icons"),
        ("benchmarks/a.py", "import explorer, models, widgets", "only main.py may"),
        ("models/a.py", "\n" * (LONGEST + 1), f"has {LONGEST + 1} lines"),
    ],
)
def test_the_checker_sees_what_is_wrong(path: str, source: str, complaint: str) -> None:
    assert any(complaint in line for line in violations(source, path)), violations(source, path)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("explorer/a.py", "import os, torch, numpy as np\nfrom . import fields\nfrom .modelsets import x"),
        (
            "models/a.py",
            "from explorer.declare.card import Card\nfrom explorer.declare import groups",
        ),
        (
            "models/a.py",
            "from torch.nn import functional as F\nfrom models.layers import Lift\nfrom . import layers",
        ),
        (
            "models/training/a.py",
            "from models.layers.taps import Tap\nfrom models.training.meshes import Recipe",
        ),
        (
            "widgets/a.py",
            "import pyqtgraph as pg\nfrom explorer.state.state import State\nfrom ..widgets import icons",
        ),
        ("resources/__init__.py", ""),
        ("main.py", "import explorer, models, widgets"),
        ("models/a.py", "\n" * LONGEST),
    ],
)
def test_the_checker_lets_pass_what_is_right(path: str, source: str) -> None:
    assert violations(source, path) == []


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"p/a.py": "from p.b import x", "p/b.py": "from p.a import y"}, ["p.a -> p.b -> p.a"]),
        ({"p/a.py": "import p.b", "p/b.py": "def f():\n    from p.a import y"}, ["p.a -> p.b -> p.a"]),
        (
            {
                "p/a.py": "from p import b",
                "p/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import A",
            },
            ["p.a -> p.b -> p.a"],
        ),
        ({"p/a.py": "from p.deep import b", "p/deep/b.py": "from ..a import y"}, ["p.a -> p.deep.b -> p.a"]),
        (
            {"p/a.py": "from . import b", "p/b.py": "import importlib\nimportlib.import_module('p.a')"},
            ["p.a -> p.b -> p.a"],
        ),
        ({"p/__init__.py": "from p.a import x", "p/a.py": "from p import y"}, ["p -> p.a -> p"]),
        ({"p/a.py": "import p.b", "p/b.py": "import p.c", "p/c.py": "import p.a, p.b"}, ["p.a -> p.b -> p.c -> p.a"]),
        ({"p/a.py": "import p.a"}, ["p.a -> p.a"]),
        (
            {"p/a.py": "import q.a", "q/a.py": "import p.a", "p/c.py": "import q.d, p.a", "q/d.py": "import p.c"},
            ["p.a -> q.a -> p.a", "p.c -> q.d -> p.c"],
        ),
        ({"p/a.py": "import p.b, p.c", "p/b.py": "import p.d", "p/c.py": "import p.d", "p/d.py": "import torch"}, []),
        ({"p/__init__.py": "from p.a import x", "p/a.py": "from p.b import y", "p/b.py": ""}, []),
    ],
)
def test_the_finder_sees_circles_and_no_others(files: dict[str, str], found: list[str]) -> None:
    assert circles(import_graph(files)) == found


@pytest.mark.parametrize(
    "how", ["from p.b import x", "def f():\n    import p.b", "from . import b", "from p.b import CARD as OTHER"]
)
def test_a_card_that_imports_a_card_is_found(how: str) -> None:
    files = {"p/a.py": f"{how}\nCARD = 1", "p/b.py": "CARD: int = 2", "p/c.py": "import p.a\nNAME = 'CARD'"}
    cards = exporters(files, "CARD")
    assert cards == {"p.a", "p.b"}
    assert between(import_graph(files), cards) == ["p.a imports p.b"]


def test_the_toolkits_can_be_taken_away() -> None:
    finder = AbsentToolkits()
    with pytest.raises(ModuleNotFoundError, match=r"PySide6\.QtCore"):
        finder.find_spec("PySide6.QtCore", None)
    assert finder.find_spec("torch", None) is None
    assert finder.find_spec("vtkless", None) is None


HEAVY = ("torch", "torch_geometric", "igraph", "networkx", "rdkit", "scipy.sparse", "sklearn", "pyvista", "vtkmodules")


def test_the_window_finds_its_views_before_anything_heavy_is_imported() -> None:
    """A view that is imported to be listed brings with it whatever it draws with, and the window waits for that."""
    loaded = modules_loaded_by("from widgets.window.room.finding import view_specs; view_specs()")
    guilty = [name for name in (*HEAVY, "pyqtgraph") if name in loaded]
    views = sorted(n for n in loaded if n.startswith("widgets.") and ".views." in n)
    assert not guilty, f"listing the views imports {', '.join(guilty)}; views that were imported: {', '.join(views)}"


@pytest.mark.parametrize("module", ["equiscope", "explorer.state.state", "widgets.window.main_window"])
def test_the_window_opens_before_anything_heavy_is_imported(module: str) -> None:
    """These take seconds to import: the window comes first, they come after."""
    loaded = modules_loaded_by(f"import {module}")
    guilty = [name for name in HEAVY if name in loaded]
    assert not guilty, f"importing {module} imports {', '.join(guilty)} (python -X importtime shows by which way)"


def test_what_is_seen_first_does_not_wait_for_charts() -> None:
    """The window with its Gallery and its equations is there before pyqtgraph is imported."""
    seen = "widgets.window.main_window, widgets.views.choosing.gallery, widgets.views.equation"
    assert "pyqtgraph" not in modules_loaded_by(f"import {seen}"), "python -X importtime shows by which way"


@pytest.mark.parametrize(("model", "layer"), [("d4-cnn", ""), ("gat", ""), ("lstm", ""), ("vae", "mean")])
def test_a_first_frame_waits_for_nothing_that_it_does_not_need(model: str, layer: str) -> None:
    """networkx for a graph of 34 nodes, scikit-learn for a file of digits: each took as long as the network itself."""
    code = (
        "import main; from explorer.app.answering.engine import LocalEngine; from explorer.state.state import State\n"
        f"LocalEngine(main.cards()).answer(State(model={model!r}, layer={layer!r}), lambda: False)"
    )
    loaded = modules_loaded_by(code)
    guilty = [name for name in ("sklearn", "networkx", "scipy.stats", "scipy.sparse") if name in loaded]
    assert not guilty, f"the first frame of {model} imports {', '.join(guilty)}"


def test_the_check_of_heavy_imports_sees_them() -> None:
    assert "sklearn" in modules_loaded_by("import sklearn")


def modules_loaded_by(code: str) -> set[str]:
    """Return the names of the modules that a fresh interpreter has loaded after running the code."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())
