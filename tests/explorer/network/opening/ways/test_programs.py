"""Files that hold a network and its code: refused without a word of trust, run with it, told where they cannot be."""

from __future__ import annotations

import os
import pickle
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.network.opening.files.looking import code_in, contents
from explorer.network.opening.files.trust import Trust
from explorer.network.opening.loading import find_card, load_model
from explorer.network.opening.refusals import ModelError, Untrusted
from explorer.state.state import State

NET = """
from torch import nn

LABELS = ("up", "down")

class Net(nn.Module):
    def __init__(self, padding_mode="circular", stride=1):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 4, 3, stride, 1, padding_mode=padding_mode), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))
"""


@pytest.fixture
def definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Write a module with a network, of a name that nobody else imports, and import it."""
    name = f"netdef_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(NET)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__(name)
    sys.modules.pop(name, None)


def exported(net: nn.Module, path: Path) -> None:
    torch.export.save(torch.export.export(net, (torch.randn(1, 2, 8, 8),)), path)


def open_sizes(net: nn.Module, path: Path) -> None:
    sizes = {0: torch.export.Dim.DYNAMIC, 2: torch.export.Dim.DYNAMIC, 3: torch.export.Dim.DYNAMIC}
    torch.export.save(torch.export.export(net, (torch.randn(2, 2, 8, 8),), dynamic_shapes={"x": sizes}), path)


def scripted(net: nn.Module, path: Path) -> None:
    torch.jit.save(torch.jit.script(net), path)


def old_pickle(net: nn.Module, path: Path) -> None:
    torch.save(net, path, _use_new_zipfile_serialization=False)


def in_a_checkpoint(net: nn.Module, path: Path) -> None:
    torch.save({"epoch": 3, "model": net.half()}, path)


PROGRAMS: dict[str, tuple[str, Callable[[nn.Module, Path], None], bool]] = {
    "exported": ("net.pt2", exported, True),
    "exported with open sizes": ("net.pt2", open_sizes, True),
    "scripted": ("net.ts", scripted, False),
    "traced": ("net.pt", lambda net, path: torch.jit.save(torch.jit.trace(net, torch.randn(1, 2, 8, 8)), path), False),
    "pickled": ("net.pt", torch.save, True),
    "pickled long ago": ("net.pth", old_pickle, True),
    "in a checkpoint, half": ("net.pt", in_a_checkpoint, True),
}


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("padding", ["circular", "zeros"])
def test_a_program_runs_once_it_is_trusted(kind: str, padding: str, definition: ModuleType, tmp_path: Path) -> None:
    name, write, layered = PROGRAMS[kind]
    path = tmp_path / name
    torch.manual_seed(1)
    net = definition.Net(padding).eval()
    x = torch.randn(1, 2, 8, 8)
    wanted = net(x).detach()
    write(net, path)
    with pytest.raises(Untrusted, match=r"executes what lies in it.*--trust"):
        find_card(str(path), {})
    engine = LocalEngine({}, trust=Trust(contents={digest for _, digest in code_in(path)}))
    made = load_model(engine.card(str(path)))
    assert torch.allclose(made.float()(x), wanted, atol=2e-3)  # half has ten bits
    (report,) = audit(engine, State(str(path), sample="random:1x2x8x8"), "translation", "float64", None, {})
    assert (report.verdict, report.dtype) == ("holds" if padding == "circular" else "broken", "float64")
    assert ("body.0" in {row.name for row in report.layers}) == layered
    if layered:
        assert report.guilty == (() if padding == "circular" else ("body.0",))
        assert {row.name: row.kind for row in report.layers}["body.0"] == "Conv2d"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in made.modules())


def test_a_program_for_one_image_is_checked_one_by_one(definition: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    exported(definition.Net().eval(), path)
    engine = LocalEngine({}, trust=True)
    (report,) = audit(engine, State(str(path)), "translation", "float64", None, {})
    assert report.verdict == "holds" and report.samples == 4


def test_another_content_beside_a_pickle_is_not_trusted(definition: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    torch.save(definition.Net(), path)
    code = code_in(path)
    assert [Path(file).name for file, _ in code] == ["net.pt", f"{definition.__name__}.py"]
    trust = Trust(contents={digest for _, digest in code})
    assert trust.allows(path)
    Path(code[1][0]).write_text(NET + "print('other')\n")
    assert not trust.allows(path)


class OfThisFile(nn.Module):
    pass


def refused(path: Path, *parts: str) -> None:
    with pytest.raises(ModelError) as caught:
        find_card(str(path), {}, trust=True)
    for part in parts:
        assert part in str(caught.value)


def test_what_is_no_program_is_told(definition: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.pt"
    refused(path, "there is no file")
    torch.save(definition.Net().state_dict(), path)
    refused(path, "holds weights and no network", "d4-cnn@")
    torch.save({"opt": slice(1)}, path)
    refused(path, "holds a dict of opt, and no torch.nn.Module")
    path.write_bytes(b"PK\x03\x04 no archive")
    refused(path, "cannot be read as a model")
    (plain := tmp_path / "net.pkl").write_bytes(pickle.dumps(slice(1)))
    refused(plain, "torch did not write")
    monkeypatch.setattr(OfThisFile, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "OfThisFile", OfThisFile, raising=False)
    torch.save(OfThisFile(), path)
    refused(path, "asks for OfThisFile of the script that saved it (__main__)", "net.py:OfThisFile@")


class Attack:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


@pytest.mark.parametrize("archive", [True, False])
def test_an_attack_within_a_program_is_not_opened_even_with_trust(tmp_path: Path, archive: bool) -> None:
    """The example inputs of a .pt2 lie in it as a file of torch.save, which is unpickled on loading."""
    attack, mark = tmp_path / "attack.pt", tmp_path / "mark"
    if archive:
        torch.save(Attack(mark), attack)
    else:
        attack.write_bytes(pickle.dumps(Attack(mark)))
    good, path = tmp_path / "good.pt2", tmp_path / "net.pt2"
    torch.export.save(torch.export.export(nn.Linear(2, 3), (torch.zeros(1, 2),)), good)
    with zipfile.ZipFile(good) as had, zipfile.ZipFile(path, "w") as made:
        replaced = [name for name in had.namelist() if name.endswith(".pt")]
        assert replaced
        for name in had.namelist():
            made.writestr(name, attack.read_bytes() if name in replaced else had.read(name))
    assert not contents(good).attacks
    refused(path, "asks for posix.system, which is how a pickle attacks", "not with --trust either")
    assert not mark.exists()


def test_an_attack_is_not_opened_even_with_trust(tmp_path: Path) -> None:
    path, mark = tmp_path / "evil.pt", tmp_path / "ran"
    torch.save({"model": Attack(mark)}, path)
    refused(path, "asks for posix.system, which is how a pickle attacks", "not with --trust either")
    assert not mark.exists()


def test_classes_that_are_not_here_are_named(definition: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    torch.save(definition.Net(), path)
    del sys.modules[definition.__name__]
    (tmp_path / f"{definition.__name__}.py").unlink()
    refused(path, f"asks for classes of {definition.__name__}, which cannot be imported here")


def test_an_exported_program_of_unknown_inputs_says_what_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(nn.Bilinear(3, 4, 2), (torch.randn(2, 3), torch.randn(2, 4))), path)
    refused(path, "takes input1 2x3, input2 2x4, of which nothing says what it is")


class Hearing(nn.Module):
    """Convolves a sound along its steps; `form` is how it comes: with channels first, last, or without such an axis."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form, self.conv = form, nn.Conv1d(1 if form == "wave" else 2, 3, 5, padding=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x[:, None] if self.form == "wave" else x.transpose(1, 2) if self.form == "last" else x
        return self.conv(x).tanh()


SOUNDS = {"first": (1, 2, 40), "last": (1, 40, 2), "wave": (1, 40)}


@pytest.mark.parametrize("form", SOUNDS)
def test_an_exported_program_on_sound_is_given_steps_along_the_axis_that_it_convolves(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "net.pt2"
    torch.manual_seed(0)
    torch.export.save(torch.export.export(Hearing(form).eval(), (torch.randn(SOUNDS[form]),)), path)
    (report,) = audit(LocalEngine({}, trust=True), State(str(path)), "shift", "float64", None, {})
    assert report.verdict == "holds" and report["conv"].shape == (1, 3, 40)


@pytest.mark.parametrize("batch", [1, 2])
def test_an_exported_program_on_numbers_of_tokens_is_known_by_its_table(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    net = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 2)).eval()
    torch.export.save(torch.export.export(net, (torch.zeros(batch, 12, dtype=torch.int64),)), path)
    if batch > 1:
        refused(path, "takes 2 texts at once and no other number, and is given one at a time")
        return
    (report,) = audit(LocalEngine({}, trust=True), State(str(path)), "circular-shift", "float64", None, {})
    assert report.verdict == "holds" and report["0"].shape == (1, 12, 4)


CARD_FILE = """
from torch import nn
from explorer.declare.card import Card
from explorer.spaces.grid.network.form import InputSpec

CARD = Card(
    name="mine", title="Mine", rows=(), reference="", equation="", summary="", groups=("translation",),
    build=lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")), input=InputSpec(),
)
"""


@pytest.mark.parametrize("name", ["", ":CARD"])
def test_a_file_that_exports_a_card_is_a_model(name: str, tmp_path: Path) -> None:
    path = tmp_path / "card.py"
    path.write_text(CARD_FILE)
    with pytest.raises(Untrusted):
        find_card(f"{path}{name}", {})
    engine = LocalEngine({}, trust=True)
    assert engine.card(f"{path}{name}").title == "Mine"
    (report,) = audit(engine, State(f"{path}{name}"), "", "float64", None, {})
    assert (report.group, report.verdict) == ("translation", "holds")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("(padding_mode='zeros', stride=2)", ""),
        ("('zeros')", ""),
        ("()", ""),
        ("(depth=3)", "takes (padding_mode='circular', stride=1): it takes no 'depth'"),
        ("(strid=3)", "takes (padding_mode='circular', stride=1): it takes no 'strid'; did you mean 'stride'?"),
        ("(print(1))", "are no literals"),
        ("(*[1])", "are no literals"),
        ("(**{'stride': 1})", "are no literals"),
        ("(1) + (2)", "are no literals"),
    ],
)
def test_a_callable_takes_literals(arguments: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    if told:
        with pytest.raises(ModelError) as caught:
            find_card(f"{path}:Net{arguments}", {}, trust=True)
        assert told in str(caught.value)
    else:
        net = load_model(find_card(f"{path}:Net{arguments}", {}, trust=True))
        assert net.body[0].padding_mode == ("zeros" if "zeros" in arguments else "circular")  # type: ignore[index, union-attr]


SETTINGS = """
from dataclasses import dataclass
from torch import nn

@dataclass
class Settings:
    width: int
    depth: int = 2

class Block(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.width = settings.width
        self.conv = nn.Conv2d(settings.width, settings.width, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.conv(x)

class Net(nn.Module):
    def __init__(self, settings, head: bool = False):
        super().__init__()
        self.stem = nn.Conv2d(1, settings.width, 1)
        self.body = nn.Sequential(*[Block(settings) for _ in range(settings.depth)])

    def forward(self, x):
        return self.body(self.stem(x))

class Around(nn.Module):
    def __init__(self, block, hint: "Settings"):
        super().__init__()
        self.width, self.inner = block.width, block

class Loose(nn.Module):
    def __init__(self, told):
        super().__init__()
        self.conv = nn.Conv2d(1, told.channels, told.kernel)

    def forward(self, x):
        return self.conv(x)
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Net", "Net(settings=Settings(width=…))"),
        ("Around", "Around(block=Block(settings=…), hint=Settings(width=…))"),
        ("Loose", "Loose(told=Namespace(channels=…, kernel=…))"),
        ("Net(settings=Settings(width=…))", "are no literals; write numbers, texts, lists in place of …"),
        ("Net(settings=Settings(depth=1))", "missing 1 required positional argument: 'width'"),
        ("Net(settings=Settings(print(1)))", "are no literals"),
    ],
)
def test_an_object_of_settings_is_proposed_by_what_is_read_off_it(name: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(SETTINGS)
    with pytest.raises(ModelError) as caught:
        find_card(f"{path}:{name}", {}, trust=True)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "channels"),
    [("Net(Settings(5, depth=1))", 5), ("Net(settings=Settings(width=4))", 4),
     ("Loose(Namespace(channels=3, kernel=1))", 3)],
)  # fmt: skip
def test_an_argument_may_be_an_object_of_settings(name: str, channels: int, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(SETTINGS)
    net = load_model(find_card(f"{path}:{name}", {}, trust=True))
    assert net(torch.zeros(1, 1, 8, 8)).shape[1] == channels


def test_a_callable_that_needs_arguments_says_which(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET + "def make(depth, *, width, bias=True):\n    return Net()\n")
    refused(Path(f"{path}:make"), "make in", "needs depth, width: write", "net.py:make(depth=…, width=…)")
    refused(Path(f"{path}:make(3)"), "needs width: write", "net.py:make(3, width=…)")
