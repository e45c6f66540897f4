"""Row L4: what the shipped networks of images do, the numbers that say how good samples are, and who learns when."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import sqrtm

from explorer.declare.card import Card
from explorer.network.opening.loading import load_model
from explorer.spaces.grid.samples.faces import KINDS, all_faces, faces, number, read
from explorer.work.training.course import Course, driven_by
from models.generation import acgan, cyclegan, dcgan, sgan, stackgan
from models.training.adversarial import faces as judged_faces
from models.training.adversarial import images as adversarial
from models.training.adversarial import in_turn, quality
from models.training.adversarial.digits import class_figures, plain_figures
from models.training.adversarial.faces import arithmetic, directions, face_figures

MODULES: dict[str, Any] = {"dcgan": dcgan, "acgan": acgan, "sgan": sgan}
CARDS: dict[str, Card] = {name: module.CARD for name, module in MODULES.items()}
JUDGES: dict[str, Any] = {"dcgan": face_figures, "acgan": class_figures, "sgan": plain_figures}
each_card = pytest.mark.parametrize("name", CARDS)


def shipped(name: str, **params: float) -> Any:
    return load_model(CARDS[name], params)


@each_card
@pytest.mark.slow
def test_shipped_weights_do_what_the_card_says(name: str) -> None:
    with torch.no_grad():
        found = JUDGES[name](shipped(name))
    for key in MODULES[name].FIGURES.keys() & found.keys():
        assert found[key] == pytest.approx(MODULES[name].FIGURES[key], rel=0.02, abs=0.012), key


@pytest.mark.parametrize("module", [*MODULES.values(), cyclegan, stackgan], ids=lambda m: m.CARD.name)
def test_training_draws_the_same_twice_and_each_half_learns_in_its_turn(module: Any) -> None:
    seen = []

    class Stop:
        def begun(self, course: Course) -> None:
            seen.append({k: v.clone() for k, v in course.network.state_dict().items()})

        def stepped(self, course: Course) -> None:
            seen.append({k: v.clone() for k, v in course.network.state_dict().items()})
            course.choose((in_turn.D_ALONE, in_turn.G_ALONE)[course.at - 1] if course.at < 3 else "in turn")
            course.over = course.at == 3

    for _ in range(2):
        with driven_by(Stop()):
            adversarial.train(module.build, module.PHASES, module.RECIPE, lambda n: {}, epochs=1)
    assert all(torch.equal(a, b) for one, two in zip(seen[:4], seen[4:]) for a, b in zip(one.values(), two.values()))
    phase, network = module.PHASES[0], module.build()
    halves = {}
    for half in ("d_half", "g_half"):
        own = {id(p) for m in getattr(phase, half)(network) for p in m.parameters()}
        halves[half] = {n for n, p in network.named_parameters() if id(p) in own}
    moved = [{n for n in a if not torch.equal(a[n], b[n])} for a, b in pairwise(seen[:4])]
    learned = set().union(*halves.values())
    assert moved[0] & learned == learned
    assert moved[1] & learned == halves["d_half"] and moved[2] & learned == halves["g_half"]


def test_directions_of_traits_are_the_same_to_the_bit_whatever_lies_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dcgan that was cut off and resumed differed from an unbroken one in the last bit of one of them."""
    network = shipped("dcgan")
    known = network.add.ways.clone()
    with torch.no_grad():
        directions(network)
        torch.testing.assert_close(network.add.ways, known, atol=0.02, rtol=0)  # of weights not yet rounded
        monkeypatch.setattr(judged_faces, "DRAWN", 300)
        found, kept = [], []
        for k in range(6):
            kept.append(torch.zeros(1000 * k + 7))
            directions(network)
            found.append(network.add.ways.clone())
    assert all(torch.equal(found[0], ways) for ways in found[1:])


def test_a_trait_that_no_picture_has_is_no_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    network = shipped("dcgan")
    monkeypatch.setattr(judged_faces, "DRAWN", 20)
    monkeypatch.setattr(judged_faces, "read", lambda images: np.zeros((len(images), 3), np.int64))
    with torch.no_grad():
        directions(network)
    assert float(network.add.ways.abs().max()) < 1e-6


def test_precision_is_of_what_is_made_and_recall_of_the_data() -> None:
    chance = torch.Generator().manual_seed(0)
    data = torch.randn(400, 3, generator=chance)
    few = 0.05 * torch.randn(400, 3, generator=chance)  # all in the middle
    assert quality.precision(data, few) > 0.95 and quality.precision(few, data) < 0.2
    far = data + 100
    assert quality.precision(data, far) == 0 and quality.precision(data, data) == 1


def test_frechet_is_the_formula_with_a_root_of_the_product() -> None:
    chance = torch.Generator().manual_seed(1)
    one = torch.randn(300, 4, generator=chance, dtype=torch.float64) @ torch.randn(
        4, 4, generator=chance, dtype=torch.float64
    )
    other = 1.0 + 2 * torch.randn(200, 4, generator=chance, dtype=torch.float64)
    a, b = (np.cov(v.numpy().T) for v in (one, other))
    wanted = ((one.mean(0) - other.mean(0)) ** 2).sum() + np.trace(a + b - 2 * sqrtm(a @ b).real)
    assert quality.frechet(one, other) == pytest.approx(float(wanted), rel=1e-9)
    assert quality.frechet(one, one) == pytest.approx(0, abs=1e-8)


def test_faces_are_read_as_they_were_drawn_and_noise_is_not() -> None:
    images, traits = faces(500, 7)
    assert (read(images) == traits).all()
    assert sorted(number(np.array(KINDS))) == list(range(8))
    noisy = np.clip(images + 0.2 * np.random.default_rng(0).standard_normal(images.shape), 0, 1)
    assert (read(noisy) == traits).all(1).mean() > 0.95
    known = all_faces()
    assert known.names[known.labels[0]].endswith("glasses") and len(known.inputs) == 1000


def test_arithmetic_counts_what_is_right() -> None:
    """A generator whose code is the traits themselves does every sum; one that ignores its code is right by chance."""
    images, traits = faces(3000, 4)
    known = torch.tensor(images)

    class Exact:
        def prior(self, count: int, chance: torch.Generator) -> torch.Tensor:
            return torch.from_numpy(traits[torch.randint(3000, (count,), generator=chance).numpy()]).float()

        def generator(self, z: torch.Tensor) -> torch.Tensor:
            kinds = number(np.clip(z.round().numpy(), 0, 1).astype(int))
            return torch.stack([known[int(np.flatnonzero(number(traits) == k)[0])] for k in kinds])

    class Deaf(Exact):
        def generator(self, z: torch.Tensor) -> torch.Tensor:
            return known[: len(z)]

    assert arithmetic(Exact()) == 1.0
    assert arithmetic(Deaf()) < 0.3


def test_a_trait_is_added_to_a_face_along_its_direction() -> None:
    images, traits = faces(200, 9)
    without = torch.from_numpy(images[traits[:, 0] == 0])
    with torch.no_grad():
        plain, added = (read(shipped("dcgan", glasses=g)(without).numpy())[:, 0].mean() for g in (0.0, 1.2))
    assert added > plain + 0.5


def test_truncation_makes_faces_more_alike() -> None:
    with torch.no_grad():
        spread = []
        for share in (1.0, 0.5, 0.0):
            network = shipped("dcgan", truncation=share)
            z, words = network.draw_codes(100, 0)
            spread.append(float(network.decode(z).std(0).mean()))
    assert spread[0] > 1.05 * spread[1] and spread[2] < 1e-6 and "N(0, 1)" in words


def test_a_grid_of_classes_has_the_same_z_in_each() -> None:
    z, words = acgan.ACGAN().draw_codes(200, 5)
    classes, style = z[:, :10].argmax(1), z[:, 10:]
    assert classes.tolist() == [k for k in range(10) for _ in range(20)] and "class" in words
    assert torch.equal(style[:20], style[20:40]) and acgan.ACGAN().code_names(z)[::40] == ["0", "2", "4", "6", "8"]


def test_a_digit_is_written_as_the_one_that_is_chosen() -> None:
    images = torch.tensor(acgan.digits().inputs[:200])
    with torch.no_grad():
        found = quality.read_digits(shipped("acgan", digit=8.0)(images))
    assert float((found == 7).double().mean()) > 0.85


def test_digits_without_a_label_teach_d() -> None:
    assert sgan.FIGURES["error"] < 0.7 * sgan.FIGURES["alone"]
    images, labels = sgan.labelled()
    assert torch.equal(labels, torch.arange(10).repeat_interleave(10)) and images.shape == (100, 1, 29, 29)
    with torch.no_grad():
        network = shipped("sgan")
        real = torch.from_numpy(acgan.digits().inputs[:200].copy())
        made = network.made(200, torch.Generator().manual_seed(3))
        p = [network(x).softmax(1)[:, -1].mean() for x in (made, real)]
    assert p[0] > p[1]
