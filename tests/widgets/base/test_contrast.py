"""Colours of the themes can be told from what they stand on: words 4.5 to 1, marks and outlines 3 to 1."""

from __future__ import annotations

import pytest

from widgets.base.look.theme import CHOSEN, CLASSES, DARK, LIGHT, PILL, Theme

WORDS, MARKS = 4.5, 3.0  # of the Web Content Accessibility Guidelines, level AA
INKS = ("text", "muted", "accent", "first", "second", "good", "bad")
GROUNDS = ("window", "panel", "raised", "plot")
themes = pytest.mark.parametrize("t", [LIGHT, DARK], ids=lambda t: t.name)


def parts(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    shares = [v / 255 for v in parts(colour)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def over(ink: str, ground: str, share: float) -> str:
    """Return a colour that is seen through so far, on a ground."""
    mixed = (round(a * share + b * (1 - share)) for a, b in zip(parts(ink), parts(ground), strict=True))
    return "#" + "".join(f"{v:02x}" for v in mixed)


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@themes
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_words_can_be_read(t: Theme, ink: str, ground: str) -> None:
    assert contrast(getattr(t, ink), getattr(t, ground)) >= WORDS


@themes
@pytest.mark.parametrize("ground", ["accent", "good", "bad", "muted"])
def test_words_on_a_badge_can_be_read(t: Theme, ground: str) -> None:
    assert contrast(t.panel, getattr(t, ground)) >= WORDS


@themes
@pytest.mark.parametrize("role", ["first", "second"])
@pytest.mark.parametrize("ink", ["text", "muted", "accent", "good"])
def test_what_is_said_of_the_chosen_network_can_be_read(t: Theme, ink: str, role: str) -> None:
    chosen = over(getattr(t, role), t.panel, CHOSEN)
    assert contrast(getattr(t, ink), chosen) >= WORDS
    assert contrast(t.accent, over(t.accent, chosen, PILL / 255)) >= MARKS + 1  # a group, in bold outlines


@themes
@pytest.mark.parametrize("ground", ["window", "panel", "raised", "plot"])
def test_outlines_of_controls_can_be_seen(t: Theme, ground: str) -> None:
    assert contrast(t.edge, getattr(t, ground)) >= MARKS


@themes
@pytest.mark.parametrize("ink", CLASSES)
def test_marks_of_classes_can_be_seen(t: Theme, ink: str) -> None:
    assert contrast(ink, t.plot) >= MARKS
