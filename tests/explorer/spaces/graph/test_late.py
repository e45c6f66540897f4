"""Values that take longer come in idle time, or it is said why they do not: a window would wait without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import explorer.spaces.graph.analysis.eigensolver as solving
import explorer.spaces.graph.drawing.part as drawing
from explorer.app.answering.engine import LocalEngine
from explorer.network.opening.files.trust import Trust
from explorer.spaces.graph.analysis.spectrum import low_pairs
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.state.state import State

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.LazyLinear(4)

    def forward(self, x, edge_index):
        x = self.dense(x FAULT)
        return x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
"""


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine({}, trust=Trust(everything=True))
    yield made
    made.close()


def parts(engine: LocalEngine, folder: Path, fault: str = "") -> list[GraphPart]:
    """Return the part of the first frame and of the last."""
    path = folder / "net.py"
    path.write_text(NET.replace("FAULT", fault))
    frame = engine.answer(State(f"{path}:Net", sample="karate", node=3), lambda: False)
    *_, last = engine.refine(frame)
    found = [f.squares[0].of(GraphPart) for f in (frame, last)]
    return [part for part in found if part is not None]


def test_what_is_filled_in_later_is_not_missing(engine: LocalEngine, tmp_path: Path) -> None:
    first, last = parts(engine, tmp_path)
    assert first.missing == last.missing == {} and first.spectrum is None
    assert last.spectrum is not None and last.influence is not None


def test_what_will_not_come_is_said_from_the_first(
    engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "SPECTRUM_NODES", 30)
    monkeypatch.setattr(drawing, "INFLUENCE_SECONDS", 0.0)
    first, last = parts(engine, tmp_path)
    assert first.missing == last.missing and last.spectrum is last.influence is None
    assert last.missing["spectrum"] == "The graph has 34 nodes; eigenvectors of more than 30 take too long."
    assert "the network is too slow for that" in last.missing["influence"]


def test_an_influence_that_is_no_number_is_said(engine: LocalEngine, tmp_path: Path) -> None:
    first, last = parts(engine, tmp_path, "+ (x - x).sqrt()")  # its derivative at 0 has no end
    assert first.missing == {} and last.influence is None
    assert last.missing == {"influence": "The influence on the selected node is no finite number."}


def far_apart(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a random graph whose weights are up to 1e60 apart: its eigenvalues lie too close to be told apart."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, n, (2, 4 * n))
    edges = edges[:, edges[0] != edges[1]]
    return edges, 10.0 ** rng.uniform(-30, 30, edges.shape[1])


@pytest.mark.slow
def test_eigenvalues_that_lie_too_close_come_from_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanczos came to no end there."""
    monkeypatch.setattr(solving, "RESTARTS", 3)
    edges, weights = far_apart(1600)
    values, vectors = low_pairs(edges, 1600, 20, weights)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-10)
    assert len(values) and (np.diff(values) >= -1e-12).all()
    monkeypatch.setattr(solving, "LAST", 1000)
    with pytest.raises(ValueError, match="differ too much for eigenvectors to be told apart"):
        low_pairs(edges, 1600, 20, weights)


def test_a_graph_with_negative_weights_is_drawn_without_energies_and_spectrum(tmp_path: Path) -> None:
    path = tmp_path / "signed.csv"
    path.write_text("source,target,weight\n0,1,-1\n1,2,2\n2,0,3\n")
    engine = LocalEngine({}, trust=Trust(everything=True))
    net = tmp_path / "net.py"
    net.write_text(NET.replace("FAULT", ""))
    *_, last = engine.refine(engine.answer(State(f"{net}:Net", sample=str(path)), lambda: False))
    part = last.squares[0].of(GraphPart)
    engine.close()
    assert part is not None and part.energy == {} and part.spectrum is None
    assert part.structure.weights is not None and part.structure.weights.min() == -1
    for what in ("energy", "spectrum"):
        assert "the weights of the edges must be finite and not negative" in part.missing[what]
