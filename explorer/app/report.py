"""What `run` and `check` write: reports, captures, tables. All is made first, written beside and then renamed."""

from __future__ import annotations

import copy
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.app.engine import LocalEngine
from explorer.data.finding import find_sample, fitted, samples
from explorer.data.samples import Sample, SampleSpec
from explorer.declare.card import Card, GraphInput
from explorer.declare.elements import chain_element, chain_text, transforms
from explorer.declare.fields import domain_word
from explorer.declare.symmetries import find_symmetry
from explorer.equivariance.check import Report, check_equivariance, model_hash, versions
from explorer.network.capture import capture, state_values
from explorer.network.loading import ModelError
from explorer.network.moved_network import following
from explorer.network.trace import LayerError, evaluating
from explorer.spaces.sequence.fit import sequences_in
from explorer.square.drawing import scores_of
from explorer.square.evaluate import measured
from explorer.square.frame import Measure
from explorer.square.prepare import DTYPES, inputs_from, reseed
from explorer.square.remembered import Once
from explorer.state.session import write_beside
from explorer.state.state import State

# where no law is claimed
_USUAL = {"grid": "D4", "graph": "permutation", "set": "permutation", "time": "shift", "mesh": "gauge"}
SMALL_GRAPH = 256  # nodes of a graph or a set that a check takes besides the one that was asked for


def capture_report(engine: LocalEngine, state: State, layers: str = "all") -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return (report, tensors): "<layer>" = F(x') and "<layer>@base" = F(x) for the wanted layers.

    Raises:
        ValueError: an unknown layer, model, sample or transform, in one sentence.
    """
    p = engine.prepared(state, state.model)
    known = [w.name for w in p.trace.layers]
    names = known if layers == "all" else list(dict.fromkeys(n.strip() for n in layers.split(",")))
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; it has: {', '.join(known)}"
            raise ModelError(p.card.name, f"{p.card.name} has no layer {name!r}{hint}")
    for step in state.steps:
        domains = transforms()[step.name].domains
        if p.card.domain not in domains:
            raise ValueError(
                f"{step.name} acts on a {' or '.join(map(domain_word, domains))}, "
                f"and {p.card.name} lives on a {domain_word(p.card.domain)}"
            )
    element = chain_element(state.steps).on(p.inputs)
    with torch.inference_mode(), evaluating(p.model), following(p.model):
        once = Once(element)
        gx = p.inputs.moved(once)
        reseed(p.seed)
        answers, _ = capture(p.model, gx, {*names, p.trace.output}, clone=True)
        for name, answer in answers.items():
            if not torch.isfinite(answer).all():
                raise LayerError(name, f"layer {name} of {p.card.name} gave NaN or infinity on the moved data")
        rows = []
        for w in p.trace.layers:
            if w.name in names:
                m = measured(p, once, w, answers[w.name], local=True)
                figures = {f.name: _number(getattr(m, f.name)) for f in fields(Measure) if f.name != "channels"}
                rows.append({
                    "name": w.name, "kind": w.kind, "field": str(w.field) if w.field else "unknown",
                    "guessed": bool(w.field and w.field.guessed), "shape": list(w.shape), "parameters": w.params,
                    **figures,
                })  # fmt: skip
    probabilities = bool(p.labels)
    last = (probabilities, p.trace[p.trace.output].field, state.node)
    sample = engine.sample(state, p.card)
    report = {
        "equiscope": 1,
        "model": p.card.name,
        "model_hash": model_hash(p.model),
        "parameters": dict(state.params),
        "data": state.sample or p.card.sample,
        "data_notes": list(sample.notes),
        "model_notes": list(p.notes),
        "transform": chain_text(state.steps),
        "exact": p.inputs.exact(element),
        "layers": rows,
        "output": scores_of(p.output, *last).tolist(),
        "output_transformed": scores_of(answers[p.trace.output], *last, element).tolist(),
        "labels": list(p.labels),
        "probabilities": probabilities,
        "device": str(p.x.device),
        "dtype": state.dtype,
        "seed": state.seed,
        "versions": versions(),
    }
    tensors = {}
    for name, value, before in zip(gx.names, gx.values, p.inputs.values, strict=True):
        key = "input" if name == gx.names[0] else name
        tensors[key], tensors[f"{key}@base"] = value, before
    for name in names:
        tensors[name], tensors[f"{name}@base"] = answers[name], p.values[name]
    return report, state_values(tensors)


def write_report(
    folder: Path,
    report: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    draw: Callable[[Path], list[Path]] | None = None,
) -> None:
    """Write report.json, captures.safetensors and what `draw` makes into `folder`; all of it or none.

    Files that are there already are replaced when all is made, and kept when anything goes wrong.
    """
    from safetensors.torch import save_file

    fresh = [parent for parent in folder.parents if not parent.exists()]  # the deepest first
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None
    try:
        text = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
        (beside / "report.json").write_text(text, encoding="utf-8")
        save_file(dict(tensors), beside / "captures.safetensors", {"transform": str(report["transform"])})
        if draw is not None:
            draw(beside)
        _move_into(folder, beside)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        for parent in fresh:
            with suppress(OSError):
                parent.rmdir()
        raise
    shutil.rmtree(beside, ignore_errors=True)


def _move_into(folder: Path, beside: Path) -> None:
    """Move what is in `beside` into `folder`: all of it, or none, and what it replaces comes back."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(beside, 0o777 & ~mask)  # mkdtemp's are for the owner alone
    if not folder.exists():
        os.rename(beside, folder)
        return
    made = sorted(beside.iterdir())
    old = beside / ".replaced"
    old.mkdir()
    moved: list[Path] = []
    try:
        for path in made:
            target = folder / path.name
            if target.exists():
                os.replace(target, old / path.name)
            moved.append(target)
            os.replace(path, target)
    except BaseException:
        for target in moved:
            if (old / target.name).exists():
                os.replace(old / target.name, target)
            else:
                target.unlink(missing_ok=True)
        raise


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
    groups = [group] if group else list(card.groups) or [_USUAL[card.domain]]
    for g in groups:
        find_symmetry(g)
    texts = _parts(state, card, count) if state.sample else _several(card, count)
    # says what is wrong with the network, the data or the overrides, before anything is measured
    first = replace(state, sample=texts[0], dtype=dtype, overrides=tuple(overrides.items()))
    p = engine.prepared(first, state.model)
    given = [p.inputs]
    for text in texts[1:]:
        more = inputs_from(engine.sample(replace(state, sample=text), card), card.input, p.x.device, p.x.dtype)
        if p.inputs.unbatched or more.x.shape == p.x.shape:
            given.append(more)
    if not p.inputs.unbatched:
        given = [p.inputs.with_x(torch.cat([g.x for g in given]))]
    model = copy.deepcopy(p.model).to(p.weights_dtype)  # as stored: it says what precision a law can be held to
    reports = [
        check_equivariance(
            model, given, g, overrides=overrides, declared=".py:" not in card.name,
            boundary=card.boundary, dtype=DTYPES[dtype], tol=tol, seed=state.seed, name=card.name,
        )
        for g in groups
    ]  # fmt: skip
    for row in (row for report in reports for row in report.layers):
        if row.cumulative_max is not None and math.isnan(row.cumulative_max):
            raise LayerError(row.name, f"layer {row.name} of {card.name} gave NaN on moved data")
    return [replace(report, warnings=(*report.warnings, *p.notes)) for report in reports]


def _parts(state: State, card: Card, count: int) -> list[str]:
    """Return the sample that was asked for, or where it holds several sequences the names of the first ones."""
    several = sequences_in(find_sample(state.sample, state.seed)) if card.domain == "time" else 1
    return [f"{state.sample}#{k + 1}" for k in range(min(several, count))] if several > 1 else [state.sample]


def _several(card: Card, count: int) -> list[str]:
    """Return the card's sample and others of its kind: real data of the sort that the network was made for."""
    alike = [s for s in samples().values() if s.domain == card.domain and s.name != card.sample]
    if card.domain != "grid":
        return [card.sample, *_other_graphs(card, alike, count - 1)]
    kind = card.sample.split("-")[0]
    return [card.sample, *[s.name for s in alike if s.name.split("-")[0] == kind][: count - 1]]


def _other_graphs(card: Card, alike: list[SampleSpec], count: int) -> list[str]:
    """Return other small graphs or sets that the network takes, those of the same kind first."""
    tags = set(samples()[card.sample].tags) if card.sample in samples() else set()
    found: list[str] = []
    for spec in sorted(alike, key=lambda s: -len(tags & set(s.tags))):
        if len(found) == count:
            break
        sample = spec.make()
        # what is made for one width, or is too large to be measured in passing, is left out
        width = sample.x.values.shape[1]
        fits = not isinstance(card.input, GraphInput) or width in (0, card.input.channels or width)
        if fits and len(sample.x.values) <= SMALL_GRAPH and _taken(sample, card):
            found.append(spec.name)
    return found


def _taken(sample: Sample, card: Card) -> bool:
    try:
        fitted(sample, card.input)
    except ValueError:  # too many nodes, no coordinates
        return False
    return True


def save_table(path: Path, reports: Sequence[Report]) -> None:
    """Write layer x element tables as NPZ (arrays per group) or, by the ending, CSV (a row per layer and element)."""
    import io

    if path.suffix.lower() == ".csv":
        write_beside(path, _table_csv(reports).encode())
        return
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


def _table_csv(reports: Sequence[Report]) -> str:
    """Return the tables in long form; an empty cell is what has no action or cannot be fed alone."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "group", "element", "exact", "layer", "field", "cumulative", "local"])
    for r in reports:
        for element, exact in zip(r.elements, r.exact, strict=True):
            for row in r.layers:
                figures = r.table[row.name].get(element, (None, None))
                writer.writerow([r.model, r.group, element, int(exact), row.name, row.field, *figures])
    return text.getvalue()


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
