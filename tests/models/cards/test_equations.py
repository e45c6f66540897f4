"""The contract of every card that states equations: the right side comes to what the layer gave, at any step.

The left sides are what the loops and kernels of the network computed; the right sides are worked out by numpy from the
term that is shown.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from explorer.declare.elements import parse_chain
from explorer.declare.telling.equations import Call, Equation, Number, Term, Value, values_of
from explorer.network.tracing.layers import LayerError
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.spaces.sequence.network.equation_finder import find_blocks
from explorer.square.drawing.equation_values import BARRED, Working, in_numbers, written
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from models.layers.recurrent.recurrence import Recurrence
from tests.models.sequences.test_cards import CARDS, defaults, engine

TOLERANCE = 1e-5
STEPS = 6  # of each block and side, chosen at random, the ends besides
CHAINS = ("shift:3", "reverse")
WITHOUT = {"strand-cnn", "plain-dna-cnn"}  # no recurrence and no attention


def prepared(name: str) -> Prepared:
    return engine().prepared(State(model=name, device="cpu"), name)


@cache
def stating() -> list[str]:
    """Return the cards in whose networks any module states equations; without their weights."""
    networks = {name: card.build(**defaults(card)) for name, card in CARDS.items()}
    return sorted(name for name, net in networks.items() if any(getattr(m, "equations", ()) for m in net.modules()))


def part_of(name: str, layer: str = "", chain: str = "", **values: float) -> TimePart:
    params = tuple({**defaults(CARDS[name]), **values}.items())
    state = State(model=name, layer=layer, steps=parse_chain(chain), params=params, device="cpu")
    part = engine().answer(state, lambda: False).squares[0].of(TimePart)
    assert part is not None
    return part


def workings(name: str, chain: str, **values: float) -> list[tuple[Working, int]]:
    """Return the working of every block, with the number of steps."""
    first = part_of(name, "", chain, **values)
    assert first.working is not None
    return [(w, p.steps) for p in (part_of(name, layer, chain, **values) for _, layer in first.working.blocks)
            if (w := p.working) is not None]  # fmt: skip


def chosen(steps: int, seed: int = 0) -> list[int]:
    rest = random.Random(seed).sample(range(steps), min(STEPS, steps))
    return sorted({0, min(1, steps - 1), steps - 1, *rest})


def faults(working: Working, steps: int) -> list[str]:
    """Return every equation whose right side is not its left one, or cannot be worked out."""
    found = []
    for moved in (False, True):
        for step in chosen(steps):
            for equation, line in zip(working.equations, working.at(step, moved), strict=True):
                if line is None:
                    found.append(f"{equation.left.name} at {step} has no numbers")
                elif line.left is not None:
                    size = max(1.0, float(np.abs(line.left[line.left > BARRED]).max(initial=0.0)))
                    barred = line.left <= BARRED
                    if not np.array_equal(barred, line.right <= BARRED):
                        found.append(f"{equation.left.name} at {step}: other steps are barred")
                    elif np.abs(line.left - line.right)[~barred].max(initial=0.0) > TOLERANCE * size:
                        found.append(f"{equation.left.name} at {step}")
    return found


def test_the_cards_that_ought_to_state_equations_do() -> None:
    asked = {
        "simple-rnn", "lstm", "gru", "leaky-rnn", "gated-rnn", "lstm-chrono", "bidirectional-lstm", "autoregressive",
        "latent-ar", "seq2seq", "bahdanau", "seq2seq-dates", "bahdanau-dates", "pointer-network", "pointer-glimpse",
        "pointer-hull", "transformer",
    }  # fmt: skip
    assert asked <= set(stating()) and not WITHOUT & set(stating())


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("name", stating())
def test_the_right_side_is_the_left_side_at_random_steps(name: str, chain: str) -> None:
    for working, steps in workings(name, chain):
        assert any(e.left.name in working.values for e in working.equations), "nothing would be checked"
        assert faults(working, steps) == [], working.block


@pytest.mark.parametrize("name", stating())
def test_the_equations_hold_at_every_extreme_of_the_parameters(name: str) -> None:
    for p in CARDS[name].params:
        for value in range(len(p.choices)) if p.choices else (p.minimum, p.maximum):
            try:
                found = workings(name, "shift:1", **{p.name: float(value)})[:2]
            except LayerError as error:
                assert "NaN or infinity" in str(error)  # the network itself has no answer: a state that explodes
                continue
            assert [fault for working, steps in found for fault in faults(working, steps)] == [], f"{p.name} = {value}"


def other(term: Term) -> Term:
    """Return a term that is wrong in one place: a sum for a difference, another function, no mask, one half more."""
    swapped = {"+": "−", "−": "+", "⊙": "+", "logistic": "tanh", "tanh": "logistic", "relu": "tanh", "softmax": "tanh"}
    match term:
        case Call(what, terms) if what in swapped:
            return Call(swapped[what], terms)
        case Call("mask", (row, _)):
            return row
    return Call("+", (term, Number(0.5)))


@pytest.mark.parametrize("name", ["lstm", "gru", "latent-ar", "bahdanau", "pointer-hull", "transformer"])
def test_a_wrong_equation_is_noticed(name: str) -> None:
    """Every equation of a block, made wrong by itself, is found by the test above."""
    for working, steps in workings(name, "shift:3"):
        for k, equation in enumerate(working.equations):
            wrong = other(equation.right)
            if equation.left.name not in working.values:
                continue
            changed = [*working.equations[:k], replace(equation, right=wrong), *working.equations[k + 1 :]]
            found = faults(replace(working, equations=tuple(changed)), steps)
            assert any(text.startswith(equation.left.name) for text in found), equation.left.name


def test_another_weight_and_another_step_are_noticed() -> None:
    ((working, steps),) = workings("lstm", "shift:3")
    constants = {**working.constants, "recurrent:U_f": np.asarray(working.constants["recurrent:U_f"]) * 1.01}
    found = faults(replace(working, constants=constants), steps)
    assert found and all(text.startswith("recurrent.forget_gate") for text in found)
    late = tuple(_without_delay(e) for e in working.equations)
    assert any(text.startswith("recurrent.cell at") for text in faults(replace(working, equations=late), steps))


def _without_delay(equation: Equation) -> Equation:
    def now(term: Term) -> Term:
        match term:
            case Value() if term.by:
                return replace(term, by=0, start=None)
            case Call(what, terms):
                return Call(what, tuple(now(t) for t in terms))
        return term

    return replace(equation, right=now(equation.right))


@pytest.mark.parametrize("name", stating())
def test_names_in_equations_are_layers_and_headings_are_short(name: str) -> None:
    p = prepared(name)
    layers = {layer.name for layer in p.trace.layers} | {"x"}
    for working in find_blocks(p).values():
        local = {e.left.name for e in working.equations} - layers
        for equation in working.equations:
            used = {v.name for v in values_of(equation.right) if not v.fixed}
            assert used <= layers | local, equation.left.name
            assert {v.name for v in values_of(equation.right) if v.fixed} <= set(working.constants)
            assert len(equation.heading) <= 60
            assert "".join(text for text, _ in written(equation.right)).count("(") < 8


@pytest.mark.slow
def test_every_tap_of_a_recurrent_layer_is_stated() -> None:
    for name in stating():
        p = prepared(name)
        told = {e.left.name for w in find_blocks(p).values() for e in w.equations}
        for path, module in p.model.named_modules():
            if isinstance(module, Recurrence):
                assert {f"{path}.{tap}" for tap in module.shown} <= told, path


def test_the_six_steps_of_attention_are_in_order() -> None:
    blocks = {w.block: w for w, _ in workings("transformer", "shift:1")}
    decoder = [e.heading[0] for e in blocks["stacks.decoder.0"].equations if e.heading]
    assert decoder == list("1234561245" + "6"), "masked, then cross attention without a mask"
    encoder = [e.heading[0] for e in blocks["stacks.encoder.0"].equations if e.heading]
    assert encoder == list("12456")


def test_masked_rows_are_barred_after_the_step_alone() -> None:
    blocks = {w.block: w for w, _ in workings("transformer", "shift:1")}
    working = blocks["stacks.decoder.0"]
    for step in (0, 4, 11):
        lines = {e.left.name: line for e, line in zip(working.equations, working.at(step), strict=True)}
        masked = lines["stacks.decoder.0.self_attention.masked_logits"]
        assert masked is not None
        assert np.array_equal(masked.shown[0] < BARRED, np.arange(12) > step)


@pytest.mark.slow
def test_the_numbers_in_place_come_to_the_value() -> None:
    """A sum that a person reads, "logistic(0.41 − 0.12) = 0.57", is a sum that holds."""
    known = {
        "logistic": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh, "relu": lambda x: max(x, 0.0), "exp": np.exp,
        "root": np.sqrt, "__builtins__": {},
    }  # fmt: skip
    chance, read = random.Random(1), 0
    for name in stating():
        for working, steps in workings(name, "shift:2"):
            for line in working.at(chance.randrange(steps)):
                if line is None or line.initial:
                    continue
                place = tuple(chance.randrange(n) for n in line.shown.shape)
                if line.shown[place] < BARRED:
                    continue
                text = in_numbers(line.equation.right, line.scope, place, lambda v: f"{v:.9g}".replace("-", "−"))
                text = text.replace("−∞", "-1e9").replace("−", "-").replace("·", "*").replace("√", "root ")
                words = text.split("root ")
                sums = words[0] + "".join(f"root({w})" for w in words[1:])
                assert eval(sums, known) == pytest.approx(float(line.shown[place]), rel=1e-4, abs=1e-5), (name, text)
                read += 1
    assert read > 100
