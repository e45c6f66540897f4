"""Colours and sizes of the window, light and dark, and the colour maps of the pictures.

Qualitative colours are Okabe and Ito's, two of them darker, which people with colour-vision deficiencies can tell
apart: words have a contrast of at least 4.5 to what they stand on, marks and outlines one of 3. The signed map is a
perceptually even blue-white-red (dark: blue-black-red), the unsigned one is viridis-like grey for intensities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDockWidget,
    QHeaderView,
    QMainWindow,
    QPlainTextEdit,
    QScrollArea,
    QStatusBar,
    QTabBar,
    QTabWidget,
    QTextBrowser,
    QWidget,
)

CONTROLS = ("QCheckBox", "QRadioButton", "QComboBox", "QAbstractSpinBox", "QLineEdit", "QSlider", "QPushButton")
DARKER = 140  # per cent by which Fusion darkens the colour of a window for an outline
SENTENCE = 15  # pixels of what is said in place of a view
CHOSEN = 0.1  # of its colour on the row that is chosen in a list: what is written on it stays readable
PILL = 22  # opaqueness of its colour behind a word
# of classes, in their order
CLASSES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b37a00", "#3a95cc", "#8a6fd1", "#7f8fa6", "#a0522d", "#6b8e23")


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, as #rrggbb."""

    name: str
    window: str
    panel: str
    raised: str
    line: str
    text: str
    muted: str
    accent: str
    first: str  # colour of the first model
    second: str  # colour of the model it is compared with
    good: str
    bad: str
    band: str  # the floor
    plot: str
    edge: str  # outlines of controls, at least 3:1 against what they stand on


LIGHT = Theme(
    "light", "#f4f5f7", "#ffffff", "#eceef1", "#d5d9df", "#1b1f24", "#5d6673", "#0066b8", "#006fad", "#ad4c00",
    "#00795a", "#c0392b", "#d3d7dd", "#ffffff", "#747b85",
)  # fmt: skip
DARK = Theme(
    "dark", "#1c1f24", "#23272e", "#2d323a", "#3a404a", "#e8eaed", "#9aa4b2", "#4da3ff", "#56b4e9", "#e69f00",
    "#2bbf8f", "#ff6b5e", "#3c424d", "#1a1d22", "#7b8490",
)  # fmt: skip


# of figures: the caption, the view and what lies between its parts have one ground
PAPER, DARK_PAPER = replace(LIGHT, window=LIGHT.panel), replace(DARK, window=DARK.panel)

# kind of widget, its part, and what holds of it
# a view with a rule of its own lets its ground through, and Qt paints all of it again at each turn of the wheel:
# trees and lists take theirs from the palette
RULES: tuple[tuple[type[QWidget] | None, str, str], ...] = (
    (QMainWindow, "::separator", "background: {t.line}; width: 1px; height: 1px;"),
    (QDockWidget, "", "color: {t.muted}; font-weight: 600;"),
    (QDockWidget, "::title", "background: {t.window}; padding: 5px 8px;"),
    (QTabBar, "::tab", "padding: 5px 10px; color: {t.muted}; border: none; border-bottom: 2px solid transparent;"),
    (QTabBar, "::tab:selected", "color: {t.text}; border-bottom: 2px solid {t.accent};"),
    (QTabWidget, "::pane", "border: none;"),
    (QTextBrowser, "", "background: {t.panel}; border: none;"),
    (QPlainTextEdit, "", "background: {t.panel}; border: none;"),
    (QScrollArea, "", "background: {t.panel}; border: none;"),
    (QComboBox, " QAbstractItemView", "border: 1px solid {t.edge};"),
    (None, "", "background: {t.panel}; color: {t.text}; border: 1px solid {t.line}; padding: 4px;"),  # tips
    (QStatusBar, "", "color: {t.muted};"),
    (QHeaderView, "::section", "background: {t.panel}; color: {t.muted}; border: none;"
                               " border-bottom: 1px solid {t.line}; padding: 3px 6px;"),
)  # fmt: skip


class _Changes(QObject):
    changed = Signal()


_state: dict[str, object] = {"theme": LIGHT, "choice": "system"}
changes = _Changes()


def current() -> Theme:
    """Return the theme in force."""
    theme = _state["theme"]
    assert isinstance(theme, Theme)
    return theme


def use(choice: str) -> None:
    """Set "light", "dark" or "system" and repaint everything; views hear of it through `changes.changed`."""
    _state["choice"] = choice
    dark = choice == "dark" or (
        choice == "system" and QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    )
    _state["theme"] = DARK if dark else LIGHT
    app = QGuiApplication.instance()
    if isinstance(app, QApplication):
        _recolour(app, current())
    elif isinstance(app, QGuiApplication):
        colour_controls(app, current())
    changes.changed.emit()


def _recolour(app: QApplication, t: Theme) -> None:
    """Give the program the colours of a theme, with one sheet that names them by their roles.

    Another sheet would dress each of more than a thousand widgets anew, twice, for half a second.
    """
    if app.styleSheet() != BY_ROLES:
        colour_controls(app, t)
        app.setStyleSheet(BY_ROLES)
        return
    every = app.allWidgets()
    ruled = [widget for widget in every if isinstance(widget, RULED)]
    for widget in ruled:
        widget.style().unpolish(widget)
    colour_controls(app, t)
    natural = QPalette()
    for widget in every:  # under a sheet they do not hear of the program's palette
        if not widget.testAttribute(Qt.WidgetAttribute.WA_SetPalette):
            widget.setPalette(natural)
    for widget in ruled:
        widget.style().polish(widget)


def colour_controls(app: QGuiApplication, t: Theme) -> None:
    """Give the program the palette of a theme, and controls one whose outlines can be seen.

    Fusion draws outlines as a darker shade of the colour of the window, which they hardly differ from.
    """
    app.setPalette(palette(t))
    if isinstance(app, QApplication):
        for name in CONTROLS:
            QApplication.setPalette(outlined(t), name)  # type: ignore[arg-type]  # it takes text alone


def outlined(t: Theme) -> QPalette:
    """Return the palette of controls: Fusion makes their outlines of the colour that a window has in it."""
    made = palette(t)
    made.setColor(QPalette.ColorRole.Window, QColor(t.edge).lighter(DARKER))
    return made


def palette(t: Theme) -> QPalette:
    p = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, t.window), (roles.WindowText, t.text), (roles.Base, t.panel), (roles.AlternateBase, t.raised),
        (roles.Text, t.text), (roles.Button, t.raised), (roles.ButtonText, t.text), (roles.ToolTipBase, t.panel),
        (roles.ToolTipText, t.text), (roles.Highlight, t.accent), (roles.HighlightedText, t.panel),
        (roles.PlaceholderText, t.muted), (roles.Link, t.accent), (roles.Mid, t.line), (roles.Light, t.raised),
        (roles.LinkVisited, t.edge),  # no link is ever drawn as visited: the role is free for the sheet
    ):  # fmt: skip
        p.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        p.setColor(QPalette.ColorGroup.Disabled, role, QColor(t.muted))
    return p


def style_sheet(t: Theme) -> str:
    """Return the sheet of a theme with its colours, for a part of the window that has others than the program."""
    return "\n".join(
        f"{kind.__name__ if kind is not None else 'QToolTip'}{part} {{ {rule.format(t=t)} }}"
        for kind, part, rule in RULES
    )


# the same with the roles that the colours have in the palette of the program
_ROLES = replace(
    LIGHT, line="palette(mid)", muted="palette(placeholder-text)", window="palette(window)", text="palette(text)",
    accent="palette(highlight)", panel="palette(base)", edge="palette(link-visited)",
)  # fmt: skip
BY_ROLES = style_sheet(_ROLES)
# what Qt keeps the colours of until it is dressed again; lists of choices are named by the box that they belong to
RULED: tuple[type[QWidget], ...] = (QAbstractItemView, *{kind for kind, _, _ in RULES if kind is not None})


def _ramp(stops: list[tuple[float, str]], n: int = 512) -> NDArray[np.uint8]:
    at = np.array([s[0] for s in stops])
    rgb = np.array([[int(s[1][i : i + 2], 16) for i in (1, 3, 5)] for s in stops], dtype=float)
    x = np.linspace(0, 1, n)
    table = np.stack([np.interp(x, at, rgb[:, k]) for k in range(3)] + [np.full(n, 255.0)], axis=1)
    return np.round(table).astype(np.uint8)


def signed_map() -> NDArray[np.uint8]:
    """Return the diverging table (512, 4): blue below zero, red above, the ground colour at zero."""
    if current().name == DARK.name:
        return _ramp([(0, "#7fd0ff"), (0.25, "#2f7fc4"), (0.5, "#16181c"), (0.75, "#c4512f"), (1, "#ffc27f")])
    return _ramp([(0, "#0b3c6f"), (0.25, "#5fa2d0"), (0.5, "#f8f8f8"), (0.75, "#e08a62"), (1, "#7f1d10")])


def grey_map() -> NDArray[np.uint8]:
    """Return the table (512, 4) for intensities, black to white in both themes."""
    return _ramp([(0, "#000000"), (1, "#ffffff")])


def gate_map() -> NDArray[np.uint8]:
    """Return the table (512, 4) for what lies between 0 and a limit, as gates do: ground colour at zero."""
    if current().name == DARK.name:
        return _ramp([(0, "#16191d"), (0.35, "#155a4c"), (0.7, "#2cb58b"), (1, "#d6fff0")])
    return _ramp([(0, "#f7f8f8"), (0.35, "#a5d5c4"), (0.7, "#2f8f76"), (1, "#06382d")])


def error_map() -> NDArray[np.uint8]:
    """Return the table (512, 4) for magnitudes of error: perceptually even, ground colour at zero."""
    if current().name == DARK.name:
        return _ramp([(0, "#16181c"), (0.35, "#5b2a6e"), (0.7, "#d8576b"), (1, "#fcd225")])
    return _ramp([(0, "#f8f8f8"), (0.35, "#fbb07a"), (0.7, "#c43c6e"), (1, "#3b0f5c")])
