"""Be a view whose pictures pyvista makes: its import begins while the network of the chosen model works."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.frame_view import FrameView
from widgets.spaces.mesh.drawing import pyvista_import

Found = TypeVar("Found")


class RenderedView(FrameView[Found]):
    """Begins to import pyvista when a model of its kinds of data is chosen."""

    DOMAINS: ClassVar[tuple[str, ...]]  # of the models that it draws
    _models: frozenset[str] = frozenset()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        super().show_catalogue(catalogue)
        self._models = frozenset(model.name for model in catalogue.models if model.domain in self.DOMAINS)

    def set_state(self, state: State) -> None:
        if state.model in self._models and self.soon():
            pyvista_import.begin()
        super().set_state(state)

    def soon(self) -> bool:
        """Say whether the view is drawn as soon as the network has answered."""
        return True
