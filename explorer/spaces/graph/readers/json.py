"""Node-link JSON, {"nodes": [...], "links" or "edges": [...]}, as networkx and D3 have it, or pairs of nodes alone."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from explorer.data.formats.checks import Broken, file_bytes, kind_in_json, refusing
from explorer.data.readers import Reader
from explorer.declare.samples import Sample
from explorer.spaces.graph.readers.assembly import sample_of
from explorer.spaces.graph.readers.records import Records, found_in

_LOOKED_AT = 2**16
_LISTS = re.compile(rb'^\s*\{(?!.*"asset"\s*:).*"nodes"\s*:\s*\[', re.S)  # what has an asset is a glTF
_LARGEST = 2**28  # bytes: Python's objects take about ten times as many


def _sniff(head: bytes) -> bool:
    return False  # any object may be a session or a graph: the name and then the keys decide


def _identity(value: Any, where: str) -> Hashable:
    if isinstance(value, dict):  # D3 replaces the end of a link by the node itself
        value = value.get("id", value.get("name"))
    if isinstance(value, list):  # networkx writes a tuple as a list
        value = tuple(json.dumps(v) for v in value)
    if value is None or not isinstance(value, Hashable):
        raise Broken(f"{where} has no identity", "add it")
    return value


def _as_links(pairs: list[Any]) -> list[dict[str, Any]] | None:
    """Return the links of a list of pairs of nodes, or of three with a weight; None for another list."""
    links: list[dict[str, Any]] = []
    weighed = any(isinstance(pair, list) and len(pair) == 3 for pair in pairs)
    for pair in pairs:
        ends = pair[:2] if isinstance(pair, list) and len(pair) in (2, 3) else []
        # places in a plane and series are lists of such lists too, of numbers that are not whole
        if len(ends) != 2 or not all(type(end) in (int, str) for end in ends):
            return None
        if len(pair) == 3 and (isinstance(pair[2], bool) or not isinstance(pair[2], int | float)):
            return None
        weight = {"weight": pair[2] if len(pair) == 3 else 1} if weighed else {}
        links.append({"source": ends[0], "target": ends[1], **weight})
    return links or None


def _records(whole: Any) -> Records:
    if isinstance(whole, list) and (alone := _as_links(whole)) is not None:
        ids = [
            _identity(link[end], f"edge {k}'s {end}") for k, link in enumerate(alone) for end in ("source", "target")
        ]
        whole = {"nodes": [{"id": end} for end in dict.fromkeys(ids)], "links": alone}
    if not isinstance(whole, dict):
        raise Broken(
            f"it holds {kind_in_json(whole)} and not a graph", "save node-link JSON, or a list of pairs of nodes"
        )
    if "equiscope" in whole:
        raise Broken("it is a session and not data", "open it with --session or File > Open")
    links = whole.get("links", whole.get("edges"))
    nodes = whole.get("nodes")
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise Broken("it has no lists 'nodes' and 'links' (or 'edges')", "save it as node-link JSON")
    records = Records(directed=whole.get("directed") is True)
    if whole.get("graph") and isinstance(whole["graph"], dict) and whole["graph"].get("domain") == "set":
        records.domain = "set"
    plain = not any(isinstance(node, dict) and ("id" in node or "name" in node) for node in nodes)
    by_number = not any(isinstance(node, dict) and "id" in node for node in nodes) and all(
        isinstance(link, dict) and type(link.get("source")) is int for link in links
    )
    for k, node in enumerate(nodes):
        values = node if isinstance(node, dict) else {}
        if plain or by_number:
            records.ids.append(k if isinstance(node, dict) else _identity(node, f"node {k}"))
        else:
            records.ids.append(_identity(node, f"node {k}"))
        records.nodes.append({key: value for key, value in values.items() if key not in ("id", "index")})
    for k, link in enumerate(links):
        if not isinstance(link, dict) or "source" not in link or "target" not in link:
            raise Broken(f"edge {k} has no 'source' and 'target'", "add them")
        ends = (_identity(link["source"], f"edge {k}'s source"), _identity(link["target"], f"edge {k}'s target"))
        records.ends.append(ends)
        records.edges.append({n: v for n, v in link.items() if n not in ("source", "target", "key", "id", "index")})
    return records


def _read(path: Path) -> Sample:
    size = file_bytes(path)
    with refusing(path, "JSON"):
        if size > _LARGEST:
            raise Broken(f"the JSON has {size} bytes and the most is {_LARGEST}", "save it as CSV or NPZ")
        try:
            whole = json.loads(path.read_text(encoding="utf-8-sig"))
        except json.JSONDecodeError as error:
            raise Broken(f"the JSON is damaged in line {error.lineno}, column {error.colno}") from None
        except UnicodeDecodeError:
            raise Broken("it is not text in UTF-8", "save it as node-link JSON") from None
        except RecursionError:
            raise Broken("the JSON is nested too deeply", "save it as node-link JSON") from None
        return sample_of(path, found_in(_records(whole)))


def _fits(path: Path) -> bool:
    """Return whether a file is an object with a list of nodes near its beginning."""
    with path.open("rb") as file:
        return _LISTS.search(file.read(_LOOKED_AT)) is not None


READER = Reader("node-link", "Graph (node-link JSON)", (".json",), "graph", _sniff, _read, fits=_fits)
