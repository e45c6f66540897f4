"""The page of a model: everything its card says, and source that reads like source."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.state.state import State
from tests.widgets.parts.driving.view_driving import objects, odd_frames, opened
from tests.widgets.parts.frames.sample_catalogue import EQUATION, SOURCE, make_catalogue, make_info
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.base.text.highlight import colours, python_as_html
from widgets.base.text.indices import with_indices
from widgets.views.equation import EquationView

ODD = odd_frames()
LESSONS = Path(__file__).resolve().parents[3] / "resources" / "lessons"


@pytest.fixture
def view(qtbot):
    view = opened(qtbot, EquationView(), 270, 500)
    view.show_catalogue(make_catalogue())
    view.set_frame(make_frame())
    return view


def test_a_loading_state_comes_first(qtbot):
    view = opened(qtbot, EquationView(), 270, 500)
    assert view.loading.isVisible()
    view.set_frame(make_frame())
    assert view.loading.isVisible()
    view.show_catalogue(make_catalogue())
    assert view.page.isVisible() and "D4 group CNN" in view.page.toPlainText()


def test_the_page_holds_what_the_card_says(view):
    text, info = view.page.toPlainText(), make_info()
    for part in (info.title, info.summary, info.reference, *info.notes, *EQUATION.splitlines(), "G7 G8", "trained"):
        assert part in text
    for line in SOURCE.strip().splitlines():
        assert line.strip() in text


def test_the_page_follows_the_model(view):
    view.set_state(State(model="plain-cnn"))
    assert "Plain CNN" in view.page.toPlainText()
    view.set_state(State(model="network.py:make"))
    assert "no card" in view.page.toPlainText()


def test_other_weights_leave_a_network_its_page(view):
    """While it learned, there was no card and no equation for it."""
    name = make_info().name
    view.set_state(State(model=f"{name}@/tmp/of_mine.safetensors"))
    text = view.page.toPlainText()
    assert make_info().title in text and EQUATION.splitlines()[0] in text and "no card" not in text
    assert "Shown with of_mine.safetensors; the notes are of the weights that come with it." in text
    view.set_state(State(model=name))
    assert "Shown with" not in view.page.toPlainText()


def test_two_models_have_two_pages(view):
    assert not view.tabs[0].isVisible()
    view.set_frame(make_frame(compare=True))
    assert view.tabs[0].isVisible() and view.tabs[1].text() == "Plain CNN"
    view.tabs[1].click()
    assert view.page.toPlainText().startswith("Plain CNN")
    view.set_frame(make_frame(compare=True, seed=1))
    assert view.page.toPlainText().startswith("Plain CNN")  # a frame does not turn the page
    view.set_frame(make_frame())
    assert view.page.toPlainText().startswith("D4 group CNN")


def test_two_checkpoints_of_a_network_of_ones_own_are_told_apart(view):
    one, two = (f"/home/somebody/networks/net.py:Net@/runs/{name}.safetensors" for name in ("first", "last"))
    view.set_state(State(model=one, compare=two))
    assert [tab.text() for tab in view.tabs] == ["first.safetensors", "last.safetensors"]
    assert [tab.toolTip() for tab in view.tabs] == [one, two]
    view.set_state(State(model="/home/somebody/networks/net.py:Net", compare=two))
    assert view.tabs[0].text() == "Net in net.py"


def test_the_place_read_to_stays(view):
    view.resize(270, 120)
    bar = view.page.verticalScrollBar()
    bar.setValue(bar.maximum())
    before, place = objects(view), bar.value()
    assert place > 0
    for i in range(50):
        view.set_frame(make_frame(transform=f"rotate:{i}"))
    view.show_catalogue(make_catalogue())
    view.apply_theme()
    assert bar.value() == place and objects(view) == before
    theme.use("dark")
    view.apply_theme()
    theme.use("light")
    assert bar.value() == place
    view.set_state(State(model="plain-cnn"))
    assert bar.value() == 0


def test_odd_cards_are_shown(view):
    odd = make_info(title="<script>", equation="", reference="see https://example.org/a?b=1&c=2 there", source="",
                    notes=(), summary="a < b & c", groups=(), rows=(), input_shape=(), trained=False)  # fmt: skip
    view.show_catalogue(replace(make_catalogue(), models=(odd,)))
    text = view.page.toPlainText()
    assert "<script>" in text and "a < b & c" in text and "claims no symmetry" in text
    assert 'href="https://example.org/a?b=1&amp;c=2"' in view.html()


@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_shown(view, name):
    view.set_frame(ODD[name])
    view.grab()
    view.numbers(), view.caption(), view.figure_size()


@pytest.mark.parametrize(
    "source",
    [SOURCE, "", "def", "x = 'never closed\ny = 1", '"""never closed', "@property\ndef f(self): return 1e-3 + 0x1F",
     "x = a[1:2] # < & >", "ρ = λ\n\tif"],
)  # fmt: skip
def test_highlighting_loses_nothing(qtbot, source):
    from PySide6.QtGui import QTextDocumentFragment

    lines = []
    for indent, line in python_as_html(source):
        shown = QTextDocumentFragment.fromHtml(f"<p>{line}</p>").toPlainText().replace("\u00a0", " ")
        lines.append(" " * indent + shown)
    assert [line.split() for line in lines] == [line.split() for line in source.split("\n")]
    assert [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()] == [
        len(line) - len(line.lstrip(" ")) for line in source.split("\n") if line.strip()
    ]


def test_highlighting_tells_kinds_apart(qtbot):
    made = "".join(line for _, line in python_as_html("def forward(x):  # a\n    return 'text' + 1"))
    inks = {text: made.split(f">{text}<")[0][-8:-1] for text in ("def", "forward", "return")}
    assert inks["def"] == inks["return"] != inks["forward"]
    assert ">x<" not in made


def test_indices_and_exponents_are_set_as_such(view):
    info = make_info(equation="θ_{g⁻¹u} = x_u + y^{2} < a_{i_{1}}\nplain")
    view.show_catalogue(replace(make_catalogue(), models=(info,)))
    made = view.html()
    assert "θ<sub>g⁻¹u</sub> = x<sub>u</sub> + y<sup>2</sup> &lt; a<sub>i<sub>1</sub></sub>" in made


def test_names_of_layers_are_set_as_code(view):
    view.show_catalogue(replace(make_catalogue(), models=(make_info(summary="Look at `score1` & `a<b`."),)))
    view.set_state(State(model="d4-cnn"))
    assert "Look at score1 & a<b." in view.page.toPlainText()
    assert "<code>score1</code>" in view.html() and "<code>a&lt;b</code>" in view.html()


def test_panels_and_choices_are_set_off_and_products_are_not(view):
    summary = "Bells (*Degrees* draws them): turn **Element**, read *Output*. 2 *k* and a*b*c."
    view.show_catalogue(replace(make_catalogue(), models=(make_info(summary=summary),)))
    view.set_state(State(model="d4-cnn"))
    assert "(<i>Degrees</i> draws them): turn <b>Element</b>, read <i>Output</i>. 2 *k* and a*b*c." in view.html()


def test_a_bracket_does_not_begin_a_line() -> None:
    assert with_indices("h = tanh( W_x x + b )") == "h = tanh(&nbsp;W<sub>x</sub> x + b&nbsp;)"


def test_a_string_over_lines_keeps_its_colour_on_each():
    made = python_as_html('def f():\n    """Say.\n\n    More.\n    """\n    return 1')
    coloured = [line for _, line in made if line.startswith('<span style="color:' + colours()["text"])]
    assert [indent for indent, _ in made] == [0, 4, 0, 4, 4, 4] and len(coloured) == 3


def test_a_page_as_narrow_as_its_dock_has_no_bar_to_scroll_it_sideways(view):
    """Lines of source were wider than the dock, and the bar took a line from what is read."""
    view.resize(284, 480)
    view.show()
    assert view.info is not None and len(max(view.info.source.splitlines(), key=len)) > 60
    assert view.page.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("δ^(l+1)", "δ<sup>l+1</sup>"),
        ("e^(b_f)", "e<sup>b<sub>f</sub></sup>"),
        ("f^l_m Y^l_m", "f<sup>l</sup><sub>m</sub> Y<sup>l</sup><sub>m</sub>"),
        ("D^−½ A", "D<sup>−½</sup> A"),
        ("x_p¹E", "x<sub>p</sub>¹E"),
        ("softmax_j(q_t)", "softmax<sub>j</sub>(q<sub>t</sub>)"),
    ],
)
def test_indices_in_brackets_with_signs_and_above_each_other_are_set(plain: str, shown: str) -> None:
    assert with_indices(plain) == shown


def test_no_equation_of_a_lesson_keeps_the_marks_of_its_indices() -> None:
    for path in sorted(LESSONS.glob("*.json")):
        left = re.sub(r"<[^>]*>", "", with_indices(json.loads(path.read_text(encoding="utf-8")).get("equation", "")))
        assert not re.search(r"[_^]", left), f"{path.name}: {left}"
