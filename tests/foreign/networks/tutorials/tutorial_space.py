"""Points under motions, and volumes under turns of the cube and shifts."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges
from tests.foreign.networks.tutorials.twins import twins

FIXED = ("fixed",)


def points(*names):
    of = {
        "x": (drawn(7, 4), "fixed"),
        "z": (torch.tensor([6, 1, 1, 8, 7, 6, 1]), "fixed"),
        "pos": (drawn(7, 3, seed=1), "places@1"),
        "vel": (drawn(7, 3, seed=2), "arrows@1"),
        "edge_index": (edges(7, 20), "fixed"),
    }
    return Given(tuple(of[n][0] for n in names), tuple(of[n][1] for n in names), form="mapping", names=names)


def volume(step=1):
    return Given((drawn(1, 1, 16, 16, 16),), ("volume",), step=step)


theirs, voxels = partial(twins, "points"), partial(twins, "volumes")
GRAPH = partial(points, "x", "pos", "edge_index")
CASES = (
    *theirs("egnn", {"egnn_cross": "l2", "egnn_bias": "l2", "egnn_l1": "l2"}, GRAPH, "E3", ("fixed", "places@1")),
    *theirs("schnet", {"schnet_origin": "i2"}, partial(points, "z", "pos"), "E3", FIXED),
    *theirs("painn", {"painn_bias": "U"}, GRAPH, "E3", ("fixed", "arrows@1")),
    *theirs("frames", {"frames_single": "net.0"}, partial(points, "pos"), "SE3", FIXED, sample="torus-3d"),
    *theirs("gram", {"gram_raw": "f"}, partial(points, "pos", "vel"), "E3", ("arrows@1",)),
    *theirs("tensornet", {"tensornet_elem": "mix"}, partial(points, "pos", "edge_index"), "E3", FIXED),
    *voxels("radial", {"radial_lean": "3"}, volume, "Oh", FIXED, limit=1e-6),
    *voxels("unet3d", {"unet3d_tri": "d"}, partial(volume, 2), "Z3", ("volume",)),
    *voxels("axial", {"axial_skip": ""}, volume, "Oh", ("volume",)),
)
