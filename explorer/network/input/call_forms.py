"""Find ways to call a network: what the names of its arguments mean, or what it reads off the one that it takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from torch import Tensor

from explorer.network.input.recognise import Recognised
from explorer.network.input.ways import AS_ONE, BY_NAME, IN_ORDER, Bag, Way, all_meant, meant
from explorer.network.tracing.trials import answer_of


def ways(own: Recognised, known: Collection[str]) -> Iterator[Way]:
    """Yield ways to call a network of which the names of all arguments tell something."""
    needed = own.required()
    told = [meant(name, known) for name in needed]
    if not needed or not all(told):
        return
    if not any(len(set(one)) == len(one) for one in product(*told)):
        told = [all_meant(name, known) for name in needed]
    given = BY_NAME if own.by_keyword() else IN_ORDER
    # what is called x may be looked up in a table
    told += [(*t, "number") if "x" in t and "number" in known else t for t in told]
    for signals in dict.fromkeys((*product(*told[: len(needed)]), *product(*told[len(needed) :]))):
        if len(set(signals)) == len(signals):
            own.why["signals"] = f"its forward takes ({', '.join(needed)})"
            yield Way(signals, needed if given == BY_NAME else (), given)


def unnamed(own: Recognised, known: Sequence[str]) -> Iterator[Way]:
    """Yield all ways to call a network of whose arguments names tell some, or none."""
    needed = own.required()
    told = [meant(name, known) or tuple(known) for name in needed]
    if len(needed) < 2 or len(needed) > 3:
        return
    given = BY_NAME if own.by_keyword() else IN_ORDER
    for signals in product(*told):
        if len(set(signals)) == len(signals):
            yield Way(signals, needed if given == BY_NAME else (), given)


def asked(own: Recognised, items: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a network reads off its only argument, as attributes or as items; () where that is a tensor.

    One that reads nothing off one such object does not off another: it is tried once, whoever asks.
    """
    if own.reads_nothing:
        return ()
    bag = Bag(items)
    answer_of(own.network(), (), lambda made, _: made(bag))
    if not bag.touched:
        own.reads_nothing.append(own.where)
    names = dict.fromkeys(name for name in bag.asked if isinstance(name, str) and name.isidentifier())
    return () if any(hasattr(Tensor, name) and name not in items for name in names) else tuple(names)


def of_one(own: Recognised, names: Collection[str], known: Collection[str]) -> Iterator[Way]:
    """Yield ways to give a network one object with some of the attributes that it reads, fewest first."""
    found = [(name, signals[0]) for name in names if (signals := meant(name, known))][:6]
    for count in range(1, len(found) + 1):
        for some in combinations(found, count):
            if len({signal for _, signal in some}) == count:
                own.why["signals"] = f"its forward reads {', '.join(name for name, _ in some)} off its argument"
                yield Way(tuple(s for _, s in some), tuple(n for n, _ in some), AS_ONE)


def way_of(own: Recognised, signals: Sequence[str]) -> Way:
    """Return how a network is given signals that somebody names: as its forward can be called."""
    needed = own.required()
    if own.by_keyword() and len(needed) == len(signals):
        return Way(tuple(signals), needed, BY_NAME)
    return Way(tuple(signals), (), AS_ONE if own.takes_one() and len(signals) > 1 else IN_ORDER)
