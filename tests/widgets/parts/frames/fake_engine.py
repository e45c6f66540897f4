"""An engine without a network: it answers with the synthetic frames of `sample_frames`, when it is let."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from explorer.declare.card import ModelInfo
from explorer.declare.params import Param
from explorer.square.frame import Frame, OrbitCurve
from explorer.state.catalogue import Catalogue, SampleInfo
from explorer.state.state import State
from explorer.work.progress import Cancelled
from tests.widgets.parts.frames.sample_frames import make_frame, make_orbit, make_square

DEPTH = Param("depth", "Depth", 2, 1, 6, whole=True)


def model(name: str, title: str, row: str, domain: str = "grid", groups: tuple[str, ...] = ()) -> ModelInfo:
    return ModelInfo(
        name, title, domain, groups, (row,), "Cohen and Welling, Group Equivariant CNNs, 2016, eq. 10",
        "[f ⋆ ψ](g) = Σ_y Σ_k f_k(y) ψ_k(g⁻¹ y)", f"{title}: what to look for.", ("99.1 % on held-out digits",),
        (DEPTH,), "digit-3", tuple("0123456789"), (1, None, None), True, True, "class Net: ...",
    )  # fmt: skip


def make_catalogue() -> Catalogue:
    """Return models of two domains and three samples."""
    picture = np.linspace(0, 255, 28 * 28 * 3).reshape(28, 28, 3).astype(np.uint8)
    return Catalogue(
        models=(
            model("d4-cnn", "D4 group CNN", "G7", groups=("D4", "translation")),
            model("c4-cnn", "C4 group CNN", "G7", groups=("C4", "translation")),
            model("plain-cnn", "Plain CNN", "G3", groups=("translation",)),
            model("gcn", "Graph convolution", "N1", "graph"),
        ),
        samples=(
            SampleInfo("digit-3", "handwritten 3", "grid", "8×8, upsampled", picture),
            SampleInfo("digit-7", "handwritten 7", "grid", "8×8, upsampled", picture[::-1].copy()),
            SampleInfo("flower", "A flower", "grid", "a photograph", picture),
        ),
        devices=("cpu", "cuda:0"),
        versions=(("torch", "2.13.0"), ("numpy", "2.4.6")),
        extensions=(".png", ".npy"),
    )


class FakeEngine:
    """Records what it is asked. `gate` closed: answers wait for it. `error`: what answering raises."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.asked: list[State] = []
        self.parts = 2  # of an orbit
        self.refinements = 0  # of a frame; their number is its `milliseconds`
        self.refined = threading.Event()
        self.notes: tuple[str, ...] = ()  # about the networks
        self.closed = False

    def catalogue(self) -> Catalogue:
        return make_catalogue()

    def illustrate(self, catalogue: Catalogue) -> Iterator[Catalogue | None]:
        return iter(())

    def answer(self, state: State, cancelled: Callable[[], bool]) -> Frame:
        self.asked.append(state)
        while not self.gate.wait(0.002):
            if cancelled():
                raise Cancelled
        if self.error is not None:
            raise self.error
        frame = make_frame()
        square = make_square(state.model)
        layer = next((one for one in square.layers if one.name == state.layer), square.layer)
        squares = (replace(square, layer=layer),)
        if state.compare:
            squares += (replace(make_square(state.compare, seed=1), layer=layer),)
        return replace(frame, state=state, squares=squares, sample_title=f"<{state.sample}>", model_notes=self.notes)

    def refine(self, frame: Frame) -> Iterator[Frame]:
        for k in range(1, 1 + self.refinements):
            yield replace(frame, milliseconds=float(k))
        self.refined.set()

    def orbit(self, state: State) -> Iterator[OrbitCurve]:
        for part in range(self.parts):
            for name in filter(None, (state.model, state.compare)):
                curve = make_orbit(name, done=72 * (part + 1) // self.parts)
                yield replace(curve, state=state, transform=state.orbit)

    def close(self) -> None:
        self.closed = True
