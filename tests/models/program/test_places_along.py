"""A change at a place of the data goes along with it: the same member on x and on rho(g) x, in every kind of data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

import main
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.app.command.report import capture_report
from explorer.declare.elements import NoAction, chain_element, parse_chain
from explorer.declare.inputs import Inputs
from explorer.declare.states.interventions import parse_interventions
from explorer.declare.types.field_text import parse_field
from explorer.network.changing.interventions.moving import places_after
from explorer.network.tracing.layers import LayerError
from explorer.state.state import State
from tests.explorer.parts.answering import complete


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(main.cards())
    yield made
    made.close()


def state(model: str, sample: str, chain: str, *texts: str) -> State:
    return State(
        model, sample=sample, steps=parse_chain(chain), device="cpu", dtype="float64",
        interventions=parse_interventions(texts),
    )  # fmt: skip


@pytest.mark.parametrize("change", ["zero", "scale=3", "replace", "freeze"])
def test_the_same_member_of_a_graph_is_changed_after_a_permutation(engine: LocalEngine, change: str) -> None:
    square = complete(engine, state("gat", "karate", "permute:1", f"conv1.linear[node 33]:{change}")).squares[0]
    assert square.verdict == "holds", square.guilty
    follows = square.changes["conv2"]
    assert follows.on_gx == pytest.approx(follows.on_x, rel=1e-9)
    assert (follows.on_x == 0) == (change == "freeze")  # what the member gave before is what it gives after


@pytest.mark.parametrize(
    ("model", "sample", "chain", "places"),
    [
        ("gat", "karate", "permute:1+swap:3,4", "conv1.attention[edge 5]"),
        ("d4-cnn", "digit-3", "rotate:90+reflect", "norm3[pixel 2,5]"),
        ("gem-cnn", "mesh-torus", "random-gauge:3", "act1[vertex 8]"),
        ("lstm", "sine", "shift:3", "recurrent.hidden[step 20]"),
        ("oh-cnn", "random:1x1x9x9x9", "cube:x90", "lift[place 40]"),
        ("sphere-cnn", "", "turn-sphere:0,180,0", "lift[place 40]"),
    ],
)
def test_the_law_holds_with_a_change_at_one_place(
    engine: LocalEngine, model: str, sample: str, chain: str, places: str
) -> None:
    card = main.cards()[model]
    plain = state(model, sample or card.sample, chain)
    for change in ("zero", "replace"):
        wanted = replace(plain, interventions=parse_interventions([f"{places}:{change}"]))
        p, before = engine.prepared(wanted, model), engine.prepared(plain, model)
        report, _ = capture_report(p, engine.sample(wanted, p.card), wanted)
        least, _ = capture_report(before, engine.sample(plain, p.card), plain)
        layer = places.partition("[")[0]
        assert report["changes"][layer][0] > 0
        for now, was in zip(report["layers"], least["layers"], strict=True):
            if was["cumulative"] is not None:
                assert now["cumulative"] <= 20 * was["cumulative"] + 1e-9, (now["name"], was["cumulative"])


def test_check_judges_a_network_that_is_changed_at_one_place(engine: LocalEngine) -> None:
    for text in ("conv1.linear[node 33]:zero", "conv1.linear[2]:zero"):
        report = audit(engine, state("gat", "karate", "", text), "permutation", "float64", None, {})[0]
        assert report.verdict == "holds", text


def test_each_sample_of_an_orbit_has_its_own_place(engine: LocalEngine) -> None:
    """Quarter turns are run as one batch, and the pixel lies elsewhere after each of them."""
    wanted = replace(state("d4-cnn", "digit-3", "rotate:90", "conv2[pixel 3,5]:zero"), orbit="rotate")
    *_, last = engine.orbit(wanted)
    assert last.exact.sum() == 4
    assert np.max(last.errors["conv2"][last.exact]) < 1e-12


def test_a_channel_is_a_part_of_the_network_and_stays(engine: LocalEngine) -> None:
    square = complete(engine, state("d4-cnn", "digit-3", "rotate:90", "conv2[44]:zero")).squares[0]
    assert square.guilty == ("conv2",)  # an orientation of a regular field goes elsewhere under a turn


def test_a_node_that_is_left_out_leaves_nothing_to_change(engine: LocalEngine) -> None:
    wanted = state("gat", "karate", "drop-nodes:0.5", "conv1.linear[node 33]:zero", "conv1.linear[node 2]:zero")
    square = complete(engine, wanted).squares[0]
    assert square.changes["conv1.linear"].on_x > 0


# where places go ---------------------------------------------------------------------------------------------------
def test_shares_are_told_by_the_action_itself_whatever_it_does_to_values() -> None:
    field = parse_field("node scalar")
    mask = torch.zeros(5, 2, dtype=torch.bool)
    mask[1] = True
    inputs = Inputs((torch.rand(5, 2),), (field,))
    word = [g.on(inputs) for g in (chain_element(parse_chain("permute:1")), chain_element(parse_chain("scale:3")))]
    found = places_after([word], mask, field)
    at = word[0].place_of(1, 5)
    assert found[at].tolist() == [1.0, 1.0]
    assert found.sum() == 2


def test_between_pixels_a_place_is_shared_among_its_neighbours() -> None:
    mask = torch.zeros(1, 1, 9, 9, dtype=torch.bool)
    mask[..., 2, 5] = True
    found = places_after([[chain_element(parse_chain("rotate:30"))]], mask, parse_field("grid scalar"))
    assert 0 < found.max() < 1
    assert (found > 0.1).sum() <= 4  # and of those far away nothing is told


def test_inputs_know_by_what_they_were_moved() -> None:
    field = parse_field("node scalar")
    inputs = Inputs((torch.rand(5, 2),), (field,))
    g, h = (chain_element(parse_chain(text)).on(inputs) for text in ("permute:1", "permute:2"))
    assert inputs.by == ()
    assert inputs.moved(g).moved(h).to(dtype=torch.float64).by == (g, h)


def test_a_place_without_an_action_is_a_sentence(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> torch.Tensor:
        raise NoAction

    monkeypatch.setattr("explorer.network.changing.interventions.changes.places_after", none)
    with pytest.raises(LayerError, match="node 33 set to zero, and nothing tells where that is after this element"):
        complete(engine, state("gat", "karate", "permute:1", "conv1.linear[node 33]:zero"))
