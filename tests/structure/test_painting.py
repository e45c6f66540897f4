"""Painted code does not grow without anybody noticing."""

from __future__ import annotations

from tests.structure.painting import counted, painted

MOST = 973  # lines; 3,306 before pyqtgraph, see docs/dependencies.md. Lower it with what is converted

EXAMPLE = '''
class Item:
    def paint(self, p):
        """Two lines of layout count, too."""
        for box in self.boxes:
            p.drawRect(box)
        p.fillRect(self.box, self.ink)

    def place(self):
        self.board.draw(self.p)

    def outer(self):
        def inner():
            p.strokePath(path, pen)
        inner()
'''


def test_the_count_is_of_whole_functions() -> None:
    assert painted(EXAMPLE) == (5 + 4, 3)
    assert painted("def f(p):\n    p.setPen(1)\n    draw(p)\n    p.draw(1)\n    p.drawn(2)\n") == (0, 0)


def test_not_more_is_painted_by_hand() -> None:
    found = counted()
    lines = sum(here for here, _ in found.values())
    assert found["spaces/graph/drawing/painting.py"][0] > 100, "the counter finds what is painted"
    assert lines <= MOST, (
        f"{lines} lines of functions paint by hand, {MOST} are allowed: use an item of Qt, pyqtgraph or "
        f"widgets/charts/scene instead. By file: {dict(list(found.items())[:8])}"
    )
