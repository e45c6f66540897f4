"""Row L4, CycleGAN: its losses written out, what a translation is counted as, and what the shipped one does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.network.opening.loading import load_model
from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.digit_styles import OUTLINED, read, styled
from models.generation import cyclegan
from models.generation.cyclegan import CARD, FIGURES, CycleGAN, judged, outlines, passed
from models.layers.seeded import seeded
from models.training.adversarial.images import SETS, Batch
from models.training.adversarial.translated_digits import translation_figures

ABS = 0.012


def shipped(**params: float) -> CycleGAN:
    network = load_model(CARD, params)
    assert isinstance(network, CycleGAN)
    return network


def batch() -> Batch:
    x, labels = SETS["filled digits"]()
    return Batch(x[:4].double(), labels[:4], torch.Generator().manual_seed(3))


def drawn() -> Tensor:
    """Return the outlines that go with `batch`, drawn as the losses draw them."""
    rows = torch.randint(len(outlines()), (4,), generator=torch.Generator().manual_seed(3))
    return outlines()[rows].double()


@pytest.fixture
def in_double(monkeypatch: pytest.MonkeyPatch) -> CycleGAN:
    kept = outlines().double()
    monkeypatch.setattr(cyclegan, "outlines", lambda: kept)
    return seeded(CycleGAN, 5).double()


def test_zhu_2017_what_both_discriminators_pay(in_double: CycleGAN) -> None:
    n, x, y = in_double, batch().x, drawn()
    found = judged(n, batch())
    to_y, to_x, d_y, d_x = n.to_outlined, n.to_filled, n.judge_outlined, n.judge_filled
    torch.testing.assert_close(2 * found["outlined"], ((d_y(y) - 1) ** 2).mean() + (d_y(to_y(x)) ** 2).mean())
    torch.testing.assert_close(2 * found["filled"], ((d_x(x) - 1) ** 2).mean() + (d_x(to_x(y)) ** 2).mean())
    found["outlined"].backward()
    assert all(p.grad is None for p in to_y.parameters()), "what D pays is nothing to G"


def test_zhu_2017_what_both_translators_pay(in_double: CycleGAN) -> None:
    n, x, y = in_double, batch().x, drawn()
    found = passed(n, batch())
    to_y, to_x = n.to_outlined, n.to_filled
    torch.testing.assert_close(found["outlined"], ((n.judge_outlined(to_y(x)) - 1) ** 2).mean())
    torch.testing.assert_close(found["filled"], ((n.judge_filled(to_x(y)) - 1) ** 2).mean())
    l_cyc = (to_x(to_y(x)) - x).abs().mean() + (to_y(to_x(y)) - y).abs().mean()
    l_id = (to_y(y) - y).abs().mean() + (to_x(x) - x).abs().mean()
    torch.testing.assert_close(found["cycle"], cyclegan.CYCLE * l_cyc)
    torch.testing.assert_close(found["identity"], 0.5 * cyclegan.CYCLE * l_id)


def test_no_digit_is_seen_in_both_styles() -> None:
    filled = SETS["filled digits"]()[0].numpy()
    every = digit_images.load("train")[0]
    assert len(filled) + len(outlines()) == len(every)
    as_outlines = {v.tobytes() for v in styled(filled, OUTLINED)}
    assert not as_outlines & {v.tobytes() for v in outlines().numpy()}


class Fixed(nn.Module):
    """Two functions in place of the translators."""

    def __init__(self, there: Any, back: Any) -> None:
        super().__init__()
        self.to_outlined, self.to_filled = there, back


def outline(x: Tensor) -> Tensor:
    return torch.from_numpy(styled(x.numpy(), OUTLINED))


def test_what_comes_back_without_a_translation_counts_for_nothing() -> None:
    # left alone, and black and white swapped: an even white is nearest to what has most ink
    for same, most, apart in ((lambda x: x, 0.2, 0.1), (lambda x: 1 - x, 0.3, 0.7)):
        found = translation_figures(Fixed(same, same))
        assert found["cycle"] < 1e-6 and found["kept"] > 0.98
        assert max(found["there"], found["back"]) < most and min(found["pair"], found["pair_back"]) > apart
    true = translation_figures(Fixed(lambda x: outline(x).roll(-2, 3), lambda y: y))
    assert (true["right"], true["down"]) == (-2, 0), "a shift is told"
    assert true["there"] > 0.95 and true["pair"] == 0 and true["back"] < 0.2


def test_a_style_and_a_digit_are_read_off_a_picture() -> None:
    images, labels = digit_images.load("test")
    for style in range(3):
        found = read(styled(images, style))
        assert (found[:, 0] == style).all() and (found[:, 1] == labels).mean() > 0.95


@pytest.mark.slow
def test_shipped_weights_do_what_the_card_says() -> None:
    with torch.no_grad():
        found = translation_figures(shipped())
    assert set(FIGURES) == set(found)
    for key, stated in FIGURES.items():
        assert found[key] == pytest.approx(stated, rel=0.02, abs=ABS if stated > 0.2 else 1e-3), key


def test_a_shifted_digit_has_the_shifted_outline() -> None:
    x = torch.tensor(digit_images.load("test")[0][:3]).double()
    with torch.no_grad():
        network = shipped().double()
        torch.testing.assert_close(network(x.roll((5, -9), (2, 3))), network(x).roll((5, -9), (2, 3)))


def test_outlines_are_filled_in_the_other_direction() -> None:
    y = outline(torch.tensor(digit_images.load("test")[0][:100]))
    with torch.no_grad():
        assert (read(shipped(direction=1)(y).numpy())[:, 0] == 0).mean() > 0.9
