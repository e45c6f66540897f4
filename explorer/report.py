"""What `run` and `check` write: reports, captures, tables. All is made first, written beside and then renamed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.capture import capture
from explorer.engine import LocalEngine, device_of
from explorer.equivariance.check import Report, check_equivariance, model_hash, versions
from explorer.evaluate import measured, scores_of
from explorer.frame import Measure
from explorer.loading import ModelError, load_model
from explorer.prepare import DTYPES, to_tensor
from explorer.sampling import samples
from explorer.session import write_beside
from explorer.state import State
from explorer.trace import evaluating
from explorer.transforms import chain_element, chain_text


def capture_report(engine: LocalEngine, state: State, layers: str = "all") -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return (report, tensors): "<layer>" = F(x') and "<layer>@base" = F(x) for the wanted layers.

    Raises:
        ValueError: an unknown layer, model, sample or transform, in one sentence.
    """
    p = engine.prepared(state, state.model)
    known = [w.name for w in p.watched]
    names = known if layers == "all" else [n.strip() for n in layers.split(",") if n.strip()]
    for name in names:
        if name not in known:
            raise ModelError(name, f"{p.card.name} has no layer {name!r}; it has: {', '.join(known)}")
    element = chain_element(state.steps)
    with torch.no_grad(), evaluating(p.model):
        gx = element.act(p.x, p.x_field)
        answers, _ = capture(p.model, gx, known, clone=True)
        rows = []
        for w in p.watched:
            if w.name in names:
                m = measured(p, element, w, answers[w.name], local=True)
                figures = {f.name: _number(getattr(m, f.name)) for f in fields(Measure) if f.name != "channels"}
                rows.append({
                    "name": w.name, "kind": w.kind, "field": str(w.field) if w.field else "unknown",
                    "shape": list(w.shape), "parameters": w.params, **figures,
                })  # fmt: skip
    probabilities = bool(p.card.labels) and p.output.ndim == 2
    sample = engine.sample(state, p.card)
    report = {
        "equiscope": 1,
        "model": p.card.name,
        "model_hash": model_hash(p.model),
        "parameters": dict(state.params),
        "data": state.sample or p.card.sample,
        "data_notes": list(sample.notes),
        "transform": chain_text(state.steps),
        "exact": element.exact(p.x_field, tuple(p.x.shape)),
        "layers": rows,
        "output": scores_of(p.output, probabilities).tolist(),
        "output_transformed": scores_of(answers[p.trace.output], probabilities).tolist(),
        "labels": list(p.card.labels),
        "probabilities": probabilities,
        "device": str(p.x.device),
        "dtype": state.dtype,
        "seed": state.seed,
        "versions": versions(),
    }
    tensors = {"input": gx, "input@base": p.x}
    for name in names:
        tensors[name], tensors[f"{name}@base"] = answers[name], p.values[name]
    return report, {k: v.detach().cpu().contiguous().clone() for k, v in tensors.items()}


def write_report(
    folder: Path,
    report: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    draw: Callable[[Path], list[Path]] | None = None,
) -> None:
    """Write report.json, captures.safetensors and what `draw` makes into `folder`; all of it or none."""
    from safetensors.torch import save_file

    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        (beside / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False), encoding="utf-8")
        save_file(dict(tensors), beside / "captures.safetensors", {"transform": str(report["transform"])})
        if draw is not None:
            draw(beside)
        folder.mkdir(exist_ok=True)
        for made in sorted(beside.iterdir()):
            os.replace(made, folder / made.name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def audit(
    engine: LocalEngine,
    state: State,
    group: str,
    dtype: str,
    tol: float | None,
    overrides: Mapping[str, str],
    count: int = 4,
) -> list[Report]:
    """Check a model under `group`, or under each group that it claims (D4 when it claims none)."""
    card = engine.card(state.model)
    model = load_model(card, dict(state.params)).to(device_of(state.device))
    groups = [group] if group else list(card.groups) or ["D4"]
    texts = [state.sample] if state.sample else _several(card.sample, count)
    each = [engine.sample(State(model=state.model, sample=t, seed=state.seed), card) for t in texts]
    x = torch.cat([to_tensor(sample, torch.device("cpu"), DTYPES[dtype]) for sample in each])
    return [
        check_equivariance(
            model, x.to(device_of(state.device)), g, x_field=card.input.field, overrides=overrides,
            declared=".py:" not in card.name, boundary=card.boundary, dtype=DTYPES[dtype], tol=tol, seed=state.seed,
            name=card.name,
        )
        for g in groups
    ]  # fmt: skip


def _several(first: str, count: int) -> list[str]:
    """Return `first` and others of its kind: real data of the sort that the network was made for."""
    kind = first.split("-")[0]
    alike = [name for name in samples() if name.split("-")[0] == kind and name != first]
    return [first, *alike[: count - 1]]


def save_table(path: Path, reports: Sequence[Report]) -> None:
    """Write layer x element tables as NPZ: cumulative, local, layers, elements and exact, per group."""
    import io

    arrays: dict[str, Any] = {}
    for r in reports:
        names = [row.name for row in r.layers]
        for k, kind in enumerate(("cumulative", "local")):
            arrays[f"{r.group}/{kind}"] = np.array(
                [[_nan(r.table[n].get(e, (None, None))[k]) for e in r.elements] for n in names]
            )
        arrays[f"{r.group}/layers"] = np.array(names)
        arrays[f"{r.group}/elements"] = np.array(r.elements)
        arrays[f"{r.group}/exact"] = np.array(r.exact)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    write_beside(path, buffer.getvalue())


def save_weights(path: Path, model: nn.Module, metadata: Mapping[str, str]) -> None:
    """Write parameters as safetensors, in half precision where that loses nothing."""
    tensors = {}
    for name, tensor in model.state_dict().items():
        value = tensor.detach().cpu().contiguous()
        half = value.half() if value.is_floating_point() else value
        tensors[name] = half if torch.equal(half.to(value.dtype), value) else value
    save_tensors(path, tensors, metadata)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors by name as one safetensors file, beside and then renamed."""
    from safetensors.torch import save

    write_beside(path, save(dict(tensors), dict(metadata)))


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value
