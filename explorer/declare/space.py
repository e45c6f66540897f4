"""Spaces: everything the core knows of one kind of data. A space is ONE package that exports ONE constant, SPACE.

The constant stands in the package's file `space.py`, which imports nothing heavy: what needs torch is imported by the
methods. All other code asks the space and never which one it is. A space that says little still works: every method
but `inputs` and `inference` has a general answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from explorer.declare.registry import scan, scanned
from explorer.declare.telling.another_kind import another_kind
from explorer.declare.telling.asking import Declared, Question
from explorer.declare.types.fields import PAIR, Domain, FieldType
from explorer.declare.types.written import Written

if TYPE_CHECKING:
    # the one place where types of upper rooms are named below: a space answers their questions
    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor, nn

    from explorer.data.samples import Sample
    from explorer.declare.card import Card, Form
    from explorer.declare.elements import Element, Step
    from explorer.network.input.inputs import Inputs
    from explorer.network.input.recognise import Recognised
    from explorer.network.tracing.layers import Layer, Trace
    from explorer.square.both_ways import BothWays
    from explorer.square.drawing.answer import Answer
    from explorer.square.frame import Square
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State

Domains = Mapping[str, Callable[[str], Domain]]  # {first word of a field's text: the rest of it -> the domain}
Representations = Mapping[str, Written]  # {word: how a representation is written}
Trial = Callable[["Tensor", "Sequence[str]"], Mapping[str, "Tensor"]]  # another x, layers -> their values, or it raises
Known = tuple[FieldType, float, int]  # field, receptive radius, weighted layers so far


@dataclass(frozen=True, slots=True)
class Scene:
    """A window that shows what there is to see of a space, for a gallery of pictures; `chain` is the element."""

    name: str
    model: str
    chain: str
    sample: str = ""
    compare: str = ""
    layer: str = ""
    node: int | None = None
    large: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of data, as samples, cards, transforms and readers name it.

    Attributes:
        name: "graph".
        word: what it is called in a sentence; the name if empty.
        group: the symmetry that is checked where a card claims none.
        sample: what somebody's own network is shown on first.
        beside: how many models there is room for beside the first one.
        maker: what of the public library makes inputs of plain tensors, for messages.
        title, one: what many and one of them are called in the window: "Graphs", "a graph".
        lessons: heading of the lessons about it; the title if empty.
        place: kinds of a low place are listed first.
        move: what a person does to it, in the imperative.
        pictured: whether values by place and channel are a picture of it.
        numbered: whether its places have numbers, of which any other order is as good.
        showcase: a chain that shows something, for pictures; "" leaves everything as it is.
    """

    name: str
    word: str = ""
    group: str = ""
    sample: str = ""
    beside: int = 2
    maker: str = ""
    title: str = ""
    one: str = ""
    lessons: str = ""
    place: int = 90
    showcase: str = ""
    move: str = "move it"
    pictured: bool = True
    numbered: bool = False


class Inference(ABC):
    """Answers of a space about the tensors inside one network that is called with given inputs.

    Attributes:
        untold: the receptive radius of what functional code made: NaN where `reaches` finds it, else endless.
    """

    untold: ClassVar[float] = float("inf")

    @abstractmethod
    def fits(self, field: FieldType, value: Tensor) -> bool:
        """Return whether a tensor of that shape can be such a field."""

    def own(self, field: FieldType) -> FieldType:
        """Return a declared field as this space says it."""
        return field

    @abstractmethod
    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        """Return the field type of a module's output; `guessed` unless the module declares it."""

    def fed(self, module: nn.Module, number: int, field: FieldType, shape: tuple[int, ...]) -> FieldType:
        """Return the field of a tensor that a module is given, of that number; as the module declares what it takes."""
        return field

    def typed(self, declared: object, field: FieldType | None, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field of a value that carries a type, as of escnn; None where that says nothing here."""
        return None

    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        """Return the radius in input places that one output value can depend on, given its input's radius.

        NaN says that it is not known; then it is found by trial (`reaches`).
        """
        return float("inf")

    def resized(self, inputs: Inputs) -> Inputs | None:
        """Return inputs with fewer places: which axes of a tensor change with them? None where shapes tell enough."""
        return None

    def placed(self, shape: tuple[int, ...], resized: tuple[int, ...]) -> FieldType | None:
        """Return the field of a tensor by its shape and that for `resized` inputs, which tells sizes apart; or None."""
        return None

    def reaches(
        self, run: Callable[..., Mapping[str, Tensor]], inputs: Inputs, fields: Mapping[str, FieldType]
    ) -> dict[str, float]:
        """Return the radius of layers where none is known, by trial: run(x, names or none) -> values, or it raises."""
        return {}

    def studied(self, run: Trial, inputs: Inputs, layers: Sequence[Layer]) -> Inference | None:
        """Return what knows more after trials on the traced network, by which it is traced again; else None."""
        return None

    def wide(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field of a tensor whose channels have several axes, or None where it has no places."""
        return None

    def along(self, axis: int, size: int) -> FieldType | None:
        """Return the field whose places are counted along that axis, of so many; None where there are not so many."""
        return None

    def paired(self, value: Tensor) -> FieldType | None:
        """Return the field of a matrix between places, (..., to, from), such as attention; None where it is none."""
        return PAIR.guess() if self.fits(PAIR, value) else None

    def exchanges(
        self, channels: tuple[int, ...], elements: Sequence[Element]
    ) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yield orders of so many channels that people exchange under these elements: for each, which comes where."""
        return iter(())

    def ways(self, field: FieldType, shape: tuple[int, ...], told: Sequence[FieldType]) -> Sequence[FieldType]:
        """Return what a tensor that is taken for scalars could be as well; `told` are fields that layers declare."""
        return ()

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        """Return what is known of a tensor that functional code made of one of the shape `seen`, or None."""
        return None

    @abstractmethod
    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field type of what functional code at the network's end gives, by its shape alone."""

    @abstractmethod
    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return unrelated inputs of the same shapes: what chance would give is measured on them."""

    def others(self, inputs: Inputs, seed: int) -> Inputs:
        """Return unrelated inputs for a whole batch."""
        return self.another(inputs, seed)

    def size(self, inputs: Inputs) -> tuple[int, int]:
        """Return (height, width) of the input; what has one direction is one wide."""
        return (inputs.field.domain.by_channel(inputs.x).shape[-1], 1)

    def size_words(self, inputs: Inputs) -> str:
        """Return the size for a sentence that begins "an input of ...", or "" where it says nothing."""
        return ""

    def may_be_empty(self) -> bool:
        """Return whether an answer without any value is right, such as one for each edge of a graph without edges."""
        return False


class Space(ABC):
    """One kind of data.

    Attributes:
        name: as `Domain.space` and `Form.space` have it.
        kinds: what samples, cards and transforms call it; the first one is that of its inputs.
        rank: spaces of a low rank are asked first whose somebody's own network is.
        domains, representations: how fields of this space are written.
        examples: texts of fields, for messages.
        orbits: names of transforms along which an error curve is drawn first.
        capture_endings: {title of a format: ending} that a layer's values are written to, beside captures of tensors.
        parted: whether a sample may hold several things, of which "name#k" is one.
        scenes: windows that show what there is to see.
        form: what its networks take, with a default for everything; None where it cannot be declared.
        questions: what a person is asked who declares what a network of their own takes, by attribute of `form`.
    """

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]]
    rank: ClassVar[int] = 0
    domains: ClassVar[Domains] = {}
    representations: ClassVar[Representations] = {}
    examples: ClassVar[tuple[str, ...]] = ()
    orbits: ClassVar[tuple[str, ...]] = ()
    capture_endings: ClassVar[Mapping[str, str]] = {}
    parted: ClassVar[bool] = False
    scenes: ClassVar[tuple[Scene, ...]] = ()
    form: ClassVar[type[Form] | None] = None
    questions: ClassVar[tuple[Question, ...]] = ()

    # samples --------------------------------------------------------------------------------------------------
    def sample_of(self, text: str, seed: int) -> Sample | None:
        """Return the sample that a text describes, such as "ring:12", or None where it is none of this space.

        Raises:
            ValueError: it is meant to be one, and is wrong; in one sentence.
        """
        return None

    def fit(self, sample: Sample, form: Form) -> Sample:
        """Adapt a sample to what a network takes; raise ValueError, in one sentence, where that is impossible."""
        if kinds()[sample.domain].name not in {k.name for k in self.kinds}:
            takes = " or ".join(k.one or f"a {k.word or k.name}" for k in self.kinds)
            raise ValueError(another_kind(sample.name, domain_word(sample.domain), takes))
        return sample

    def parts(self, sample: Sample) -> int:
        """Return how many things of this kind a sample holds, each "name#k" by itself."""
        return 1

    def part_of(self, sample: Sample, part: str) -> Sample | None:
        """Return the thing called "name#part", None where samples have no parts; raise ValueError where it is none."""
        return None

    def thumbnail(self, sample: Sample, side: int) -> NDArray[np.uint8] | None:
        """Return a small picture, (side, side, 3), or None."""
        return None

    def several(self, card: Card, count: int) -> list[str] | None:
        """Return the card's sample and others on which the network is checked as well, by name.

        None leaves the choice to `data.choosing`: small ones that fit.
        """
        return None

    # networks -------------------------------------------------------------------------------------------------
    def recognise(self, network: Recognised) -> Form | None:
        """Return what somebody's own network takes, or None where it is none of this space.

        Raises:
            ValueError: what its file says of its input is wrong, in one sentence.
        """
        return None

    def declared(self, said: Declared) -> Form:
        """Return the form of an input that somebody declares; raise ValueError where it is impossible."""
        asked = {question.name: question for question in self.questions}
        if self.form is None:
            raise ValueError(f"what a network on a {said.kind} takes cannot be declared")
        if wrong := next((name for name, _ in said.answers if name not in asked), ""):
            known = ", ".join(asked) or "nothing"
            raise ValueError(f"an input of kind {said.kind} has no {wrong!r:.40}; it has {known}")
        return self.form(**{name: asked[name].parse(text) for name, text in said.answers})

    def proposed(self, network: Recognised) -> Mapping[str, tuple[Any, str]]:
        """Return {attribute of the form: (a value, why)} for a network that would take this, for a person to change."""
        return {}

    def first_sample(self, form: Form) -> str:
        """Return the sample that somebody's own network is shown on first."""
        return self.kinds[0].sample

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        """Return the sizes of what a network takes, for reading."""
        return ()

    @abstractmethod
    def inputs(self, sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
        """Return what a network is called with.

        Raises:
            ValueError: NaN and infinities.
        """

    def attempts(self, network: nn.Module, kind: str) -> Iterator[Form]:
        """Yield what a network might take that nobody says it of; all of it is tried."""
        return iter(())

    def readings(self, network: nn.Module, form: Form) -> Iterator[Form]:
        """Yield what else a network may take that runs with `form`, as when its axes may lie in another order."""
        return iter(())

    def in_steps(self, inputs: Inputs, step: int) -> Inputs:
        """Return data that nobody chose with sides that are whole numbers of so many places."""
        return inputs

    @abstractmethod
    def inference(self, inputs: Inputs) -> Inference:
        """Return what there is to say of the tensors inside of a network called with these inputs."""

    def reads(self, data: Tensor | Sequence[object]) -> str:
        """Return how a sentence on bare data of this space begins, as in "a tensor alone is taken for"; else ""."""
        return ""

    def given(self, data: Tensor | Sequence[object], seed: int) -> Inputs:
        """Return the inputs that bare data means which this space `reads`; raise ValueError where it is wrong."""
        raise NotImplementedError

    def named(self, tensors: Mapping[str, Tensor]) -> tuple[tuple[str, ...], Inputs] | None:
        """Return tensors given by name as inputs, and their names in that order; None where they are not of this space.

        Raises:
            ValueError: they are, and something is wrong; in one sentence.
        """
        return None

    def settled(self, inputs: Inputs, model: nn.Module) -> Inputs:
        """Return inputs with the fields that only a trial on the network tells; it is left as it was.

        Raises:
            ValueError: the trial leaves it open, in one sentence that says what to declare.
        """
        return inputs

    def require_taken(self, inputs: Inputs, model: nn.Module) -> None:
        """Raise ValueError, with what to give, where a trial shows that inputs are not what they are said to be."""
        return

    def stimulus(self, inputs: Inputs, seed: int) -> Inputs:
        """Return the inputs that a check is made on; raise ValueError where nothing could be seen on them."""
        return inputs

    def lie_derivatives(self, model: nn.Module, inputs: Inputs, trace: Trace) -> dict[str, dict[str, float]]:
        """Return {direction: {layer: mean square of the Lie derivative}}; {} where elements form no Lie group.

        Raises:
            LayerError: a layer has no forward-mode derivative.
        """
        return {}

    def hints(self, module: nn.Module, layer: Layer, name: str, group: str) -> list[str]:
        """Return sentences about what in a broken layer could be the cause."""
        return []

    # the square -----------------------------------------------------------------------------------------------
    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, state: State | None
    ) -> tuple[Step, ...]:
        """Return a random element other than the identity as steps that the controls can show.

        () leaves the choice to `state.random_element`: the first transform that has an inverse.
        """
        return ()

    def sweepers(self) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
        """Return two like `square.sweep.sweep`, one to estimate errors, one that is quicker; None: it does for both."""
        return None

    def look_at(self, p: Prepared) -> None:
        """Keep what must be read off the network before it is changed along with the signal."""
        return

    def part(self, one: BothWays) -> object | None:
        """Return what views of this space draw beside the images of the square, as frozen values and arrays."""
        return None

    def answer(self, square: Square, place: int | None) -> Answer | None:
        """Return whose the numbers at the network's end are when `place` is selected; None where labels say enough."""
        return None

    def refine(self, p: Prepared, state: State, square: Square) -> Iterator[Square]:
        """Yield the square with ever more of what takes longer; advanced in idle time."""
        return iter(())

    def written_layer(self, p: Prepared, state: State) -> Sample:
        """Return the values of the selected layer of F(x) as a sample, for `capture_endings`.

        Raises:
            ValueError: the layer has none that could be written.
        """
        raise ValueError(f"{p.card.name} does not live on anything that is written in this format")


@scanned
def spaces() -> dict[str, Space]:
    """Return every space by name, those of the lowest rank first."""
    import explorer.spaces as package

    found: dict[str, Space] = scan(package, "SPACE", "space")
    return dict(sorted(found.items(), key=lambda item: (item[1].rank, item[0])))


@scanned
def kinds() -> dict[str, Kind]:
    """Return every kind of data by name."""
    return {kind.name: kind for space in spaces().values() for kind in space.kinds}


@scanned
def space_of_kind(kind: str) -> Space:
    """Return the space of a kind of data; raise KeyError where there is none."""
    return next(s for s in spaces().values() if any(k.name == kind for k in s.kinds))


def space_of(inputs: Inputs) -> Space:
    """Return the space that some inputs live in."""
    return spaces()[inputs.field.domain.space]


def inference_of(inputs: Inputs) -> Inference:
    """Return what the inputs' space says of the tensors inside of a network called with them."""
    return space_of(inputs).inference(inputs)


def same_space(one: str, other: str) -> bool:
    """Return whether data of one kind can be given to a network on the other: a set is a graph without edges."""
    return one == other or (one in kinds() and other in kinds() and space_of_kind(one) is space_of_kind(other))


def domain_word(kind: str) -> str:
    """Return what a kind of data is called in a sentence."""
    found = kinds().get(kind)
    return (found.word or found.name) if found else kind
