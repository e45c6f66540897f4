"""Losses of generative adversarial networks, of scores before any sigmoid or softmax; all are made small.

- Goodfellow et al., "Generative Adversarial Nets", 2014, eq. (1) and section 3: minimax and non-saturating;
- Mao et al., "Least Squares Generative Adversarial Networks", 2017, eq. (2), with a = -1, b = 1, c = 0 of eq. (9);
- Odena, "Semi-Supervised Learning with Generative Adversarial Networks", 2016; Salimans et al., "Improved Techniques
  for Training GANs", 2016, section 5: K classes, and one more for what is made;
- Odena, Olah, Shlens, "Conditional Image Synthesis with Auxiliary Classifier GANs", 2017, eq. (2) and (3);
- Zhu, Park, Isola, Efros, "Unpaired Image-to-Image Translation using Cycle-Consistent Adversarial Networks", 2017;
- Zhang et al., "StackGAN", 2017, eq. (2) to (4).
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

MINIMAX, SATURATED, SQUARES = "minimax", "non-saturating", "least squares"
LOSSES = (SATURATED, MINIMAX)
FAKE, REAL, AIM = -1.0, 1.0, 0.0  # a, b and c of least squares


def squares(scores: Tensor, aim: float) -> Tensor:
    """Return half the mean square of how far scores are from an aim."""
    return 0.5 * (scores - aim).square().mean()


def discriminator_loss(real: Tensor, fake: Tensor, loss: str = SATURATED) -> Tensor:
    """Return -V, or the squares of how far scores are from b and a."""
    if loss == SQUARES:
        return squares(real, REAL) + squares(fake, FAKE)
    return F.softplus(-real).mean() + F.softplus(fake).mean()


def generator_loss(fake: Tensor, loss: str = SATURATED) -> Tensor:
    """Return log(1 - D), -log D, or half the square of how far scores are from c."""
    if loss == SQUARES:
        return squares(fake, AIM)
    return -F.softplus(fake).mean() if loss == MINIMAX else F.softplus(-fake).mean()


def one_more_class(real: Tensor, labels: Tensor, unlabelled: Tensor, fake: Tensor) -> dict[str, Tensor]:
    """Return D's losses for scores (N, K + 1), the last one for fakes: on labelled, unlabelled and generated data."""
    return {
        "labelled": F.cross_entropy(real, labels),
        "unlabelled": -true_of(unlabelled).mean(),
        "made": -fake.log_softmax(1)[:, -1].mean(),
    }


def true_of(scores: Tensor) -> Tensor:
    """Return log(1 - p(K + 1)), (N, K + 1) -> (N,)."""
    return scores[:, :-1].logsumexp(1) - scores.logsumexp(1)


def passed_off(fake: Tensor) -> Tensor:
    """Return what G pays among K + 1 classes: -log(1 - p(K + 1))."""
    return -true_of(fake).mean()


def source_and_class(
    real: Tensor, real_classes: Tensor, labels: Tensor, fake: Tensor, fake_classes: Tensor, wanted: Tensor
) -> dict[str, Tensor]:
    """Return -L_S and -L_C, which D pays both; G pays -L_C and L_S."""
    return {
        "source": discriminator_loss(real, fake),
        "class": F.cross_entropy(real_classes, labels) + F.cross_entropy(fake_classes, wanted),
    }


def matching(real: Tensor, mismatched: Tensor, fake: Tensor) -> Tensor:
    """Return what D pays for real images with their caption, with that of another image, and for made images.

    Zhang et al., section 3.4, give D both kinds of wrong pairs; they count half each, as in Reed et al., "Generative
    Adversarial Text to Image Synthesis", 2016, algorithm 1.
    """
    wrong = F.softplus(mismatched).mean() + F.softplus(fake).mean()
    return F.softplus(-real).mean() + 0.5 * wrong


def cycle(x: Tensor, there_and_back: Tensor) -> Tensor:
    """Return the mean of |F(G(x)) - x|."""
    return (there_and_back - x).abs().mean()


def augmentation(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return KL(N(mu, sigma^2) || N(0, 1)) of a conditioning, summed over its numbers, the mean over captions."""
    return 0.5 * (mean.square() + log_variance.exp() - 1.0 - log_variance).sum(1).mean()
