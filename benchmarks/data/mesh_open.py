"""A mesh from a file, from the choice to the first frame and from frame to frame, and the memory that it takes.

Each size and network runs in a process of its own, so that its peak of memory is its own; `first` makes everything,
`again` is a process that finds the eigenvectors and patches on disk. The element turns further with every frame, as in
a drag, in the process that opens it again; the network is not run again where the element leaves its arguments as they
are. One thread. About four minutes.

    python -m benchmarks.data.mesh_open
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.parts.apart import apart

SIZES = 10_000, 100_000
MODELS = "gem-cnn", "mesh-heat", "geodesic-cnn"
FRAMES = 3, 9  # at least, and at most as many as there is time for
LONGEST = 6.0  # seconds for the frames of one element
TARGETS = {("first", 10_000): 1.5, ("first", 100_000): 10.0, ("rotation", 10_000): 0.1, ("one frame", 10_000): 0.25}
ELEMENTS = {"rotation": "rotate3d:0,{}", "one frame": "gauge:{},40", "all frames": "gauge:{},-1"}


def run(sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    """Return a row for each network and size: seconds of `first`, `again` and of a frame, and MiB at the peak."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder, f"bumpy-{size}.ply")
            write_ply(path, size)
            for model in MODELS:
                cache = str(Path(folder, f"{model}-{size}"))
                first, again = _alone(path, model, cache, "open"), _alone(path, model, cache, "turn")
                found = again | {
                    "first": first["open"],
                    "again": again["open"],
                    "again_processor": again["open_processor"],
                    "open": first["open"],
                    "open_processor": first["open_processor"],
                    "peak_mib": max(first["peak_mib"], again["peak_mib"]),
                }
                share = max(found[name] / limit for (name, count), limit in TARGETS.items() if count == size)
                rows.append({"what": model, "vertices": size, **found, "share": share})
    return rows


def write_ply(path: Path, count: int) -> None:
    """Write a closed surface without symmetry."""
    from benchmarks.data.surface import bumpy_sphere
    from explorer.data.writers import write_file
    from explorer.declare.samples import Sample, Signal
    from explorer.spaces.mesh.fields import FACES, VERTEX_POSITION

    vertices, faces = bumpy_sphere(count)
    shape = {"position": Signal(vertices, VERTEX_POSITION), "faces": Signal(faces, FACES)}
    write_file(Sample(path.stem, "mesh", shape), path)


def _alone(path: Path, model: str, cache: str, what: str) -> dict[str, float]:
    """Return the figures of a process of its own."""
    figures: dict[str, float] = apart(
        "benchmarks.data.mesh_open", str(path), model, what, EQUISCOPE_CACHE=cache, OMP_NUM_THREADS="1"
    )
    return figures


def measured(path: str, model: str, what: str) -> dict[str, float]:
    """Return seconds to open a file and, for `what` "turn", of frames, and the peak of memory in MiB.

    The process that reads files is there before torch is, as it is when the window or the command line opens one.
    """
    from explorer.data.opening import expect_file

    expect_file()
    import models
    from explorer.app.answering.engine import LocalEngine
    from explorer.declare.elements import parse_chain
    from explorer.declare.registry import scan
    from explorer.state.state import State

    engine = LocalEngine(scan(models, "CARD"))

    def seconds(chain: str) -> float:
        state = State(model=model, sample=path, steps=parse_chain(chain) if chain else ())
        start = time.perf_counter()
        engine.answer(state, lambda: False)
        return time.perf_counter() - start

    busy = time.process_time()
    found = {"open": seconds("")}
    found["open_processor"] = time.process_time() - busy
    for name, chain in ELEMENTS.items() if what == "turn" else ():
        each: list[float] = []
        while len(each) < FRAMES[0] or (len(each) < FRAMES[1] and sum(each) < LONGEST):
            each.append(seconds(chain.format(7 + 3.7 * len(each))))
        found[name] = statistics.median(each)
    return found | {"peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10}


def main() -> None:
    names = "first", "again", *ELEMENTS
    print(f"{'network':<14} {'vertices':>8} {' '.join(f'{name:>10}' for name in names)} {'peak MiB':>9} {'share':>6}")
    for r in run(tuple(map(int, sys.argv[1:])) or SIZES):
        figures = " ".join(f"{r[name]:>10.3f}" for name in names)
        print(f"{r['what']:<14} {r['vertices']:>8} {figures} {r['peak_mib']:>9.0f} {r['share']:>6.2f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 4 and not sys.argv[1].isdigit():
        print(json.dumps(measured(*sys.argv[1:])))
    else:
        main()
