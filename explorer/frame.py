"""What one evaluation answers: frozen values and read-only arrays, ready to be drawn. No tensor crosses here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.state import State

Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Measure:
    """How far one layer's square is from commuting.

    Attributes:
        cumulative: ||M(rho'(g) h(x) - h(rho(g) x))|| / ||M rho'(g) h(x)||; None when the field has no such action.
        local: the same for this layer alone, fed rho(g) of its own input; None when it cannot be fed alone.
        floor: what resampling (there and back) and rounding alone would give, on this layer's own values.
        chance: the cumulative distance with another sample in place of rho(g) x.
        exact: whether the element permutes places here, so that a verdict may be given.
        verdict: "holds", "broken", or "no law" (not exact, or no action).
        kept: fraction of the places compared after masking.
        channels: relative error per channel (fields x orientations flattened), float32.
    """

    cumulative: float | None
    local: float | None
    floor: float
    chance: float | None
    exact: bool
    verdict: str
    kept: float = 1.0
    max_abs: float | None = None
    mean_abs: float | None = None
    decibel: float | None = None
    channels: Array | None = None
    attributed: float | None = None  # relative change of the output that this layer's own error makes


@dataclass(frozen=True, slots=True)
class LayerInfo:
    """One watched layer: what the layer tree shows."""

    name: str
    kind: str
    shape: tuple[int, ...]
    params: int
    field: str
    guessed: bool
    call: int = 0
    depth: int = 0
    receptive: float = 0.0  # radius in input pixels, an upper bound along the trace
    leaf: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Square:
    """One model's commuting square at the selected layer. Images are (channels, height, width) float32, read-only.

    For a layer without places ("invariant", "point ..."), maps are (channels, 1, 1) and are drawn as bars.
    `rho_fx` is None when the layer's field has no action of this element (`no_action` says why).
    `error_map` is |difference| over places, RMS over channels, (height, width).
    `back` is rho'(g)^-1 F(rho(g) x), made when State.untransform is on.
    `filters` are the layer's filters as drawn: (n, h, w), with `filter_labels`; None when the layer has none.
    `field_of_view` is |d unit / d x| for the clicked pixel, (height, width) of x.
    `shown` is the number of channels of the layer when only the first ones crossed, else equal to len(fx).
    """

    model: str
    title: str
    layer: LayerInfo
    layers: tuple[LayerInfo, ...]
    measures: Mapping[str, Measure]
    x: Array
    gx: Array
    fx: Array
    f_gx: Array
    rho_fx: Array | None
    difference: Array | None
    error_map: Array | None
    no_action: str
    scale: float
    group: str  # name of the finite group whose orientation channels the layer has, or ""
    output: Array  # F(x) at the network's end, (classes,), as scores
    output_g: Array  # F(rho(g) x)
    labels: tuple[str, ...]
    probabilities: bool  # whether the two outputs are class probabilities (softmax applied)
    back: Array | None = None
    known: Array | None = None
    filters: Array | None = None
    filter_labels: tuple[str, ...] = ()
    filter_columns: int = 0
    matrices: Mapping[str, Array] = field(default_factory=dict)
    field_of_view: Array | None = None
    shown: int = 0
    hints: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The answer to one Request: one square, or two side by side."""

    state: State
    squares: tuple[Square, ...]
    milliseconds: float
    forward_milliseconds: float
    device: str
    sample_title: str = ""
    sample_notes: tuple[str, ...] = ()
    serial: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class OrbitCurve:
    """Error of every layer along a one-parameter family of elements; partial while `done` < len(values).

    errors[layer] is (n,) with NaN where not computed yet; floor[layer] likewise; `exact` marks exact elements.
    `outputs` is (n, classes): the output along the orbit.
    """

    state: State
    model: str
    transform: str
    parameter: str
    unit: str
    values: Array
    errors: Mapping[str, Array]
    floor: Mapping[str, Array]
    exact: NDArray[np.bool_]
    outputs: Array
    labels: tuple[str, ...]
    done: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that could not be answered: what, where (file or layer), what to do. The last good frame stays."""

    state: State
    sentence: str
    where: str = ""
    detail: str = ""  # a traceback for the log, never the only text
