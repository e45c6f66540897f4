"""Tell whether somebody's network takes a graph, and which of its signals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from explorer.network.input.call_forms import asked, of_one, unnamed, way_of, ways
from explorer.network.input.recognise import Ambiguous, Recognised, filters_planes
from explorer.network.input.ways import AS_PAIR, BY_NAME, IN_ORDER, Way, meant, spellings
from explorer.spaces.graph.network.attempts import (
    joins_nothing,
    known_numbers,
    readings,
    rows_of_either,
    trial_graph,
    widths,
)
from explorer.spaces.graph.network.beside import beside_inputs, beside_told
from explorer.spaces.graph.network.form import AXES, DRAWN, OF_A_GRAPH, SIGNALS, GraphInput
from explorer.spaces.graph.network.tables import said_tables

WHERE = ("x", "edge_index", "adjacency", "number", "edge_attr", "edge_weight")  # what arguments of any name may be


def graph_input(own: Recognised) -> GraphInput | None:
    """Return what a network on graphs takes, or None for one that takes no graph.

    Raises:
        ValueError: INPUT_TABLES, INPUT_SIGNALS or INPUT_CHANNELS are none, or several readings of its arguments run.
    """
    if (tables := said_tables(own.said("input_tables"))) is not None:
        return GraphInput(signals=(), tables=tables)
    signals = own.said("input_signals")
    if signals is not None:
        listed = isinstance(signals, list | tuple)
        if not listed or not set(signals) <= set(SIGNALS) or not set(signals) & set(DRAWN):
            raise ValueError(f"INPUT_SIGNALS must name 'x', 'number' or 'adjacency', and else {', '.join(SIGNALS)}")
        return _sized(own, way_of(own, tuple(signals)))
    for way in ways(own, SIGNALS):
        if set(way.signals) & _of_a_graph(own) and (found := taken(own, way)) is not None:
            return found
    needed = own.required()
    if (pair := _pair(own, needed)) is not None:
        return pair
    if "edge_index" in needed and all(s in SIGNALS for s in needed):
        return _sized(own, way_of(own, needed))
    if len(needed) == 1:
        return _of_one(own)
    return _of_any_name(own, needed)


def _of_no_edges(own: Recognised, form: GraphInput) -> bool:
    return "edge_index" in form.signals and joins_nothing(own.network(), form)


def taken(own: Recognised, way: Way) -> GraphInput | None:
    """Return what a network takes that runs when it is called this way; None for one that does not."""
    said = own.channels()
    first = said or own.first_width()
    known = AXES if {"x", "adjacency"} & set(way.signals) else AXES[:1]
    for axes, (x, edge, *other) in readings(own.network(), way, first, known):
        if said is not None and x != said and "x" in way.signals:
            continue  # what is said is not doubted: that it does not run is told where it is run
        if x != first and "x" in way.signals:
            own.why["channels"] = f"it runs with {x}"
        return GraphInput(
            channels=x if "x" in way.signals else None, signals=way.signals, axes=axes, given=way.given,
            names=way.names, edge_channels=edge if "edge_attr" in way.signals and edge > 1 else None,
            other_channels=(*other, edge)[0] if "other" in way.signals else None,
            known=known_numbers(own.network(), way, axes, (x, edge, *other)),
        )  # fmt: skip
    return None


def _of_a_graph(own: Recognised) -> set[str]:
    """Return the signals that make a graph: no matrix of pairs where filters tie its values to the order of rows."""
    return {"edge_index"} if filters_planes(own.network()) else set(OF_A_GRAPH)


def _sized(own: Recognised, way: Way) -> GraphInput:
    """Return what a network takes of which the signals are known, whether it runs or not."""
    channels = own.channels()
    if channels is None and (found := taken(own, way)) is not None:
        return found
    width = own.first_width() if channels is None else channels
    own.unproven.append("graph")
    own.doubts.append("it runs with no signals of a graph that were tried; --input says what it takes")
    return GraphInput(channels=width, signals=way.signals, given=way.given, names=way.names)


def _of_one(own: Recognised) -> GraphInput | None:
    """Return what a network takes that reads a graph off its only argument."""
    for way in of_one(own, read_off(own, SIGNALS), SIGNALS):
        if set(way.signals) & set(OF_A_GRAPH) and (found := taken(own, way)) is not None:
            return found
    return None


def read_off(own: Recognised, known: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a network reads off its only argument, of a graph of any width; () of a tensor."""
    if not own.takes_one():
        return ()
    found: dict[str, None] = {}
    for width in widths(own.network()):
        made = trial_graph(width, 1)
        names = asked(own, {n: made[s] for s in known if s in made for n in spellings(s)})
        found.update(dict.fromkeys(names))
        if not names:
            break
    return tuple(found)


def _pair(own: Recognised, needed: Sequence[str]) -> GraphInput | None:
    """Return the input of a network that takes the nodes of two sets as one tuple, and edges between them behind it."""
    rest = [next(iter(meant(name, ("edge_index", "edge_attr", "edge_weight"))), "") for name in needed[1:]]
    if not rest or rest[0] != "edge_index" or not all(rest) or len(set(rest)) < len(rest) or own.by_keyword():
        return None
    found = taken(own, Way(("x", "other", "between", *rest[1:]), (), AS_PAIR))
    if found is not None:
        own.why["signals"] = f"its forward takes ({', '.join(needed)}), and it runs with a pair first"
    return found


def _between_two_sets(own: Recognised, needed: Sequence[str]) -> Iterator[Way]:
    """Yield ways to call a network with two sets, what lies on edges where a name says so, and edges between them."""
    told = [next(iter(meant(name, ("edge_attr", "edge_weight"))), "") for name in needed]
    index = [k for k, name in enumerate(needed) if meant(name, ("edge_index",))]
    index = index[:1] or [k for k, of in enumerate(told) if not of]
    given = BY_NAME if own.by_keyword() else IN_ORDER
    for at in index:
        sets = [k for k, of in enumerate(told) if not of and k != at]
        for first, second in (sets, sets[::-1]) if len(sets) == 2 else ():
            named = {at: "between", first: "x", second: "other"}
            signals = tuple(named.get(k, of) for k, of in enumerate(told))
            if len(set(signals)) == len(signals):
                yield Way(signals, tuple(needed) if given == BY_NAME else (), given)


def _of_any_name(own: Recognised, needed: tuple[str, ...]) -> GraphInput | None:
    """Return the input of a network whose argument names do not tell it, if one reading of them runs.

    Raises:
        ValueError: several readings run, or none of one that takes the edges of a graph.
    """
    ways = [way for way in unnamed(own, WHERE) if set(way.signals) & set(OF_A_GRAPH)]
    told = any(set(meant(name, SIGNALS)) & _of_a_graph(own) for name in needed)
    found = [form for way in ways if (form := taken(own, way)) and (told or not _of_no_edges(own, form))]
    sets = {frozenset(form.signals): form for form in found}
    # a list of edges runs in no other place; a matrix of all pairs may run where a mask is meant
    sure = told or (len(found) == 1 and "edge_index" in found[0].signals)
    if len(sets) == 1 and sure and not rows_of_either(own.network(), found[0]):
        own.why["signals"] = f"its forward takes ({', '.join(needed)}), and it runs with {', '.join(found[0].signals)}"
        return found[0]
    between = [form for way in _between_two_sets(own, needed) if (form := taken(own, way)) is not None]
    if between and not (found and told and not rows_of_either(own.network(), found[0])):
        own.why["signals"] = f"its forward takes ({', '.join(needed)}), and it runs with edges between two sets"
        return between[0]
    if not told:
        return None
    if not found and (more := next(beside_inputs(own.network(), own.sparing), None)) is not None:
        table = ", ".join(f"{name}:{axes}" for name, (axes,) in more.beside)
        own.why["signals"] = f"its forward takes ({', '.join(needed)}), and it runs with {table} besides"
        return more
    some = " as well as with ".join(f"({', '.join(form.signals)})" for form in found[:2])
    runs = f"it runs with {some}" if found else "with no signals of a graph that were tried it runs"
    takes = f"its forward takes ({', '.join(needed)})"
    if not found and (beside := beside_told(needed)):
        raise ValueError(
            f"{takes}, and with no tables that were tried it runs; say them as in {beside}, N for a row a node, E "
            "for a row an edge, and their sizes"
        )
    raise (Ambiguous if found else ValueError)(
        f"{takes}, and {runs}; say which it is called with, in order, as in INPUT_SIGNALS = ('x', 'edge_index') in the "
        "file or --input 'graph signals=x,edge_index', or call check_equivariance with the tensors"
    )
