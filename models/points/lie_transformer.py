"""LieTransformer: attention between points that are lifted to a Lie group.

Hutchinson, Le Lan, Zaidi, Dupont, Teh, Kim, "LieTransformer: Equivariant Self-Attention for Lie Groups", 2021,
section 3, algorithm 1:

    α_uv = softmax over v of k_loc(log(v⁻¹u)) + <W_Q h_u, W_K h_v> / sqrt(C)
    h_u <- W_O (W_V h_u + sum_v α_uv W_V h_v)
"""

from __future__ import annotations

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.points.fields import PARTICLE
from explorer.spaces.points.network.form import PointsInput
from models.layers.points.lie import (
    Distance,
    LieAttention,
    LieHeard,
    Lift,
    LiftedMean,
    Logs,
    Near,
    PairPerceptron,
    Spread,
    log_motion,
)

CHANNELS, HIDDEN, HEADS, INPUTS = 32, 16, 4, 8
ALPHA, REACH = 0.2, 4.0
MOST = 120


class Layer(nn.Module):
    """W_O (W_V h_u + sum_v α_uv W_V h_v): (N, K, C) -> (N, K, C)."""

    out_field = PARTICLE

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        # the authors put a swish behind the last layer as well
        self.location = PairPerceptron((6, HIDDEN, HIDDEN, 1), heads)
        self.attention = LieAttention(channels, heads)
        self.heard = LieHeard(channels, heads)

    def forward(self, h: Tensor, logs: Tensor, near: Tensor) -> Tensor:
        return self.heard(h, self.attention(h, self.location(logs), near))


class LieTransformer(nn.Module):
    """Points lifted, layers of attention, one number of the whole: x (N, 8), position, frames -> (1, 1)."""

    def __init__(self, lifts: int, layers: int, reach: float = REACH) -> None:
        super().__init__()
        self.lift, self.logs, self.distance, self.near = Lift(lifts), Logs(), Distance(ALPHA), Near(reach)
        self.embedding, self.spread = nn.Linear(INPUTS, CHANNELS), Spread(lifts)
        self.layers = nn.ModuleList(Layer(CHANNELS, HEADS) for _ in range(layers))
        self.act, self.head, self.total = nn.SiLU(), nn.Linear(CHANNELS, 1), LiftedMean()

    def lifted(self, position: Tensor, frames: Tensor) -> tuple[Tensor, Tensor, float, float]:
        """Return logarithms of all pairs, their distances, α and the reach: a view shows who sees whom."""
        logs = self.logs(position, self.lift(frames))
        return logs, self.distance(logs), self.distance.alpha, self.near.reach

    def forward(self, x: Tensor, position: Tensor, frames: Tensor) -> Tensor:
        logs = self.logs(position, self.lift(frames))
        near = self.near(self.distance(logs))
        h = self.spread(self.embedding(x))
        for layer in self.layers:
            h = layer(h, logs, near)
        return self.total(self.head(self.act(h)))


def build(lifts: float = 2, layers: float = 2) -> LieTransformer:
    """Build the network with fresh parameters."""
    return LieTransformer(int(lifts), int(layers))


CARD = Card(
    name="lie-transformer",
    title="LieTransformer: attention between lifted points",
    rows=("E4",),
    groups=("SE3", "permutation"),
    reference=(
        'Hutchinson, Le Lan, Zaidi, Dupont, Teh, Kim, "LieTransformer: Equivariant Self-Attention for Lie Groups", '
        "2021, section 3"
    ),
    equation=("αᵤᵥ = softmaxᵥ (k(log(v⁻¹u)) + ⟨W_Q hᵤ, W_K hᵥ⟩ / √C)\nhᵤ ← W_O (W_V hᵤ + Σᵥ αᵤᵥ W_V hᵥ)"),
    summary=(
        "A lifted atom listens to others by what they carry and by the logarithm between them: "
        "`layers.0.attention` is one table for each head and each pair of frames. Frames turn along with the molecule, "
        "so every layer after `lift` stands still. The parameters are not trained."
    ),
    build=build,
    input=PointsInput(channels=INPUTS, signals=("x", "position", "frames"), most=MOST),
    domain="points",
    sample="ethanol-3d",
    params=(
        Param("lifts", "Frames at each point", 2, 1, 8, whole=True),
        Param("layers", "Layers", 2, 1, 4, whole=True),
    ),
    source=(log_motion, Lift, Logs, LieAttention, LieHeard, Layer, LieTransformer),
)
