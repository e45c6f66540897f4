"""GNNExplainer on BA-Shapes: how well edge masks find the houses, ours and torch_geometric's, on the same network.

Ying et al., 2019, table 2: AUC .925 for GNNExplainer, .882 for the gradient, .815 for attention. The area under the
curve is over the edges within three steps of each explained node, all nodes together; the truth is the walls of houses.
Two graphs: with 1 % of random edges, as in the paper, where a network is trained with the shipped recipe, and without.

    python -m benchmarks.published.published_explainer
"""

from __future__ import annotations

import time
import warnings
from typing import Any

PUBLISHED = 0.925
NODES = range(400, 700, 10)


def run(epochs: int = 200, seed: int = 0) -> list[dict[str, Any]]:
    """Return a row for each explainer and graph: AUC, seconds for one node, the test accuracy of the network."""
    import torch
    from sklearn.metrics import roc_auc_score
    from torch_geometric.utils import k_hop_subgraph

    from explorer.spaces.graph.samples import ba_shapes
    from models.graphs.structure import gnn_explainer

    rows: list[dict[str, Any]] = []
    for random in (ba_shapes.RANDOM, 0.0):
        made = ba_shapes.houses(random=random)
        network, metrics = gnn_explainer.train(seed=seed, random=random)
        assert isinstance(network, gnn_explainer.Explained)
        edge_index, truth = torch.from_numpy(made.edge_index), torch.from_numpy(made.truth)
        ones = torch.ones(len(made.role), 1)
        near = {node: k_hop_subgraph(node, 3, edge_index)[3] for node in NODES}
        for name, explainer in (("ours", _ours), ("torch_geometric", _torch_geometric)):
            torch.manual_seed(seed)
            start = time.perf_counter()
            masks = explainer(network.gcn, ones, edge_index, epochs)
            seconds = (time.perf_counter() - start) / len(NODES)
            found = torch.cat([mask[near[node]] for node, mask in masks.items()])
            right = torch.cat([truth[near[node]] for node in masks])
            rows.append(
                {
                    "explainer": name,
                    "random_edges": random,
                    "auc": float(roc_auc_score(right.numpy(), found.numpy())),
                    "published": PUBLISHED,
                    "nodes": len(masks),
                    "epochs": epochs,
                    "seconds_a_node": seconds,
                    "test_accuracy": metrics["test_accuracy"],
                }
            )
    return rows


def _ours(network: Any, x: Any, edge_index: Any, epochs: int) -> dict[int, Any]:
    from models.graphs.structure.gnn_explainer import explain

    return {node: explain(network, (x, edge_index), node, epochs)[0] for node in NODES}


def twin_explainer(network: Any, epochs: int) -> Any:
    """Return torch_geometric's explainer of the same network, built of its layers with the same weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch_geometric still asks for TorchScript when it is imported
        from torch import nn
        from torch_geometric.explain import Explainer, GNNExplainer
        from torch_geometric.nn import GCNConv

    class Twin(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            width = network.conv1.lin.out_features
            self.conv1, self.conv2 = GCNConv(1, width), GCNConv(width, width)
            self.conv3 = GCNConv(width, network.conv3.lin.out_features)

        def forward(self, x: Any, edge_index: Any) -> Any:
            x = self.conv1(x, edge_index).relu()
            return self.conv3(self.conv2(x, edge_index).relu(), edge_index)

    twin = Twin()
    twin.load_state_dict(network.state_dict())
    return Explainer(
        twin.eval(),
        GNNExplainer(epochs=epochs),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )


def _torch_geometric(network: Any, x: Any, edge_index: Any, epochs: int) -> dict[int, Any]:
    explainer = twin_explainer(network, epochs)
    return {node: explainer(x, edge_index, index=node).edge_mask for node in NODES}


def main() -> None:
    print(f"published: {PUBLISHED}")
    print("explainer        random edges     AUC   s a node   test accuracy")
    for r in run():
        print(
            f"{r['explainer']:<15}  {r['random_edges']:>12.2%}  {r['auc']:>6.3f}  {r['seconds_a_node']:>9.2f}  "
            f"{r['test_accuracy']:>14.3f}"
        )


if __name__ == "__main__":
    main()
