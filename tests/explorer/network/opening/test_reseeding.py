"""Seeds of what networks draw: those of torch's own function, without the time that it takes."""

from __future__ import annotations

import torch

from explorer.network.opening.global_state import reseed


def test_a_seed_draws_what_it_draws_by_torch() -> None:
    before = torch.get_rng_state()
    try:
        torch.manual_seed(7)
        wanted = torch.rand(5)
        reseed(7)
        assert torch.equal(torch.rand(5), wanted)
        assert not torch.equal(torch.rand(5), wanted)
    finally:
        torch.set_rng_state(before)
