"""Find by trial what steps of a sequence a network hears of: whether one changes the answer at others, and which do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from explorer.network.changing.copying import duplicate
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.bounded import bounded
from explorer.network.tracing.running import evaluating, first_tensor, tried
from explorer.network.tracing.trials import same_answer
from explorer.network.tracing.walking import modules_of, parameters_of
from explorer.spaces.sequence.network.inputs import sequence_inputs

Call = Callable[[nn.Module, tuple[Tensor, ...]], Any]
STEPS = 23  # of the trial: no usual width, so that an order that does not fit is noticed


def mixes(
    network: nn.Module, steps: int, widths: Sequence[int], order: str, call: Call | None = None
) -> tuple[bool, Tensor]:
    """Return whether a change of one step changes the answer elsewhere, and the answer, with that order of axes.

    What reads the end or the beginning alone hears of nothing in the middle. The network is not left as it was.

    Args:
        widths: of each argument.
        call: how the network is called; with its arguments in their order if None.
    """
    given = drawn(network, steps, widths)

    def answer(values: Sequence[Tensor]) -> Tensor:
        reseed(0)
        made = tuple(sequence_inputs(v, order).x for v in values)
        found = first_tensor(network(*made) if call is None else call(network, made))
        if found is None:
            raise TypeError("the network returned nothing that holds a tensor")
        return found

    def by_step(found: Tensor) -> Tensor:
        return found.movedim(found.shape.index(steps), 0).flatten(1) if steps in found.shape else found.flatten()

    with torch.no_grad(), evaluating(network), bounded(network), _packed_as_wide(network):
        before = answer(given)
        if bool(before.isnan().any()):  # as of a deviation along an axis of one: nothing can be compared
            return False, by_step(before)
        for at in (steps // 2, steps - 1, 0):
            other = [x.clone() for x in given]
            for x in other:
                x[at] += 1.0
            change = by_step((answer(other) - before).abs()).clone()
            if change.ndim == 2:
                change[at] = 0.0
            if change.any():
                return True, by_step(before)
    return False, by_step(before)


def drawn(network: nn.Module, steps: int, widths: Sequence[int]) -> list[Tensor]:
    """Return noise (steps, channels) of each width, the same at every call, as the network keeps its numbers."""
    weight = next((p for p in parameters_of(network) if p.is_floating_point()), torch.zeros((), device="cpu"))
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(steps, width, generator=generator, device="cpu").to(weight) for width in widths]


def keeps_apart(network: nn.Module, steps: int, width: int, order: str) -> bool:
    """Say whether a network answers to a sequence of a batch as it does to that sequence alone."""
    axis = order.find("N")
    if axis < 0:
        return False
    trial = duplicate(network)
    (x,) = drawn(network, steps, [width])
    one, other = (sequence_inputs(v, order).x for v in (x, x.flip(0) * -0.5))

    def both() -> Tensor | None:
        alone, together = first_tensor(trial(one)), first_tensor(trial(torch.cat([one, other], axis)))
        if alone is None or together is None:
            return None
        # the answer may have its batch on another axis, or none of steps any more
        at = [k for k, (a, b) in enumerate(zip(alone.shape, together.shape)) if (a, b) == (1, 2)]
        same = len(at) == 1 and same_answer(together.narrow(at[0], 0, 1), alone)
        return alone if same else None

    return tried(trial, both) is not None


def either_axis(network: nn.Module, steps: int, width: int, order: str) -> bool:
    """Say whether channels before steps may as well be steps: dense layers take them, and no step has a place.

    What filters go over is no channel. A network to which the order of steps is nothing may have been made for that
    many variables.
    """
    if order.index("C") > order.index("T") or any(
        getattr(m, "in_channels", None) == width for m in modules_of(network)
    ):
        return False
    return orderless(network, steps, width, order)


def orderless(network: nn.Module, steps: int, width: int, order: str) -> bool:
    """Say whether a network gives moved steps the answers of those steps, or one to all: no step has a place."""
    trial, (x,) = duplicate(network), drawn(network, steps, [width])
    mixed = torch.randperm(steps, generator=torch.Generator().manual_seed(0), device="cpu")

    def moved() -> Tensor | None:
        one, other = (first_tensor(trial(sequence_inputs(v, order).x)) for v in (x, x[mixed]))
        if one is None or other is None or one.shape != other.shape:
            return None
        at = [k for k, size in enumerate(one.shape) if size == steps]
        expected = one.index_select(at[0], mixed) if at else one
        return one if same_answer(expected, other) else None

    return tried(trial, moved) is not None


def columns_read(network: nn.Module, width: int, order: str) -> int:
    """Return how many steps a network reads one by one, the first ones alone; 0 for more: they may be its channels."""
    trial, (x,) = duplicate(network), drawn(network, STEPS, [width])

    def heard() -> Tensor | None:
        before = first_tensor(trial(sequence_inputs(x, order).x))
        found = []
        for at in range(len(x)):
            other = x.clone()
            other[at] += 1.0
            after = first_tensor(trial(sequence_inputs(other, order).x))
            if before is None or after is None or before.shape != after.shape:
                return None
            found.append(not torch.equal(before, after))
        return torch.tensor(found, device="cpu")

    told = tried(trial, heard)
    count = 0 if told is None else int(told.sum())
    return count if told is not None and 1 < count <= STEPS // 2 and bool(told[:count].all()) else 0


@contextmanager
def _packed_as_wide(network: nn.Module) -> Iterator[None]:
    """Refuse packed steps that are wider or narrower than a recurrent layer says: torch reads past them and goes on."""

    def compare(layer: nn.Module, given: tuple[object, ...]) -> None:
        if given and isinstance(given[0], PackedSequence) and given[0].data.shape[-1] != layer.input_size:
            raise ValueError(f"packed steps of {given[0].data.shape[-1]} channels, where {layer.input_size} are taken")

    held = [m.register_forward_pre_hook(compare) for m in modules_of(network) if isinstance(m, nn.RNNBase)]
    try:
        yield
    finally:
        for hook in held:
            hook.remove()
