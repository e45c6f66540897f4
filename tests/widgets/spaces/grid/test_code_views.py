"""The code book and the token canvas: what is asked about, what is shown of it, and what is wished for."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from explorer.spaces.grid.drawing.tokens import Candidate, CanvasPart, CodebookPart
from explorer.square.frame import Frame
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.base.text.words import percent
from widgets.figures.export import export_view
from widgets.spaces.grid.views.canvas import CanvasView
from widgets.spaces.grid.views.codebook import CodebookView

RNG = np.random.default_rng(0)
CODES = 5


def with_part(part: object, **state: object) -> Frame:
    made = make_frame()
    return replace(
        made,
        state=replace(made.state, **state),
        squares=(replace(made.squares[0], part=part),),  # type: ignore[arg-type]
    )


def book() -> CodebookPart:
    shares = RNG.random((2, 3, CODES)).astype(np.float32)
    return CodebookPart(
        np.arange(6).reshape(2, 3) % CODES, np.zeros((2, 3), np.int64), shares / shares.sum(-1, keepdims=True),
        RNG.random((CODES, 3, 4, 4)).astype(np.float32), np.array([0.5, 0.25, 0.25, 0, 0], np.float32), 0.5,
    )  # fmt: skip


def canvas() -> CanvasPart:
    following = RNG.random((6, CODES)).astype(np.float32)
    attention = RNG.random((2, 6, 3)).astype(np.float32)
    return CanvasPart(
        ("a", "red", "square"), np.array([[1, 2, 3], [4, 0, 0]]), 1, 4, following / following.sum(-1, keepdims=True),
        {"one": attention, "two": attention * 0}, np.zeros((3, 8, 12), np.float32),
        RNG.random((CODES, 3, 4, 4)).astype(np.float32),
        (Candidate(np.zeros((3, 8, 12), np.float32), -1.0), Candidate(np.ones((3, 8, 12), np.float32), -2.5)),
    )  # fmt: skip


def click(qtbot: QtBot, board, tile: int, right: float, down: float) -> None:
    box = board.tiles[tile].box
    at = QPoint(round(box.left() + box.width() * right), round(box.top() + box.height() * down))
    qtbot.mouseClick(board, Qt.MouseButton.LeftButton, pos=at)


@pytest.fixture(params=["light", "dark"])
def dressed(request):
    theme.use(request.param)
    yield
    theme.use("light")


def test_the_book_tells_usage_then_the_distribution_at_a_place(qtbot: QtBot, dressed) -> None:
    view, part = CodebookView(), book()
    qtbot.addWidget(view)
    view.resize(700, 300)
    view.show()
    view.set_frame(with_part(part))
    assert [t.note for t in view.book.tiles] == ["50.0 %", "25.0 %", "25.0 %", "0", "0"]
    assert "3 of them used" in view.words.text() and f"perplexity {2**1.5:.1f}" in view.words.text()
    click(qtbot, view.pictures, 0, 0.9, 0.9)  # row 1, column 2
    assert view.book.tiles[0].note == f"{100 * part.shares[1, 2, 0]:.1f} %"
    assert [k for k, t in enumerate(view.book.tiles) if t.marked is not None] == [0]
    click(qtbot, view.book, 1, 0.5, 0.5)
    heat = view.pictures.tiles[0].heat
    assert heat is not None and np.array_equal(heat, part.codes == 1)


def test_the_canvas_shows_the_next_code_and_the_words(qtbot: QtBot, dressed) -> None:
    view, part = CanvasView(), canvas()
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show()
    view.set_frame(with_part(part))
    now = view.picture.tiles[1]
    assert now.marked == (1, 1) and now.hidden is not None and now.hidden.sum() == 2
    assert not now.note and view.line.text().startswith("1 codes given, 3 made, 2 to come.")  # below it, it was cut
    best = np.argsort(-part.next[4])
    assert [t.title for t in view.codes.tiles] == [str(k) for k in best]
    assert all(t.marked is None for t in view.codes.tiles)
    np.testing.assert_allclose(view.attention(part, 4), part.attention["one"][:, 4].mean(0) / 2, rtol=1e-6)
    view.layer.setCurrentText("one")
    np.testing.assert_allclose(view.attention(part, 4), part.attention["one"][:, 4].mean(0), rtol=1e-6)
    assert "square" in view.words.text() and "the next one" in view.line.text()
    click(qtbot, view.picture, 1, 0.5, 0.1)  # row 0, column 1: code 2
    assert [t.title for t in view.codes.tiles if t.marked is not None] == ["2"]
    assert [t.note for t in view.candidates.tiles] == ["score −1.00", "score −2.50"]


def test_the_buttons_ask_for_another_number_of_codes(qtbot: QtBot) -> None:
    view = CanvasView()
    qtbot.addWidget(view)
    view.show()
    view.set_frame(with_part(canvas(), params=(("seed", 3.0), ("made", 4.0))))
    for button, made in ((view.more, 5.0), (view.fewer, 3.0), (view.all, 6.0)):
        with qtbot.waitSignal(view.wished) as wish:
            button.click()
        assert wish.args[0].changes["params"] == (("seed", 3.0), ("made", made))


@pytest.mark.parametrize("make", [CanvasView, CodebookView])
def test_an_ordinary_network_gets_a_sentence(qtbot: QtBot, make) -> None:
    view = make()
    qtbot.addWidget(view)
    view.show()
    view.set_frame(make_frame())
    assert "This network" in view.pages.label.text() and view.numbers() == {} and view.caption() == ""


def test_shares_beside_each_other_have_room() -> None:
    shares = {1.0: "100 %", 0.99951: "100 %", 0.999: "99.9 %", 0.25: "25.0 %", 3e-4: "< 0.1 %", 0.0: "0"}
    assert {share: percent(share) for share in shares} == shares, "a code that is used at all is not said to be unused"


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="pdftoppm is not installed")
@pytest.mark.parametrize(("made", "part"), [(CodebookView, book), (CanvasView, canvas)])
def test_a_pdf_of_tiles_is_well_formed(qtbot: QtBot, tmp_path: Path, made: type, part) -> None:
    view = made()
    qtbot.addWidget(view)
    view.resize(640, 480)
    view.show()
    view.set_frame(with_part(part()))
    export_view(view, tmp_path / "f.pdf")
    read = subprocess.run(["pdftoppm", "-r", "20", tmp_path / "f.pdf", tmp_path / "f"], capture_output=True, text=True)
    assert read.returncode == 0 and read.stderr == ""
