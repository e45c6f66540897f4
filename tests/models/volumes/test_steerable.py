"""3D steerable CNN: its kernel against e3nn's, its law under the cube's symmetries, its drift between them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.ndimage import map_coordinates
from scipy.spatial.transform import Rotation
from torch import Tensor

import models
from explorer.data.finding import find_sample, fitted
from explorer.declare.elements import parse_chain, transforms
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.declare.types.field_text import parse_field
from explorer.equivariance.check import check_equivariance
from explorer.network.input.inputs import inputs_from
from explorer.spaces.points.fields import irreps
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.cube_map import CubeMap, linear
from explorer.spaces.volume.elements.volume_turn import VolumeTurn, volume_turn
from explorer.spaces.volume.fields import Pseudoscalar, Vector, voxel
from models.layers.convolution.steerable_volumes import SteerableConv3d, VoxelGate, shells
from models.volumes.steerable_cnn import BrokenGate
from tests.models.volumes.by_coordinates import moved

CARDS = {name: card for name, card in scan(models, "CARD").items() if "steerable" in name}
EXACT, CPU = 1e-9, torch.device("cpu")


def small(name: str, side: int = 13) -> Inputs:
    x = torch.from_numpy(find_sample("phantom-3d").x.values.copy())[None].double()
    x = torch.nn.functional.interpolate(x, (side,) * 3, mode="trilinear")
    card = CARDS[name]
    given = inputs_from(fitted(find_sample("phantom-3d"), card.input), card.input, CPU, torch.float64)
    return given.with_x(x)


def mixed(values: Tensor, h: np.ndarray) -> Tensor:
    """Return "2x0e+1x1o" after h: scalars stay, vectors turn."""
    vector = torch.einsum("ij,nj...->ni...", torch.from_numpy(h), values[:, 2:])
    return torch.cat([values[:, :2], vector], 1)


@pytest.mark.parametrize("circular", [False, True])
@pytest.mark.parametrize("g", [1, 7, 22, 24, 30, 47])
def test_a_convolution_commutes_with_the_symmetries_of_the_cube(g: int, circular: bool) -> None:
    torch.manual_seed(0)
    h = cube_group("Oh").matrices[g]
    conv = SteerableConv3d("2x0e+1x1o", "2x0e+1x1o", size=5, circular=circular).double()
    x = torch.randn(1, 5, 6, 6, 6, dtype=torch.float64)
    with torch.no_grad():
        want = mixed(moved(conv(x), h), h)
        got = conv(mixed(moved(x, h), h))
        assert float((got - want).norm() / want.norm()) < EXACT
        assert float((conv(moved(x, h)) - want).norm() / want.norm()) > 1e-2, "vectors that do not turn break it"


def test_the_constraint_holds_for_every_rotation() -> None:
    """K(R u) = D K(u) D⁻¹ of the shells times harmonics, at the voxels of the axes turned to any direction."""
    from explorer.spaces.points.elements.wigner import wigner
    from explorer.spaces.points.harmonics import coupling, spherical

    rotation = Rotation.random(rng=np.random.default_rng(1)).as_matrix()
    key = tuple(rotation.ravel())
    ways = torch.randn(7, 3, dtype=torch.float64)
    for one, two, out in ((1, 2, 1), (2, 1, 1), (1, 1, 2), (2, 2, 2)):

        def kernel(u: Tensor, one: int = one, two: int = two, out: int = out) -> Tensor:
            return torch.einsum("vf,ifo->voi", spherical([two], u), coupling(one, two, out))

        left, right = (torch.from_numpy(wigner(k, "e", key)) for k in (out, one))
        got = kernel(ways @ torch.from_numpy(rotation).T)
        torch.testing.assert_close(got, left @ kernel(ways) @ right.T, rtol=1e-9, atol=1e-9)


def test_the_kernel_is_that_of_e3nn() -> None:
    """e3nn.nn.models.v2104's Convolution for the same shells, path by path, up to the size of a path's numbers."""
    from e3nn import o3
    from e3nn.nn.models.v2104.voxel_convolution import Convolution

    torch.manual_seed(0)
    kinds = "1x0e+1x1o+1x2e"
    theirs = Convolution(kinds, kinds, o3.Irreps("0e+1o+2e"), diameter=5, num_radial_basis=3).double()
    # [x, y, z] -> [z, y, x] with y upwards
    radial = theirs.emb.double().permute(3, 2, 1, 0).flip(2)
    ours = SteerableConv3d(kinds, kinds, size=5, degree=2, radial=radial).double()
    assert len(ours.routes) == len(theirs.tp.instructions) == 11
    ends = {}
    for weight, (i, o, at) in zip(ours.weights, ours.routes, strict=True):
        size = weight.shape[0] * (2 * o + 1) * (2 * i + 1) * 125
        ends.setdefault((i, o), []).append(ours.table[at : at + size].view(weight.shape[0], 2 * o + 1, 2 * i + 1, 125))
    for k, one in enumerate(theirs.tp.instructions):
        with torch.no_grad():
            theirs.weight.zero_()
            theirs.weight[:, k] = torch.tensor([0.7, -1.3, 0.4], dtype=torch.float64)
            kernel = theirs.kernel().permute(0, 1, 4, 3, 2).flip(3)
        rows, columns = (slice(n * n, (n + 1) ** 2) for n in (one.i_out, one.i_in1))
        want = kernel[rows, columns].flatten()
        # in the span of the shells of one of our paths between the same two terms, and of no other
        left = []
        for basis in ends[one.i_in1, one.i_out]:
            table = basis.flatten(1).T
            found = torch.linalg.lstsq(table, want[:, None]).solution
            left.append(float((table @ found - want[:, None]).norm() / want.norm()))
        assert min(left) < 1e-5 and sorted([*left, 1.0])[1] > 0.1, one
        assert float(kernel.norm() - want.norm()) < 1e-9, "it lies in this block alone"


def test_curves_are_the_shells_at_their_distances() -> None:
    axis = torch.arange(5.0, dtype=torch.float64) - 2
    length = (axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2).sqrt().flatten()
    given = torch.stack([length, length.square()]).view(2, 5, 5, 5)
    for radial in (None, given):
        along, values, quantity, unit = SteerableConv3d("1x0e", "1x0e", radial=radial).curves()
        there = (shells(5) if radial is None else radial).flatten(1)
        assert (quantity, unit) == ("distance", "voxels") and along[0] == 0 and values.shape == (len(there), len(along))
        for k, curve in enumerate(values):
            near = (length[:, None] - along).abs().argmin(1)
            assert float((curve[near] - there[k])[length < 2.45].abs().max()) < (0.02 if radial is None else 1e-9)


@pytest.mark.parametrize("circular", [False, True])
def test_paths_and_the_bias_add_up_to_the_convolution(circular: bool) -> None:
    torch.manual_seed(0)
    conv = SteerableConv3d("2x0e+1x1o", "2x0e+2x1o+1x2e", circular=circular).double()
    x = torch.randn(2, 5, 6, 6, 6, dtype=torch.float64)
    with torch.no_grad():
        conv.bias.normal_()
        whole, made, names = conv(x), conv.offset().view(1, -1, 1, 1, 1).repeat(2, 1, 6, 6, 6), []
        for name, first, value in conv.by_path(x):
            made[:, first : first + value.shape[1]] += value
            names.append((name, first))
        # a path alone is the convolution whose other weights are none
        conv.bias.zero_()
        for weight, other in zip(conv.weights, conv.names, strict=True):
            if other != "1o_x_2e_to_1o":
                weight.zero_()
        (alone,) = (value for name, _, value in conv.by_path(x) if name == "1o_x_2e_to_1o")
        torch.testing.assert_close(conv(x)[:, 2:8], alone, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(made, whole, rtol=1e-12, atol=1e-12)
    assert ("1o_x_1o_to_0e", 0) in names and ("0e_x_2e_to_2e", 8) in names and len({n for n, _ in names}) == len(names)


def test_shells_are_cut_off_at_a_ball_and_gates_keep_vectors() -> None:
    found = shells(5)
    assert found.shape == (3, 5, 5, 5) and float(found[:, 0, 0, 0].abs().max()) == 0
    assert float(found[1, 2, 2, 3]) == 1.0 and float(found[0, 2, 2, 2]) == 1.0
    torch.manual_seed(0)
    h = cube_group("Oh").matrices[30]
    x = torch.randn(1, 6, 4, 4, 4, dtype=torch.float64)  # 3x0e+1x1o: two scalars, one gate, one vector
    acted = torch.cat([moved(x, h)[:, :3], torch.einsum("ij,nj...->ni...", torch.from_numpy(h), moved(x, h)[:, 3:])], 1)
    gate, broken = VoxelGate("2x0e+1x1o"), BrokenGate("2x0e+1x1o")
    assert gate.needed == "3x0e+1x1o"
    torch.testing.assert_close(gate(acted), mixed(moved(gate(x), h), h), rtol=1e-12, atol=1e-12)
    assert float((broken(acted) - mixed(moved(broken(x), h), h)).abs().max()) > 0.1


@pytest.mark.slow
def test_claims_hold_and_the_fault_is_found() -> None:
    sound = check_equivariance(CARDS["steerable-cnn-3d"].build(), small("steerable-cnn-3d"), "Oh", boundary="zero",
                               details=False)  # fmt: skip
    assert sound.verdict == "holds", sound.text()
    assert all(row.cumulative_max is None or row.cumulative_max < EXACT for row in sound.layers)
    broken = check_equivariance(CARDS["fault-steerable-3d"].build(), small("fault-steerable-3d"), "O", boundary="zero",
                                details=False)  # fmt: skip
    assert broken.verdict == "broken" and broken.guilty == ("gate1",)


def test_between_the_symmetries_of_the_cube_it_drifts_little() -> None:
    """F(Rx) against D(R) F(x): the mean over all voxels of a smooth volume, beside a plain network's."""
    card, plain = CARDS["steerable-cnn-3d"], scan(models, "CARD")["plain-cnn-3d"]
    x = small("steerable-cnn-3d", 25).x
    turn = volume_turn(Rotation.from_euler("xyz", [20.0, 35.0, -10.0], degrees=True).as_matrix())
    moved = turn.act(x, voxel())

    def drift(network: torch.nn.Module, rep: str) -> float:
        network = network.double().eval()
        with torch.no_grad():
            y, gy = network(x), network(moved)
            want = turn.act(y, parse_field(f"point {rep}"))
            far = network(x.flip(-1).roll((8, 8, 8), (-3, -2, -1)))
        return float((gy - want).norm() / (far - y).norm())

    own = drift(card.build(), "irreps(4x0e+1x1o)")
    with torch.no_grad():
        head = plain.build()
        beside = drift(torch.nn.Sequential(head.conv1, head.relu1, head.conv2), "scalar")  # type: ignore[arg-type]
    assert own < 0.02 < beside


# rotations by any angle ----------------------------------------------------------------------------------------------
def test_a_turn_resamples_by_splines() -> None:
    rng = np.random.default_rng(0)
    rotation = Rotation.random(rng=rng).as_matrix()
    values = rng.normal(size=(7, 8, 9))
    got = volume_turn(rotation).act(torch.from_numpy(values)[None, None], voxel())[0, 0].numpy()
    z, y, x = np.meshgrid(*[np.arange(n) - (n - 1) / 2 for n in values.shape], indexing="ij")
    source = np.stack([x, -y, z], -1) @ rotation
    at = np.stack([source[..., 2], -source[..., 1], source[..., 0]])
    at = at + (np.array(values.shape)[:, None, None, None] - 1) / 2
    inside = ((at >= 0) & (at <= np.array(values.shape)[:, None, None, None] - 1)).all(0)
    want = np.where(inside, map_coordinates(values, at, order=3, mode="mirror"), 0.0)
    np.testing.assert_allclose(got, want, atol=1e-12)
    known = volume_turn(rotation).known(torch.from_numpy(values)[None, None], voxel())
    assert known is not None and np.array_equal(known.numpy() > 0, inside)


@pytest.mark.parametrize("g", [1, 5, 23])
def test_a_quarter_turn_by_angles_is_that_of_the_cube(g: int) -> None:
    matrix = cube_group("O").matrices[g]
    x = torch.randn(1, 8, 4, 4, 4, dtype=torch.float64)
    for rep in (irreps("1x0e+1x1o"), irreps("1x0e+1x1e"), Vector(), Vector(axial=True), Pseudoscalar(), None):
        width = 8 if rep is None else 8 // rep.size * rep.size
        one, other = volume_turn(matrix), CubeMap(linear(matrix))
        field = voxel(rep)
        assert one.exact(field, x.shape)
        torch.testing.assert_close(one.act(x[:, :width], field), other.act(x[:, :width], field), rtol=0, atol=1e-14)


def test_turns_have_a_text_and_an_inverse_and_give_no_verdict() -> None:
    assert "rotate-volume" in transforms()
    (step,) = parse_chain("rotate-volume:10,20,30")
    turn = transforms()["rotate-volume"].element(*step.values)
    assert isinstance(turn, VolumeTurn) and not turn.exact(voxel(), (1, 1, 5, 5, 5))
    assert np.abs(turn.inverse().matrix @ turn.matrix - np.eye(3)).max() < 1e-14
    x = small("steerable-cnn-3d", 9)
    report = check_equivariance(CARDS["steerable-cnn-3d"].build(), x, "volume-SO3", boundary="zero", count=2,
                                details=False)  # fmt: skip
    assert report.verdict == "no law"


def test_fields_of_irreps_at_voxels_are_written_and_read() -> None:
    for text in ("voxel irreps(2x0e+1x1o) /2", "point irreps(4x0e+1x1o)"):
        assert str(parse_field(text)) == text
