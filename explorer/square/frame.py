"""What one evaluation answers: frozen values and read-only arrays, ready to be drawn. No tensor crosses here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.values import MeshPart
from explorer.square.equation_values import Working
from explorer.state.state import State

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

    @property
    def kind_of_places(self) -> str:
        """Return "node", "edge", "pair", "graph", "vertex", "face" or "step", or "" for what has a batch axis."""
        first = self.field.partition(" ")[0]
        return first if first in ("node", "edge", "pair", "graph", "step", "vertex", "face") else ""

    @property
    def channels(self) -> int:
        """Return how many values there are at one place."""
        match self.kind_of_places:
            case "pair":
                return math.prod(self.shape[:-2])
            case "":
                return self.shape[1] if len(self.shape) > 1 else 1
            case _:
                axis = int(self.field.partition(" on axis ")[2] or 0)
                return math.prod(self.shape) // max(1, self.shape[axis])

    @property
    def size_text(self) -> str:
        """Return the sizes for reading; those of an image without its batch axis."""
        shape = self.shape if self.kind_of_places else self.shape[1:]
        return "×".join(map(str, shape)) or "1"


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A graph as it is drawn, in the sample's own order of nodes; one object for a whole epoch, arrays read-only.

    `edges` is (2, E), from and to, both directions of an undirected edge listed; `classes` are the known labels, -1
    unknown; `positions` come with the data (molecules, point clouds), (N, 2 or 3); `graph_of` says which graph of a
    batch a node belongs to; `key` names the structure, for layouts that are kept.
    """

    nodes: int
    edges: NDArray[np.int64]
    key: str
    directed: bool = False
    names: tuple[str, ...] = ()
    classes: NDArray[np.int64] | None = None
    positions: Array | None = None
    weights: Array | None = None
    graph_of: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The graph Fourier transform: L = I - D^-1/2 A D^-1/2 = U diag(eigenvalues) U^T, ascending, (k,).

    `vectors` is (N, k); `x` and `layer` are (k, C) coefficients U^T x of the input and of the selected node field (in
    the original order of nodes), `layer` None for other fields. `partial`: only k of N were computed.
    """

    eigenvalues: Array
    vectors: Array
    x: Array
    layer: Array | None
    partial: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GraphPart:
    """What views of graphs draw, beside the images of the Square.

    Attributes:
        structure: the graph of x; that of rho(g) x has its nodes renumbered by `order`.
        order: (N,) node i of x is node order[i] of rho(g) x; -1 where it was dropped.
        edge_order: (E,) the same for the listed edges.
        kind: where the selected layer's values sit: "node", "edge", "pair" or "invariant".
        x, gx: the input, (N, C), before and after.
        values, moved, expected, difference: F(x), F(rho(g) x), rho'(g) F(x) and their difference at the layer: (N, C),
            (E, C), (H, N, N) or (G, C); channels beyond MOST_CHANNELS are left out. None where there is no action.
        coefficients: {layer: (E, H)} of every edge field with at most 16 channels: attention, gates, weights of edges.
        pairs: {layer: (H, N, N)} of every pair field that is small enough to be sent.
        dense: False where the values of pairs were left out because the graph is too large for them.
        influence: (N,) sum over channels of |d layer(selected node) / d x_j|, original order; None without selection.
        distance: (N,) hops from the selected node, -1 where it cannot be reached.
        energy: {layer: Dirichlet energy of its node field divided by its squared norm}, in order of the layers.
        spectrum: the graph Fourier transform; filled in idle time.
        outputs: (G, C) the network's own answer where it is one for each graph, else None.
        answers: (2, N) the network's answer where it is one number for each node and nodes have names, else None: that
            of F(x) and that of F(rho(g) x), each at the node that it is for; NaN where the node was dropped.
        sets: {name: (N,) bool or int}: what a pooling layer keeps, clusters, critical points; by the layer's name.
    """

    structure: Structure
    order: NDArray[np.int64]
    edge_order: NDArray[np.int64]
    kind: str
    x: Array
    gx: Array
    values: Array
    moved: Array
    expected: Array | None
    difference: Array | None
    coefficients: Mapping[str, Array] = field(default_factory=dict)
    pairs: Mapping[str, Array] = field(default_factory=dict)
    dense: bool = True
    influence: Array | None = None
    distance: NDArray[np.int64] | None = None
    energy: Mapping[str, float] = field(default_factory=dict)
    spectrum: Spectrum | None = None
    sets: Mapping[str, Array] = field(default_factory=dict)
    outputs: Array | None = None
    answers: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Settling:
    """The path of a recurrent state to its fixed point while nothing but zeros comes in.

    Attributes:
        layers: the names under which the state is a layer.
        orbit: h_0 = 0, h_1, ..., (k + 1, units).
        contraction: by what factor the distance of two orbits shrinks in an iteration; 1 or more: it does not.
        converged: whether it came to rest, or a fixed point was found from where it had come to.
    """

    layers: tuple[str, ...]
    orbit: Array
    contraction: float
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Attended:
    """What the selected step attends to: a row of a matrix of attention that is too large to be formed.

    Attributes:
        name: of the module.
        row: (S, H) that of F(x), a column for each head.
        moved: (S', H) that of F(rho(g) x), at the place where the step has gone; None where it was cut off.
    """

    name: str
    row: Array
    moved: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class TimePart:
    """What views of sequences draw, beside the images of the Square.

    Attributes:
        steps: T, the number of steps of x; rho(g) x may have another number.
        times: (T,) the time of each step where sampling is irregular, ascending; None where it is regular.
        names: the text of each step (letters, words), or empty.
        kind: where the selected layer's values sit: "step", "pair" or "invariant".
        x, gx: the input, (T, C), before and after.
        order: (T,) at which step of rho(g) x step t of x is found, between two steps where time is bent; NaN where it
            was cut off.
        values, moved, expected, difference: F(x), F(rho(g) x), rho'(g) F(x) and their difference at the layer: (T, C),
            (H, T, T) or (1, C). None where there is no action.
        gates: {layer: (T, C)} of every step field with at most 64 channels, leaves only, in the order of the layers.
        moved_gates: the same of F(rho(g) x); may be empty.
        known: (T,) the steps of rho(g) x that are compared: not padding, nor what hangs on it.
        gradient: (T,) |d layer(selected step) / d x_t|, original steps; None without selection.
        truncated: (T,) the same with the recurrent state detached every State.truncate steps; None without truncation.
        cuts: how many recurrent modules the truncation found; 0: there is no state to detach.
        settlings: how each recurrent state comes to rest while zeros come in; empty where there is none.
        working: the equations of the block that the selected layer lies in, with their values; None where none are
            stated.
        attended: what the selected step attends to, in the attention that the selected layer lies in, else in the last
            one before it; None without selection, without attention, and where the matrix is a layer.
        written, moved_written: what the network writes at each step of x and of rho(g) x; empty where its answers are
            no words of the sequence.
        writer: the layer that `written` is read off.
    """

    steps: int
    times: Array | None
    names: tuple[str, ...]
    kind: str
    x: Array
    gx: Array
    order: Array
    values: Array
    moved: Array
    expected: Array | None
    difference: Array | None
    gates: Mapping[str, Array] = field(default_factory=dict)
    moved_gates: Mapping[str, Array] = field(default_factory=dict)
    known: NDArray[np.bool_] | None = None
    gradient: Array | None = None
    truncated: Array | None = None
    cuts: int = 0
    working: Working | None = None
    settlings: tuple[Settling, ...] = ()
    attended: Attended | None = None
    written: tuple[str, ...] = ()
    moved_written: tuple[str, ...] = ()
    writer: str = ""


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
    graph: GraphPart | None = None
    time: TimePart | None = None
    mesh: MeshPart | None = None

    @property
    def domain(self) -> str:
        """Return "grid", "graph" (sets included), "mesh" or "time"."""
        parts = {"graph": self.graph, "time": self.time, "mesh": self.mesh}
        return next((domain for domain, part in parts.items() if part is not None), "grid")


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
    sample_parts: int = 1  # how many there are where the sample comes from
    model_notes: tuple[str, ...] = ()  # of the networks: shipped weights that did not fit


def time_parts(frame: Frame | None, most: int = 2) -> list[tuple[Square, TimePart]]:
    """Return the first squares of a frame that live on a sequence."""
    squares = frame.squares[:most] if frame is not None else ()
    return [(s, s.time) for s in squares if s.time is not None]


def parts_of_one_time(frame: Frame | None) -> list[tuple[Square, TimePart]]:
    """Return the squares that live on the first one's sequence, which has steps."""
    found = time_parts(frame)
    return [(s, t) for s, t in found if t.steps == found[0][1].steps and t.steps]


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
