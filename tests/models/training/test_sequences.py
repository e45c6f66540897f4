"""The loop that trains networks on sequences: what it repeats, what it leaves alone, what it makes better."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.spaces.sequence.samples import tasks
from models.graphs.sets import set2set
from models.sequences import pointer_network, seq2seq, strand_conv, transformer
from models.training.sequences.computed import judged_by, right


@pytest.mark.slow
def test_the_same_seed_gives_the_same_network() -> None:
    told: list[str] = []
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, second, other = (
        set2set.trained(epochs=1, seed=seed, progress=lambda e, n, text: told.append(text))[0] for seed in (0, 0, 1)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert len(told) == 3 and told[0] == told[1] != told[2]
    pairs = list(zip(first.parameters(), second.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs) and not all(torch.equal(a, c) for a, _, c in pairs)
    assert all(torch.equal(a, a.half().float()) for a, _, _ in pairs), "half precision holds the parameters"


def test_what_progress_raises_ends_the_training() -> None:
    def stop(_e: int, _n: int, _text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        set2set.trained(epochs=2, progress=stop)


@pytest.mark.slow
def test_an_epoch_teaches_something() -> None:
    """Sorting by chance puts one number in five where it belongs; letters are one of eight; a site is found nowhere."""
    assert pointer_network.trained("pointer-glimpse", epochs=1)[1]["places"] > 0.4
    assert seq2seq.trained("bahdanau", epochs=1)[1]["letters_8"] > 0.14
    assert transformer.trained(epochs=1)[1]["letters_8"] > 0.14
    assert strand_conv.trained("strand-cnn", epochs=2)[1]["recall_other"] > 0.9


def test_steps_and_whole_sequences_are_counted() -> None:
    found, wanted = torch.tensor([[1, 2, 3], [1, 1, 1]]), torch.tensor([[1, 2, 3], [1, 0, 0]])
    assert right(found, wanted) == pytest.approx((4 / 6, 0.5))


def test_what_is_judged_by_is_not_what_is_learned_from() -> None:
    assert not np.array_equal(tasks.letters(judged_by(), 9, 8)[0], tasks.letters(np.random.default_rng(0), 9, 8)[0])


def test_dates_are_rewritten_as_python_reads_them() -> None:
    from datetime import datetime

    chance = np.random.default_rng(1)
    for _ in range(200):
        given, wanted = tasks.date_pair(chance)
        forms = ("%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y")
        read = set()
        for form in forms:
            try:
                read.add(datetime.strptime(given, form).date().isoformat())
            except ValueError:
                continue
        assert read == {wanted}
