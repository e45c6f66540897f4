"""Measure, layer by layer, whether a network respects a symmetry.

import equiscope
report = equiscope.check_equivariance(model, images, "D4")
print(report.text())

Whoever adds a model, a transform, a sample, a reader, a symmetry, a space or a view imports what it is made of from
`equiscope.cards`, `equiscope.fields`, `equiscope.transforms`, `equiscope.data`, `equiscope.spaces` and
`equiscope.views`. All other modules belong to the program, and their names may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from explorer.work.files.places import PREFIX

if TYPE_CHECKING:
    from equiscope import cards, data, fields, spaces, transforms, views
    from equiscope.inputs import graph, image, mesh, points, sequence
    from explorer.declare.groups import group
    from explorer.declare.inputs import Inputs
    from explorer.declare.types.fields import INVARIANT, PAIR, FieldType, Regular, Scalar
    from explorer.equivariance.check import assert_equivariant, check_equivariance
    from explorer.equivariance.learned import LearnedAction, learn_action
    from explorer.equivariance.verdict.outcome import LayerReport, Report
    from explorer.network.describing.inspection import Inspection, inspect
    from explorer.spaces.graph.fields import EDGE, GRAPH, NODE
    from explorer.spaces.grid.analysis.lie import lie_derivative
    from explorer.spaces.mesh.fields import VERTEX, Tangent
    from explorer.spaces.sequence.fields import STEP, Strands
    from models.layers.taps import Alignment, Mark, Tap

# torch takes seconds to import, so each name is looked up when it is first used
_NAMES = {
    "equiscope.inputs": ("graph", "image", "mesh", "points", "sequence"),
    f"{PREFIX}explorer.declare.types.fields": (
        *("FieldType", "Regular", "Scalar"),
        *("INVARIANT", "PAIR"),
    ),
    f"{PREFIX}explorer.spaces.graph.fields": ("EDGE", "GRAPH", "NODE"),
    f"{PREFIX}explorer.spaces.grid.analysis.lie": ("lie_derivative",),
    f"{PREFIX}explorer.spaces.mesh.fields": ("VERTEX", "Tangent"),
    f"{PREFIX}explorer.spaces.sequence.fields": ("STEP", "Strands"),
    f"{PREFIX}explorer.declare.groups": ("group",),
    f"{PREFIX}explorer.equivariance.check": ("assert_equivariant", "check_equivariance"),
    f"{PREFIX}explorer.equivariance.learned": ("LearnedAction", "learn_action"),
    f"{PREFIX}explorer.equivariance.verdict.outcome": ("LayerReport", "Report"),
    f"{PREFIX}explorer.network.input.inputs": ("Inputs",),
    f"{PREFIX}explorer.network.describing.inspection": ("Inspection", "inspect"),
    f"{PREFIX}models.layers.taps": ("Alignment", "Mark", "Tap"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
_ROOMS = ("cards", "data", "fields", "spaces", "transforms", "views")

__all__ = [
    "EDGE",
    "GRAPH",
    "INVARIANT",
    "NODE",
    "PAIR",
    "STEP",
    "VERTEX",
    "Alignment",
    "FieldType",
    "Inputs",
    "Inspection",
    "LayerReport",
    "LearnedAction",
    "Mark",
    "Regular",
    "Report",
    "Scalar",
    "Strands",
    "Tangent",
    "Tap",
    "assert_equivariant",
    "cards",
    "check_equivariance",
    "data",
    "fields",
    "graph",
    "group",
    "image",
    "inspect",
    "learn_action",
    "lie_derivative",
    "mesh",
    "points",
    "sequence",
    "spaces",
    "transforms",
    "views",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"equiscope.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'equiscope' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return __all__
