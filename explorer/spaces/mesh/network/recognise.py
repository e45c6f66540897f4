"""Tell whether somebody's network takes a mesh, and which of its signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.telling.values import told_value
from explorer.network.input.call_forms import ways
from explorer.network.input.recognise import Recognised
from explorer.network.input.ways import Way
from explorer.network.tracing.trials import answer_of, same_answer
from explorer.spaces.mesh.network.form import CORNERS, GAUGES, MESH_SIGNALS, OF_A_SURFACE, MeshInput


def mesh_input(own: Recognised) -> MeshInput | None:
    """Return what a network on meshes takes, or None for one that asks for nothing that only a surface has.

    Raises:
        ValueError: INPUT_SIGNALS, INPUT_CHANNELS, INPUT_FEATURES or INPUT_GAUGE are none.
    """
    signals = own.said("input_signals")
    if signals is None and (found := _with_faces(own)) is not None:
        return found
    signals = own.arguments(MESH_SIGNALS) if signals is None else signals
    if not isinstance(signals, list | tuple) or not any(s in OF_A_SURFACE for s in signals):
        return None
    if not all(s in MESH_SIGNALS for s in signals) or signals[0] not in ("x", "position"):
        raise ValueError(f"INPUT_SIGNALS must begin with 'x' or 'position' and name {', '.join(MESH_SIGNALS)}")
    channels = own.channels()
    features = own.said("input_features")
    features = "hks" if features is None else features
    if not isinstance(features, str):
        raise ValueError(f"INPUT_FEATURES must be a text, not {told_value(features)}")
    gauge = own.said("input_gauge")
    gauge = "edge" if gauge is None else gauge
    if gauge not in GAUGES:
        raise ValueError(f"INPUT_GAUGE must be one of {', '.join(GAUGES)}, not {told_value(gauge)}")
    width = own.first_width() if channels is None and features == "hks" else channels
    return MeshInput(channels=width, signals=tuple(signals), features=features, gauge=gauge)


# an octahedron, out of shape
_FACES = torch.tensor([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
_CORNERS = torch.tensor([[1.0, 0.1, 0], [-1.2, 0, 0], [0, 0.9, 0.1], [0.2, -1, 0], [0, 0, 1.1], [0, 0.3, -1]])
_WITH_FACES = ("position", "faces", "x")


def _with_faces(own: Recognised) -> MeshInput | None:
    """Return what a network takes that is given vertices and faces, under whatever names; None for no such network.

    Whether the corners of a face lie in a row or in a column is what the network tells: the order of the faces in the
    list changes nothing but the order of what it says of faces.
    """
    for way in ways(own, _WITH_FACES):
        if not {"position", "faces"} <= set(way.signals):
            continue
        network, wide = own.network(), own.channels() or own.first_width() or 1
        known = [first for first in (False, True) if _runs(network, way, wide, first)]
        told = [first for first in known if _any_order(network, way, wide, first)]
        if found := (told or known)[:1]:
            form = MeshInput(signals=way.signals, given=way.given, names=way.names, corners=CORNERS[found[0]])
            return replace(form, channels=wide) if "x" in way.signals else form
    return None


def _given(way: Way, wide: int, corners_first: bool, order: Sequence[int]) -> list[Tensor]:
    faces = _FACES[list(order)]
    held = {
        "position": _CORNERS, "faces": faces.t().contiguous() if corners_first else faces,
        "x": torch.randn(len(_CORNERS), wide, generator=torch.Generator().manual_seed(0)),
    }  # fmt: skip
    return [held[name].clone() for name in way.signals]


def _answer(network: nn.Module, way: Way, wide: int, corners_first: bool, order: Sequence[int]) -> Tensor | None:
    return answer_of(network, _given(way, wide, corners_first, order), way.call(way.signals))


def _runs(network: nn.Module, way: Way, wide: int, corners_first: bool) -> bool:
    return _answer(network, way, wide, corners_first, range(len(_FACES))) is not None


def _any_order(network: nn.Module, way: Way, wide: int, corners_first: bool) -> bool:
    turned = [*range(3, len(_FACES)), 0, 1, 2]
    one, other = (_answer(network, way, wide, corners_first, order) for order in (range(len(_FACES)), turned))
    if one is None or other is None or one.shape != other.shape:
        return False
    by_face = len(one) == len(turned) and same_answer(one[turned], other)
    return by_face or same_answer(one, other)
