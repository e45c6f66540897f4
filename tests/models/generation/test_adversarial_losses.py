"""Rows L3 and L4: the losses of the papers, each written out with probabilities on fixed tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from models.layers.adversarial.losses import (
    LOSSES,
    MINIMAX,
    SQUARES,
    augmentation,
    cycle,
    discriminator_loss,
    generator_loss,
    one_more_class,
    passed_off,
    source_and_class,
    squares,
)

CHANCE = torch.Generator().manual_seed(7)
REAL, FAKE = torch.randn(2, 9, generator=CHANCE, dtype=torch.float64)
LABELS, WANTED = torch.randint(10, (2, 9), generator=CHANCE)


def scores(classes: int) -> Tensor:
    return 2 * torch.randn(9, classes, generator=CHANCE, dtype=torch.float64)


def test_goodfellow_2014_and_its_gradients() -> None:
    own = -(REAL.sigmoid().log().mean() + (1 - FAKE.sigmoid()).log().mean())
    torch.testing.assert_close(discriminator_loss(REAL, FAKE), own)
    score = torch.linspace(-6, 6, 25, dtype=torch.float64, requires_grad=True)
    d = score.detach().sigmoid()
    for loss, wanted, slope in ((MINIMAX, (1 - d).log(), -d), (LOSSES[0], -d.log(), d - 1)):
        found = generator_loss(score, loss)
        torch.testing.assert_close(found, wanted.mean())
        (gradient,) = torch.autograd.grad(found, score)
        torch.testing.assert_close(gradient * 25, slope)


def test_mao_2017_equation_2_with_the_aims_of_equation_9() -> None:
    d = 0.5 * ((REAL - 1) ** 2).mean() + 0.5 * ((FAKE + 1) ** 2).mean()
    torch.testing.assert_close(discriminator_loss(REAL, FAKE, SQUARES), d)
    torch.testing.assert_close(generator_loss(FAKE, SQUARES), 0.5 * (FAKE**2).mean())


def test_salimans_2016_section_5() -> None:
    real, other, fake = scores(11), scores(11), scores(11)
    p = [s.exp() / s.exp().sum(1, keepdim=True) for s in (real, other, fake)]
    found = one_more_class(real, LABELS, other, fake)
    torch.testing.assert_close(found["labelled"], -p[0][torch.arange(9), LABELS].log().mean())
    torch.testing.assert_close(found["unlabelled"], -(1 - p[1][:, 10]).log().mean())
    torch.testing.assert_close(found["made"], -p[2][:, 10].log().mean())
    torch.testing.assert_close(passed_off(fake), -(1 - p[2][:, 10]).log().mean())


def test_odena_2017_equations_2_and_3() -> None:
    real, fake = scores(10), scores(10)
    found = source_and_class(REAL, real, LABELS, FAKE, fake, WANTED)
    rows = torch.arange(9)
    l_s = REAL.sigmoid().log().mean() + (1 - FAKE.sigmoid()).log().mean()
    l_c = real.softmax(1)[rows, LABELS].log().mean() + fake.softmax(1)[rows, WANTED].log().mean()
    torch.testing.assert_close(found["source"], -l_s)
    torch.testing.assert_close(found["class"], -l_c)


def test_zhu_2017_squares_and_the_cycle() -> None:
    torch.testing.assert_close(2 * (squares(REAL, 1) + squares(FAKE, 0)), ((REAL - 1) ** 2 + FAKE**2).mean())
    x, back = torch.rand(2, 3, 1, 5, 5, generator=CHANCE, dtype=torch.float64)
    torch.testing.assert_close(cycle(x, back), (back - x).abs().sum() / 75)


def test_zhang_2017_the_divergence_of_the_conditioning() -> None:
    mean, log_variance = scores(8), scores(8)
    p = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
    q = torch.distributions.Normal(mean, (log_variance / 2).exp())
    wanted = torch.distributions.kl_divergence(q, p).sum(1).mean()
    torch.testing.assert_close(augmentation(mean, log_variance), wanted)
