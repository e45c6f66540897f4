"""Windows keep the law of shifts in their own steps: what breaks it in these as well is told from them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from equiscope import check_equivariance


class Windows(nn.Module):
    """Subtract from each value of a map the mean of its window, moved or not; the seam is left alone or not."""

    def __init__(self, move: int = 0, seam: bool = False) -> None:
        super().__init__()
        self.move, self.seam = move, seam

    def forward(self, x: Tensor) -> Tensor:
        moved = x.roll((self.move, self.move), (2, 3))
        n, c, h, w = x.shape
        cut = moved.view(n, c, h // 4, 4, w // 4, 4)
        answer = torch.tanh(cut - 0.5 * cut.mean((3, 5), keepdim=True)).reshape(x.shape)
        if self.seam:
            answer[:, :, :4] = moved[:, :, :4]
        return answer.roll((-self.move, -self.move), (2, 3))


class Net(nn.Module):
    def __init__(self, seam: bool = False) -> None:
        super().__init__()
        self.embed, self.first, self.second = nn.Conv2d(1, 4, 1), Windows(), Windows(2, seam)
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.head(self.second(self.first(self.embed(x))))
        return answer


PICTURES = torch.rand(2, 1, 16, 16, generator=torch.Generator().manual_seed(0))


def test_windows_are_told_with_the_steps_in_which_they_and_the_output_follow() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Net(), PICTURES, "translation", details=False)
    assert (report.verdict, report.guilty) == ("broken", ("first", "second"))
    told = [n for n in report.warnings if "in steps of 4 the output does follow, to rounding, and first, second" in n]
    assert told and not any("guessed field type" in note for note in report.warnings)


def test_what_breaks_the_law_in_the_steps_of_windows_too_is_named_alone() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Net(seam=True), PICTURES, "translation", details=False)
    assert (report.verdict, report.guilty) == ("broken", ("second",))
    assert any("first keeps the law in steps of 4 and not of 1" in note for note in report.warnings)
    assert report["first"].verdict == "holds"


def test_steps_as_wide_as_the_picture_say_nothing() -> None:
    """A shift by all of 16 pixels is none: padding with zeros follows that as well."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3, padding=1))
    report = check_equivariance(network, PICTURES, "translation", details=False)
    assert report.verdict == "broken" and not any("in steps of" in note for note in report.warnings)
