"""Pictures from captions in two stages: first a small rough one, then one of full size with the details (row L4).

Zhang, Xu, Li, Zhang, Wang, Huang, Metaxas, "StackGAN: Text to Photo-realistic Image Synthesis with Stacked Generative
Adversarial Networks", 2017, equations (1) to (4). The caption is a style and a digit, "an outlined seven".
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.examples import Examples
from explorer.declare.params import Param
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.grid.drawing.stations import stations_part
from explorer.spaces.grid.fields import grid
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.samples.digit_styles import NUMBERS, STYLES, caption, halved, styled_digits
from models.layers.adversarial.convolutional import FLAT, LATENT, SIDES, SLOPE, Parts, Residual, first_maps
from models.layers.adversarial.losses import augmentation, generator_loss, matching
from models.layers.taps import Tap
from models.training.adversarial.captioned_digits import stack_figures
from models.training.adversarial.images import Batch, Phase, Recipe, code_phase, train

WORDS = len(STYLES) + len(NUMBERS)
CONDITION, HEARD = 8, 16  # numbers of a conditioning, and of what D hears of a caption
FULL, NEAR, FAR = 8, 16, 32  # channels on grids of 29, of 15 and of 8
DIVERGENCE = 0.01  # lambda


def told(style: Tensor, digit: Tensor) -> Tensor:
    """Return captions as numbers: a one for the style and a one for the digit, (N,) twice -> (N, 13)."""
    return torch.cat([F.one_hot(style, len(STYLES)), F.one_hot(digit, len(NUMBERS))], 1).float()


class Conditioning(nn.Module):
    """Draw a conditioning from a Gaussian that the caption says: c = mu + sigma * e; (N, 13), (N, 8) -> (N, 8)."""

    def __init__(self) -> None:
        super().__init__()
        self.of_caption = nn.Linear(WORDS, 2 * CONDITION)

    def moments(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and the logarithm of the variance."""
        mean, log_variance = self.of_caption(words).chunk(2, 1)
        return mean, log_variance

    def forward(self, words: Tensor, noise: Tensor) -> Tensor:
        mean, log_variance = self.moments(words)
        return mean + (0.5 * log_variance).exp() * noise


class FirstStage(nn.Module):
    """G_0 makes a picture of 15 x 15 of a conditioning and z; (N, 8 + 8) -> (N, 1, 15, 15)."""

    def __init__(self) -> None:
        super().__init__()
        self.conditioning = Conditioning()
        self.layers = nn.Sequential(
            first_maps(CONDITION + LATENT)
            | OrderedDict(
                up=nn.ConvTranspose2d(FAR, NEAR, 5, stride=2, padding=2, bias=False),  # (N, NEAR, 15, 15)
                norm2=nn.BatchNorm2d(NEAR),
                relu2=nn.ReLU(),
                last=nn.Conv2d(NEAR, 1, 3, padding=1),
                grey=nn.Sigmoid(),
            )
        )

    def forward(self, words: Tensor, z: Tensor, noise: Tensor) -> Tensor:
        return self.layers(torch.cat([self.conditioning(words, noise), z], 1))


class SecondStage(nn.Module):
    """G looks at the rough picture and at the caption once more; (N, 1, 15, 15) -> (N, 1, 29, 29)."""

    def __init__(self) -> None:
        super().__init__()
        self.conditioning = Conditioning()
        self.down = nn.Sequential(
            OrderedDict(
                conv1=nn.Conv2d(1, NEAR, 3, padding=1),
                relu1=nn.ReLU(),
                conv2=nn.Conv2d(NEAR, FAR, 5, stride=2, padding=2, bias=False),  # (N, FAR, 8, 8)
                norm2=nn.BatchNorm2d(FAR),
                relu2=nn.ReLU(),
            )
        )
        self.up = nn.Sequential(
            OrderedDict(
                joined=nn.Conv2d(FAR + CONDITION, FAR, 3, padding=1, bias=False),
                norm1=nn.BatchNorm2d(FAR),
                relu1=nn.ReLU(),
                block1=Residual(FAR, nn.BatchNorm2d),
                block2=Residual(FAR, nn.BatchNorm2d),
                up1=nn.ConvTranspose2d(FAR, NEAR, 5, stride=2, padding=2, bias=False),  # (N, NEAR, 15, 15)
                norm2=nn.BatchNorm2d(NEAR),
                relu2=nn.ReLU(),
                up2=nn.ConvTranspose2d(NEAR, FULL, 5, stride=2, padding=2, bias=False),  # (N, FULL, 29, 29)
                norm3=nn.BatchNorm2d(FULL),
                relu3=nn.ReLU(),
                last=nn.Conv2d(FULL, 1, 3, padding=1),  # lines that a stride alone leaves ragged are drawn here
                grey=nn.Sigmoid(),
            )
        )

    def forward(self, rough: Tensor, words: Tensor, noise: Tensor) -> Tensor:
        h = self.down(rough)
        c = self.conditioning(words, noise)[:, :, None, None].expand(-1, -1, *h.shape[2:])
        return self.up(torch.cat([h, c], 1))


class Judge(nn.Module):
    """D looks at a picture and hears a caption at every place of its maps: log D / (1 - D), (N, 1).

    What the paper joins by a 1 x 1 convolution alone, so few maps do not learn to compare. So the inner product with
    them is added of what each word expects (Miyato, Koyama, "cGANs with Projection Discriminator", 2018, eq. 3).
    """

    def __init__(self, maps: nn.Sequential) -> None:
        super().__init__()
        self.maps = maps
        self.heard = nn.Linear(WORDS, HEARD)
        self.both = nn.Conv2d(FAR + HEARD, FAR, 1)
        self.leaky = nn.LeakyReLU(SLOPE)
        self.score = nn.Linear(FLAT, 1)
        self.expected = nn.Linear(WORDS, FLAT, bias=False)
        nn.init.zeros_(self.expected.weight)

    def of_maps(self, h: Tensor, words: Tensor) -> Tensor:
        """Return the scores of maps (N, channels, 8, 8)."""
        heard = self.heard(words)[:, :, None, None].expand(-1, -1, *h.shape[2:])
        fits = (self.expected(words) * h.flatten(1)).sum(1, keepdim=True)
        return self.score(self.leaky(self.both(torch.cat([h, heard], 1))).flatten(1)) + fits

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        return self.of_maps(self.maps(x), words)


def _small_maps() -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(conv=nn.Conv2d(1, FAR, 5, stride=2, padding=2), leaky=nn.LeakyReLU(SLOPE))
    )  # (N, FAR, 8, 8)


def _large_maps() -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(
            look=nn.Conv2d(1, FULL, 3, padding=1),  # (N, FULL, 29, 29)
            leaky=nn.LeakyReLU(SLOPE),
            conv1=nn.Conv2d(FULL, NEAR, 5, stride=2, padding=2),
            leaky1=nn.LeakyReLU(SLOPE),
            conv2=nn.Conv2d(NEAR, FAR, 5, stride=2, padding=2, bias=False),
            norm2=nn.BatchNorm2d(FAR),
            leaky2=nn.LeakyReLU(SLOPE),
        )
    )


class StackGAN(nn.Module):
    """The z of a picture, by D's maps, and both stages for a caption; (N, 1, 29, 29) -> (N, 1, 29, 29).

    Args:
        style, digit: the caption.
        spread: how much of sigma * e is added to the mean of the conditionings; e is always the same.
    """

    noise: Tensor

    def __init__(self, style: int = 0, digit: int = 0, spread: float = 0.0) -> None:
        super().__init__()
        self.style, self.digit, self.spread = style, digit, spread
        self.first, self.second = FirstStage(), SecondStage()
        self.judge_first, self.judge_second = Judge(_small_maps()), Judge(_large_maps())
        self.code = nn.Linear(FLAT, LATENT)
        self.asked = Tap(INVARIANT)
        self.rough, self.fine = Tap(grid(spacing=2.0)), Tap(grid())
        noise = torch.randn(2, CONDITION, generator=torch.Generator().manual_seed(17))
        self.register_buffer("noise", noise, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        h = self.judge_second.maps(x)
        asked = self.asked(torch.cat([self.caption(len(x)).to(h), self.code(h.flatten(1))], 1))
        self.judge_second.of_maps(h, asked[:, :WORDS])  # a layer to look at: whether x is real and has this caption
        return self.decode(asked)

    def caption(self, count: int) -> Tensor:
        """Return the caption that is asked for, (count, 13)."""
        return told(torch.full((count,), self.style), torch.full((count,), self.digit))

    def stages(self, asked: Tensor, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pictures of both stages for captions and z, (N, 13 + 8), and the noise of both, (N, 8)."""
        words, z = asked[:, :WORDS], asked[:, WORDS:]
        rough = self.rough(self.first(words, z, first))
        return rough, self.fine(self.second(rough, words, second))

    def encode(self, x: Tensor) -> Tensor:
        """Return the caption that is asked for and the z of pictures, (N, 13 + 8)."""
        z = self.code(self.judge_second.maps(x).flatten(1))
        return torch.cat([self.caption(len(x)).to(z), z], 1)

    def decode(self, asked: Tensor) -> Tensor:
        """Return what the second stage makes."""
        noise = (self.spread * self.noise).to(asked)[:, None].expand(-1, len(asked), -1)
        return self.stages(asked, noise[0], noise[1])[1]

    def examples(self) -> Examples:
        """Return digits in every style."""
        return styled_digits()

    def draw_codes(self, count: int, seed: int) -> tuple[Tensor, str]:
        """Draw the same z for every caption, one caption after the other."""
        captions = [(s, d) for s in range(len(STYLES)) for d in range(len(NUMBERS))]
        each = -(-count // len(captions))
        z = torch.randn(each, LATENT, generator=torch.Generator().manual_seed(seed)).repeat(len(captions), 1)
        words = told(*torch.tensor(captions).repeat_interleave(each, 0).T)
        return torch.cat([words, z], 1)[:count], f"caption after caption, {each} each, the same z from N(0, 1) for all"

    def code_names(self, asked: Tensor) -> list[str]:
        """Return the captions in words."""
        style, digit = asked[:, : len(STYLES)].argmax(1), asked[:, len(STYLES) : WORDS].argmax(1)
        return [caption(s, d) for s, d in zip(style.tolist(), digit.tolist(), strict=True)]

    def made(self, captions: Tensor, chance: torch.Generator) -> tuple[Tensor, Tensor]:
        """Make pictures of both stages for captions, (N, 2) of style and digit; everything else is drawn."""
        words = told(*captions.T)
        z, first, second = (torch.randn(len(words), n, generator=chance) for n in (LATENT, CONDITION, CONDITION))
        return self.stages(torch.cat([words, z], 1), first, second)

    def code_error(self, count: int, chance: torch.Generator) -> Tensor:
        """Return the mean square of how far the codes of made pictures are from those that they were made of."""
        words = told(*(torch.randint(n, (count,), generator=chance) for n in (len(STYLES), len(NUMBERS))))
        z, first, second = (torch.randn(count, n, generator=chance) for n in (LATENT, CONDITION, CONDITION))
        with torch.no_grad():
            h = self.judge_second.maps(self.stages(torch.cat([words, z], 1), first, second)[1])
        return (self.code(h.flatten(1)) - z).square().mean()

    def drawn_part(self, one: Any) -> object:
        """Return the pictures of both stages."""
        asked = caption(self.style, self.digit)
        return stations_part(one, (("rough", "stage I"), ("fine", "stage II")), f"“{asked}”")


def _pays(stage: int) -> tuple[Any, Any]:
    """Return what D and G of a stage pay."""

    def judged(network: StackGAN, batch: Batch) -> Parts:
        judge = (network.judge_first, network.judge_second)[stage]
        real = batch.x if stage else torch.from_numpy(halved(batch.x.numpy()))
        words, others = told(*batch.labels.T), told(*another(batch.labels, batch.chance).T)
        with torch.no_grad():
            fake = network.made(batch.labels, batch.chance)[stage]
        return {"-V": matching(judge(real, words), judge(real, others), judge(fake, words))}

    def passed(network: StackGAN, batch: Batch) -> Parts:
        judge, maker = ((network.judge_first, network.first), (network.judge_second, network.second))[stage]
        words = told(*batch.labels.T)
        fake = network.made(batch.labels, batch.chance)[stage]
        return {
            "-log D(G)": generator_loss(judge(fake, words)),
            "KL": DIVERGENCE * augmentation(*maker.conditioning.moments(words)),
        }

    return judged, passed


def another(labels: Tensor, chance: torch.Generator) -> Tensor:
    """Draw captions with another digit, half of them in the same style; (N, 2) -> (N, 2)."""
    style, digit = labels.T
    other = torch.randint(len(STYLES), style.shape, generator=chance)
    same = torch.rand(style.shape, generator=chance) < 0.5
    digit = (digit + torch.randint(1, len(NUMBERS), digit.shape, generator=chance)) % len(NUMBERS)
    return torch.stack([torch.where(same, style, other), digit], 1)


def build(style: float = 1, digit: float = 0, spread: float = 0.0) -> StackGAN:
    """Build both stages and both discriminators; `style` and `digit` are the caption."""
    return StackGAN(int(style), int(digit), spread)


(JUDGED_FIRST, PASSED_FIRST), (JUDGED_SECOND, PASSED_SECOND) = _pays(0), _pays(1)
PHASES = (
    Phase(0.5, lambda n: (n.first,), PASSED_FIRST, lambda n: (n.judge_first,), JUDGED_FIRST),
    Phase(
        0.4, lambda n: (n.second,), PASSED_SECOND, lambda n: (n.judge_second,), JUDGED_SECOND,
        still=lambda n: (n.first,),
    ),
    code_phase(0.1),
)  # fmt: skip
RECIPE = Recipe("digits in every style", epochs=20, rate=8e-4)

# Of the shipped weights (seed 0); test_stages.py measures them again.
FIGURES = {
    "first": 0.7078, "first_style": 0.9611, "first_digit": 0.7367, "second": 0.8622, "second_style": 0.9811,
    "second_digit": 0.8789, "frechet_first": 79.42, "frechet_second": 5.40, "frechet_data": 0.35,
}  # fmt: skip

CARD = Card(
    name="stackgan",
    title="A caption, a rough picture, a fine one (StackGAN)",
    rows=("L4",),
    reference=(
        'Zhang et al., "StackGAN: Text to Photo-realistic Image Synthesis with Stacked Generative Adversarial '
        'Networks", 2017, eq. (1) to (4)'
    ),
    equation=(
        "c = μ(φ) + σ(φ) ∘ e,   e from N(0, 1)\n"
        "stage I:   s₀ = G₀(z, c₀)\n"
        "stage II:   s = G(s₀, c)\n"
        "D: min −log D(x, φ) − ½ log(1 − D(x, other φ)) − ½ log(1 − D(s, φ))\n"
        "G: min −log D(s, φ) + λ KL(N(μ, σ²) ‖ N(0, 1))"
    ),
    summary=(
        "The caption is a style and a digit, chosen below Model. Stage I makes a picture of 15 x 15 of it, stage II "
        "reads the caption once more and makes one of 29 x 29. z is guessed from D's maps of the input, which tells "
        "little. Stations shows both stages, Samples every caption with the same z."
    ),
    build=build,
    input=InputSpec(shape=(1, SIDES[0], SIDES[0])),
    boundary="zero",
    weights="stackgan.safetensors",
    params=(
        Param("style", "Style", 1, 0, len(STYLES) - 1, choices=STYLES),
        Param("digit", "Digit", 0, 0, len(NUMBERS) - 1, choices=NUMBERS),
        Param("spread", "Share of σ e", 0.0, 0.0, 2.0, step=0.1),
    ),
    train=partial(train, build, PHASES, RECIPE, stack_figures),
    source=(StackGAN, Conditioning, FirstStage, SecondStage, Judge, matching, augmentation),
    notes=(
        f"{RECIPE.epochs} epochs of 3,891 pictures, of which stage I has {PHASES[0].share:.0%} and stage II "
        f"{PHASES[1].share:.0%}. Of 900 captions {FIGURES['first']:.1%} are read off stage I and "
        f"{FIGURES['second']:.1%} off stage II, of test digits 97 %.",
        f"Fréchet distance from test digits {FIGURES['frechet_first']:.1f} of stage I, enlarged, "
        f"{FIGURES['frechet_second']:.1f} of stage II, {FIGURES['frechet_data']:.1f} of training digits, in features "
        "of plain-cnn: not comparable to published FID.",
    ),
)
