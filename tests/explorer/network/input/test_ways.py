"""Networks in files that are called in other ways: on points, on dense graphs, by other names, with one object."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
import torch

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.equivariance.verdict.outcome import Report
from explorer.network.input.ways import AS_ONE, BY_NAME, Bag, Way, meant
from explorer.network.opening.refusals import Unknown
from explorer.state.state import State

THEIRS = Path(__file__).parents[3] / "foreign/networks/ways_of_writing/theirs"


def checked(name: str, group: str, said: str = "") -> Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = State(f"{THEIRS / name}{said}")
        (report, *_) = audit(LocalEngine({}, trust=True), state, group, "float64", None, {}, details=False)
    return report


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("Moving", "holds"), ("Stretched", "broken"), ("Distances", "holds"), ("Heights", "broken"),
        ("Pairs", "holds"), ("OfAtoms", "holds"), ("Turned", "holds"), ("Bodies", "holds"), ("OfData", "holds"),
        ("Cloud", "broken"),
    ],
)  # fmt: skip
def test_networks_on_points_are_opened_by_trial(name: str, verdict: str) -> None:
    report = checked(f"points.py:{name}", "E3")
    assert report.verdict == verdict
    if name == "Stretched":
        assert any("by code between" in note for note in report.warnings)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("Names", "holds"), ("Order", "holds"), ("Object", "holds"), ("Summed", "broken"), ("Mapping", "holds"),
        ("Flat", "holds"), ("Dense", "holds"), ("Reversed", "holds"), ("Table", "holds"),
    ],
)  # fmt: skip
def test_networks_on_graphs_are_opened_in_their_own_ways(name: str, verdict: str) -> None:
    report = checked(f"given.py:{name}", "permutation")
    assert report.verdict == verdict
    if verdict == "broken":
        assert report.guilty == ("b",) and any("by code between" in note for note in report.warnings)


def test_what_cannot_be_known_is_asked_for_in_a_sentence() -> None:
    with pytest.raises(
        Unknown, match=r"it runs with .* as well as with .*INPUT_SIGNALS.*--input 'graph signals"
    ) as caught:
        checked("given.py:Between", "permutation")
    assert len(str(caught.value)) < 600
    assert (
        checked("given.py:Between", "permutation", "[graph channels=8 signals=x,edge_index,edge_weight]").verdict
        == "holds"
    )


def test_a_way_is_said_in_words() -> None:
    said = "[graph channels=8 signals=x,edge_index given=object names=x,edge_index]"
    assert checked("given.py:Object", "permutation", said).verdict == "holds"
    with pytest.raises(Unknown, match="'two words' is no such name"):
        checked("given.py:Object", "permutation", "[graph 'names=two words']")


def test_tensors_are_given_in_another_order_by_name_and_as_one() -> None:
    x, index = torch.zeros(3, 2), torch.zeros(2, 4, dtype=torch.int64)

    class Net(torch.nn.Module):
        def forward(self, edge_index: torch.Tensor, x: torch.Tensor) -> tuple[object, object]:
            return edge_index, x

    assert Way(("x", "edge_index")).call(("x", "edge_index")) is None
    for way in (Way(("edge_index", "x")), Way(("x", "edge_index"), ("x", "edge_index"), BY_NAME)):
        call = way.call(("x", "edge_index"))
        assert call is not None and call(Net(), (x, index)) == (index, x)

    class One(torch.nn.Module):
        def forward(self, data: Bag) -> tuple[object, object, int]:
            return data.pos, data["edge_index"], data.num_nodes

    call = Way(("position", "edge_index"), given=AS_ONE).call(("position", "edge_index"))
    assert call is not None
    pos, given, nodes = call(One(), (x, index))
    assert pos is x and given is index and nodes == 3


def test_names_mean_signals() -> None:
    known = ("x", "edge_index", "position", "adjacency")
    assert (
        meant("x", known) == ("x",) and meant("coords", known) == ("position",) and meant("A", known) == ("adjacency",)
    )
    assert meant("strength", known) == () and meant("z", known) == ()


COUNTED = """
import torch
from torch import nn

TRIED = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x):
        if not isinstance(x, torch.Tensor):
            TRIED.append(type(x).__name__)
        return self.conv(x)
"""


def test_a_network_that_reads_nothing_off_its_argument_is_given_an_object_once(tmp_path: Path) -> None:
    """Every space would ask it again; with many layers each trial takes long."""
    (tmp_path / "net.py").write_text(COUNTED)
    engine = LocalEngine({}, trust=True)
    name = f"{tmp_path / 'net.py'}:Net"
    engine.card(name)
    tried = vars(sys.modules[type(engine.network(State(name), name)).__module__])["TRIED"]
    assert tried == ["Bag"]


def test_an_object_tells_whether_anything_of_it_was_read() -> None:
    read, counted, untouched = Bag({"x": torch.zeros(3, 2)}), Bag({"x": torch.zeros(3, 2)}), Bag({})
    assert read.x.shape == (3, 2) and counted.num_nodes == 3
    assert read.touched and counted.touched and not untouched.touched
    with pytest.raises(StopIteration):
        _ = untouched.num_nodes
    assert untouched.touched
