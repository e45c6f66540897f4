"""Tell by trial of which other fields a tensor keeps its law that breaks that of the one it was taken for."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from explorer.declare.elements import Element
from explorer.equivariance import measure
from explorer.equivariance.audit import Audit
from explorer.network.space import inference_of
from explorer.network.tracing.layers import Layer, LayerError


def kept_otherwise(audit: Audit) -> tuple[str, str] | None:
    """Return an output of which the field is a guess and breaks its law, and another field of which it keeps that."""
    inference = inference_of(audit.cases[0].inputs)
    for layer in (audit.trace[name] for name in audit.trace.outputs):
        broken = any(e > audit.rounding[layer.name] for e in audit.errors[layer.name].values())
        if layer.field is None or not layer.field.guessed or not broken:
            continue
        others = list(inference.otherwise(layer.field, layer.shape))
        answers = _answers(audit, layer.name) if others else []
        for field in others:
            if answers and all(_keeps(audit, replace(layer, field=field), *one) for one in answers):
                return layer.name, str(field)
    return None


def _answers(audit: Audit, name: str) -> list[tuple[Element, Tensor]]:
    """Return what a layer gives for the first of the data under each element; [] where it does not run on all."""
    try:
        return [(g, audit.run(moved)[0][name]) for g, moved in (on[0] for on in audit.acted.values())]
    except LayerError:
        return []


def _keeps(audit: Audit, layer: Layer, element: Element, answer: Tensor) -> bool:
    """Say whether a layer with this field keeps its law under an element, on the first of the data."""
    value = audit.cases[0].values[layer.name]
    expected = measure.expected_after(element, layer, value)
    if expected is None or layer.field is None or expected.shape != answer.shape:
        return False
    where = measure.mask(element, value, layer.field, layer.sees)
    return float(measure.apart(expected, answer, where, layer.field).max()) <= audit.rounding[layer.name]
