"""Graphs that people know, with names and classes: Zachary's club, Les Misérables, Florentine families, Davis's women.

The first four are data collected by others. All but the club come with networkx, which is imported only when one is
asked for; the club opens with most networks on graphs, whose start is not to wait for 300 modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways, seeds_of


def _pairs(graph: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    at = {node: i for i, node in enumerate(graph)}
    return np.array([(at[a], at[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)


# who is a friend of whom of a higher number; in the order of networkx.karate_club_graph
_FRIENDS = """
0: 1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31, 1: 2 3 7 13 17 19 21 30, 2: 3 7 8 9 13 27 28 32, 3: 7 12 13, 4: 6 10,
5: 6 10 16, 6: 16, 8: 30 32 33, 9: 33, 13: 33, 14: 32 33, 15: 32 33, 18: 32 33, 19: 33, 20: 32 33, 22: 32 33,
23: 25 27 29 32 33, 24: 25 27 31, 25: 31, 26: 29 33, 27: 33, 28: 31 33, 29: 32 33, 30: 32 33, 31: 32 33, 32: 33
"""
_OFFICERS = (9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33)


def karate() -> Sample:
    """Make Zachary's karate club: 34 members, 78 friendships, the two clubs it became."""
    rows = [row.split(":") for row in _FRIENDS.replace("\n", " ").split(",")]
    index, _ = both_ways(np.array([(int(a), int(b)) for a, others in rows for b in others.split()], np.int64))
    label = np.isin(np.arange(34), _OFFICERS).astype(np.int64)
    seeds = np.full(34, -1)
    seeds[0], seeds[33] = 0, 1
    names = ("Mr. Hi", *(f"member {n}" for n in range(1, 33)), "Officer")
    return graph_sample(
        "karate", None, index, nodes=34, title="Zachary's karate club", label=label, seeds=seeds, names=names,
        source='W. W. Zachary, "An information flow model for conflict and fission in small groups", 1977',
        notes=("classes: 0 stayed with Mr. Hi, 1 went with the Officer", "the two leaders are the seeds"),
    )  # fmt: skip


def les_miserables() -> Sample:
    """Make the characters of Les Misérables, joined by the number of chapters in which they meet."""
    from networkx import les_miserables_graph
    from networkx.algorithms.community import greedy_modularity_communities

    graph = les_miserables_graph()
    nodes = list(graph)
    index, origin = both_ways(_pairs(graph))
    weight = np.array([data["weight"] for _, _, data in graph.edges(data=True)], np.float32)[origin]
    label = np.zeros(len(nodes), np.int64)
    groups = greedy_modularity_communities(graph, weight="weight", cutoff=4, best_n=4)
    for kind, members in enumerate(sorted(groups, key=lambda g: (-len(g), min(map(nodes.index, g))))):
        label[[nodes.index(m) for m in members]] = kind
    return graph_sample(
        "les-miserables", None, index, nodes=len(nodes), title="Les Misérables", edge_weight=weight, label=label,
        seeds=seeds_of(label, index), names=tuple(nodes),
        source='D. E. Knuth, "The Stanford GraphBase", 1993',
        notes=(
            "weights: chapters in which two characters appear together",
            "classes: four communities of greatest modularity (Clauset, Newman, Moore 2004), computed, not part of "
            "the data",
        ),
    )  # fmt: skip


def florentine() -> Sample:
    """Make the marriages between fifteen Florentine families of the fifteenth century."""
    from networkx import florentine_families_graph

    graph = florentine_families_graph()
    index, _ = both_ways(_pairs(graph))
    names = tuple(graph)
    seeds = np.full(len(names), -1)
    seeds[names.index("Medici")], seeds[names.index("Strozzi")] = 0, 1
    return graph_sample(
        "florentine-families", None, index, nodes=len(names), title="Florentine families", seeds=seeds, names=names,
        source="J. F. Padgett, by way of R. L. Breiger and P. E. Pattison, 1986",
        notes=("edges are marriages", "seeds: the Medici and the Strozzi, their rivals"),
    )  # fmt: skip


def southern_women() -> Sample:
    """Make the bipartite graph of 18 women and the 14 events that they attended."""
    from networkx import davis_southern_women_graph

    graph = davis_southern_women_graph()
    nodes = list(graph)
    label = np.array([graph.nodes[n]["bipartite"] for n in nodes])
    pairs = _pairs(graph)
    index, _ = both_ways(pairs)
    # the women above the events, in two rows
    position = np.zeros((len(nodes), 2), np.float32)
    for side in (0, 1):
        members = np.flatnonzero(label == side)
        position[members, 0] = np.linspace(-1, 1, len(members))
        position[members, 1] = 0.5 - side
    return graph_sample(
        "southern-women", None, index, nodes=len(nodes), title="Southern women (bipartite)", position=position,
        label=label, seeds=seeds_of(label, index), names=tuple(nodes),
        source='A. Davis, B. B. Gardner, M. R. Gardner, "Deep South", 1941',
        notes=("classes: 0 women, 1 events; an edge says that she was there",),
    )  # fmt: skip


_FLIGHTS = """
Lisbon Madrid 34, Madrid Lisbon 35, Madrid Paris 52, Paris Madrid 50, Paris London 61, London Paris 64,
London Dublin 57, Dublin London 55, London Oslo 21, Oslo Stockholm 33,
Stockholm Oslo 30, Stockholm Berlin 18, Berlin Warsaw 16,
Warsaw Berlin 17, Berlin Vienna 22, Vienna Rome 19, Rome Vienna 20, Rome Paris 38, Rome Athens 29, Athens Rome 27,
Paris Berlin 31, Berlin Paris 28, Athens Vienna 12, Madrid Rome 26, Warsaw Stockholm 9, Lisbon London 24
"""


def flights() -> Sample:
    """Make a small directed, weighted graph: invented flights between European cities."""
    rows = [row.split() for row in _FLIGHTS.replace("\n", " ").split(",")]
    names = tuple(dict.fromkeys(city for a, b, _ in rows for city in (a, b)))
    at = {name: i for i, name in enumerate(names)}
    index = np.array([(at[a], at[b]) for a, b, _ in rows], np.int64).T
    weight = np.array([float(w) for *_, w in rows], np.float32)
    degrees = {
        "Lisbon": (-9.1, 38.7), "Madrid": (-3.7, 40.4), "Paris": (2.4, 48.9), "London": (-0.1, 51.5),
        "Dublin": (-6.3, 53.3), "Oslo": (10.8, 59.9), "Stockholm": (18.1, 59.3), "Berlin": (13.4, 52.5),
        "Warsaw": (21.0, 52.2), "Vienna": (16.4, 48.2), "Rome": (12.5, 41.9), "Athens": (23.7, 38.0),
    }  # fmt: skip
    # a degree of longitude is about 0.64 of one of latitude at 50 degrees north
    position = np.array([(degrees[n][0] * 0.64, degrees[n][1]) for n in names], np.float32)
    return graph_sample(
        "flights", None, index, nodes=len(names), title="Flights (directed, weighted)", edge_weight=weight,
        position=position, names=names, directed=True, source="invented",
        notes=("weights: flights a week, invented; some go one way only",),
    )  # fmt: skip


def bridges() -> Sample:
    """Make Euler's multigraph: the four parts of Königsberg and their seven bridges."""
    names = ("Kneiphof", "Altstadt", "Vorstadt", "Lomse")
    pairs = np.array([(0, 1), (0, 1), (0, 2), (0, 2), (0, 3), (1, 3), (2, 3)])
    position = np.array([(0, 0), (0, 1), (0, -1), (1.2, 0)], np.float32)
    index, _ = both_ways(pairs)
    return graph_sample(
        "konigsberg", None, index, nodes=4, title="Bridges of Königsberg (multigraph)", position=position, names=names,
        source='L. Euler, "Solutio problematis ad geometriam situs pertinentis", 1736',
        notes=("two pairs of places are joined by two bridges each: those edges are listed twice",),
    )  # fmt: skip


def _spec(name: str, title: str, make: Callable[[], Sample], summary: str, *tags: str) -> SampleSpec:
    return SampleSpec(name, title, "graph", make, summary, tags)


SAMPLES = (
    _spec(
        "karate", "Zachary's karate club", karate,
        "34 members of a club that split in two; the leaders' sides are told, all others are to be found.",
        "classes", "names",
    ),
    _spec(
        "les-miserables", "Les Misérables", les_miserables,
        "77 characters, joined by the number of chapters that they share.", "classes", "names", "weights",
    ),
    _spec(
        "florentine-families", "Florentine families", florentine,
        "Fifteen families and their marriages; the Pucci married nobody, and the Medici are between all others.",
        "names",
    ),
    _spec(
        "southern-women", "Southern women (bipartite)", southern_women,
        "18 women and 14 events: no edge joins two of a kind.", "bipartite", "classes", "names",
    ),
    _spec(
        "flights", "Flights (directed, weighted)", flights,
        "Twelve cities: from is not to, and the weights differ by direction.", "directed", "names", "weights",
    ),
    _spec(
        "konigsberg", "Bridges of Königsberg (multigraph)", bridges,
        "Seven bridges between four places, two of them doubled: a multigraph.", "multigraph", "names",
    ),
)  # fmt: skip
