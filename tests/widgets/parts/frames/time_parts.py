"""Time parts made by hand for view tests and pictures: an LSTM worked out here, shifted and warped sequences, text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from explorer.declare.elements import Step
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Frame, LayerInfo
from tests.widgets.parts.frames.sample_frames import make_frame

GATES = ("input_gate", "forget_gate", "output_gate", "cell_candidate", "cell", "hidden")


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm(x: np.ndarray, units: int = 32, seed: int = 0) -> dict[str, np.ndarray]:
    """Return every gate of an LSTM with random weights and chrono-like forget biases over x (T, C)."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((x.shape[1], 4 * units)) * 1.2
    r = rng.standard_normal((units, 4 * units)) / np.sqrt(units)
    bias = np.log(rng.uniform(1, 60, units))
    h, c, made = np.zeros(units), np.zeros(units), {name: [] for name in GATES}
    for row in np.nan_to_num(x):
        i, f, o, g = np.split(row @ w + h @ r, 4)
        i, f, o, g = sigmoid(i - bias), sigmoid(f + bias), sigmoid(o), np.tanh(g)
        c = f * c + i * g
        h = o * np.tanh(c)
        for name, value in zip(GATES, (i, f, o, g, c, h), strict=True):
            made[name].append(value)
    return {f"lstm.{name}": np.array(values, np.float32) for name, values in made.items()}


def wave(steps: int, channels: int = 1) -> np.ndarray:
    rng = np.random.default_rng(1)
    t = np.arange(steps)[:, None] / 25 * (1 + np.arange(channels) / 2)
    noise = 0.1 * rng.standard_normal((steps, channels))
    return (np.sin(t) * (1 + 0.5 * np.sin(t / 4)) + noise).astype(np.float32)


def shifted(x: np.ndarray, by: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x moved `by` steps with zeros coming in, where each step is, and which steps are not padding."""
    steps = len(x)
    order = np.arange(steps) + float(by)
    order[(order < 0) | (order >= steps)] = np.nan
    gx, known = np.zeros_like(x), np.zeros(steps, bool)
    there = np.isfinite(order)
    gx[order[there].astype(int)] = x[there]
    known[order[there].astype(int)] = True
    return gx, order, known


def shift_part(steps: int = 200, units: int = 32, by: int = 0, layer: str = "lstm.hidden", **changes: Any) -> TimePart:
    """Return the part of an LSTM on a wave that is shifted."""
    x = wave(steps, 2)
    gx, order, known = shifted(x, by)
    gates, after = lstm(x, units), lstm(gx, units)
    expected = np.zeros_like(gates[layer])
    there = np.isfinite(order)
    expected[order[there].astype(int)] = gates[layer][there]
    given: dict[str, Any] = {
        "steps": steps, "times": None, "names": (), "kind": "step", "x": x, "gx": gx, "order": order,
        "values": gates[layer], "moved": after[layer], "expected": expected,
        "difference": np.where(known[:, None], expected - after[layer], np.nan).astype(np.float32),
        "gates": gates, "moved_gates": after, "known": known,
    }  # fmt: skip
    return TimePart(**(given | changes))


WORDS = "the cat that we saw last night sat on the mat and looked at the moon as if it had never been there".split()


def token_part(kind: str = "pair", **changes: Any) -> TimePart:
    """Return a part of words with attention over them, or with the gates of an LSTM."""
    rng = np.random.default_rng(0)
    vocabulary = sorted(set(WORDS))
    x = np.eye(len(vocabulary), dtype=np.float32)[[vocabulary.index(word) for word in WORDS]]
    n = len(WORDS)
    score = np.exp(2 * rng.standard_normal((2, n, n))) * np.tril(np.ones((n, n)))
    attention = (score / score.sum(-1, keepdims=True)).astype(np.float32)
    gates = lstm(x, 16)
    values = attention if kind == "pair" else gates["lstm.hidden"]
    given: dict[str, Any] = {
        "steps": n, "times": None, "names": tuple(WORDS), "kind": kind, "x": x, "gx": x,
        "order": np.arange(n, dtype=float), "values": values, "moved": values, "expected": values,
        "difference": np.zeros_like(values), "gates": gates, "moved_gates": gates, "known": np.ones(n, bool),
    }  # fmt: skip
    return TimePart(**(given | changes))


def dna_part(steps: int = 120) -> TimePart:
    """Return the part of a DNA sequence and its reverse complement."""
    rng = np.random.default_rng(3)
    code = rng.integers(0, 4, steps)
    x = np.eye(4, dtype=np.float32)[code]
    x[17] = 0.25
    names = tuple("N" if i == 17 else "ACGT"[k] for i, k in enumerate(code))
    gx = x[::-1, ::-1].copy()
    gates, after = lstm(x, 8), lstm(gx, 8)
    expected = gates["lstm.hidden"][::-1]
    return TimePart(
        steps, None, names, "step", x, gx, np.arange(steps, dtype=float)[::-1].copy(), gates["lstm.hidden"],
        after["lstm.hidden"], expected, expected - after["lstm.hidden"], gates, after, np.ones(steps, bool),
    )  # fmt: skip


def time_frame(*parts: TimePart, steps: tuple[Step, ...] = (), layer: str = "lstm.hidden", **state: Any) -> Frame:
    """Return a frame with one square for each part."""
    frame = make_frame(compare=len(parts) > 1, transform="")
    squares = []
    for i, part in enumerate(parts):
        infos = tuple(
            LayerInfo(name, "Tap", (part.steps, values.shape[1]), 0, "step", False)
            for name, values in part.gates.items()
        )
        own = next((info for info in infos if info.name == layer), None)
        if own is None:
            own = LayerInfo(layer, "Tap", np.shape(part.values), 0, part.kind, False)
        one = frame.squares[min(i, len(frame.squares) - 1)]
        squares.append(replace(one, part=part, layer=own, layers=(*infos, own) if own not in infos else infos))
    known = {"steps": steps, "sample": "wave", **state}
    return replace(frame, squares=tuple(squares), state=replace(frame.state, **known), sample_title="wave")
