"""On the sphere, on surfaces with frames, and files with a card of their own: opened from files, called by hand here."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path

import torch

from tests.foreign.case import BROKEN, Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges

HERE = Path(__file__).parent / "theirs"


def built(file, name):
    module = importlib.import_module(f"tests.foreign.networks.curved.theirs.{file}")
    return module.CARD.build() if name == "CARD" else getattr(module, name)()


def globe():
    return Given((drawn(1, 1, 25),), ("harmonic@4",))


def frames(*more):
    made = {
        "x": (drawn(9, 3), "nodes"),
        "edge_index": (edges(9, 24), "index"),
        "radius": (drawn(24, seed=1).abs(), "edges"),
        "angle": (3 * drawn(24, seed=2), "angle"),
        "transport": (3 * drawn(24, seed=3), "transport"),
    }
    return Given(tuple(made[m][0] for m in more), tuple(made[m][1] for m in more), form="mapping", names=more)


def letter():
    return Given((drawn(1, 1, 12, 12),), ("grid",))


def opened(file, name, given, group, out, sample, *culprit, **more):
    door = f"{HERE / file}.py" + ("" if name == "CARD" else f":{name}")
    truth = {"truth": BROKEN} if culprit else {}
    return Case(
        f"{file}.py:{name}", partial(built, file, name), given, group, out, culprit=culprit, door=door, sample=sample,
        hooks=False, **truth, **more,
    )  # fmt: skip


TURNED = (globe, "sphere-SO3", ("fixed",), "globe")
KEPT = (globe, "sphere-SO3", ("harmonic@4",), "globe")
ROUND = (partial(frames, "x", "edge_index", "radius", "angle"), "gauge", ("nodes",), "body")
ARROWS = (partial(frames, "x", "edge_index", "angle", "transport"), "gauge", ("nodes",), "body")
SHAPE = (ARROWS[0], "gauge", ("fixed",), "body")
MOVED = (letter, "translation", ("grid",), "")

CASES = (
    opened("spheres", "Net", *TURNED),
    opened("spheres", "biased", *TURNED, "mix1"),
    opened("spheres", "rectified", *TURNED, "act1"),
    opened("spheres", "zonal", *TURNED, "read"),
    opened("spheres", "Smoother", *KEPT),
    opened("spheres", "by_number", *KEPT, "heat"),
    opened("spheres", "Functional", *TURNED),
    opened("spheres", "Off", *TURNED, "output"),
    opened("spheres", "Normalised", *TURNED),
    opened("spheres", "layer_norm", *TURNED, "norm"),
    opened("gauges", "Round", *ROUND),
    opened("gauges", "aware_first", *ROUND, "conv1", "conv1.near"),
    opened("gauges", "aware_second", *ROUND, "conv2", "conv2.near"),
    opened("gauges", "Arrows", *ARROWS),
    opened("gauges", "uncarried", *ARROWS, "carry"),
    opened("gauges", "component", *ARROWS, "size"),
    opened("gauges", "Shape", *SHAPE),
    opened("gauges", "shape_component", *SHAPE, "arrows.size"),
    opened("carded", "CARD", *MOVED),
    opened("carded_wrong", "CARD", *MOVED, "ramp"),
)
