"""The shipped bodies: capsules along a skeleton, united smoothly, polygonised, evened out and bent at the joints.

`python -m explorer.spaces.mesh.samples.body_shape` makes them again (a minute); nothing else imports this file. The
surface is the zero set of f(p) = -log(sum of exp(-B d_c(p))) / B over the distances d_c to the capsules. Weights of the
bones come from heat (I. Baran, J. Popović, Automatic Rigging and Animation of 3D Characters, 2007, section 4), bending
from dual quaternions (L. Kavan, S. Collins, J. Žára, C. O'Sullivan, Geometric Skinning with Approximate Dual Quaternion
Blending, 2008, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.work.files.places import RESOURCES

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Capsule = tuple[Floats, Floats, float, float]  # from, to, the radius at either end

FOLDER = RESOURCES / "samples" / "meshes"
UNIT = 1e-4  # metres: positions are kept as whole multiples of it
BLEND = 70.0  # 1/m: how sharply the capsules are united
CELL = 0.011  # metres, of the grid on which the surface is found
LABELS = ("head", "torso", "upper arm", "lower arm", "hand", "upper leg", "lower leg", "foot")
SIDES = ("middle", "left", "right")
POSES = ("standing", "walking", "raised", "sitting")


@dataclass(frozen=True, slots=True)
class Build:
    """The proportions of a body: factors on lengths and on thickness, the seed of the noise, the number of faces."""

    name: str
    leg: float = 1.0
    arm: float = 1.0
    trunk: float = 1.0
    wide: float = 1.0
    thick: float = 1.0
    head: float = 1.0
    faces: int = 5000


BUILDS = (Build("body"), Build("body-tall", leg=1.22, arm=1.2, trunk=1.08, wide=1.1, thick=0.84, head=0.9, faces=4600))


@dataclass(frozen=True, slots=True)
class Bone:
    """A rigid part: its parent, the joint at which it hangs, its capsules, its class."""

    parent: int
    joint: Floats
    capsules: tuple[Capsule, ...]
    label: int
    side: int


def skeleton(build: Build) -> dict[str, Bone]:
    """Return the bones by name in a pose with the arms held off; x to the body's right, y ahead, z up, metres."""

    def at(x: float, y: float, z: float) -> Floats:
        return np.array([x, y, z])

    t, w = build.thick, build.wide
    hip, waist, chest = 0.90 * build.leg, 0.90 * build.leg + 0.16 * build.trunk, 0.90 * build.leg + 0.46 * build.trunk
    neck = chest + 0.08 * build.trunk
    skull = neck + 0.13 * build.head

    def column(low: float, high: float, x: float, y: float, r: float, s: float) -> Capsule:
        return at(x * w, 0, low), at(y * w, 0, high), r * t, s * t

    bones = {
        "pelvis": Bone(
            -1, at(0, 0, hip), tuple(column(hip, waist, x, 0.8 * x, 0.1, 0.088) for x in (-0.08, 0, 0.08)), 1, 0
        ),
        "chest": Bone(
            0, at(0, 0, waist),
            (
                *(column(waist, chest - 0.03, x, 1.35 * x, 0.088, 0.09) for x in (-0.065, 0, 0.065)),
                (at(-0.15 * w, 0, chest), at(0.15 * w, 0, chest), 0.065 * t, 0.065 * t),
            ),
            1, 0,
        ),
        "head": Bone(
            1, at(0, 0, neck),
            (
                (at(0, 0, chest), at(0, 0.01, skull), 0.055 * t, 0.05 * t),
                (at(0, 0.01, skull), at(0, 0.015, skull + 0.075 * build.head), 0.088 * build.head, 0.098 * build.head),
                (at(0, 0.09 * build.head, skull + 0.02), at(0, 0.11 * build.head, skull + 0.02), 0.012, 0.012),
            ),
            0, 0,
        ),
    }  # fmt: skip
    for side, sign in ((1, -1.0), (2, 1.0)):
        out = np.array([sign * np.sin(0.55), 0, -np.cos(0.55)])
        shoulder = at(sign * 0.19 * w, 0, chest - 0.005)
        elbow = shoulder + 0.29 * build.arm * out
        wrist = elbow + 0.25 * build.arm * out + at(0, 0.02, 0)
        tip, thumb = wrist + 0.13 * build.arm * out, wrist + 0.075 * out + at(-sign * 0.01, 0.062, 0.02)
        thigh = at(sign * 0.09 * w, 0, hip - 0.01)
        knee = at(sign * 0.115 * w, 0.01, 0.50 * build.leg)
        ankle, toe = at(sign * 0.125 * w, -0.01, 0.085), at(sign * 0.15 * w, 0.17, 0.035)
        first = len(bones)
        for name, parent, joint, end, r, s, label in (
            ("arm", 1, shoulder, elbow, 0.056, 0.043, 2),
            ("forearm", first, elbow, wrist, 0.043, 0.03, 3),
            ("hand", first + 1, wrist, tip, 0.032, 0.03, 4),
            ("thigh", 0, thigh, knee, 0.088, 0.058, 5),
            ("shank", first + 3, knee, ankle, 0.058, 0.04, 6),
            ("foot", first + 4, ankle, toe, 0.043, 0.035, 7),
        ):
            capsules: tuple[Capsule, ...] = ((joint, end, r * t, s * t),)
            if name == "hand":
                capsules += ((wrist + 0.03 * out, thumb, 0.018, 0.016),)
            if name == "foot":
                capsules += ((at(sign * 0.125 * w, -0.035, 0.045), toe, 0.043, 0.035),)
            bones[f"{name} {SIDES[side]}"] = Bone(parent, joint, capsules, label, side)
    return bones


def capsule_distances(bones: dict[str, Bone], p: Floats) -> tuple[Floats, Index]:
    """Return (capsules, P) signed distances, tapered linearly along each axis, and (capsules,) the bones."""
    rows, owner = [], []
    for k, bone in enumerate(bones.values()):
        for a, b, r, s in bone.capsules:
            share = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            rows.append(np.linalg.norm(p - a - share[:, None] * (b - a), axis=1) - (r + (s - r) * share))
            owner.append(k)
    return np.stack(rows), np.array(owner)


def inside(bones: dict[str, Bone], p: Floats) -> Floats:
    """Return (P,) f, negative inside of the body."""
    d, _ = capsule_distances(bones, p)
    least = d.min(0)
    return np.asarray(least - np.log(np.exp(-BLEND * (d - least)).sum(0)) / BLEND)


def projected(bones: dict[str, Bone], p: Floats) -> Floats:
    """Return the points after two Newton steps towards f = 0."""
    step = 1e-5 * np.eye(3)
    for _ in range(2):
        gradient = np.stack([inside(bones, p + e) - inside(bones, p - e) for e in step], 1) / 2e-5
        p = p - (inside(bones, p) / (gradient**2).sum(1))[:, None] * gradient
    return p


def flipped(vertices: Floats, faces: Index) -> Index:
    """Flip every edge once whose opposite angles add up to more than 180 degrees, none beside another."""
    at: dict[tuple[int, int], int] = {}
    for f, (a, b, c) in enumerate(faces.tolist()):
        at |= {(a, b): 3 * f, (b, c): 3 * f + 1, (c, a): 3 * f + 2}
    faces = faces.copy()
    touched: set[int] = set()
    for (a, b), side in sorted(at.items()):
        other = at[b, a]
        f, g = side // 3, other // 3
        c, d = int(faces[f, (side + 2) % 3]), int(faces[g, (other + 2) % 3])
        if a > b or touched & {f, g} or (c, d) in at or (d, c) in at:
            continue
        angles = 0.0
        for apex in (c, d):
            u, v = vertices[a] - vertices[apex], vertices[b] - vertices[apex]
            angles += float(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v))
        if angles > np.pi + 1e-6:
            touched |= {f, g}
            faces[f], faces[g] = (a, d, c), (d, b, c)
            at[c, d] = at[d, c] = -1
    return faces


def surface(build: Build) -> tuple[Floats, Index]:
    """Return the body's vertices and faces, evened out on the surface."""
    import igl

    bones = skeleton(build)
    ends = np.concatenate([np.stack(c[:2]) for bone in bones.values() for c in bone.capsules])
    axes = [np.arange(low - 0.16, high + 0.16, CELL) for low, high in zip(ends.min(0), ends.max(0))]
    z, y, x = np.meshgrid(*reversed(axes), indexing="ij")
    grid = np.stack([x.ravel(), y.ravel(), z.ravel()], 1)
    f = np.concatenate([inside(bones, part) for part in np.array_split(grid, 40)])
    vertices, faces, _ = igl.marching_cubes(f, grid, len(axes[0]), len(axes[1]), len(axes[2]), 0.0)
    vertices, faces, *_ = igl.decimate(vertices, faces.astype(np.int32), build.faces)
    faces = np.ascontiguousarray(faces, np.int64)
    vertices = projected(bones, np.ascontiguousarray(vertices))
    for _ in range(60):
        faces = flipped(vertices, faces)
        middle, weight = np.zeros_like(vertices), np.zeros(len(vertices))
        centre = vertices[faces].mean(1)
        along, across = (vertices[faces[:, k]] - vertices[faces[:, 0]] for k in (1, 2))
        area = np.linalg.norm(np.cross(along, across), axis=1)
        for k in range(3):
            np.add.at(middle, faces[:, k], area[:, None] * centre)
            np.add.at(weight, faces[:, k], area)
        vertices = projected(bones, vertices + 0.7 * (middle / weight[:, None] - vertices))
    volume = np.einsum("fi,fi->f", vertices[faces[:, 0]], np.cross(vertices[faces[:, 1]], vertices[faces[:, 2]])).sum()
    return vertices, faces if volume > 0 else faces[:, ::-1].copy()


def weights(bones: dict[str, Bone], vertices: Floats, faces: Index) -> Floats:
    """Return (V, bones): (-L + M H) w = M H p with H = 1 / d^2, p = 1 at the nearest bone."""
    import igl
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import spsolve

    d, owner = capsule_distances(bones, vertices)
    nearest = owner[d.argmin(0)]
    axis = np.stack([_to_axis(bone, vertices) for bone in bones.values()])[nearest, np.arange(len(vertices))]
    heat = igl.massmatrix(vertices, faces, 1).diagonal() / axis**2
    system = diags_array(heat) - igl.cotmatrix(vertices, faces)
    found = spsolve(system.tocsc(), heat[:, None] * np.eye(len(bones))[nearest])
    found = np.clip(found, 0, None)
    return np.asarray(found / found.sum(1, keepdims=True))


def _to_axis(bone: Bone, p: Floats) -> Floats:
    found = []
    for a, b, *_ in bone.capsules:
        share = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        found.append(np.linalg.norm(p - a - share[:, None] * (b - a), axis=1))
    return np.asarray(np.min(found, 0))


def turns(pose: str) -> Mapping[str, Sequence[float]]:
    """Return the turn of each bone against its parent as a rotation vector in degrees, about the body's axes."""
    if pose == "walking":
        return {
            "thigh left": (28, 0, 0), "shank left": (-12, 0, 0), "foot left": (8, 0, 0), "thigh right": (-18, 0, 0),
            "shank right": (-28, 0, 0), "foot right": (-12, 0, 0), "arm left": (-26, -12, 0), "arm right": (26, 12, 0),
            "forearm left": (20, 0, 0), "forearm right": (30, 0, 0), "chest": (0, 0, 6), "head": (0, 0, -6),
        }  # fmt: skip
    if pose == "raised":
        return {"arm left": (0, 95, 0), "arm right": (0, -95, 0), "forearm left": (0, 15, 0),
                "forearm right": (0, -15, 0), "head": (8, 0, 0)}  # fmt: skip
    if pose == "sitting":
        both = {"thigh": (82, 0, 0), "shank": (-82, 0, 0), "forearm": (50, 0, 0)}
        return {f"{bone} {side}": turn for bone, turn in both.items() for side in SIDES[1:]} | {
            "arm left": (25, -14, 0), "arm right": (25, 14, 0), "head": (-5, 0, 0),
        }  # fmt: skip
    return {}


def _product(a: Floats, b: Floats) -> Floats:
    """Multiply quaternions (..., 4), real part first."""
    real = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(-1, keepdims=True)
    return np.concatenate(
        [real, a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])], -1
    )


def posed(bones: dict[str, Bone], vertices: Floats, weight: Floats, pose: str) -> Floats:
    """Return the vertices after the bones have turned, blended as unit dual quaternions; the feet on the ground."""
    turn = turns(pose)
    real, dual = np.zeros((2, len(bones), 4))
    for k, (name, bone) in enumerate(bones.items()):
        vector = np.radians(turn.get(name, (0.0, 0.0, 0.0)))
        angle = float(np.linalg.norm(vector))
        q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * vector / (angle or 1.0))])
        # about the joint: p -> q p q* + joint - q joint q*
        here = np.array([0.0, *bone.joint])
        shift = here - _product(_product(q, here), q * [1, -1, -1, -1])
        e = 0.5 * _product(shift, q)
        if bone.parent >= 0:
            up, over = real[bone.parent], dual[bone.parent]
            q, e = _product(up, q), _product(up, e) + _product(over, q)
        real[k], dual[k] = q, e
    sign = np.sign(real @ real.T)[np.argmax(weight, 1)]
    q, e = (weight * sign) @ real, (weight * sign) @ dual
    length = np.linalg.norm(q, axis=1, keepdims=True)
    q, e = q / length, e / length
    back = q * [1, -1, -1, -1]
    moved = _product(_product(q, np.pad(vertices, ((0, 0), (1, 0)))), back)[:, 1:] + 2 * _product(e, back)[:, 1:]
    return np.asarray(moved - [0, 0, moved[:, 2].min()])


def smallest_first(vertices: Floats, faces: Index) -> tuple[Index, Index]:
    """Number the vertices from the feet upwards, so that neighbours have similar numbers; return order and faces."""
    order = np.argsort(vertices[:, 2], kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    faces = number[faces]
    return order, faces[np.argsort(faces.min(1), kind="stable")]


def make(build: Build) -> dict[str, Any]:
    """Return the arrays of one body's file."""
    bones = skeleton(build)
    vertices, faces = surface(build)
    order, faces = smallest_first(vertices, faces)
    vertices = vertices[order]
    weight = weights(bones, vertices, faces)
    part = weight.argmax(1)
    arrays: dict[str, Any] = {
        pose: np.round(posed(bones, vertices, weight, pose) / UNIT).astype(np.int16) for pose in POSES
    }
    arrays["faces"] = faces.astype(np.int16)
    arrays["label"] = np.array([bone.label for bone in bones.values()], np.int8)[part]
    arrays["side"] = np.array([bone.side for bone in bones.values()], np.int8)[part]
    return arrays


def write_bodies(folder: Path = FOLDER) -> None:
    """Make the shipped files."""
    folder.mkdir(exist_ok=True)
    for build in BUILDS:
        np.savez_compressed(folder / f"{build.name}.npz", **make(build))


if __name__ == "__main__":
    write_bodies()
