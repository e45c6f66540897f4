"""Train and judge the two halves of a small DALL-E on captioned sprites, which are drawn anew for every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.grid.samples.captioned import SIDE, Caption, drawn, paint, read, same
from explorer.work.training.course import Course, Schedule, Scheduled
from models.layers.seeded import round_to_half, seeded
from models.layers.vision.captions import NO_WORD, CaptionTransformer
from models.layers.vision.codes import CODES, STRIDE, DiscreteVAE, elbo_loss, gumbel
from models.training.learning import Progress, learning, one_cycle

EPOCH = 50  # steps
BOOK_EPOCHS, WRITER_EPOCHS = 36, 40
BATCH, RATE = 32, 4e-3
BOOK_RISE, WRITER_RISE = 0.1, 0.15  # shares of the steps in which the rate grows
TEMPERATURES = (2.0, 0.1)  # of the relaxation, at first and at last
BETA = 0.01  # of the KL term, which the paper weighs more than the bound asks for, and this small picture less
COUNTED = 10  # steps from one count of the codes to the next
GLANCE = 50  # pictures that a book is judged by while it learns
SPREAD = 1.0  # of the entropy of the usage at first; nothing at last
UNCONDITIONAL = 0.1  # share of the captions that are left out
TEST_SEED = 1_000_003
JUDGED = 100  # captions


def batch(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw pictures and their captions, (N, 3, side, side) and (N, words)."""
    captions = [drawn(chance) for _ in range(count)]
    pictures = torch.from_numpy(np.stack([paint(c, chance) for c in captions]))
    return pictures, torch.tensor([c.numbers for c in captions])


def codes_of(network: DiscreteVAE, pictures: Tensor) -> Tensor:
    """Return the likeliest code of every place, row by row, (N, places)."""
    return network.encoder(pictures).argmax(1).flatten(1)


def train_book(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[DiscreteVAE, Mapping[str, float]]:
    """Train the discrete autoencoder, the temperature falling; return it with its figures."""
    epochs = BOOK_EPOCHS if epochs is None else epochs
    with learning():
        network = seeded(lambda: DiscreteVAE(SIDE), seed).train()
        chance = np.random.default_rng(seed)
        optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
        course = Course(
            network, optimizer, one_cycle(BOOK_RISE), chance, epochs=epochs, steps=EPOCH,
            progress=progress, told="loss {:.3f}".format, judge=_glance,
        )  # fmt: skip
        for _ in course:
            _learn_book(course, network, chance, epochs * EPOCH, seed)
        return network, _closed(network)


def _two_rises(first: int) -> Schedule:
    """Return the schedule of the book for so many steps, and then that of the transformer."""

    def made(optimizer: torch.optim.Optimizer, steps: int) -> Scheduled:
        halves: list[torch.optim.lr_scheduler.LRScheduler] = [
            torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=max(1, count), pct_start=rise)
            for count, rise in ((first, BOOK_RISE), (steps - first, WRITER_RISE))
        ]
        return torch.optim.lr_scheduler.SequentialLR(optimizer, halves, [first]) if first else halves[1]

    return made


def _learn_book(course: Course, network: DiscreteVAE, chance: np.random.Generator, steps: int, seed: int) -> None:
    """Take one step of the book, of so many."""
    pictures, _ = batch(chance, BATCH)
    if course.at % COUNTED == 0:  # whoever looks at the book while it learns sees what it is, not what it began as
        count_codes(network, pictures)
    high, low = TEMPERATURES
    step = course.at
    temperature = high * (low / high) ** min(1.0, step / (0.8 * steps))
    noise = gumbel((BATCH, CODES, SIDE // STRIDE, SIDE // STRIDE), seed * steps + step).float()
    loss, missed, kl = elbo_loss(network, pictures, noise, temperature, BETA, SPREAD * (1 - step / steps))
    course.learn(loss, parts={"reconstruction": missed, "KL": kl})


def _closed(book: DiscreteVAE) -> dict[str, float]:
    """End what the book learns: round it and return its figures."""
    round_to_half(book)
    book.eval()
    return judge_book(book)


@torch.no_grad()
def count_codes(network: DiscreteVAE, pictures: Tensor) -> Tensor:
    """Let the book keep how often each code is chosen for pictures, and the mean patch that it stands for.

    Returns:
        The usage in double precision, (codes,). A code that is not chosen keeps its patch.
    """
    codes = codes_of(network, pictures).flatten()
    counts = torch.bincount(codes, minlength=CODES)
    usage = counts.double() / codes.numel()
    network.usage.copy_(usage.half())
    places = F.unfold(pictures, STRIDE, stride=STRIDE).transpose(1, 2).flatten(0, 1)  # (all places, pixels)
    sums = torch.zeros(CODES, places.shape[1]).index_add_(0, codes, places)
    means = (sums / counts.clamp_min(1)[:, None]).reshape(network.patches.shape).half()
    chosen = counts > 0
    network.patches[chosen] = means[chosen].to(network.patches)
    return usage


@torch.no_grad()
def judge_book(network: DiscreteVAE) -> dict[str, float]:
    """Measure the usage of the book, which the network keeps, and how pictures come back from their codes."""
    pictures, _ = batch(np.random.default_rng(TEST_SEED), 400)
    network.patches.zero_()
    return _figures(network, pictures, count_codes(network, pictures))


@torch.no_grad()
def _glance(network: nn.Module) -> dict[str, float]:
    """Return the figures of a book by some pictures: in a fraction of a second, while it learns."""
    assert isinstance(network, DiscreteVAE)
    pictures, _ = batch(np.random.default_rng(TEST_SEED), GLANCE)
    codes = codes_of(network, pictures).flatten()
    return _figures(network, pictures, torch.bincount(codes, minlength=CODES).double() / codes.numel())


def _figures(network: DiscreteVAE, pictures: Tensor, usage: Tensor) -> dict[str, float]:
    used = usage[usage > 0]
    back = network(pictures)
    return {
        "squared_error": float((back - pictures).square().mean()),
        "used": float((usage > 0).sum()),
        "perplexity": float((-(used * used.log()).sum()).exp()),
    }


def train_writer(
    make: Callable[[], nn.Module], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train the book, then the transformer on its codes; `make` builds a network with both as `dvae` and `writer`.

    Epochs are shared out as in a whole training. Both are one course, which can be taken back across its middle.
    """
    every = BOOK_EPOCHS + WRITER_EPOCHS
    epochs = every if epochs is None else epochs
    first = round(epochs * BOOK_EPOCHS / every)
    with learning():
        network = seeded(make, seed)
        dvae, writer = network.dvae, network.writer
        assert isinstance(dvae, DiscreteVAE) and isinstance(writer, CaptionTransformer)
        dvae.load_state_dict(seeded(lambda: DiscreteVAE(SIDE), seed).state_dict())
        chances = np.random.default_rng(seed), np.random.default_rng(seed + 1)
        # one optimizer of both: what has no gradients stays
        groups: list[dict[str, Any]] = [
            {"params": dvae.parameters(), "weight_decay": 0.0},
            {"params": writer.parameters()},
        ]
        optimizer = torch.optim.AdamW(groups, lr=RATE, weight_decay=0.01)
        course = Course(
            network, optimizer, _two_rises(first * EPOCH), *chances, epochs=epochs, steps=EPOCH, progress=progress,
            judge=lambda network: _glance(network.dvae),
        )  # fmt: skip
        for _ in course:
            writing = course.at >= first * EPOCH
            if course.at == first * EPOCH:
                _closed(dvae)
            dvae.train(not writing)
            writer.train(writing)
            if writing:
                _learn_to_write(course, writer, dvae, chances[1])
            else:
                _learn_book(course, dvae, chances[0], first * EPOCH, seed)
        figures = _closed(dvae)
        round_to_half(network)
        network.eval()
        return network, {**figures, **judge_writer(dvae, writer)}


def _learn_to_write(course: Course, writer: CaptionTransformer, dvae: DiscreteVAE, chance: np.random.Generator) -> None:
    """Take one step that makes -log p(codes | caption) small, with every tenth caption left out."""
    pictures, words = batch(chance, BATCH)
    with torch.no_grad():
        codes = codes_of(dvae, pictures)
    words[torch.from_numpy(chance.random(len(words)) < UNCONDITIONAL)] = NO_WORD
    course.learn(F.cross_entropy(writer(words, codes).flatten(0, 1), codes.flatten()), clip=1.0)


@torch.no_grad()
def judge_writer(dvae: DiscreteVAE, writer: CaptionTransformer, count: int = JUDGED) -> dict[str, float]:
    """Return how many pictures show what their caption says, as `captioned.read` sees it.

    likeliest: no chance; one: drawn once with temperature 1; best_of_8: the best of eight by `score`; completed: the
    upper half was given. returned: the decoder's own picture of the codes of the right one.

    """
    chance = np.random.default_rng(TEST_SEED + 1)
    captions = [drawn(chance) for _ in range(count)]
    words = torch.tensor([c.numbers for c in captions])
    pictures = torch.from_numpy(np.stack([paint(c, chance) for c in captions]))
    own, places = codes_of(dvae, pictures), writer.count
    noise = [gumbel((count, places, CODES), 7 + k) for k in range(8)]
    drawn_codes = [writer.write(words, torch.zeros_like(own), 0, places, 1.0, g) for g in noise]
    scores = torch.stack([writer.score(words, codes) for codes in drawn_codes])
    best = torch.stack(drawn_codes)[scores.argmax(0), torch.arange(count)]
    rest = writer.write(words, own, places // 2, places, 1.0, noise[0])
    loss = F.cross_entropy(writer(words, own).flatten(0, 1), own.flatten())
    return {
        "nats_per_code": float(loss),
        "returned": _right(dvae, own, captions),
        "likeliest": _right(dvae, writer.write(words, torch.zeros_like(own), 0, places, 0.0, noise[0]), captions),
        "one": _right(dvae, drawn_codes[0], captions),
        "best_of_8": _right(dvae, best, captions),
        "completed": _right(dvae, rest, captions),
    }


def _right(dvae: DiscreteVAE, codes: Tensor, captions: list[Caption]) -> float:
    side = SIDE // STRIDE
    pictures = dvae.decoder(F.one_hot(codes, CODES).float().movedim(-1, 1).unflatten(2, (side, side)))
    return float(np.mean([same(c, read(p)) for c, p in zip(captions, pictures.numpy(), strict=True)]))
