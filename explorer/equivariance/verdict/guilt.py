"""Say in which layers a fault is made, and where that cannot be known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from typing import Protocol

from explorer.network.tracing.layers import Layer, Trace


class Finding(Protocol):
    """The measurement of one layer, in an audit or in a frame.

    Attributes:
        verdict: "holds", "broken", anything else for none.
        local: the error of the layer alone, None where it cannot be fed alone.
        guessed: whether its field is.
        seen: whether a fault shows in what it gives.
    """

    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def local(self) -> float | None: ...
    @property
    def guessed(self) -> bool: ...
    @property
    def seen(self) -> bool: ...


def guilty_layers(trace: Trace, rows: Sequence[Finding]) -> list[str]:
    """Return the names of the tensors that a fault is made in, one layer's each."""
    pairs = list(zip(trace.layers, rows, strict=True))
    # a container that obeys its law acquits all that it is made of; one that does not answers for what cannot be
    # fed alone
    obeys, fails = _tried(pairs)
    # what lies in a module that obeys does it no harm: its own fields are guesses
    tried = [m for m in fails if obeys.isdisjoint(around(m))]
    above = {container for m in tried for container in (*around(m), *trace.held.get(m, ()))}
    guilty, seen = [], False
    for layer, row in pairs:
        outside = around(layer.module)
        if any(m in obeys for m in outside):
            continue
        # a container is guilty only of what none of its own layers does
        inner = layer.module in above
        if row.verdict == "broken" and not inner and not _by_guess(layer, row):
            # what cannot be fed alone inherits a fault that was seen before it
            if row.local is not None or (not seen and not any(m in fails for m in outside)):
                guilty.append(row.name)
        seen = seen or row.seen
    return guilty


def first_seen(trace: Trace, rows: Sequence[Finding], acquitted: Set[str] = frozenset()) -> str:
    """Return the name of the tensor in which a fault first shows that no layer makes, "" where it shows in none.

    Args:
        acquitted: modules that do not make it, though it shows in them; it is looked for behind them.
    """
    pairs = list(zip(trace.layers, rows, strict=True))
    clean, obeys = obedient(pairs), _tried(pairs)[0]
    found = ""
    for layer, row in pairs:
        if layer.owner in acquitted or not acquitted.isdisjoint(around(layer.owner)):
            found = ""
        # in a module that obeys and shows no fault there is none: the fields within are wrong guesses
        elif not found and row.seen and clean.isdisjoint(around(layer.module)):
            # what arises within a module that obeys alone has the fault of what that is given
            inherited = layer.within in obeys and layer.within in trace.by_name
            found = str(layer.within) if inherited else row.name
    return found or next((row.name for row in rows if row.seen), "")


def first_before(trace: Trace, rows: Sequence[Finding], guilty: Collection[str]) -> str:
    """Return the first layer that shows a fault before any of these is run, "" where none does: not all is theirs."""
    names = [layer.name for layer in trace.layers]
    shows = first_seen(trace, rows)
    return shows if shows and all(names.index(shows) < names.index(name) for name in guilty) else ""


def inheriting(trace: Trace, rows: Sequence[Finding]) -> set[str]:
    """Return what cannot be fed alone and shows the fault of what the module is given that it is a part of.

    That module obeys its law alone, and shows a fault too; where it shows none, a field within is a wrong guess.
    """
    pairs = list(zip(trace.layers, rows, strict=True))
    hosts = _tried(pairs)[0] - obedient(pairs)
    alone = [(layer, row) for layer, row in pairs if row.verdict == "broken" and row.local is None]
    return {row.name for layer, row in alone if not hosts.isdisjoint((*around(layer.owner), layer.within))}


def obedient(pairs: Sequence[tuple[Layer, Finding]]) -> set[str]:
    """Return the modules that obey their law alone and show no fault: the fields of what lies within are guesses."""
    shown = {layer.module for layer, row in pairs if row.seen}
    return {m for m in _tried(pairs)[0] if m not in shown}


def _tried(pairs: Sequence[tuple[Layer, Finding]]) -> tuple[set[str], set[str]]:
    """Return the modules that obey their law when they are fed alone, and those that break it."""
    alone: dict[str, list[Finding]] = {}
    for layer, row in pairs:
        alone.setdefault(layer.module, []).append(row)
    faulty = {row.name for _, row in pairs if row.seen or (row.local is not None and row.verdict == "broken")}
    # what a module returns of a layer inside of it that has a fault is not told by the rest
    silent = {layer.module for layer, _ in pairs if not faulty.isdisjoint(layer.also)}
    obeys = {m for m, of in alone.items() if m and all(r.local is not None and r.verdict == "holds" for r in of)}
    obeys -= silent
    fails = {m for m, of in alone.items() if m and any(r.local is not None and r.verdict == "broken" for r in of)}
    return obeys, fails


def around(module: str) -> list[str]:
    """Return the names of the containers of a module, the outermost first."""
    return [module[:at] for at, sign in enumerate(module) if sign == "."]


def _by_guess(layer: Layer, row: Finding) -> bool:
    """Return whether a layer that declares what it gives was fed what its input was only taken for."""
    return row.local is not None and not row.guessed and any(f is not None and f.guessed for f in layer.inputs)


def unknown_before(
    trace: Trace, judged: Collection[str], name: str, hearers: Callable[[Layer], Collection[str]]
) -> list[str]:
    """Return the layers before this one of which nothing is known: it hears of them, and none hears that holds.

    Args:
        judged: the layers that a verdict was given on.
        hearers: a layer -> those of the judged ones that hear of it.
    """
    found: list[Layer] = []
    module = trace[name].module
    for layer in trace.layers:
        if layer.name == name:
            break
        if layer.name in judged:
            # of another branch it tells nothing: what it never hears of may still be at fault
            found = [one for one in found if layer.name not in hearers(one)]
        elif not module or not layer.module.startswith(module + "."):
            found.append(layer)
    return [layer.name for layer in found if name in hearers(layer)]
