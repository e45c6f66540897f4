"""Tell by trial what the members of a set are: on which axis of each argument a network takes one fewer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import PAIR, FieldType
from explorer.network.tracing.trials import answer_of, same_answer
from explorer.spaces.graph.fields import GRAPH, NODE, NODE_INPUT, Adjacency, Edges, NodeIndex, Nodes, Pairwise

FEWEST = 3  # members of a set that one can be left out of, and two still be told apart
MOST_TRIALS = 64  # of what lies along the members beside the first argument

Call = Callable[[nn.Module, tuple[Tensor, ...]], Any] | None
Axes = tuple[int, ...]  # of one argument: those that count members, () for none, two side by side for all pairs


@dataclass(frozen=True, slots=True)
class Members:
    """Axes of each argument that count the members of one set."""

    of: int
    axes: tuple[Axes, ...]

    def fewer(self, values: Sequence[Tensor]) -> list[Tensor]:
        """Return the arguments without the last member."""
        found = []
        for value, axes in zip(values, self.axes, strict=True):
            for axis in axes:
                value = value.narrow(axis, 0, value.shape[axis] - 1)
            found.append(value)
        return found

    def fields(self, values: Sequence[Tensor]) -> tuple[FieldType, ...]:
        """Return the field of each argument."""
        found = []
        for k, (axes, value) in enumerate(zip(self.axes, values, strict=True)):
            kind = NODE_INPUT if k == self.of else NODE
            if len(axes) == 2 and axes[1] == value.ndim - 1 and (k != self.of or value.ndim == 2):
                found.append(FieldType(Adjacency()) if k == self.of else PAIR)
            else:
                domain = (Pairwise if len(axes) == 2 else Nodes)(axes[0]) if axes else None
                found.append(GRAPH if domain is None else replace(kind, domain=domain))
        return tuple(found)


def set_of(values: Sequence[Tensor], model: nn.Module, names: Sequence[str], call: Call = None) -> Inputs | None:
    """Return arguments as inputs whose members a trial tells; the members of further sets are moved in turn.

    None where no trial tells any: the network takes so many and no other number.

    Args:
        names: of the arguments.
        call: how the network is given them, where not one by one in their order.

    Raises:
        ValueError: several readings run, in one sentence that says how to tell them apart.
    """
    if answer_of(model, values, call) is None:
        return None  # the trace says why
    found: list[Members] = []
    for k, value in enumerate(values):
        # what moves with a set that is found is no set of its own
        if not any(of.axes[k] for of in found) and value.ndim and (one := _members(k, values, model, names, call)):
            found.append(one)
    if not found or _of_numbers_alone(found, values):
        return None
    found += [one for one in groups_in(values, [of.axes for of in found], model, call) if one not in found]
    turns = [in_order(one.of, one.fields(values), values, names, call) for one in found]
    return replace(turns[0], turns=tuple(turns[1:]))


def groups_in(values: Sequence[Tensor], taken: Sequence[Sequence[Axes]], model: nn.Module, call: Call) -> list[Members]:
    """Return groups of members, which lie along the other axis of a matrix of who is in which, and along no other.

    Its network takes one fewer; one more that has no members changes nothing, or is divided by their number.

    Args:
        taken: axes of each argument that count the members of a set, for each set that is known.
    """
    found = []
    for k, value in enumerate(values):
        own = {axis for axes in taken for axis in axes[k]}
        if value.ndim < 2 or len(own) != 1 or bool((value < 0).any()):
            continue
        pair = {value.ndim - 2, value.ndim - 1}
        for axis in pair - own if own < pair else ():
            one = Members(k, tuple((axis,) if j == k else () for j in range(len(values))))
            if value.shape[axis] >= FEWEST and answer_of(model, one.fewer(values), call) is not None:
                found += [one] if _empty_is_nothing(one, values, model, call) else []
    return found


def _empty_is_nothing(group: Members, values: Sequence[Tensor], model: nn.Module, call: Call) -> bool:
    """Say whether one more group without members changes no answer, or one that is divided by how many there are."""
    k, (axis,) = group.of, group.axes[group.of]
    more = torch.cat([values[k], torch.zeros_like(values[k].narrow(axis, 0, 1))], axis)
    one, two = answer_of(model, values, call), answer_of(model, [*values[:k], more, *values[k + 1 :]], call)
    if one is None or two is None or not one.isfinite().all():
        return False
    if one.shape != two.shape:  # an answer for each group has one more
        return one.ndim == two.ndim and sum(a != b for a, b in zip(one.shape, two.shape, strict=True)) == 1
    return not bool(two.isfinite().all()) or same_answer(one, two)


def _of_numbers_alone(found: Sequence[Members], values: Sequence[Tensor]) -> bool:
    """Return whether numbers have members, as a list of edges has, and no table of values beside them has any."""
    tables = [k for k, value in enumerate(values) if value.is_floating_point() and value.ndim > 1]
    return bool(tables) and not any(one.axes[k] for one in found for k in tables)


def with_turn(inputs: Inputs, axes: str) -> Inputs:
    """Return inputs with a second set beside x, "other" on the same axes, and once more with that first."""
    if "other" not in inputs.names:
        return inputs
    k, axis = inputs.names.index("other"), axes.index("N")
    fields = [
        replace(NODE_INPUT, domain=Nodes(axis)) if j == k
        else replace(f, rep=f.rep.other) if isinstance(f.rep, NodeIndex)
        else f if isinstance(f.domain, Edges) else GRAPH
        for j, f in enumerate(inputs.fields)
    ]  # fmt: skip
    return replace(inputs, turns=(in_order(k, fields, inputs.values, inputs.names, inputs.call),))


def in_order(
    first: int, fields: Sequence[FieldType], values: Sequence[Tensor], names: Sequence[str], call: Call
) -> Inputs:
    """Return the arguments with one of them first."""
    order = (first, *(k for k in range(len(values)) if k != first))
    back = [order.index(k) for k in range(len(values))]

    def given(network: nn.Module, tensors: tuple[Tensor, ...]) -> Any:
        own = tuple(tensors[k] for k in back)
        return network(*own) if call is None else call(network, own)

    plain = order == tuple(range(len(values)))
    return Inputs(
        tuple(values[k] for k in order), tuple(fields[k] for k in order), tuple(names[k] for k in order),
        call=call if plain else given,
    )  # fmt: skip


def _members(k: int, values: Sequence[Tensor], model: nn.Module, names: Sequence[str], call: Call) -> Members | None:
    """Return the axis of argument `k` that counts members of a set, with what lies along them; None where none does.

    Raises:
        ValueError: several do.
    """
    found: list[Members] = []
    if not _heard(k, values, model, call):
        return None
    for axis, size in enumerate(values[k].shape):
        if size >= FEWEST and (run := _along(k, axis, values, model, call)):
            if len(run) > 1:
                told = " as well as ".join(_said(one, names) for one in run[:2])
                raise ValueError(
                    f"the network runs with fewer of {told}; say what belongs together by equiscope.Inputs(values, "
                    "fields), with equiscope.fields.NODE for what has a row for each member"
                )
            found += [one for one in run if one not in found]
    alone = len(values) == 1 and values[k].ndim == 2 and values[k].is_floating_point()
    if alone and [one.axes[k] for one in found] == [(1,)] and values[k].shape[0] >= FEWEST:
        raise ValueError(
            f"{names[k]} of shape {tuple(values[k].shape)} may have its members in rows or in columns: the network "
            "takes fewer columns and no fewer rows; say which by equiscope.Inputs(values, fields), with the domain "
            "Nodes(axis)"
        )
    if len(found) > 1:  # the samples of a batch hear nothing of each other
        apart = [one for one in found if not _apart(one, values, model, call)]
        found = apart or found[-1:]
    if len(found) > 1:
        axes = " or ".join(str(one.axes[k][0]) for one in found)
        raise ValueError(
            f"members of the set may lie on axis {axes} of {names[k]}, of shape {tuple(values[k].shape)}: the network "
            "takes fewer along each; say which by equiscope.Inputs(values, fields), with the domain Nodes(axis)"
        )
    return found[0] if found else None


def _along(k: int, axis: int, values: Sequence[Tensor], model: nn.Module, call: Call) -> list[Members]:
    """Return what may lie along an axis of argument `k`: the fewest of the others with which the network runs."""
    size = values[k].shape[axis]
    choices: list[list[Axes]] = [[(axis,)] if j == k else [(), *_counting(v, size)] for j, v in enumerate(values)]
    if both := [pair for pair in _pairs(values[k], size) if axis in pair]:
        alone = Members(k, tuple((axis,) if j == k else () for j in range(len(values))))
        if answer_of(model, alone.fewer(values), call) is None:  # it may be a matrix of all pairs
            choices[k] = [*both, (axis,)]
    tried = sorted(islice(product(*choices), MOST_TRIALS), key=lambda axes: sum(map(bool, axes)))
    found: list[Members] = []
    for axes in tried:
        if found and sum(map(bool, axes)) > sum(map(bool, found[0].axes)):
            break
        one = Members(k, axes)
        # a product runs with fewer columns alone of a matrix of all pairs, of which the rows are the same members
        if not any(_within(one, pairs) for pairs in found) and answer_of(model, one.fewer(values), call) is not None:
            found.append(one)
    return found


def _within(one: Members, other: Members) -> bool:
    return all(set(a) <= set(b) for a, b in zip(one.axes, other.axes, strict=True))


def _counting(value: Tensor, size: int) -> Iterator[Axes]:
    """Yield the axes of a tensor that may count so many members, both of a matrix of all pairs first."""
    yield from _pairs(value, size)
    yield from ((axis,) for axis, here in enumerate(value.shape) if here == size)


def _pairs(value: Tensor, size: int) -> list[Axes]:
    """Return the axes side by side that may count so many members each, as of a matrix of all pairs, the last first."""
    starts = reversed(range(value.ndim - 1))
    return [(axis, axis + 1) for axis in starts if value.shape[axis : axis + 2] == (size, size)]


def _apart(members: Members, values: Sequence[Tensor], model: nn.Module, call: Call) -> bool:
    """Say whether members hear nothing of each other: another first one changes the first of the answers alone."""
    axis, size = members.axes[members.of][0], values[members.of].shape[members.axes[members.of][0]]
    changed = list(values)
    other = values[members.of].clone()
    first = other.narrow(axis, 0, 1)
    unlike = (v for v in other.split(1, axis) if not torch.equal(v, first))
    if (number := first + 1.0 if other.is_floating_point() else next(unlike, None)) is None:
        return False  # all are the same
    first.copy_(number.clone())
    changed[members.of] = other
    one, two = answer_of(model, values, call), answer_of(model, changed, call)
    if one is None or two is None or one.shape != two.shape or size not in one.shape:
        return False
    by_member = (one != two).movedim(one.shape.index(size), 0).reshape(size, -1).any(1)
    return not bool(by_member[1:].any())


def _heard(k: int, values: Sequence[Tensor], model: nn.Module, call: Call) -> bool:
    """Say whether the answer depends on an argument."""
    value = values[k]
    if value.is_floating_point() or value.dtype == torch.bool or not value.numel():
        other = value + 1.0 if value.is_floating_point() else ~value
    else:  # other numbers: the same ones in another order are the same set
        alike = (torch.full_like(value, n) for n in (int(value.flatten()[0]), int(value.flatten()[-1]), 0, 1))
        other = next(v for v in alike if not torch.equal(v, value))
    one, two = (answer_of(model, [*values[:k], v, *values[k + 1 :]], call) for v in (value, other))
    return one is None or two is None or one.shape != two.shape or not torch.equal(one, two)


def _said(members: Members, names: Sequence[str]) -> str:
    return " and ".join(f"{n} along axis {a[0]}" for n, a in zip(names, members.axes, strict=True) if a)
