"""Spaces: everything the core knows of one kind of data. A space is ONE package that exports ONE constant, SPACE.

The constant stands in the package's file `space.py`, which imports nothing heavy: what needs torch is imported by the
methods. All other code asks the space and never which one it is. Each room states what it asks: here what can be said
without a network, in `explorer/network/space.py` what networks make of the data, in `explorer/square/space.py` what is
drawn. From that last one, `Space`, a package derives. A space that says little still works: every method but `inputs`
and `inference` has a general answer.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from explorer.declare.registry import scan, scanned
from explorer.declare.telling.another_kind import another_kind
from explorer.declare.telling.asking import Declared, Question
from explorer.declare.types.fields import Domain
from explorer.declare.types.written import Written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from explorer.declare.card import Card, Form
    from explorer.declare.elements import Step
    from explorer.declare.samples import Sample

ABSENT = Question("absent", "Given as None", "Arguments that its forward must be given, and that are None.", "names")
Domains = Mapping[str, Callable[[str], Domain]]  # {first word of a field's text: the rest of it -> the domain}
Representations = Mapping[str, Written]  # {word: how a representation is written}


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
        otherwise: chains for data on which that one shows nothing, as all of it is cut off; the first that does.
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
    otherwise: tuple[str, ...] = ()
    move: str = "move it"
    pictured: bool = True
    numbered: bool = False


class DeclaredSpace(ABC):
    """One kind of data without a network: names, how its fields are written, samples.

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

    def fillings(self, sample: Sample) -> tuple[str, ...]:
        """Return texts of numbers in the shape of a sample, as `sample_of` reads them: noise, a ramp, one number."""
        return ()

    def fit(self, sample: Sample, form: Form) -> Sample:
        """Adapt a sample to what a network takes; raise ValueError, in one sentence, where that is impossible."""
        if kinds()[sample.domain].name not in {k.name for k in self.kinds}:
            takes = " or ".join(k.one or f"a {k.word or k.name}" for k in self.kinds)
            raise ValueError(another_kind(sample.name, domain_word(sample.domain), takes))
        return sample

    def prefers(self, sample: Sample) -> bool:
        """Return whether what was read for another space is rather this one's, as a molecule with places in space.

        A file is of the kind that its format was read for; where no network is chosen yet, this opens a better one.
        """
        return False

    def suits(self, sample: Sample, form: Form) -> bool:
        """Return whether a network is about such data, and does not merely run on them: on a cloud one of atoms does.

        Where it is the program that chooses, those that are about the data come first.
        """
        return True

    def lost(self, sample: Sample, form: Form) -> float:
        """Return which share of a sample is lost where it is fitted to a network, as far as its kind can be coarsened.

        Where it is the program that chooses, those that lose least come first.
        """
        return 0.0

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
    def asks(self) -> tuple[Question, ...]:
        """Return its own questions, and the one that every space has."""
        return (*self.questions, ABSENT)

    def declared(self, said: Declared) -> Form:
        """Return the form of an input that somebody declares; raise ValueError where it is impossible."""
        asked = {question.name: question for question in self.asks()}
        if self.form is None:
            raise ValueError(f"what a network on a {said.kind} takes cannot be declared")
        if wrong := next((name for name, _ in said.answers if name not in asked), ""):
            known = ", ".join(asked) or "nothing"
            raise ValueError(f"an input of kind {said.kind} has no {wrong!r:.40}; it has {known}")
        return self.form(**{name: asked[name].parse(text) for name, text in said.answers})

    def first_sample(self, form: Form) -> str:
        """Return the sample that somebody's own network is shown on first."""
        return self.kinds[0].sample

    def takes(self, form: Form) -> tuple[int | str | None, ...]:
        """Return the sizes of what a network takes, for reading."""
        return ()

    def random_steps(
        self, rng: np.random.Generator, size: tuple[int, int], kind: str, exact: bool, chosen: Sequence[Step]
    ) -> tuple[Step, ...]:
        """Return a random element other than the identity as steps that the controls can show.

        What is no part of the group (a boundary) is kept from the steps that are `chosen`.

        () leaves the choice to `state.random_element`: the first transform that has an inverse.
        """
        return ()


@scanned
def spaces() -> dict[str, DeclaredSpace]:
    """Return every space by name, those of the lowest rank first."""
    import explorer.spaces as package

    found: dict[str, DeclaredSpace] = scan(package, "SPACE", "space")
    return dict(sorted(found.items(), key=lambda item: (item[1].rank, item[0])))


@scanned
def kinds() -> dict[str, Kind]:
    """Return every kind of data by name."""
    return {kind.name: kind for space in spaces().values() for kind in space.kinds}


@scanned
def space_of_kind(kind: str) -> DeclaredSpace:
    """Return the space of a kind of data; raise KeyError where there is none."""
    return next(s for s in spaces().values() if any(k.name == kind for k in s.kinds))


def same_space(one: str, other: str) -> bool:
    """Return whether data of one kind can be given to a network on the other: a set is a graph without edges."""
    return one == other or (one in kinds() and other in kinds() and space_of_kind(one) is space_of_kind(other))


def domain_word(kind: str) -> str:
    """Return what a kind of data is called in a sentence."""
    found = kinds().get(kind)
    return (found.word or found.name) if found else kind
