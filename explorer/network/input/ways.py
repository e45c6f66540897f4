"""Call a network with tensors in another order, by name, with a batch axis, or as the attributes of one object."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.declare.card import Form
from explorer.declare.telling.asking import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor, nn

IN_ORDER, BY_NAME, AS_ONE, AS_PAIR = "order", "names", "object", "pair"  # how a network is given its arguments
QUESTIONS = (
    Question(
        "given", "Given", "In order, by names, as attributes of one object such as a Data, or with a pair first.",
        "choice", (IN_ORDER, BY_NAME, AS_ONE, AS_PAIR),
    ),
    Question("names", "Names", "By which they are given, where that is not in order.", "names"),
)  # fmt: skip

# what people call the signals of graphs and points; the first name is that of an attribute of a torch_geometric Data
_NAMES = {
    "x": ("x", "h", "feat", "feats", "feature", "features", "node_feat", "node_feats", "node_features", "nodes", "inp"),
    "edge_index": ("edge_index", "edges", "edge_idx", "ei", "edge_list", "index"),
    "edge_attr": ("edge_attr", "edge_attrs", "edge_feat", "edge_feats", "edge_features", "e"),
    "edge_weight": ("edge_weight", "edge_weights", "weight", "weights", "w"),
    "velocity": ("vel", "velocity", "velocities", "v"),
    "position": (
        *("pos", "position", "positions", "coord", "coords", "coordinates", "point", "xyz", "r", "p", "cloud"),
        *("vert", "vertex", "vertices", "v", "coor", "loc", "location", "pt"),
    ),
    "faces": ("face", "tri", "triangle", "triangles", "f", "t"),
    "number": ("z", "number", "numbers", "atomic_numbers", "atomic_number", "atoms", "atom_types", "species"),
    "adjacency": ("adj", "adjacency", "a", "adj_matrix", "adjacency_matrix", "a_hat", "adj_norm"),
    "charge": ("charge", "charges", "q"),
    "batch": ("batch", "batch_index", "batch_idx"),
    "mask": ("mask", "node_mask", "key_padding_mask", "padding_mask", "valid"),
}

_BESIDE = {"x": ("position",)}  # h and x: features, and where the points are


def meant(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the signals that an argument of this name may stand for."""
    exact = (name,) if name in known else ()
    spelt = {name.lower(), name.lower().removesuffix("s")}
    return exact or tuple(s for s, names in _NAMES.items() if s in known and spelt & set(names))


def all_meant(name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the signals that an argument of this name may stand for, also where another has what it usually means."""
    return (*meant(name, known), *(s for s in _BESIDE.get(name.lower(), ()) if s in known))


def spellings(signal: str) -> tuple[str, ...]:
    """Return the names that people give a signal, of one and of many, in small letters and in capitals."""
    names = [spelt for name in _NAMES.get(signal, (signal,)) for spelt in (name, f"{name}s")]
    return tuple(dict.fromkeys((*names, *(n.upper() for n in names), *(n.capitalize() for n in names))))


def attribute(signal: str) -> str:
    """Return the name by which a torch_geometric Data has a signal."""
    return _NAMES.get(signal, (signal,))[0]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to call a network: with these signals, in the order of its arguments or under their names.

    Attributes:
        signals: of the data.
        names: by which they are given, where not in order; () for those of a torch_geometric Data.
        given: IN_ORDER, BY_NAME, AS_ONE, or AS_PAIR: in order, the first two as one tuple, as of the nodes of two sets.
    """

    signals: tuple[str, ...]
    names: tuple[str, ...] = ()
    given: str = IN_ORDER

    def call(self, held: Sequence[str]) -> Call | None:
        """Return how tensors in the order `held` are given; None where it is one by one in that order."""
        if self.given == IN_ORDER and tuple(held) == self.signals:
            return None
        names = self.names or tuple(attribute(s) for s in self.signals)
        return Call(tuple(held.index(s) for s in self.signals), names, self.given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called(Form):
    """An input of which somebody's network may be given the `signals` in several ways.

    Attributes:
        given: "order", by "names", as attributes and items of one "object", as of a torch_geometric Data, or in order
            with the first two as a "pair".
        names: under which the signals are given, where that is not in order; () for those of a torch_geometric Data.
        known: how many whole numbers, as of elements, a network has a table for: others are taken modulo it; None for
            any.
    """

    given: str = IN_ORDER
    names: tuple[str, ...] = ()
    known: int | None = None

    if TYPE_CHECKING:

        @property
        def signals(self) -> tuple[str, ...]:
            """Return what of a sample the network is called with."""

    @property
    def way(self) -> Way:
        """Return how a network is given the signals."""
        return Way(self.signals, self.names, self.given)

    @property
    def drawn(self) -> str:
        """Return the signal that is drawn as the input."""
        return self.signals[0]

    def within(self, numbers: NDArray[np.int64], notes: list[str]) -> NDArray[np.int64]:
        """Return whole numbers that the network has a table for; a note says where others were given."""
        if self.known is None or numbers.max(initial=0) < self.known:
            return numbers
        notes.append(f"numbers modulo {self.known}: this network has a table for so many")
        return numbers % self.known

    @property
    def held(self) -> tuple[str, ...]:
        """Return the signals with the one that is drawn first."""
        return (self.drawn, *(s for s in self.signals if s != self.drawn))


@dataclass(frozen=True)
class Call:
    """Give a network tensors in another order, by name, as the attributes of one object, or as a pair first."""

    order: tuple[int, ...]
    names: tuple[str, ...]
    given: str

    def __call__(self, network: nn.Module, tensors: Sequence[Tensor]) -> Any:
        ordered = [tensors[k] for k in self.order]
        if self.given == IN_ORDER:
            return network(*ordered)
        if self.given == AS_PAIR:
            return network(tuple(ordered[:2]), *ordered[2:])
        named = dict(zip(self.names, ordered, strict=True))
        return network(**named) if self.given == BY_NAME else network(as_one(named))


class Bag(dict[str, Any]):
    """Tensors that are read as attributes and as items, as those of a torch_geometric Data are.

    Attributes:
        asked: what was read, in its order: names, where the network takes such an object.
        touched: anything was, or what is told of all of it.
    """

    def __init__(self, items: Mapping[str, Any]) -> None:
        super().__init__(items)
        self.__dict__["asked"] = []
        self.__dict__["counted"] = False

    @property
    def touched(self) -> bool:
        return bool(self.asked) or self.counted

    def __getitem__(self, name: str) -> Any:
        self.asked.append(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.append(name)
        return super().get(name, default)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.asked.append(name)
        try:
            return super().__getitem__(name)
        except KeyError:
            raise AttributeError(f"the object has no {name!r}") from None

    @property
    def num_nodes(self) -> int:
        """Return how many nodes there are: rows of what lies on them."""
        self.__dict__["counted"] = True
        return next(len(self[n]) for n in ("x", "pos", "z", "batch") if n in self)

    num_graphs = 1

    def to(self, *_: Any, **__: Any) -> Bag:
        """Return the same object: its tensors are where the network is."""
        return self


def as_one(named: Mapping[str, Tensor]) -> Any:
    """Return tensors as one object: a Data of torch_geometric where a network's file imports that."""
    found = sys.modules.get("torch_geometric.data")
    return Bag(named) if found is None else found.Data(**named)
