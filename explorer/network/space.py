"""Declare what a space is asked about networks: what they take of its data, of what their tensors are fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from explorer.declare import space as declared
from explorer.declare.space import DeclaredSpace
from explorer.declare.types.fields import PAIR, FieldType

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from explorer.declare.card import Form
    from explorer.declare.elements import Element
    from explorer.declare.inputs import Inputs
    from explorer.declare.samples import Sample
    from explorer.declare.telling.asking import Declared
    from explorer.network.input.recognise import Recognised
    from explorer.network.tracing.layers import Layer, Trace

Trial = Callable[["Tensor", "Sequence[str]"], Mapping[str, "Tensor"]]  # another x, layers -> their values, or it raises
Known = tuple[FieldType, float, int]  # field, receptive radius, weighted layers so far


class Inference(ABC):
    """Answers of a space about the tensors inside one network that is called with given inputs.

    Attributes:
        untold: the receptive radius of what functional code made: NaN where `reaches` finds it, else endless.
        hears_codes: whether `reaches` finds it with whole numbers for an input too, such as those of tokens.
    """

    untold: ClassVar[float] = float("inf")
    hears_codes: ClassVar[bool] = False

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

    def coincide(self) -> bool:
        """Return whether kinds of places are as many, such as nodes and edges: shapes do not tell them apart then."""
        return False

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

    def numbering(self, field: FieldType) -> Sequence[FieldType]:
        """Return what whole numbers that lie where scalars of this field do may be, if a trial shows it."""
        return ()

    def listed(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return what a tensor of any length may be, if a trial shows it, such as rows that a network lists."""
        return None

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        """Return what is known of a tensor that functional code made of one of the shape `seen`, or None."""
        return None

    @abstractmethod
    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field type of what functional code at the network's end gives, by its shape alone."""

    @abstractmethod
    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return unrelated inputs of the same shapes: what chance would give is measured on them."""

    def nudged(self, inputs: Inputs, nudge: Callable[[Tensor], Tensor]) -> Inputs:
        """Return inputs beside the given ones: what was measured there, and where it lies, nudged where it can be."""
        return inputs.with_x(nudge(inputs.x))

    def others(self, inputs: Inputs, seed: int) -> Inputs:
        """Return unrelated inputs for a whole batch."""
        return self.another(inputs, seed)

    def grown(self, inputs: Inputs, count: int, seed: int) -> Inputs | None:
        """Return inputs of so many places that are drawn alike, None where there are as many or none can be added."""
        return None

    def amid_zeros(
        self, inputs: Inputs, zeros: int
    ) -> tuple[Inputs, Callable[[Tensor, FieldType], Tensor | None]] | None:
        """Return the same data between so many zeros, and what cuts a value to where they are; None where none are."""
        return None

    def otherwise(self, field: FieldType, shape: tuple[int, ...]) -> Iterator[FieldType]:
        """Yield what else a tensor may be that was taken for a field of scalars, as one of vectors."""
        return iter(())

    def hidden(self, given: Sequence[Inputs]) -> str:
        """Return in a sentence which faults none of the inputs can show, or ""."""
        return ""

    def in_general_position(self, given: Sequence[Inputs], seed: int) -> list[Inputs]:
        """Return inputs to test on in place of some of which a fault would be `hidden`: those and more."""
        return list(given)

    def size(self, inputs: Inputs) -> tuple[int, int]:
        """Return (height, width) of the input; what has one direction is one wide."""
        return (inputs.field.domain.by_channel(inputs.x).shape[-1], 1)

    def size_words(self, inputs: Inputs) -> str:
        """Return the size for a sentence that begins "an input of ...", or "" where it says nothing."""
        return ""

    def may_be_empty(self) -> bool:
        """Return whether an answer without any value is right, such as one for each edge of a graph without edges."""
        return False


class NetworkSpace(DeclaredSpace):
    """A kind of data that networks are called with."""

    def recognise(self, network: Recognised) -> Form | None:
        """Return what somebody's own network takes, or None where it is none of this space.

        Raises:
            ValueError: what its file says of its input is wrong, in one sentence.
        """
        return None

    def runs_with(self, network: Recognised) -> Form | None:
        """Return what a network runs with that another space knew for its own and could not run; None for nothing."""
        return None

    def completed(self, form: Form, said: Declared, network: Recognised) -> Form:
        """Return the form of an input that somebody declares, with what they leave out as a trial tells it."""
        return form

    def proposed(self, network: Recognised) -> Mapping[str, tuple[Any, str]]:
        """Return {attribute of the form: (a value, why)} for a network that would take this, for a person to change."""
        return {}

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

    def left_open(self, form: Form) -> Sequence[str]:
        """Return a sentence about each thing that nobody knows of what a network takes, and that is not tested."""
        return ()

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


def spaces() -> Mapping[str, NetworkSpace]:
    """Return every space by name, those of the lowest rank first."""
    return cast(Mapping[str, NetworkSpace], declared.spaces())


def space_of_kind(kind: str) -> NetworkSpace:
    """Return the space of a kind of data; raise KeyError where there is none."""
    return cast(NetworkSpace, declared.space_of_kind(kind))


def space_of(inputs: Inputs) -> NetworkSpace:
    """Return the space that some inputs live in."""
    return spaces()[inputs.field.domain.space]


def inference_of(inputs: Inputs) -> Inference:
    """Return what the inputs' space says of the tensors inside of a network called with them."""
    return space_of(inputs).inference(inputs)
