"""Points lifted to a Lie group: exponential and logarithm of SE(3), pairs of lifted points, convolution, attention.

A point x is lifted to motions u = (R, x), each of which carries the origin to x: one for each of K frames R. What one
lifted point v is to another u is log(v⁻¹u), six numbers that no motion of both changes.

Finzi, Stanton, Izmailov, Wilson, "Generalizing Convolutional Neural Networks for Equivariance to Lie Groups on
Arbitrary Continuous Data", 2020, sections 3 and 4; Hutchinson, Le Lan, Zaidi, Dupont, Teh, Kim, "LieTransformer:
Equivariant Self-Attention for Lie Groups", 2021, section 3.

Values lie at lifted points as (N, K, C). Numbers of pairs lie as (channels · K · K, N, N): of u = (i, a) and v = (j, b)
the number c is in channel (c K + a) K + b, row i, column j.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import GRAPH
from explorer.spaces.points.fields import PARTICLE, particle

TIE = 1e-9  # relative; distances that exceed the reach by less are taken as equal to it
SMALL = 1e-2  # an angle below which power series are more precise


def crossing(way: Tensor) -> Tensor:
    """Return the matrix of v -> way × v: (..., 3) -> (..., 3, 3)."""
    x, y, z = way.unbind(-1)
    none = torch.zeros_like(x)
    return torch.stack([none, -z, y, z, none, -x, -y, x, none], -1).unflatten(-1, (3, 3))


def _shares(angle: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return sin(t) / t, (1 - cos(t)) / t² and (t - sin(t)) / t³."""
    square, away = angle.square(), angle.clamp_min(SMALL)
    near = angle < SMALL
    series = (
        1 - square / 6 * (1 - square / 20 * (1 - square / 42)),
        0.5 - square / 24 * (1 - square / 30 * (1 - square / 56)),
        1 / 6 - square / 120 * (1 - square / 42 * (1 - square / 72)),
    )
    far = (torch.sin(away) / away, 2 * torch.sin(away / 2).square() / away**2, (away - torch.sin(away)) / away**3)
    one, two, three = (torch.where(near, a, b) for a, b in zip(series, far, strict=True))
    return one, two, three


def exp_motion(log: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rotation and the shift whose logarithm is (turn, shift): (..., 6) -> (..., 3, 3), (..., 3)."""
    turn, shift = log[..., :3], log[..., 3:]
    one, two, three = (part[..., None, None] for part in _shares(turn.square().sum(-1).sqrt()))
    k = crossing(turn)
    eye = torch.eye(3, dtype=log.dtype, device=log.device)
    return eye + one * k + two * (k @ k), ((eye + two * k + three * (k @ k)) @ shift[..., None])[..., 0]


def quaternion(rotation: Tensor) -> Tensor:
    """Return the unit quaternion (w, x, y, z) with w >= 0 of a rotation: (..., 3, 3) -> (..., 4).

    Each row of a table of 4 is the quaternion times one of its entries; the row with the largest one is taken, so that
    nothing small is divided by.
    """
    r = rotation.flatten(-2).unbind(-1)
    xx, yy, zz = r[0], r[4], r[8]
    table = torch.stack([
        1 + xx + yy + zz, r[7] - r[5], r[2] - r[6], r[3] - r[1],
        r[7] - r[5], 1 + xx - yy - zz, r[1] + r[3], r[2] + r[6],
        r[2] - r[6], r[1] + r[3], 1 - xx + yy - zz, r[5] + r[7],
        r[3] - r[1], r[2] + r[6], r[5] + r[7], 1 - xx - yy + zz,
    ], -1).unflatten(-1, (4, 4))  # fmt: skip
    row = table.diagonal(dim1=-2, dim2=-1).argmax(-1)[..., None, None].expand(*table.shape[:-2], 1, 4)
    found = table.gather(-2, row)[..., 0, :]
    found = found / found.square().sum(-1, keepdim=True).sqrt()
    return torch.where(found[..., :1] < 0, -found, found)


def log_rotation(rotation: Tensor) -> Tensor:
    """Return the axis times the angle in radians, at most π: (..., 3, 3) -> (..., 3)."""
    q = quaternion(rotation)
    size = q[..., 1:].square().sum(-1).sqrt()
    # of a small rotation, 2 arctan(s / w) / s is 2 up to rounding
    share = torch.where(size > 1e-12, 2 * torch.atan2(size, q[..., 0]) / size.clamp_min(1e-12), 2.0)
    return share[..., None] * q[..., 1:]


def log_motion(rotation: Tensor, shift: Tensor) -> Tensor:
    """Return the logarithm of a motion, the turn and then the shift: (..., 3, 3), (..., 3) -> (..., 6)."""
    turn = log_rotation(rotation)
    angle = turn.square().sum(-1).sqrt()
    one, two, _ = _shares(angle)
    # (1 - t sin(t) / (2 (1 - cos t))) / t², which is 1/12 at 0
    share = torch.where(
        angle < SMALL, 1 / 12 + angle.square() / 720, (1 - one / (2 * two)) / angle.clamp_min(SMALL) ** 2
    )
    along = torch.linalg.cross(turn, shift)
    return torch.cat([turn, shift - along / 2 + share[..., None] * torch.linalg.cross(turn, along)], -1)


class Lift(nn.Module):
    """Frames at the points, made orthonormal: (N, 9 · given) -> (N, 9 · count), three arrows each.

    Frames are arguments of the network, so a motion of the points turns them as well.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count
        self.out_field = particle(f"{3 * count}x1o")

    def forward(self, frames: Tensor) -> Tensor:
        given = frames.unflatten(1, (-1, 3, 3))[:, : self.count]
        made: list[Tensor] = []
        for k in range(3):
            arrow = given[:, :, k]
            for before in made:
                arrow = arrow - (arrow * before).sum(-1, keepdim=True) * before
            made.append(arrow / arrow.square().sum(-1, keepdim=True).sqrt().clamp_min(1e-12))
        return torch.stack(made, 2).flatten(1)


class Drawn(nn.Module):
    """The same K frames at every point, drawn by the network itself: position (N, 3) -> (N, 9 K).

    Quaternions of four normal numbers are spread evenly over the rotations. A motion of the points does not turn them:
    the law of rotations holds for the mean over all that may be drawn, and for one draw the better the more frames.
    """

    out_field = PARTICLE

    def __init__(self, count: int, seed: int = 0) -> None:
        super().__init__()
        self.count, self.seed = count, seed

    def forward(self, position: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(self.seed)
        q = torch.randn(self.count, 4, generator=generator, dtype=torch.float64)
        q = q / q.norm(dim=1, keepdim=True)
        size = q[:, 1:].norm(dim=1, keepdim=True)
        turn = 2 * torch.atan2(size, q[:, :1]) * q[:, 1:] / size
        rotation, _ = exp_motion(torch.cat([turn, torch.zeros_like(turn)], 1))
        # a frame is its three arrows, the columns of R
        return rotation.mT.flatten().to(position).expand(len(position), -1)


class Upright(nn.Module):
    """One frame at every point, the axes of space: position (N, 3) -> (N, 9); the lift of translations alone."""

    out_field = PARTICLE

    def forward(self, position: Tensor) -> Tensor:
        return torch.eye(3, dtype=position.dtype, device=position.device).flatten().expand(len(position), -1)


class Logs(nn.Module):
    """log(v⁻¹u) of all pairs of lifted points: position (N, 3), frames (N, 9 K) -> (6 K K, N, N)."""

    out_field = PAIR

    def pairs(self, position: Tensor, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rotation and the shift of v⁻¹u: (K, K, N, N, 3, 3) and (K, K, N, N, 3)."""
        columns = frames.unflatten(1, (-1, 3, 3))  # point, frame, which arrow, component
        turned = torch.einsum("jbpd,iaqd->abijpq", columns, columns)
        way = position[:, None] - position[None]
        shift = torch.einsum("jbpd,ijd->bijp", columns, way)
        return turned, shift.expand(turned.shape[0], *shift.shape)

    def forward(self, position: Tensor, frames: Tensor) -> Tensor:
        return log_motion(*self.pairs(position, frames)).movedim(-1, 0).flatten(0, 2)


class Distance(nn.Module):
    """α |turn| + (1 - α) |shift| of logarithms: (6 K K, N, N) -> (K K, N, N)."""

    out_field = PAIR

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def forward(self, logs: Tensor) -> Tensor:
        turn, shift = logs.unflatten(0, (2, 3, -1)).square().sum(1).sqrt()
        return self.alpha * turn + (1 - self.alpha) * shift


class Near(nn.Module):
    """1 where a lifted point sees another: no further than `reach` by that distance; (K K, N, N) -> the same."""

    out_field = PAIR

    def __init__(self, reach: float) -> None:
        super().__init__()
        self.reach = reach

    def forward(self, distance: Tensor) -> Tensor:
        return (distance <= self.reach * (1 + TIE)).to(distance.dtype)


class PairPerceptron(nn.Module):
    """Linear layers with a swish between them, for each pair by itself: (inputs K K, N, N) -> (outputs K K, N, N).

    `heads` of them side by side each have weights of their own; `last` puts a swish behind the last one too.
    """

    out_field = PAIR

    def __init__(self, widths: tuple[int, ...], heads: int = 1, last: bool = True) -> None:
        super().__init__()
        self.inputs, self.last = widths[0], last
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise(widths):
            bound = math.sqrt(6 / before)  # He's: what a swish lets through keeps its size
            self.weights.append(nn.Parameter(torch.empty(heads, after, before).uniform_(-bound, bound)))
            self.biases.append(nn.Parameter(torch.empty(heads, after, 1).uniform_(-bound, bound)))

    def forward(self, logs: Tensor) -> Tensor:
        h = logs.reshape(1, self.inputs, -1)
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            h = torch.baddbmm(bias, weight, h.expand(len(weight), -1, -1))
            if self.last or k + 1 < len(self.weights):
                h = F.silu(h)
        return h.flatten(0, 1).reshape(-1, *logs.shape[1:])


class LieConvolution(nn.Module):
    """(W vec(sum over the v that u sees of k(log v⁻¹u) h_v) + b) / how many v: values (N, K, C) -> (N, K, D).

    The mean over the neighbourhood stands for an integral over the group. `kernel` (M K K, N, N), `near` (K K, N, N).
    Equal to the authors' LieConv with all points of the ball, whose bias is divided as well.
    """

    out_field = PARTICLE

    def __init__(self, inputs: int, outputs: int, middle: int) -> None:
        super().__init__()
        self.middle = middle
        self.linear = nn.Linear(middle * inputs, outputs)
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, h: Tensor, kernel: Tensor, near: Tensor) -> Tensor:
        lifts = h.shape[1]
        seen = near.unflatten(0, (lifts, lifts))
        weights = kernel.unflatten(0, (self.middle, lifts, lifts)) * seen  # (m, a, b, i, j)
        # one product over all (b, j), which an einsum would first take apart
        summed = weights.transpose(2, 3).flatten(3) @ h.transpose(0, 1).flatten(0, 1)
        summed = summed.permute(2, 1, 3, 0).flatten(2)  # (i, a, c m)
        # not as a layer: it is no law of its own before the division
        made = F.linear(summed, self.linear.weight, self.linear.bias)
        return made / seen.sum((1, 3)).T[..., None].clamp_min(1)


class LieAttention(nn.Module):
    """softmax over the v that u sees of k_loc(log v⁻¹u) + <q_u, k_v> / sqrt(C), head by head: -> (H K K, N, N).

    `h` (N, K, C), `location` (H K K, N, N), `near` (K K, N, N). Softmax runs over v = (j, b).
    """

    out_field = PAIR

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.keys, self.queries = nn.Linear(channels, channels), nn.Linear(channels, channels)

    def forward(self, h: Tensor, location: Tensor, near: Tensor) -> Tensor:
        lifts, channels = h.shape[1:]
        # not as layers: the attention is the value that is looked at
        keys = F.linear(h, self.keys.weight, self.keys.bias).unflatten(2, (self.heads, -1))
        queries = F.linear(h, self.queries.weight, self.queries.bias).unflatten(2, (self.heads, -1))
        # (H, a, i, b, j): what the softmax runs over comes last
        where = location.unflatten(0, (self.heads, lifts, lifts)).movedim(3, 2).reshape(self.heads, lifts * len(h), -1)
        from_, to = (part.permute(2, 1, 0, 3).flatten(1, 2) for part in (queries, keys))
        score = torch.baddbmm(where, from_, to.mT, alpha=1 / math.sqrt(channels))
        unseen = near.unflatten(0, (lifts, lifts)).movedim(2, 1).reshape(score.shape[1:]) == 0
        weight = score.masked_fill(unseen, -torch.inf).softmax(2)
        return weight.view(self.heads, lifts, len(h), lifts, -1).movedim(3, 2).flatten(0, 2)


class LieHeard(nn.Module):
    """W (V h_u + sum_v α_uv V h_v): values (N, K, C), attention (H K K, N, N) -> (N, K, C)."""

    out_field = PARTICLE

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.values, self.mixed = nn.Linear(channels, channels), nn.Linear(channels, channels)

    def forward(self, h: Tensor, attention: Tensor) -> Tensor:
        lifts = h.shape[1]
        values = F.linear(h, self.values.weight, self.values.bias).unflatten(2, (self.heads, -1))
        weights = attention.unflatten(0, (self.heads, lifts, lifts))
        values = values + torch.einsum("habij,jbhd->iahd", weights, values)
        return F.linear(values.flatten(2), self.mixed.weight, self.mixed.bias)


class Spread(nn.Module):
    """The features of a point at each of its lifted points: (N, C) -> (N, K, C)."""

    out_field = PARTICLE

    def __init__(self, lifts: int) -> None:
        super().__init__()
        self.lifts = lifts

    def forward(self, h: Tensor) -> Tensor:
        return h[:, None].expand(-1, self.lifts, -1).contiguous()


class LiftedMean(nn.Module):
    """The mean over all lifted points: (N, K, C) -> (1, C)."""

    out_field = GRAPH

    def forward(self, h: Tensor) -> Tensor:
        return h.mean((0, 1))[None]
