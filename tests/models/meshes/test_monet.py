"""MoNet's mixture convolution against torch_geometric's, and what a gauge fixed by geometry costs where it has none."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.nn import GMMConv

from explorer.data.finding import find_sample
from explorer.declare.card import Card
from explorer.declare.samples import Sample
from explorer.declare.types.fields import FieldType
from explorer.spaces.mesh.elements.reshaping import shaken
from explorer.spaces.mesh.fields import Tangent
from explorer.spaces.mesh.network.fit import fit_mesh, surface_of
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.mesh.sample import mesh_sample
from models.layers.gauge.kernel import places
from models.meshes.gem_cnn import CARD as GAUGE_EQUIVARIANT
from models.meshes.monet import CARD, KERNELS, MixtureConv, PseudoCoordinates
from tests.explorer.parts.surfaces import bumpy

CARDS: dict[str, Card] = {card.name: card for card in (*CARD, *GAUGE_EQUIVARIANT)}
FIXED = [card.name for card in CARD]
VERTICES, AMOUNT = 2500, 1e-3  # how far the shaken ones move, of the mean edge


def given(name: str, wanted: MeshInput) -> tuple[Tensor, ...]:
    signals = fit_mesh(find_sample(name), wanted).signals
    return tuple(torch.from_numpy(signals[n].values.copy()) for n in wanted.signals)


@pytest.mark.parametrize("kernels", [1, 4, KERNELS])
@pytest.mark.parametrize("inputs", [1, 5])
def test_the_layer_is_that_of_torch_geometric(kernels: int, inputs: int) -> None:
    generator = torch.Generator().manual_seed(kernels)
    _, edge_index, radius, angle = given("mesh-sphere-small", CARD[0].input)  # type: ignore[arg-type]
    u = PseudoCoordinates()(radius, angle)
    ours = MixtureConv(inputs, 7, kernels).double()
    theirs = GMMConv(inputs, 7, dim=3, kernel_size=kernels, aggr="mean").double()
    assert {n for n, _ in theirs.named_parameters()} == {"g", "mu", "sigma", "root.weight", "bias"}
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
        ours.g.copy_(theirs.g)
        ours.mu.copy_(theirs.mu)
        ours.sigma.copy_(theirs.sigma)
        ours.root.copy_(theirs.root.weight)
        ours.bias.copy_(theirs.bias)
    x = torch.randn(642, inputs, generator=generator, dtype=torch.float64, requires_grad=True)
    one, other = ours(x, edge_index, u), theirs(x, edge_index, u)
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
    probe = torch.randn(other.shape, generator=generator, dtype=torch.float64)
    mine = torch.autograd.grad((one * probe).sum(), (x, ours.g, ours.mu, ours.sigma, ours.root))
    peer = torch.autograd.grad((other * probe).sum(), (x, theirs.g, theirs.mu, theirs.sigma, theirs.root.weight))
    for a, b in zip(mine, peer, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_weight_functions_are_gaussians_on_the_patch() -> None:
    """At its centre each is 1, one deviation off in one coordinate exp(-1/2)."""
    layer = MixtureConv(2, 3).double()
    seen: list[Tensor] = []
    layer.weights.register_forward_hook(lambda _, __, out: seen.append(out.detach()))
    around = torch.arange(KERNELS)
    u = torch.cat([layer.mu, layer.mu + torch.tensor([0.6, 0.0, 0.0])]).detach()
    layer(torch.zeros(2 * KERNELS, 2).double(), torch.stack([around.repeat(2), torch.arange(2 * KERNELS)]), u)
    weights = seen[0]
    torch.testing.assert_close(weights[around, around], torch.ones(KERNELS).double())
    off = weights[KERNELS + around, around]
    torch.testing.assert_close(off, torch.full((KERNELS,), float(np.exp(-0.5))).double(), rtol=1e-6, atol=1e-6)
    shown, names = layer.kernels(radii=4, directions=8)
    assert shown.shape == (KERNELS, 4, 8) and len(names) == KERNELS
    # radius 1 in direction 0 is the centre of the first kernel
    assert shown[0, 1, 0].item() == pytest.approx(1.0) and shown[0].max().item() == pytest.approx(1.0)


def test_kernels_that_are_not_learned_stay() -> None:
    card = CARDS["patch-operator"]
    fixed = [n for n, p in card.build().named_parameters() if not p.requires_grad]
    assert fixed == ["conv1.mu", "conv1.sigma", "conv2.mu", "conv2.sigma"]
    assert all(p.requires_grad for p in CARDS["monet-principal"].build().parameters())


# A fixed gauge where it is ambiguous ----------------------------------------------------------------------------


@cache
def shaken_and_not() -> tuple[Sample, Sample]:
    """Return a surface without any symmetry, and the same with every vertex moved by a thousandth of an edge."""
    vertices, faces = bumpy(VERTICES)
    there = shaken(vertices, faces, AMOUNT, 1)
    return mesh_sample("still", vertices, faces), mesh_sample("shaken", there, faces)


@cache
def turn_of_frames(gauge: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by how much each frame is turned by the shaking, (V,) in [0, pi], and the gauge's ambiguity."""
    one, other = (
        surface_of(np.asarray(s.signals["position"].values), np.asarray(s.signals["faces"].values), gauge)
        for s in shaken_and_not()
    )
    cosine = np.einsum("vx,vx->v", one.frames[:, 0], other.frames[:, 0])
    return np.arccos(np.clip(cosine, -1.0, 1.0)), one.ambiguity


@cache
def changes(name: str) -> NDArray[np.float64]:
    """Return how far the first convolution's answer moves at each vertex, relative to the mean size of answers.

    Both surfaces carry the same features: the geometry that the layer sees differs, and nothing else.
    """
    card = CARDS[name]
    assert isinstance(card.input, MeshInput)
    torch.manual_seed(0)
    network = card.build().double().eval()
    seen: list[Tensor] = []
    network.get_submodule("conv1").register_forward_hook(lambda _, __, out: seen.append(out))
    x = torch.randn(VERTICES, card.input.channels or 1, generator=torch.Generator().manual_seed(4)).double()
    for sample in shaken_and_not():
        signals = fit_mesh(sample, card.input).signals
        arguments = [x if n == "x" else torch.from_numpy(signals[n].values.copy()) for n in card.input.signals]
        with torch.no_grad():
            network(*arguments)
    field = network.get_submodule("conv1").out_field
    assert isinstance(field, FieldType)
    one, other = (lengths(answer, field) for answer in seen)
    return np.asarray((one - other).norm(dim=1) / one.norm(dim=1).mean())


def lengths(answer: Tensor, field: FieldType) -> Tensor:
    """Return scalars as they are, of other features the length: what is the same in every frame."""
    if not isinstance(field.rep, Tangent):
        return answer
    blocks = answer.reshape(len(answer), -1, field.rep.size)
    orders = zip(field.rep.orders, places(field.rep.orders), strict=True)
    return torch.cat(
        [blocks[..., at] if m == 0 else blocks[..., at].norm(dim=2)[..., None] for m, at in orders], 2
    ).flatten(1)


def test_frames_jump_where_the_gauge_is_ambiguous_and_nowhere_else() -> None:
    turn, ambiguity = turn_of_frames("principal")
    jumps = turn > math.pi / 2
    assert 5 < jumps.sum() < 0.02 * VERTICES
    assert (ambiguity[jumps] > 0.9).all(), "a line keeps its direction, and the arrow along it turns round"
    assert turn[ambiguity < 0.9].max() < 0.02
    turn, ambiguity = turn_of_frames("gradient")
    assert turn[ambiguity > 0.9].mean() > 8 * turn[ambiguity < 0.5].mean()
    assert turn[ambiguity < 0.5].max() < 0.1


@pytest.mark.parametrize("name", ["monet-principal", "patch-operator"])
def test_the_answer_in_a_fixed_gauge_jumps_with_its_frames(name: str) -> None:
    turn, ambiguity = turn_of_frames("principal")
    change, jumps = changes(name), turn > math.pi / 2
    assert change[jumps].min() > 0.1
    assert change[ambiguity < 0.9].max() < 0.02
    assert change[ambiguity > 0.9].mean() > 50 * change[ambiguity < 0.9].mean()


def test_the_answer_in_the_frame_of_a_gradient_is_the_less_certain_the_flatter_the_function() -> None:
    _, ambiguity = turn_of_frames("gradient")
    change = changes("monet-gradient")
    assert np.corrcoef(np.argsort(np.argsort(change)), np.argsort(np.argsort(ambiguity)))[0, 1] > 0.4
    assert change[ambiguity > 0.9].mean() > 6 * change[ambiguity < 0.5].mean()


def test_without_a_fixed_gauge_no_vertex_jumps() -> None:
    """As far as the surface moves, so far does the answer: nowhere more than twenty times the median."""
    change, (turn, _) = changes("gem-cnn"), turn_of_frames("principal")
    assert change.max() < 0.02 and change.max() < 20 * np.median(change)
    jumps = turn > math.pi / 2
    assert change[jumps].mean() < 3 * np.median(change)
    assert changes("monet-principal").max() > 20 * change.max()
