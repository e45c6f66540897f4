"""Noise on what was measured: a law that survives it does not hang on the last digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.declare.elements import Element, NoAction, Transform
from explorer.declare.params import Param
from explorer.declare.types.fields import FieldType, Scalar
from explorer.spaces.sequence.fields import Steps

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.declare.inputs import Inputs

DOMAINS = ("sequence",)


@dataclass(frozen=True, slots=True)
class Noise(Element):
    """Normal numbers added to a measured sequence, `amount` of its own deviation; features are asked to stay.

    `size` is that deviation, known once the element is bound to a sequence.
    """

    amount: float
    seed: int
    size: float = 1.0
    resamples = False

    @property
    def group(self) -> str:
        return "noise"

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return DOMAINS

    @property
    def identity(self) -> bool:
        return self.amount == 0.0

    def on(self, inputs: Inputs) -> Element:
        return Noise(self.amount, self.seed, float(inputs.x.std(unbiased=False)) or 1.0)

    def inverse(self) -> Element:
        raise NoAction("noise has no inverse: the same numbers could be taken off, but they are not known to a network")

    def merge(self, first: Element) -> None:
        return None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return self.identity

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        if not isinstance(field.domain, Steps) or field.rep != Scalar(intensity=True) or self.identity:
            return values
        import torch

        generator = torch.Generator().manual_seed(self.seed)
        drawn = torch.randn(values.shape, generator=generator, device="cpu", dtype=torch.float64).to(values)
        return values + self.amount * self.size * drawn

    def known(self, values: Tensor, field: FieldType) -> None:
        return None


def element(amount: float, seed: float = 1.0) -> Element:
    return Noise(amount, int(seed))


TRANSFORM = Transform(
    name="noise",
    title="Noise",
    summary="Add normal numbers to the sequence, in shares of its own deviation: how far do features follow it.",
    domains=DOMAINS,
    symbol="noise",
    params=(
        Param("amount", "Amount", 0.0, 0.0, 3.0, 0.05, "×"),
        Param("seed", "Seed", 1.0, 1.0, 9999.0, whole=True),
    ),
    element=element,
    inverse=None,
    orbit=0,
)
