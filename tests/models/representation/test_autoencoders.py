"""Row L2: losses are those of the papers, a linear autoencoder finds PCA's plane, shipped weights do what is stated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.sets import all_sprites, two_sprites
from models.layers.autoencoding import Sampling
from models.representation import autoencoders, equivariant_autoencoder, linear_autoencoder, variational
from models.training.adversarial.quality import read_digits
from models.training.images.autoencoders import Recipe, cross_entropy, divergence, gap, judged, train

WEIGHTS = Path(__file__).resolve().parents[3] / "resources" / "weights"
CARDS: dict[str, Card] = {
    card.name: card for card in (*autoencoders.CARD, *variational.CARD, *equivariant_autoencoder.CARD)
}
FIGURES: dict[str, Any] = {**autoencoders.FIGURES, **variational.FIGURES, **equivariant_autoencoder.FIGURES}
DATA = {"sprite-vae": "two-factor sprites", "c4-autoencoder": "sprites", "d4-autoencoder": "sprites"}


def shipped(name: str) -> Any:
    card = CARDS[name]
    network: Any = card.build(**{p.name: p.default for p in card.params})
    assert card.weights is not None
    network.load_state_dict(load_file(WEIGHTS / card.weights))
    return network.eval()


def digits(count: int = 8) -> tuple[Tensor, Tensor]:
    images, labels = digit_images.load("test")
    return torch.tensor(images[:count]), torch.tensor(labels[:count])


@pytest.mark.parametrize("name", CARDS)
def test_shipped_weights_do_what_the_card_says(name: str) -> None:
    with torch.no_grad():
        found = judged(shipped(name), DATA.get(name, "digits"))
    for key in FIGURES[name].keys() & found.keys():
        assert found[key] == pytest.approx(FIGURES[name][key], rel=0.01, abs=0.006), key


@pytest.mark.slow
def test_the_linear_one_spans_the_plane_of_pca() -> None:
    network = linear_autoencoder.LinearAutoencoder()
    network.load_state_dict(load_file(WEIGHTS / "linear-autoencoder.safetensors"))
    images = torch.tensor(digit_images.load("train")[0]).double().flatten(1)
    # scikit-learn's own, another routine than the one that the card compares with
    from sklearn.decomposition import PCA

    wanted = torch.tensor(PCA(2, svd_solver="full").fit(images.numpy()).components_)
    assert linear_autoencoder.subspace_angle(network.decoder.weight.T, wanted) < 1e-6
    assert linear_autoencoder.subspace_angle(network.code.weight, wanted) < 1e-6
    third = torch.tensor(PCA(3, svd_solver="full").fit(images.numpy()).components_[[0, 2]])
    assert linear_autoencoder.subspace_angle(network.decoder.weight.T, third) > 1.0


def test_a_small_angle_is_told_as_it_is() -> None:
    plane = torch.eye(2, 9, dtype=torch.float64)
    tilted = plane.clone()
    tilted[1, 5] = 1e-9
    assert linear_autoencoder.subspace_angle(plane, tilted) == pytest.approx(1e-9, rel=1e-6)


@pytest.mark.slow
def test_training_the_linear_one_lowers_its_error() -> None:
    told: list[str] = []
    _, one = linear_autoencoder.train(epochs=3, progress=lambda *said: told.append(said[2]))
    _, more = linear_autoencoder.train(epochs=80)
    assert len(told) == 3 and more["angle"] < one["angle"] / 100


def test_the_bound_is_the_one_written_out() -> None:
    """With distributions of torch and a draw made by hand: nothing of the network's own sums is used."""
    network = shipped("vae").double()
    images, labels = digits()
    x = images.double()
    mean, log_variance = network.posterior(x)
    noise = torch.randn(mean.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)

    class Drawn(nn.Module):
        def forward(self, mean: Tensor, log_variance: Tensor) -> Tensor:
            return mean + torch.exp(log_variance / 2) * noise

    network.code = Drawn()
    parts = variational.negative_elbo(network, x, labels)
    q = torch.distributions.Normal(mean, torch.exp(log_variance).sqrt())
    p = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
    kl = torch.distributions.kl_divergence(q, p).sum(1).mean()
    shown = network.decoder(q.mean + q.stddev * noise)
    nats = -(x * torch.log(shown) + (1 - x) * torch.log(1 - shown)).sum((1, 2, 3)).mean()
    assert float(parts["divergence"].detach()) == pytest.approx(float(kl.detach()), rel=1e-10)
    assert float(parts["reconstruction"].detach()) == pytest.approx(float(nats.detach()), rel=1e-8)


def test_parts_are_drawn_in_nats_and_weighed_in_the_sum() -> None:
    """The divergence of every recipe is the one that the latent plane tells, whatever it is multiplied by."""
    images = torch.rand(5, 1, 29, 29, generator=torch.Generator().manual_seed(2))
    labels = torch.arange(5)
    for network, loss, recipe in (
        (variational.build_sprites(), variational.negative_elbo, variational.SPRITES),
        (variational.build_conditional(), variational.told, variational.TOLD),
    ):
        with torch.no_grad():
            mean, log_variance = network.posterior(images)
            kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).mean(0)
            parts = loss(network, images, labels)
        assert float(parts["divergence"]) == pytest.approx(float(kl.sum()), rel=1e-5)
        charged = 4.0 * kl.sum() if recipe is variational.SPRITES else kl.clamp(min=1.5).sum()
        assert float(recipe.total(parts)) == pytest.approx(float(parts["reconstruction"] + charged), rel=1e-6)


@pytest.mark.slow
def test_the_bound_lies_below_the_likelihood() -> None:
    """By importance sampling with 4,000 draws an image, log p(x) is larger than the mean bound of one draw."""
    network = shipped("vae").double()
    x = digits(3)[0].double()
    with torch.no_grad():
        mean, log_variance = network.posterior(x)
        noise = torch.randn(4000, *mean.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        z = mean + torch.exp(log_variance / 2) * noise
        shown = torch.stack([network.logits(part) for part in z])
        nats = -nn.functional.binary_cross_entropy_with_logits(shown, x.expand_as(shown), reduction="none")
        normal = torch.distributions.Normal(0.0, 1.0)
        posterior = torch.distributions.Normal(mean, torch.exp(log_variance / 2))
        weights = nats.sum((2, 3, 4)) + normal.log_prob(z).sum(2) - posterior.log_prob(z).sum(2)
        likelihood = torch.logsumexp(weights, 0) - np.log(len(z))
        bound = weights.mean(0)
    assert (likelihood > bound).all() and (likelihood - bound < 20).all()


def test_divergence_of_each_number_is_that_of_the_formula() -> None:
    assert divergence(torch.tensor([[0.0]]), torch.tensor([[0.0]])).item() == 0.0
    assert divergence(torch.tensor([[2.0]]), torch.tensor([[np.log(0.25)]])).item() == pytest.approx(
        0.5 * (4 + 0.25 - 1 - np.log(0.25)), rel=1e-6
    )


def test_without_the_reparametrisation_no_gradient_reaches_the_encoder() -> None:
    x, _ = digits()
    for mode, reaches in (("reparametrised", True), ("stopped", False), ("mean", True)):
        network = variational.Variational(2, mode, two_sprites).eval()
        network(x).sum().backward()
        there = network.encoder.conv1.weight.grad
        assert (there is not None and float(there.abs().max()) > 0) == reaches, mode
        assert network.decoder.conv2.weight.grad is not None


def test_stopped_and_reparametrised_codes_are_the_same_numbers() -> None:
    mean, log_variance = torch.randn(4, 3), torch.randn(4, 3)
    one, other, none = (Sampling(3, mode)(mean, log_variance) for mode in ("reparametrised", "stopped", "mean"))
    sampled = Sampling(3, "reparametrised").eval()(mean, log_variance)
    assert torch.equal(Sampling(3, "stopped").eval()(mean, log_variance), sampled)
    assert torch.equal(Sampling(3, "mean").eval()(mean, log_variance), mean)
    assert not torch.equal(one, other) and not torch.equal(none, mean), "training draws anew in every mode"


def test_four_of_six_numbers_collapse_and_the_decoder_does_not_look_at_them() -> None:
    network = shipped("sprite-vae")
    x = torch.tensor(two_sprites().inputs)
    with torch.no_grad():
        kl = divergence(*network.posterior(x)).mean(0)
        z = network.encode(x[:50])
        moved = []
        for k in range(6):
            other = z.clone()
            other[:, k] += 2.0
            moved.append(float((network.decode(other) - network.decode(z)).abs().mean()))
    used = kl > 0.01
    assert int(used.sum()) == 2
    assert min(np.array(moved)[used.numpy()]) > 10 * max(np.array(moved)[~used.numpy()])


def test_the_gap_is_one_for_a_code_that_is_the_factors_and_none_for_a_mixture() -> None:
    chance = np.random.default_rng(0)
    factors = {"a": chance.uniform(size=4000), "b": chance.uniform(size=4000)}
    both = np.stack([factors["a"], factors["b"]], 1)
    assert min(gap(both**3, factors).values()) > 0.9
    turned = both @ np.array([[1.0, 1.0], [1.0, -1.0]])
    assert max(gap(turned, factors).values()) < 0.1
    network = shipped("sprite-vae")
    with torch.no_grad():
        codes = network.encode(torch.tensor(two_sprites().inputs)).double().numpy()
    found = gap(codes, dict(two_sprites().factors))
    assert found["size"] == pytest.approx(FIGURES["sprite-vae"]["gap_size"], abs=0.02)
    assert found["x"] == pytest.approx(FIGURES["sprite-vae"]["gap_x"], abs=0.02)


def test_contraction_is_the_squared_jacobian() -> None:
    network = autoencoders.Autoencoder().double()
    x = digits(2)[0].double()
    _, found = autoencoders.contraction(network, x)
    whole = torch.autograd.functional.jacobian(network.encode, x)
    wanted = sum(float(whole[i, :, i].square().sum()) for i in range(2)) / 2
    assert float(found.detach()) == pytest.approx(wanted, rel=1e-10)
    images = torch.tensor(digit_images.load("test")[0])
    norms = {n: float(autoencoders.contraction(shipped(n), images)[1].detach()) for n in autoencoders.FIGURES}
    for name, norm in norms.items():
        assert norm == pytest.approx(FIGURES[name]["contraction"], rel=0.02)
    assert norms["contractive-autoencoder"] < norms["autoencoder"] / 20


@pytest.mark.parametrize("name", [*autoencoders.FIGURES, "vae"])
def test_most_digits_of_every_class_come_back_as_what_they_are(name: str) -> None:
    images, labels = (torch.tensor(part) for part in digit_images.load("test"))
    network = shipped(name)
    with torch.no_grad():
        read = read_digits(network.decode(network.encode(images)))
    shares = [float((read[labels == digit] == digit).double().mean()) for digit in range(10)]
    assert min(shares) > 0.5, shares
    assert np.mean(shares) > 0.85


def test_random_codes_of_the_variational_one_are_of_all_digits() -> None:
    z = torch.randn(1000, 2, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        found = torch.bincount(read_digits(shipped("vae").decode(z)), minlength=10)
    assert int(found.min()) > 50, found.tolist()


def test_the_denoising_one_takes_noise_away() -> None:
    images = torch.tensor(digit_images.load("test")[0])
    noisy = autoencoders.Corrupt(autoencoders.NOISE)(images)

    def error(name: str) -> float:
        network = shipped(name)
        with torch.no_grad():
            return float(cross_entropy(network.logits(network.encode(noisy)), images))

    assert error("denoising-autoencoder") < error("autoencoder") - 10


def test_the_class_has_left_the_code_that_is_told_it() -> None:
    images, labels = (torch.tensor(part) for part in digit_images.load("test"))
    network = shipped("conditional-vae")
    with torch.no_grad():
        right = float(cross_entropy(network.logits(network.encode(images), labels), images))
        wrong = float(cross_entropy(network.logits(network.encode(images), (labels + 1) % 10), images))
        as_three, as_eight = (variational.build_conditional(d) for d in (3.0, 8.0))
        for one in (as_three, as_eight):
            one.load_state_dict(network.state_dict())
        shown = [one.eval()(images[:5]) for one in (as_three, as_eight)]
    assert right < wrong - 20
    assert float((shown[0] - shown[1]).abs().max()) > 0.3


def test_the_same_seed_trains_the_same_network_and_another_does_not() -> None:
    def once(seed: int) -> dict[str, Tensor]:
        torch.rand(seed + 2)
        recipe = Recipe("digits", epochs=1)
        network, _ = train(variational.build, variational.negative_elbo, recipe, seed=seed, subset=64)
        return network.state_dict()

    one, again, other = once(0), once(0), once(1)
    assert all(torch.equal(one[key], again[key]) for key in one)
    assert not torch.equal(one["mean.weight"], other["mean.weight"])


@pytest.mark.parametrize("name", ["c4-autoencoder", "d4-autoencoder"])
def test_the_code_of_the_equivariant_ones_permutes(name: str) -> None:
    network = shipped(name).double()
    h = network.encoder.lift.group
    x = torch.tensor(all_sprites().inputs[:6]).double()
    with torch.no_grad():
        z = network.encode(x)
        for g in h.elements():
            mirrored, turns = divmod(g, 4)
            moved = torch.rot90(x.flip(-1) if mirrored else x, turns, (-2, -1))
            wanted = z.unflatten(1, (-1, h.order))[:, :, h.regular_permutation(g)].flatten(1)
            assert float((network.encode(moved) - wanted).abs().max() / z.abs().max()) < 1e-12
            image = network.decode(wanted)
            back = torch.rot90(network.decode(z).flip(-1) if mirrored else network.decode(z), turns, (-2, -1))
            assert float((image - back).abs().max()) < 1e-12
        assert float((network.encode(x.flip(-2)) - z).abs().max() / z.abs().max()) > 1e-2
