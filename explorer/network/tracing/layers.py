"""Describe the layers of a network, as one run of it has shown them, and name the one that failed."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from torch import Tensor, nn

from explorer.declare.types.fields import FieldType
from explorer.network.tracing.walking import named_modules
from explorer.work.words import in_our_words, module_not_found, printable

T = TypeVar("T")

OUTPUT = "output"  # the name of the root module's own result, when no named module produced it
FORWARD = "forward"  # the same in a network that has a layer called "output"; no layer can be called this
LONGEST = 10_000  # characters of a message that are looked at
# as Python writes classes, functions, modules and objects
_WRITTEN = re.compile(r"<(?:class|function|module) '?([\w.]+)[^<>]{0,80}>|<([\w.]+ object) at 0x[0-9a-f]+>")
LONG = 200  # characters of a message, of which then only the first sentence is told


class LayerError(RuntimeError):
    """A layer failed; `where` is its name."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


class NotFiniteError(LayerError):
    """A layer gave NaN or infinity on the moved data, and finite values before."""


class UncalledError(LayerError):
    """Layers were not called on an input, or not as often as on another one, or another one gave the answer.

    Attributes:
        names: of them, as `traced_run` takes them in `without`.
    """

    def __init__(self, where: str, names: frozenset[str]) -> None:
        told = "the network chooses its layers by its input, so there is nothing to compare"
        super().__init__(where, f"layer {where} was not called on this input, and on another it was: {told}")
        self.names = names


def without_chosen(make: Callable[[frozenset[str]], T], known: frozenset[str] = frozenset()) -> T:
    """Return what `make` does, without layers that are not called on every input: it is asked again as these show.

    Args:
        make: the names of those that are known to be none, as `traced_run` takes them -> what is wanted.
    """
    while True:
        try:
            return make(known)
        except UncalledError as error:
            if error.names <= known:
                raise
            known |= error.names


@dataclass(frozen=True, slots=True)
class Layer:
    """One call of one module, as seen in the trace.

    Attributes:
        name: as in named_modules(); a module called again is "name#2", "name#3", ...; the second tensor of what it
            returns is "name[1]".
        module: name in named_modules() without the call number.
        kind: the module's class.
        call: 0 for the first call.
        shape, params: of the output, with its batch axis; number of parameters, its children's included.
        field: of the output, None when the output's shape fits no domain that is known.
        inputs: fields of the positional tensor inputs; None where unknown.
        alone: whether the module can be fed alone (all its inputs are tensors with known fields).
        told: radius in input pixels as the layers tell it, an upper bound along the trace; inf after a global
            operation, NaN where they do not tell it.
        leaf: whether it has no children that were called.
        rank: how many weighted layers lie before it, itself included (for tolerances).
        shape_in: of its first tensor input.
        part: which tensor of the result it is.
        also: names of layers inside of it whose tensors it returns as well.
        within: of a value that no module returns, the name of the module in whose forward it arises; else None.
        trial: finds by trying the network what no layer tells of the radius.
        reason: why its field is what it is, or why there is none, in a clause.
        names: of its channels, where the module tells them by `out_names`.
        shares: whether it has as many places whatever the size of the data, so that they are no steps of the network.
    """

    name: str
    module: str
    kind: str
    call: int
    shape: tuple[int, ...]
    params: int
    field: FieldType | None
    inputs: tuple[FieldType | None, ...]
    alone: bool
    told: float
    leaf: bool
    rank: int
    shape_in: tuple[int, ...] = ()
    part: int = 0
    reason: str = ""
    within: str | None = None
    also: tuple[str, ...] = ()
    trial: Callable[[], float] | None = dataclasses.field(default=None, compare=False, repr=False)
    names: tuple[str, ...] = ()
    shares: bool = False

    @property
    def receptive(self) -> float:
        """Return the radius in input pixels; NaN where it is not known. Asking may run the network many times."""
        return self.trial() if self.trial is not None and math.isnan(self.told) else self.told

    def sees(self) -> float:
        """Return `receptive`, for those who may do without it."""
        return self.receptive

    @property
    def owner(self) -> str:
        """Return the name of the module that makes it."""
        return self.module if self.within is None else self.within

    @property
    def called(self) -> str:
        """Return the name of the call that returned this tensor."""
        suffix = f"[{self.part}]"
        # the first tensor of a result has one as well, where another is the layer's own
        return self.name.removesuffix(suffix) if self.part or not self.module.endswith(suffix) else self.name


def channel_names(module: nn.Module, field: FieldType | None, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return what a module calls the channels of its result, `out_names`; () where these are no such names."""
    told = getattr(module, "out_names", ())
    named = isinstance(told, tuple) and all(isinstance(name, str) for name in told)
    return told if named and field is not None and len(told) == field.domain.channels(shape) else ()


@dataclass(frozen=True, slots=True)
class Trace:
    """The layers of a network in order of completion."""

    layers: tuple[Layer, ...]
    output: str
    clones: bool  # whether outputs must be copied because something works in place
    training_modules: tuple[str, ...] = ()
    by_name: Mapping[str, Layer] = field(default_factory=dict)
    changes_input: bool = False  # whether the network writes to what it is given
    outputs: tuple[str, ...] = ()  # the network's result, tensor by tensor; empty where only the first was traced
    differentiates: bool = False  # whether it takes derivatives within, as of an energy by positions
    left_out: tuple[str, ...] = ()  # sentences about tensors of the result that are no layers
    held: Mapping[str, frozenset[str]] = field(default_factory=dict)  # {module: containers in which it has other names}

    def __getitem__(self, name: str) -> Layer:
        return self.by_name[name]

    @property
    def spacings(self) -> list[float]:
        """Return how many places of the input lie between two of each layer that goes over them in steps."""
        return [layer.field.spacing for layer in self.layers if layer.field and not layer.shares]

    def find_radii(self) -> None:
        """Try out what no layer tells of its radius, for those who will ask in the midst of a run of the network."""
        for layer in self.layers:
            layer.sees()


def innermost(layers: Iterable[Layer]) -> frozenset[str]:
    """Return the names of layers with a field that hold no other one with a field: a fault is sought in these.

    They are the leaves, and blocks of whose leaves nothing is known, as a complex convolution made of two real ones.
    """
    seen = [layer for layer in layers if layer.field is not None]
    around: set[str] = set()
    for layer in seen:
        name = layer.module if layer.within is None else ""
        while name and (name := name.rpartition(".")[0]) not in around:
            around.add(name)
    return frozenset(layer.name for layer in seen if layer.leaf or layer.module not in around)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a network while it was traced, where another run would give the same.

    Attributes:
        values, fed: {layer: output} and {layer: its tensor inputs}, as `capture` returns them.
        seconds: what it took, with what a network does in its first run only.
    """

    values: Mapping[str, Tensor]
    fed: Mapping[str, tuple[Tensor, ...]]
    seconds: float


def failing(model: nn.Module, error: BaseException) -> str:
    """Return the name of the innermost module in whose forward `error` was raised; "" is `model` itself."""
    try:
        names = {id(module): name for name, module in named_modules(model)}
    except Exception:  # it may be this that has failed
        return ""
    found, step = "", error.__traceback__
    while step is not None:
        found = names.get(id(step.tb_frame.f_locals.get("self")), found)
        step = step.tb_next
    return found


def layer_error(model: nn.Module, error: BaseException) -> LayerError:
    """Return `error` as one sentence that names the layer it came from."""
    if isinstance(error, LayerError):  # what is changed in the network says itself what is wrong with it
        return error
    where = failing(model, error)
    named = f"layer {where}" if where else "the network's forward"
    if isinstance(error, MemoryError):
        return LayerError(where, f"{named} has not enough memory")
    return LayerError(where, f"{named} raised {named_error(error)}")


def named_error(error: BaseException) -> str:
    """Return "ValueError: what it says", or its kind alone where it says nothing."""
    kind = printable(type(error).__name__[:60])
    if kind == "BdbQuit":  # of breakpoint() and of pdb alike; its own words are none
        return f"{kind}: it stops for a debugger (breakpoint() or pdb), and there is nobody to ask; take that line out"
    try:
        text = str(error)[:LONGEST]
    except Exception:  # of somebody else's class
        text = ""
    if kind == "EOFError" and text == "EOF when reading a line":
        return f"{kind}: it asks for a line to be typed (input()), and there is nobody to ask; take that line out"
    if isinstance(error, ModuleNotFoundError) and (told := module_not_found(error)):
        return f"{kind}: {told}"
    text = _WRITTEN.sub(r"\1\2", in_our_words(text) or text)
    if len(text) > LONG:  # libraries go on with advice to their own developers
        first, stop, _ = text.partition(". ")
        text = first + stop.strip()
    text = text if len(text) <= LONG else f"{text[:LONG]}…"
    return f"{kind}: {text}" if text else kind
