"""Other tools' figures, reproduced beside ours so that published numbers can be compared.

Each preset takes the expected values rho(g) F(x) and the answers F(rho(g) x), (trials, ...), and returns one number. A
shift that leaves places empty is compared at the others alone, as StyleGAN3 does, whatever the receptive field. The Lie
derivative of Gruver et al. is `lie` of each layer. docs/guide/in_your_tests.md says how the figures convert.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Preset:
    """One tool's way to state the error; `limit` is what that tool itself accepts (None: it gives no verdict)."""

    name: str
    title: str
    source: str
    compute: Callable[
        [Tensor, Tensor, float], float
    ]  # expected and answer, 0 where nothing is compared; the share kept
    limit: float | None
    higher_is_better: bool = False
    warning: str = ""


def _escnn(expected: Tensor, answer: Tensor, kept: float) -> float:
    # numpy.allclose(expected, answer, atol, rtol): the excess of |e| over rtol |answer|, largest entry
    return float(((expected - answer).abs() - 1e-5 * answer.abs()).clamp_min(0).max())


def _e3nn(expected: Tensor, answer: Tensor, kept: float) -> float:
    return float((expected - answer).abs().max())


def _decibel(expected: Tensor, answer: Tensor, kept: float) -> float:
    mse = float((expected - answer).square().mean()) / kept
    return math.inf if mse == 0 else 10 * math.log10(4.0 / mse)


PRESETS = {
    p.name: p
    for p in (
        Preset(
            "escnn",
            "escnn check_equivariance",
            "escnn 1.0, EquivariantModule.check_equivariance (atol 1e-6, rtol 1e-5)",
            _escnn,
            1e-6,
            warning="absolute: passes anything whose outputs are small",
        ),
        Preset(
            "e3nn",
            "e3nn equivariance_error",
            "e3nn 0.6, util.test.equivariance_error (max |e|)",
            _e3nn,
            1e-5,
            warning="absolute, one trial by default: scale the function and the verdict changes",
        ),
        Preset(
            "eq-t",
            "EQ-T (StyleGAN3)",
            "Karras et al. 2021, Alias-Free GAN, eq. 3: PSNR in dB, range [-1, 1]",
            _decibel,
            None,
            True,
        ),
        Preset(
            "eq-r",
            "EQ-R (StyleGAN3)",
            "Karras et al. 2021, appendix E.3: PSNR in dB, range [-1, 1], rotations",
            _decibel,
            None,
            True,
        ),
    )
}


def preset_figures(expected: Tensor, answer: Tensor, kept: float = 1.0) -> dict[str, float]:
    """Return every preset's figure for one batch of squares; none for an answer without values (no edges).

    Args:
        kept: the share of places that are compared; the others hold zeros in both.
    """
    if not expected.numel() or not kept:
        return {}
    with torch.no_grad():
        pair = expected.double(), answer.double()
        return {name: preset.compute(*pair, kept) for name, preset in PRESETS.items()}
