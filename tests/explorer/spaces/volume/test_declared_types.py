"""Layers on volumes that declare the types of their channels, as escnn's in space do, are taken at their word."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.declare.elements import NoAction
from explorer.declare.types.fields import FieldType, Scalar
from explorer.equivariance.check import check_equivariance
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.declared import DeclaredFibre, rep_of
from explorer.spaces.volume.elements.cube_map import CubeMap, linear
from explorer.spaces.volume.fields import Orientations, Vector, Voxels

CUBE = cube_group("O")
DOWN = np.diag([1.0, 1.0, -1.0])  # escnn counts slices downwards


@dataclass(frozen=True)
class Part:
    """The attributes of escnn's representations that are read."""

    name: str
    size: int

    def __call__(self, k: int) -> Any:
        match self.name:
            case "vector":
                return DOWN @ CUBE.matrices[k] @ DOWN
            case "backwards":
                return np.kron(np.eye(1), np.eye(24)[CUBE.regular_permutation(k)][::-1, ::-1])
            case "regular":
                return np.eye(24)[CUBE.regular_permutation(k)]
        return np.eye(1)


SIZES = {"trivial": 1, "vector": 3, "regular": 24, "backwards": 24}
PARTS = {name: Part(name, size) for name, size in SIZES.items()}
ACTING = SimpleNamespace(name="O", elements=list(range(24)), continuous=False)
SPACE = SimpleNamespace(fibergroup=ACTING, dimensionality=3, basespace_action=lambda k: DOWN @ CUBE.matrices[k] @ DOWN)


@dataclass(frozen=True)
class Type:
    """The attributes of escnn's FieldType that are read."""

    names: tuple[str, ...]

    @property
    def gspace(self) -> Any:
        return SPACE

    @property
    def representations(self) -> list[Part]:
        return [PARTS[name] for name in self.names]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.representations)

    def representation(self, k: int) -> Any:
        raise AssertionError("its parts say it")


class Gradient(nn.Module):
    """Central differences along (x, y, -z); `sign` of the last one mirrors it."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.out_type, self.sign = Type(("vector",)), sign

    def forward(self, v: Tensor) -> Tensor:
        along = [v.roll(-1, -1) - v.roll(1, -1), v.roll(1, -2) - v.roll(-1, -2), v.roll(1, -3) - v.roll(-1, -3)]
        return torch.cat([*along[:2], self.sign * along[2]], 1)


class Whole(nn.Module):
    def __init__(self, sign: float) -> None:
        super().__init__()
        self.gradient = Gradient(sign)

    def forward(self, v: Tensor) -> Tensor:
        return self.gradient(v).square().sum(1, keepdim=True)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_declared_vector_is_measured_as_one(sign: float) -> None:
    report = check_equivariance(Whole(sign), (2, 1, 7, 7, 7), "O")
    row = report["gradient"]
    assert row.field == "voxel declared(1 vector)" and not row.guessed
    assert report.verdict == ("holds" if sign > 0 else "broken")
    assert (row.local_max or 0.0) < 1e-12 if sign > 0 else report.guilty == ("gradient",)


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (("trivial", "trivial"), Scalar),
        (("regular", "regular"), Orientations),
        (("backwards",), DeclaredFibre),
        (("vector", "vector", "trivial"), DeclaredFibre),
    ],
)
def test_a_declared_type_acts_as_its_parts_do(names: tuple[str, ...], wanted: type) -> None:
    declared = Type(names)
    rep = rep_of(declared, declared.size)
    assert type(rep) is wanted and rep_of(declared, declared.size + 1) is None
    values = torch.randn(2, declared.size, 3, 3, 3, dtype=torch.float64)
    for k in (1, 5, 17):
        turn = CUBE.matrices[k]
        found = CubeMap(linear(turn)).act(values, FieldType(Voxels(), rep))  # type: ignore[arg-type]
        mix = torch.block_diag(*(torch.tensor(PARTS[name](k)) for name in names))
        moved = CubeMap(linear(turn)).act(values, FieldType(Voxels()))
        assert torch.allclose(found, torch.einsum("rs,bszyx->brzyx", mix.double(), moved))


def test_a_vector_of_ours_has_its_last_axis_along_the_slices() -> None:
    upward = SimpleNamespace(
        gspace=SPACE, size=3, representations=[SimpleNamespace(name="own")], representation=lambda k: CUBE.matrices[k]
    )
    assert isinstance(rep_of(upward, 3), Vector)


def test_a_mirror_outside_of_the_declared_group_has_no_action() -> None:
    field = FieldType(Voxels(), rep_of(Type(("vector",)), 3))  # type: ignore[arg-type]
    mirror = CubeMap(linear(-np.eye(3)))
    assert not mirror.exact(field, (1, 3, 5, 5, 5))
    with pytest.raises(NoAction, match="not in its group"):
        mirror.act(torch.zeros(1, 3, 5, 5, 5), field)


@pytest.mark.filterwarnings("ignore")
def test_escnn_in_space_itself() -> None:
    gspaces, enn = pytest.importorskip("escnn.gspaces"), pytest.importorskip("escnn.nn")
    space = gspaces.octaOnR3()
    kinds = [enn.FieldType(space, reps) for reps in ([space.trivial_repr], [space.irrep(1), space.trivial_repr])]
    values = torch.randn(1, kinds[1].size, 5, 5, 5)
    for element in list(space.testing_elements)[1:6]:
        turn = DOWN @ space.basespace_action(element) @ DOWN
        field = FieldType(Voxels(), rep_of(kinds[1], kinds[1].size))  # type: ignore[arg-type]
        ours = CubeMap(linear(turn)).act(values, field)
        assert torch.allclose(ours, kinds[1](values).transform(element).tensor, atol=1e-5)
