"""One explanation by GNNExplainer, 100 steps, beside torch_geometric's on the same network, in turn."""

from __future__ import annotations

from typing import Any

NODE, STEPS = 300, 100


def run(rounds: int = 5) -> list[dict[str, Any]]:
    """Return the row of an edge mask on BA-Shapes, as the card computes it; target 0.5 of torch_geometric's time."""
    import torch

    from benchmarks.parts.timing import interleaved, row
    from benchmarks.published.published_explainer import twin_explainer
    from explorer.spaces.graph.samples import ba_shapes
    from models.graphs.structure import gnn_explainer
    from models.training.learning import one_thread

    made = ba_shapes.houses()
    edge_index, ones = torch.from_numpy(made.edge_index), torch.ones(len(made.role), 1)
    network = gnn_explainer.build(epochs=STEPS)
    assert isinstance(network, gnn_explainer.Explained)
    theirs = twin_explainer(network.gcn, STEPS)
    marked = torch.zeros_like(ones).index_fill(0, torch.tensor([NODE]), 1)

    def ours() -> torch.Tensor:
        gnn_explainer.MADE.clear()  # every round makes it anew
        mask: torch.Tensor = network.edge_mask(ones, edge_index, marked)
        return mask

    with one_thread():
        times = interleaved({"ours": ours, "torch_geometric": lambda: theirs(ones, edge_index, index=NODE)}, rounds, 1)
    return [row(times, "ours", "torch_geometric", 0.5)]
