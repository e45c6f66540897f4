"""Makers of inputs, and the sentence about data in a form that is not understood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import equiscope
from equiscope import check_equivariance
from equiscope.fields import EDGE, NODE, STEP_INPUT, VERTEX_INPUT, Regular, Strands, grid

VERTICES = torch.tensor([[0, 0, 1.0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1]])
FACES = torch.tensor([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 2, 1], [5, 3, 2], [5, 4, 3], [5, 1, 4]])


class Steepness(nn.Module):
    """Return how steeply x rises at each vertex, in any frame; without the square of `across` it would be broken."""

    def __init__(self, both: bool = True) -> None:
        super().__init__()
        self.both = both

    def forward(self, x: Tensor, edge_index: Tensor, radius: Tensor, angle: Tensor) -> Tensor:
        slope = (x[edge_index[0]] - x[edge_index[1]]) / radius[:, None]
        along = torch.zeros_like(x).index_add(0, edge_index[1], slope * angle.cos()[:, None])
        across = torch.zeros_like(x).index_add(0, edge_index[1], slope * angle.sin()[:, None])
        return along**2 + across**2 * self.both


@pytest.mark.parametrize("shape", [(9, 8), (1, 9, 8), (1, 1, 9, 8)])
def test_an_image_gets_the_axes_that_it_lacks(shape: tuple[int, ...]) -> None:
    made = equiscope.image(torch.rand(shape))
    assert made.x.shape == (1, 1, 9, 8) and made.field.domain.space == "grid"
    assert check_equivariance(nn.ReLU(), made, "translation").holds


def test_an_image_may_have_a_field() -> None:
    field = grid(Regular(equiscope.group("C4")))
    assert equiscope.image(torch.rand(1, 4, 9, 9), field).field == field


@pytest.mark.parametrize(("layout", "shape"), [("TC", (7, 2)), ("CT", (2, 7)), ("NTC", (1, 7, 2)), ("NCT", (1, 2, 7))])
def test_a_sequence_gets_the_axes_of_the_network(layout: str, shape: tuple[int, ...]) -> None:
    made = equiscope.sequence(torch.rand(7, 2), layout)
    assert made.x.shape == shape and made.places == 7 and made.field.domain.space == "sequence"
    assert equiscope.sequence(np.zeros(7), layout).x.shape == tuple(1 if n == 2 else n for n in shape)


def test_a_sequence_is_measured() -> None:
    smooth = nn.Sequential(nn.Conv1d(2, 3, 3, padding=1, bias=False))
    assert check_equivariance(smooth, equiscope.sequence(torch.rand(30, 2), "NCT"), "shift").holds
    assert equiscope.sequence(torch.rand(30, 4), rep=Strands()).field.rep == Strands()
    # a tensor alone is a sequence where the caller says that it is one
    assert check_equivariance(nn.Tanh(), torch.rand(30, 2), "shift", x_field=STEP_INPUT).holds


def test_a_graph_is_named_and_measured() -> None:
    class Net(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, place: Tensor, weight: Tensor) -> Tensor:
            return x.index_add(0, edge_index[1], x[edge_index[0]] * weight[:, None]) + place.square().sum(1)[:, None]

    # as many edges as nodes: shapes alone would not tell the weights from a node field
    made = equiscope.graph(torch.rand(3, 2), [[0, 1, 2], [1, 2, 2]], position=torch.rand(3, 2), edge_weight=np.ones(3))
    assert made.names == ("x", "edge_index", "position", "edge_weight") and made.fields[2:] == (NODE, EDGE)
    assert check_equivariance(Net(), made, "permutation").holds
    assert check_equivariance(nn.Linear(2, 3), equiscope.graph(torch.rand(5, 2)), "permutation").holds


class Bag(nn.Module):
    """Counts words: sums of whole numbers, the same to the bit in any order."""

    def __init__(self, ordered: bool) -> None:
        super().__init__()
        self.words, self.ordered = nn.Embedding(50, 4), ordered
        self.words.weight.data.round_()

    def forward(self, words: Tensor) -> Tensor:
        found: Tensor = self.words(words)
        return (found.cumsum(1) if self.ordered else found).sum(1)


@pytest.mark.parametrize("ordered", [False, True])
def test_members_of_a_set_of_numbers_are_found_where_their_order_changes_no_bit(ordered: bool) -> None:
    words = torch.randint(0, 50, (1, 9), generator=torch.Generator().manual_seed(0))
    report = check_equivariance(Bag(ordered), words, "permutation")
    assert report.verdict == ("broken" if ordered else "holds")


def test_a_mesh_is_made_of_its_surface() -> None:
    signals = ("x", "edge_index", "radius", "angle")
    made = equiscope.mesh(VERTICES, FACES, signals, x=torch.rand(6, 2))
    assert made.field == VERTEX_INPUT and [len(v) for v in made.arguments] == [6, 2, 24, 24]
    assert check_equivariance(Steepness(), made, "gauge").holds
    assert check_equivariance(Steepness(), made, "SE3").holds
    assert check_equivariance(Steepness(both=False), made, "gauge").verdict == "broken"
    assert equiscope.mesh(VERTICES.numpy(), FACES.numpy(), signals, features="curvature").x.shape == (6, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: equiscope.image(torch.zeros(8, 8).byte()), r"x of image\(\) holds uint8 .* x.float\(\) / 255"),
        (lambda: equiscope.image(torch.rand(3)), r"\(batch, channel, height, width\), and x has \(3,\)"),
        (lambda: equiscope.sequence(torch.rand(2, 5, 3)), r"\(steps, channels\), and x has \(2, 5, 3\).*x\[0\]"),
        (lambda: equiscope.sequence(torch.zeros(5).long()), "one_hot"),
        (lambda: equiscope.sequence(torch.rand(5), "XY"), "one of NTC, .*, not 'XY'"),
        (lambda: equiscope.graph(torch.rand(4)), r"\(nodes, channels\), and this one has \(4,\)"),
        (lambda: equiscope.graph(torch.rand(4, 3), [[0, 9], [1, 1]]), "nodes 0 to 9, and x has 4"),
        (lambda: equiscope.graph(torch.rand(4, 3), torch.rand(2, 3)), "not real ones"),
        (lambda: equiscope.graph(torch.rand(4, 3), [[0], [1]], edge_attr=torch.rand(3, 1)), "there are 1 edges"),
        (lambda: equiscope.graph(torch.rand(4, 3), colour=torch.rand(4)), "no 'colour', but edge_attr"),
        (lambda: equiscope.mesh(VERTICES, FACES, ("radius",)), "begin with 'x'"),
        (lambda: equiscope.mesh(VERTICES, FACES, "x"), "begin with 'x'"),
        (lambda: equiscope.mesh(VERTICES[:, :2], FACES), r"must be \(vertices, 3\)"),
        (lambda: equiscope.mesh(VERTICES, FACES, x=torch.rand(5, 2)), r"\(6, channels\), and this one has \(5, 2\)"),
    ],
)
def test_makers_refuse_in_one_sentence(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "group", "message"),
    [
        (
            torch.rand(20, 3),
            "shift",
            r"shift acts on a sequence, and a tensor of shape \(20, 3\).* equiscope.seq",
        ),
        ((20, 3), "shift", r"a shape asks for noise in the form of a grid; give equiscope.sequence\(x\)"),
        (
            (torch.rand(5, 2), torch.zeros(2, 3).long()),
            "gauge",
            r"taken for a graph .* equiscope.mesh\(vertices, f",
        ),
        (equiscope.sequence(torch.rand(9, 2)), "D4", r"the input is a sequence .* equiscope.image\(x\)"),
        ([torch.rand(1, 1, 8, 8)] * 2, "shift", "a list of images is taken for a grid"),
        ([torch.rand(5, 2)] * 2, "D4", "a list of tensors is taken for a graph"),
        (torch.arange(64).reshape(1, 1, 8, 8), "C4", r"holds int64 values, .* x.float\(\) / 255"),
        ((torch.rand(2, 3), torch.tensor([[0, 7], [1, 0]])), "permutation", "the nodes 0 to 7, and x has 2"),
        (np.zeros((1, 1, 8, 8)), "C4", r"a NumPy array; give a tensor: torch.from_numpy\(x\)"),
        ([(torch.rand(3, 2), torch.zeros(2, 2))], "permutation", "a list of tuple; give one tensor"),
        ({"x": 1}, "C4", r"a dict of \{'x': int\}; give tensors by name"),
        ({"x": torch.rand(3)}, "C4", r"a dict of x is taken for a graph; give equiscope.image\(x\)"),
        ({1: torch.rand(3)}, "C4", r"a dict of \{1: Tensor\}; give tensors by name"),
        ("digit-3", "C4", "the data is of type str"),
    ],
)
def test_data_in_another_form_is_told(data: Any, group: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        check_equivariance(nn.Conv2d(1, 1, 3), data, group)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: equiscope.image("a.png"), "x of image.* not this str"),
        (lambda: equiscope.graph([[1.0, 2.0], [3.0]]), "lists of equal lengths, not this list"),
        (lambda: equiscope.image(torch.rand(8, 8), "regular"), "fields of Inputs are a tuple of FieldType"),
        (lambda: equiscope.Inputs(torch.rand(3, 2), (NODE,)), "values of Inputs are a tuple of tensors"),
        (lambda: equiscope.Tap("node scalar"), "a tap is given a FieldType"),
        (lambda: equiscope.mesh(VERTICES, FACES.double()), "faces are whole numbers"),
        (lambda: equiscope.Inputs((torch.rand(3, 2),), (NODE, NODE)), "a field for each value: 1 and 2"),
    ],
)
def test_other_types_are_refused_where_they_are_given(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": None}, "the group is named by a text .* not None"),
        ({"x_field": "grid scalar"}, "x_field is a FieldType"),
        ({"overrides": {"0": NODE}}, "overrides are {layer: text of a field}"),
        ({"overrides": ["0"]}, "overrides are {layer: text of a field}"),
        ({"boundary": "mirror"}, "one of circular, zero, not 'mirror'"),
        ({"dtype": "float32"}, "a real precision, .* not 'float32'"),
        ({"dtype": torch.int32}, "a real precision"),
        ({"tol": float("nan")}, "tol is a number from 0 on"),
        ({"tol": -1.0}, "tol is a number from 0 on"),
        ({"count": 0}, "count is a whole number from 1 on, not 0"),
    ],
)
def test_options_that_cannot_be_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        check_equivariance(nn.Conv2d(1, 1, 3), torch.rand(1, 1, 8, 8), **options)
    assert "\n" not in str(caught.value)


def test_a_report_says_which_layers_it_has() -> None:
    report = check_equivariance(nn.Sequential(nn.ReLU()), torch.rand(1, 1, 8, 8), "C4")
    assert "0" in report and "nope" not in report
    with pytest.raises(KeyError, match="no layer 'nope'; there are '0'"):
        report["nope"]


@pytest.mark.parametrize(("model", "message"), [(nn.ReLU, r"type; ReLU\(\) makes one"), (None, "not of type NoneType")])
def test_what_is_no_network_is_told(model: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        check_equivariance(model, torch.rand(1, 1, 8, 8))
