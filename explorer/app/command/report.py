"""Report one square: the rows and tensors that `run` writes, from a prepared epoch."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from explorer.app.command.writing import save_tensors
from explorer.declare.elements import chain_element, chain_text, transforms
from explorer.declare.registry import did_you_mean
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word
from explorer.equivariance.trial.inert import remembered
from explorer.equivariance.verdict.outcome import model_hash, versions
from explorer.network.changing.moved_network import following
from explorer.network.describing.statistics import statistics
from explorer.network.inner.tiled import Tiled
from explorer.network.opening.global_state import reseed
from explorer.network.opening.refusals import ModelError
from explorer.network.tracing.capture import capture, state_values
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import evaluating
from explorer.square.analyses.figures import modules, operations
from explorer.square.drawing.layers import scores_of
from explorer.square.evaluate import measured
from explorer.square.frame import Measure
from explorer.square.preparing.intervening import changes
from explorer.square.preparing.prepare import Prepared
from explorer.square.space import space_of, spaces
from explorer.state.resolve import missing_place
from explorer.state.state import State


def capture_report(
    p: Prepared, sample: Sample, state: State, layers: str = "all"
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return (report, tensors): "<layer>" = F(x') and "<layer>@base" = F(x) for the wanted layers.

    Raises:
        ValueError: an unknown layer, model, sample, transform or place, in one sentence.
    """
    known = [w.name for w in p.trace.layers]
    names = known if layers == "all" else list(dict.fromkeys(n.strip() for n in layers.split(",")))
    for name in (*names, *filter(None, (state.layer,))):
        if name not in known:
            hint = did_you_mean(name, known, f"; it has: {', '.join(known)}")
            raise ModelError(p.card.name, f"{p.card.name} has no layer {name!r}{hint}")
    for step in state.steps:
        domains = transforms()[step.name].domains
        if p.card.domain not in domains:
            raise ValueError(
                f"{step.name} acts on a {' or '.join(map(domain_word, domains))}, "
                f"and {p.card.name} lives on a {domain_word(p.card.domain)}"
            )
    if missing := missing_place(sample.name, p.inputs.numbered, state.node):
        raise ValueError(missing)
    element = chain_element(state.steps).on(p.inputs)
    with p.unrecorded(), evaluating(p.model), following(p.model):
        once, gx = remembered(element, p.inputs)
        reseed(p.seed)
        watched = {w.name for w in p.watched} if p.base is not None else set()
        answers, _ = capture(p.model, gx, {*names, *watched, p.trace.output}, clone=True, ends=(p.trace.output,))
        for name, answer in answers.items():
            # −∞ where F(x) has it too is a mask, as of scores before a softmax
            if not torch.isfinite(answer).all() and torch.isfinite(p.values.get(name, answer.new_zeros(1))).all():
                raise LayerError(name, f"layer {name} of {p.card.name} gave NaN or infinity on the moved data")
        here, moved = statistics({n: p.values[n] for n in names}), statistics({n: answers[n] for n in names})
        counted, calls = operations(p), {m.name: m.calls for m in modules(p)}
        rows = []
        for w in p.trace.layers:
            if w.name in names:
                m = measured(p, once, w, answers[w.name], local=True)
                figures = {f.name: _number(getattr(m, f.name)) for f in fields(Measure) if f.name != "channels"}
                rows.append({
                    "name": w.name, "kind": w.kind, "field": str(w.field) if w.field else "unknown",
                    "guessed": bool(w.field and w.field.guessed), "shape": list(w.shape), "parameters": w.params,
                    **figures,
                    "dtype": str(p.values[w.name].dtype).removeprefix("torch."), "calls": calls.get(w.module, 1),
                    "flops": counted.get(w.module or w.name, 0) if counted else None, "bytes": p.values[w.name].nbytes,
                    "field_reason": w.reason,
                    "statistics": here[w.name].to_json(), "statistics_transformed": moved[w.name].to_json(),
                })  # fmt: skip
    probabilities = bool(p.labels)
    last = (probabilities, p.trace[p.trace.output].field, state.node)
    report = {
        "equiscope": 1,
        "model": p.card.name,
        "model_hash": model_hash(p.model),
        "parameters": dict(state.params),
        "data": state.sample or p.card.sample,
        "data_notes": list(sample.notes),
        "model_notes": [*filter(None, [p.trouble.sentence]), *p.notes],
        "transform": chain_text(state.steps),
        "interventions": [str(one) for one in p.interventions],
        "changes": {name: [_number(c.on_x), _number(c.on_gx)] for name, c in changes(p, gx, answers).items()},
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
        for key, value in ((name, answers[name]), (f"{name}@base", p.values[name])):
            tensors |= {key: value} if not isinstance(value, Tiled) else value.parts(key)
    return report, state_values(tensors)


class Reporting(Protocol):
    """Whoever prepares epochs and reports of them: the engine."""

    def prepared(self, state: State, name: str) -> Prepared: ...

    def report(self, state: State) -> tuple[dict[str, Any], dict[str, Tensor]]: ...


def export_captures(engine: Reporting, state: State, path: str) -> None:
    """Write every layer of F(x) and F(rho(g) x) as safetensors, all or nothing.

    A path with one of the space's own `capture_endings` gets the values of the selected layer of F(x).

    Raises:
        ValueError: there is nothing that could be written in this format.
    """
    ending = Path(path).suffix.lower()
    if any(ending in space.capture_endings.values() for space in spaces().values()):
        from explorer.data.writers import write_file

        p = engine.prepared(state, state.model)
        write_file(space_of(p.inputs).written_layer(p, state), path)
        return
    report, tensors = engine.report(state)
    save_tensors(Path(path), tensors, {"model": state.model, "transform": str(report["transform"])})


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
