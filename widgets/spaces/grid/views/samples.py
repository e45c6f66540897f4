"""Samples of networks that decode images."""

from __future__ import annotations

from widgets.base.view import ViewSpec
from widgets.latent.samples_view import SamplesView

VIEW = ViewSpec(
    "samples", "Samples", SamplesView, "center", 5, "Thousands of images that a network decodes from random codes.",
    domains=("grid",), fits=lambda square: square.latent is not None,
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(SamplesView, lambda view, samples: view.set_frame(samples.make_frame()))
