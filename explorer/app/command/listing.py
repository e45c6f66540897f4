"""Make what `list` prints: models, data, transforms, views, readers, groups, as rows of plain values."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from typing import Any

from explorer.app.command.doors import Doors
from explorer.declare.elements import transforms

KINDS = ("models", "data", "transforms", "views", "readers", "groups")


def listed(args: argparse.Namespace, doors: Doors) -> int:
    """Print one line for each, or JSON."""
    rows: list[dict[str, Any]]
    match args.what:
        case "models":
            rows = [
                {
                    "name": c.name, "title": c.title, "domain": c.domain, "groups": list(c.groups),
                    "rows": list(c.rows), "reference": c.reference,
                }
                for c in doors.cards().values()
            ]  # fmt: skip
        case "data":
            from explorer.data.finding import samples

            rows = [
                {"name": s.name, "title": s.title, "domain": s.domain, "summary": s.summary}
                for s in samples().values()
            ]  # fmt: skip
        case "transforms":
            rows = [
                {
                    "name": t.name, "title": t.title, "domains": list(t.domains), "group": t.symbol,
                    "params": [{f.name: getattr(p, f.name) for f in fields(p)} for p in t.params],
                }
                for t in transforms().values()
            ]  # fmt: skip
        case "views":
            rows = [{"name": name, "title": title} for name, title in doors.views()]
        case "groups":
            from explorer.declare.symmetries import find_symmetry, typed_groups

            rows = [
                {"name": n, "title": t, "domains": list(find_symmetry(n).domains)} for n, t in typed_groups().items()
            ]
        case _:
            from explorer.data.readers import readers

            rows = [{"name": r.name, "title": r.title, "extensions": list(r.extensions)} for r in readers().values()]
    if args.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        width = max(len(r["name"]) for r in rows)
        for r in rows:
            extra = " ".join(r.get("rows", ())) or " ".join(r.get("extensions", ()))
            print(f"{r['name']:<{width}}  {r['title']}" + (f"  [{extra}]" if extra else ""))
    return 0
