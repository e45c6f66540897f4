"""State -> Square: what is measured is what a few plain lines of torch give, and only what is drawn comes out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import explorer.equivariance.trial.remembered
import explorer.square.evaluate
import explorer.square.preparing.prepare
from explorer.data.finding import find_sample, fitted
from explorer.declare.elements import Step, chain_element, parse_chain
from explorer.declare.samples import Sample
from explorer.declare.types.fields import FieldType
from explorer.equivariance import measure
from explorer.equivariance.trial.remembered import Remembered
from explorer.network.tracing.layers import LayerError
from explorer.spaces.grid.fields import Grid, grid, regular
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.grid.sample import image_sample
from explorer.square.analyses.figures import modules
from explorer.square.analyses.orbits import orbit
from explorer.square.analyses.saliency import saliency
from explorer.square.drawing.layers import MOST_CHANNELS, MOST_VALUES, drawn, scores_of
from explorer.square.evaluate import layer_infos, refine, square
from explorer.square.frame import Square
from explorer.square.judging import judged
from explorer.square.preparing.prepare import DTYPES, Prepared, prepare
from explorer.state.state import State
from explorer.work.progress import Cancelled
from models.points import tensor_field_network
from tests.explorer.parts.networks import conv, group_cnn
from tests.explorer.parts.small_cards import DIGITS, card, symmetric_net


def prepared(model: nn.Module, sample: Sample | None = None, dtype: str = "float32", **more: Any) -> Prepared:
    given = {k: more.pop(k) for k in ("overrides", "cancelled", "seed", "declared", "without") if k in more}
    made = card("net", lambda: model, **({"input": InputSpec((1, None, None))} | more))
    sample = sample or find_sample("digit-3")
    return prepare(made, model.eval(), sample, device=torch.device("cpu"), dtype=DTYPES[dtype], **given)


def turned(text: str, **more: Any) -> State:
    return State(steps=parse_chain(text), **more)


def complete(p: Prepared, state: State) -> Square:
    """Return the square with every layer measured."""
    found, answers = square(p, state)
    for measures in refine(p, state, answers, found.measures):
        found = judged(p, found, measures, chain_element(state.steps).on(p.inputs))
    return found


def by_hand(p: Prepared, move: Callable[[Tensor], Tensor], name: str) -> tuple[float, float]:
    """Return (cumulative, local) of a layer of an nn.Sequential, for an exact move of scalar fields."""
    layers = list(p.model.children())
    k = int(name)

    def relative(expected: Tensor, answer: Tensor) -> float:
        return float((expected - answer).norm() / expected.norm())

    with torch.no_grad():
        before = nn.Sequential(*layers[:k])(p.x)
        after = layers[k](before)
        place = move if after.ndim == 4 else lambda v: v
        inner = move(before) if before.ndim == 4 else before
        whole = nn.Sequential(*layers[: k + 1])(move(p.x))
        return relative(place(after), whole), relative(place(after), layers[k](inner))


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("rotate:90", lambda v: torch.rot90(v, 1, (-2, -1))),
        ("reflect", lambda v: v.flip(-1)),
        ("reflect:diagonal+rotate:-90", lambda v: torch.rot90(torch.rot90(v.flip(-1), 1, (-2, -1)), -1, (-2, -1))),
    ],
)
def test_the_figures_are_those_of_a_few_plain_lines(text: str, move: Callable[[Tensor], Tensor]) -> None:
    p = prepared(symmetric_net(fault=True), dtype="float64")
    found = complete(p, turned(text))
    assert list(found.measures) and set(found.measures) == {w.name for w in p.watched}
    for name, m in found.measures.items():
        cumulative, local = by_hand(p, move, name)
        assert m.cumulative == pytest.approx(cumulative, rel=1e-9, abs=1e-14)
        assert m.local == pytest.approx(local, rel=1e-9, abs=1e-14)
        assert m.exact and m.verdict == ("broken" if name == "2" else "holds")


def test_every_figure_is_the_one_of_the_definition() -> None:
    p = prepared(symmetric_net(fault=True))
    state = turned("rotate:20")
    element = chain_element(state.steps)
    found = complete(p, state)
    with torch.no_grad():
        answers = p.run(p.inputs.moved(element))
        for w in p.watched:
            m, f, value = found.measures[w.name], w.field, p.values[w.name]
            assert f is not None
            where = measure.mask(element, value, f, w.receptive)
            expected = element.act(value, f)
            d = measure.distance(expected, answers[w.name], where, f)
            chance = measure.distance(expected, p.chance[w.name], where, f)
            floor = measure.there_and_back(element, value, f, w.receptive)
            assert m.cumulative == pytest.approx(float(d.relative), rel=1e-4, abs=1e-9)
            assert m.max_abs == pytest.approx(float(d.max_abs), rel=1e-4, abs=1e-9)
            assert m.chance == pytest.approx(float(chance.relative), rel=1e-4)
            assert m.floor == pytest.approx(max(float(floor), p.float_floor[w.name]), rel=1e-3)
            assert m.kept == where.kept and m.verdict == "no law" and not m.exact


def test_an_element_acts_once_on_each_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    acted: list[int] = []
    element = chain_element(parse_chain("rotate:33"))
    kind = type(element)
    act = kind.act

    def counted(self: Any, values: Tensor, field: FieldType) -> Tensor:
        acted.append(id(values))
        return act(self, values, field)

    monkeypatch.setattr(kind, "act", counted)
    once = Remembered(element)
    values = torch.rand(1, 1, 9, 9)
    first = once.act(values, grid())
    assert once.act(values, grid()) is first and len(acted) == 1
    assert once.act(values.clone(), grid()) is not first and len(acted) == 2
    for _ in range(explorer.equivariance.trial.remembered.REMEMBERED + 5):
        once.act(torch.rand(1, 1, 3, 3), grid())
    assert len(once) == explorer.equivariance.trial.remembered.REMEMBERED
    assert once.exact(grid(), (1, 1, 9, 9)) is False and not once.identity
    assert once.known(values, grid()) is not None


def test_the_identity_breaks_nothing() -> None:
    p = prepared(symmetric_net(fault=True), labels=DIGITS)
    found = complete(p, State())
    assert all(m.cumulative == 0 and m.verdict == "unmoved" for m in found.measures.values())
    assert np.array_equal(found.output, found.output_g) and found.probabilities
    assert found.difference is not None and not found.difference.any()


class Barred(nn.Module):
    """Values of the lower half of a picture, and a mask in place of the others."""

    def forward(self, x: Tensor) -> Tensor:
        return x.masked_fill(torch.arange(x.shape[-2])[:, None] < x.shape[-2] // 2, -1e9)


def test_colours_are_those_of_values_and_not_of_masks() -> None:
    """Beside −1e9 all other scores had one colour."""
    p = prepared(nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), Barred()))
    found, _ = square(p, turned("translate:3,0", layer="1"))
    assert found.fx.min() == -1e9
    seen = [a[np.abs(a) < 1e8] for a in (found.fx, found.f_gx, found.rho_fx) if a is not None]
    assert found.scale == pytest.approx(max(float(np.abs(a).max()) for a in seen))


def test_what_comes_out_is_read_only_and_drawn_size() -> None:
    p = prepared(symmetric_net(fault=True))
    found, answers = square(p, turned("rotate:90", layer="2", untransform=True, pixel=(4, 5), channel=1))
    assert found.layer.name == "2" and set(answers) == {w.name for w in p.watched}
    for name in ("x", "gx", "fx", "f_gx", "rho_fx", "difference", "error_map", "back", "field_of_view", "output"):
        array = getattr(found, name)
        assert array.dtype == np.float32 and not array.flags.writeable, name
    assert found.fx.shape == found.rho_fx.shape == found.back.shape == (4, 29, 29)  # type: ignore[union-attr]
    expected = np.rot90(found.fx, 1, (-2, -1))
    assert np.array_equal(found.rho_fx, expected)  # type: ignore[arg-type]
    assert np.allclose(found.difference, expected - found.f_gx, atol=1e-6)  # type: ignore[operator]
    assert np.allclose(found.error_map, np.sqrt(np.square(found.difference).mean(0)), atol=1e-6)  # type: ignore[arg-type]
    assert found.scale == pytest.approx(max(abs(found.fx).max(), abs(found.f_gx).max()))
    # the unit at (4, 5) sees two 3x3 convolutions of the input, and nothing else
    rows, columns = np.nonzero(found.field_of_view)  # type: ignore[call-overload]
    assert rows.min() >= 2 and rows.max() <= 6 and columns.min() >= 3 and columns.max() <= 7
    assert not np.array_equal(found.back, found.fx)  # the layer is broken


def test_pulled_back_answers_of_a_lawful_layer_are_the_answers() -> None:
    found, _ = square(prepared(symmetric_net()), turned("rotate:90", layer="2", untransform=True))
    assert np.allclose(found.back, found.fx, atol=1e-5)  # type: ignore[arg-type]


def test_fields_of_orientations_are_drawn_and_named() -> None:
    p = prepared(group_cnn("D4"))
    found, _ = square(p, turned("rotate:90", layer="mix"))
    assert found.group == "D4" and found.fx.shape[0] == 24 and found.layer.field == "grid regular(D4)"
    assert found.measures["mix"].verdict == "holds"
    assert found.filters is not None and found.filter_columns == 8
    assert len(found.filter_labels) == len(found.filters)
    head, _ = square(p, turned("rotate:90", layer="head"))
    assert head.fx.shape == (4, 1, 1) and head.error_map is None and head.layer.field == "invariant"


def test_an_element_without_action_says_why() -> None:
    p = prepared(group_cnn("C4"))
    found, _ = square(p, turned("reflect", layer="mix"))
    assert found.rho_fx is None and "reflection" in found.no_action
    assert found.measures["mix"].cumulative is None and found.measures["mix"].verdict == "no law"
    unknown = prepared(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(2)))
    found, _ = square(unknown, turned("rotate:90", layer="1"))
    assert "unknown" in found.no_action and found.rho_fx is None and found.layer.field == "unknown"


def test_measures_that_do_not_fit_follow() -> None:
    p = prepared(symmetric_net(fault=True))
    state = turned("rotate:90", layer="5")
    found, answers = square(p, state, seconds=0.0)
    assert set(found.measures) == {"5"} and found.measures["5"].channels is not None
    parts = list(refine(p, state, answers, found.measures))
    assert set(parts[-1]) == {w.name for w in p.watched}
    assert parts[-1]["5"] == found.measures["5"]
    attributed = {n: m.attributed for n, m in parts[-1].items()}
    assert attributed["2"] is not None and attributed["2"] > 0
    assert all(v is None for n, v in attributed.items() if n != "2")  # only the guilty are asked what they do
    assert found.hints == () and complete(p, replace(state, layer="2")).measures["2"].attributed


def test_the_first_frame_of_a_slow_network_runs_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = prepared(symmetric_net(fault=True), declared=True, dtype="float64")
    monkeypatch.setattr(explorer.square.preparing.prepare, "SLOW_SECONDS", 0.0)
    net, ran = symmetric_net(fault=True), 0

    def count(_: nn.Module, __: Any) -> None:
        nonlocal ran
        ran += 1

    next(net.children()).register_forward_pre_hook(count)
    p = prepared(net, declared=True, dtype="float64")
    assert ran == 1 and not p.chance
    assert set(p.values) == set(quick.values) and all(torch.equal(p.values[n], v) for n, v in quick.values.items())
    assert all(torch.equal(a, b) for n in quick.fed for a, b in zip(p.fed[n], quick.fed[n], strict=True))
    state = turned("translate:2,0")  # by which filters need no symmetry, whose excuse hangs on chance
    first, _ = square(p, state)
    assert first.measures and not p.chance and all(m.chance is None for m in first.measures.values())
    # what another input gives follows, and then nothing differs
    found, expected = (
        {
            n: replace(m, channels=None, attributed=None, attributed_within=None)  # an estimate, where time is short
            for n, m in complete(q, state).measures.items()
        }
        for q in (p, quick)
    )
    assert found == expected and p.chance and all(m.chance for m in found.values())


class _Drawing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand(())


class _Overwriting(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.relu_() + 1


@pytest.mark.parametrize("inside", [_Drawing, _Overwriting])
def test_a_run_that_others_do_not_repeat_is_no_answer(inside: type[nn.Module], monkeypatch: pytest.MonkeyPatch) -> None:
    net = nn.Sequential(conv(1, 2, 3), inside())
    quick = prepared(net, declared=True)
    monkeypatch.setattr(explorer.square.preparing.prepare, "SLOW_SECONDS", 0.0)
    p = prepared(net, declared=True)
    assert all(torch.equal(p.values[n], v) for n, v in quick.values.items()) and p.chance


def test_attribution_is_left_out_where_it_would_be_felt(monkeypatch: pytest.MonkeyPatch) -> None:
    p = prepared(symmetric_net(fault=True))
    monkeypatch.setattr(explorer.square.evaluate, "ATTRIBUTE_SECONDS", 0.0)
    assert all(m.attributed is None for m in complete(p, turned("rotate:90")).measures.values())


def test_broken_layers_come_with_hints() -> None:
    found, _ = square(prepared(symmetric_net(fault=True)), turned("rotate:90", layer="2"), seconds=1.0)
    assert len(found.hints) == 1 and "2: its filters are not symmetric" in found.hints[0]


def test_rounding_of_float32_weights_is_no_fault_in_double_precision() -> None:
    net = nn.Sequential(conv(1, 4))  # symmetrised in single precision
    found = complete(prepared(net, dtype="float64"), turned("rotate:90"))
    assert found.measures["0"].verdict == "holds" and found.measures["0"].cumulative < 1e-6


def test_random_networks_draw_the_same_numbers_every_time() -> None:
    class Noisy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.rand(1)

    p = prepared(nn.Sequential(Noisy()))
    assert complete(p, turned("rotate:90")).measures["0"].cumulative == 0.0
    assert not torch.equal(prepared(nn.Sequential(Noisy()), seed=1).output, p.output)


class Fragile(nn.Module):
    """Divides by zero when the top row has ink, which it has not before it is moved."""

    def forward(self, x: Tensor) -> Tensor:
        return x / (x[..., :4, :].abs().sum() == 0)


def test_what_breaks_on_moved_data_alone_is_told() -> None:
    low = image_sample(np.pad(np.ones((1, 4, 20)), ((0, 0), (16, 0), (0, 0))), "low")
    p = prepared(nn.Sequential(nn.Identity(), Fragile()), low)
    assert torch.isfinite(p.output).all()
    with pytest.raises(LayerError, match="NaN or infin") as caught:
        square(p, turned("rotate:180", layer="1"))
    assert caught.value.where == "1"


class Undefined(nn.Module):
    """0/0 in one channel."""

    def forward(self, x: Tensor) -> Tensor:
        return x / torch.tensor([1.0, 0.0, 1.0, 1.0])[:, None, None].to(x)


def test_behind_a_layer_that_gives_nan_nothing_is_told_of_an_answer_or_of_calls() -> None:
    """The last finite layer stood there as what the network answers, and what came behind as never called."""
    p = prepared(nn.Sequential(conv(1, 4), Undefined(), conv(4, 2)))
    state = turned("rotate:90", layer="0", saliency="gradient")
    found, _ = square(p, state)
    assert found.message and not found.output.size and not found.output_g.size
    assert {m.name: m.calls for m in modules(p)} == {"0": 1, "1": 1, "2": -1}
    assert not found.weights.entries and found.weights.parameters
    (told,) = saliency(p, state, found)
    assert told.saliency is not None and told.saliency.on_x is None and "layer 1 gave NaN" in told.saliency.problem
    *_, curve = orbit(p, state, count=3)
    assert curve.outputs.shape == (3, 0) and np.isfinite(curve.errors["0"]).all()


def test_of_an_expert_that_is_left_out_it_is_told_why() -> None:
    p = prepared(nn.Sequential(conv(1, 4), conv(4, 2)), without=frozenset({"1"}))
    assert {m.name: m.varies for m in modules(p)} == {"0": False, "1": True}


class Masked(nn.Module):
    """Scores of which some are −∞, and a softmax that gives these nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.scores, self.shares = nn.Identity(), nn.Softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        return self.shares(self.scores(x.masked_fill(x <= 0, -torch.inf)))


def test_masks_of_minus_infinity_are_no_trouble_of_the_network() -> None:
    """A causal transformer had no verdict at all where its masked scores went through a module."""
    sample = image_sample(np.pad(np.ones((1, 6, 6)), ((0, 0), (9, 9), (9, 9))) + 1e-3 * np.eye(24)[None], "square")
    p = prepared(nn.Sequential(Masked()), sample)
    assert not p.trouble and (p.values["0.scores"] == -torch.inf).any() and torch.isfinite(p.output).all()
    found = complete(p, turned("rotate:180", layer="0"))
    assert found.verdict != "undefined" and found.measures["0"].cumulative is not None
    scores = found.measures["0.scores"]
    assert scores.verdict == "no law" and scores.cumulative is None and not scores.seen


def test_a_label_for_each_output_or_none() -> None:
    assert prepared(symmetric_net(), labels=DIGITS).labels == DIGITS
    found, _ = square(prepared(symmetric_net(), labels=("cat", "dog")), State())
    assert found.labels == () and not found.probabilities


def test_the_layer_shown() -> None:
    p = prepared(symmetric_net())
    assert p.layer("2").name == "2"
    assert p.layer("").name == p.layer("nothing").name == "0"  # the first one worth seeing
    assert p.layer("", 1.0).name == "5" and p.layer("", 0.5).name in ("2", "3")


def test_of_a_network_with_irreps_the_first_layer_seen_has_values_that_an_element_mixes() -> None:
    made = tensor_field_network.CARD[0]
    given = {"device": torch.device("cpu"), "dtype": DTYPES["float32"]}
    p = prepare(made, made.build().eval(), fitted(find_sample(made.sample), made.input), **given)
    field = str(p.layer("").field)
    assert "irreps" in field  # and not the first weights, whose values are scalars


def test_cancelled_between_two_layers() -> None:
    asked = 0

    def later() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    p = prepared(symmetric_net())
    with pytest.raises(Cancelled):
        square(p, turned("rotate:90"), cancelled=later)
    assert asked == 4 and not any(m._forward_pre_hooks for m in p.model.modules())
    asked = 0
    with pytest.raises(Cancelled):  # while it is traced for the first time, too
        prepared(symmetric_net(), cancelled=later)
    assert asked == 4


@pytest.mark.parametrize(
    ("shape", "field", "expected"),
    [
        ((1, 3, 5, 7), grid(), (3, 5, 7)),
        ((1, 12), None, (12, 1, 1)),
        ((1,), None, (1, 1, 1)),
        ((1, 5, 7), None, (1, 5, 7)),
        ((1, 2, 3, 5, 7), None, (6, 5, 7)),
        ((1, 2 * 3 * 4), FieldType(Grid(1.0, (3, 4))), (2, 3, 4)),
        ((1, MOST_CHANNELS + 9, 2, 2), grid(), (MOST_CHANNELS, 2, 2)),
    ],
)
def test_anything_is_drawn_as_planes(
    shape: tuple[int, ...], field: FieldType | None, expected: tuple[int, ...]
) -> None:
    values = torch.randn(shape)
    found, total = drawn(values, field)
    assert found.shape == expected and total == max(expected[0], shape[1] if len(shape) in (3, 4) else expected[0])
    assert np.array_equal(found.ravel(), values.flatten().numpy()[: found.size])


def test_what_no_screen_can_show_stays_on_the_device() -> None:
    found, total = drawn(torch.zeros(1, 300, 300, 300), grid())
    assert total == 300 and found.size <= MOST_VALUES and found.shape[1:] == (256, 256)
    assert drawn(torch.zeros(1, 2, 2000, 1), grid())[0].size <= MOST_VALUES


def test_scores() -> None:
    assert scores_of(torch.tensor([[0.0, math.log(3.0)]]), True) == pytest.approx([0.25, 0.75])
    assert scores_of(torch.tensor([[1.0, 2.0]]), False) == pytest.approx([1, 2])
    assert scores_of(torch.tensor([4.0]), False) == pytest.approx([4])
    assert scores_of(torch.ones(1, 3, 2, 2), False) == pytest.approx([1, 1, 1])
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64):
        assert scores_of(torch.ones(1, 3, dtype=kind), False).tolist() == [1, 1, 1]
    assert scores_of(torch.tensor([1e300, math.inf], dtype=torch.float64), False) == pytest.approx(
        [3.4028235e38, math.inf]
    )


def test_overrides_and_what_is_wrong_with_them() -> None:
    net = group_cnn("C4", declared=False)
    assert complete(prepared(net, declared=False), turned("rotate:90")).measures["lift"].verdict == "broken"
    told = {"lift": str(regular("C4"))}
    found = complete(prepared(net, declared=False, overrides=told), turned("rotate:90"))
    assert found.measures["lift"].verdict == "holds"
    with pytest.raises(ValueError, match="'life'; net has: lift, relu1"):
        prepared(net, overrides={"life": "invariant"})


def test_steps_that_are_no_affine_map_are_measured_too() -> None:
    state = State(steps=(Step("translate", (3.0, 0.0, 0.0)), Step("rotate", (20.0,))))
    found = complete(prepared(symmetric_net(), dtype="float64"), state)
    assert found.measures["0"].verdict == "no law" and found.measures["0"].cumulative > 0  # type: ignore[operator]


def test_what_somebody_calls_filters_is_not_taken_for_ours() -> None:
    class Bank(nn.Conv2d):
        def __init__(self) -> None:
            super().__init__(1, 2, 3, padding=1)
            self.filters = nn.Linear(3, 4)

    found, _ = square(prepared(nn.Sequential(Bank(), nn.ReLU())), turned("rotate:90", layer="0"))
    assert found.filters is not None and len(found.filters) == 2


class Inside(nn.Module):
    """Values scaled (and a table by position added) by a layer of its own that returns values of no known field."""

    def __init__(self, table: bool) -> None:
        super().__init__()
        self.scale = nn.Linear(1, 1, bias=False)
        self.table = nn.Parameter(torch.linspace(0, 1, 29)) if table else None

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.scale(x[:, None, ..., None])[:, 0, ..., 0]
        return made if self.table is None else made + self.table


@pytest.mark.parametrize("table", [False, True])
def test_a_block_of_whose_layers_nothing_is_known_is_measured_by_itself(table: bool) -> None:
    torch.manual_seed(0)
    p = prepared(nn.Sequential(nn.Conv2d(1, 1, 1), Inside(table), nn.ReLU()))
    assert {w.name for w in p.trace.layers} >= {"1", "1.scale"} and p.innermost == {"0", "1", "2"}
    found = complete(p, turned("rotate:90", layer="1"))
    local = found.measures["1"].local
    assert local is not None and (local > 1e-2) == table
    assert found.guilty == (("1",) if table else ())


def test_channels_are_called_what_the_module_says_where_that_fits_them() -> None:
    named = nn.Conv2d(1, 2, 3)
    for told, expected in ((("edges", "ground"), ("edges", "ground")), (("edges",), ()), ((1, 2), ()), ("ab", ())):
        named.out_names = told  # type: ignore[assignment]
        layers = layer_infos(prepared(nn.Sequential(named, nn.ReLU())))
        assert [layer.names for layer in layers] == [expected, ()]


def test_errors_by_channel_of_a_block_stay_when_it_is_measured_alone() -> None:
    p = prepared(nn.Sequential(nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU()), nn.ReLU()))
    found = complete(p, turned("rotate:90", layer="0"))
    assert found.measures["0"].local is not None, "it holds a fault, so it was measured again"
    by_channel = found.measures["0"].channels
    assert by_channel is not None and by_channel.shape == (3,)


def test_a_layer_that_fails_on_what_an_input_is_taken_for_says_that_it_is_a_guess() -> None:
    doubt = "it runs on no images; --input says what it takes"
    with pytest.raises(LayerError, match=f"^layer 1 raised .*; {doubt}$"):
        prepared(nn.Sequential(conv(1, 2), nn.Linear(3, 3)), notes=(doubt,), own=True)
