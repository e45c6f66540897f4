"""GML (M. Himsolt, 1997), as networkx, igraph and Gephi read it: ASCII, other characters as &#...;."""

from __future__ import annotations

from pathlib import Path

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.kinds import GRAPHS
from explorer.spaces.graph.writers.records import Value, edge_records, listed, node_records


def _text(value: Value) -> str:
    if isinstance(value, str):
        plain = value.replace("&", "&amp;").replace('"', "&quot;")
        return '"' + "".join(c if " " <= c <= "~" else f"&#{ord(c)};" for c in plain) + '"'
    text = repr(value)
    # GML's numbers have a point before the exponent
    return text if isinstance(value, int) or "." in text or "n" in text else text.replace("e", ".0e")


def _values(record: dict[str, Value]) -> str:
    return "".join(f"    {name} {_text(value)}\n" for name, value in record.items())


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    edges = listed(sample)
    nodes, values = node_records(sample), edge_records(sample, edges.kept)
    unique = len(set(sample.names)) == len(sample.names)
    with path.open("w", encoding="ascii") as file:
        file.write("graph [\n")
        file.write("  directed 1\n" * edges.directed)
        file.write("  multigraph 1\n" * (len(set(map(tuple, edges.ends))) < len(edges.ends)))
        for i, record in enumerate(nodes):
            # the label is what networkx calls the node, and must be another for each
            name = str(record.pop("name")) if unique and sample.names else str(i)
            file.write(f"  node [\n    id {i}\n    label {_text(name)}\n{_values(record)}  ]\n")
        seen: dict[tuple[int, int], int] = {}
        for (a, b), record in zip(edges.ends, values):
            times = seen[a, b] = seen.get((a, b), -1) + 1
            key = f"    key {times}\n" if times else ""
            file.write(f"  edge [\n    source {a}\n    target {b}\n{key}{_values(record)}  ]\n")
        file.write("]\n")
    return edges.notes


WRITER = Writer("gml", "Graph (GML)", (".gml",), _write, GRAPHS)
