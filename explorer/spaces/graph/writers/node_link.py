"""Node-link JSON, as networkx and D3 read it."""

from __future__ import annotations

import json
from pathlib import Path

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.kinds import GRAPHS
from explorer.spaces.graph.writers.records import edge_records, listed, node_records


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    edges = listed(sample)
    values = edge_records(sample, edges.kept)
    whole = {
        "directed": edges.directed,
        "multigraph": len(set(map(tuple, edges.ends))) < len(edges.ends),
        "graph": {"domain": sample.domain},
        "nodes": [{"id": i, **record} for i, record in enumerate(node_records(sample))],
        "links": [{"source": a, "target": b, **record} for (a, b), record in zip(edges.ends, values)],
    }
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    return edges.notes


WRITER = Writer("node-link", "Graph (node-link JSON)", (".json",), _write, GRAPHS)
