"""Sets are found on the axes on which a network takes fewer of them, and second sets are moved in turn."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from equiscope import sequence
from explorer.equivariance.check import check_equivariance


class ChannelsFirst(nn.Module):
    """A PointNet on (batch, channels, points); a kernel of 3 minds their order."""

    def __init__(self, kernel: int = 1) -> None:
        super().__init__()
        self.a, self.b = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 8, kernel, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x))).amax(2)


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_points_may_lie_on_the_last_axis_of_a_batch(batch: int) -> None:
    x = torch.randn(batch, 3, 9)
    assert check_equivariance(ChannelsFirst(), x, "permutation").verdict == "holds"
    broken = check_equivariance(ChannelsFirst(3), x, "permutation")
    assert (broken.verdict, broken.guilty) == ("broken", ("b",))


class Masked(nn.Module):
    """A mean over those members of a set that a mask leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.f = nn.Linear(4, 8)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        kept = mask.to(x.dtype)[..., None]
        return (self.f(x) * kept).sum(1) / kept.sum(1)


def test_a_mask_is_moved_with_the_members_that_it_masks() -> None:
    mask = torch.tensor([[True, True, False, True, True, False, True]])
    assert check_equivariance(Masked(), (torch.randn(1, 7, 4), mask), "permutation").verdict == "holds"


class Asked(nn.Module):
    """Tell a set what another one holds; a fault weighs the other by numbers of places."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.q, self.v, self.fault = nn.Linear(4, 6), nn.Linear(5, 6), fault

    def forward(self, asking: Tensor, told: Tensor) -> Tensor:
        v = self.v(told)
        v = v * torch.linspace(1, 2, len(v), dtype=v.dtype)[:, None] if self.fault else v
        return torch.softmax(self.q(asking) @ v.t(), 1) @ v


def test_the_members_of_a_second_set_are_moved_as_well() -> None:
    given = torch.randn(8, 4), torch.randn(6, 5)
    sound = check_equivariance(Asked(False), given, "permutation")
    assert sound.verdict == "holds" and any(
        "asking, then told is moved while all else stays" in w for w in sound.warnings
    )
    broken = check_equivariance(Asked(True), given, "permutation")
    assert broken.verdict == "broken"
    assert any("asking: holds, told: broken" in w for w in broken.warnings)


def test_arguments_that_must_be_named_are() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.f = nn.Linear(4, 8)

        def forward(self, *, members: Tensor) -> Tensor:
            return self.f(members).logsumexp(0)

    assert check_equivariance(Named(), {"members": torch.randn(7, 4)}, "permutation").verdict == "holds"


def test_two_readings_that_run_are_refused_with_what_to_give() -> None:
    class Either(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.cumsum(0).cumsum(1)

    with pytest.raises(ValueError, match=r"may lie on axis 0 or 1 of x.*equiscope.Inputs"):
        check_equivariance(Either(), torch.randn(6, 7), "permutation")


class Places(nn.Module):
    """Distances from the centre of a cloud whose coordinates lie on an axis; a fault stretches the third."""

    def __init__(self, axis: int, by: float = 1.0) -> None:
        super().__init__()
        self.axis, self.by, self.f = axis, by, nn.Linear(1, 4)

    def forward(self, x: Tensor) -> Tensor:
        stretched = x.new_tensor([1, 1, self.by]).view([3 if k == self.axis else 1 for k in range(x.ndim)])
        points = (x * stretched).movedim(self.axis, -1)
        away = (points - points.mean(-2, keepdim=True)).norm(dim=-1, keepdim=True)
        return self.f(away).tanh().sum(-2)


@pytest.mark.parametrize(("shape", "axis"), [((9, 3), 1), ((1, 9, 3), 2), ((1, 3, 9), 1)])
def test_clouds_alone_are_turned_on_the_axis_of_their_coordinates(shape: tuple[int, ...], axis: int) -> None:
    x = torch.randn(shape)
    assert check_equivariance(Places(axis), x, "E3").verdict == "holds"
    assert check_equivariance(Places(axis, 1.05), x, "E3").verdict == "broken"


class Forces(nn.Module):
    """Sums the differences of all pairs of places, weighed by their distances; a fault stretches the differences."""

    def __init__(self, by: float = 1.0) -> None:
        super().__init__()
        self.weigh, self.pairs = nn.Sequential(nn.Linear(1, 6), nn.SiLU(), nn.Linear(6, 1)), Stretched(by)

    def forward(self, pos: Tensor) -> Tensor:
        away = self.pairs(pos[:, None] - pos[None])
        return (self.weigh((away**2).sum(-1, keepdim=True)) * away).sum(1)


class Stretched(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        return x * x.new_tensor([1.0, 1.0, self.by])


@pytest.mark.parametrize("group", ["SO3", "permutation"])
def test_differences_of_all_pairs_of_points_have_a_field(group: str) -> None:
    x = torch.randn(7, 3)
    sound = check_equivariance(Forces(), x, group)
    assert sound.verdict == "holds" and sound["pairs"].field.startswith("pairwise")
    assert all(row.verdict == "holds" for row in sound.layers)
    assert check_equivariance(Forces(1.1), x, "SO3").guilty == ("pairs",)


def test_a_layer_of_another_branch_clears_none_of_those_that_are_not_known() -> None:
    class Branches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.strange, self.other, self.last = Strange(), nn.Linear(4, 4), nn.Identity()

        def forward(self, x: Tensor) -> Tensor:
            far = self.strange(x)
            return self.last(self.other(x) + far.reshape(len(x), 4))

    class Strange(nn.Module):
        """Gives what has no field, with a fault in it."""

        def forward(self, x: Tensor) -> Tensor:
            return (x * torch.arange(len(x), dtype=x.dtype)[:, None]).reshape(len(x) // 2, -1)

    report = check_equivariance(Branches(), torch.randn(6, 4), "permutation")
    assert report.verdict == "broken" and "other" not in report.guilty
    assert report.guilty == () and any("made in strange" in w for w in report.warnings)


def test_what_returns_its_input_keeps_a_measured_intensity() -> None:
    class BothStrands(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.conv = nn.Identity(), nn.Conv1d(4, 6, 5)

        def forward(self, x: Tensor) -> Tensor:
            x = self.first(x)
            return self.conv(x).amax(2) + self.conv(x.flip(1, 2)).amax(2)

    letters = nn.functional.one_hot(torch.randint(0, 4, (30,), generator=torch.Generator().manual_seed(0)), 4).float()
    report = check_equivariance(BothStrands(), sequence(letters, "NCT"), "reverse-complement")
    assert report.verdict == "holds" and report["first"].verdict == "holds"
