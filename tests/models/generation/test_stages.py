"""Row L4, StackGAN: its losses written out, which stage learns when, and what is seen of captions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.network.opening.loading import load_model
from explorer.spaces.grid.samples.digit_styles import all_styles, halved, read
from explorer.work.training.course import Course, driven_by
from models.generation import stackgan
from models.generation.stackgan import CARD, FIGURES, PHASES, StackGAN, another, told
from models.layers.adversarial.losses import matching
from models.layers.seeded import seeded
from models.training.adversarial import images as adversarial
from models.training.adversarial.captioned_digits import stack_figures
from models.training.adversarial.images import Batch

CHANCE = torch.Generator().manual_seed(11)


def shipped(**params: float) -> StackGAN:
    network = load_model(CARD, params)
    assert isinstance(network, StackGAN)
    return network


def test_reed_2016_half_of_each_kind_of_wrong_pair() -> None:
    real, other, fake = torch.randn(3, 9, 1, generator=CHANCE, dtype=torch.float64)
    wrong = (1 - other.sigmoid()).log().mean() + (1 - fake.sigmoid()).log().mean()
    torch.testing.assert_close(matching(real, other, fake), -real.sigmoid().log().mean() - wrong / 2)


def test_a_conditioning_has_the_moments_that_the_caption_says() -> None:
    made = seeded(stackgan.Conditioning, 2).double()
    words = told(torch.tensor([1]), torch.tensor([7])).double()
    noise = torch.randn(20_000, 8, generator=CHANCE, dtype=torch.float64)
    with torch.no_grad():
        mean, log_variance = made.moments(words)
        drawn = made(words.expand(20_000, -1), noise)
    assert float((drawn.mean(0) - mean[0]).abs().max()) < 0.05
    assert float((drawn.std(0) / (log_variance[0] / 2).exp() - 1).abs().max()) < 0.03


@pytest.mark.parametrize("stage", [0, 1])
def test_zhang_2017_what_each_stage_pays(stage: int) -> None:
    images, named = (torch.tensor(v[:6]) for v in all_styles("train"))
    network = seeded(StackGAN, 4).eval()
    phase = PHASES[stage]
    assert phase.d_loss is not None
    judge = (network.judge_first, network.judge_second)[stage]
    maker = (network.first, network.second)[stage]
    words = told(*named.T)

    def batch() -> Batch:
        return Batch(images, named, torch.Generator().manual_seed(6))

    def log(score: Tensor) -> Tensor:
        return score.sigmoid().log().mean()

    mirror = batch().chance
    others = told(*another(named, mirror).T)
    fake = network.made(named, mirror)[stage]
    real = images if stage else torch.from_numpy(halved(images.numpy()))
    wanted = -log(judge(real, words)) - 0.5 * (log(-judge(real, others)) + log(-judge(fake, words)))
    torch.testing.assert_close(phase.d_loss(network, batch())["-V"], wanted)

    found = phase.g_loss(network, batch())
    fake = network.made(named, batch().chance)[stage]
    torch.testing.assert_close(found["-log D(G)"], -log(judge(fake, words)))
    mean, log_variance = maker.conditioning.moments(words)
    kl = torch.distributions.kl_divergence(
        torch.distributions.Normal(mean, (log_variance / 2).exp()), torch.distributions.Normal(0.0, 1.0)
    )
    torch.testing.assert_close(found["KL"], stackgan.DIVERGENCE * kl.sum(1).mean())


def test_another_caption_has_another_digit_and_half_of_them_the_same_style() -> None:
    given = torch.tensor([[1, 7]]).repeat(3000, 1)
    found = another(given, CHANCE)
    assert not (found[:, 1] == 7).any() and len({tuple(v) for v in found.tolist()}) == 27
    assert float((found[:, 0] == 1).double().mean()) == pytest.approx(2 / 3, abs=0.04)


def test_the_first_stage_stands_still_while_the_second_learns() -> None:
    seen: list[dict[str, Tensor]] = []

    class Hand:
        def begun(self, course: Course) -> None:
            self.stepped(course)

        def stepped(self, course: Course) -> None:
            seen.append({k: v.clone() for k, v in course.network.state_dict().items()})
            course.over = course.at == 2

    with driven_by(Hand()):
        adversarial.train(stackgan.build, PHASES[1:], stackgan.RECIPE, lambda n: {}, epochs=1)
    for before, after in pairwise(seen[:3]):
        moved = {name.partition(".")[0] for name in before if not torch.equal(before[name], after[name])}
        assert moved == {"second", "judge_second"}


def test_samples_have_the_same_z_for_every_caption() -> None:
    asked, words = StackGAN().draw_codes(60, 5)
    assert "caption" in words and torch.equal(asked[0::2, 13:], asked[:1, 13:].expand(30, -1))
    assert asked[::2, 3:13].argmax(1).tolist() == [*range(10)] * 3
    assert asked[::2, :3].argmax(1).tolist() == [k for k in range(3) for _ in range(10)]
    assert StackGAN().code_names(asked)[::22] == ["a filled zero", "an outlined one", "a striped two"]


def test_a_picture_is_drawn_as_the_caption_says() -> None:
    x = torch.tensor(all_styles("test")[0][::20])
    for style, digit in ((0, 3), (1, 8), (2, 5)):
        with torch.no_grad():
            found = read(shipped(style=style, digit=digit)(x).numpy())
        assert (found == [style, digit]).all(1).mean() > 0.5  # a thirtieth by chance


def test_conditionings_are_drawn_around_their_mean() -> None:
    x = torch.tensor(all_styles("test")[0][:1])
    with torch.no_grad():
        plain, again, wide = (shipped(spread=s)(x) for s in (0.0, 0.0, 1.5))
    assert torch.equal(plain, again) and float((plain - wide).abs().max()) > 0.1


@pytest.mark.slow
def test_shipped_weights_do_what_the_card_says() -> None:
    with torch.no_grad():
        found: dict[str, Any] = stack_figures(shipped())
    for key, stated in FIGURES.items():
        assert found[key] == pytest.approx(stated, rel=0.02, abs=0.012), key
    assert found["second"] > found["first"] and found["frechet_second"] < found["frechet_first"]
