"""Promises of every network on meshes: laws under turned frames and renumbering, by formulas of this file alone."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import models
from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.declare.inputs import Inputs
from explorer.declare.registry import scan
from explorer.declare.types.fields import FieldType, Regular
from explorer.equivariance.check import check_equivariance
from explorer.network.input.inputs import inputs_from
from explorer.spaces.mesh.fields import Tangent
from explorer.spaces.mesh.network.form import MeshInput
from models.layers.gauge.kernel import rotation, sizes

CARDS: dict[str, Card] = {n: c for n, c in scan(models, "CARD").items() if c.domain == "mesh"}
MESH = sorted(CARDS)
CLAIMS = [(name, claim) for name in MESH for claim in CARDS[name].groups]
CPU = torch.device("cpu")


@cache
def inputs_of(name: str) -> Inputs:
    card = CARDS[name]
    assert isinstance(card.input, MeshInput)
    return inputs_from(fitted(find_sample("mesh-sphere-small"), card.input), card.input, CPU, torch.float64)


@cache
def on_own_sample(name: str) -> Inputs:
    card = CARDS[name]
    assert isinstance(card.input, MeshInput)
    return inputs_from(fitted(find_sample(card.sample), card.input), card.input, CPU, torch.float64)


def network_of(card: Card, **values: float) -> nn.Module:
    torch.manual_seed(0)
    return card.build(**{p.name: p.default for p in card.params} | values).double().eval()


def turned(inputs: Inputs, phi: Tensor) -> Inputs:
    """Return the arguments in frames turned by phi: written out here, not asked of the program."""
    edge_index = inputs.get("edge_index")
    assert edge_index is not None
    source, target = edge_index
    made = []
    for name, value, field in zip(inputs.names, inputs.values, inputs.fields, strict=True):
        match name:
            case "angle":
                value = value - phi[target]
            case "transport":
                value = value + phi[source] - phi[target]
            case "patch_index" | "patch_weight":
                steps = (phi * value.shape[2] / (2 * math.pi)).round().long()
                value = torch.stack([v.roll(-int(s), 1) for v, s in zip(value, steps, strict=True)])
            case "x" if isinstance(field.rep, Tangent):
                value = moved_feature(value, field, phi)
        made.append(value)
    return replace(inputs, values=tuple(made))


def moved_feature(values: Tensor, field: FieldType | None, phi: Tensor) -> Tensor:
    match field.rep if field else None:
        case Tangent(orders=orders):
            blocks = values.reshape(len(values), -1, sum(sizes(orders)))
            return torch.einsum("vab,vcb->vca", rotation(orders, -phi), blocks).reshape(values.shape)
        case Regular(group=group):
            n = group.order
            steps = (phi * n / (2 * math.pi)).round().long()
            blocks = values.reshape(len(values), -1, n)
            return torch.stack([b.roll(-int(s), 1) for b, s in zip(blocks, steps, strict=True)]).reshape(values.shape)
        case _:
            return values


def renumbered(inputs: Inputs, order: Tensor) -> Inputs:
    """Return the arguments with vertex i called order[i], and the edges listed in another order."""
    back = torch.argsort(order)
    edge_index = inputs.get("edge_index")
    assert edge_index is not None
    shuffle = torch.from_numpy(np.random.default_rng(5).permutation(edge_index.shape[1]))
    made = []
    for name, value in zip(inputs.names, inputs.values, strict=True):
        match name:
            case "edge_index":
                value = order[value[:, shuffle]]
            case "faces":
                value = order[value]
            case "patch_index":
                value = order[value[back]]
            case _:
                value = value[shuffle] if len(value) == edge_index.shape[1] else value[back]
        made.append(value)
    return replace(inputs, values=tuple(made))


def out_field(network: nn.Module) -> FieldType | None:
    last = list(network.modules())[-1]
    return getattr(last, "out_field", None)


def error(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm().clamp_min(1e-12))


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_claims_hold(name: str, claim: str) -> None:
    card, inputs = CARDS[name], inputs_of(name)
    network = network_of(card)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        answer = network(*inputs.arguments)
        if claim.startswith("gauge"):
            phi = torch.rand(len(inputs.x), generator=generator, dtype=torch.float64) * 6
            if parts := int(claim.partition("-C")[2] or 0):
                phi = (phi / (2 * math.pi) * parts).floor() * (2 * math.pi / parts)
            found = network(*turned(inputs, phi).arguments)
            assert error(found, moved_feature(answer, out_field(network), phi)) < 1e-9
        elif claim == "permutation":
            order = torch.randperm(len(inputs.x), generator=generator)
            found = network(*renumbered(inputs, order).arguments)
            assert error(found, answer[torch.argsort(order)] if len(answer) == len(order) else answer) < 1e-9


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_every_layer_holds_what_the_card_claims(name: str, claim: str) -> None:
    network = network_of(CARDS[name])
    report = check_equivariance(network, [inputs_of(name)], claim, dtype=torch.float64, name=name)
    assert report.verdict == "holds", [(r.name, r.local, r.cumulative) for r in report.layers if r.verdict == "broken"]


@pytest.mark.parametrize("name", MESH)
def test_extremes_of_every_parameter_run(name: str) -> None:
    card, inputs = CARDS[name], inputs_of(name)
    for param in card.params:
        for value in (param.minimum, param.maximum):
            with torch.no_grad():
                answer = network_of(card, **{param.name: value})(*inputs.arguments)
            assert torch.isfinite(answer).all() and len(answer) in (len(inputs.x), 1), (param.name, value)


@pytest.mark.parametrize("name", MESH)
def test_the_stated_sample_is_taken_and_answered_for_each_vertex(name: str) -> None:
    card, inputs = CARDS[name], on_own_sample(name)
    with torch.no_grad():
        answer = network_of(card)(*inputs.arguments)
    assert torch.isfinite(answer).all()
    if card.labels:
        assert answer.shape == (len(inputs.x), len(card.labels))
