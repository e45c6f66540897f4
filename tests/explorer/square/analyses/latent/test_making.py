"""Samples, the plane and the rest of the samples are made in the order in which a person looks at them."""

from __future__ import annotations

import numpy as np
import pytest

import main
from explorer.app.answering.engine import LocalEngine
from explorer.square.analyses.latent.part import Latent
from explorer.state.state import State


@pytest.mark.parametrize("name", ["vae", "autoencoder", "stackgan"])
def test_the_first_samples_do_not_wait_for_the_plane_and_that_not_for_all_of_them(name: str) -> None:
    """While a network learned, all of the plane and 2,048 samples were made before one was seen, for seconds."""
    engine = LocalEngine(main.cards())
    frame = engine.answer(State(name, device="cpu"), lambda: False)
    came: list[Latent] = [found for more in engine.refine(frame) if (found := more.squares[0].latent) is not None]
    few = next(latent for latent in came if latent.samples is not None)
    assert few.samples is not None and len(few.samples) == 16 and few.few
    assert few.drawn == f"one in 128 of those to come: {came[-1].drawn}"
    first = next(latent for latent in came if latent.samples is not None and not latent.few)
    assert first.samples is not None and len(first.samples) == 256
    assert not first.ready and first.grid is None and not first.laid
    laid = next(latent for latent in came if latent.laid)
    assert laid.samples is not None and len(laid.samples) == 256 and laid.ready and laid.grid is not None
    assert not laid.whole and came[-1].whole and came[-1].laid
    last = came[-1].samples
    assert last is not None and len(last) == 2048 and np.array_equal(last[::8], first.samples)
    assert np.array_equal(last[::128], few.samples)
    # of all classes and captions, which follow each other, some are among the first
    assert first.drawn == f"one in 8 of those to come: {came[-1].drawn}"
    assert bool(came[-1].terms) == (name == "vae")


@pytest.mark.parametrize("name", ["vae", "stackgan", "dcgan"])
def test_a_network_that_says_what_its_codes_are_drawn_from_decodes_before_the_examples_are_encoded(name: str) -> None:
    """The examples told nothing of them, and were waited for."""
    engine = LocalEngine(main.cards())
    frame = engine.answer(State(name, device="cpu"), lambda: False)
    came = [found for more in engine.refine(frame) if (found := more.squares[0].latent) is not None]
    few = next(latent for latent in came if latent.samples is not None)
    assert few.busy.startswith("Encoding the examples") and not few.ready
