"""Chains of transforms as text: what is written is read back, what is wrong is told in one sentence."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.declare.elements import (
    Identity,
    NoAction,
    Step,
    Transform,
    chain,
    chain_element,
    chain_text,
    inverse_steps,
    parse_chain,
    transforms,
)
from explorer.declare.params import Param
from explorer.declare.types.fields import Scalar
from explorer.spaces.grid.fields import grid


def values(param: Param) -> st.SearchStrategy[float]:
    if param.choices:
        return st.integers(0, len(param.choices) - 1).map(float)
    if param.whole:
        return st.integers(int(param.minimum), int(param.maximum)).map(float)
    typed = st.floats(param.minimum, param.maximum).map(lambda v: param.clamp(round(v, 2)))
    return st.one_of(st.floats(param.minimum, param.maximum), typed, st.just(param.default))


def a_step(transform: Transform) -> st.SearchStrategy[Step]:
    return st.tuples(*(values(p) for p in transform.params)).map(lambda v: Step(transform.name, v))


steps = st.lists(st.sampled_from(sorted(transforms())).flatmap(lambda n: a_step(transforms()[n])), max_size=4).map(
    tuple
)


@given(steps)
def test_what_is_written_is_read_back_to_the_last_digit(chosen: tuple[Step, ...]) -> None:
    assert parse_chain(chain_text(chosen)) == chosen


@given(steps)
def test_spaces_do_not_matter(chosen: tuple[Step, ...]) -> None:
    text = chain_text(chosen)
    assert parse_chain(f" {text.replace(',', ' , ').replace(':', ' : ')} ") == chosen


def test_the_texts_people_type() -> None:
    assert parse_chain("") == parse_chain("  ") == ()
    assert parse_chain("rotate:30+translate:4,0") == (Step("rotate", (30.0,)), Step("translate", (4.0, 0.0, 0.0)))
    assert parse_chain("reflect") == (Step("reflect", (0.0,)),)
    assert parse_chain("translate:-4,-2,zero+reflect:diagonal")[0].values == (-4.0, -2.0, 1.0)
    assert parse_chain("translate:+4,+0.5")[0].values == (4.0, 0.5, 0.0)  # a plus can be a sign
    assert parse_chain("translate:1e+03+rotate:-90")[0].values[0] == 1000.0  # or an exponent's
    assert parse_chain("rotate:720")[0].values == (720.0,)  # an angle is periodic


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("rotate:30.0", "rotate:30"),
        ("translate:4,0", "translate:4"),
        ("translate:4,0,zero", "translate:4,0,zero"),
        ("translate", "translate:0"),
        ("reflect:vertical+brightness:1.5,0.1", "reflect:vertical+brightness:1.5,0.1"),
        ("rotate:33.33333333", "rotate:33.33333333"),
        ("shift:5,zero", "shift:5"),
        ("shift:-2.5,edge+reverse:reverse complement", "shift:-2.5,edge+reverse:reverse complement"),
        ("reverse+rescale:2.0", "reverse:backwards+rescale:2"),
        ("warp:0,0.1,0", "warp:0,0.1"),
    ],
)
def test_the_texts_people_see(text: str, written: str) -> None:
    assert chain_text(parse_chain(text)) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn:30", r"unknown transform 'turn'; known are turn-sphere, .*translate, .* more \('list transforms'\)$"),
        ("rotat:30", r"unknown transform 'rotat'; known are .*; did you mean 'rotate'\?$"),
        (":30", r"unknown transform ''"),
        ("rotate:abc", r"transform 'rotate:abc': angle must be a number, not 'abc'$"),
        ("rotate:", r"transform 'rotate:': angle must be a number, not ''$"),
        ("rotate:30+", r"angle must be a number, not '30\+'$"),
        ("rotate:30++reflect", r"angle must be a number, not '30\+'$"),
        ("rotate:1,2", r"rotate takes 1 value\(s\) \(angle\), got '1,2'$"),
        ("rotate:nan", r"angle must be a finite number, not 'nan'$"),
        ("rotate:inf", r"angle must be a finite number, not 'inf'$"),
        ("reflect:sideways", r"axis must be one of horizontal, vertical, diagonal, antidiagonal, not 'sideways'$"),
        ("reflect:1", r"axis must be one of .*, not '1'$"),
        ("translate:9999", r"right must lie between -4096 and 4096, not 9999$"),
        ("translate:1,2,wrap", r"boundary must be one of circular, zero, not 'wrap'$"),
        ("dilate:0", r"factor must lie between 0.25 and 4, not 0$"),
        ("brightness:1e400", r"gain must be a finite number"),
        ("rotate:30+fold:2", r"unknown transform 'fold'"),
        ("rotate:30+warp:2", r"transform 'warp:2': early must lie between -0.25 and 0.25, not 2$"),
        ("reverse:complement", r"kind must be one of backwards, reverse complement, not 'complement'"),
        ("shift:1,wrap", r"boundary must be one of zero, circular, edge, not 'wrap'$"),
        ("rotate 30", r"unknown transform 'rotate 30'"),
    ],
)
def test_a_malformed_text_gives_one_clear_sentence(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_chain(text)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="rotae:,+-. 0123456789\nxé", max_size=30))
def test_any_text_is_a_chain_or_one_sentence(text: str) -> None:
    try:
        chosen = parse_chain(text)
    except ValueError as error:
        assert str(error) and len(str(error)) < 400
    else:
        assert parse_chain(chain_text(chosen)) == chosen


@given(steps)
def test_the_inverse_steps_are_the_inverse_element(chosen: tuple[Step, ...]) -> None:
    if any(transforms()[s.name].inverse is None for s in chosen):
        with pytest.raises(NoAction, match="has no inverse"):
            inverse_steps(chosen)
        return
    there, back = chain_element(chosen), chain_element(inverse_steps(chosen))
    size = sum(abs(v) for s in chosen for v in s.values if s.name in ("translate", "brightness"))
    x = torch.randn(1, 1, 6, 6, dtype=torch.float64)
    field = grid(Scalar(intensity=True))
    if there.exact(field, (1, 1, 6, 6)) and "zero" not in chain_text(chosen):
        returned = back.act(there.act(x, field), field)
        assert torch.allclose(returned, x, rtol=0, atol=1e-12 * (1 + size) * 10 ** len(chosen))
    assert [s.name for s in inverse_steps(chosen)] == [s.name for s in reversed(chosen)]
    twice = inverse_steps(inverse_steps(chosen))
    assert all(a == pytest.approx(b) for s, t in zip(chosen, twice) for a, b in zip(s.values, t.values))


@pytest.mark.parametrize(
    "text",
    [
        "rotate:30",
        "rotate:30+rotate:17",
        "reflect:diagonal+rotate:90",
        "dilate:1.5+rotate:20",
        "translate:3.5,-1",
        "brightness:1.7,0.3",
        "rotate:90+translate:4,2",
        "rotate:30+translate:4,2",
        "translate:4,2+dilate:1.25",
    ],
)
def test_an_element_times_its_inverse_is_the_identity(text: str) -> None:
    chosen = parse_chain(text)
    element = chain_element(chosen)
    assert chain([element, chain_element(inverse_steps(chosen))]).identity
    assert chain([element, element.inverse()]).identity
    assert not chain([element, element]).identity or text.startswith("reflect")


def test_no_steps_are_the_identity() -> None:
    assert chain_element(()) == Identity() and inverse_steps(()) == ()


@pytest.mark.parametrize("name", sorted(transforms()))
def test_each_transform_declares_itself_well(name: str) -> None:
    t = transforms()[name]
    assert t.name == name and t.title and t.summary.endswith(".") and t.domains and t.symbol
    assert t.orbit is None or 0 <= t.orbit < len(t.params)
    for p, default in zip(t.params, t.defaults, strict=True):
        assert p.minimum <= default <= p.maximum and p.clamp(default) == default
        assert p.parse(p.text(default)) == default
    assert set(t.domains) <= set(t.element(*t.defaults).domains)
    assert t.inverse is None or len(t.inverse(*t.defaults)) == len(t.params)


def test_a_parameter_clamps_rounds_and_wraps() -> None:
    angle, axis = transforms()["rotate"].params[0], transforms()["reflect"].params[0]
    assert [angle.clamp(v) for v in (190.0, -190.0, 180.0, -180.0, 540.5)] == [-170.0, 170.0, 180.0, 180.0, -179.5]
    assert [axis.clamp(v) for v in (-3.0, 1.4, 99.0)] == [0.0, 1.0, 3.0]
    turned = Param("a", "A", 0, -180, 180, periodic=True)
    assert [turned.clamp(v) for v in (67.86, 10.88, -0.07, 427.86, -349.12)] == [67.86, 10.88, -0.07, 67.86, 10.88]
    assert Param("n", "N", 1, 0, 9, whole=True).clamp(2.6) == 3.0
    with pytest.raises(ValueError, match="whole number"):
        Param("n", "N", 1, 0, 9, whole=True).parse("2.5")
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="angle must be a finite number"):
            angle.clamp(bad)
