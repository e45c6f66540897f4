"""Find by trial which tables of numbers a network takes: how wide each is, and which have rows for the same members."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import torch
from torch import Tensor, nn

from explorer.network.input.arguments import ByName, needed_arguments
from explorer.network.input.recognise import filters_planes
from explorer.network.input.ways import meant
from explorer.network.tracing.trials import Counting, answer_of
from explorer.spaces.graph.network.attempts import searched, widths
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.graph.network.members import groups_in
from explorer.spaces.graph.network.tables import OTHER_ROWS, ROWS, axes_of, table

MOST = 4  # tables
STEPS = 16  # that each member of a set may have, as of series at the nodes of a graph
LAID = ("{n}x{c}", "1x{n}x{c}", "1x{c}x{n}")
ALONE = ("{a}x{b}x{c}", "1x{a}x{b}x{c}", "{a}x{b}", PICTURE := "1x{c}x{a}x{b}")  # of a matrix, or many
IN_TIME = ("1x{n}x{t}x{c}", "1x{t}x{n}x{c}", "1x{c}x{t}x{n}", "1x{c}x{n}x{t}")

Widths = tuple[int, ...]


def tables_inputs(network: nn.Module) -> Iterator[GraphInput]:
    """Yield the tables that a network takes: the first layout in which members hear of each other, else the first.

    Tables that need not have as many rows are of sets of their own.
    """
    names = needed_arguments(network)
    if len(names) == 1:
        yield from _matrices(network, names[0])
    if not 1 < len(names) <= MOST or any(meant(name, ("edge_index",)) for name in names):
        return  # a list of edges is no table
    told = [bool(meant(name, ("adjacency",))) for name in names]
    layouts = (*LAID, *IN_TIME) if any(told) else LAID
    for pairs in [told] if any(told) else [told, *_one_of(len(names))]:
        if (found := _laid_out(network, names, pairs, layouts)) is not None:
            yield GraphInput(signals=(), tables=tuple((name, (text,)) for name, text in zip(names, found, strict=True)))
            return


def _matrices(network: nn.Module, name: str) -> Iterator[GraphInput]:
    """Yield what a network on one matrix takes: of two sets that are not as large, else of all pairs of one.

    Each of both axes is to be heard of beyond its own place, as no batch is. Filters that are several places wide are
    of pictures, and so is what is heard of at some places only.
    """
    if filters_planes(network):
        return
    call = ByName((name,))
    for sets, layout in product(("AB", "AA"), ALONE):

        def texts(wide: Widths, sets: str = sets, layout: str = layout) -> list[str]:
            return [layout.format(a=sets[0], b=sets[1], c=wide[0])]

        if "{c}" in layout:
            wide = _taken(network, call, texts, 1)
        else:
            wide = (1,) if _runs(network, call, texts((1,))) else None
        if wide is None:
            continue
        (text,) = texts(wide)
        axes = [k for k, axis in enumerate(axes_of(text)) if axis.isupper()]
        if all(_hears(network, call, [text], axis, everywhere=layout == PICTURE) for axis in axes):
            yield GraphInput(signals=(), tables=((name, (text,)),))
            return


def _one_of(count: int) -> list[list[bool]]:
    """Return that each table but the first may be a matrix of all pairs, whatever it is called."""
    return [[k == pair for k in range(count)] for pair in range(1, count)]


def _laid_out(
    network: nn.Module, names: Sequence[str], pairs: Sequence[bool], layouts: Sequence[str]
) -> list[str] | None:
    """Return the axes of each table of which some are matrices of all pairs; None where none of what is tried runs."""
    call, found = ByName(tuple(names)), []
    for layout in layouts:
        for sets in _sharing(pairs):

            def texts(wide: Widths, layout: str = layout, sets: Sequence[str] = sets) -> list[str]:
                return [
                    f"{n}x{n}" if pair else layout.format(n=n, c=c, t=STEPS)
                    for n, c, pair in zip(sets, wide, pairs, strict=True)
                ]

            if (wide := _taken(network, call, texts, len(names))) is not None:
                found.append(texts(wide))
                break
    if not found:
        return None
    known = next((one for one in found if _hears(network, call, one)), found[0])
    return _loosened(network, call, _grouped(network, call, known))


def _grouped(network: nn.Module, call: ByName, texts: list[str]) -> list[str]:
    """Return tables of which one that says who is in which group has a letter for the groups, as many as there are."""
    taken = [[tuple(k for k, axis in enumerate(axes_of(text)) if axis == of) for text in texts] for of in _sets(texts)]
    for k, text in enumerate(texts):
        *before, last = axes_of(text)
        letter = chr(ord("A") + len(taken))
        made = [*texts[:k], "x".join([*before, letter]), *texts[k + 1 :]]
        if len(taken) == len(ROWS) or last.isupper() or not before[-1].isupper():
            continue
        if answer_of(network, _made(made, OTHER_ROWS), call) is None:
            continue
        if any(one.of == k for one in groups_in(_made(made), taken, network, call)):
            return made
    return texts


def _loosened(network: nn.Module, call: ByName, texts: list[str]) -> list[str]:
    """Return tables with a small letter for the columns of each that may have any number of them, as one did."""
    for k, text in enumerate(texts):
        *before, last = axes_of(text)
        letter = chr(ord("a") + len(_sets(texts)) + len([axis for t in texts for axis in axes_of(t) if axis.islower()]))
        made = [*texts[:k], "x".join([*before, letter]), *texts[k + 1 :]]
        if last != "1" or not before or not before[-1].isupper() or ord(letter) - ord("a") >= len(ROWS):
            continue
        if _runs(network, call, made):
            texts = made
    return texts


def _sets(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(axis for text in texts for axis in axes_of(text) if axis.isupper()))


def _sharing(pairs: Sequence[bool]) -> Iterator[tuple[str, ...]]:
    """Yield a letter for the set of each table, most sets first; a matrix of all pairs is of a set that a table has."""
    letters = [chr(ord("A") + k) for k in range(len(pairs))]
    every = product(letters, repeat=len(pairs))
    orders = [one for one in every if list(dict.fromkeys(one)) == letters[: len(set(one))]]
    for one in sorted(orders, key=lambda sets: -len(set(sets))):
        tables = {letter for letter, pair in zip(one, pairs, strict=True) if not pair}
        if set(one) == tables:
            yield one


def _taken(
    network: nn.Module, call: Callable[..., object], texts: Callable[[Widths], list[str]], count: int
) -> Widths | None:
    """Return the widths of tables that a network runs with, also with other numbers of members; None for none."""
    counting = Counting(call)

    def tried(one: Widths) -> tuple[bool, int, int]:
        done = answer_of(network, _made(texts(one)), counting) is not None
        calls, missing = counting.calls, counting.missing
        return done and answer_of(network, _made(texts(one), OTHER_ROWS), call) is not None, calls, missing

    return searched(tried, widths(network), count)


def _runs(network: nn.Module, call: Callable[..., object], texts: Sequence[str]) -> bool:
    """Say whether a network runs on tables, with other numbers of members too."""
    return all(answer_of(network, _made(texts, rows), call) is not None for rows in (ROWS, OTHER_ROWS))


def _made(texts: Sequence[str], rows: Sequence[int] = ROWS) -> list[Tensor]:
    return [table(text, k, rows) for k, text in enumerate(texts)]


def _hears(
    network: nn.Module, call: Callable[..., object], texts: Sequence[str], axis: int | None = None,
    everywhere: bool = False,
) -> bool:  # fmt: skip
    """Say whether a member of the first set changes what is said of others, or of all.

    Args:
        axis: of the first table, where it is not the first that counts members.
        everywhere: it has to change what is said of each of the others.
    """
    axis = axes_of(texts[0]).index("A") if axis is None else axis
    given = _made(texts)
    one, members = answer_of(network, given, call), given[0].shape[axis]
    if one is None or (everywhere and members not in one.shape):
        return False
    for member in (0, members // 2):  # a fault may be deaf to one of them
        other = given[0].clone()
        other.narrow(axis, member, 1).add_(1.0)
        two = answer_of(network, [other, *given[1:]], call)
        if two is None or one.shape != two.shape:
            continue
        changed = one != two
        if members in one.shape:
            at = axis if one.shape[axis : axis + 1] == (members,) else one.shape.index(members)
            by_member = changed.movedim(at, 0).reshape(members, -1).any(1)
            changed = torch.cat([by_member[:member], by_member[member + 1 :]])
        if bool(changed.all() if everywhere else changed.any()):
            return True
    return False
