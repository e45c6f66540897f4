"""Laws of groups: the layer before a planted fault is the last one that holds, and the fault is named."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from explorer.declare.inputs import inputs_of
from explorer.declare.space import kinds
from explorer.declare.symmetries import find_symmetry
from explorer.equivariance.verdict.laws import candidates, laws, table
from explorer.spaces.grid.fields import grid
from explorer.work.progress import Cancelled


class _Ramp(nn.Module):
    """Adds what grows to the right: no shift leaves it as it is."""

    def forward(self, x):
        return x + torch.linspace(0, 1, x.shape[-1]).to(x)


def network(at: int | None) -> nn.Module:
    """Return circular convolutions, which every shift passes through, with a fault behind one of them."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for k in range(4):
        layers.append(nn.Conv2d(1 if k == 0 else 3, 3, 3, padding=1, padding_mode="circular"))
        layers.append(_Ramp() if k == at else nn.Tanh())
    return nn.Sequential(*layers).eval()


def found(model: nn.Module, **options):
    x = torch.randn(1, 1, 12, 12, generator=torch.Generator().manual_seed(1))
    given = inputs_of(x, grid())
    return {law.group: law for law in laws(model, given, dtype=torch.float64, **options)}


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_kind_of_data_has_candidates_that_can_be_checked(kind):
    groups = [group for group, _ in candidates(kind)]
    assert groups and len(set(groups)) == len(groups)
    for group in groups:
        assert kind in find_symmetry(group).domains


def test_a_law_that_holds_holds_to_the_output():
    law = found(network(None))["translation"]
    assert law.verdict == "holds" and law.upto == "7" and law.error < 1e-13 and law.elements >= 3
    assert law.sentence.startswith("Whole shifts: holds ") and "up to the output" in law.sentence


@pytest.mark.parametrize("at", range(4))
@pytest.mark.slow
def test_the_layer_that_breaks_a_law_is_named_with_the_last_one_that_keeps_it(at):
    law = found(network(at))["translation"]
    assert (law.verdict, law.breaker, law.upto) == ("broken", str(2 * at + 1), str(2 * at))
    assert law.error < 1e-13 and f"up to {2 * at}, then {2 * at + 1} breaks it by 0." in law.sentence


@pytest.mark.slow
def test_what_is_not_exact_is_no_verdict():
    for group in ("SO2", "O2"):
        law = found(network(None))[group]
        assert law.verdict == "no law" and law.error is None and "cannot be tested" in law.sentence


def test_a_network_that_cannot_run_says_why_of_each_group():
    every = found(nn.Sequential(nn.Conv2d(2, 3, 3)).eval())
    assert all(law.verdict == "no law" and "cannot be tested" in law.sentence for law in every.values())
    assert "expected input" in next(iter(every.values())).sentence


@pytest.mark.slow
def test_known_laws_are_not_tested_again_and_the_rest_can_be_given_up():
    first = found(network(None))
    told = []
    again = found(network(None), known=first, tell=lambda text, share: told.append(text))
    assert again == first and not told

    def stop(text: str, share: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        found(network(None), tell=stop)


@pytest.mark.slow
def test_the_table_has_a_line_and_a_sentence_of_each_group():
    every = found(network(1))
    lines = table(list(every.values())).splitlines()
    assert len(lines) == 2 + 2 * len(every) and "broken by" in lines[0]
    assert any(line.split()[:2] == ["translation", "broken"] and line.endswith("  3") for line in lines)
