"""GraphML (U. Brandes et al., 2002), as networkx, igraph and Gephi read it."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from explorer.data.writers import Writer
from explorer.declare.samples import Sample
from explorer.spaces.graph.writers.kinds import GRAPHS
from explorer.spaces.graph.writers.records import Value, edge_records, listed, node_records

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
_KINDS = {int: "long", float: "double", str: "string"}


def _keys(records: list[dict[str, Value]], tag: str) -> dict[str, tuple[str, str]]:
    """Return {name: (id, declaration)}; a column with any fraction is of fractions throughout."""
    names = list(dict.fromkeys(name for record in records for name in record))
    found = {}
    for k, name in enumerate(names):
        kinds = {type(record[name]) for record in records if name in record}
        kind = _KINDS[next(iter(kinds))] if len(kinds) == 1 else "double"
        key = f"{tag[0]}{k}"
        found[name] = (key, f'  <key id="{key}" for="{tag}" attr.name={quoteattr(name)} attr.type="{kind}"/>\n')
    return found


def _data(record: dict[str, Value], keys: dict[str, tuple[str, str]]) -> str:
    return "".join(f'<data key="{keys[name][0]}">{escape(_clean(str(v)))}</data>' for name, v in record.items())


def _clean(text: str) -> str:
    """Leave out the characters that XML 1.0 cannot hold in any form."""
    return "".join(
        c for c in text if c in "\t\n\r" or " " <= c < "\ud800" or ("\ue000" <= c and c not in "\ufffe\uffff")
    )


def _write(sample: Sample, path: Path) -> tuple[str, ...]:
    edges = listed(sample)
    nodes, values = node_records(sample), edge_records(sample, edges.kept)
    node_keys, edge_keys = _keys(nodes, "node"), _keys(values, "edge")
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD)
        file.writelines(text for _, text in (*node_keys.values(), *edge_keys.values()))
        file.write(f'  <graph edgedefault="{"directed" if edges.directed else "undirected"}">\n')
        for i, record in enumerate(nodes):
            file.write(f'    <node id="{i}">{_data(record, node_keys)}</node>\n')
        for k, ((a, b), record) in enumerate(zip(edges.ends, values)):
            # an identity tells networkx that parallel edges are meant
            file.write(f'    <edge id="{k}" source="{a}" target="{b}">{_data(record, edge_keys)}</edge>\n')
        file.write("  </graph>\n</graphml>\n")
    return edges.notes


WRITER = Writer("graphml", "Graph (GraphML)", (".graphml",), _write, GRAPHS)
