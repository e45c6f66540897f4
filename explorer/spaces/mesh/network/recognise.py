"""Tell whether somebody's network takes a mesh, and which of its signals."""

from __future__ import annotations

from explorer.network.input.recognise import Recognised
from explorer.spaces.mesh.network.form import GAUGES, MESH_SIGNALS, OF_A_SURFACE, MeshInput


def mesh_input(own: Recognised) -> MeshInput | None:
    """Return what a network on meshes takes, or None for one that asks for nothing that only a surface has.

    Raises:
        ValueError: INPUT_SIGNALS, INPUT_CHANNELS, INPUT_FEATURES or INPUT_GAUGE are none.
    """
    signals = own.said("input_signals")
    signals = own.arguments(MESH_SIGNALS) if signals is None else signals
    if not isinstance(signals, list | tuple) or not any(s in OF_A_SURFACE for s in signals):
        return None
    if not all(s in MESH_SIGNALS for s in signals) or signals[0] != "x":
        raise ValueError(f"INPUT_SIGNALS must begin with 'x' and name {', '.join(MESH_SIGNALS)}")
    channels = own.channels()
    features = own.said("input_features")
    features = "hks" if features is None else features
    if not isinstance(features, str):
        raise ValueError(f"INPUT_FEATURES must be a text, not {features!r:.60}")
    gauge = own.said("input_gauge")
    gauge = "edge" if gauge is None else gauge
    if gauge not in GAUGES:
        raise ValueError(f"INPUT_GAUGE must be one of {', '.join(GAUGES)}, not {gauge!r:.60}")
    width = own.first_width() if channels is None and features == "hks" else channels
    return MeshInput(channels=width, signals=tuple(signals), features=features, gauge=gauge)
