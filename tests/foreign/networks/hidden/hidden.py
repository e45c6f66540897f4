"""Networks with a fault that the usual data, steps or elements may hide, opened from their files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from tests.foreign.case import Case, Given, drawn, pair
from tests.foreign.networks.on_graphs.graphs import edges
from tests.foreign.their_files import built

THEIRS = Path(__file__).parent / "theirs"
FIXED, GRID, NODES = ("fixed",), ("grid",), ("nodes",)


def both(
    file: str, name: str, given: Any, group: str, out: tuple[str, ...], culprit: str, called: bool = False, **more: Any
) -> list[Case]:
    """Return a sound network and its twin as `check` opens them, or as they are `called` in Python."""
    more = {"hooks": False, **more}
    make = [partial(built, THEIRS, file, name, fault) for fault in (0, 1)]
    found = pair(name, make[0], make[1], culprit.split(), given, out, group, **more)
    if called:
        twins = [f"{case.twin}, called" if case.twin else "" for case in found]
        return [replace(c, name=f"{c.name}, called", twin=t) for c, t in zip(found, twins, strict=True)]
    return [replace(case, door=f"{THEIRS / file}.py:{name}(fault={k})") for k, case in enumerate(found)]


def picture(channels=1, side=16, step=1):
    return Given((drawn(1, channels, side, side),), GRID, step=step)


def video(channels):
    return Given((drawn(1, 5, channels, 12, 12),), GRID)


def steps(channels, layout):
    x = drawn(1, 40, channels)
    return Given((x if layout == "NTC" else x.transpose(1, 2).contiguous(),), (f"steps@{layout.index('T')}",),
                 layout=layout)  # fmt: skip


def ids(most, act="steps@1"):
    return Given((torch.randint(1, most, (1, 60), generator=torch.Generator().manual_seed(3)),), (act,))


def members(*shape):
    return Given((drawn(*shape),), ("nodes@1" if len(shape) == 3 else "nodes",))


def listed(channels, attributes=0):
    found = (drawn(9, channels), edges(9, 20), *((drawn(20, attributes, seed=1),) if attributes else ()))
    return Given(found, ("nodes", "index", "edges")[: len(found)])


def dense(channels=0):
    matrix = drawn(9, 9, seed=5).abs()
    return Given(
        ((drawn(9, channels),) if channels else ()) + (matrix + matrix.t(),), ("nodes", "pairs")[not channels :]
    )


def points(*names):
    of = {
        "h": (lambda c: drawn(7, c), "fixed"),
        "z": (lambda _: torch.tensor([6, 1, 1, 8, 7, 6, 1]), "fixed"),
        "pos": (lambda _: drawn(7, 3, seed=1), "places@1"),
        "charges": (lambda _: drawn(7, 1, seed=2), "fixed"),
    }
    made = [(name, *of[name]) for name in (n.rstrip("0123456789") for n in names)]
    wide = [int(n[len(name) :] or 1) for n, (name, *_) in zip(names, made, strict=True)]
    return Given(tuple(make(c) for c, (_, make, _) in zip(wide, made, strict=True)), tuple(act for *_, act in made),
                 form="mapping", names=tuple(name for name, *_ in made))  # fmt: skip


def solid(channels):
    return Given((drawn(1, channels, 8, 8, 8),), ("volume",))


pictures, graphs, sets = partial(both, "pictures"), partial(both, "graphs"), partial(both, "sets")
space, series = partial(both, "space"), partial(both, "series")
T, P = "translation", "permutation"
CASES = (
    *pictures("UNetPos", partial(picture, 3, step=2), T, GRID, "mid.0"),
    *pictures("NonLocal", picture, T, GRID, ""),
    *pictures("SEHalf", partial(picture, 3), T, GRID, "se2"),
    *pictures("Spectral", picture, T, GRID, "proj"),
    # whose pooling to 2 x 2 places keeps the law of shifts by half an image
    *pictures("ASPP", partial(picture, 3), T, ("grid", "grid"), ""),
    *pictures("AttnPool", partial(picture, 3), T, FIXED, "fc"),
    *pictures("HaarNet", partial(picture, step=2), T, GRID, "mix"),
    *pictures("DepthwiseNeXt", partial(picture, 3, step=4), T, ("grid@4",), "output"),
    *pictures("Quantized", partial(picture, 3), T, (*FIXED, *GRID, *FIXED), "output[0]"),
    *pictures("Viewed", partial(picture, 3), "D4", FIXED, ""),
    *both("videos", "FrameCNN", partial(video, 3), T, FIXED, "conv2"),
    *both(
        "videos", "VideoConvLSTM", partial(video, 1), T, GRID, "gates " + " ".join(f"gates#{k}" for k in range(2, 7))
    ),
    *series("Autoformer", partial(steps, 3, "NTC"), "circular-shift", ("steps@1",), "out"),
    *series("GatedTCN", partial(steps, 1, "NCT"), "shift", ("steps@2",), "filters.2", inside=8),
    *series("Longformer", partial(steps, 5, "NTC"), "shift", ("steps@1",), "near.1", inside=6),
    *series("CharCNN", partial(ids, 26), "circular-shift", FIXED, "fc"),
    # what it sees of numbers that are looked up no layer tells, and no padding is known of them
    *series("WaveNetish", partial(ids, 32), "shift", ("steps@2",), "f.3 g.3", inside=23),
    *series("LinearAttention", partial(members, 1, 9, 5), P, ("nodes@1",), "o"),
    *series("MaskedEncoder", partial(ids, 20), P, FIXED, "t.layers.0.self_attn"),
    *sets("Sinkhorn", partial(members, 9, 4), P, NODES, "g"),
    *sets("KMeans", partial(members, 1, 9, 3), P, FIXED, ""),
    *sets("TopK", partial(members, 1, 9, 4), P, ("nodes@1",), "attention"),
    # which reads the diagonal, of which there is nothing in a graph without loops
    *sets("Equivariant2", dense, P, ("pairs",), "out"),
    *sets("Equivariant2", dense, P, ("pairs",), "out", called=True),
    *sets("NormSet", partial(members, 1, 9, 3), P, ("nodes@1",), "l2"),
    *graphs("GINOrder", partial(listed, 7), P, NODES, "m2.0"),
    *graphs("DiffPool", partial(dense, 5), P, FIXED, ""),
    *graphs("Cheb", partial(listed, 6), P, NODES, "w.1"),
    *graphs("GlobalState", partial(listed, 4, 3), P, ("nodes", "edges", "fixed"), "start"),
    *graphs("EdgeScores", partial(listed, 4), P, ("edges",), "mlp.0"),
    *graphs("GraphU", partial(dense, 4), P, NODES, ""),
    *space("EGNNVel", partial(points, "h5", "pos"), "E3", ("fixed", "places@1"), "output"),
    *space("FrameMean", partial(points, "pos"), "E3", FIXED, "f.0"),
    *space("Angles", partial(points, "z", "pos"), "E3", FIXED, "a"),
    *space("GVP", partial(points, "h3", "pos"), "E3", ("fixed", "arrows@1"), "wv"),
    *space("NBody", partial(points, "pos", "charges"), "E3", ("arrows@1",), "output"),
    *space("Voxels", partial(solid, 2), "Z3", ("volume",), "b"),
)
