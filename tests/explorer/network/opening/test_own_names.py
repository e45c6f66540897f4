"""A person's modules that are called as packages of a checkout are: `from models import Net` is what people write."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from torch import nn

import models
from explorer.network.opening.helpers import forget
from explorer.network.opening.loading import find_card, load_model
from models.layers.taps import Tap

NET = """
    from torch import nn

    class Net(nn.Module):
        WIDTH = {}

        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, self.WIDTH, 3)

        def forward(self, x):
            return self.conv(x)
"""


def write(folder: Path, **files: str) -> Path:
    """Write Python files by name, and return the path of the one called net."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))
    return folder / "net.py"


def opened(path: Path) -> nn.Module:
    """Return the network that make() of a file makes."""
    return load_model(find_card(f"{path}:make", {}, trust=True))


@pytest.fixture(autouse=True)
def ours_again(tmp_path: Path) -> Iterator[None]:
    """Let modules of the names be ours again: of a file in another folder nothing is left."""
    yield
    opened(write(tmp_path / "last", net=f"{dedent(NET.format(1))}\nmake = Net"))
    assert sys.modules["models"] is models


def test_a_module_beside_goes_before_ours(tmp_path: Path) -> None:
    net = write(tmp_path, net="from models import Net as make", models=NET.format(2))
    assert opened(net).conv.out_channels == 2
    assert sys.modules["models"] is not models, "inspect looks there for the lines of theirs"
    assert sys.modules["models.layers.taps"].Tap is Tap


def test_packages_with_parts_of_the_same_names_and_ours_beside(tmp_path: Path) -> None:
    write(tmp_path / "models", __init__="from models.layers import Net", layers=NET.format(3))
    net = write(tmp_path, net="from models import Net as make\nfrom models.layers import Net as Same")
    assert opened(net).conv.out_channels == 3
    assert "models.layers.taps" in sys.modules and models.layers.taps.Tap is Tap


def test_a_module_that_is_imported_while_the_network_is_made(tmp_path: Path) -> None:
    net = write(tmp_path, net="def make():\n    from main import Net\n    return Net()", main=NET.format(4))
    assert opened(net).conv.out_channels == 4


def test_a_folder_that_the_file_itself_puts_on_the_path_last(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", models=NET.format(5))
    text = f"import sys\nsys.path.append({str(tmp_path / 'elsewhere')!r})\nfrom models import Net as make"
    try:
        assert opened(write(tmp_path, net=text)).conv.out_channels == 5
    finally:
        sys.path.remove(str(tmp_path / "elsewhere"))


def test_ours_where_there_is_no_other(tmp_path: Path) -> None:
    ours = "from models.layers.taps import Tap\nimport models.layers.points.geometry"
    net = write(tmp_path, net=f"{ours}\n{dedent(NET.format(6))}    tap = Tap\nmake = Net")
    (tmp_path / "models").mkdir()  # where people keep weights: no package
    assert opened(net).tap is Tap is sys.modules["models.layers.taps"].Tap


def test_a_change_in_a_module_beside_is_seen(tmp_path: Path) -> None:
    net = write(
        tmp_path, net="from main import Net\nfrom models import Net as make", models=NET.format(2), main=NET.format(1)
    )
    assert opened(net).conv.out_channels == 2
    assert {"main", "models"} <= set(forget(net))
    write(tmp_path, models=NET.format(7))
    assert opened(net).conv.out_channels == 7
