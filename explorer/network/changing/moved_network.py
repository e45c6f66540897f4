"""A network that is changed along with the signal: F'(rho(g) x) beside rho'(g) F(x).

Some laws hold for a class of networks and not for one of them: a gated network follows a signal at another pace when
its gates are rescaled, with all else as it was (Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021,
section 5.8, class invariance). A module that can be changed so is a Follower; its `alpha` is 1 where nothing
changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol, runtime_checkable

from torch import nn

from explorer.network.tracing.walking import modules_of


@runtime_checkable
class Follower(Protocol):
    """A module that can be changed along with the signal."""

    alpha: float

    def following(self) -> AbstractContextManager[None]:
        """Change the module until the end of the block."""


@contextmanager
def following(model: nn.Module) -> Iterator[bool]:
    """Change the modules that know how, for as long as rho(g) x is looked at; yield whether one of them does."""
    # a class without the method is told at once; asking the protocol of every module takes longer than to run them
    able = (m for m in modules_of(model) if hasattr(type(m), "following"))
    changed = [m for m in able if isinstance(m, Follower) and m.alpha != 1.0]
    with ExitStack() as stack:
        for module in changed:
            stack.enter_context(module.following())
        yield bool(changed)
