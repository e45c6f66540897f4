"""Networks in files that take several tables, of which some have rows for the same members: found by trial, or said."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.equivariance.verdict.outcome import Report
from explorer.network.opening.refusals import ModelError, Unknown
from explorer.state.state import State

NETS = """
import torch
from torch import nn


class Latest(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.fault = fault

    def forward(self, h, axis):
        w = 1.0 + self.fault * torch.arange(h.shape[axis]).to(h)
        return (h.movedim(axis, -1) * w).movedim(-1, axis)


class Process(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.encoder, self.decoder, self.late = nn.Linear(5, 8), nn.Linear(10, 3), Latest(fault)

    def forward(self, context_x, context_y, target_x):
        r = self.late(self.encoder(torch.cat([context_x, context_y], -1)), 1).mean(1, keepdim=True)
        return self.decoder(torch.cat([target_x, r.expand(-1, target_x.shape[1], -1)], -1))


class Field(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.place, self.colour, self.late = nn.Linear(3, 8), nn.Linear(11, 4), Latest(fault)

    def forward(self, positions, directions):
        return self.colour(torch.cat([self.late(self.place(positions).relu(), 0), directions], -1))


class Three(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c, self.out = nn.Linear(5, 8), nn.Linear(4, 8), nn.Linear(3, 8), nn.Linear(24, 2)
        self.late = Latest(fault)

    def forward(self, customers, articles, shops):
        found = [self.a(customers).relu(), self.b(articles).relu(), self.late(self.c(shops), 0)]
        return self.out(torch.cat([h.mean(0) for h in found], -1))


class Traffic(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.time, self.out, self.late = nn.Conv2d(2, 8, (1, 3)), nn.Linear(8, 1), Latest(fault)

    def forward(self, X, A_hat):  # (batch, nodes, steps, channels)
        h = self.late(torch.relu(self.time(X.permute(0, 3, 1, 2))), 2)
        return self.out(torch.einsum("ij,bcjt->bcit", A_hat, h).mean(-1).transpose(1, 2))
"""
TAKEN = {
    "Process": "context_x:1xAx4,context_y:1xAx1,target_x:1xBx2",
    "Field": "positions:Ax3,directions:Ax3",
    "Three": "customers:Ax5,articles:Bx4,shops:Cx3",
    "Traffic": "X:1xAx16x2,A_hat:AxA",
}


def checked(folder: Path, call: str, text: str = "", more: str = "", group: str = "permutation") -> Report:
    path = folder / "net.py"
    path.write_text(NETS + more)
    (report,) = audit(LocalEngine({}, trust=True), State(f"{path}:{call}{text}"), group, "float64", None, {})
    return report


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n == "Three" else []) for n in TAKEN])
def test_what_several_tables_are_is_found_by_trial_and_their_laws_are_judged(tmp_path: Path, name: str) -> None:
    report = checked(tmp_path, name)
    assert report.verdict == "holds" and not report.beyond
    assert any(f"--input 'set tables={TAKEN[name]}'" in note for note in report.warnings)
    broken = checked(tmp_path, f"{name}(fault=1)")
    assert (broken.verdict, broken.guilty) == ("broken", ("late",))


MATRICES = """
class Triangles(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.norm, self.left, self.right, self.out = nn.LayerNorm(6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
        self.late = Latest(fault)

    def forward(self, z):  # (batch, members, members, channels)
        y = self.norm(z)
        pairs = torch.einsum("bikc,bjkc->bijc", self.left(y), self.late(self.right(y), 2))
        return z + self.out(pairs / z.shape[1])


class Matrix(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.each, self.row, self.column, self.out = (nn.Linear(c, d) for c, d in [(4, 8)] * 3 + [(8, 2)])
        self.late = Latest(fault)

    def forward(self, x):  # (members, groups, channels)
        column = self.column(self.late(x, 0).mean(0, keepdim=True))
        return self.out((self.each(x) + self.row(x.mean(1, keepdim=True)) + column).relu())


class Invariant(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.first, self.out, self.late = nn.Conv2d(9, 8, 1), nn.Conv2d(8, 2, 1), Latest(fault)

    def forward(self, x):  # (batch, channels, members, members)
        rows = x.mean(3, keepdim=True).expand_as(x)
        return self.out(self.late(self.first(torch.cat([x, x.transpose(2, 3), rows], 1)).relu(), 2))
"""
WITH = {"Triangles": "z:1xAxAx6", "Matrix": "x:AxBx4", "Invariant": "x:1x3xAxA"}


@pytest.mark.parametrize("name", WITH)
def test_a_table_alone_may_be_of_all_pairs_or_of_two_sets(tmp_path: Path, name: str) -> None:
    """As triangles (Jumper et al. 2021), exchangeable matrices (Hartford et al. 2018), and Maron et al. 2019."""
    report = checked(tmp_path, name, more=MATRICES)
    assert report.verdict == "holds" and any(f"tables={WITH[name]}'" in note for note in report.warnings)
    broken = checked(tmp_path, f"{name}(fault=1)", more=MATRICES)
    assert (broken.verdict, broken.guilty) == ("broken", ("late",))
    if name == "Matrix":
        assert any("x along axis 0, then x along axis 1 is moved" in note for note in broken.warnings)
    if name != "Invariant":  # which is one on pictures as well
        with pytest.raises(Unknown, match=rf"it runs with --input 'set tables={WITH[name]}' \(permutation\)"):
            checked(tmp_path, name, more=MATRICES, group="")


HYPERGRAPH = """
class Groups(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.first, self.last, self.fault = nn.Linear(5, 8), nn.Linear(8, 3), fault

    def forward(self, x, H):  # (nodes, channels), (nodes, groups)
        h = self.first(x).relu()
        e = H.t() @ h / H.sum(0)[:, None].clamp(min=1)
        if self.fault:
            e = e * torch.linspace(0.5, 1.5, len(e)).to(e)[:, None]
        return self.last(H @ e / H.sum(1)[:, None].clamp(min=1) + h)
"""


def test_columns_of_any_number_that_are_no_set_by_trial_are_several_and_it_is_said(tmp_path: Path) -> None:
    """A weight by the place of a group was tested with one group, and passed without a word."""
    sound = checked(tmp_path, "Groups", more=HYPERGRAPH)
    assert sound.verdict == "holds" and any("H: holds" in note for note in sound.warnings)
    weighed = checked(tmp_path, "Groups(fault=1)", more=HYPERGRAPH)
    assert any("tables=x:Ax5,H:Axb'" in note for note in weighed.warnings)
    assert any("H runs with any number of columns" in note and "say H:AxB" in note for note in weighed.warnings)
    assert checked(tmp_path, "Groups(fault=1)", "[set tables=x:Ax5,H:AxB]", HYPERGRAPH).verdict == "broken"


def test_tables_are_said_in_the_file_or_beside_the_network(tmp_path: Path) -> None:
    said = "\nINPUT_TABLES = {'context_x': '1xAx3', 'context_y': '1xAx2', 'target_x': '1xBx2'}\n"
    report = checked(tmp_path, "Process", more=said, group="")
    assert report.verdict == "holds" and report["decoder"].field == "graph scalar"
    assert "context_x, then target_x is moved" in report.text()
    assert checked(tmp_path, "Three(fault=1)", f"[set tables={TAKEN['Three']}]").guilty == ("late",)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("{'positions': 'Ax3', 'directions': 'A*3'}", "sizes and letters"),
        ("{'positions': '9x3', 'directions': '9x3'}", "a letter of A, B, C, D"),
        ("{'positions': 'Ax2xA'}", "a letter of A, B, C, D"),
        ("{'positions': 'AxAxA'}", "a letter of A, B, C, D"),
        ("{'positions': 'Ax3', 'directions': 'Axa'}", "a letter of A, B, C, D"),
        ("'Ax3'", "must be a dict of texts"),
    ],
)
def test_tables_that_are_none_are_refused_in_a_sentence(tmp_path: Path, said: str, told: str) -> None:
    with pytest.raises(ModelError, match=told):
        checked(tmp_path, "Field", more=f"\nINPUT_TABLES = {said}\n", group="")
