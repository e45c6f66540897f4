"""Lists of edges as text: a header, then a line for each edge; attributes of nodes have no place in it."""

from __future__ import annotations

import csv
from pathlib import Path

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.kinds import GRAPHS
from explorer.spaces.graph.writers.records import edge_records, left_out, listed

_HELD = ("edge_index", "edge_weight", "edge_attr", "names")


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    """Write names where they can stand for the nodes: all different, and every node with an edge; else numbers."""
    edges = listed(sample)
    if not edges.ends:
        raise ValueError(f"{sample.name!r} has no edges, so a list of edges would be empty; choose .json or .npz")
    values = edge_records(sample, edges.kept)
    columns = list(values[0])
    nodes = len(sample.x.values)
    joined = len({node for pair in edges.ends for node in pair}) == nodes
    plain = all(name and name == name.strip() and not name.startswith(("#", "%", "//")) for name in sample.names)
    named = bool(sample.names) and plain and joined and len(set(sample.names)) == nodes
    # names that are numbers would be read as numbers, in their order
    named = named and not any(name.isdigit() or len(name.splitlines()) > 1 for name in sample.names)
    with path.open("w", encoding="utf-8", newline="") as file:
        if edges.directed:
            file.write("# directed\n")
        if not named:
            file.write(f"# nodes: {nodes}\n")
        table = csv.writer(file, delimiter="," if path.suffix.lower() == ".csv" else "\t", lineterminator="\n")
        table.writerow(["source", "target", *columns])
        for (a, b), record in zip(edges.ends, values):
            ends = (sample.names[a], sample.names[b]) if named else (a, b)
            table.writerow([*ends, *record.values()])
    return edges.notes + left_out(sample, _HELD if named else _HELD[:-1])


WRITER = Writer("edges", "List of edges (CSV, TSV)", (".csv", ".tsv", ".edges", ".edgelist", ".txt"), _write, GRAPHS)
