"""A made-up catalogue for view tests: models with and without parameters, samples with and without a picture."""

from __future__ import annotations

import numpy as np

from explorer.declare.card import ModelInfo
from explorer.declare.params import Param
from explorer.state.catalogue import Catalogue, SampleInfo

EQUATION = "(x ⋆ θ)(h) = ∑ᵤ x(u) θ(h⁻¹ u)\n(ρ(g) x)(u) = x(g⁻¹ u)"
SOURCE = '''class LiftingConv2d(nn.Module):
    """Lift a grid field to the group."""

    def forward(self, x):
        # rotate the filter, then convolve: h is one of |H|
        return F.conv2d(x, self.filters(), padding=1) * 1.0  # (batch, field * |H|, y, x)
'''


def make_info(name: str = "d4-cnn", **changes: object) -> ModelInfo:
    known: dict[str, object] = {
        "name": name, "title": {"d4-cnn": "D4 group CNN"}.get(name, name.title()), "domain": "grid",
        "groups": ("D4", "translation"), "rows": ("G7", "G8"), "reference": "Cohen and Welling (2016), eq. 10",
        "equation": EQUATION, "summary": "Turns its filters with the group. Look at the orientation channels.",
        "notes": ("test error 1.9 %", "rotated test error 2.1 %"),
        "params": (Param("depth", "Depth", 2, 1, 6, whole=True), Param("rate", "Rate", 0.1, 0.01, 1.0, 0.01),
                   Param("pool", "Pooling", 0, 0, 1, choices=("max", "mean"))),
        "sample": "digit-3", "labels": tuple("0123456789"), "input_shape": (1, 29, 29), "trained": True,
        "trainable": True, "source": SOURCE,
    }  # fmt: skip
    known.update(changes)
    return ModelInfo(**known)  # type: ignore[arg-type]


def make_catalogue(models: int = 2, samples: int = 5) -> Catalogue:
    rng = np.random.default_rng(0)
    known = [
        make_info(),
        make_info("plain-cnn", title="Plain CNN", groups=("translation",), rows=("G2",), params=()),
        *(
            make_info(f"model-{i}", title=f"A model with a very long title, number {i}", rows=(f"G{i}",),
                      trained=False, domain="graph" if i % 2 else "grid", groups=())
            for i in range(2, models)
        ),
    ]  # fmt: skip
    shown = [
        SampleInfo(f"digit-{i}", f"handwritten {i}", "grid", "An 8 x 8 digit, enlarged.",
                   None if i == 4 else rng.integers(0, 255, (29, 29, 3)).astype(np.uint8))
        for i in range(samples)
    ]  # fmt: skip
    return Catalogue(tuple(known[:models]), tuple(shown), ("cpu",), (("torch", "2.13.0"),), (".png", ".npy"))
