"""Helpers of the view tests: frames with odd data, wishes gathered, and what may not be made anew on a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from shiboken6 import getCppPointer

from explorer.square.frame import Frame, LayerInfo, Measure, Square
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.view import View, Wish


def measure(**changes: Any) -> Measure:
    known: dict[str, Any] = {"cumulative": 2e-7, "local": 2e-7, "floor": 1e-7, "chance": 1.2, "exact": True,
                             "verdict": "holds", "tolerance": 1e-5}  # fmt: skip
    return Measure(**(known | changes))


def with_square(frame: Frame, **changes: Any) -> Frame:
    """Return the frame with its first square changed."""
    return replace(frame, squares=(replace(frame.squares[0], **changes), *frame.squares[1:]))


def with_layers(names: Sequence[str], measures: dict[str, Measure] | None = None) -> Frame:
    """Return a frame of a network with these layers, the first one selected."""
    layers = tuple(LayerInfo(name, "Conv2d", (1, 4, 8, 8), 10, "grid scalar", False) for name in names)
    measures = {name: measure() for name in names} if measures is None else measures
    guilty = tuple(name for name, m in measures.items() if m.verdict == "broken" and m.local is not None)
    verdict = "broken" if guilty or any(m.seen for m in measures.values()) else "holds"
    return with_square(make_frame(), layers=layers, layer=layers[0], measures=measures, verdict=verdict, guilty=guilty)


def odd_frames() -> dict[str, Frame | None]:
    """Return what a view may meet and must survive."""
    values = np.array([0.0, np.nan, np.inf, 1e-12, 5.0], dtype=np.float32)
    odd = {
        "none": measure(cumulative=None, local=None, chance=None, verdict="no law", exact=False),
        "nan": measure(cumulative=float("nan"), local=float("nan"), floor=float("nan"), verdict="broken"),
        "zero": measure(cumulative=0.0, local=0.0, floor=0.0, channels=values),
        "huge": measure(cumulative=1e30, local=float("inf"), chance=1e9, verdict="broken", decibel=-3.0),
        "below": measure(cumulative=1e-12, local=5e-10, kept=0.25, attributed=0.5),
    }
    many = [f"features.{i // 10}.block.{i}" for i in range(200)]
    plain = make_frame()
    return {
        "no frame": None,
        "no squares": replace(plain, squares=()),
        "no layers": with_square(plain, layers=(), measures={}),
        "no measures": with_square(plain, measures={}),
        "odd measures": with_layers(list(odd), odd),
        "one layer": with_layers(["only"]),
        "200 layers": with_layers(many),
        "long names": with_layers(["a" * 200 + ".b" * 40, "ένα.層." + "c" * 99]),
        "two models": make_frame(compare=True),
        "no output": with_square(plain, output=np.zeros(0, np.float32), output_g=np.zeros(0, np.float32), labels=()),
        "1000 outputs": with_square(plain, **outputs(1000)),
        "nan outputs": with_square(plain, output=np.full(10, np.nan, np.float32)),
        "signed outputs": with_square(plain, output=-np.arange(10.0), probabilities=False, labels=()),
        "untrue field": with_square(plain, layer=replace(plain.squares[0].layer, field="unknown")),
    }


def outputs(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    labels = tuple(f"a class with a long name, number {i}" for i in range(n))
    return {"output": rng.dirichlet(np.ones(n)), "output_g": rng.dirichlet(np.ones(n)), "labels": labels}


def gather(view: View) -> list[Wish]:
    """Return a list to which every wish of the view is added."""
    wishes: list[Wish] = []
    view.wished.connect(wishes.append)
    return wishes


def opened(qtbot: Any, view: View, width: int = 1280, height: int = 180) -> View:
    """Show a view as a window of that size."""
    qtbot.addWidget(view)
    view.resize(width, height)
    with qtbot.waitExposed(view):
        view.show()
    return view


def objects(view: View) -> set[int]:
    """Return the identities of all Qt objects inside a view."""
    return {getCppPointer(child)[0] for child in view.findChildren(QObject)}


def click(widget: QWidget, x: float, y: float, button: Qt.MouseButton = Qt.MouseButton.LeftButton) -> None:
    QTest.mouseClick(widget, button, Qt.KeyboardModifier.NoModifier, QPoint(round(x), round(y)))


def drag(widget: QWidget, start: QPointF, *stops: QPointF) -> None:
    """Press at `start`, move over the stops and release at the last."""
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(widget, left, none, start.toPoint())
    for stop in stops:
        QTest.mouseMove(widget, stop.toPoint())
    QTest.mouseRelease(widget, left, none, stops[-1].toPoint())


def first(frame: Frame) -> Square:
    return frame.squares[0]
