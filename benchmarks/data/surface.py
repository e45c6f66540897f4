"""The geometry of closed surfaces of 10,000 and 100,000 vertices: frames, patches, log maps, paths, spectrum.

Where potpourri3d or libigl has the same, they take turns in the same rounds (potpourri3d's lines are timed on a sample
and counted up). The ratio is to that peer, `share` the part of the target that is used.

    python -m benchmarks.data.surface
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SIZES = 10_000, 100_000
RADII, DIRECTIONS = 5, 16
REACH = 5.0  # radius of a patch in mean edges
LINES = 2000  # of potpourri3d, of which the time of all is counted up


def bumpy_sphere(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a closed surface without symmetry: a sphere of points on a golden spiral, pushed in and out."""
    from scipy.spatial import ConvexHull

    k = np.arange(count) + 0.5
    z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k
    flat = np.sqrt(1 - z * z)
    v = np.stack([np.cos(turn) * flat, np.sin(turn) * flat, z], 1)
    faces = ConvexHull(v).simplices.astype(np.int64)
    a, b, c = np.moveaxis(v[faces], 1, 0)
    inwards = np.einsum("fx,fx->f", np.cross(b - a, c - a), a) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    waves = np.random.default_rng(0).standard_normal((6, 3))
    return v * (1 + 0.05 * np.sin(3 * v @ waves.T).sum(1))[:, None], faces


def seconds(call: Callable[[], object], rounds: int = 1) -> float:
    """Return the median time of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run(sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    """Return a row for each quantity and size: seconds, target, its share, the peer's seconds and the ratio."""
    import os

    rows: list[dict[str, Any]] = []
    before = os.environ.get("EQUISCOPE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EQUISCOPE_CACHE"] = folder
        try:
            for size in sizes:
                rows += measured(*bumpy_sphere(size))
        finally:
            if before is None:
                del os.environ["EQUISCOPE_CACHE"]
            else:
                os.environ["EQUISCOPE_CACHE"] = before
    return rows


def measured(v: np.ndarray, f: np.ndarray) -> list[dict[str, Any]]:
    """Return the rows of one mesh."""
    import potpourri3d

    from benchmarks.parts.timing import interleaved
    from explorer.spaces.mesh.surface import Surface
    from explorer.work.files import disk_cache as cache

    n = len(v)
    large = n > 30_000
    rows: list[dict[str, Any]] = []

    def row(what: str, own: float, target: float | None = None, peer: str = "", theirs: float | None = None) -> None:
        rows.append(
            {
                "what": what, "vertices": n, "seconds": own, "target": target,
                "share": None if target is None else own / target,
                "peer": peer, "peer_seconds": theirs, "ratio": None if theirs is None else own / theirs,
            }
        )  # fmt: skip

    def ours() -> Surface:
        surface = Surface(v, f)
        _ = surface.frames, surface.angle, surface.radius, surface.transport
        return surface

    def affine(solver: Any, vertex: int) -> object:
        return solver.compute_log_map(vertex, "AffineLocal")

    def connection() -> object:
        solver = potpourri3d.MeshVectorHeatSolver(v, f, 1.0, False)
        return solver.get_tangent_frames(), solver.get_connection_laplacian()

    times = interleaved({"ours": ours, "theirs": connection}, 3 if large else 9, 1)
    own, theirs = (statistics.median(times[name]) for name in ("ours", "theirs"))
    row("frames, log maps of neighbours, transport", own, 2.0 if large else 0.2, "frames, connection Laplacian", theirs)

    surface = ours()
    phi = np.random.default_rng(0).normal(size=n)
    row("the same in turned frames", seconds(lambda: surface.turned(phi).transport, 5))

    reach = REACH * float(surface.radius.mean())
    cache.WORTH, kept = 0.0, cache.WORTH
    own = seconds(lambda: surface.patch_arrays(RADII, DIRECTIONS, reach))
    tracer = potpourri3d.GeodesicTracer(v, f)
    start = np.random.default_rng(0).integers(0, n, LINES)
    x, y = reach * surface.frames[start, 0], reach * surface.frames[start, 1]
    theirs = seconds(
        lambda: [tracer.trace_geodesic_from_vertex(int(a), x[k] + 0.3 * y[k]) for k, a in enumerate(start)]
    )
    what = f"patches, {RADII} x {DIRECTIONS}, {REACH:.0f} edges far"
    row(what, own, 30.0 if large else 3.0, "the lines alone, one by one", theirs * n * DIRECTIONS / LINES)
    row("the same from disk", seconds(lambda: surface.patch_arrays(RADII, DIRECTIONS, reach), 3), 1.0)
    cache.WORTH = kept

    first = seconds(lambda: surface.log_map(0))
    if large:  # theirs takes minutes to begin
        row("log map of a vertex, the first", first)
        row("the next", seconds(lambda: surface.log_map(7), 5))
    else:
        solver = potpourri3d.MeshVectorHeatSolver(v, f, 1.0, False)
        row("log map of a vertex, the first", first, None, "AffineLocal", seconds(lambda: affine(solver, 0)))
        times = interleaved({"ours": lambda: surface.log_map(7), "theirs": lambda: affine(solver, 7)}, 5, 1)
        own, theirs = (statistics.median(times[name]) for name in ("ours", "theirs"))
        row("the next", own, None, "AffineLocal", theirs)

    def clicked() -> None:
        surface.log_map(n // 3)
        surface.patch_arrays(RADII, DIRECTIONS, reach, vertices=[n // 3])

    row("log map and patch of a clicked vertex", seconds(clicked, 5), None if large else 0.05)
    surface.injectivity_radius(0)
    row("injectivity radius", seconds(lambda: surface.injectivity_radius(n // 3), 3))
    surface.path(0, 1)
    row("a vector carried half around", seconds(lambda: surface.carry(0, n - 1, (1.0, 0.0)), 3))
    row("a loop of 5 rings", seconds(lambda: surface.loop(n // 2, 5), 3))
    row("principal frames", seconds(lambda: surface.with_gauge("principal").frames))
    row("frames up the gradient", seconds(lambda: surface.with_gauge("gradient").frames))
    row("100 eigenpairs", seconds(lambda: surface.spectrum(100)))
    return rows


def main() -> None:
    columns = "what", "vertices", "seconds", "target", "share", "peer", "seconds", "ratio"
    print("{:<43} {:>8} {:>9} {:>7} {:>6}  {:<30} {:>8} {:>6}".format(*columns))
    for r in run(tuple(map(int, sys.argv[1:])) or SIZES):
        target = f"{r['target']:>7} {r['share']:>6.2f}" if r["target"] else " " * 14
        peer = f"{r['peer']:<30} {r['peer_seconds']:>8.4f} {r['ratio']:>6.3f}" if r["peer"] else ""
        print(f"{r['what']:<43} {r['vertices']:>8} {r['seconds']:>9.4f} {target}  {peer}", flush=True)


if __name__ == "__main__":
    main()
