"""The wheel: one name at the top level, beside which anybody's own modules of our names go on working."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("explorer", "models", "widgets", "resources", "main")
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc")
NETWORK = """
from torch import nn

INPUT_SHAPE = (1, 12, 12)


def network():
    return nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), nn.ReLU())
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def command(*words: object, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without what the tests have put into the environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | more
    return subprocess.run(
        [str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True, timeout=280
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of the sources, which stay as they are."""
    sources, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in ("equiscope", *NAMES[:-1]):
        shutil.copytree(ROOT / name, sources / name, ignore=IGNORED)
    for name in ("main.py", "setup.py", "pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(ROOT / name, sources)
    # what an earlier build has left there is no part of this one
    left = sources / "build" / "lib" / "models"
    left.mkdir(parents=True)
    (left / "old.py").touch()
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps", "--no-index")
    done = command(*pip, "--no-build-isolation", "-q", "-w", out, sources, folder=out)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Install it into an environment of its own, and run programs of that in a folder with modules of our names."""
    place, own = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("own")
    venv.create(place, with_pip=False)
    programs = place / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--no-deps")
    done = command(*pip, "--no-index", "-q", wheel, folder=place)
    assert done.returncode == 0, done.stdout + done.stderr
    # torch and the others as they are, behind what is installed here; an editable equiscope there is not looked for
    libraries = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(place), "platbase": str(place)}))
    (site / "libraries.pth").write_text("\n".join(libraries) + "\n", encoding="utf-8")
    (own / "models.py").write_text(NETWORK, encoding="utf-8")
    for name in {"explorer", "widgets", "resources", "main", "benchmarks"}:
        (own / f"{name}.py").write_text(f"raise ImportError('{name} is not yours')\n", encoding="utf-8")

    def started(program: str, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
        return command(programs / program, *words, folder=own, **more)

    return started


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_wheel_has_one_name_at_the_top_level(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        texts = {name: archive.read(name).decode() for name in held if name.endswith((".py", ".txt"))}
    assert {name.partition("/")[0].partition("-")[0] for name in held} == {"equiscope"}
    assert not any(name.startswith("equiscope-") and name.endswith("/setup.py") for name in held)
    assert next(text for name, text in texts.items() if name.endswith("top_level.txt")) == "equiscope\n"
    assert "equiscope/models/old.py" not in held
    for name in ("explorer", "models", "widgets", "resources"):
        files = (p for p in (ROOT / name).rglob("*") if "__pycache__" not in p.parts and p.is_file())
        here = {p.relative_to(ROOT).as_posix() for p in files}
        assert here == {path.removeprefix("equiscope/") for path in held if path.startswith(f"equiscope/{name}/")}
    for path, text in texts.items():
        if path.endswith(".py"):
            assert not imported(text) & set(NAMES), path


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_network_in_ones_own_models_py_is_checked(run: Run) -> None:
    done = run("equiscope", "check", "models.py:network", "--trust", "--group", "translation", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "holds"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_everything_is_found_in_the_wheel(run: Run, tmp_path: Path) -> None:
    """As a module, in a folder where `import models` and `import main` are somebody else's."""
    there = run("python", "-m", "equiscope", "list", "models", "--json")
    assert there.returncode == 0, there.stderr
    here = command(sys.executable, "main.py", "list", "models", "--json", folder=ROOT)
    assert json.loads(there.stdout) == json.loads(here.stdout)
    views = run("equiscope", "list", "views", "--json")
    assert "surface" in {row["name"] for row in json.loads(views.stdout)}, views.stderr
    words = ("run", "d4-cnn", "--data", "digit-3", "--no-pictures", "--out", tmp_path / "out")
    done = run("equiscope", *words)
    assert done.returncode == 0 and (tmp_path / "out" / "report.json").is_file(), done.stderr
    code = "from equiscope.explorer.state.state import State; print(State().command())"
    assert run("python", "-c", code).stdout.startswith("equiscope --model ")
    refused = run("equiscope", "bench")
    assert refused.returncode == 2 and "come with the source tree" in refused.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_plug_in_works_in_the_wheel(run: Run, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "recipes.md").read_text(encoding="utf-8")
    for file in ("models/neighbour_mean.py", "samples/petersen.py"):
        code = re.search(r"^```python\n(.*?)^```", page.partition(f"`mine/{file}`")[2], re.MULTILINE | re.DOTALL)
        assert code is not None
        path = tmp_path / "mine" / file
        path.parent.mkdir(parents=True)
        for folder in (path.parent, tmp_path / "mine"):
            (folder / "__init__.py").touch()
        path.write_text(code[1], encoding="utf-8")
    words = ("check", "neighbour-mean", "--data", "petersen", "--json")
    done = run("equiscope", *words, EQUISCOPE_PLUGINS=str(tmp_path))
    assert done.returncode == 0 and json.loads(done.stdout)["verdict"] == "holds", done.stderr


def imported(source: str) -> set[str]:
    """Return the top-level names of all modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name.partition(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module), level=0):
                found.add(module.partition(".")[0])
    return found


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("equiscope_setup", ROOT / "setup.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "placed"),
    [
        ("from explorer.a.b import c", "from equiscope.explorer.a.b import c"),
        ("from models import (\n    a,\n)", "from equiscope.models import (\n    a,\n)"),
        ("import widgets", "from equiscope import widgets"),
        ("import explorer.spaces as package", "import equiscope.explorer.spaces as package"),
        ("def f():\n    x = 'é'; import models", "def f():\n    x = 'é'; from equiscope import models"),
        ("from main import main", "from equiscope.main import main"),
        ("from .models import a\nimport explorers, os\nfrom modelsets import b", None),
        ("'import models'\n# from models import x\n'''\nfrom explorer import y\n'''", None),
        ("import equiscope\nfrom equiscope.fields import NODE", None),
    ],
)
def test_imports_are_rewritten_on_their_lines(build: Any, source: str, placed: str | None) -> None:
    assert build.placed(source.encode(), "a.py").decode() == (source if placed is None else placed)


@pytest.mark.parametrize(
    "source",
    [
        "import explorer.state",
        "import os, models",
        "import models as m, os",
        "import importlib\nimportlib.import_module('models.layers')",
        "from \\\n    models import x",
    ],
)
def test_an_import_that_cannot_be_rewritten_ends_the_build(build: Any, source: str) -> None:
    with pytest.raises(build.SetupError, match=r"a\.py:\d: "):
        build.placed(source.encode(), "a.py")
