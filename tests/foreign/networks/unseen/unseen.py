"""Networks on every kind of data with a fault in the middle, opened from their files; some are called in Python too."""

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
    """Return a sound network and its twin as `check` opens them, and as they are `called` in Python."""
    more = {"hooks": False, **more}
    make = [partial(built, THEIRS, file, name, fault) for fault in (0, 1)]
    found = pair(name, make[0], make[1], culprit.split(), given, out, group, **more)
    opened = [
        replace(case, name=f"{case.name}, from a file", door=f"{THEIRS / file}.py:{name}(fault={k})",
                twin=case.twin and f"{case.twin}, from a file")
        for k, case in enumerate(found)
    ]  # fmt: skip
    return [*found, *opened] if called else opened


def picture(channels=1, side=15):
    return Given((drawn(2, channels, side, side),), GRID)


def two_pictures():
    return Given((drawn(1, 3, 12, 12), drawn(1, 3, 12, 12, seed=1)), ("grid", "grid"), form="mapping",
                 names=("first", "second"))  # fmt: skip


def listed(channels=4, attributes=0):
    found = (drawn(9, channels), edges(9, 20), *((drawn(20, attributes, seed=1),) if attributes else ()))
    return Given(found, ("nodes", "index", "edges")[: len(found)])


def members(*shape, name=""):
    act = "nodes@1" if len(shape) == 3 else "nodes"
    return Given((drawn(*shape),), (act,), form="mapping" if name else "call", names=(name,) if name else ())


def points(*names):
    of = {
        "x": (drawn(7, 4), "fixed"),
        "h": (drawn(7, 4), "fixed"),
        "z": (torch.tensor([6, 1, 1, 8, 7, 6, 1]), "fixed"),
        "pos": (drawn(7, 3, seed=1), "places@1"),
        "coords": (drawn(7, 3, seed=1), "places@1"),
    }
    return Given(tuple(of[n][0] for n in names), tuple(of[n][1] for n in names), form="mapping", names=names)


def steps(channels=2, layout="NCT", many=40):
    x = drawn(1, many, channels)
    return Given((x if layout == "NTC" else x.transpose(1, 2).contiguous(),), (f"steps@{layout.index('T')}",),
                 layout=layout)  # fmt: skip


def waves():
    return replace(steps(1, "NCT", 64), step=4)


def solid():
    return Given((drawn(1, 1, 8, 8, 8),), ("volume",))


def body():
    at = drawn(6, 3, seed=4)
    faces = torch.tensor([[0, 1, 2], [0, 2, 3], [0, 3, 4], [1, 5, 2], [2, 5, 3], [3, 5, 4]])
    return Given((at, faces), ("places@1", "fixed"), form="mapping", names=("verts", "faces"))


pictures, graphs, sets = partial(both, "pictures"), partial(both, "graphs"), partial(both, "sets")
space, series, solids = partial(both, "space"), partial(both, "series"), partial(both, "solids")
T, P = "translation", "permutation"
CASES = (
    *pictures("HNet", picture, "D4", FIXED, "two"),
    # whose angles are places that no shape tells
    *pictures("PolarNet", picture, "C4", FIXED, "", called=True),
    *pictures("DeformNet", partial(picture, 3), T, GRID, "d2"),
    *pictures("FlowNet", two_pictures, T, ("grid", "grid"), "corr"),
    *pictures("Scattering", partial(picture, 1, 16), T, ("fixed", "grid"), "order2"),
    *pictures("Denoiser", picture, T, GRID, "body.1"),
    *pictures("StripNet", picture, "D4", GRID, "s2"),
    *pictures("P4MNet", picture, "D4", FIXED, "g2"),
    *graphs("LineGraph", partial(listed, 5), P, NODES, "l2"),
    *graphs("GGNN", partial(listed, 4, 2), P, ("fixed", "nodes"), "steps.1"),
    # blocks that are given both ends of edges apart
    *graphs("EdgeTransformer", partial(listed, 6, 3), P, ("nodes", "edges"), "b2", called=True),
    *graphs("GlobalNet", partial(listed, 5), P, FIXED, "layers.1"),
    *graphs("DirGNN", listed, P, ("edges",), "conv2"),
    *graphs("Hierarchy", listed, P, FIXED, ""),
    *graphs("APPNP", partial(listed, 7), P, NODES, "walk1"),
    *sets("Janossy", partial(members, 1, 9, 3), P, FIXED, "p2"),
    *sets("MomentNet", partial(members, 1, 9, 4, name="elements"), P, ("nodes@1", "fixed"), "m2"),
    # in whose soft order a recurrent layer reads what is no field of members
    *sets("Ordered", partial(members, 9, 3), P, FIXED, "sort", called=True),
    *sets("RepSet", partial(members, 1, 9, 6), P, FIXED, "hidden"),
    *space("KnnNet", partial(points, "x", "pos"), "E3", FIXED, "n2"),
    *space("ClofNet", partial(points, "h", "pos"), "SE3", ("fixed", "places@1"), "f2"),
    *space("Chain", partial(points, "coords"), "E3", FIXED, ""),
    # whose second answer is one vector alone
    *space("TorchMD", partial(points, "z", "pos"), "E3", ("fixed", "arrows@0"), "layers.1 layers.1.u"),
    *series("Hyena", steps, "shift", ("steps@2",), "b2.long"),
    *series("RotaryNet", partial(steps, 3, "NTC"), "shift", ("steps@1",), "a2", inside=15),
    *series("QRNN", steps, "shift", ("steps@2",), "q2"),
    *series("DecayNet", partial(steps, 3, "NTC"), "shift", ("steps@1",), "d2"),
    *series("Reversible", steps, "reversal", ("fixed", "steps@2"), "m2"),
    *series("Codec", waves, "shift", ("steps@2",), "q.1", inside=20),
    *solids("StructureNet", solid, "O", FIXED, "t2"),
    *solids("FNO3", solid, "Z3", ("volume",), "s2"),
    *solids("MeshNet", body, "E3", FIXED * 2, "b2"),
)
