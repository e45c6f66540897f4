"""The contract of every card in models/: what it says of itself is well formed, and its claims are true.

The claims are tested on the network's output with actions written here, not with explorer/equivariance: the
two check each other.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import models
from explorer.declare.card import Card
from explorer.declare.groups import group
from explorer.declare.params import Param
from explorer.declare.registry import scan
from explorer.declare.types.fields import Representation, Scalar
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.grid.network.form import InputSpec
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.points.network.form import EDGES, PointsInput
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.volume.network.form import VolumeInput

ROOT = Path(__file__).resolve().parents[3]
WEIGHTS = ROOT / "resources" / "weights"
CARDS: dict[str, Card] = scan(models, "CARD")
GRID = {name: card for name, card in CARDS.items() if card.domain == "grid"}
FAULTY = {name for name, card in GRID.items() if any("planted fault: layer" in n for n in card.notes)}
CLAIMS = [(name, claim) for name, card in GRID.items() for claim in card.groups]
EXACT = 1e-10  # relative, float64; real faults are six orders of magnitude larger
LAWS = {
    "grid": r"translation|[CD][1-9][0-9]?",
    "graph": r"permutation",
    "set": r"permutation",
    "sequence": r"shift|reversal|reverse-complement",
    "mesh": r"gauge(-C[1-9][0-9]?)?|permutation|S?E3",
    "points": r"permutation|S?[OE]3|R3|similarity",
    "volume": r"Oh?|Z3",
    "sphere": r"sphere-SO3",
}
ANY_SIZE = 29
SLOW = 64  # images larger than this (ResNet-18) get one sample

each_card = pytest.mark.parametrize("name", CARDS)
each_grid_card = pytest.mark.parametrize("name", GRID)


@cache
def trained(name: str) -> nn.Module:
    """Return the network of a card with its shipped weights, in eval mode and float64."""
    card = CARDS[name]
    network = card.build(**{p.name: p.default for p in card.params})
    if card.weights is not None and (WEIGHTS / card.weights).exists():
        network.load_state_dict(shipped(card))
    return network.double().eval()


def shipped(card: Card) -> Mapping[str, Tensor]:
    from safetensors.torch import load_file

    assert card.weights is not None
    return load_file(WEIGHTS / card.weights)


def inputs(card: Card, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return a random batch of a card's shape."""
    assert isinstance(card.input, InputSpec)
    channels, height, width = card.input.shape
    size = (height or ANY_SIZE, width or ANY_SIZE)
    return torch.rand(1 if max(size) > SLOW else 2, channels, *size, dtype=dtype)


def settings(card: Card) -> list[dict[str, float]]:
    """Return the defaults, then every extreme and every choice of one parameter at a time."""
    defaults = {p.name: p.default for p in card.params}
    found = [defaults]
    for p in card.params:
        values = range(len(p.choices)) if p.choices else (p.minimum, p.maximum)
        found += [{**defaults, p.name: float(value)} for value in values]
    return found


def test_there_are_cards_and_their_names_are_unique() -> None:
    assert len(CARDS) > 5  # scan itself refuses a name that two files export
    titles = [card.title for card in CARDS.values()]
    assert len(set(titles)) == len(titles)


@each_card
def test_a_card_is_complete_and_legible(name: str) -> None:
    card = CARDS[name]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and name == card.name
    assert card.rows and all(re.fullmatch(r"[A-Z][0-9]{1,2}", row) for row in card.rows)
    for text in (card.title, card.reference, card.equation, card.summary, card.sample, *card.notes):
        assert text.strip() == text != ""
    assert re.search(r"\b(19|20)\d\d\b", card.reference), "a reference has a year"
    assert "=" in card.equation
    assert len(card.title) <= 60
    for claim in card.groups:
        assert re.fullmatch(LAWS[card.domain], claim)
    assert card.boundary in ("circular", "zero")
    match card.input:
        case InputSpec(field=field):
            assert card.domain == "grid" and field.axes == ("batch", "channel", "y", "x")
        case GraphInput(signals=signals):
            assert card.domain in ("graph", "set") and signals[0] == "x"
        case MeshInput(signals=signals, gauge=gauge):
            assert card.domain == "mesh" and signals[0] == "x" and gauge in ("edge", "principal", "gradient")
        case PointsInput(signals=signals, edges=edges):
            assert card.domain == "points" and {"x", "position"} & set(signals[:1]) and edges in EDGES
        case SequenceInput(channels=channels, kind=kind, most=most):
            assert card.domain == "sequence" and kind in ("values", "tokens", "dna")
            assert channels is None or channels > 0
            assert kind != "dna" or channels == 4, "A, C, G, T"
            assert most is None or most > 1
        case VolumeInput(shape=shape):
            assert card.domain == "volume" and len(shape) == 4 and shape[0] >= 1
    for thing in card.source or (card.build,):
        assert inspect.getsource(thing).strip()


@each_card
def test_parameters_are_sound(name: str) -> None:
    card = CARDS[name]
    assert len({p.name for p in card.params}) == len(card.params)
    for p in card.params:
        assert isinstance(p, Param)
        assert p.minimum < p.maximum and p.minimum <= p.default <= p.maximum and p.step > 0
        assert p.clamp(p.default) == p.default
        assert p.parse(p.text(p.default)) == pytest.approx(p.default)
        assert not p.choices or (p.minimum, p.maximum) == (0, len(p.choices) - 1)


@each_card
def test_building_draws_nothing_from_outside(name: str) -> None:
    """Twice the same network from the same random state: nothing else decides."""
    card = CARDS[name]
    networks = []
    for _ in range(2):
        torch.manual_seed(3)
        networks.append(card.build(**{p.name: p.default for p in card.params}))
    first, second = (network.state_dict() for network in networks)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[key], second[key]) for key in first)


@each_grid_card
def test_a_network_runs_at_every_extreme_of_its_parameters(name: str) -> None:
    card = CARDS[name]
    for values in settings(card):
        network = card.build(**values).eval()
        x = inputs(card, torch.float32)
        before = x.clone()
        with torch.no_grad():
            y = network(x)
        assert isinstance(y, Tensor) and y.shape[0] == len(x), values
        assert torch.isfinite(y).all(), values
        assert torch.equal(x, before), f"the input was changed in place with {values}"
        assert not card.labels or y.shape[1:] == (len(card.labels),), values


@each_grid_card
def test_every_sample_of_a_batch_is_treated_alone(name: str) -> None:
    network, x = trained(name), inputs(CARDS[name])
    if len(x) == 1:
        pytest.skip("large images: one sample")
    with torch.no_grad():
        torch.testing.assert_close(network(x)[1:], network(x[1:]), rtol=1e-9, atol=1e-9)


@each_card
def test_shipped_weights_fit_strictly(name: str) -> None:
    card = CARDS[name]
    if card.weights is None:
        pytest.skip("no weights are stated")
    network = card.build(**{p.name: p.default for p in card.params})
    weights = shipped(card)
    network.load_state_dict(weights, strict=True)
    assert all(torch.isfinite(t.double()).all() for t in weights.values())


def test_shipped_weights_are_small_and_all_used() -> None:
    files = sorted(WEIGHTS.glob("*"))
    assert sum(f.stat().st_size for f in files) < 6_000_000
    stated = {card.weights for card in CARDS.values()}
    assert [f.name for f in files if f.name not in stated] == []


@each_grid_card
def test_declared_representations_divide_the_channels(name: str) -> None:
    wrong = [
        f"{layer}: {tuple(y.shape)} is no field of {rep}"
        for layer, rep, y in declared_outputs(trained(name), inputs(CARDS[name]))
        if y.ndim > 1 and y.shape[1] % rep.size
    ]
    assert not wrong, wrong


@each_grid_card
def test_every_step_is_a_named_module(name: str) -> None:
    """Hooks cannot see what functions compute: the last module's output is the network's."""
    last: list[Tensor] = []
    network = trained(name)
    handles = [
        m.register_forward_hook(lambda _m, _x, y: last.append(y) if isinstance(y, Tensor) else None)
        for path, m in network.named_modules()
        if path
    ]
    try:
        with torch.no_grad():
            y = network(inputs(CARDS[name]))
    finally:
        for handle in handles:
            handle.remove()
    assert last and last[-1].shape == y.shape and torch.equal(last[-1], y)


def declared_outputs(network: nn.Module, x: Tensor) -> list[tuple[str, Representation, Tensor]]:
    """Return (layer, out_rep, output) of the modules that declare one, in the order of execution."""
    found: list[tuple[str, Representation, Tensor]] = []
    handles = []
    for path, module in network.named_modules():
        if (rep := getattr(module, "out_rep", None)) is not None:

            def note(m: nn.Module, args: object, y: Tensor, path: str = path, rep: Representation = rep) -> None:
                found.append((path, rep, y))

            handles.append(module.register_forward_hook(note))
    try:
        with torch.no_grad():
            network(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


def move(x: Tensor, g: int, name: str, rep: Representation) -> Tensor:
    """Apply element g of the point group `name` (C4, D4) to images of fields `rep`, (N, C, Y, X)."""
    if rep.size > 1:
        x = x.unflatten(1, (-1, rep.size))[:, :, group(name).regular_permutation(g)].flatten(1, 2)
    if x.ndim < 4:
        return x
    m, r = divmod(g, 4)
    return torch.rot90(x.flip(-1) if m else x, r, (-2, -1))


def point_error(network: nn.Module, x: Tensor, name: str) -> float:
    """Return the largest relative error of F(g x) = g F(x) over the elements of C4 or D4."""
    with torch.no_grad():
        y = network(x)
        declared = declared_outputs(network, x)
        rep = declared[-1][1] if declared and y.ndim == 4 else Scalar()
        moved = [
            (network(move(x, g, name, Scalar())) - move(y, g, name, rep)).abs().max() for g in group(name).elements()
        ]
    return float(max(moved) / spread(y))


def shift_error(network: nn.Module, x: Tensor, boundary: str) -> float:
    """Return the largest relative error of F(shifted x) = shifted F(x) over a few whole shifts.

    Shifts are multiples of the coarsest grid's spacing. On a circular boundary the law holds everywhere; with
    zeros outside it holds away from the border, which is all that is compared.
    """
    with torch.no_grad():
        y = network(x)
        spacing = x.shape[-1] // y.shape[-1] if y.ndim == 4 else coarsest(network, x)
        errors = []
        for down, right in ((spacing, 0), (0, spacing), (-spacing, 2 * spacing)):
            there = y
            if y.ndim == 4:
                there = y.roll((down // spacing, right // spacing), (-2, -1))
            error = (network(x.roll((down, right), (-2, -1))) - there).abs()
            if boundary == "zero" and y.ndim == 4:
                margin = y.shape[-1] // 2 - 1
                error = error[..., margin:-margin, margin:-margin]
            errors.append(error.max())
    return float(max(errors) / spread(y))


def coarsest(network: nn.Module, x: Tensor) -> int:
    """Return the spacing of the coarsest grid inside a network, in input pixels."""
    sizes: list[int] = []
    handles = [
        m.register_forward_hook(
            lambda _m, _x, y: sizes.append(y.shape[-1]) if isinstance(y, Tensor) and y.ndim == 4 else None
        )
        for m in network.modules()
    ]
    try:
        network(x)
    finally:
        for handle in handles:
            handle.remove()
    return x.shape[-1] // min(s for s in sizes if s > 1)


def spread(y: Tensor) -> Tensor:
    """Return what an error is measured against: how much outputs differ, not a constant that all share."""
    return (y - y.mean(dim=tuple(range(2, y.ndim)) or 1, keepdim=True)).abs().max().clamp_min(1e-12)


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_claims_hold(name: str, claim: str) -> None:
    network, card = trained(name), CARDS[name]
    x = inputs(card)
    if claim == "translation":
        error = shift_error(network, x, card.boundary)
    elif claim in ("C4", "D4"):
        error = point_error(network, x, claim)
    else:
        pytest.skip(f"no exact action of {claim} on a square grid is written here")
    if name in FAULTY:
        assert error > 1e-4, f"{name} is there to be found broken"
    else:
        assert error < EXACT, f"{name} breaks {claim}: {error:.1e}"


def test_a_law_that_nobody_claims_is_seen_broken() -> None:
    """The helpers can say no: turns of the plain network, mirrors of C4, shifts under zero padding."""
    network, x = trained("plain-cnn"), inputs(CARDS["plain-cnn"])
    assert point_error(network, x, "C4") > 1e-2
    assert point_error(trained("c4-cnn"), x, "D4") > 1e-3
    assert shift_error(network, x, "circular") > 1e-3


def train_signature(card: Card) -> list[str]:
    assert card.train is not None
    return list(inspect.signature(card.train).parameters)


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.train is not None])
def test_training_takes_epochs_seed_and_progress(name: str) -> None:
    assert {"epochs", "seed", "progress"} <= set(train_signature(CARDS[name]))
