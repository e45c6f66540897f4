"""Indices out of range are refused before the operation that would meet them runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.app.thread.failures import sentence
from explorer.network.tracing.bounded import Bounded, bounded, joined
from explorer.network.tracing.layers import named_error

X = torch.arange(12.0).reshape(4, 3)
BY_INDEX: dict[str, Callable[[Tensor], Any]] = {
    "rows": lambda i: X[i],
    "columns": lambda i: X[:, i.clamp(max=2)] if int(i.max()) < 4 else X[:, i],
    "after a mask": lambda i: X[None][torch.ones(1, 4, dtype=torch.bool), i.clamp(max=2) if int(i.max()) < 4 else i],
    "written": lambda i: X.clone().index_put_((i,), torch.zeros(3)),
    "select": lambda i: X.index_select(0, i),
    "fill": lambda i: X.index_fill(0, i, 0.0),
    "add": lambda i: X.clone().index_add_(0, i, torch.ones(len(i), 3)),
    "copy": lambda i: X.index_copy(0, i, torch.ones(len(i), 3)),
    "gather": lambda i: X.gather(0, i[:, None].expand(-1, 3)),
    "scatter": lambda i: X.scatter(0, i[:, None].expand(-1, 3), 0.0),
    "scatter add": lambda i: X.scatter_add(0, i[:, None].expand(-1, 3), torch.ones(len(i), 3)),
    "scatter reduce": lambda i: X.scatter_reduce(0, i[:, None].expand(-1, 3), torch.ones(len(i), 3), "mean"),
    "table": lambda i: F.embedding(i, X),
    "bag": lambda i: F.embedding_bag(i[None], X),
    "one hot": lambda i: F.one_hot(i, 4),
    "loss": lambda i: F.cross_entropy(torch.zeros(len(i), 4), i),
    "sparse": lambda i: torch.sparse_coo_tensor(
        torch.stack((i, i)), torch.ones(len(i)), (4, 4), check_invariants=False
    ),
}


@pytest.mark.parametrize("name", BY_INDEX)
def test_what_is_in_range_runs_as_before(name: str) -> None:
    index, work = torch.tensor([3, 0, 1, 2]), BY_INDEX[name]
    with Bounded():
        found = work(index)
    assert torch.equal(*(t.to_dense() if t.is_sparse else t for t in (found, work(index))))


@pytest.mark.parametrize("name", BY_INDEX)
def test_what_is_out_of_range_is_refused_first(name: str) -> None:
    ran: list[str] = []

    class Watched(Bounded):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found = super().__torch_dispatch__(func, types, args, kwargs)
            ran.append(str(func))
            return found

    with Watched(), pytest.raises((IndexError, RuntimeError)) as refused:
        BY_INDEX[name](torch.tensor([0, 99, 1, 2]))
    assert "out of range for" in str(refused.value) or name == "one hot"
    assert not any("index" in op or "gather" in op or "scatter" in op or "embedding" in op for op in ran), ran


def test_a_network_on_the_processor_runs_without_asking() -> None:
    with bounded(nn.Linear(2, 2)):
        assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def test_a_gpu_that_gives_no_more_answers_is_told_in_a_sentence() -> None:
    error = RuntimeError(
        "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported"
    )
    for told in (named_error(error), sentence(error)):
        assert "start again on the CPU" in told and "\n" not in told and len(told) < 300


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")  # which torch says once in a process
def test_a_sparse_matrix_of_nodes_that_are_not_there_is_refused_on_a_list_of_edges() -> None:
    edges = torch.tensor([[0, 1, 6], [1, 6, 0]])
    with joined([edges]):
        rows = torch._convert_indices_from_coo_to_csr(edges[0], 7)
        torch.sparse_csr_tensor(rows, edges[1], torch.ones(3), (7, 7))
        with pytest.raises(IndexError, match="index 6 is out of range for 3 places"):
            torch._convert_indices_from_coo_to_csr(edges[0], 3)
        with pytest.raises(RuntimeError, match="ncols"):
            torch.sparse_csr_tensor(torch.tensor([0, 1, 2, 3]), edges[1], torch.ones(3), (3, 3))
