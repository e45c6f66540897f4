"""Pictures: pyramids, patches, windows, spectra, norms, odd ways of writing and storing."""

from __future__ import annotations

from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs

FML = {1: "first", 2: "middle", 3: "last"}
FL = {1: "first", 3: "last"}
T = "translation"


def pictures(side=16, step=1, channels=1):
    return Given((drawn(2, channels, side, side),), ("grid",), step=step)


CASES = (
    *pairs("drawn", "UNet", partial(pictures, step=4), T, ("grid",), FML, "random:1x1x16x16"),
    *pairs("drawn", "FPN", partial(pictures, step=8), T, ("grid@2", "grid@4", "grid@8"), FML, "random:1x1x16x16"),
    *pairs("drawn", "ViT", partial(pictures, step=4), T, ("fixed",), {1: "", 2: ""}, "random:1x1x16x16"),
    *pairs("drawn", "Squeeze", pictures, T, ("fixed",), FML, "digit-3"),
    *pairs("drawn", "ConvNeXt", partial(pictures, step=2), T, ("fixed",), FML, "random:1x1x16x16"),
    *pairs("drawn", "FNO", pictures, T, ("grid",), FML, "random:1x1x16x16"),
    *pairs("drawn", "Norms", pictures, T, ("grid",), FML, "digit-3"),
    *pairs(
        "drawn", "Symmetric", partial(pictures, 15), "D4", ("grid",), {1: "a", 2: "b", 3: "c"}, "digit-3", limit=1e-6
    ),
    *pairs("drawn", "InPlace", pictures, T, ("grid",), {1: "", 2: ""}, "digit-3"),
    *pairs("drawn", "Checkpointed", pictures, T, ("grid",), FL, "digit-3"),
    *pairs("drawn", "Scripted", pictures, T, ("grid",), {1: "b"}, "digit-3"),
    *pairs("drawn", "Lazy", pictures, T, ("fixed",), FL, "digit-3"),
    *pairs("drawn", "Functional", pictures, T, ("grid",), {1: "", 3: ""}, "digit-3"),
    *pairs("drawn", "Offset", pictures, T, ("grid",), {1: "first", 2: "middle"}, "digit-3", limit=1e-8),
    *pairs("drawn", "NearlyConstant", pictures, T, ("fixed",), {1: "first"}, "digit-3"),
    *pairs("drawn", "LabelMap", pictures, T, ("grid",), {1: "first"}, "digit-3", refusable=True, tells="whole|int"),
    *pairs("drawn", "BFloatScalar", partial(pictures, 29), T, ("grid",), {1: ""}, "digit-3"),
    *pairs("drawn", "Halved", pictures, T, ("grid",), {1: "first"}, "digit-3"),
    *pairs("drawn", "Doubled", pictures, T, ("grid",), {1: "first"}, "digit-3"),
    *pairs("drawn", "Dense", partial(pictures, step=2), T, ("grid",), FML, "random:1x1x16x16"),
    *pairs("drawn", "TieBreaker", pictures, T, ("fixed",), {1: ""}, "digit-3", limit=1e-10),
    *pairs("drawn", "Axial", pictures, T, ("grid",), {1: "first", 2: "middle"}, "random:1x1x16x16"),
    *pairs("drawn", "Lifted", partial(pictures, 15), "C4", ("grid",), {1: "", 2: ""}, "digit-3"),
    *pairs("drawn", "bare", pictures, T, ("grid",), {1: ""}, "digit-3"),
    *pairs("drawn", "compiled", pictures, T, ("grid",), {1: "2"}, "digit-3"),
    *pairs("drawn", "scripted", pictures, T, ("grid",), {1: ""}, "digit-3", refusable=True, tells="TorchScript"),
    *pairs("drawn", "orthogonal", partial(pictures, 8), T, ("fixed",), {2: "2", 3: "4"}, "random:1x1x8x8"),
)
