"""Maps of pixels against closed forms, captum, and their own law."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.data.finding import find_sample
from explorer.declare.elements import chain_element, parse_chain
from explorer.declare.states.saliency import METHODS, parse_saliency, saliency_text
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.sample import image_sample
from explorer.square.analyses.saliency import patch_of, saliency, score_of
from explorer.square.evaluate import square
from explorer.square.frame import Saliency
from explorer.square.preparing.prepare import Prepared, prepare
from explorer.state.resolve import resolve
from explorer.state.state import State
from tests.explorer.parts.networks import conv
from tests.explorer.parts.small_cards import card

SIDE = 12


class Dense(nn.Module):
    def __init__(self, outputs: int = 3) -> None:
        super().__init__()
        self.map = nn.Linear(SIDE * SIDE, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.map(x.flatten(1))


def symmetric() -> nn.Module:
    return nn.Sequential(conv(1, 4), nn.Softplus(), conv(4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())


def prepared(model: nn.Module) -> Prepared:
    sample = image_sample(np.random.default_rng(0).random((1, SIDE, SIDE)), "noise")
    made = card("net", lambda: model, input=InputSpec((1, None, None)))
    return prepare(made, model.eval(), sample, device=torch.device("cpu"), dtype=torch.float64)


def parts(p: Prepared, text: str, chain: str = "rotate:90") -> list[Saliency]:
    state = State(steps=parse_chain(chain), saliency=text)
    here, _ = square(p, state)
    return [s.saliency for s in saliency(p, state, here) if s.saliency is not None]


def last(p: Prepared, text: str, chain: str = "rotate:90") -> Saliency:
    return parts(p, text, chain)[-1]


def test_of_a_linear_network_the_gradient_is_its_weights() -> None:
    net = Dense().double()
    p = prepared(net)
    weights = net.map.weight[1].detach().reshape(1, SIDE, SIDE).numpy()
    for text, expected in (("gradient:1", weights), ("smooth:1", weights), ("x-gradient:1", weights * p.x[0].numpy())):
        found = last(p, text)
        assert np.allclose(found.on_x, expected, atol=1e-6)
        assert found.done == 1.0
        assert found.entry == 1


def test_without_an_entry_it_is_the_largest_one() -> None:
    p = prepared(Dense().double())
    assert last(p, "gradient").entry == int(p.output[0].argmax())
    assert last(p, "gradient:99").entry == 2


def test_of_a_linear_network_occlusion_is_the_mean_over_the_patches_of_a_pixel() -> None:
    net = Dense().double()
    p = prepared(net)
    part = (net.map.weight[0].detach().reshape(SIDE, SIDE) * p.x[0, 0]).numpy()
    side, step = patch_of(SIDE, SIDE)
    total, covered = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
    for top in range(0, SIDE - side + 1, step):
        for left in range(0, SIDE - side + 1, step):
            there = np.s_[top : top + side, left : left + side]
            total[there] += part[there].sum()
            covered[there] += 1
    assert covered.min() > 0
    found = parts(p, "occlusion:0")
    assert np.allclose(found[-1].on_x, total / covered, atol=1e-6)
    # a part at a time, so that newer work may come between
    assert len(found) > 1
    assert [one.done for one in found] == sorted(one.done for one in found)
    assert found[0].done < 1 == found[-1].done


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chain", ["rotate:90", "reflect", "rotate:180+reflect"])
def test_maps_of_a_symmetric_network_follow_the_image(method: str, chain: str) -> None:
    found = last(prepared(symmetric().double()), method, chain)
    assert found.exact
    assert found.error is not None
    assert found.error < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_maps_of_another_network_do_not(method: str) -> None:
    found = last(prepared(Dense().double()), method)
    assert found.error is not None
    assert found.error > 0.1
    assert found.difference is not None
    assert found.expected is not None
    assert np.allclose(found.difference, found.expected - found.on_gx, atol=1e-6)


class TwoImages(nn.Module):
    """Answers for two images, of which the second one, moved along, counts as much as the first."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = symmetric_mix()

    def forward(self, image: Tensor, depth: Tensor) -> Tensor:
        return self.mix(torch.cat([image * depth, depth], 1)).mean((2, 3))


def symmetric_mix() -> nn.Module:
    return nn.Sequential(conv(2, 4), nn.Softplus(), conv(4, 3))


@pytest.mark.parametrize("method", METHODS)
def test_of_several_images_all_are_moved_and_repeated(method: str) -> None:
    made = card(
        "net", lambda: TwoImages(), input=InputSpec((1, None, None), images=(("image", (1, None, None)),
                                                                             ("depth", (1, None, None)))),
    )  # fmt: skip
    sample = find_sample(f"image=random:1x1x{SIDE}x{SIDE},depth=random:1x1x{SIDE}x{SIDE}")
    p = prepare(made, TwoImages().double().eval(), sample, device=torch.device("cpu"), dtype=torch.float64)
    found = last(p, method)
    assert not found.problem
    assert found.error is not None
    assert found.error < 1e-6
    # where the other image is not moved along, the maps differ
    still = score_of(p, p.inputs, 0)(p.inputs.moved(chain_element(parse_chain("rotate:90"))).x)
    assert not torch.allclose(still, score_of(p, p.inputs, 0)(p.inputs.x), rtol=1e-9)


class OneAtATime(nn.Module):
    """Takes no batch of more than one image."""

    def forward(self, x: Tensor) -> Tensor:
        return x.view(1, SIDE, SIDE).mean((1, 2)).unsqueeze(0)


def test_where_a_network_breaks_on_what_is_shown_a_sentence_says_so() -> None:
    found = last(prepared(OneAtATime().double()), "occlusion")
    assert found.on_x is None
    assert "has no such map" in found.problem
    assert last(prepared(OneAtATime().double()), "gradient").on_x is not None


def test_an_entry_that_moves_has_no_law() -> None:
    p = prepared(nn.Sequential(conv(1, 4), nn.Softplus()).double())
    found = last(p, "gradient:1")
    assert found.on_x is not None
    # of a map the mean over its places, which no element moves
    assert found.error is not None
    assert found.error < 1e-6


def test_nothing_is_left_behind_and_nothing_is_made_unasked() -> None:
    net = symmetric().double()
    p = prepared(net)
    assert parts(p, "") == []
    generator = saliency(p, State(saliency="occlusion"), square(p, State())[0])
    next(generator)
    assert torch.is_grad_enabled()
    assert all(q.requires_grad for q in p.model.parameters())
    generator.close()
    last(p, "smooth")
    assert all(q.requires_grad and q.grad is None for q in p.model.parameters())
    assert not any(m._forward_hooks for m in p.model.modules())


@pytest.mark.parametrize("size", [(12, 12), (28, 28), (29, 29), (7, 7), (1, 1), (32, 48), (224, 224), (5, 31)])
def test_patches_lie_alike_from_every_side(size: tuple[int, int]) -> None:
    side, step = patch_of(*size)
    assert 0 < side <= min(size)
    assert all((n - side) % step == 0 for n in size)
    assert step <= side


def test_the_text_in_a_state() -> None:
    assert parse_saliency("gradient:3") == ("gradient", 3)
    assert saliency_text("smooth", None) == "smooth"
    assert saliency_text("", 3) == ""
    for text, said in (("gradent", "did you mean 'gradient'"), ("gradient:x", "is a number"), ("gradient:", "number")):
        with pytest.raises(ValueError, match=said):
            parse_saliency(text)
    from explorer.state.catalogue import Catalogue

    catalogue = Catalogue((), (), ("cpu",), (), (), ())
    assert resolve(State(saliency="nonsense"), catalogue).saliency == ""
    assert resolve(State(saliency="occlusion:2"), catalogue).saliency == "occlusion:2"
    assert "--saliency occlusion:2" in State(saliency="occlusion:2").command()


# captum -------------------------------------------------------------------------------------------------------------
@pytest.fixture
def forward() -> Iterator[tuple[Prepared, Callable[[Tensor], Tensor]]]:
    p = prepared(nn.Sequential(conv(1, 4, fault=True), nn.Softplus(), nn.Flatten(), nn.Linear(4 * SIDE**2, 3)).double())
    score = score_of(p, p.inputs, 2)
    yield p, lambda x: score(x)[:, None]


def test_the_gradient_is_that_of_captum(forward: Any) -> None:
    attr = pytest.importorskip("captum.attr")
    p, run = forward
    expected = attr.Saliency(run).attribute(p.x.clone().requires_grad_(), target=0, abs=False)
    assert np.allclose(last(p, "gradient:2").on_x, expected[0].detach().numpy(), atol=1e-6)
    product = attr.InputXGradient(run).attribute(p.x.clone().requires_grad_(), target=0).detach()
    assert np.allclose(last(p, "x-gradient:2").on_x, product[0].numpy(), atol=1e-6)


def test_occlusion_is_that_of_captum(forward: Any) -> None:
    attr = pytest.importorskip("captum.attr")
    p, run = forward
    side, step = patch_of(SIDE, SIDE)
    with torch.no_grad():
        expected = attr.Occlusion(run).attribute(p.x, (1, side, side), strides=(1, step, step), baselines=0, target=0)
    assert np.allclose(last(p, "occlusion:2").on_x, expected[0].numpy(), atol=1e-6)
