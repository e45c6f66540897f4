"""Fixtures that all tests share: one thread, repeatable randomness, and a way to take the GUI toolkits away."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

# Read once, when numpy and torch are first imported. On tensors as small as the tests', more threads only
# wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from tests.sweeps import chosen

# The same examples on every run: a gate must not fail by chance.
# `--hypothesis-profile=explore` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("repeatable")

TOOLKITS = frozenset(
    {
        "PySide6",
        "PyQt5",
        "PyQt6",
        "pyqtgraph",
        "pyvista",
        "qtpy",
        "shiboken6",
        "vtk",
        "vtkmodules",
    }
)


class AbsentToolkits(MetaPathFinder):
    """Answer an import of a GUI toolkit as a machine without it would."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Raise ModuleNotFoundError for a toolkit, else leave the module to the other finders."""
        if fullname.partition(".")[0] in TOOLKITS:
            raise ModuleNotFoundError(
                f"No module named {fullname!r} (explorer and models must do without)", name=fullname
            )


def take_toolkits_away(plugins: pytest.PytestPluginManager) -> None:
    """Make the toolkits impossible to import in this process, pytest-qt included.

    In a run over all of tests/ they are loaded already, for the GUI tests, and stay: only a run of its own
    (`make test-core`, `pytest tests/core`) shows that nothing needs them.
    """
    if TOOLKITS.isdisjoint(sys.modules) and not toolkits_are_absent():
        plugins.unregister(name="pytest-qt")
        sys.meta_path.insert(0, AbsentToolkits())


def toolkits_are_absent() -> bool:
    """Say whether `take_toolkits_away` was at work in this process."""
    return any(isinstance(finder, AbsentToolkits) for finder in sys.meta_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark before the tests are chosen by their marks."""
    chosen(items)


def pytest_report_header() -> str:
    """Say in the output which of the two kinds of run this is."""
    return f"GUI toolkits: {'cannot be imported' if toolkits_are_absent() else 'within reach'}"


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the user's cache of surfaces, and that out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EQUISCOPE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def same_start() -> Iterator[None]:
    """Give each test the same random numbers, and take back what it set for all of torch."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # the global generator is what scikit-learn draws from
    # A test that needs no torch must not pay seconds for importing it.
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
    yield
    if torch := sys.modules.get("torch"):
        changed = torch.get_default_dtype() != torch.float32 or not torch.is_grad_enabled()
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        assert not changed, "the test left torch with another default dtype or without gradients"
