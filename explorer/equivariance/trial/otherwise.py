"""Tell by trial of which other fields a tensor keeps its law that breaks that of the one it was taken for."""

from __future__ import annotations

from dataclasses import replace

from explorer.equivariance import measure
from explorer.equivariance.audit import Audit
from explorer.network.space import inference_of
from explorer.network.tracing.layers import Layer, LayerError


def kept_otherwise(audit: Audit) -> tuple[str, str] | None:
    """Return an output of which the field is a guess and breaks its law, and another field of which it keeps that."""
    first = audit.cases[0]
    inference = inference_of(first.inputs)
    for layer in (audit.trace[name] for name in audit.trace.outputs):
        broken = any(e > audit.rounding[layer.name] for e in audit.errors[layer.name].values())
        if layer.field is None or not layer.field.guessed or not broken:
            continue
        for field in inference.otherwise(layer.field, layer.shape):
            if _keeps(audit, replace(layer, field=field)):
                return layer.name, str(field)
    return None


def _keeps(audit: Audit, layer: Layer) -> bool:
    """Say whether a layer with this field keeps its law under all elements, on the first of the data."""
    value = audit.cases[0].values[layer.name]
    for element, moved in (on[0] for on in audit.acted.values()):
        expected = measure.expected_after(element, layer, value)
        try:
            answer = audit.run(moved)[0][layer.name]
        except LayerError:
            return False
        if expected is None or layer.field is None or expected.shape != answer.shape:
            return False
        where = measure.mask(element, value, layer.field, layer.sees)
        if float(measure.apart(expected, answer, where, layer.field).max()) > audit.rounding[layer.name]:
            return False
    return bool(audit.acted)
