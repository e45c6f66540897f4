"""Attention of a network of somebody's own over an image, as a matrix between its patches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.spaces.grid.drawing.patches import PatchesPart
from explorer.square.frame import Frame
from explorer.state.state import State
from tests.widgets.parts.driving.view_driving import opened
from widgets.spaces.pairs.fields import channel_of, head_of
from widgets.spaces.pairs.views.pairs import PairsView

NETWORK = """
import torch
from torch import nn

INPUT_SHAPE = (1, 12, 12)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.norm = nn.Conv2d(1, 6, 4, 4), nn.LayerNorm(6)
        self.last = nn.Parameter(torch.randn(1, 1, 6))
        self.attend = nn.MultiheadAttention(6, 2, batch_first=True)
    def forward(self, x):
        t = torch.cat([self.embed(x).flatten(2).transpose(1, 2), self.last.expand(len(x), -1, -1)], 1)
        t = self.norm(t)
        return (t + self.attend(t, t, t, need_weights=False)[0])[:, -1]
"""


def frame(tmp_path: Path, layer: str) -> Frame:
    file = tmp_path / "net.py"
    file.write_text(NETWORK)
    steps = parse_chain("translate:4,0")
    return LocalEngine({}, trust=True).answer(
        State(f"{file}:Net", sample="digit-3", steps=steps, layer=layer), lambda: False
    )


def test_heads_stand_beside_each_other_before_and_after(qtbot: QtBot, tmp_path: Path) -> None:
    given = frame(tmp_path, "attend.attention")
    part = given.squares[0].of(PatchesPart)
    assert part is not None and part.values is not None and part.difference is not None
    # token 0 has gone one patch to the right, the last one of the row to its beginning, the class token nowhere
    np.testing.assert_array_equal(part.order, [1, 2, 0, 4, 5, 3, 7, 8, 6, 9])
    assert np.abs(part.difference).max() < 1e-6 and np.ptp(part.values) > 1e-3
    view = PairsView()
    opened(qtbot, view, 1280, 500)
    view.set_frame(given)
    assert [view.controls.field.itemText(k) for k in range(view.controls.field.count())] == ["attend.attention"]
    panels = [panel for group in view.canvas.groups for panel in group]
    assert len(panels) >= 2 and all(panel.matrix.n == 10 for panel in panels)
    assert "moves with the tokens" in view.words.text()
    assert panels[0].name(0) == "patch 0, 0" and panels[0].name(9) == "extra 1"


def test_a_head_is_its_first_channel_on_the_stage(tmp_path: Path) -> None:
    square = frame(tmp_path, "attend.attention").squares[0]
    assert square.fx.shape == (20, 3, 3)
    assert channel_of(square, 1) == 10 and head_of(square, 19) == 1 and channel_of(square, None) is None
