"""Keep torch's compiler from being imported by what does not compile anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ASKED = "__dynamo_disable"  # under which torch keeps a function that its compiler is to leave alone


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
