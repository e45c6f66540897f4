"""Large structures and clouds, from the choice to the first frame, and frames while they turn.

A crystal of 10,000 atoms in a PDB file through SchNet, and a cloud of 100,000 points through PointNet; seconds of this
process, so that other processes count little.

    python -m benchmarks.data.points_open
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
FRAMES = 5
CASES = ("schnet", 10_000), ("pointnet-space", 100_000)
TARGETS = {"open": 10.0, "frame": 1.0}  # seconds


def crystal(path: Path, atoms: int) -> None:
    """Write rock salt, or what is left of it, as a PDB file."""
    from ase.build import bulk
    from ase.io import write

    side = 1
    while 8 * side**3 < atoms:
        side += 1
    solid = bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat(side)[:atoms]
    solid.set_pbc(False)
    write(path, solid, format="proteindatabank")


def cloud(path: Path, points: int) -> None:
    """Write a torus of points as NPZ."""
    import numpy as np

    rng = np.random.default_rng(0)
    around, across = rng.uniform(0, 2 * np.pi, (2, points))
    reach = 1 + 0.35 * np.cos(across)
    place = np.stack([reach * np.cos(around), reach * np.sin(around), 0.35 * np.sin(across)], 1)
    np.savez(path, position=place)


def run(cases: tuple[tuple[str, int], ...] = CASES) -> list[dict[str, Any]]:
    """Return a row for each case: seconds to open, and of a turned frame."""
    import models
    from explorer.app.answering.engine import LocalEngine
    from explorer.declare.elements import parse_chain
    from explorer.declare.registry import scan
    from explorer.state.state import State

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for model, count in cases:
            path = Path(folder, f"large-{count}.{'pdb' if model == 'schnet' else 'npz'}")
            (crystal if model == "schnet" else cloud)(path, count)
            engine = LocalEngine(scan(models, "CARD"))

            def answered(chain: str, engine: Any = engine, model: str = model, path: Path = path) -> tuple[float, Any]:
                state = State(model=model, sample=str(path), steps=parse_chain(chain) if chain else ())
                start = time.process_time()
                frame = engine.answer(state, lambda: False)
                return time.process_time() - start, frame

            opened, _ = answered("")
            frames = [answered(f"rotation:{20 + 3 * k},10,0") for k in range(FRAMES)]
            found = {"open": opened, "frame": statistics.median(s for s, _ in frames)}
            share = max(found[name] / limit for name, limit in TARGETS.items())
            rows.append({"what": model, "points": count, **found, "share": share})
            engine.close()
    return rows


def main() -> None:
    print(f"{'network':<16} {'points':>8} {'open, s':>8} {'turned frame, s':>16} {'share':>6}")
    for r in run():
        figures = f"{r['open']:>8.2f} {r['frame']:>16.3f} {r['share']:>6.2f}"
        print(f"{r['what']:<16} {r['points']:>8} {figures}")


if __name__ == "__main__":
    main()
