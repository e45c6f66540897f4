"""Codes of nodes in a plane, of networks that encode the nodes of a graph."""

from __future__ import annotations

from widgets.base.view import ViewSpec
from widgets.latent.plane_view import LatentView


class NodeCodesView(LatentView):
    """Codes of the nodes of the graph; a click selects the nearest node."""

    NOTHING = "Choose a network that encodes nodes, such as vgae, to see the plane of their codes."
    NONE = "This network has no codes of nodes.\nChoose a graph autoencoder in the gallery, such as vgae."


VIEW = ViewSpec(
    "codes", "Codes of nodes", NodeCodesView, "center", 4, "Codes of the nodes of a graph in a plane.",
    domains=("graph",), fits=lambda square: square.latent is not None,
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(NodeCodesView, lambda view, samples: view.set_frame(samples.make_frame()))
