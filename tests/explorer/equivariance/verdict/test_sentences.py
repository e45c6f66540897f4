"""The sentences of a report say what was found, and no more."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from equiscope.inputs import points
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.verdict import sentences
from explorer.equivariance.verdict.hints import hints
from tests.explorer.equivariance.test_faults import image
from tests.explorer.parts.networks import conv


def test_a_normalisation_that_is_the_same_at_every_place_is_no_cause() -> None:
    from explorer.network.tracing.trace import trace
    from explorer.spaces.grid.fields import grid

    net = nn.Sequential(conv(1, 2), nn.LayerNorm((2, 9, 9)))
    found = trace(net, image(), grid())
    assert hints(net, found, "1") == ()
    with torch.no_grad():
        net[1].weight[1] = 3.0  # a channel, everywhere
        assert hints(net, found, "1") == ()
        net[1].bias[0, 2, 5] = 0.1
    assert hints(net, found, "1") == ("1: its weights or biases differ from place to place",)


def test_an_output_without_a_verdict_is_told_why() -> None:
    class Unknown(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1)[:, :75].view(len(x), 25, 3)  # may be five by five places

    report = check_equivariance(nn.Sequential(conv(1, 2), Unknown()), image(), "D4")
    assert report.verdict == "no law"
    assert report.warnings == (
        "the field type of the output 1 is not known, so no law can be tested there: declare it",
    )


def test_places_that_are_not_square_after_a_turn_are_broken_and_no_crash() -> None:
    class Cut(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[..., :5]

    report = check_equivariance(nn.Sequential(conv(1, 2), Cut()), image(), "D4")
    assert report.verdict == "broken" and report.guilty == ("1",)


def test_filters_of_earlier_layers_excuse_nothing_that_a_layer_does_alone() -> None:
    class Tilted(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * (1 + 1e-6 * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype))

    report = check_equivariance(
        nn.Sequential(conv(1, 4), nn.Tanh(), conv(4, 4), Tilted()), image(), "D4", declared=True
    )
    assert report.verdict == "broken" and report.guilty == ("3",)
    # the filters are symmetric in single precision only, and what they do is forgiven
    row = report["3"]
    assert row.local_tolerance <= 1e-12 < row.local_max < row.tolerance


class Unsteady(nn.Module):
    """Multiplies by a number that comes from somewhere."""

    def __init__(self, number: Callable[[], float]) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: Tensor) -> Tensor:
        return x * self.number()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (lambda: float(torch.rand(())), "1 draws random numbers in eval mode; every run was given the same seed"),
        (lambda: float(np.random.default_rng().random()), "1 gives another answer to the same input in every run"),
        (random.random, "1 gives another answer to the same input in every run"),
        (itertools.count(1).__next__, "1 gives another answer to the same input in every run"),
        (lambda: 2.0, ""),
    ],
    ids=["torch", "numpy", "python", "a counter", "none"],
)
def test_what_is_said_of_random_numbers_was_tried(number: Callable[[], float], words: str) -> None:
    report = check_equivariance(nn.Sequential(conv(1, 2), Unsteady(number)), image(), "D4")
    said = [s for s in (*report.hints, *report.warnings) if "random" in s]
    assert len(said) == bool(words) and words in "".join(said)
    # torch's numbers are the same in every run, and so the law is seen to hold
    assert report.verdict == ("broken" if "another answer" in words else "holds")


@pytest.mark.parametrize("channels", [1, 3])
def test_an_output_that_depends_on_the_input_by_its_sum_alone_is_not_said_to_be_constant(channels: int) -> None:
    class Total(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.mean((1, 2, 3))[:, None]

    x = image().expand(-1, channels, -1, -1)
    report = check_equivariance(nn.Sequential(Total()), x, "D4")
    assert report.verdict == "holds" and report.warnings == () and report["0"].variation > 1e-3


def test_a_fault_behind_a_large_constant_is_seen_and_its_share_told() -> None:
    class Behind(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return 1.0 + 1e-6 * x[:, :, 3, 5]

    report = check_equivariance(nn.Sequential(conv(1, 2), Behind()), image(), "D4")
    row = report["1"]
    assert report.verdict == "broken" and report.guilty == ("1",)
    assert row.cumulative < 1e-4 and row.variation < 1e-4 and row.share > 0.1
    written = next(r for r in report.to_json()["layers"] if r["name"] == "1")
    assert written["share"] == row.share and "of var." in report.text()
    assert not any("stays the same" in note for note in report.warnings)


def test_every_output_that_depends_on_nothing_is_named() -> None:
    class Two(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            return x.mean((1, 2, 3))[:, None], torch.ones(len(x), 2, dtype=x.dtype)

    report = check_equivariance(Two(), image(), "D4")
    said = [note for note in report.warnings if "stays the same" in note]
    assert report.verdict == "holds" and len(said) == 1 and "[1]" in said[0]


class Placed(nn.Module):
    """A table by position between two layers, of which the second takes keywords."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Conv2d(1, 8, 3, 3)
        self.table = nn.Parameter(torch.randn(1, 25, 8))
        self.mix = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.embed(x).flatten(2).transpose(1, 2) + self.table
        return self.head(self.mix(h, h, h, need_weights=False)[0].mean(1))


def test_a_table_between_layers_is_not_laid_on_the_layer_after_it() -> None:
    report = check_equivariance(Placed(), torch.randn(2, 1, 15, 15), "translation")
    assert report.verdict == "broken" and report.guilty == ("mix",)
    row = report["mix"]
    assert row.local is not None and row.local < 1e-12, "it takes keywords, and is fed alone"
    assert "the fault first shows in mix" in report.text() and "is made in" not in report.text()
    assert any("alone mix obeys its law: what it is given is at fault" in note for note in report.warnings)


def test_elements_that_a_stride_leaves_out_are_told_with_what_they_do() -> None:
    torch.manual_seed(0)
    strided = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1, padding_mode="circular"), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
    x = torch.randn(1, 1, 16, 16)
    report = check_equivariance(strided, x, "translation")
    (note,) = [n for n in report.warnings if n.startswith("tested in steps of 2, those of the layer 0; under +1,+0 px")]
    with torch.no_grad():
        rows = (strided(x.roll(1, -1)) - strided(x)).flatten(1).norm(dim=1) / strided(x).flatten(1).norm(dim=1)
        error = float(rows.median())
    assert report.verdict == "holds" and float(note.rsplit(" ", 1)[1]) == pytest.approx(error, rel=0.5)
    whole = nn.Sequential(nn.Conv2d(1, 4, 3, 1, 1, padding_mode="circular"), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
    assert not any("in steps" in n for n in check_equivariance(whole, x, "translation").warnings)


@pytest.mark.parametrize("fault", [False, True])
def test_code_after_the_last_layer_is_told_as_such(fault: bool) -> None:
    class Tail(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 3)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            y: Tensor = self.second(torch.relu(self.first(x)))
            return y.cumsum(0) if fault else y

    given = (torch.randn(6, 4), torch.tensor([[0, 1, 2], [1, 2, 3]]))
    report = check_equivariance(Tail(), given, "permutation")
    said = "no layer makes it, but code between second and output"
    assert report.guilty == (("output",) if fault else ())
    assert any(said in note for note in report.warnings) == fault


@pytest.mark.parametrize(("turns", "kept"), [(4, "r90; r180; r270 (3 of 7 elements)"), (2, "r180 (1 of 7 elements)")])
def test_elements_that_a_broken_network_keeps_are_listed(turns: int, kept: str) -> None:
    class Averaged(nn.Module):
        """A mean over turns of what sees no mirror."""

        def __init__(self) -> None:
            super().__init__()
            self.conv, self.head = nn.Conv2d(1, 3, 3), nn.LazyLinear(2)

        def forward(self, x: Tensor) -> Tensor:
            images = [torch.rot90(x, k * 4 // turns, (2, 3)) for k in range(turns)]
            answers = [self.head(self.conv(image).relu().flatten(1)) for image in images]
            return torch.stack(answers).mean(0)

    torch.manual_seed(0)
    network = Averaged()
    network(torch.randn(1, 1, 9, 9))
    report = check_equivariance(network, (2, 1, 9, 9), "D4")
    assert report.verdict == "broken"
    assert f"output keeps its law under {kept}" in report.warnings
    assert not any(
        "keeps its law under" in n for n in check_equivariance(nn.Conv2d(1, 1, 3), (1, 1, 9, 9), "D4").warnings
    )


def test_a_weak_fault_is_not_said_to_be_missing_under_elements_that_it_shows_less_under() -> None:
    """Constants in single precision would excuse some of the errors of a fault of this size, and excuse none of it."""

    class Energy(nn.Module):
        """Hears of distances, and faintly of a coordinate."""

        centres: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("centres", torch.linspace(0, 4, 16))
            self.head = nn.Linear(16, 1)

        def forward(self, pos: Tensor) -> Tensor:
            apart = (pos[:, None] - pos).pow(2).sum(-1)
            near = torch.exp(-((apart[..., None] - self.centres) ** 2)).sum(1)
            answer: Tensor = (self.head(near) + 8e-6 * pos[:, :1]).sum(0)
            return answer

    torch.manual_seed(0)
    cloud = points(position=torch.randn(7, 3))
    report = check_equivariance(Energy(), cloud, "E3")
    limit = report["output"].tolerance
    errors = [cumulative for cumulative, _ in report.table["output"].values() if cumulative is not None]
    assert min(errors) < limit < max(errors)
    assert report.verdict == "broken"
    assert not any("keeps its law" in note for note in report.warnings)
    assert "show no error" not in report.text()


def test_what_breaks_the_law_inside_of_a_layer_that_makes_the_fault_is_named_too() -> None:
    """Of a vision transformer the patches were left out, as if their filters did not have to be symmetric."""
    told = sentences.mended(["vit.embeddings"], ["vit.embeddings.projection", "vit.embeddings", "vit.embeddings_too"])
    assert "vit.embeddings does: nothing outside of it has to; inside of it vit.embeddings.projection breaks" in told
    assert sentences.mended(["a", "b"], ["a", "c"]).endswith("a, b do: nothing outside of them has to")
