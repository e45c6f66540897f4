"""The answer of one evaluation: frozen values and read-only arrays, ready to be drawn. No tensor crosses here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from explorer.declare.registry import scanned
from explorer.declare.states.interventions import Intervention
from explorer.declare.telling.excerpt import Excerpt
from explorer.declare.telling.summaries import Differences, Law, LayerFigures, ModuleInfo
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import Domain, Point
from explorer.square.analyses.latent.part import Latent
from explorer.state.state import State

Array = NDArray[np.floating]
Part = TypeVar("Part")
BACK = "ρ′(g)⁻¹F(ρ(g)x)"  # the title of what State.untransform shows beside F(x)


@scanned
def _domain(field: str) -> Domain | None:
    """Return the domain of a field's text, None where the field is not known."""
    try:
        return parse_field(field).domain
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Measure:
    """The distance of one layer's square from commuting.

    Attributes:
        cumulative: ||M(rho'(g) h(x) - h(rho(g) x))|| / ||M rho'(g) h(x)||; None when the field has no such action.
        local: the same for this layer alone, fed rho(g) of its own input; None when it cannot be fed alone.
        floor: what resampling (there and back) and rounding alone would give, on this layer's own values.
        chance: the cumulative distance with another sample in place of rho(g) x.
        exact: whether the element permutes places here, so that a verdict may be given.
        verdict: "holds", "broken", "no law" (not exact, or no action), or "unmoved" (the identity proves nothing).
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
    attributed_within: tuple[float, float] | None = None  # the interval of an estimate, with 95 % confidence
    tolerance: float = 0.0  # of the cumulative error, up to which an exact law holds
    emptied: bool = False  # the element acts here, and every place came in from outside: nothing is left to compare

    @property
    def seen(self) -> bool:
        """Return whether a fault shows in what the layer gives, be it its own or inherited."""
        error = self.cumulative
        return self.exact and error is not None and (math.isnan(error) or error > self.tolerance)


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
    leaf: bool = True
    dtype: str = ""
    nbytes: int = 0  # of its values
    reason: str = ""  # why its field is taken for what it is
    module: str = ""  # that was called
    names: tuple[str, ...] = ()  # of its channels, where the module says what they are
    within: str | None = None  # of a value that no module returns, the layer whose forward makes it, "" where none does

    @property
    def mendable(self) -> str:
        """Return the layer of which symmetric versions can be tried: it, or the one that makes it; "" for none."""
        return self.name if self.within is None else self.within

    @property
    def kind_of_places(self) -> str:
        """Return "node", "edge", "pair", "step", ..., or "" for what has a batch axis, or coarser places."""
        domain = _domain(self.field)
        return "" if domain is None or domain.batched or domain.spacing != 1.0 else domain.name

    @property
    def channels(self) -> int:
        """Return how many values there are at one place."""
        domain = _domain(self.field)
        return (domain or Point()).channels(self.shape)

    @property
    def size_text(self) -> str:
        """Return the sizes for reading; those of an image without its batch axis."""
        shape = self.shape if self.kind_of_places else self.shape[1:]
        return "×".join(map(str, shape)) or "1"


@dataclass(frozen=True, slots=True)
class Change:
    """The relative distance of a layer from that of the network without its interventions, on x and on rho(g) x."""

    on_x: float
    on_gx: float


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One parameter of a layer as it is drawn.

    Attributes:
        name, shape: as its module has it.
        values: (maps, h, w), filters as maps and all else as one matrix; of large ones means of neighbours.
        gradient: of the chosen number by it, drawn alike; None where none was asked for or it does not depend on it.
        row: how many maps belong together.
        norm, slope: the norms of all of it and of its gradient.
    """

    name: str
    shape: tuple[int, ...]
    values: Array
    gradient: Array | None
    row: int
    norm: float
    slope: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The parameters of the selected layer, and how many entries the network's output has."""

    parameters: tuple[Parameter, ...] = ()
    entries: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Saliency:
    """Maps of which pixels an entry of the answer depends on, (1, height, width), summed over channels.

    Attributes:
        method, entry, label: what was asked: how, and of which of so many `entries` of the answer.
        on_x, on_gx: S(x) and S(rho(g) x); `expected` is rho(g) S(x), and `difference` the first less the second.
        error: relative distance of S(rho(g) x) from rho(g) S(x); None where the entry itself moves.
        exact: whether the element permutes pixels.
        done: share of the work, for partial maps.
        problem: why there is no map, in a sentence.
    """

    method: str
    entry: int
    label: str
    entries: int
    on_x: Array | None = None
    on_gx: Array | None = None
    expected: Array | None = None
    difference: Array | None = None
    error: float | None = None
    exact: bool = False
    done: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class InputPicture:
    """One of several images that a network takes, as it is drawn: (channels, height, width), before and moved."""

    name: str
    x: Array
    gx: Array


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
    verdict: str = ""  # on the network: that of its outputs, "" before they are measured, "undefined" of NaN
    guilty: tuple[str, ...] = ()  # the layers that make the fault, in execution order
    shows: str = ""  # where a fault first shows that none of them makes by itself
    message: str = ""  # why the network has no verdict: it gives NaN, varies from call to call, or values tie
    brief: str = "its answers vary from call to call"  # that in a few words
    cut_off: str = ""  # why an element that puts nothing between places gives no verdict
    before: Mapping[str, Measure] = field(default_factory=dict)  # the measures before its file was edited last
    guilty_before: tuple[str, ...] = ()  # and the layers that made the fault then
    source: tuple[Excerpt, ...] = ()  # the lines that make the selected layer, and those that compute it
    interventions: tuple[Intervention, ...] = ()  # in the network that all this was measured on
    changes: Mapping[str, Change] = field(default_factory=dict)  # what follows of them, layer by layer
    weights: Weights = Weights()  # of the selected layer, with the gradient that was asked for
    saliency: Saliency | None = None  # where the state asks for it
    part: object | None = None  # what views of its space draw beside these images
    kind: str = ""  # of the data it lives on; that of its part if empty
    differences: Differences | None = None  # from another run that the person compares with
    laws: tuple[Law, ...] = ()  # the groups that were tested on it, when the person has asked
    latent: Latent | None = None  # the codes of a network that encodes and decodes
    figures: LayerFigures | None = None  # statistics, operations, dead channels: what is known of the layers besides
    places: int = 0  # of the input that a person can name by their number; 0 where they have none
    inputs: tuple[InputPicture, ...] = ()  # all that is drawn as x is, that first; () where there is nothing but x

    @property
    def domain(self) -> str:
        """Return the kind of data that it lives on; of a graph and a set the first."""
        return getattr(self.part, "data", "") or self.kind

    def of(self, kind: type[Part]) -> Part | None:
        """Return its part if it is one of that kind, else None."""
        return self.part if isinstance(self.part, kind) else None


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
    model_notes: tuple[str, ...] = ()  # of the networks
    weights_notes: tuple[str, ...] = ()  # those of them that say which weights are not what a person may take them for
    files: tuple[tuple[str, object], ...] = ()  # that the networks were made of, with their stamps
    reloaded: tuple[str, ...] = ()  # sentences about networks that were made again for this frame
    stale: Failure | None = None  # why a network is still the one from before its file was saved last
    asks: bool = False  # whether code that is saved later does not run before a person has allowed it

    def parts(self, kind: type[Part], most: int = 2) -> list[tuple[Square, Part]]:
        """Return the first squares with their parts of that kind, those that have one."""
        return [(s, part) for s in self.squares[:most] if (part := s.of(kind)) is not None]


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """The picture of rho(g) x, which needs no network: drawn while a slow one has not answered yet."""

    state: State
    gx: Array


@dataclass(frozen=True, slots=True, eq=False)
class Glimpse:
    """A picture of large data that were read, (side, side, 3) uint8: what is made of them takes its time."""

    title: str
    picture: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The modules of a large network that has not answered yet."""

    state: State
    title: str
    modules: tuple[ModuleInfo, ...]

    def square(self) -> Square:
        """Return a square that has modules and no layer with values."""
        none = np.zeros((0, 0, 0), np.float32)
        layer = LayerInfo("", "", (), 0, "", False)
        return Square(
            self.state.model, self.title, layer, (), {}, none, none, none, none, None, None, None, "", 1.0, "",
            none.reshape(0), none.reshape(0), (), False, figures=LayerFigures(modules=self.modules),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class OrbitCurve:
    """Error of every layer along a one-parameter family of elements; partial while `done` < len(values).

    errors[layer] is (n,) with NaN where not computed yet; floor[layer] likewise; `exact` marks exact elements.
    `outputs` is (n, classes): the output along the orbit. `estimated` marks elements whose errors were compared at
    a few places only; () where none was.
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
    estimated: NDArray[np.bool_] | tuple[()] = ()

    def about(self, index: int) -> bool:
        """Return whether the errors of an element are estimates."""
        return bool(len(self.estimated) and self.estimated[index])


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that could not be answered: what, where (file or layer), what to do. The last good frame stays."""

    state: State
    sentence: str
    where: str = ""
    detail: str = ""  # a traceback for the log, never the only text
    untrusted: str = ""  # the model whose file holds code that nobody has allowed to run yet
    cancelled: bool = False  # a person has ended it: nothing went wrong
