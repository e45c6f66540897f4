"""On the sphere, on surfaces, and files with a card of their own: opened from files, called by hand here."""

from __future__ import annotations

import importlib
from dataclasses import replace
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


def surface(order, *names):
    corners = torch.tensor([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    faces = torch.tensor([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    faces = faces.t().contiguous() if order else faces
    return Given((corners + 0.2 * drawn(6, 3, seed=41), faces), ("places@1", "fixed"), form="mapping", names=names)


def matrix():
    a = (drawn(9, 9, seed=1) > 0).float()
    return Given((drawn(9, 5), ((a + a.t()) > 0).float()), ("nodes", "pairs"))


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
GLOBE = (lambda: Given((drawn(1, 1, 16),), ("harmonic@3",)), "sphere-SO3", ("fixed",), "")
MOMENTS = (
    lambda: replace(
        frames("x", "edge_index", "radius", "angle"), args=(drawn(9, 4), *frames("edge_index", "radius", "angle").args)
    ),
    "gauge",
    ("nodes",),
    "",
)
STILL = ("E3", ("fixed",), "body")
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
    opened("surfaces", "Surface", partial(surface, 0, "verts", "faces"), *STILL),
    opened("surfaces", "tilted", partial(surface, 0, "verts", "faces"), *STILL, "area"),
    opened("surfaces", "Triangles", partial(surface, 0, "vertices", "triangles"), *STILL),
    opened("surfaces", "triangles_tilted", partial(surface, 0, "vertices", "triangles"), *STILL, "area"),
    opened("surfaces", "Tris", partial(surface, 0, "pos", "tri"), *STILL),
    opened("surfaces", "tris_tilted", partial(surface, 0, "pos", "tri"), *STILL, "area"),
    opened("surfaces", "FaceLast", partial(surface, 1, "pos", "face"), *STILL),
    opened("surfaces", "face_tilted", partial(surface, 1, "pos", "face"), *STILL, "area"),
    opened("surfaces", "Inflate", partial(surface, 0, "verts", "faces"), "SE3", ("places@1",), "body"),
    opened("surfaces", "inflate_up", partial(surface, 0, "verts", "faces"), "SE3", ("places@1",), "body", "normals"),
    opened("relations", "Dense", matrix, "permutation", ("nodes",), "glycine"),
    opened("relations", "ordered", matrix, "permutation", ("nodes",), "glycine", "mask"),
    opened("carded_globe", "CARD", *GLOBE),
    opened("carded_skewed", "CARD", *GLOBE, "blur"),
    opened("carded_mesh", "CARD", *MOMENTS),
    opened("carded_raw", "CARD", *MOMENTS, "steered"),
    opened("carded", "CARD", *MOVED),
    opened("carded_wrong", "CARD", *MOVED, "ramp"),
)
