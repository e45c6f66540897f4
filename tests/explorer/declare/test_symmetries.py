"""The elements that each named symmetry is tested with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from explorer.declare.groups import group
from explorer.declare.symmetries import Situation, find_symmetry, symmetries, typed_groups
from explorer.declare.telling.counting import number_of
from explorer.equivariance.check import common_step
from explorer.spaces.grid.elements.affine import Affine
from explorer.spaces.grid.fields import grid
from explorer.spaces.sequence.elements.time_map import TimeMap

SHAPE = (1, 1, 12, 16)


def elements(name: str, spacing: int = 1, seed: int = 0, **options: Any) -> dict[str, Affine]:
    size, boundary, count = (options.get(k, v) for k, v in (("size", (12, 16)), ("boundary", "circular"), ("count", 6)))
    situation = Situation(size, spacing, boundary, np.random.default_rng(seed), count)
    made = find_symmetry(name).elements(name, situation)
    assert len({label for label, _ in made}) == len(made), "two elements of one name"
    assert not any(element.identity for _, element in made)
    return {label: element for label, element in made if isinstance(element, Affine)}


@pytest.mark.parametrize("name", ["C1", "C2", "C3", "C4", "C8", "D1", "D4", "D6"])
def test_a_point_group_is_all_its_elements_but_the_identity(name: str) -> None:
    made, g = elements(name), group(name)
    assert list(made) == list(g.labels[1:])
    for index, element in enumerate(made.values(), 1):
        assert np.allclose(element.matrix, g.matrices[index]) and element.shift == (0.0, 0.0)
        whole = np.allclose(g.matrices[index] % 1, 0)
        assert element.exact(grid(), SHAPE) == whole


@pytest.mark.parametrize("boundary", ["circular", "zero"])
@pytest.mark.parametrize("spacing", [1, 2, 4])
def test_shifts_are_whole_on_the_coarsest_grid(spacing: int, boundary: str) -> None:
    made = elements("translation", spacing, boundary=boundary)
    assert len(made) == 6
    for label, element in made.items():
        assert element.boundary == boundary and element.exact(grid(spacing=spacing), SHAPE)
        right, down = (int(v) for v in label.removesuffix(" px").split(","))
        assert element.shift == (right, -down) and right % spacing == down % spacing == 0
        assert max(abs(right), abs(down)) <= max(spacing, 6)


@pytest.mark.parametrize("boundary", ["circular", "zero"])
def test_shifts_inside_bring_nothing_round_the_edge(boundary: str) -> None:
    made = elements("translation-inside", 1, boundary=boundary)
    assert made.keys() == elements("translation", 1).keys()
    assert all(element.boundary == "zero" for element in made.values())


def test_a_shift_once_round_the_circle_is_left_out() -> None:
    assert elements("translation", 8, size=(8, 8)) == {}
    assert all(int(label.split(",")[0]) % 16 for label in elements("translation", 8, size=(8, 16), count=99))
    few = elements("translation", 4, size=(8, 8), count=99)
    assert 0 < len(few) <= 8  # as many as there are, not as many as were asked for


@pytest.mark.parametrize("name", ["SO2", "O2"])
def test_any_angle_is_resampled(name: str) -> None:
    made = elements(name, count=8)
    assert len(made) == 8 and not any(e.exact(grid(), SHAPE) for e in made.values())
    mirrored = [bool(np.linalg.det(e.matrix) < 0) for e in made.values()]
    assert any(mirrored) == (name == "O2") and [label.startswith("m ") for label in made] == mirrored
    assert all(np.allclose(e.matrix @ e.matrix.T, np.eye(2)) for e in made.values())
    assert list(elements(name, seed=1)) != list(elements(name, seed=2))


def test_the_step_that_all_grids_share() -> None:
    assert common_step([]) == common_step([1.0, 0.5, math.inf]) == 1
    assert common_step([1.0, 2.0, 4.0]) == 4 and common_step([2.0, 3.0]) == 6
    assert common_step([1.5]) == 3 and common_step([0.75, 2.0]) == 6


def delays(steps: int, count: int = 6, seed: int = 0) -> dict[str, TimeMap]:
    situation = Situation((steps, 1), 1, "zero", np.random.default_rng(seed), count)
    made = find_symmetry("shift").elements("shift", situation)
    assert len({label for label, _ in made}) == len(made), "two elements of one name"
    assert not any(element.identity for _, element in made)
    return {label: element for label, element in made if isinstance(element, TimeMap)}


@pytest.mark.parametrize("steps", [2, 3, 5, 64, 1000])
def test_a_delay_is_whole_pads_with_zeros_and_leaves_something_to_compare(steps: int) -> None:
    made = delays(steps, seed=steps)
    assert "+1 step" in made and ("+2 steps" in made) == (steps > 2)
    assert 1 <= len(made) <= 6 and (steps < 1000 or len(made) == 6)
    for label, element in made.items():
        assert element.boundary == "zero" and element.moves and not element.backwards and not element.complement
        assert label == f"+{number_of(int(element.shift), 'step')}" and 1 <= element.shift < steps
        assert element.shift <= max(2, steps // 2), "half of the steps stay within sight"


def test_one_step_has_nowhere_to_go() -> None:
    assert delays(1) == {}


@pytest.mark.parametrize(("name", "complement"), [("reversal", False), ("reverse-complement", True)])
def test_there_is_one_way_backwards(name: str, complement: bool) -> None:
    situation = Situation((9, 1), 1, "zero", np.random.default_rng(0), 6)
    assert find_symmetry(name).elements(name, situation) == [(name, TimeMap(backwards=True, complement=complement))]


def test_names() -> None:
    of_time = {"shift", "circular-shift", "reversal", "reverse-complement"}
    on_meshes = {"gauge", "SE3", "E3", "isometry"}
    on_points = {"SO3 on points", "O3 on points", "SE3 on points", "E3 on points", "shifts of points", "similarity"}
    on_grids = {"C4", "D4", "translation", "translation-inside", "SO2", "O2"}
    of_cubes = {"O", "Oh", "Z3", "Z3-inside", "sphere-SO3", "volume-SO3"}
    assert set(symmetries()) == {"permutation"} | on_grids | of_time | on_meshes | on_points | of_cubes
    assert {name for name, symmetry in symmetries().items() if symmetry.domains == ("sequence",)} == of_time
    assert all(find_symmetry(name) is symmetries()[name] for name in of_time)
    typed = typed_groups()
    assert all(find_symmetry(name).title for name in typed), "what is listed can be typed"
    assert {"SO3", "O3", "SE3", "E3", "R3", "similarity", "C4"} <= {*typed} and "E3 on points" not in typed
    assert [*typed_groups(["sequence"])] == [n for n, s in symmetries().items() if s.domains == ("sequence",)]
    assert find_symmetry("C16") is find_symmetry("C4") and find_symmetry("D7") is find_symmetry("D4")
    with pytest.raises(ValueError, match=r"unknown group 'translations'; known are .*; did you mean 'translation'\?"):
        find_symmetry("translations")
