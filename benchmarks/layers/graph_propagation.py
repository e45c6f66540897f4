"""Time propagation over a graph as sparse products, beside torch_geometric's layers on edge lists.

100,000 nodes, 1,000,000 edges, the same weights, the same numbers to 1e-6. The graph's pattern has been made before
(`prepare_ms`), as it is from the second pass over a graph on. Peers take turns: read the ratios.

    python -m benchmarks.layers.graph_propagation
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.parts.timing import interleaved, ratio

NODES, EDGES = 100_000, 1_000_000
WIDTHS = (16, 64)
HEADS = 8
TOLERANCE = 1e-6  # of the largest number


def run(repeats: int = 10, nodes: int = NODES, edges: int = EDGES) -> list[dict[str, Any]]:
    """Time our GCN and GAT layers in turn with GCNConv and GATConv; return a row per comparison.

    A row holds `ours_ms` and `peer_ms`, medians, `ratio`, the median over rounds of ours by the peer's, the `target`
    for it, `difference`, the largest over the largest number, and `prepare_ms`, once for a graph.

    Raises:
        AssertionError: the two do not give the same numbers.
    """
    import torch
    from torch_geometric.nn import GATConv, GCNConv

    from models.graphs.message_passing.gat import GATLayer
    from models.graphs.message_passing.gcn import GCNLayer
    from models.layers.graph.propagation import operator

    chance, device = torch.Generator().manual_seed(0), torch.get_default_device()
    edge_index = torch.randint(nodes, (2, edges), generator=chance, device="cpu").to(device)
    edge_index = edge_index[:, edge_index[0] != edge_index[1]]
    preparing = []
    for _ in range(3):
        again, start = edge_index.clone(), time.perf_counter()
        operator(again, nodes)
        preparing.append(1e3 * (time.perf_counter() - start))
    rows: list[dict[str, Any]] = []

    def compare(what: str, width: int, calls: dict[str, Callable[[], Any]], targets: dict[str, float]) -> None:
        mine, theirs = calls["ours"](), calls["peer"]()
        difference = float((mine - theirs).abs().max() / theirs.abs().max())
        assert difference <= TOLERANCE, f"{what}: {difference:.1e}"
        del mine, theirs
        times = interleaved(calls, repeats, warmup=1)
        for (pair, target), (name, peer) in zip(targets.items(), (key.split("/") for key in targets), strict=True):
            rows.append(
                {
                    "what": f"{what}, {pair}",
                    "width": width,
                    "threads": torch.get_num_threads(),
                    "ours_ms": 1e3 * statistics.median(times[name]),
                    "peer_ms": 1e3 * statistics.median(times[peer]),
                    "ratio": ratio(times, name, peer),
                    "target": target,
                    "difference": difference,
                    "prepare_ms": statistics.median(preparing),
                }
            )

    with torch.inference_mode():
        for width in WIDTHS:
            x = torch.randn(nodes, width, generator=chance, device="cpu").to(device)
            gcn, conv, cached = GCNLayer(width, width), GCNConv(width, width), GCNConv(width, width, cached=True)
            for theirs in (conv, cached):
                theirs.load_state_dict({"lin.weight": gcn.linear.weight, "bias": gcn.bias})
            compare(
                "GCN",
                width,
                {
                    "ours": lambda: gcn(x, edge_index),  # noqa: B023
                    "peer": lambda: conv(x, edge_index),  # noqa: B023
                    "peer cached": lambda: cached(x, edge_index),  # noqa: B023
                },
                {"ours/peer": 0.1, "ours/peer cached": 0.1},
            )
            gat, attentive = GATLayer(width, width, HEADS), GATConv(width, width // HEADS, HEADS)
            shape = (1, HEADS, width // HEADS)
            attentive.load_state_dict(
                {
                    "lin.weight": gat.linear.weight,
                    "att_src": gat.source.view(shape),
                    "att_dst": gat.target.view(shape),
                    "bias": gat.bias,
                }
            )
            compare(
                f"GAT {HEADS} heads",
                width,
                {
                    "ours": lambda: gat(x, edge_index),  # noqa: B023
                    "captured": lambda: _captured(gat, x, edge_index),  # noqa: B023
                    "peer": lambda: attentive(x, edge_index),  # noqa: B023
                },
                {"ours/peer": 1.0, "captured/peer": 1.15},
            )
    return rows


def _captured(gat: Any, x: Any, edge_index: Any) -> Any:
    """Run the layer and keep its coefficients, as the program does: by hooks."""
    kept: dict[str, Any] = {}
    taps = ("logits", "attention", "self_attention")
    handles = [
        gat.get_submodule(name).register_forward_hook(
            lambda _, __, value, name=name: kept.update({name: value.clone()})
        )
        for name in taps
    ]
    try:
        result = gat(x, edge_index)
    finally:
        for handle in handles:
            handle.remove()
    assert kept.keys() == set(taps)
    return result


def main() -> None:
    rows = run()
    print(f"{NODES} nodes, {EDGES} edges, {rows[0]['threads']} threads; pattern made in {rows[0]['prepare_ms']:.0f} ms")
    print("what                          width    ours ms    peer ms   ratio  target  difference")
    for r in rows:
        print(
            f"{r['what']:<28}  {r['width']:>5}  {r['ours_ms']:>9.2f}  {r['peer_ms']:>9.2f}  "
            f"{r['ratio']:>6.3f}  {r['target']:>6.2f}  {r['difference']:>10.1e}"
        )


if __name__ == "__main__":
    main()
