"""The latent plane of networks that encode images."""

from __future__ import annotations

from widgets.base.view import ViewSpec
from widgets.latent.plane_view import LatentView

VIEW = ViewSpec(
    "latent", "Latent plane", LatentView, "center", 4,
    "Codes of an autoencoder in a plane: walk in it, decode any place, see the way of the code as the input turns.",
    domains=("grid",), fits=lambda square: square.latent is not None,
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(LatentView, lambda view, samples: view.set_frame(samples.make_frame()))
