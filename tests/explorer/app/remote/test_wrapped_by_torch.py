"""A wrapper that torch's compiler puts round its own functions is no tampering; anybody else's is."""

from __future__ import annotations

import copy
import functools
import pickle

import torch
from torch._compile import _disable_dynamo

from explorer.app.remote.tampering import wrapped_by_torch
from explorer.network.tracing.running import Entering


def test_only_wrappers_of_torch_itself_are_let_through() -> None:
    def drawn(seed: int) -> int:
        return seed

    @functools.wraps(drawn)
    def other(seed: int) -> int:
        return drawn(seed) + 1

    assert wrapped_by_torch(_disable_dynamo(drawn), drawn)
    assert not wrapped_by_torch(other, drawn) and not wrapped_by_torch(_disable_dynamo(other), drawn)
    assert not wrapped_by_torch(torch.manual_seed, drawn) and not wrapped_by_torch(None, drawn)


def test_a_hook_is_shared_by_copies_and_silent_when_stored() -> None:
    heard: list[str] = []
    hook = Entering(heard.append, "conv", None)
    assert copy.deepcopy(hook) is hook
    pickle.loads(pickle.dumps(hook))()
    assert not heard
    hook()
    assert heard == ["conv"]
