"""The smallest eigenpairs of the normalised Laplacian, and Dirichlet energies, on graphs of 100,000 nodes.

The peers are what one would write otherwise, at the same size and number of eigenvectors: scipy's eigsh(L, which="SM")
and torch_geometric's AddLaplacianEigenvectorPE. Both may take many minutes, so a peer is stopped after `limit` seconds;
its row then says "more than", and the ratio is a bound.

    python -m benchmarks.data.graph_spectrum
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

NODES = 100_000
VECTORS = 32

# A process of its own can be stopped while it is inside ARPACK.
PEER = """
import sys, time, numpy as np
edges, n, k, name = np.load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if name == "scipy":
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh
    a = csr_matrix((np.ones(edges.shape[1]), edges), shape=(n, n))
    start = time.perf_counter()
    vectors = eigsh(laplacian(a, normed=True), k, which="SM")[1]
    seconds = time.perf_counter() - start
else:
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import AddLaplacianEigenvectorPE
    data = Data(edge_index=torch.from_numpy(edges), num_nodes=n)
    start = time.perf_counter()
    data = AddLaplacianEigenvectorPE(k - 1, is_undirected=True)(data)
    seconds = time.perf_counter() - start
    vectors = data.laplacian_eigenvector_pe.double().numpy()
from explorer.spaces.graph.analysis.laplacian import laplacian as definition
mapped = definition(edges, n) @ vectors
print(seconds, np.linalg.norm(mapped - vectors * (vectors * mapped).sum(0), axis=0).max())
"""


def random_graph(n: int = NODES, degree: int = 10, seed: int = 0) -> np.ndarray:
    """Return a connected random graph: a ring, so that it has one part, and random edges, both directions listed."""
    rng = np.random.default_rng(seed)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    return _both(np.concatenate([ring, rng.integers(0, n, (2, n * (degree // 2 - 1)))], 1))


def grid_graph(n: int = NODES) -> np.ndarray:
    """Return a square grid of about n nodes, both directions listed."""
    side = round(n**0.5)
    at = np.arange(side * side).reshape(side, side)
    ends = [at[:, 1:].ravel(), at[1:].ravel()], [at[:, :-1].ravel(), at[:-1].ravel()]
    return _both(np.stack([np.concatenate(part) for part in ends]))


def _both(edges: np.ndarray) -> np.ndarray:
    edges = np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1)
    return np.concatenate([edges, edges[::-1]], 1)


def measured_peer(
    edges: np.ndarray, n: int, k: int, name: str, limit: float, folder: Path
) -> tuple[float, float] | None:
    """Return the seconds that a peer takes and its residual, None when it is not done after `limit`."""
    path = folder / "edges.npy"
    np.save(path, edges)
    try:
        done = subprocess.run(
            [sys.executable, "-c", PEER, str(path), str(n), str(k), name],
            capture_output=True, text=True, timeout=limit + 20, check=True,
            cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    seconds, residual = map(float, done.stdout.split())
    return seconds, residual


def run(nodes: int = NODES, k: int = VECTORS, limit: float = 60.0) -> list[dict[str, Any]]:
    """Return a row per graph and peer: seconds, largest |L u - lambda u|, the peer's seconds and the ratio."""
    import tempfile

    from explorer.spaces.graph.analysis.laplacian import laplacian
    from explorer.spaces.graph.analysis.spectrum import eigenpairs

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, edges in (("random, degree 10", random_graph(nodes)), ("grid", grid_graph(nodes))):
            n = int(edges.max()) + 1
            start = time.perf_counter()
            values, vectors = eigenpairs(edges, n, k)
            seconds = time.perf_counter() - start
            residual = float(np.linalg.norm(laplacian(edges, n) @ vectors - vectors * values, axis=0).max())
            for peer, title in (("scipy", "scipy eigsh SM"), ("pyg", "AddLaplacianEigenvectorPE")):
                found = measured_peer(edges, n, k, peer, limit, Path(folder))
                theirs, theirs_off = found if found is not None else (limit, float("nan"))
                rows.append(
                    {
                        "what": f"{k} eigenpairs, {name}", "nodes": n, "edges": edges.shape[1], "seconds": seconds,
                        "residual": residual, "peer": title, "peer_seconds": theirs,
                        "peer_residual": theirs_off, "finished": found is not None, "ratio": seconds / theirs,
                    }
                )  # fmt: skip
    return rows + energy_rows(nodes)


def energy_rows(nodes: int = NODES, channels: int = 16, rounds: int = 9) -> list[dict[str, Any]]:
    """Return the row of one layer's Dirichlet energy beside the same by a sparse product, x^T (L x)."""
    from benchmarks.parts.timing import interleaved, ratio
    from explorer.spaces.graph.analysis.energy import bonds, relative_energy
    from explorer.spaces.graph.analysis.laplacian import laplacian

    edges = random_graph(nodes)
    x = np.random.default_rng(0).standard_normal((nodes, channels)).astype(np.float32)
    on, matrix = bonds(edges, nodes), laplacian(edges, nodes).astype(np.float32)
    times = interleaved(
        {"edges": lambda: relative_energy(x, on), "product": lambda: float((x * (matrix @ x)).sum() / (x**2).sum())},
        rounds,
    )
    seconds = {name: float(np.median(values)) for name, values in times.items()}
    return [
        {
            "what": f"energy of {channels} channels", "nodes": nodes, "edges": edges.shape[1],
            "seconds": seconds["edges"], "residual": 0.0, "peer": "x^T (L x), sparse product",
            "peer_seconds": seconds["product"], "peer_residual": 0.0, "finished": True,
            "ratio": ratio(times, "edges", "product"),
        }
    ]  # fmt: skip


def main() -> None:
    columns = ("what", "nodes", "edges", "seconds", "residual", "peer", "seconds", "residual", "ratio")
    print("{:<33} {:>7} {:>9}  {:>7}  {:>8}  {:<26} {:>8}  {:>8}  {:>5}".format(*columns))
    for r in run():
        more = " " if r["finished"] else ">"
        print(
            f"{r['what']:<33} {r['nodes']:>7} {r['edges']:>9}  {r['seconds']:>7.3f}  {r['residual']:>8.1e}  "
            f"{r['peer']:<26} {more}{r['peer_seconds']:>7.3f}  {r['peer_residual']:>8.1e}  {r['ratio']:>5.2f}"
        )


if __name__ == "__main__":
    main()
