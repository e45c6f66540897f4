"""Predicting the next value: from the last τ values, or from the last value and a summary of all before it.

Without more knowledge p(x_1, ..., x_T) = prod_t p(x_t | x_(t-1), ..., x_1), and the number of conditions grows with
t. Two ways to bound it, each a family of networks (Box, Jenkins, "Time series analysis", 1970, chapter 3; Zhang,
Lipton, Li, Smola, "Dive into deep learning", 2021, section 9.1):

    AR(τ)       x^_t = b + sum over k = 1..τ of w_k x_(t-k)                 τ = 1 is a Markov chain
    latent AR   h_t = tanh(W x_(t-1) + U h_(t-1) + c),   x^_t = V h_t + b

Before the first step stand zeros. Shifted input then gives shifted predictions with AR(τ) for every τ. With latent AR
it does so only if h_1 is what an endless row of zeros leads to: the fixed point h = R(0, h) of Bronstein et al.,
"Geometric Deep Learning", 2021, section 5.7, eq. (41) to (42), found here by iteration. U is kept a contraction, so
there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.telling.equations import Equation, at_step, beside, fixed, given, tanh
from explorer.declare.types.fields import INVARIANT
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import tasks
from models.layers.seeded import round_to_half, seeded
from models.layers.taps import Tap
from models.training.learning import Progress, one_thread
from models.training.sequences.computed import Recipe, judged_by, train

MOST_LAGS, LAGS = 24, 8
STEPS = 96
WIDTH = 16
SKIPPED = 32  # steps that are not judged: whoever looks far back has not seen enough there
COUNT = 200
ITERATIONS = 10_000
CONTRACTION = 0.95


def lagged(x: Tensor, lags: int) -> Tensor:
    """Return the values before each step, the last one first, zeros before the first: (..., T, C, lags)."""
    padded = F.pad(x, (0, 0, lags, 0))
    return torch.stack([padded[..., lags - k : lags - k + x.shape[-2], :] for k in range(1, lags + 1)], -1)


class AR(nn.Module):
    """x^_t = b + sum_k w_k x_(t-k), the same weights for every channel; (T, C) -> (T, C).

    Row τ - 1 of the parameters is what fits best with τ lags, so that one set of weights serves every τ.
    """

    def __init__(self, lags: int = LAGS) -> None:
        super().__init__()
        self.lags, self.channels = lags, 1
        self.weight = nn.Parameter(torch.randn(MOST_LAGS, MOST_LAGS).tril() / MOST_LAGS)
        self.bias = nn.Parameter(torch.zeros(MOST_LAGS))
        self.history = Tap(STEP)
        self.prediction = Tap(STEP)
        self.residual = Tap(STEP)
        self.output = Tap(STEP)

    equations = (
        Equation(
            at_step("prediction", "x̂_t"), fixed("w") @ at_step("history", "[ x_{t−1} ‖ … ‖ x_{t−τ} ]") + fixed("b")
        ),
        Equation(at_step("residual", "e_t"), at_step(given(0), "x_t") - at_step("prediction", "x̂_t")),
    )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return w, one row for every channel of x, and b."""
        w = self.weight[self.lags - 1, : self.lags]
        return {"w": torch.kron(torch.eye(self.channels).to(w), w), "b": self.bias[self.lags - 1]}

    def forward(self, x: Tensor) -> Tensor:
        self.channels = x.shape[-1]
        history = self.history(lagged(x, self.lags))
        found = self.prediction(history @ self.weight[self.lags - 1, : self.lags] + self.bias[self.lags - 1])
        self.residual(x - found)
        return self.output(found)


class LatentAR(nn.Module):
    """h_t = tanh(W x_(t-1) + U h_(t-1) + c), x^_t = V h_t + b; (T, 1) -> (T, 1)."""

    def __init__(self, start: str = "fixed point", width: int = WIDTH) -> None:
        super().__init__()
        self.start = start
        self.given = nn.Linear(1, width)
        self.recurrent = nn.Linear(width, width, bias=False)
        self.first = Tap(INVARIANT)
        self.hidden = Tap(STEP)
        self.predict = nn.Linear(width, 1)
        self.residual = Tap(STEP)
        self.output = Tap(STEP)

    equations = (
        Equation(
            at_step("hidden", "h_t"),
            tanh(
                fixed("W") @ beside(given(0), "x_{t−1}", -1, fixed("0"))
                + fixed("U") @ beside("hidden", "h_{t−1}", -1, fixed("h_1"))
                + fixed("c")
            ),
            start=fixed("h_1"),
        ),
        Equation(at_step("predict", "x̂_t"), fixed("V") @ at_step("hidden", "h_t") + fixed("b")),
        Equation(at_step("residual", "e_t"), at_step(given(0), "x_t") - at_step("predict", "x̂_t")),
    )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return the weights and h_1."""
        w, v = self.given, self.predict
        with torch.inference_mode(False), torch.no_grad():
            zeros = w.bias.new_zeros(1, w.out_features)
            first = self.fixed_point(zeros)[0] if self.start == "fixed point" else zeros
            named = {"W": w.weight, "U": self.u(), "c": w.bias, "V": v.weight, "b": v.bias}
            return {**named, "h_1": first[0], "0": zeros[0, :1]}

    def u(self) -> Tensor:
        """Return U, (H, H), its largest singular value at most CONTRACTION, so that one fixed point exists."""
        weight = self.recurrent.weight
        size = torch.linalg.matrix_norm(weight, 2)
        return weight * (CONTRACTION / size.clamp_min(CONTRACTION))

    def fixed_point(self, like: Tensor) -> tuple[Tensor, int]:
        """Return h = R(0, h), (1, H), and after how many steps it stood still (ITERATIONS if it did not)."""
        drive = like.new_zeros(1, 1) @ self.given.weight.T + self.given.bias
        u, h = self.u().T, torch.zeros_like(drive)
        for k in range(ITERATIONS):
            after = torch.tanh(drive + h @ u)
            if float((after - h).detach().abs().max()) <= 4 * torch.finfo(h.dtype).eps:
                return after, k + 1
            h = after
        return h, ITERATIONS

    def states(self, x: Tensor, start: Tensor) -> Tensor:
        """Return h_1 ... h_T, each made of what came before its step; (B, T, 1), (1, H) -> (B, T, H)."""
        drive = F.linear(x, self.given.weight, self.given.bias)
        u, h = self.u().T, start.expand(len(x), -1)
        found = [h]
        for t in range(x.shape[1] - 1):
            h = torch.tanh(drive[:, t] + h @ u)
            found.append(h)
        return torch.stack(found[: x.shape[1]], 1) if x.shape[1] else drive

    def batch(self, x: Tensor) -> Tensor:
        """Return the predictions for many series of one length, from h_1 = 0; (B, T, 1) -> the same."""
        return self.predict(self.states(x, x.new_zeros(1, self.given.out_features)))

    def forward(self, x: Tensor) -> Tensor:
        zeros = x.new_zeros(1, self.given.out_features)
        first = self.first(self.fixed_point(x)[0] if self.start == "fixed point" else zeros)
        found = self.predict(self.hidden(self.states(x[None], first)[0]))
        self.residual(x - found)
        return self.output(found)


STARTS = ("fixed point", "zeros")


def build_ar(lags: float = LAGS) -> AR:
    """Build AR(τ)."""
    return seeded(lambda: AR(int(lags)))


def build_latent(start: float = 0) -> LatentAR:
    """Build latent AR with one of STARTS for h_1."""
    return seeded(lambda: LatentAR(STARTS[int(start)]))


def drawn(chance: np.random.Generator, count: int) -> tuple[Tensor]:
    """Draw series, (B, T, 1)."""
    return (torch.tensor(tasks.waves(chance, count, STEPS)),)


def error(found: Tensor, x: Tensor) -> float:
    """Return the root mean squared error after SKIPPED steps; (B, T, 1) twice."""
    return float(((found - x)[:, SKIPPED:] ** 2).mean().sqrt())


def fit(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Fit AR(τ) for every τ by least squares on 200 series; an epoch is one τ, and all are needed.

    Returns the network with LAGS lags and its errors with 1, 2, 4, ... lags on other series.
    """
    with torch.inference_mode(False), torch.no_grad(), one_thread():
        network = build_ar()
        (x,) = drawn(np.random.default_rng(seed), COUNT)
        values = lagged(x, MOST_LAGS)[:, MOST_LAGS:, 0].flatten(0, 1).double()  # (B (T - most), lags)
        wanted = x[:, MOST_LAGS:].flatten().double()
        network.weight.zero_()
        for lags in range(1, min(MOST_LAGS, epochs or MOST_LAGS) + 1):
            given = torch.cat([values[:, :lags], torch.ones(len(values), 1, dtype=torch.float64)], 1)
            best = torch.linalg.lstsq(given, wanted[:, None]).solution[:, 0]
            network.weight[lags - 1, :lags], network.bias[lags - 1] = best[:-1], best[-1]
            if progress is not None:
                progress(lags, MOST_LAGS, f"error {float((given @ best - wanted).square().mean().sqrt()):.4f}")
        round_to_half(network)
        (x,) = drawn(judged_by(), COUNT)
        found = {}
        for lags in (1, 2, 4, 8, 16, 24):
            network.lags = lags
            found[f"error_{lags}"] = error(network(x), x)
        network.lags = LAGS
        return network.eval(), found


def loss(network: LatentAR, x: Tensor) -> Tensor:
    """Return the mean squared error of the predictions."""
    return ((network.batch(x) - x) ** 2).mean()


def judge(network: LatentAR) -> dict[str, float]:
    """Return the error on other series, and how many iterations the fixed point takes in double precision."""
    (x,) = drawn(judged_by(), COUNT)
    steps = network.double().fixed_point(torch.zeros(1, 1, dtype=torch.float64))[1]
    return {"error": error(network.float().batch(x), x), "iterations": float(steps)}


RECIPE = Recipe(epochs=12, batch=32, rate=1e-2)


def trained_latent(
    epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train latent AR to predict two waves in noise."""
    return train(build_latent, drawn, loss, judge, RECIPE, epochs, seed, progress)


def weights_by_lag(network: nn.Module) -> Mapping[str, Any]:
    """Return the weights of every τ, a row each."""
    assert isinstance(network, AR)
    return {"w: row τ, column k": network.weight.detach()}


FIGURES = {
    "autoregressive": (
        "600 parameters, least squares on 200 series of two waves (periods 16 and 5.5) with noise of 0.1. Error on "
        "200 new ones (root mean square): τ = 1: 0.469, 2: 0.353, 4: 0.329, 8: 0.124, 16: 0.112, 24: 0.108.",
    ),
    "latent-ar": (
        "305 parameters, 12 epochs of 100 steps, 32 series each. Error on 200 new series: 0.127, where the noise "
        "alone is 0.1. The fixed point is reached to double precision in 267 iterations.",
    ),
}

_REFERENCE = (
    'Box, Jenkins, "Time series analysis", 1970, chapter 3; Zhang, Lipton, Li, Smola, "Dive into deep learning", 2021, '
    'section 9.1; for the start: Bronstein et al., "Geometric Deep Learning", 2021, section 5.7, eq. (41) to (42)'
)

CARD = (
    Card(
        name="autoregressive",
        title="AR(τ), of which τ = 1 is a Markov chain",
        rows=("R1",),
        groups=("shift",),
        domain="sequence",
        reference=_REFERENCE,
        equation="x̂_t = b + Σ_{k=1..τ} w_k x_{t−k}\nτ = 1:  p(x_t | x_{t−1}, …, x_1) = p(x_t | x_{t−1})",
        summary=(
            "The next value from the last τ values alone, with the weights that fit best for each τ. Change τ from "
            "1 and see the residual shrink until it is no more than the noise. What is further back than τ has no "
            "influence."
        ),
        build=build_ar,
        input=SequenceInput(),
        sample="two-waves",
        boundary="zero",
        params=(Param("lags", "Lags τ", LAGS, 1, MOST_LAGS, whole=True),),
        weights="autoregressive.safetensors",
        train=fit,
        matrix=weights_by_lag,
        source=(lagged, AR),
        notes=FIGURES["autoregressive"],
    ),
    Card(
        name="latent-ar",
        title="Latent autoregressive model",
        rows=("R1", "R2"),
        groups=("shift",),
        domain="sequence",
        reference=_REFERENCE,
        equation="h_t = tanh(W x_{t−1} + U h_{t−1} + c),   x̂_t = V h_t + b\nh_1 = R(0, h_1),   ‖U‖₂ ≤ 0.95",
        summary=(
            "All that was seen before is summed up in h. Delay the input: starting from the fixed point, a row of "
            "zeros changes nothing and everything comes later by as many steps. Start from zeros instead, and the "
            "law breaks until h has forgotten where it started."
        ),
        build=build_latent,
        input=SequenceInput(channels=1),
        sample="two-waves",
        boundary="zero",
        params=(Param("start", "Start h₁", 0, 0, len(STARTS) - 1, choices=STARTS),),
        weights="latent-ar.safetensors",
        train=trained_latent,
        source=(LatentAR,),
        notes=FIGURES["latent-ar"],
    ),
)
