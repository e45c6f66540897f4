"""The strip under the views says everything: whole sentences, guilty layers by effect, why there is no verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.base.text.words import verdict_colour_role
from widgets.views.stage import Stage
from widgets.window.bars.culprits import Whole, culprits
from widgets.window.bars.diagnosis import Diagnosis
from widgets.window.layer.symmetric import SymmetricPage
from widgets.window.main_window import MainWindow

SEVERAL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.weak, self.strong = nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x):
        return self.strong(1e-3 * self.weak(x) + x).relu().mean((2, 3))
"""
LOGARITHM = """
import torch
from torch import nn

class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.log, self.last = nn.Conv2d(1, 3, 3, padding=1), Log(), nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x):
        return self.last(self.log(self.first(x))).mean((2, 3))
"""
VARYING = """
import random
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(3, 1, 1)

    def forward(self, x):
        return self.pool(x) * random.random()
"""

TABLE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.table = nn.Parameter(torch.randn(29, 29))
        self.first, self.last = nn.Conv2d(1, 3, 1), nn.Linear(3, 2)

    def forward(self, x):
        return self.last(self.first(x + self.table).relu().mean((2, 3)))
"""

BIASED = """
import torch
from torch import nn

class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.bias = nn.Linear(8, 24), nn.Parameter(torch.randn(49, 49))

    def forward(self, t):
        q, k, v = self.qkv(t).chunk(3, -1)
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=self.bias)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.pool, self.patch, self.head = nn.AvgPool2d(4), nn.Conv2d(1, 8, 1), nn.Linear(8, 2)
        self.attend = Attend()

    def forward(self, x):
        return self.head(self.attend(self.patch(self.pool(x)).flatten(2).transpose(1, 2)).mean(1))

class Flat(Net):
    def __init__(self):
        super().__init__()
        self.qkv, self.bias = self.attend.qkv, self.attend.bias
        del self.attend

    def forward(self, x):
        return self.head(Attend.forward(self, self.patch(self.pool(x)).flatten(2).transpose(1, 2)).mean(1))
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS, trust=True)


@pytest.fixture
def opened(qtbot: QtBot, open_window: Open, tmp_path: Path) -> Callable[..., MainWindow]:
    def made(text: str, name: str = "Net") -> MainWindow:
        net = tmp_path / "net.py"
        net.write_text(text)
        window = open_window(State(f"{net}:{name}", device="cpu", steps=parse_chain("rotate:90")))
        settle(qtbot, window, measured=True)
        return window

    return made


def test_the_whole_sentence_and_every_guilty_layer_can_be_reached(
    qtbot: QtBot, opened: Callable[[str], MainWindow]
) -> None:
    window = opened(SEVERAL)
    window.resize(1024, 700)
    line = window.diagnosis

    def attributed() -> bool:
        frame = window.controller.frame
        assert frame is not None
        return all(frame.squares[0].measures[name].attributed is not None for name in ("weak", "strong"))

    qtbot.waitUntil(attributed, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: line.text.text().endswith("…"), timeout=LONGEST_MS)
    qtbot.mouseClick(line.more, Qt.MouseButton.LeftButton)
    whole = line.whole.text.text()
    assert "strong, weak: their filters are not symmetric" in whole and not whole.endswith("…")
    assert line.whole.text.heightForWidth(line.whole.text.width()) <= line.whole.text.height()
    chips = [chip.property("layer") for chip in line.whole.chips if chip.isVisible()]
    assert chips == ["strong", "weak"]
    # what it does to the answer is told by a derivative, which a large error does not follow
    assert all(" about " in chip.text() and chip.text().endswith(" of the answer") for chip in line.whole.chips)
    assert all("to first order" in chip.toolTip() for chip in line.whole.chips)
    qtbot.mouseClick(line.whole.chips[1], Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.controller.state.layer == "weak" and line.whole.chips[1].isChecked()
    qtbot.mouseClick(line.whole.chips[1], Qt.MouseButton.LeftButton)  # of the layer that is shown already
    assert line.whole.chips[1].isChecked()
    qtbot.mouseClick(line.next, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.controller.state.layer == "strong"
    qtbot.mouseClick(line.before, Qt.MouseButton.LeftButton)
    settle(qtbot, window, measured=True)
    assert window.controller.state.layer == "weak"
    qtbot.mouseClick(line.copy, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Broken by weak and strong — ") and copied.splitlines()[1].startswith("strong · cumul")


def test_of_two_networks_a_narrow_window_says_both_verdicts(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("faulty", compare="fine", device="cpu", steps=parse_chain("rotate:90")))
    settle(qtbot, window, measured=True)
    window.resize(1024, 700)
    line = window.diagnosis.text
    qtbot.waitUntil(lambda: line.text() == "faulty: broken   ·   fine: holds", timeout=LONGEST_MS)
    assert "Broken by" in line.toolTip() and "Holds at every layer" in line.toolTip()
    window.resize(2400, 900)
    qtbot.waitUntil(lambda: line.text() == line.toolTip(), timeout=LONGEST_MS)


def test_where_there_is_nothing_to_test_no_half_of_a_sentence_says_so(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu"))
    window.controller.set_steps(())
    settle(qtbot, window, measured=True)
    line = window.diagnosis
    line.text.setFixedWidth(line.text.fontMetrics().horizontalAdvance("Nothing to test yet"))
    line.show_stale("")  # it writes again
    assert line.text.text() == "Nothing to test" and line.button.isVisible() and "turn it" in line.text.toolTip()


def test_what_is_unfolded_is_dimmed_while_it_belongs_to_another_element(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("faulty", device="cpu", steps=parse_chain("rotate:90")))
    settle(qtbot, window, measured=True)
    line = window.diagnosis
    qtbot.mouseClick(line.more, Qt.MouseButton.LeftButton)
    (chip, *_), sentence = line.whole.chips, line.whole.text.text()
    assert chip.isEnabled() and not line.whole.veil.isVisible()
    line.show_stale("computing, 3 s")
    assert line.whole.veil.isVisible() and line.whole.veil.geometry() == line.whole.rect()
    assert line.text.text() == "Computing, 3 s" and line.whole.text.text() == sentence
    assert not chip.isEnabled() and not line.copy.isEnabled()
    line.show_stale("")
    assert chip.isEnabled() and line.copy.isEnabled() and not line.whole.veil.isVisible()


def test_layers_without_a_known_effect_come_last(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("faulty", device="cpu", steps=parse_chain("rotate:90")))
    settle(qtbot, window, measured=True)
    frame = window.controller.frame
    assert frame is not None
    square = frame.squares[0]
    names = list(square.measures)[:3]
    values = (0.1, None, 0.3)
    measures = {
        name: replace(square.measures[name], attributed=value, local=9.0)
        for name, value in zip(names, values, strict=True)
    }
    made = replace(square, guilty=tuple(names), measures=measures)
    assert culprits(made) == (names[2], names[0], names[1])


def test_a_network_that_gives_nan_is_shown_up_to_there(qtbot: QtBot, opened: Callable[[str], MainWindow]) -> None:
    window = opened(LOGARITHM)
    frame = window.controller.frame
    assert frame is not None
    square = frame.squares[0]
    assert [layer.name for layer in square.layers] == ["first", "log"]
    line = window.diagnosis
    told = "No number: log gives NaN or infinite values"
    line.text.setFixedWidth(line.text.fontMetrics().horizontalAdvance(told) + 9)
    line.show_stale("")  # it writes again
    assert line.text.text() == told  # and not "No number" where there is room
    qtbot.mouseClick(line.more, Qt.MouseButton.LeftButton)
    assert line.whole.text.text().startswith("Layer log gave NaN or infinite values on this input: ")
    assert "what it was given is finite" in line.whole.text.text() and verdict_colour_role(square) == "bad"
    window.controller.change({"layer": "log"})
    settle(qtbot, window, measured=True)
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage) and stage.rows[0].readout.verdict == "no verdict"
    assert not window.infobar.isVisible() or "NaN" not in window.infobar.text.text()


def test_a_network_that_varies_is_said_to(opened: Callable[[str], MainWindow]) -> None:
    window = opened(VARYING)
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].verdict != "holds"
    assert "the network gives another answer to the same input from call to call" in window.diagnosis.text.toolTip()


def test_a_sentence_has_the_room_of_a_button_that_went(qtbot: QtBot) -> None:
    line = Diagnosis()
    qtbot.addWidget(line)
    line.resize(760, 40)
    line.show()
    frame = make_frame()
    measures = {name: replace(m, exact=False, verdict="no law") for name, m in frame.squares[0].measures.items()}
    resampled = replace(frame.squares[0], verdict="no law", guilty=(), measures=measures)
    line.show_frame(replace(frame, squares=(resampled,)))
    assert line.button.isVisible() and line.text.text().startswith("This element puts values between places")
    why = "a part of x that counts in the answer is cut off: there is an error to read, and no verdict"
    line.show_frame(replace(frame, squares=(replace(resampled, cut_off=why),)))
    assert not line.button.isVisible() and line.text.text() == f"A{why[1:]}."


def test_layers_without_a_verdict_are_counted_and_lead_to_an_exact_element(qtbot: QtBot) -> None:
    line = Diagnosis()
    qtbot.addWidget(line)
    line.resize(900, 40)
    line.show()
    frame = make_frame()
    square = frame.squares[0]
    last = square.layers[-1].name
    measures = {
        name: replace(m, exact=name == last, verdict="broken" if name == last else "no law")
        for name, m in square.measures.items()
    }
    partly = replace(square, verdict="broken", guilty=(), hints=(), measures=measures)
    line.show_frame(replace(frame, squares=(partly,)))
    assert f"no verdict at {len(measures) - 1} of {len(square.layers)} layers" in line.text.toolTip()
    assert line.button.isVisible() and line.button.text() == "Nearest exact element"
    with qtbot.waitSignal(line.exact_asked):
        qtbot.keyClick(line.button, Qt.Key.Key_Space)
    everywhere = {name: replace(m, exact=True) for name, m in measures.items()}
    line.show_frame(replace(frame, squares=(replace(partly, measures=everywhere),)))
    assert not line.button.isVisible() and "between places" not in line.text.toolTip()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_dot_is_green_only_where_no_network_is_broken(qtbot: QtBot, order: tuple[int, int]) -> None:
    line = Diagnosis()
    qtbot.addWidget(line)
    frame = make_frame()
    sides = replace(frame.squares[0], verdict="holds", guilty=()), replace(frame.squares[0], verdict="broken")
    line.show_frame(replace(frame, squares=tuple(sides[k] for k in order)))
    assert theme.current().bad in line.dot.styleSheet()
    line.show_frame(replace(frame, squares=(sides[0],) * 2))
    assert theme.current().good in line.dot.styleSheet()


def test_the_guilty_layers_are_seen_beside_a_sentence_of_any_length(qtbot: QtBot) -> None:
    """They stood below it, where 21 layers with their hints left nothing of them in sight."""
    whole = Whole()
    qtbot.addWidget(whole)
    whole.resize(505, whole.height())
    with qtbot.waitExposed(whole):
        whole.show()
    whole.show_square("their filters are not symmetric under quarter turns; " * 20, make_frame().squares[0], "lift")
    qtbot.waitUntil(lambda: whole.chips[0].visibleRegion().boundingRect() == whole.chips[0].rect())
    assert not whole.text.geometry().intersects(whole.chips[0].parentWidget().geometry())


def test_where_no_layer_makes_the_fault_a_symmetric_version_is_offered_of_what_it_first_shows_in(
    qtbot: QtBot, opened: Callable[[str], MainWindow]
) -> None:
    """Of a table of positions in a forward `check --try` offered the mean, and the window nothing."""
    window = opened(TABLE)
    line = window.diagnosis
    assert line.text.text().startswith("Broken from first on")
    at_fault = "alone first obeys its law: what it is given is at fault"  # told in idle time
    qtbot.waitUntil(lambda: at_fault in line.text.toolTip(), timeout=LONGEST_MS)
    assert line.button.isVisible() and line.button.text() == "Try a symmetric version"
    menu = QMenu()
    qtbot.addWidget(menu)
    window.layer_menu.refill(menu)
    texts = [action.text() for action in menu.actions()]
    assert "Try a symmetric version of first…" in texts
    qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    page = window.findChild(SymmetricPage)
    assert page is not None and page.layer == "first"
    qtbot.waitUntil(lambda: page.complete, timeout=LONGEST_MS)
    assert [one.intervention for one in page.outcomes if one.mended] == ["first:symmetrise=positions,C4"]
    qtbot.mouseClick(page.buttons["first:symmetrise=positions,C4"], Qt.MouseButton.LeftButton)
    settle(qtbot, window, measured=True)
    assert line.text.text().startswith("Holds at every layer (with 1 intervention)")


def test_of_what_no_module_returns_the_layer_that_makes_it_is_made_symmetric(
    qtbot: QtBot, opened: Callable[..., MainWindow]
) -> None:
    """A version of attention.attention was offered, of which every experiment said that there is none."""
    window = opened(BIASED)
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].measures["attend.attention"].verdict == "broken"
    menu = QMenu()
    qtbot.addWidget(menu)
    window.layer_menu.fill(menu, "attend.attention")
    (attempt,) = [action for action in menu.actions() if action.text().startswith("Try a symmetric version")]
    assert attempt.text() == "Try a symmetric version of attend, which makes it…"
    attempt.trigger()
    page = window.findChild(SymmetricPage)
    assert page is not None and page.layer == "attend"
    qtbot.waitUntil(lambda: page.complete, timeout=LONGEST_MS)
    assert any(one.mended for one in page.outcomes)


def test_where_the_network_itself_makes_the_fault_no_symmetric_version_is_offered(
    qtbot: QtBot, opened: Callable[..., MainWindow]
) -> None:
    window = opened(BIASED, "Flat")
    frame = window.controller.frame
    assert frame is not None and culprits(frame.squares[0]) == ("attention",)
    assert not window.diagnosis.button.isVisible()
    menu = QMenu()
    qtbot.addWidget(menu)
    window.layer_menu.fill(menu, "attention")
    assert not [action.text() for action in menu.actions() if "symmetric version" in action.text()]
