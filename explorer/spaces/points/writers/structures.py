"""Points as extended XYZ, with elements, charges, vectors such as velocities and forces, and the cell; and as PCD."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.chemistry.atoms import SYMBOLS, numbered
from explorer.spaces.graph.writers.records import left_out
from explorer.spaces.points.vectors import vectors_of

POINTS = ("points",)


def _write_xyz(sample: Sample, path: Path) -> tuple[str, ...]:
    places = np.asarray(sample.signals["position"].values, np.float64)
    given = sample.signals.get("number")
    numbers = np.zeros(len(places), np.int64) if given is None else np.asarray(given.values)
    symbols = [SYMBOLS[k - 1] if 0 < k <= len(SYMBOLS) else "X" for k in numbers]
    columns, properties, held = [places], "species:S:1:pos:R:3", ["position", "number"]
    if sample.names == numbered(symbols):  # made of the elements again by whoever reads it
        held.append("names")
    if "charge" in sample.signals:
        columns.append(np.asarray(sample.signals["charge"].values, np.float64))
        properties += ":initial_charges:R:1"
        held.append("charge")
    for name, vectors in vectors_of(sample).items():
        if re.fullmatch(r"\w+", name):
            columns.append(vectors)
            properties += f":{'velocities' if name == 'velocity' else name}:R:3"
            held.append(name)
    around, periodic = "", "F F F"
    if "cell" in sample.signals:
        edges, repeats = (np.asarray(sample.signals[name].values)[0].tolist() for name in ("cell", "periodic"))
        around = f'Lattice="{" ".join(map(repr, edges))}" '
        periodic = " ".join("FT"[bool(on)] for on in repeats)
        held += ["cell", "periodic"]
    rows = np.concatenate(columns, 1).tolist()
    with path.open("w", encoding="ascii", newline="\n") as file:
        file.write(f'{len(rows)}\n{around}Properties={properties} pbc="{periodic}"\n')
        file.writelines(f"{s} {' '.join(map(repr, row))}\n" for s, row in zip(symbols, rows, strict=True))
    return left_out(sample, tuple(held))


def _write_pcd(sample: Sample, path: Path) -> tuple[str, ...]:
    places = np.asarray(sample.signals["position"].values, "<f8")
    n = len(places)
    with path.open("wb") as file:
        file.write(
            f"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z\nSIZE 8 8 8\nTYPE F F F\n"
            f"COUNT 1 1 1\nWIDTH {n}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {n}\nDATA binary\n".encode("ascii")
        )
        file.write(np.ascontiguousarray(places).tobytes())
    return left_out(sample, ("position",))


WRITER = (
    Writer("extxyz", "Extended XYZ", (".xyz", ".extxyz"), _write_xyz, POINTS),
    Writer("pcd", "PCD", (".pcd",), _write_pcd, POINTS),
)
