"""Find by trial which hidden tensors follow an element by an orthogonal map of their channels, on all data the same.

Whatever representation the features of a network have that somebody wrote by hand, as of harmonic orders, quaternions
or irreducible representations laid out in one axis: at moved places they are Q(g) of what they were. Q is fitted on one
half of the rows, as an orthogonal matrix, and judged on the other: a filter that is larger than the others, or a bias
that Q does not leave alone, are faults. That Q exists says nothing where a layer only spans all linear functions of
what it hears of, as a wide first convolution does: it counts where a layer that is not linear follows so, or a linear
one with fewer channels than that (steerability; Freeman and Adelson 1991, Cohen and Welling 2017).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element, NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.equivariance.trial.hidden.exchanges import Seen, moved_places, rows_of
from explorer.equivariance.verdict.guilt import Finding
from explorer.network.opening.global_state import reseed
from explorer.network.space import inference_of
from explorer.network.tracing.capture import capture, feed
from explorer.network.tracing.layers import Layer, LayerError, Trace
from explorer.work.progress import step

EXACT = 1e-6  # relative residual up to which a tensor follows; constants in single precision leave some 1e-7
WIDE = 512  # channels at most
ROWS = 1.5  # for each channel, in the half that the map is fitted on
SPARE = 8  # rows more
MORE = 64  # inputs drawn besides, where one has few places
PATIENCE = 8  # calls, one after the other, that do not follow: behind a fault none does
ELEMENTS = 2
PLACES = 8
MANY = 2048  # rows of one input that tell as much as all
CUT = 1e-9  # share of the largest singular value below which a direction is none


class Sampled(Protocol):
    """One sample, as a network is given it."""

    @property
    def inputs(self) -> Inputs: ...


class Measured(Protocol):
    """The measurement of a network: itself, its layers, what it was measured on, and under which elements."""

    model: nn.Module
    trace: Trace
    seed: int

    @property
    def cases(self) -> Sequence[Sampled]: ...
    @property
    def acted(self) -> Mapping[str, object]: ...
    @property
    def table(self) -> Mapping[str, Mapping[str, tuple[float | None, float | None]]]: ...
    @property
    def random(self) -> Sequence[str]: ...
    @property
    def unsteady(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor that a call is given (`at` says which one), or one that it gives.

    Attributes:
        name: of the layer.
        field: what it was taken for.
    """

    name: str
    called: str
    field: FieldType
    at: int | None = None

    def of(self, seen: Seen) -> Tensor:
        values, fed = seen
        return values[self.name] if self.at is None else fed[self.called][self.at]


@dataclass(frozen=True, slots=True)
class Following:
    """Tensors that follow linearly, and not as the fields that they were taken for.

    Attributes:
        residuals: {layer: how far it is from an orthogonal map of its channels, relatively}.
        given: (call, number) of what calls are given and does not follow as it was taken to either: behind features of
            another kind nothing can be told by it.
        first: the first layer that is given what follows, and gives what does not, and how far that is from doing so.
    """

    residuals: Mapping[str, float]
    given: Set[tuple[str, int]]
    first: tuple[str, float] | None


def following(audit: Measured, rows: Sequence[Finding], elements: Sequence[tuple[str, Element]]) -> Following | None:
    """Return the tensors of guessed fields that follow linearly though not as guessed.

    Args:
        rows: what was found of each layer.
        elements: with their names, not bound to any input.

    Returns:
        None where the law holds, and where none follows in a way that says something.
    """
    seen, faulty = {row.name for row in rows if row.seen and row.guessed}, {row.name for row in rows if row.seen}
    layers = [layer for layer in audit.trace.layers if layer.within is None and layer.module]
    calls = list(dict.fromkeys(layer.called for layer in layers if layer.name in seen))
    given = [case.inputs for case in audit.cases]
    worst = {
        label: max(audit.table[n].get(label, (None,))[0] or 0.0 for n in audit.trace.outputs) for label, _ in elements
    }
    # under an element that shows no fault everything follows
    broken = sorted((one for one in elements if worst[one[0]]), key=lambda one: -worst[one[0]])
    acting = [g for label, g in broken if label in audit.acted and _is_whole(g, given[0])]
    if not calls or not acting or faulty.isdisjoint(audit.trace.outputs) or audit.random or audit.unsteady:
        return None
    runs = _Runs(audit, given, [n.name for n in layers if n.called in calls], acting[:ELEMENTS])
    found, entering, told, missed = dict[str, float](), set[tuple[str, int]](), False, 0
    first = None
    for call in calls:
        step("Measuring", 0.0)
        parts = [n for n in layers if n.called == call]
        leaves = [Slot(n.name, call, n.field) for n in parts if n.field is not None]
        enters = [Slot(call, call, f, k) for k, f in enumerate(parts[0].inputs) if f is not None and f.guessed]
        if not (kept := runs.as_guessed(enters)):
            entering |= {(call, k) for k in range(len(parts[0].inputs))}
        went = runs.residual(leaves) if missed <= PATIENCE else None
        if went is None or went > EXACT:
            came = runs.residual(enters) if first is None and went is not None and not kept else None
            if first is None and went is not None and (kept or (came is not None and came <= EXACT)):
                first = parts[0].name, went
            missed += 1
        elif any(layer.name in audit.trace.outputs for layer in parts):
            return None  # it has a law of its own, of another field: no layer breaks it
        else:
            found |= {layer.name: went for layer in parts if layer.name in seen}
            told = told or runs.tells(leaves)
    return Following(found, entering, first) if told else None


def _is_whole(element: Element, x: Inputs) -> bool:
    return x.exact(element) and element.on(x).known(x.x, x.field) is None


class _Runs:
    """The values of some layers, and what they are given, on several inputs, as they are and moved."""

    def __init__(
        self, audit: Measured, given: Sequence[Inputs], names: Sequence[str], elements: Sequence[Element]
    ) -> None:
        self.audit, self.names, self.elements = audit, names, elements
        self.inputs: list[Inputs] = []
        self.before: list[Seen] = []
        self.after: list[list[Seen]] = []  # of each input under each element
        self.given, self.drawn = len(given), 0
        for x in given:
            self._add(x)

    def _add(self, x: Inputs) -> None:
        def run(x: Inputs) -> Seen:
            reseed(self.audit.seed)
            # all are watched, as where they were measured: a network may take a shorter way where nobody looks
            everything = [layer.name for layer in self.audit.trace.layers]
            values, fed = capture(self.audit.model, x, everything, clone=True, inputs=True)
            return {n: values[n] for n in self.names}, {n: given for n, given in fed.items() if n in self.names}

        seen = run(x), [run(x.moved(g.on(x))) for g in self.elements]
        self.inputs.append(x)
        self.before.append(seen[0])
        self.after.append(seen[1])

    def _another(self) -> bool:
        """Draw one more input, and say whether there is one."""
        if self.drawn >= MORE:
            return False
        first = self.inputs[self.drawn % self.given]
        self.drawn += 1
        try:
            x = inference_of(first).another(first, self.audit.seed + self.drawn)
            if any(x.x.shape == y.x.shape and torch.equal(x.x, y.x) for y in self.inputs):
                return False
            self._add(x)
        except (LayerError, NoAction, ValueError):
            return False
        return True

    def residual(self, slots: Sequence[Slot]) -> float | None:
        """Return how far tensors of one call are from any orthogonal map of their channels; None: too few rows tell.

        Of all channels of all of them at once: real and imaginary parts, or the parts of a quaternion, mix.
        """
        try:
            width = sum(len(rows_of(slot.of(self.before[0]), slot.field)) for slot in slots)
            if not 1 < width <= WIDE:
                return None
            while len(self._came(slots, None)) < 2 * (ROWS * width + SPARE):
                if not self._another():
                    return None
            return max(self._misfit(slots, k) for k in range(len(self.elements)))
        except (NoAction, LookupError, RuntimeError, ValueError):
            return None  # its places do not move as they were taken to, or there are more of them on other data

    def _misfit(self, slots: Sequence[Slot], k: int) -> float:
        came, went = self._came(slots, k), self._went(slots, k)
        left, _, right = torch.linalg.svd(came[::2].t() @ went[::2])
        fitted = left @ right  # the orthogonal map that is nearest (Schönemann 1966)
        size = float(went[1::2].norm())
        return float((came[1::2] @ fitted - went[1::2]).norm()) / size if size else 0.0

    def as_guessed(self, slots: Sequence[Slot]) -> bool:
        """Say whether tensors follow as the fields that they were taken for."""
        for k, g in enumerate(self.elements):
            for x, before, after in zip(self.inputs, self.before, self.after, strict=True):
                for slot in slots:
                    try:
                        expected = slot.field.rep.acted(g.on(x), slot.of(before), slot.field)
                    except NoAction:
                        return False
                    if _apart(expected, slot.of(after[k])) > EXACT:
                        return False
        return True

    def _came(self, slots: Sequence[Slot], k: int | None) -> Tensor:
        """Return (rows, channels) of all inputs, with their places moved by an element, or as they are."""
        found = []
        for x, seen in zip(self.inputs, self.before, strict=True):
            moved = [slot.of(seen) for slot in slots]
            if k is not None:
                g = self.elements[k].on(x)
                moved = [moved_places(g, value, slot.field) for slot, value in zip(slots, moved, strict=True)]
            found.append(_joint(moved, slots))
        return torch.cat(found)

    def _went(self, slots: Sequence[Slot], k: int) -> Tensor:
        return torch.cat([_joint([slot.of(of[k]) for slot in slots], slots) for of in self.after])

    def tells(self, slots: Sequence[Slot]) -> bool:
        """Say whether it is more than a matter of course that these tensors follow, which one call gives."""
        try:
            return self._tells(self.audit.trace[slots[0].called], slots)
        except (LookupError, LayerError, RuntimeError, ValueError):
            return False

    def _tells(self, layer: Layer, slots: Sequence[Slot]) -> bool:
        fed = self.before[0][1][layer.called]
        if len(fed) != 1 or not fed[0].is_floating_point():
            return bool(fed)  # of several tensors it is made by their product, or by where places lie
        one = fed[0]

        def alone(x: Tensor, name: str = layer.name) -> Tensor:
            return feed(self.audit.model, self.audit.trace, name, (x,), fed)

        other = one.flip(0).roll(1, -1) * 2
        sums = alone(one + other) - alone(one) - alone(other) + alone(torch.zeros_like(one))
        if float(sums.norm()) > EXACT * float(alone(one).norm()):
            return True
        heard = max(self._heard(one, slot, fed) for slot in slots)
        generator, drawn = torch.Generator().manual_seed(self.audit.seed), list[Tensor]()
        # on noise: what the network gives it may leave some of what it hears of at zero
        while not drawn or sum(map(len, drawn)) < ROWS * drawn[0].shape[1] + SPARE:
            noise = torch.randn(one.shape, generator=generator, device="cpu", dtype=torch.float64).to(one)
            drawn.append(_joint([alone(noise, slot.name) for slot in slots], slots))
        values = torch.cat(drawn)
        return int(torch.linalg.matrix_rank(values.cpu(), rtol=CUT)) < heard

    def _heard(self, x: Tensor, slot: Slot, fed: tuple[Tensor, ...]) -> int:
        """Return on how many numbers the channels of one place depend, of some that lie at random: not at a border."""
        generator = torch.Generator().manual_seed(self.audit.seed)
        with torch.enable_grad():
            x = x.clone().requires_grad_()
            rows = rows_of(feed(self.audit.model, self.audit.trace, slot.name, (x,), fed), slot.field)
            mix = torch.randn(len(rows), generator=generator, device="cpu", dtype=torch.float64).to(rows)
            places = torch.randint(rows.shape[1], (PLACES,), generator=generator, device="cpu").tolist()
            slopes = [torch.autograd.grad((rows[:, k] * mix).sum(), x, retain_graph=True)[0] for k in places]
        return max(int((slope != 0).sum()) for slope in slopes)


def _apart(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape:
        return math.inf
    if not one.is_floating_point():
        return 0.0 if torch.equal(one, other) else math.inf
    return float((one - other).norm()) / (float(other.norm()) or 1.0)


def _joint(values: Sequence[Tensor], slots: Sequence[Slot]) -> Tensor:
    """Return (rows, channels), of a large tensor some rows that lie evenly."""
    channels = [rows_of(v, slot.field) for v, slot in zip(values, slots, strict=True)]
    every = max(1, channels[0].shape[1] // MANY) | 1  # an odd one, so that no side of a grid is a multiple of it
    return torch.cat([of[:, ::every].t() for of in channels], 1).double()
