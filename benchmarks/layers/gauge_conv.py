"""Time a gauge-equivariant convolution beside its formulation as published: a message for each edge.

A sphere of 10,242 vertices, features of orders 0 to 2, the same weights, the same numbers to 1e-5. The peer turns each
neighbour's feature into the frame of the edge, applies one matrix for each ring, turns the message back and takes the
mean. Ours adds the waves e^{i(k theta + n g)} z up at vertices first. Peers take turns: read the ratios.

    python -m benchmarks.layers.gauge_conv
"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.parts.timing import interleaved, ratio

MESH = "mesh-sphere-fine"
ORDERS = (0, 1, 2)
SETTINGS = ((16, 1), (16, 2), (64, 1), (64, 2))  # channels, rings
TARGET = 1.0
TOLERANCE = 1e-5  # of the largest number


def run(repeats: int = 6, mesh: str = MESH, settings: tuple[tuple[int, int], ...] = SETTINGS) -> list[dict[str, Any]]:
    """Time both in turn, forwards and with gradients; return a row per setting, with one thread and with two.

    A row holds `ours_ms` and `peer_ms`, medians, `ratio`, the median over rounds, the `target` for it, and
    `difference`, the largest over the largest number.

    Raises:
        AssertionError: the two do not give the same numbers.
    """
    import torch

    from explorer.data.finding import find_sample
    from explorer.spaces.mesh.network.fit import fit_mesh
    from explorer.spaces.mesh.network.form import MeshInput
    from models.layers.gauge.conv import GaugeConv

    signals = fit_mesh(find_sample(mesh), MeshInput(channels=1, features="constant")).signals
    edge_index, *rest = (
        torch.from_numpy(signals[n].values.copy()).to(torch.get_default_device())
        for n in ("edge_index", "radius", "angle", "transport")
    )
    connection = (edge_index, *(t.float() for t in rest))
    nodes = int(edge_index.max()) + 1
    rows: list[dict[str, Any]] = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for channels, rings in settings:
                torch.manual_seed(0)
                conv = GaugeConv(channels, channels, ORDERS, ORDERS, rings)
                x = torch.randn(nodes, channels * 5)
                for what in ("forward", "forward and gradients"):
                    calls = {
                        name: _call(layer, conv, x, connection, what != "forward")
                        for name, layer in {"ours": conv, "peer": _edge_by_edge}.items()
                    }
                    mine, theirs = calls["ours"](), calls["peer"]()
                    difference = float((mine - theirs).abs().max() / theirs.abs().max())
                    assert difference <= TOLERANCE, f"{channels} channels, {rings} rings: {difference:.1e}"
                    times = interleaved(calls, repeats, warmup=1)
                    rows.append(
                        {
                            "what": what,
                            "vertices": nodes,
                            "threads": threads,
                            "channels": channels,
                            "rings": rings,
                            "ours_ms": 1e3 * statistics.median(times["ours"]),
                            "peer_ms": 1e3 * statistics.median(times["peer"]),
                            "ratio": ratio(times, "ours", "peer"),
                            "target": TARGET,
                            "difference": difference,
                        }
                    )
    finally:
        torch.set_num_threads(before)
    return rows


def _call(layer: Any, conv: Any, x: Any, connection: tuple[Any, ...], gradients: bool) -> Any:
    """Return a call without arguments that gives the answer, or what its sum has for a gradient at the weights."""
    import torch

    def forward() -> Any:
        with torch.inference_mode():
            return layer(x, *connection) if layer is conv else layer(conv, x, *connection)

    def backward() -> Any:
        answer = layer(x, *connection) if layer is conv else layer(conv, x, *connection)
        return torch.autograd.grad(answer.square().sum(), conv.weight)[0]

    return backward if gradients else forward


def _edge_by_edge(conv: Any, x: Any, edge_index: Any, radius: Any, angle: Any, transport: Any) -> Any:
    """Return the layer's answer as it is published: rho(theta) K(0) rho(g - theta) f_j on each edge, and the mean."""
    import torch

    source, target = edge_index
    nodes, width = len(x), conv.out_channels
    z = x.view(nodes, conv.in_channels, -1)
    degree = target.bincount(minlength=nodes).clamp(min=1).to(x.dtype)
    # rings at equal distances; an edge belongs to the two next to it
    places = radius / radius.max() * max(conv.rings - 1, 1)
    shares = [torch.ones_like(radius)]
    if conv.rings > 1:
        shares = [(1 - (places - k).abs()).clamp(min=0) for k in range(conv.rings)]
    along = _turned(z[source], transport - angle)
    ringed = (along[:, None] * torch.stack(shares, 1)[:, :, None, None]).flatten(1)
    matrix = conv.weight.permute(0, 2, 4, 1, 3).reshape(ringed.shape[1], -1)
    messages = _turned((ringed @ matrix).view(len(source), width, -1), angle)
    total = messages.new_zeros(nodes, *messages.shape[1:]).index_add(0, target, messages)
    own = torch.einsum("boi,bmn->inom", conv.self_weight, conv.self_kernels).flatten(2).flatten(0, 1)
    answer = total / degree[:, None, None] + (z.flatten(1) @ own).view(total.shape)
    answer[..., 0] = answer[..., 0] + conv.bias
    return answer.flatten(1)


def _turned(features: Any, by: Any) -> Any:
    """Return rho(by) of features of the orders 0, 1, 2, (E, C, 5)."""
    import torch

    parts = [features[..., :1]]
    for m in ORDERS[1:]:
        c, s = torch.cos(m * by)[:, None], torch.sin(m * by)[:, None]
        a, b = features[..., 2 * m - 1], features[..., 2 * m]
        parts += [(c * a - s * b)[..., None], (s * a + c * b)[..., None]]
    return torch.cat(parts, 2)


def main() -> None:
    rows = run()
    print(f"{rows[0]['vertices']} vertices, orders {ORDERS}")
    print("what                    threads  channels  rings   ours ms   peer ms  ratio  target  difference")
    for r in rows:
        print(
            f"{r['what']:<22}  {r['threads']:>7}  {r['channels']:>8}  {r['rings']:>5}  {r['ours_ms']:>8.1f}  "
            f"{r['peer_ms']:>8.1f}  {r['ratio']:>5.2f}  {r['target']:>6.1f}  {r['difference']:>10.1e}"
        )


if __name__ == "__main__":
    main()
