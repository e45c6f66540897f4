"""Row N10: the VGAE is torch_geometric's with the same weights, and finds edges that were left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch_geometric.nn import VGAE as TheirVGAE
from torch_geometric.nn import GCNConv

from models.graphs.generation import vgae
from models.graphs.generation.vgae import VGAE, held_out, judged, loss_parts
from tests.models.graphs.relabelling import simple_graph

WEIGHTS = Path(__file__).resolve().parents[4] / "resources" / "weights" / "vgae.safetensors"


class TheirEncoder(nn.Module):
    """Kipf's encoder of torch_geometric's layers, of the sizes of ours."""

    def __init__(self, ours: VGAE) -> None:
        super().__init__()
        for name in ("conv1", "mean", "log_sigma"):
            layer = getattr(ours, name)
            setattr(self, name, GCNConv(layer.linear.in_features, layer.linear.out_features).double())

    def take(self, ours: VGAE) -> None:
        """Take the parameters of ours; the model round it draws its own when it is made."""
        for name in ("conv1", "mean", "log_sigma"):
            conv, layer = getattr(self, name), getattr(ours, name)
            conv.lin.weight.data.copy_(layer.linear.weight.data)
            conv.bias.data.copy_(layer.bias.data)

    def forward(self, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        h = self.conv1(x, index).relu()
        return self.mean(h, index), self.log_sigma(h, index)


def network() -> VGAE:
    made = VGAE()
    made.load_state_dict(load_file(WEIGHTS))
    return made.eval()


@torch.no_grad()
def test_codes_scores_and_divergence_are_torch_geometrics() -> None:
    ours = network().double()
    x, index = simple_graph(11, 20, vgae.CHANNELS)
    theirs = TheirVGAE(TheirEncoder(ours)).eval()
    theirs.encoder.take(ours)
    mean, log_sigma = theirs.encoder(x, index)
    found, log_variance = ours.posterior(x, index)
    torch.testing.assert_close(found, mean, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(log_variance, 2 * log_sigma, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(ours.decode(found)[0], theirs.decoder.forward_all(mean), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(ours(x, index)[:, 0], theirs.decode(mean, index), rtol=1e-10, atol=1e-10)
    wanted = theirs.kl_loss(mean, log_sigma) / len(x)
    assert float(loss_parts(ours, x.float().double(), index)[1]) == pytest.approx(float(wanted), rel=1e-6)


@torch.no_grad()
def test_the_loss_of_pairs_is_the_one_of_the_authors() -> None:
    """Weighted as in their code: an edge by (N² − E) / E, all by N² / (2 (N² − E)), self-loops among the edges."""
    ours = network().double()
    x, index = simple_graph(11, 20, vgae.CHANNELS)
    z = ours.encode(x, index)
    p = torch.sigmoid(z @ z.T).clamp(1e-12, 1 - 1e-12)
    wanted = torch.eye(len(x), dtype=torch.float64)
    wanted[index[1], index[0]] = 1.0
    edges, pairs = float(wanted.sum()), wanted.numel()
    nats = -((pairs - edges) / edges * wanted * p.log() + (1 - wanted) * (1 - p).log()).mean()
    found = float(loss_parts(ours, x, index)[0])
    assert found == pytest.approx(float(nats) * pairs / (2 * (pairs - edges)), rel=1e-6)


@torch.no_grad()
def test_the_loss_of_pairs_is_half_of_torch_geometrics_over_all_pairs_that_are_no_edges() -> None:
    """Theirs draws as many pairs as there are edges; given all of them it is the mean of both kinds, added."""
    ours = network().double()
    x, index = simple_graph(11, 20, vgae.CHANNELS)
    theirs = TheirVGAE(TheirEncoder(ours)).eval()
    theirs.encoder.take(ours)
    z = theirs.encode(x, index)
    joined = torch.eye(len(x), dtype=torch.bool)
    joined[index[0], index[1]] = True
    wanted = float(theirs.recon_loss(z, joined.nonzero().T, (~joined).nonzero().T))
    assert 2 * float(loss_parts(ours, x, index)[0]) == pytest.approx(wanted, rel=1e-6)
    fewer = joined.nonzero().T[:, :-1]
    assert 2 * float(loss_parts(ours, x, index)[0]) != pytest.approx(
        float(theirs.recon_loss(z, fewer, (~joined).nonzero().T)), rel=1e-6
    )


@pytest.mark.slow
def test_edges_that_were_left_out_are_found_as_stated() -> None:
    with torch.no_grad():
        found = judged(network())
    for name, figures in vgae.FIGURES.items():
        for key, value in zip(("AUC", "AP", "degrees"), figures):
            assert found[f"{name} {key}"] == pytest.approx(value, abs=0.01), (name, key)
    assert {name.split(" ")[0] for name in found} == set(vgae.FIGURES)


def test_what_is_left_out_is_no_part_of_what_remains() -> None:
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 2], [1, 3]])
    kept, left, none = held_out(pairs, 8, np.random.default_rng(0))
    every = {tuple(p) for p in np.sort(pairs, 1).tolist()}
    assert len(kept) + len(left) == len(pairs) and len(none) == len(left)
    assert {tuple(p) for p in np.sort(np.concatenate([kept, left]), 1).tolist()} == every
    assert not {tuple(p) for p in none.tolist()} & every


def test_codes_move_with_their_nodes() -> None:
    ours = network().double()
    x, index = simple_graph(11, 20, vgae.CHANNELS)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(2))
    back = torch.argsort(order)
    with torch.no_grad():
        moved = ours.encode(x[order], back[index])
        torch.testing.assert_close(moved, ours.encode(x, index)[order], rtol=1e-10, atol=1e-10)


def test_in_training_codes_are_drawn() -> None:
    ours = network().train()
    x, index = (t.float() if t.is_floating_point() else t for t in simple_graph(11, 20, vgae.CHANNELS))
    assert not torch.equal(ours(x, index), ours(x, index))
    sum(loss_parts(ours, x, index), torch.zeros(())).backward()
    assert float(ours.log_sigma.linear.weight.grad.abs().max()) > 0  # type: ignore[union-attr]
