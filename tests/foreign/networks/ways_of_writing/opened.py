"""Networks in files, opened as the command line opens them: classes, factories, instances, other arguments."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path

import torch

from tests.foreign.case import BROKEN, REFUSED, Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges
from tests.foreign.networks.on_sequences.sequences import series

HERE = Path(__file__).parent / "theirs"


def built(file, name):
    """Return the network that a name of a file stands for."""
    found = getattr(importlib.import_module(f"tests.foreign.networks.ways_of_writing.theirs.{file}"), name)
    return found if isinstance(found, torch.nn.Module) else found()


def graph(*more):
    made = {"edge_attr": lambda: drawn(18, 4, seed=1), "strength": lambda: drawn(18, seed=1).abs()}
    return Given((drawn(9, 8), edges(9, 18), *(made[m]() for m in more)), ("nodes", "index", *("edges" for _ in more)))


def by_name():
    return Given((drawn(9, 8), edges(9, 18)), ("nodes", "index"), form="mapping", names=("x", "edge_index"))


def as_data():
    return Given((drawn(9, 8), edges(9, 18)), ("nodes", "index"), form="data", names=("x", "edge_index"))


def adjacency():
    a = (drawn(9, 9, seed=1) > 0).float()
    return Given((drawn(9, 8), ((a + a.t()) > 0).float()), ("nodes", "pairs"))


def reversed_adjacency():
    made = adjacency()
    return Given(made.args[::-1], made.acts[::-1])


def atoms():
    return Given((torch.tensor([6, 1, 1, 8, 7, 6, 1, 1, 6]), edges(9, 18)), ("nodes", "index"))


def pictures():
    return Given((drawn(2, 1, 8, 8),), ("grid",))


def two_pictures():
    return Given((drawn(2, 1, 8, 8), drawn(2, 1, 8, 8, seed=9)), ("grid", "grid"))


def whole_pictures():
    return Given((drawn(2, 1, 29, 29),), ("grid",))


def opened(file, name, given, group, out, sample, *culprit, **more):
    """Return a network of a file; the oracle calls it by hand, `check` opens the file."""
    door = f"{HERE / file}.py:{name}"
    more = {"hooks": False, **more}
    return Case(
        f"{file}.py:{name}",
        partial(built, file, name),
        given,
        group,
        out,
        culprit=culprit,
        door=door,
        sample=sample,
        **more,
    )


ON_NODES = ("permutation", ("nodes",), "glycine")
GRAPH = "INPUT_SIGNALS|graph |edge_index"  # what a sentence about a network on graphs speaks of
SHIFTED = ("translation", ("fixed",), "digit-3")

CASES = (
    opened("graphs", "Plain", graph, *ON_NODES),
    opened("graphs", "Broken", graph, *ON_NODES, truth=BROKEN),
    opened("graphs", "factory", graph, *ON_NODES, refusable=True, tells=GRAPH),
    opened("graphs", "broken_factory", graph, *ON_NODES, truth=BROKEN, refusable=True, tells=GRAPH),
    opened("graphs", "instance", graph, *ON_NODES),
    opened("graphs", "Unweighted", graph, *ON_NODES),
    opened("graphs", "WithAttributes", partial(graph, "edge_attr"), *ON_NODES),
    opened("graphs", "BrokenAttributes", partial(graph, "edge_attr"), *ON_NODES, truth=BROKEN),
    opened("graphs", "OtherNames", partial(graph, "strength"), *ON_NODES, refusable=True, tells=GRAPH),
    opened("graphs", "KeywordOnly", by_name, *ON_NODES, refusable=True, tells=GRAPH),
    opened("graphs", "Adjacency", adjacency, *ON_NODES, refusable=True, tells=GRAPH),
    opened("graphs", "OfData", as_data, *ON_NODES, refusable=True, tells=GRAPH),
    opened("graphs", "NeedsWidth", graph, *ON_NODES, truth=REFUSED),
    opened("graphs", "Atoms", atoms, *ON_NODES, refusable=True, tells=GRAPH),
    opened("given", "Names", graph, *ON_NODES),
    opened("given", "Object", as_data, *ON_NODES),
    opened("given", "Summed", as_data, *ON_NODES, "b", truth=BROKEN),
    opened("given", "Reversed", reversed_adjacency, "permutation", ("fixed",), "glycine"),
    opened("series", "TwoConvs", partial(series, "NCT", channels=1), "shift", ("steps@2",), "sine", inside=4),
    opened(
        "series", "ramped", partial(series, "NCT", channels=1), "shift", ("steps@2",), "sine", truth=BROKEN, inside=4
    ),
    opened(
        "series", "Last", partial(series, "NCT", channels=1), "shift", ("fixed",), "sine", truth=BROKEN, refusable=True
    ),
    opened(
        "series",
        "Chunks",
        partial(series, "NTC", channels=1),
        "shift",
        ("steps@1",),
        "sine",
        truth=BROKEN,
        refusable=True,
    ),
    opened("series", "Words", partial(series, "NTC"), "shift", ("steps@1",), "sine", truth=REFUSED),
    opened("series", "Recurrent", partial(series, "NTC", channels=1), "shift", ("steps@1",), "sine"),
    opened(
        "series",
        "recurrent_with_bias",
        partial(series, "NTC", channels=1),
        "shift",
        ("steps@1",),
        "sine",
        "lstm",
        truth=BROKEN,
    ),
    opened("series", "time_first", partial(series, "TNC", channels=1), "shift", ("steps@0",), "sine"),
    opened("pictures", "Classifier", pictures, *SHIFTED),
    opened("pictures", "broken_classifier", pictures, *SHIFTED, "b", truth=BROKEN),
    opened("pictures", "network", pictures, *SHIFTED),
    opened("pictures", "Dense", whole_pictures, *SHIFTED, truth=BROKEN),
    opened("pictures", "Two", two_pictures, *SHIFTED, refusable=True),
    opened("pictures", "Several", pictures, "translation", ("fixed", "grid"), "digit-3"),
    opened(
        "pictures", "several_with_a_border", pictures, "translation", ("fixed", "grid"), "digit-3", "side", truth=BROKEN
    ),
)
