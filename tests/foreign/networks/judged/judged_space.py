"""Points in space under motions, and volumes under turns of the cube and shifts."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs
from tests.foreign.networks.on_graphs.graphs import edges


def cloud(*shape, act="places@2"):
    return Given((drawn(*shape),), (act,))


def moving():
    return Given(
        (drawn(1, 6, 3), drawn(1, 6, 3, seed=1)), ("places@2", "arrows@2"), form="mapping", names=("pos", "vel")
    )


def atoms(*more):
    given = {"z": torch.tensor([6, 1, 1, 8, 7, 6, 1]), "pos": drawn(7, 3), "edge_index": edges(7, 20)}
    acts = {"z": "fixed", "pos": "places@1", "edge_index": "fixed"}
    names = ("z", "pos", *more)
    return Given(tuple(given[n] for n in names), tuple(acts[n] for n in names), form="mapping", names=names)


def corners():
    v = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 1.2, 0], [0, 0, 0.9]])
    return Given((v, torch.tensor([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])), ("places@1", "fixed"))


def volume(side=9, step=1):
    return Given((drawn(1, 1, side, side, side),), ("volume",), step=step)


def harmonic():
    return Given(
        (drawn(7, 4), drawn(7, 3, seed=1), edges(7, 20)),
        ("fixed", "places@1", "fixed"),
        form="mapping",
        names=("x", "pos", "edge_index"),
    )


FML = {1: "first", 2: "middle", 3: "last"}
ASK = {"refusable": True, "tells": "points"}  # of vertices and faces alone
CASES = (
    *pairs("space", "VectorNeurons", partial(cloud, 1, 3, 10, act="places@1"), "O3", ("arrows@2",), FML, "torus-3d"),
    *pairs("space", "Gram", partial(cloud, 1, 10, 3), "E3", ("fixed",), {1: "first", 2: ""}, "torus-3d"),
    *pairs(
        "space",
        "DistancesChannelsFirst",
        partial(cloud, 1, 3, 10, act="places@1"),
        "E3",
        ("fixed",),
        {1: "first"},
        "torus-3d",
    ),
    *pairs("space", "Moving", moving, "E3", ("places@2", "arrows@2"), {1: "first", 3: "last"}, "bodies"),
    *pairs("space", "Schnet", atoms, "E3", ("fixed",), {1: "first", 2: "middle"}, "ethanol-3d"),
    *pairs(
        "filters",
        "ContinuousFilters",
        atoms,
        "E3",
        ("fixed",),
        {1: "convs.1", 2: "smearing#2"},
        "ethanol-3d",
        limit=1e-12,
    ),
    *pairs(
        "space",
        "PaiNN",
        partial(atoms, "edge_index"),
        "E3",
        ("fixed", "arrows@1"),
        {1: "first", 2: "V", 3: "last"},
        "ethanol-3d",
    ),
    *pairs(
        "space",
        "Crossed",
        partial(cloud, 10, 3, act="places@1"),
        "SE3",
        ("arrows@1",),
        {1: "first", 3: "last"},
        "ethanol-3d",
    ),
    *pairs("space", "Frame", corners, "E3", ("fixed",), {1: "first"}, "", **ASK),
    *pairs("steerable", "Harmonic", harmonic, "SE3", ("fixed", "arrows@1"), {2: "", 3: ""}, "ethanol-3d"),
    *pairs("volumes", "Pointwise", volume, "Oh", ("fixed",), FML, "phantom-3d"),
    *pairs("volumes", "Isotropic", volume, "O", ("volume",), FML, "phantom-3d"),
    *pairs("volumes", "UNet3d", partial(volume, 8, 2), "Z3", ("volume",), FML, "random:1x1x8x8x8"),
)
