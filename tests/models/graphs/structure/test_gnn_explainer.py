"""Row N9: torch_geometric's loss and layers, masks that find the houses, in inference mode, whatever the order."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch_geometric.explain import ExplainerConfig, GNNExplainer, ModelConfig
from torch_geometric.nn import GCNConv

from explorer.spaces.graph.fields import EDGE
from explorer.spaces.graph.samples import ba_shapes
from models.graphs.structure import gnn_explainer
from models.graphs.structure.gnn_explainer import (
    Adam,
    Explained,
    MaskableGCN,
    RoleGCN,
    WeighedGCN,
    Weights,
    applied,
    build,
    explain,
    pull,
    train,
)
from models.layers.graph.pooling import GraphConv
from tests.models.graphs.relabelling import Shuffle, declared, law_errors, simple_graph

WEIGHTS = Path(__file__).resolve().parents[4] / "resources" / "weights" / "gnn-explainer.safetensors"


def shipped(epochs: float = 20) -> Explained:
    network = build(epochs=epochs)
    network.load_state_dict(load_file(WEIGHTS))
    assert isinstance(network, Explained)
    return network.eval()


def sample() -> tuple[Tensor, Tensor]:
    made = ba_shapes.ba_shapes()
    return tuple(torch.from_numpy(made.signals[key].values.copy()) for key in ("x", "edge_index"))  # type: ignore[return-value]


def test_the_graph_is_what_the_paper_says() -> None:
    made = ba_shapes.houses()
    graph = nx.Graph(made.edge_index.T.tolist())
    assert len(made.role) == 700 == graph.number_of_nodes() and nx.is_connected(graph)
    assert np.bincount(made.role).tolist() == [300, 160, 160, 80]
    assert made.edge_index.shape[1] == 2 * graph.number_of_edges()  # both ways, none twice
    assert graph.number_of_edges() == int(1.01 * (295 * 5 - 5 + 5 * 1 + 80 * 7))
    walls = nx.Graph(made.edge_index.T[made.truth == 1].tolist())
    parts = [walls.subgraph(part) for part in nx.connected_components(walls)]
    assert len(parts) == 80 and all(nx.is_isomorphic(part, nx.house_graph()) for part in parts)
    top = next(node for node in parts[0] if made.role[node] == 3)
    assert walls.degree(top) == 2 and all(made.role[n] == 1 for n in walls[top])
    base = graph.subgraph(range(300))
    assert min(d for _, d in base.degree()) >= 1 and max(d for _, d in base.degree()) > 25  # hubs
    assert not np.array_equal(ba_shapes.houses(1).edge_index[:, :500], made.edge_index[:, :500])


def test_a_layer_is_gcn_conv_with_loops_and_doubled_edges() -> None:
    x, edge_index = simple_graph(12, 20, 5)
    edge_index = torch.cat([edge_index, edge_index[:, :2], torch.tensor([[3], [3]])], dim=1)
    theirs, ours = GCNConv(5, 4).double(), MaskableGCN(5, 4).double()
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x, edge_index), theirs(x, edge_index), rtol=0, atol=1e-12)


def test_the_loss_is_torch_geometrics() -> None:
    edge, feature = torch.randn(30, dtype=torch.float64), torch.randn(1, 6, dtype=torch.float64)
    theirs = GNNExplainer()
    config = ModelConfig(mode="multiclass_classification", task_level="node", return_type="raw")
    theirs.connect(ExplainerConfig("model", node_mask_type="common_attributes", edge_mask_type="object"), config)
    theirs.edge_mask, theirs.node_mask = nn.Parameter(edge), nn.Parameter(feature)
    theirs.hard_edge_mask = torch.rand(30) < 0.6
    theirs.hard_node_mask = torch.ones_like(feature, dtype=torch.bool)
    logits, wanted = torch.randn(1, 4, dtype=torch.float64), torch.tensor([2])
    theirs._loss(logits, wanted).backward()
    assert theirs.edge_mask.grad is not None and theirs.node_mask.grad is not None
    both = torch.cat([edge, feature[0]])
    ours = pull(both, *Weights().of(theirs.hard_edge_mask.double(), 6)) * both.sigmoid() * (1 - both.sigmoid())
    torch.testing.assert_close(ours[:30], theirs.edge_mask.grad, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours[30:], theirs.node_mask.grad[0], rtol=0, atol=1e-12)


def test_what_the_prediction_does_not_depend_on_weighs_nothing() -> None:
    size, entropy = Weights().of(torch.zeros(5), 2)
    assert not size.any() and not entropy.any()


def test_weighed_without_messages_is_the_network_with_masked_messages() -> None:
    x, edge_index = simple_graph(9, 14, 1)
    edge_index = torch.cat([edge_index, edge_index[:, :2], torch.tensor([[3], [3]])], dim=1)
    mask = torch.rand(edge_index.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    network = shipped().gcn.double().requires_grad_(False)
    weighed = WeighedGCN(network, edge_index, len(x))
    with applied(network, [mask]):
        torch.testing.assert_close(weighed(x, edge_index, mask), network(x, edge_index), rtol=0, atol=1e-12)
    inputs = x.clone().requires_grad_(), mask.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda v, w: weighed(v, edge_index, w), inputs)


def test_an_explanation_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    net, (x, edge_index) = shipped(5), sample()
    nodes: list[int] = []
    made = gnn_explainer.explain
    monkeypatch.setattr(gnn_explainer, "explain", lambda *a, **k: nodes.append(int(a[2])) or made(*a, **k))
    monkeypatch.setattr(gnn_explainer, "MADE", {})

    def masked(x: Tensor) -> Tensor:
        return declared(net, (x.clone(), edge_index.clone()))["edge_mask"][1]

    first = masked(x)
    kept = first.clone()
    first.zero_()  # whoever gets a mask may write into it
    assert torch.equal(masked(x), kept) and nodes == [300]
    other = x.clone()
    other[[300, 305], 1] = torch.tensor([0.0, 1.0])
    assert not torch.equal(masked(other), kept) and nodes == [300, 305]
    net.gcn.conv1.bias.data += 0.5
    assert not torch.equal(masked(x), kept) and nodes == [300, 305, 300]


def test_adam_is_torchs() -> None:
    start = torch.randn(5, dtype=torch.float64)
    a, b = start.clone(), nn.Parameter(start.clone())
    ours, theirs = Adam([a], rate=0.05), torch.optim.Adam([b], lr=0.05)
    for _ in range(7):
        b.grad = torch.cos(b.detach()) + b.detach() ** 3
        ours.step([torch.cos(a) + a**3])
        theirs.step()
    torch.testing.assert_close(a, b.detach(), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_edge_masks_find_the_houses() -> None:
    made = ba_shapes.houses()
    graph = nx.Graph(made.edge_index.T.tolist())
    net, ones = shipped().gcn, torch.ones(700, 1)
    edge_index = torch.from_numpy(made.edge_index)
    found: list[np.ndarray] = []
    right: list[np.ndarray] = []
    for node in range(400, 700, 50):
        near = np.array(sorted(nx.single_source_shortest_path_length(graph, node, cutoff=3)))
        inside = np.isin(made.edge_index, near).all(0)
        mask, features = explain(net, (ones, edge_index), node, epochs=60)
        assert mask.shape == (4110,) and features.shape == (1,) and mask.min() >= 0 and mask.max() <= 1
        assert not mask[torch.from_numpy(~inside)].any()  # three layers hear nothing from further away
        found.append(mask.numpy()[inside])
        right.append(made.truth[inside])
    assert roc_auc_score(np.concatenate(right), np.concatenate(found)) > 0.9


def test_the_shipped_network_knows_the_roles() -> None:
    made = ba_shapes.houses()
    with torch.no_grad():
        scores = shipped().gcn(torch.ones(700, 1), torch.from_numpy(made.edge_index))
    right = scores.argmax(1).numpy() == made.role
    assert right.mean() > 0.95


@pytest.mark.slow
def test_the_prediction_rests_on_the_edges_of_the_mask() -> None:
    """Without the eight edges of the largest mask the class is lost more often than without the eight of the least."""
    net, (x, edge_index) = shipped().gcn, sample()
    ones = x[:, :1]
    left: dict[str, list[float]] = {"most": [], "least": []}
    for node in range(300, 500, 20):
        mask, _ = explain(net, (ones, edge_index), node, epochs=60)
        with torch.no_grad():
            wanted = int(net(ones, edge_index)[node].argmax())
        heard = mask.nonzero()[:, 0]
        order = heard[mask[heard].argsort(descending=True)]
        for name, cut in (("most", order[:8]), ("least", order[-8:])):
            with applied(net, [torch.ones(4110).index_fill(0, cut, 0.0)]), torch.no_grad():
                left[name].append(float(net(ones, edge_index)[node].softmax(0)[wanted]))
    assert np.mean(left["most"]) < 0.5 < np.mean(left["least"]), left


def test_in_inference_mode_and_without_a_trace() -> None:
    net, (x, edge_index) = shipped(15), sample()
    with torch.no_grad():
        outside = declared(net, (x, edge_index))["edge_mask"][1]
    with torch.inference_mode():
        seen: dict[str, Tensor] = {}
        handle = net.edge_mask.register_forward_hook(lambda _m, _a, y: seen.update(mask=y))
        net(x.clone(), edge_index.clone())
        handle.remove()
    assert torch.equal(seen["mask"], outside) and outside.shape == (4110, 1)
    assert all(p.grad is None and p.requires_grad for p in net.parameters())
    assert all(not layer._forward_hooks for layer in net.modules())


def test_watchers_of_the_network_see_one_pass() -> None:
    net, (x, edge_index) = shipped(5), sample()
    calls: list[int] = []
    net.gcn.conv1.register_forward_hook(lambda *_: calls.append(1))
    with torch.no_grad():
        net(x, edge_index)
    assert calls == [1]


def test_the_law_of_every_layer_the_mask_included() -> None:
    net, (x, edge_index) = shipped(100).double(), sample()
    errors = law_errors(net, (x.double(), edge_index), Shuffle.drawn(700, 4110))
    assert {"edge_mask", "explained", "gcn.conv2.messages", "scores"} <= errors.keys()
    assert max(errors.values()) < 1e-9, errors


def test_a_random_start_breaks_the_law_and_so_does_a_numbered_node() -> None:
    net, (x, edge_index) = shipped().gcn.double(), sample()
    ones, shuffle = x[:, :1].double(), Shuffle.drawn(700, 4110)
    moved = shuffle.inputs({"edge_index": edge_index})["edge_index"]

    def error(node: int, there: int, seed: int | None) -> float:
        before = explain(net, (ones, edge_index), node, 10, seed)[0]
        return float((explain(net, (ones, moved), there, 10, seed)[0] - shuffle.act(before, EDGE)).abs().max())

    assert error(300, int(shuffle.order[300]), None) < 1e-9
    assert error(300, int(shuffle.order[300]), 0) > 1e-3
    numbered = Explained(300, 10).double().eval()
    numbered.load_state_dict(shipped().state_dict())
    assert law_errors(numbered, (x.double(), edge_index), shuffle)["edge_mask"] > 1e-2


def test_any_network_that_shows_its_messages_can_be_explained() -> None:
    class Regression(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GraphConv(3, 2)
            self.pool = nn.Linear(2, 2)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.pool(self.conv(x, edge_index).relu().sum(0, keepdim=True))

    x, edge_index = simple_graph(8, 12, 3)
    mask, features = explain(Regression().double(), (x, edge_index), 0, epochs=20)
    assert mask.shape == (24,) and features.shape == (3,) and (mask > 0).any()
    with pytest.raises(ValueError, match="shows its messages"):
        explain(nn.Bilinear(3, 2, 2), (x, edge_index))


@pytest.mark.parametrize("outputs", [1, 3])
def test_weights_of_edges_are_masked_in_place_of_messages(outputs: int) -> None:
    """One edge carries all there is: both ways of masking find it, of a class and of a single number."""

    class Weighted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = nn.Linear(1, outputs)
            self.lin.weight.data = torch.linspace(3, -3, outputs)[:, None]

        def forward(self, x: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
            return self.lin(torch.zeros_like(x).index_add(0, edge_index[1], weight[:, None] * x[edge_index[0]]))

    x = torch.tensor([[0.0], [0.0], [9.0], [0.0]], dtype=torch.float64)
    edge_index = torch.tensor([[0, 1, 2, 2], [3, 3, 3, 1]])
    net = Weighted().double()
    mask, _ = explain(net, (x, edge_index, torch.ones(4, dtype=torch.float64)), 3, edge_weight=2)
    assert (mask > 0).tolist() == [False, False, True, False] and mask[2] > 0.5


def test_nothing_marked_or_no_edges() -> None:
    net, (x, edge_index) = shipped(5), sample()
    unmarked = declared(net, (x * torch.tensor([1.0, 0.0]), edge_index))["edge_mask"][1]
    assert unmarked.shape == (4110, 1) and not unmarked.any()
    assert declared(net, (x, edge_index[:, :0]))["edge_mask"][1].shape == (0, 1)


@pytest.mark.slow
def test_a_short_training_learns() -> None:
    told: list[int] = []
    net, metrics = train(epochs=200, seed=1, progress=lambda a, b, s: told.append(a))
    assert told == [50, 100, 150, 200] and metrics["train_accuracy"] > 0.7
    assert all(torch.equal(p, p.half().float()) for p in net.parameters())
    assert isinstance(net, Explained) and isinstance(net.gcn, RoleGCN)
