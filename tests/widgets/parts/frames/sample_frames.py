"""Synthetic frames for view tests: everything a view may meet, without a network."""

from __future__ import annotations

import numpy as np

from explorer.declare.elements import parse_chain
from explorer.square.frame import Frame, LayerInfo, Measure, OrbitCurve, Square
from explorer.state.state import State

LAYERS = (
    LayerInfo("lift", "LiftingConv2d", (1, 64, 29, 29), 640, "grid regular(D4)", False),
    LayerInfo("relu1", "ReLU", (1, 64, 29, 29), 0, "grid regular(D4)", False),
    LayerInfo("block.conv", "GroupConv2d", (1, 64, 15, 15), 36928, "grid regular(D4) /2", True, depth=1),
    LayerInfo("group_pool", "GroupPool", (1, 8, 15, 15), 0, "grid scalar /2", False),
    LayerInfo("head", "Linear", (1, 10), 90, "invariant", False),
)


def make_square(
    model: str = "d4-cnn", channels: int = 64, size: int = 29, broken: bool = True, seed: int = 0
) -> Square:
    rng = np.random.default_rng(seed)

    def maps(c: int, h: int, w: int) -> np.ndarray:
        return rng.standard_normal((c, h, w)).astype(np.float32)

    x = rng.random((1, size, size)).astype(np.float32)
    fx, f_gx = maps(channels, size, size), maps(channels, size, size)
    rho_fx = np.rot90(fx, axes=(1, 2)).copy()
    error = 0.2 if broken else 3e-7
    measures = {
        layer.name: Measure(
            cumulative=error * (i + 1), local=error if i == 2 else 2e-7, floor=2e-7, chance=1.2, exact=True,
            verdict="broken" if broken and i == 2 else "holds", tolerance=1e-5,
            channels=rng.random(8).astype(np.float32) * error,
        )
        for i, layer in enumerate(LAYERS)
    }  # fmt: skip
    difference = rho_fx - f_gx
    return Square(
        model=model, title=model, layer=LAYERS[0], layers=LAYERS, measures=measures, x=x,
        gx=np.rot90(x, axes=(1, 2)).copy(), fx=fx, f_gx=f_gx, rho_fx=rho_fx, difference=difference,
        error_map=np.sqrt((difference**2).mean(0)), no_action="", scale=3.0, group="D4",
        output=rng.dirichlet(np.ones(10)).astype(np.float32), output_g=rng.dirichlet(np.ones(10)).astype(np.float32),
        labels=tuple("0123456789"), probabilities=True, filters=maps(64, 3, 3),
        filter_labels=tuple(f"filter {i // 8} · {i % 8}" for i in range(64)), filter_columns=8,
        matrices={"W": maps(1, 121, 121)[0]}, shown=channels, hints=(), kind="grid",
        verdict="broken" if broken else "holds", guilty=(LAYERS[2].name,) if broken else (),
    )  # fmt: skip


def make_frame(compare: bool = False, transform: str = "rotate:90", **kwargs: object) -> Frame:
    squares = (make_square(**kwargs),)  # type: ignore[arg-type]
    if compare:
        squares += (make_square("plain-cnn", seed=1),)
    state = State(sample="digit-3", steps=parse_chain(transform), compare="plain-cnn" if compare else "")
    return Frame(state, squares, 12.3, 8.1, "cpu", "handwritten 3", ("upsampled",))


def make_orbit(model: str = "d4-cnn", n: int = 72, done: int | None = None) -> OrbitCurve:
    angles = np.linspace(-180, 180, n, endpoint=False)
    exact = angles % 90 == 0
    errors = {
        layer.name: np.where(exact, 2e-7, 0.02 + 0.1 * np.abs(np.sin(np.radians(2 * angles))) * (i + 1))
        for i, layer in enumerate(LAYERS)
    }
    floor = {layer.name: np.where(exact, 2e-7, 0.02) for layer in LAYERS}
    outputs = np.random.default_rng(0).dirichlet(np.ones(10), n)
    return OrbitCurve(
        State(), model, "rotate", "angle", "°", angles, errors, floor, exact, outputs, tuple("0123456789"),
        n if done is None else done,
    )  # fmt: skip
