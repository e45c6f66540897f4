"""Keep torch's compiler from being imported by what compiles nothing, and from leaving a folder where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

ASKED = "__dynamo_disable"  # under which torch keeps a function that its compiler is to leave alone
PLACE = "TORCHINDUCTOR_CACHE_DIR"  # variable of the environment: where torch keeps what it has compiled
_MAKES_IT = "torch._dynamo.package"  # the module that makes that folder when it is imported


@contextmanager
def not_asked() -> Iterator[None]:
    """Run torch's own formulas, within, without asking the compiler to leave them alone.

    A derivative in forward mode adds tensors that are known to be zero, and torch finds the shape of such a sum with
    a formula in Python, which it marks for its compiler when it is first called: that imports the compiler, which
    takes 2 to 4 seconds of processor in each process. Nothing is compiled here.
    """
    marked = [] if "torch._dynamo" in sys.modules else [f for f in formulas() if ASKED not in vars(f)]
    for formula in marked:
        setattr(formula, ASKED, formula)
    try:
        yield
    finally:
        for formula in marked:
            if vars(formula).get(ASKED) is formula:
                delattr(formula, ASKED)


def formulas() -> Iterator[Callable[..., Any]]:
    """Yield the functions of torch that are marked for its compiler when they are called."""
    import torch._decomp
    from torch import _compile

    tables = getattr(torch._decomp, "global_decomposition_table", {}).values()
    found = {}
    for outer in (f for table in tables for f in table.values()):
        function: Any = outer
        while function is not None:
            code = getattr(function, "__code__", None)
            if code is not None and code.co_filename == _compile.__file__ and "fn" in code.co_freevars:
                inner = function.__closure__[code.co_freevars.index("fn")].cell_contents
                found[id(inner)] = inner
            function = getattr(function, "__wrapped__", None)
    yield from found.values()


class _Tidy(MetaPathFinder):
    """Takes back the empty folder that an import of torch's compiler makes, and the variable that names it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _MAKES_IT or (spec := PathFinder.find_spec(fullname, path, target)) is None:
            return None
        loader: Any = spec.loader
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            chosen = os.environ.get(PLACE)
            try:
                run(module)
            finally:
                if chosen is None and (made := os.environ.pop(PLACE, "")):
                    with suppress(OSError):  # somebody has put something there
                        os.rmdir(made)

        loader.exec_module = exec_module
        return spec


def leave_no_folder() -> None:
    """Have an import of torch's compiler leave nothing among the temporary files; what is compiled makes it anew.

    Every optimizer of torch imports the compiler, and that makes a folder at once, whether it compiles or not.
    """
    if not any(isinstance(finder, _Tidy) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Tidy())
