"""A frame of a network that breaks its law on ties alone has no verdict and says why; a fault beside them is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.network.opening.files.trust import Trust
from explorer.square.frame import Square
from explorer.state.state import State

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inside, self.out = nn.LazyLinear(5), nn.LazyLinear(3)

    def forward(self, x, edge_index):
        h = self.inside(x) FAULT
        h = h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        return self.out(h[x[:, 0].topk(5).indices]).sum(0)
"""


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine({}, trust=Trust(everything=True))
    yield made
    made.close()


def square(engine: LocalEngine, folder: Path, tie: bool, fault: str = "") -> Square:
    """Return what is said of a network that keeps five nodes, of those that have equal first numbers or not."""
    path, data, nodes = folder / "net.py", folder / "data.npz", 12
    path.write_text(NET.replace("FAULT", fault))
    x = np.random.default_rng(0).standard_normal((nodes, 4)).astype(np.float32)
    if tie:
        x[:, 0] = 1
    edges = np.stack([np.arange(nodes - 1), np.arange(1, nodes)])
    np.savez(data, x=x, edge_index=np.concatenate([edges, edges[::-1]], 1))
    state = State(f"{path}:Net", sample=str(data), steps=(Step("permute", (11.0,)),))
    *_, last = engine.refine(engine.answer(state, lambda: False))
    found: Square = last.squares[0]
    return found


def test_where_values_tie_there_is_no_verdict_and_nobody_is_guilty(engine: LocalEngine, tmp_path: Path) -> None:
    found = square(engine, tmp_path, tie=True)
    assert found.verdict == "no law" and not found.guilty and not found.hints
    shown = {name: measure.verdict for name, measure in found.measures.items()}
    assert shown == {"inside": "holds", "out": "no law", "output": "no law"}
    assert (
        error := found.measures["output"].cumulative
    ) is not None and error > 0.01  # the curve is shown all the same
    assert found.brief == "values tie, and beside these numbers the law holds"
    assert found.message.startswith("the law fails on these numbers because values tie, first seen in out")


def test_where_nothing_ties_it_holds(engine: LocalEngine, tmp_path: Path) -> None:
    assert square(engine, tmp_path, tie=False).verdict == "holds"


@pytest.mark.parametrize("tie", [True, False])
def test_a_fault_is_named_whether_values_tie_or_not(engine: LocalEngine, tmp_path: Path, tie: bool) -> None:
    found = square(engine, tmp_path, tie, "+ torch.linspace(0, 1, len(x))[:, None]")
    assert found.verdict == "broken" and found.message == ""


FEW = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inside, self.out = nn.Linear(3, 6), nn.Linear(6, 2)

    def forward(self, x):
        far, last, kept = torch.full_like(x[:, 0], 1e10), (x - x.mean(0)).square().sum(1).argmax(), []
        for _ in range(14):
            kept.append(last)
            far = torch.minimum(far, (x - x[last]).square().sum(1))
            last = far.argmax()
        kept = torch.stack(kept)FAULT
        return self.out(torch.relu(self.inside(x[kept])).mean(0))
"""


@pytest.mark.parametrize("fault", ["", " * 0 + torch.arange(14) // 2"])
def test_where_more_are_sampled_than_there_are_nobody_is_guilty(
    engine: LocalEngine, tmp_path: Path, fault: str
) -> None:
    path, data = tmp_path / "net.py", tmp_path / "data.npz"
    path.write_text(FEW.replace("FAULT", fault))
    np.savez(data, x=np.random.default_rng(0).standard_normal((9, 3)).astype(np.float32))
    state = State(f"{path}:Net[points signals=position]", sample=str(data), steps=(Step("permute", (11.0,)),))
    *_, last = engine.refine(engine.answer(state, lambda: False))
    found = last.squares[0]
    assert found.verdict == ("broken" if fault else "no law") and bool(found.message) != bool(fault)
    if not fault:
        assert found.brief == "there are few members, and on more of them the law holds"
        assert found.message.startswith("the law fails on these 9 members, first seen in inside")
