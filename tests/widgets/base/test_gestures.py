"""Help on a panel has the gestures of that panel, of the page of all of them."""

from __future__ import annotations

import pytest

from widgets.base.text.gestures import as_html, gestures_of


@pytest.mark.parametrize(
    ("title", "some", "none"),
    [
        ("Stage", "drag the ring", "click a node"),
        ("Graph", "click an edge", "drag the ring"),
        ("Attention and pairs", "click an entry", "click an edge"),
        ("Gates", "click a unit among the forgetting times", "wheel over the path"),
        ("Phase", "wheel over the path", "click a histogram in *Gates*"),
        ("Spectrum", "click a value of the eigenvector", "click a node in the second chart of *Depth*"),
        ("Error along the orbit", "move over a mark", "click a layer in *Error per layer*"),
        ("Transform", "*Transform*: ×", "*Gallery*: right-click a model"),
        ("Layers", "*Stage*, *Layers*: right-click a map or a layer", "*Transform*: ×"),
    ],
)
def test_a_panel_has_its_own_gestures(title: str, some: str, none: str) -> None:
    found = [gesture for gesture, _ in gestures_of(title)]
    assert some in found and none not in found


def test_a_panel_that_the_page_does_not_name_has_none() -> None:
    assert gestures_of("Log") == [] and gestures_of("") == []


def test_names_and_keys_are_set_off() -> None:
    assert as_html("press `F` <in> *Graph*") == "press <b>F</b> &lt;in&gt; <i>Graph</i>"
