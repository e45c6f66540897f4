"""Row G11: codes and captions: the relaxation, the writer's own pass, the order of time, and what is stated of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from explorer.app.training.driving import Drive, Steers
from explorer.network.opening.loading import load_model
from explorer.spaces.grid.drawing.tokens import perplexity
from explorer.spaces.grid.samples.captioned import Caption, drawn, paint, read, same
from models.generation.dalle import CARD, PLACES, ROWS, Book, DallE
from models.layers.vision.captions import NO_WORD, CaptionTransformer
from models.layers.vision.codes import CODES, RELAXED, STRAIGHT, Choice, DiscreteVAE, elbo_loss, gumbel
from models.training.images import captions as training

EXACT = 1e-12


def dalle(**params: float) -> DallE:
    network = load_model(CARD[1], params)
    assert isinstance(network, DallE)
    return network


def writer() -> CaptionTransformer:
    torch.manual_seed(0)
    made = CaptionTransformer(24).double().eval()
    with torch.no_grad():
        for p in made.parameters():
            p.normal_(std=0.3)
    return made


def words(count: int = 2) -> torch.Tensor:
    chance = np.random.default_rng(3)
    return torch.tensor([drawn(chance).numbers for _ in range(count)])


def test_gumbel_noise_draws_with_the_probabilities_it_is_given() -> None:
    p = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    noise = gumbel((40_000, 4), 1)
    share = torch.bincount((p.log() + noise).argmax(1), minlength=4) / 40_000
    assert float((share - p).abs().max()) < 0.01  # four standard deviations
    colder = torch.bincount((p.log() / 0.5 + noise).argmax(1), minlength=4) / 40_000
    assert float((colder - p**2 / (p**2).sum()).abs().max()) < 0.01


def test_straight_through_has_the_value_of_the_choice_and_the_derivative_of_the_relaxed_one() -> None:
    logits = torch.randn(1, CODES, 6, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(1, CODES, 6, 6, dtype=torch.float64)
    hard, soft = Choice(6, 0.7, STRAIGHT), Choice(6, 0.7, RELAXED)
    assert torch.equal(hard.noise, soft.noise)
    value = hard(logits)
    assert float((value.detach() - F.one_hot(soft(logits).argmax(1), CODES).movedim(-1, 1)).abs().max()) < EXACT
    grads = [torch.autograd.grad((one(logits) * weight).sum(), logits)[0] for one in (hard, soft)]
    torch.testing.assert_close(grads[0], grads[1], rtol=0, atol=EXACT)
    assert float(grads[0].abs().max()) > 1e-3
    by_hand = ((logits.detach() + soft.noise) / 0.7).softmax(1)
    torch.testing.assert_close(soft(logits).detach(), by_hand, rtol=0, atol=EXACT)


def test_the_loss_is_the_formula() -> None:
    torch.manual_seed(0)
    network, x = DiscreteVAE(24).double(), torch.rand(2, 3, 24, 24, dtype=torch.float64)
    noise = gumbel((2, CODES, 6, 6), 5)
    loss, missed, kl = elbo_loss(network, x, noise, 0.8, 0.3, 0.2)
    q = network.encoder(x).softmax(1)
    y = ((network.encoder(x) + noise) / 0.8).softmax(1)
    p = network.decoder(y)
    own_missed = -(x * p.log() + (1 - x) * (1 - p).log()).sum() / 2
    own_kl = (q * (q * CODES).log()).sum() / 2
    mean = q.mean((0, 2, 3))
    own = own_missed + 0.3 * own_kl - 0.2 * 36 * -(mean * mean.log()).sum()
    for found, wanted in ((missed, own_missed), (kl, own_kl), (loss, own)):
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=0)


def test_perplexity_counts_what_is_used_alike() -> None:
    assert perplexity(np.array([0.25, 0.25, 0.25, 0.25, 0])) == pytest.approx(4)
    assert perplexity(np.array([1.0, 0, 0])) == pytest.approx(1)
    assert perplexity(np.zeros(3)) == 0


def test_nothing_is_heard_of_later_codes() -> None:
    made, given = writer(), torch.randint(0, CODES, (2, PLACES), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        before = made(words(), given)
        for t in (0, 7, PLACES - 1):
            other = given.clone()
            other[:, t:] = (other[:, t:] + 1) % CODES
            after = made(words(), other)
            assert torch.equal(after[:, : t + 1], before[:, : t + 1])
            assert t == PLACES - 1 or float((after[:, t + 1 :] - before[:, t + 1 :]).abs().max()) > 1e-6
        for block in made.each_block:
            block.attn.causal = False
        assert float((made(words(), other) - made(words(), given)).abs()[:, 0].max()) > 1e-6, "the mask does it"


def test_writing_with_kept_keys_is_the_whole_pass_code_by_code() -> None:
    made, noise = writer(), gumbel((PLACES, CODES), 2)
    start = torch.zeros(2, PLACES, dtype=torch.int64)
    found = made.write(words(), start, 0, PLACES, 0.9, noise)
    wanted = start.clone()
    with torch.no_grad():
        for t in range(PLACES):
            wanted[:, t] = (made(words(), wanted)[:, t] / 0.9 + noise[t]).argmax(-1)
        assert torch.equal(found, wanted)
        log_p = made(words(), found).log_softmax(-1).gather(-1, found[..., None]).sum((1, 2))
    torch.testing.assert_close(made.score(words(), found), log_p, rtol=1e-12, atol=0)
    part = made.write(words(), found, 10, 20, 0.0, noise)
    assert torch.equal(part[:, :10], found[:, :10]) and torch.equal(part[:, 20:], found[:, 20:])


def test_kept_rows_are_those_of_the_picture_and_the_rest_is_made() -> None:
    x = torch.from_numpy(paint(Caption(0, 0, 0, 2, 1)))[None]
    kept, none = dalle(rows=3), dalle(rows=0)
    with torch.no_grad():
        own = kept.dvae.encoder(x).argmax(1).flatten(1)
        codes = kept.completions(kept.words(x), own)[0][0]
        assert torch.equal(codes[:, : 3 * ROWS], own[:, : 3 * ROWS])
        assert not torch.equal(none(x), kept(x))
        black = none(torch.zeros_like(x))
        torch.testing.assert_close(none(x), black, rtol=0, atol=0)  # without a row kept the picture counts for nothing
        all_rows = dalle(rows=ROWS)(x)
        torch.testing.assert_close(all_rows, kept.dvae(x), rtol=0, atol=1e-6)


def test_the_best_of_the_candidates_is_the_answer() -> None:
    network = dalle(candidates=6)
    x = torch.zeros(2, 3, 24, 24)
    every, scores = network.completions(network.words(x), torch.zeros(2, PLACES, dtype=torch.int64))
    assert bool((scores[:-1] >= scores[1:]).all()) and float((scores[0] - scores[-1]).min()) > 0
    for codes, score in zip(every, scores, strict=True):
        torch.testing.assert_close(network.writer.score(network.words(x), codes), score)


def test_without_a_caption_every_word_is_left_out() -> None:
    network = dalle(caption=1)
    assert bool((network.words(torch.zeros(2, 3, 24, 24)) == NO_WORD).all())


def test_pictures_are_read_as_what_they_show() -> None:
    chance = np.random.default_rng(0)
    captions = [drawn(chance) for _ in range(60)]
    assert all(same(c, read(paint(c, chance))) for c in captions)
    other = [Caption(c.other_colour, c.other_shape, c.relation, c.colour, c.shape) for c in captions]
    assert not any(same(c, read(paint(o, chance))) for c, o in zip(captions, other, strict=True))


@pytest.mark.slow
def test_the_shipped_weights_do_what_is_stated() -> None:
    network = dalle()
    found = training.judge_writer(network.dvae, network.writer, 200)
    stated = {"one": 0.59, "best_of_8": 0.78, "likeliest": 0.83, "completed": 0.635, "returned": 0.825}
    assert {name: found[name] for name in stated} == pytest.approx(stated, abs=0.03)
    assert found["nats_per_code"] == pytest.approx(0.241, abs=0.005)
    book = load_model(CARD[0])
    assert isinstance(book, Book)
    measured = training.judge_book(book)
    assert measured["squared_error"] == pytest.approx(0.0029, abs=2e-4)
    assert measured["perplexity"] == pytest.approx(40.2, abs=0.5) and measured["used"] == 63


@pytest.mark.slow
def test_a_training_is_taken_back_from_the_writer_to_the_book() -> None:
    kept: dict[str, Any] = {}

    class Back(Steers):
        def stepped(self, drive: Drive) -> None:
            course = drive.course
            assert course is not None
            if course.at == training.EPOCH - 3 and not kept:
                kept["book"] = deepcopy(course.state())
            if course.at == training.EPOCH + 3 and "codes" not in kept:
                kept["codes"] = {name: value.clone() for name, value in course.network.state_dict().items()}
                drive.restore(kept["book"])
            elif course.at == training.EPOCH + 3:
                again = course.network.state_dict()
                assert all(torch.equal(value, again[name]) for name, value in kept["codes"].items())
                kept["seen"] = True
                drive.finish()

    Drive(CARD[1], 2, 5, 1.0, Back()).run()  # an epoch of either
    assert kept["seen"]
