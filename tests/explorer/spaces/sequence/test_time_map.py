"""Elements of sequences act as shifts, reversals and warps do; nets are judged by them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from explorer.declare.elements import NoAction, chain_element, inverse_steps, parse_chain, transforms
from explorer.declare.inputs import Inputs
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import INVARIANT, PAIR, FieldType
from explorer.equivariance.check import check_equivariance
from explorer.spaces.sequence.drawing.part import found_at
from explorer.spaces.sequence.elements.time_map import TimeMap
from explorer.spaces.sequence.fields import STEP, STEP_INPUT, Steps, Strands

BOTH = FieldType(Steps(), Strands())
TRIED = ("shift:2", "reverse", "rescale:2", "warp:0.1,-0.05,0.08", "noise:0.5")


def smooth(steps: int = 64, channels: int = 4) -> Tensor:
    t = torch.linspace(0, 2 * math.pi, steps, dtype=torch.float64)[:, None]
    k = torch.arange(1, channels + 1, dtype=torch.float64)
    return torch.sin(t * k / 2 + k)


def act(text: str, x: Tensor, field: FieldType = STEP) -> Tensor:
    return chain_element(parse_chain(text)).act(x, field)


def test_every_transform_of_sequences_is_tried() -> None:
    """Try sequences alone; grids and graphs have test_transforms.py and test_relabelling.py."""
    of_time = {t.name: t for t in transforms().values() if "sequence" in t.domains}
    assert {parse_chain(text)[0].name for text in TRIED} == set(of_time)
    assert {name for name, t in of_time.items() if t.inverse is None} == {"warp", "noise"}
    for text in TRIED:
        x = smooth(24)
        # noise comes on what was measured; all others move any field on steps
        field = STEP_INPUT if text.startswith("noise") else STEP
        assert not chain_element(parse_chain(text)).identity and not torch.allclose(act(text, x, field), x), text
        assert torch.equal(act(text, x, INVARIANT), x), "the whole sequence has no steps to move"


def test_the_defaults_change_no_bit() -> None:
    x = smooth(24)
    for name in ("shift", "rescale", "warp"):
        assert chain_element(parse_chain(name)).identity and torch.equal(act(name, x), x), name


@given(st.integers(-6, 6), st.sampled_from([0.5, 1.0, 2.0, 4.0]))
def test_the_inverse_of_a_delayed_rescaling(steps: int, rate: float) -> None:
    """tau(tau^-1(t)) = t, by straight lines alone."""
    element = TimeMap(shift=float(steps), rate=rate)
    back = element.inverse()
    assert isinstance(back, TimeMap)
    t = np.arange(12.0)
    np.testing.assert_allclose((back.tau(12) - element.shift) * element.rate, t, rtol=0, atol=1e-12)


def test_a_shift_delays_and_pads() -> None:
    x = torch.arange(1.0, 6.0)[:, None]
    assert act("shift:2", x).flatten().tolist() == [0, 0, 1, 2, 3]
    assert act("shift:-2", x).flatten().tolist() == [3, 4, 5, 0, 0]
    assert act("shift:2,circular", x).flatten().tolist() == [4, 5, 1, 2, 3]
    assert act("shift:2,edge", x).flatten().tolist() == [1, 1, 1, 2, 3]
    assert act("shift:9", x).flatten().tolist() == [0] * 5
    known = chain_element(parse_chain("shift:2")).known(x, STEP)
    assert known is not None and known.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("shift:2+reverse", [1, 1, 1, 1, 0, 0]),
        ("reverse+shift:2", [0, 0, 1, 1, 1, 1]),
        ("shift:3+shift:-1", [0, 0, 1, 1, 1, 0]),
        ("shift:2+shift:1,edge", [0, 0, 0, 1, 1, 1]),
    ],
)
def test_what_padding_brought_in_stays_unknown_in_a_chain(text: str, wanted: list[int]) -> None:
    element = chain_element(parse_chain(text))
    known = element.known(smooth(6), STEP)
    assert known is not None and known.tolist() == wanted
    pairs = element.known(torch.ones(2, 6, 6, dtype=torch.float64), PAIR)
    assert pairs is not None and torch.equal(pairs, known[:, None] * known)


def test_the_other_strand() -> None:
    dna = torch.eye(4)[[0, 0, 1, 2]]  # AACG
    assert act("reverse:reverse complement", dna, STEP_INPUT).argmax(1).tolist() == [1, 2, 3, 3]  # CGTT
    assert act("reverse", dna, STEP_INPUT).argmax(1).tolist() == [2, 1, 0, 0]
    assert torch.equal(act("reverse:reverse complement", dna, BOTH), dna.flip(0).flip(1))
    assert torch.equal(act("reverse:reverse complement", dna), dna.flip(0)), "features that hold one strand stay"


@pytest.mark.parametrize("field", [STEP, STEP_INPUT, BOTH, PAIR, INVARIANT], ids=str)
@pytest.mark.parametrize(
    "text", ["shift:3,circular", "reverse", "reverse:reverse complement", "shift:5,circular+reverse"]
)
def test_exact_elements_come_back(text: str, field: FieldType) -> None:
    x = smooth(12, 12)[None] if field == PAIR else smooth(12)
    there = act(text, x, field)
    back = act("+".join(map(str, inverse_steps(parse_chain(text)))), there, field)
    assert torch.equal(back, x)
    element = chain_element(parse_chain(text))
    assert element.exact(field, tuple(x.shape)) and torch.equal(element.inverse().act(there, field), x)


@given(st.integers(-20, 20), st.integers(-20, 20))
def test_circular_shifts_add_up(a: int, b: int) -> None:
    x = smooth(16)
    both = act(f"shift:{a},circular+shift:{b},circular", x)
    assert torch.equal(both, act(f"shift:{a + b},circular", x)) and torch.equal(both, x.roll(a + b, 0))


@given(st.lists(st.floats(-0.25, 0.25), min_size=3, max_size=3), st.integers(1, 40))
def test_a_warp_never_runs_backwards(bend: list[float], steps: int) -> None:
    element = chain_element(parse_chain(f"warp:{bend[0]:.3f},{bend[1]:.3f},{bend[2]:.3f}"))
    order, known = found_at(element, steps)
    kept = order[np.isfinite(order)]
    assert len(order) == len(known) == steps and (np.diff(kept) >= -1e-9).all()
    moved = element.act(torch.arange(steps, dtype=torch.float64)[:, None], STEP)
    assert bool((moved.diff(dim=0) >= -1e-9).all()) and float(moved.max()) <= steps - 1 + 1e-9


def test_a_warp_comes_back_to_the_interpolation_floor() -> None:
    for steps, most in ((64, 2e-2), (512, 5e-4)):
        x = smooth(steps)
        element = chain_element(parse_chain("warp:0.1,-0.05,0.08"))
        back = element.inverse().act(element.act(x, STEP), STEP)
        inner = slice(steps // 10, -steps // 10)
        assert float((back - x)[inner].norm() / x[inner].norm()) < most
        assert not element.exact(STEP, tuple(x.shape))


def test_a_rescaling_reads_faster() -> None:
    t = torch.arange(100, dtype=torch.float64)[:, None]
    faster = act("rescale:2", t)
    assert torch.equal(faster[:50], 2 * t[:50]) and bool((faster[50:] == 99).all())
    known = chain_element(parse_chain("rescale:2")).known(t, STEP)
    assert known is not None and int(known.sum()) == 50


def test_where_steps_have_gone() -> None:
    order, known = found_at(chain_element(parse_chain("shift:3")), 6)
    assert order[:3].tolist() == [3, 4, 5] and np.isnan(order[3:]).all() and known.tolist() == [False] * 3 + [True] * 3
    assert found_at(chain_element(parse_chain("reverse")), 4)[0].tolist() == [3, 2, 1, 0]


def test_a_backward_warp_has_no_inverse() -> None:
    with pytest.raises(NoAction):
        inverse_steps(parse_chain("warp:0.1,0,0"))


class Memory(nn.Module):
    """h_t = tanh(a h_{t-1} + x_t + b), from a state that is, or is not, the one that padding leads to."""

    def __init__(self, settled: bool) -> None:
        super().__init__()
        self.settled = settled
        self.out = nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(3, dtype=x.dtype)
        bias = torch.tensor([0.5, -0.3, 0.1], dtype=x.dtype)
        for _ in range(400 if self.settled else 0):
            h = torch.tanh(0.6 * h + bias)
        states = []
        for step in x:
            h = torch.tanh(0.6 * h + step + bias)
            states.append(h)
        return self.out(torch.stack(states))


@pytest.mark.parametrize("settled", [True, False])
def test_a_recurrence_is_shift_equivariant_from_its_fixed_point(settled: bool) -> None:
    """Bronstein et al. 2021, section 5.7: padding must not move the initial state."""
    report = check_equivariance(Memory(settled), Inputs((smooth(30, 3),), (STEP_INPUT,)), "shift", declared=True)
    assert report.verdict == ("holds" if settled else "broken")
    last = report.layers[-1].cumulative_max
    assert last is not None and (last < 1e-12 if settled else last > 1e-3)


def warps(more: int) -> st.SearchStrategy[str]:
    """Return warps with the three handles and up to so many more, at any places and as far as they go."""
    offset, place = st.floats(-0.25, 0.25), st.floats(0.0, 1.0)
    first = st.tuples(offset, offset, offset)
    rest = st.lists(st.tuples(place, offset), max_size=more).map(lambda pairs: tuple(v for pair in pairs for v in pair))
    return st.builds(lambda a, b: "warp:" + ",".join(map(repr, (*a, *b))), first, rest)


@given(warps(4), st.integers(2, 40))
def test_time_never_runs_backwards_whatever_the_handles_are(text: str, steps: int) -> None:
    element = chain_element(parse_chain(text))
    assert isinstance(element, TimeMap)
    t = np.linspace(0, steps - 1, 8 * steps)
    tau = element.source(t, steps)
    assert (np.diff(tau) >= -1e-9).all() and abs(tau[0]) < 1e-9 and abs(tau[-1] - (steps - 1)) < 1e-9
    np.testing.assert_allclose(element.tau(steps), element.source(np.arange(float(steps)), steps), rtol=0, atol=0)


@given(st.floats(0.02, 0.98), st.floats(-0.2, 0.2))
def test_a_further_handle_stands_where_it_is_put_and_none_at_the_end(place: float, offset: float) -> None:
    one = chain_element(parse_chain(f"warp:0,0,0,{place!r},{offset!r}"))
    three = chain_element(parse_chain(f"warp:0,0,0,0,{offset!r}"))
    assert isinstance(one, TimeMap) and isinstance(three, TimeMap)
    at = [0.0, *sorted({0.25, 0.5, 0.75, place}), 1.0]
    to = [p + offset if p == place else p for p in at]
    wanted = np.interp(place, at, np.maximum.accumulate(np.clip(to, 0, 1)))
    assert one.source(np.array(100 * place), 101) == pytest.approx(100 * wanted, abs=2e-7)  # an offset of 1e-9 is none
    assert three.identity, "a handle at place 0 is not there"


def test_three_handles_are_passed_smoothly() -> None:
    """tau passes (0, 0), (1/4, 1/4 + a), (1/2, 1/2 + b), (3/4, 3/4 + c), (1, 1), and its slope has no jumps."""
    element = chain_element(parse_chain("warp:0.1,-0.05,0.08"))
    assert isinstance(element, TimeMap) and not element.exact(STEP, (64, 4))
    t = np.arange(101.0)
    np.testing.assert_allclose(element.tau(101)[[0, 25, 50, 75, 100]], [0, 35, 45, 83, 100], rtol=0, atol=1e-9)
    fine = element.source(np.linspace(0, 100, 10_001), 101)
    slope = np.diff(fine) * 100
    assert slope.min() >= -1e-9 and np.abs(np.diff(slope)).max() < 0.02, "straight lines would jump by 1.1"
    assert len(t) == 101
    with_more = chain_element(parse_chain("warp:0.1,-0.05,0.08,0,0.2,1,0.2"))
    assert isinstance(with_more, TimeMap) and np.array_equal(with_more.tau(101), element.tau(101))
    assert str(parse_chain("warp:0.1,-0.05,0.08")[0]) == "warp:0.1,-0.05,0.08"
    assert str(parse_chain("warp:0.1,0,0,0.6,0.05")[0]) == "warp:0.1,0,0,0.6,0.05"


@pytest.mark.parametrize(("pool", "apart"), [(nn.AvgPool1d(2), 2.0), (nn.MaxPool1d(4), 4.0)])
def test_steps_behind_a_pool_move_by_whole_places(pool: nn.Module, apart: float) -> None:
    x = torch.rand(1, 3, 32)
    fine, coarse = FieldType(Steps(2)), FieldType(Steps(2, apart))
    for element in (TimeMap(shift=8.0), TimeMap(backwards=True)):
        assert torch.equal(pool(element.act(x, fine)), element.act(pool(x), coarse)) and element.exact(coarse, ())
    late = TimeMap(shift=8.0).known(pool(x), coarse)
    assert late is not None and int((late == 0).sum()) == 8 / apart
    odd = TimeMap(shift=3.0)
    assert not odd.exact(coarse, ())
    with pytest.raises(NoAction, match="a shift by 3 steps moves no place"):
        odd.act(pool(x), coarse)
    assert parse_field(str(coarse)) == coarse
