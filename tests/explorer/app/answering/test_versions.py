"""A network whose file is edited: made again when it runs, left as it was when it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.network.opening.files.looking import code_in
from explorer.network.opening.files.trust import Trust
from explorer.square.frame import Frame
from explorer.state.state import State

NET = """
from torch import nn
from blocks import block

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = block()
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        return self.conv2(self.conv1(x).relu())
"""
BLOCKS = """
from torch import nn

def block():
    return nn.Conv2d(1, 4, 3, padding=1)
"""
SYMMETRIC = """
import torch
def block():
    from torch import nn
    made = nn.Conv2d(1, 4, 3, padding=1)
    made.weight.data[:] = 0.1
    return made
"""


NESTED = """
from torch import nn

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Conv2d(4, 4, 7, padding=3)

    def forward(self, x):
        return x + self.wide(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Conv2d(1, 4, 1)
        self.mixer = Mixer()

    def forward(self, x):
        return self.mixer(self.lift(x))
"""


class Edited:
    """A file under edit, and the engine that shows its network."""

    def __init__(self, folder: Path) -> None:
        self.net, self.blocks = folder / "net.py", folder / "blocks.py"
        self.net.write_text(NET)
        self.blocks.write_text(BLOCKS)
        self.engine = LocalEngine({}, trust=True)
        self.state = State(f"{self.net}:Net", sample="digit-1", steps=(Step("rotate", (90.0,)),), layer="conv1")

    def answer(self, name: str = "") -> Frame:
        state = State(name or self.state.model, sample="digit-1", steps=self.state.steps, layer="conv1")
        frame = self.engine.answer(state, lambda: False)
        for more in self.engine.refine(frame):
            frame = more
        return frame


def errors(frame: Frame) -> dict[str, float | None]:
    return {name: measure.cumulative for name, measure in frame.squares[0].measures.items()}


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path)


def test_a_helper_that_changed_is_run_again(edited: Edited) -> None:
    first = edited.answer()
    assert str(edited.blocks) in dict(first.files) and not first.reloaded
    assert "conv1" in first.squares[0].guilty
    edited.blocks.write_text(SYMMETRIC)
    after = edited.answer()
    assert "conv1" not in after.squares[0].guilty
    assert {n: m.cumulative for n, m in after.squares[0].before.items()} == errors(first)
    assert len(after.reloaded) == 1 and after.reloaded[0].startswith("net.py was run again: ")


def test_what_broke_the_law_before_the_edit_is_the_layer_that_was_named_then(edited: Edited) -> None:
    edited.net.write_text(NESTED)
    first = edited.answer().squares[0]
    assert first.guilty == ("mixer.wide",) and first.measures["mixer"].verdict == "broken"
    edited.net.write_text(NESTED.replace("7, padding=3", "1"))
    after = edited.answer().squares[0]
    assert after.guilty == () and after.guilty_before == ("mixer.wide",)


def test_a_file_saved_twice_in_a_second_with_as_many_letters_is_run_as_it_is(
    edited: Edited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for size in (3, 5, 7):
        edited.blocks.write_text(BLOCKS.replace("1, 4, 3, padding=1", f"1, 4, {size}, padding={size // 2}"))
        edited.answer()
        network = edited.engine.network(edited.state, edited.state.model)
        assert network.get_submodule("conv1").kernel_size == (size, size)


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("net", NET.replace("self.conv1(x)", "self.conv1(x"), "net.py, line 12: SyntaxError: '(' was never closed"),
        ("net", NET.replace("4, 4, 3", "4, 4, three"), "net.py, line 9: NameError: name 'three' is not defined"),
        ("net", NET.replace("relu()", "reluctant()"), "net.py, line 12: the network's forward raised AttributeError"),
        ("blocks", BLOCKS + "\n\n1 / 0", "blocks.py, line 8: ZeroDivisionError"),
        ("blocks", BLOCKS.replace("1, 4", "1, 5"), "net.py, line 12: "),
    ],
)
def test_a_broken_file_leaves_the_network_as_it_was(edited: Edited, file: str, text: str, told: str) -> None:
    first = edited.answer()
    path: Path = getattr(edited, file)
    good = path.read_text()
    path.write_text(text)
    broken = edited.answer()
    assert broken.stale is not None and broken.stale.sentence.startswith(told), broken.stale
    assert errors(broken) == errors(first) and not broken.reloaded
    assert edited.answer().stale is not None
    path.write_text(good + "\n")
    mended = edited.answer()
    assert mended.stale is None and mended.reloaded


def test_a_new_helper_that_is_broken_is_watched(edited: Edited) -> None:
    edited.answer()
    more = edited.net.with_name("more.py")
    more.write_text("def (")
    edited.net.write_text("import more\n" + NET)
    broken = edited.answer()
    assert broken.stale is not None and broken.stale.sentence.startswith("more.py, line 1: SyntaxError")
    assert str(more) in dict(broken.files)
    more.write_text("")
    assert edited.answer().stale is None


def test_weights_of_a_file_stay_where_they_fit(edited: Edited, tmp_path: Path) -> None:
    edited.answer()
    network = edited.engine.network(edited.state, edited.state.model)
    save_file({k: torch.full_like(v, 0.5) for k, v in network.state_dict().items()}, tmp_path / "w.safetensors")
    name = f"{edited.state.model}@{tmp_path / 'w.safetensors'}"
    edited.answer(name)
    edited.net.write_text(NET.replace("4, 4, 3, padding=1", "4, 4, 5, padding=2"))
    after = edited.answer(name)
    assert "1 of" not in after.reloaded[0] and "3 of 4 tensors are as before" in after.reloaded[0]
    assert "conv2.weight" in after.reloaded[0] and after.model_notes
    made = edited.engine.network(edited.state, name)
    assert isinstance(made, nn.Module) and bool((made.get_parameter("conv1.weight") == 0.5).all())


LATER = NET.replace("self.conv1", "self.first = nn.Linear(3, {wide})\n        self.conv1", 1)


def test_layers_that_an_edit_leaves_as_they_are_keep_their_random_weights(edited: Edited) -> None:
    edited.net.write_text(LATER.format(wide=4))
    edited.answer()
    before = edited.engine.network(edited.state, edited.state.model).state_dict()
    edited.net.write_text(LATER.format(wide=7))  # draws other numbers before all others
    after = edited.answer()
    now = edited.engine.network(edited.state, edited.state.model).state_dict()
    assert now["first.weight"].shape == (7, 3)
    kept = [name for name in before if not name.startswith("first.")]
    assert kept and all(torch.equal(before[name], now[name]) for name in kept)
    assert f"{len(kept)} of {len(now)} tensors are as before" in after.reloaded[0]


def test_a_file_that_seeds_the_generator_draws_what_it_draws_anywhere(edited: Edited) -> None:
    edited.net.write_text("import torch\n" + NET.replace("self.conv1", "torch.manual_seed(0)\n        self.conv1", 1))
    edited.answer()
    made = edited.engine.network(edited.state, edited.state.model)
    torch.manual_seed(0)
    alone = nn.Conv2d(1, 4, 3, padding=1)
    assert made.get_parameter("conv1.weight").shape == alone.weight.shape
    torch.testing.assert_close(made.get_parameter("conv1.weight"), alone.weight)
    plain = nn.init.kaiming_uniform_
    assert plain.__module__ == "torch.nn.init" and not hasattr(plain, "__wrapped__")


def test_what_was_never_trusted_is_not_run(edited: Edited, tmp_path: Path) -> None:
    edited.answer()
    edited.engine.trust = Trust()
    edited.net.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + NET)
    stale = edited.answer().stale
    assert stale is not None and "Python code" in str(stale) and stale.untrusted == edited.answer().state.model
    other = tmp_path / "other.py"
    other.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + NET)
    with pytest.raises(ValueError, match="trust"):
        edited.answer(f"{other}:Net")
    assert not (tmp_path / "ran").exists()


def test_what_is_allowed_later_runs_though_the_file_is_as_it_was(edited: Edited) -> None:
    edited.answer()
    edited.engine.trust = Trust()
    edited.net.write_text(f"{NET}# saved\n")
    refused = edited.answer()
    assert refused.asks and refused.stale is not None and not refused.reloaded
    edited.engine.trust.contents.update(digest for _, digest in code_in(edited.net))
    allowed = edited.answer()
    assert allowed.stale is None and allowed.reloaded


def test_a_network_that_no_longer_says_what_it_takes_is_run_on_what_it_took(edited: Edited) -> None:
    own = BLOCKS + (
        "\nclass Own(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.weight = nn.Parameter(nn.Conv2d(1, 4, 3).weight.data)\n"
        "    def forward(self, x):\n        return nn.functional.conv2d(x, self.weight, padding=1)\n"
    )
    edited.blocks.write_text(own)
    edited.answer()
    edited.net.write_text(NET.replace("block()", "Own()").replace("import block", "import Own").replace(
        "nn.Conv2d(4, 4, 3, padding=1)", "nn.Identity()"))  # fmt: skip
    after = edited.answer()
    assert after.stale is None and after.reloaded
