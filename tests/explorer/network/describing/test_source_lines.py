"""The lines of source that make a layer and compute it."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest
from torch import nn

from explorer.declare.telling.excerpt import Excerpt
from explorer.network.describing.source_lines import excerpts
from explorer.network.opening.loading import file_card, load_model
from models.images.planted_faults import SymmetricCNN

NET = """
from torch import nn

INPUT_SHAPE = (1, None, None)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x) + x


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.other = nn.Conv2d(1, 4, 3), nn.ReLU()


class Net(Base):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()
        self.layers.append(Block(4))
        self.stack = nn.Sequential(
            nn.Conv2d(4, 4, 1),
            nn.Sequential(nn.ReLU(), nn.Conv2d(4, 4, 3)),
        )
        self.add_module("last", nn.ReLU())

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return self.last(self.stack(x))
"""

ODD = """
from torch import nn

INPUT_SHAPE = (1, None, None)


def again(function):
    return function


class Inner(nn.Module):
    def backward(self, x):
        def forward(self, x):
            return x
        return x

    @again
    @again
    def forward(self, x):
        # a comment
        text = '''
at the border
'''

        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        '''
Told at the border.
'''
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> nn.Module:
    path = tmp_path_factory.mktemp("lines") / "net.py"
    path.write_text(NET)
    return load_model(file_card(path, "Net", trust=True))


def marked(found: Excerpt) -> list[str]:
    lines = NET.splitlines()
    return [lines[number - 1].strip() for number in found.marked]


@pytest.mark.parametrize(
    ("layer", "made", "called"),
    [
        ("first", ["self.first, self.other = nn.Conv2d(1, 4, 3), nn.ReLU()"], ["x = self.first(x)"]),
        ("layers.0", ["self.layers.append(Block(4))"], None),
        ("layers.0.act", ["self.act = nn.ReLU()"], ["return self.act(x) + x"]),
        ("stack.0", ["nn.Conv2d(4, 4, 1),"], ["return self.last(self.stack(x))"]),
        ("stack.1.1", ["nn.Sequential(nn.ReLU(), nn.Conv2d(4, 4, 3)),"], ["return self.last(self.stack(x))"]),
        ("last", ['self.add_module("last", nn.ReLU())'], ["return self.last(self.stack(x))"]),
    ],
)
def test_a_layer_has_the_lines_that_make_and_call_it(
    network: nn.Module, layer: str, made: list[str], called: list[str] | None
) -> None:
    found = excerpts(network, layer)
    assert marked(found[0]) == made
    if called is None:
        assert found[1].title == "Block.forward" and "self.act(x) + x" in found[1].text
    else:
        assert marked(found[1]) == called and found[1].title.startswith("called in ")
    for one in found:
        assert one.text.splitlines()[0].strip() == NET.splitlines()[one.first - 1].strip()


def test_the_network_itself_has_its_forward(network: nn.Module) -> None:
    assert [one.title for one in excerpts(network, "")] == ["Net.forward"]


def test_lines_are_those_that_were_run(network: nn.Module, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    made = load_model(file_card(path, "Net", trust=True))
    path.write_text("\n\n# another file by now\n")
    assert marked(excerpts(made, "first")[0]) == marked(excerpts(network, "first")[0])


def test_a_network_of_ours_has_lines_and_one_of_torch_has_none() -> None:
    found = excerpts(SymmetricCNN(), "conv2")
    assert "self.conv2 = nn.Conv2d(CHANNELS, CHANNELS, 3)" in found[0].text
    assert "self.conv2(" in found[1].text and found[1].marked
    assert excerpts(nn.Sequential(nn.Conv2d(1, 1, 3)), "0") == ()


def test_what_a_decorator_or_a_lambda_hides_is_no_error() -> None:
    class Odd(nn.Module):
        forward = None

    odd = Odd()
    odd.register_module("part", nn.ReLU())
    assert excerpts(odd, "part") == () and excerpts(odd, "") == ()


def test_no_tree_of_a_file_is_kept(tmp_path: Path) -> None:
    """A tree takes a hundred times what is shown of it, and those of sixteen files were kept."""
    path = tmp_path / "net.py"
    path.write_text(f"{NET}# a text that nothing else has read\n")
    network = load_model(file_card(path, "Net", trust=True))

    def trees() -> int:
        return sum(isinstance(type(one), type) and issubclass(type(one), ast.AST) for one in gc.get_objects())

    gc.collect()
    before = trees()
    assert len(excerpts(network, "first")) == 2
    gc.collect()
    assert trees() <= before


def test_a_method_is_read_by_itself(tmp_path: Path) -> None:
    """Texts in the first column, decorators, comments and another method of that name do not mislead."""
    path = tmp_path / "odd.py"
    path.write_text(ODD)
    model = load_model(file_card(path, "Net", trust=True))
    own = next(one for one in excerpts(model, "inner") if one.title == "Inner.forward")
    lines = [line.strip() for line in own.text.splitlines()]
    assert lines[0] == "def forward(self, x):" and "at the border" in lines and lines[-1] == "return x * 2"
    made = next(one for one in excerpts(model, "inner") if one.title.startswith("made"))
    assert made.text == "self.inner = Inner()" and ODD.splitlines()[made.first - 1].strip() == made.text
