"""Codes in frames: of shipped networks, on somebody's own, and nothing of networks without a code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import models
from explorer.app.answering.engine import LocalEngine
from explorer.app.command import cli
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.square.analyses.latent.part import Latent
from explorer.state.state import State
from explorer.work.progress import Cancelled, listening

CARDS = scan(models, "CARD")
OWN = """
import torch
from torch import nn
INPUT_SHAPE = (1, 29, 29)
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(841, 3)
        self.up = nn.Linear(3, 841)
    def encode(self, x):
        return self.down(x.flatten(1))
    def decode(self, z):
        return self.up(z).reshape(-1, 1, 29, 29)
    def forward(self, x):
        return self.decode(self.encode(x))
class Words(Own):
    def encode(self, text):
        raise KeyError(text)
    def forward(self, x):
        return self.decode(self.down(x.flatten(1)))
def make():
    torch.manual_seed(0)
    return Own()
def words():
    torch.manual_seed(0)
    return Words()
"""


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(CARDS)
    yield made
    made.close()


def codes(engine: LocalEngine, state: State) -> Latent | None:
    return list(engine.refine(engine.answer(state, lambda: False)))[-1].squares[0].latent


def state(model: str, chain: str = "rotate:90", **more: object) -> State:
    return State(model, steps=parse_chain(chain), device="cpu", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["c4-autoencoder", "d4-autoencoder"])
@pytest.mark.slow
def test_the_code_of_an_equivariant_network_rotates(engine: LocalEngine, name: str) -> None:
    found = codes(engine, state(name, latent="@1,1>4"))
    assert found is not None and found.busy == "" and found.orbit is not None
    assert found.orbit.kind == "rotates" and "turning" in found.offered
    radius = np.linalg.norm(found.orbit.path[found.orbit.exact], axis=1)
    assert np.ptp(radius) < 1e-4 * radius.mean(), "quarter turns of an arrow have its length"
    assert found.there is not None and np.allclose(found.there, found.wanted, atol=1e-4 * radius.mean())
    assert found.grid is not None and found.decoded is not None and found.walk is not None
    assert np.allclose(found.walk.pixels[0], found.picture, atol=1e-6)


def test_that_of_a_plain_one_obeys_no_law(engine: LocalEngine) -> None:
    found = codes(engine, state("autoencoder"))
    assert found is not None and found.orbit is not None and found.orbit.kind in ("jumps", "wanders")
    assert found.divergence.size == 0 and found.samples is not None and "Gaussian" in found.drawn


@pytest.mark.slow
def test_a_variational_one_tells_its_bound(engine: LocalEngine) -> None:
    found = codes(engine, state("sprite-vae"))
    assert found is not None and (found.divergence > 0.01).sum() == 2
    assert found.terms["bound"] == pytest.approx(-found.terms["reconstruction"] - found.terms["divergence"])
    assert found.terms["divergence"] == pytest.approx(found.divergence.sum())
    assert found.drawn == "z from N(0, 1)" and len(found.axes) == 2


def test_places_decode_to_what_the_network_decodes(engine: LocalEngine) -> None:
    found = codes(engine, state("vae", latent="axes@0.7,-0.4"))
    assert found is not None and found.decoded is not None
    network = engine.network(state("vae"), "vae")
    with torch.no_grad():
        wanted = network.decode(torch.tensor([[0.7, -0.4]]))[0, 0].numpy()  # type: ignore[operator]
    assert np.abs(found.decoded - wanted).max() < 1e-5


def test_a_frame_has_what_is_known_at_once_and_a_drag_needs_no_idle_time(engine: LocalEngine) -> None:
    first = engine.answer(state("vae"), lambda: False).squares[0].latent
    assert first is not None and not first.ready and first.busy
    codes(engine, state("vae"))
    again = engine.answer(state("vae", latent="@0.5,0.5"), lambda: False).squares[0].latent
    assert again is not None and again.ready and again.decoded is not None and again.samples is not None


@pytest.mark.slow
def test_newer_work_takes_over_and_nothing_is_lost(engine: LocalEngine) -> None:
    frame = engine.answer(state("vae"), lambda: False)

    def hurry(text: str, share: float) -> None:
        if text.startswith("Decoding random"):
            raise Cancelled

    with listening(hurry), pytest.raises(Cancelled):
        list(engine.refine(frame))
    found = codes(engine, state("vae"))
    fresh = LocalEngine(CARDS)
    other = codes(fresh, state("vae"))
    fresh.close()
    assert found is not None and other is not None and found.samples is not None and other.samples is not None
    assert np.array_equal(found.samples, other.samples)


def test_a_network_without_a_code_has_none(engine: LocalEngine) -> None:
    assert codes(engine, state("plain-cnn")) is None


def test_an_autoencoder_of_ones_own_is_shown_on_samples(engine: LocalEngine, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    trusting = LocalEngine(CARDS, trust=True)
    found = codes(trusting, state(f"{file}:make", sample="digit-3"))
    assert found is not None and found.ready and found.dims == 3 and found.layer == "" and "digit" in found.names
    assert codes(trusting, state(f"{file}:words", sample="digit-3")) is None, "encode is something else there"
    trusting.close()


def test_the_command_line_reads_what_the_state_writes() -> None:
    written = state("vae", latent="tsne@0.5,-1>17").command()
    assert "--latent" in written and "tsne@0.5,-1>17" in written
    args = cli.parser().parse_args(["--model", "vae", "--latent", "pca@1,2"])
    assert args.shown_latent == "pca@1,2"
