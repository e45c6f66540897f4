"""Point clouds and sets in many layouts, two of them at once, masks and keywords."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs

FML = {1: "first", 2: "middle", 3: "last"}
FL = {1: "first", 3: "last"}


def of(*shape, act="nodes@1", **more):
    return Given((drawn(*shape),), (act,), **more)


def two(*shapes, acts=("nodes@1", "nodes@1"), **more):
    return Given(tuple(drawn(*s, seed=k) for k, s in enumerate(shapes)), acts, **more)


def masked(channels=4, hidden=False, **more):
    there = torch.tensor([[1, 1, 0, 1, 1, 1, 0, 1, 1]], dtype=torch.bool)
    return Given((drawn(1, 9, channels), ~there if hidden else there), ("nodes@1", "nodes@1"), **more)


def repeated():
    x = drawn(9, 3)
    x[5], x[7] = x[1], x[2]
    return Given((x,), ("nodes",))


CLOUD = partial(of, 2, 3, 10, act="nodes@2")
P = "permutation"
CASES = (
    # nine atoms, of which twelve are sampled
    *pairs("sampling", "PointNet2", partial(of, 1, 30, 3), P, ("fixed",), {1: "mark"}, "ethanol-3d"),
    *pairs("clouds", "PointNet", CLOUD, P, ("fixed",), {**FML, 2: "conv2"}, "torus"),
    *pairs("clouds", "Segmenting", CLOUD, P, ("nodes@2",), FML, "torus"),
    *pairs("clouds", "DynamicGraph", CLOUD, P, ("fixed",), {1: "first", 2: "edge2 edge2.0", 3: "last"}, "torus"),
    *pairs("clouds", "Flat", partial(of, 10, 3, act="nodes"), P, ("nodes",), FML, "torus"),
    *pairs("clouds", "Attending", partial(of, 1, 10, 3), P, ("fixed",), FML, "torus"),
    *pairs("clouds", "Inducing", partial(of, 1, 10, 4), P, ("fixed",), {**FML, 3: "last last#2"}, "torus"),
    *pairs("clouds", "WithFeatures", partial(two, (1, 10, 3), (1, 10, 5)), P, ("nodes@1",), FML, "ethanol-3d"),
    *pairs(
        "clouds",
        "TwoSets",
        partial(two, (9, 4), (7, 4), acts=("nodes", "others")),
        P,
        ("fixed",),
        FML,
        "torus",
    ),
    *pairs(
        "clouds",
        "Chamfer",
        partial(two, (9, 3), (7, 3), acts=("nodes", "others")),
        P,
        ("fixed",),
        {3: "last"},
        "torus",
    ),
    *pairs("clouds", "Masked", masked, P, ("fixed",), FL, "torus"),
    *pairs("clouds", "KeyPadding", partial(masked, hidden=True), P, ("fixed",), FL, "torus"),
    *pairs(
        "clouds",
        "ByKeyword",
        partial(of, 9, 5, act="nodes", form="mapping", names=("elements",)),
        P,
        ("fixed",),
        FL,
        "torus",
    ),
    *pairs(
        "clouds",
        "MaskedByKeyword",
        partial(masked, form="mapping", names=("tokens", "mask")),
        P,
        ("fixed",),
        FL,
        "torus",
    ),
    *pairs("clouds", "AnswersAsDataclass", partial(of, 9, 3, act="nodes"), P, ("fixed", "nodes"), FL, "torus"),
    *pairs("clouds", "AnswersAsNamedTuple", partial(of, 1, 9, 6), P, ("fixed", "nodes@1"), FL, "torus"),
    *pairs("clouds", "Duplicates", repeated, P, ("fixed",), {1: ""}, "digit-set-5", limit=1e-10),
    *pairs("tokens", "SequenceFirst", partial(of, 9, 1, 5, act="nodes"), P, ("nodes",), FL, "torus"),
    *pairs("tokens", "Perceiver", partial(of, 1, 9, 6), P, ("fixed",), {1: "first", 2: "middle middle#2"}, "torus"),
    *pairs("tokens", "Mixer", partial(of, 1, 10, 4), P, ("nodes@1",), {1: "token"}),
    *pairs(
        "tokens",
        "Bag",
        lambda: Given((torch.randint(0, 50, (1, 9), generator=torch.Generator().manual_seed(0)),), ("nodes@1",)),
        P,
        ("fixed",),
        {1: "", 3: "last"},
        "torus",
    ),
)
