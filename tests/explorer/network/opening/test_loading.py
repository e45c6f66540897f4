"""Networks from cards and from files: found by name, built the same every time, nothing executed unasked."""

from __future__ import annotations

import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.states.model_name import code_of, files_of, split_name
from explorer.network.opening.loading import (
    card_source,
    file_card,
    find_card,
    load_model,
    model_info,
    source_of,
)
from explorer.network.opening.refusals import ModelError
from explorer.network.opening.stored_weights import load_weights, read_weights
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS, card, symmetric_net

NET = """
import torch
from torch import nn

class Net(nn.Module):
    "A small one.\\n\\nMore of it."
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d({channels}, 2, 3)

    def forward(self, x):
        return self.conv(x)

made = Net()
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "base", "weights"),
    [
        ("d4-cnn", "d4-cnn", ""),
        ("d4-cnn@a/b.safetensors", "d4-cnn", "a/b.safetensors"),
        ("net.py:Net", "net.py:Net", ""),
        ("net.py:Net@w@2.safetensors", "net.py:Net", "w@2.safetensors"),
        ("/home/me@work/net.py:Net", "/home/me@work/net.py:Net", ""),
        ("/home/me@work/net.py:Net@/home/me@work/w.pt", "/home/me@work/net.py:Net", "/home/me@work/w.pt"),
        ("C:/nets/net.py:Net", "C:/nets/net.py:Net", ""),
        ("net.py", "net.py", ""),
        ("net.py:Net(3, width=4)", "net.py:Net(3, width=4)", ""),
        ("a@b/net.py:Net('x@y/z.py:w', [1])@v.pt", "a@b/net.py:Net('x@y/z.py:w', [1])", "v.pt"),
        ("./me@work/net.pt2", "./me@work/net.pt2", ""),
        ("net.pt@w.pt", "net.pt", "w.pt"),
        ("d4-cnn@folder/w.pt", "d4-cnn", "folder/w.pt"),
        ("timm:vit(img_size=32)@a/w.safetensors", "timm:vit(img_size=32)", "a/w.safetensors"),
        ("folder/of-a-model", "folder/of-a-model", ""),
        ("folder/of-a-model@./w.safetensors", "folder/of-a-model", "./w.safetensors"),
        ("/me@work/bert@/me@work/checkpoint.pth", "/me@work/bert", "/me@work/checkpoint.pth"),
        ("/nets/bert@partly:C:/w.pt", "/nets/bert", "C:/w.pt"),
        ("/nets/net.pt2@/nets/w.pth", "/nets/net.pt2", "/nets/w.pth"),
        ("nets/net.pt2[grid]@w.pt", "nets/net.pt2[grid]", "w.pt"),
        ("/me@work/of-a-model", "/me@work/of-a-model", ""),
        ("", "", ""),
    ],
)
def test_a_name_may_carry_weights(name: str, base: str, weights: str) -> None:
    assert split_name(name) == (base, weights)


@pytest.mark.parametrize(
    ("name", "code", "files"),
    [
        ("d4-cnn", None, ()),
        ("d4-cnn@w.pt", None, ("w.pt",)),
        ("net.py", "net.py", ("net.py", "net.equiscope.json")),
        ("a/net.py:Net('b.py:c')@w.pt", "a/net.py", ("a/net.py", "a/net.equiscope.json", "w.pt")),
        ("net.pt2", "net.pt2", ("net.pt2",)),
        ("a/bert", None, ("a/bert",)),
        ("timm:vit(3)@w.pt", None, ("w.pt",)),
    ],
)
def test_a_name_tells_its_files(name: str, code: str | None, files: tuple[str, ...]) -> None:
    assert code_of(name) == (None if code is None else Path(code)) and files_of(name) == files


def test_cards_are_found_by_name() -> None:
    assert find_card("fine", CARDS) is CARDS["fine"]
    with pytest.raises(ModelError, match="did you mean 'faulty'") as caught:
        find_card("fault", CARDS)
    assert caught.value.where == "fault"


def test_a_file_makes_a_card(tmp_path: Path) -> None:
    path = written(tmp_path / "net.py", NET.format(channels=3))
    found = file_card(path, "Net", trust=True)
    assert found.name == f"{path}:Net" and found.input.shape == (3, None, None)
    assert found.summary == "A small one." and found.groups == () and found.labels == ()
    info = model_info(found)
    assert "self.conv = nn.Conv2d(3, 2, 3)" in card_source(found) and not info.trained and not info.trainable
    first, again = load_model(found), load_model(found)
    assert first is not again and not first.training
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    instance = file_card(path, "made", trust=True)
    load_model(instance).conv.weight.data.zero_()  # type: ignore[union-attr, operator]
    assert load_model(instance).conv.weight.abs().sum() > 0  # type: ignore[union-attr, operator]


def test_what_the_file_declares_counts(tmp_path: Path) -> None:
    text = NET.format(channels=1) + "INPUT_SHAPE = [1, 32, None]\nLABELS = ['a', 'b']\n"
    found = file_card(written(tmp_path / "net.py", text), "Net", trust=True)
    assert found.input.shape == (1, 32, None) and found.labels == ("a", "b")
    other = text.replace("class Net(nn.Module):\n", "class Net(nn.Module):\n    input_shape = (1, 9, 9)\n")
    assert file_card(written(tmp_path / "two.py", other), "Net", trust=True).input.shape == (1, 9, 9)


def test_lazy_layers_leave_the_input_open(tmp_path: Path) -> None:
    path = written(tmp_path / "net.py", "from torch import nn\ndef net(): return nn.Sequential(nn.LazyConv2d(2, 3))\n")
    assert file_card(path, "net", trust=True).input.shape == (1, None, None)
    assert LocalEngine({}, trust=True).answer(State(f"{path}:net", sample="digit-1"), lambda: False).squares


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    written(tmp_path / "neighbour_of_net.py", "WIDTH = 5\n")
    text = "from torch import nn\nfrom neighbour_of_net import WIDTH\nnet = nn.Sequential(nn.Conv2d(1, WIDTH, 3))\n"
    assert file_card(written(tmp_path / "net.py", text), "net", trust=True).input.shape == (1, None, None)


def test_a_forward_may_import_a_neighbour(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text("def twice(x):\n    from parts.more import once\n    return once(x) * 2\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "more.py").write_text("once = float\n")
    (tmp_path / "later.py").write_text(
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        import twice\n        return twice.twice(x)\n"
    )
    made = load_model(find_card(f"{tmp_path / 'later.py'}:Net", {}, trust=True))
    assert made(3) == 6.0
    for name in ("twice", "parts", "parts.more"):
        del sys.modules[name]
    with pytest.raises(ModuleNotFoundError):  # only who lies beside it finds it
        importlib.import_module("twice")


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    found = []
    for channels in (1, 2):
        folder = tmp_path / str(channels)
        folder.mkdir()
        found.append(file_card(written(folder / "net.py", NET.format(channels=channels)), "Net", trust=True))
    assert "Conv2d(1, 2, 3)" in source_of(found[0].source) and "Conv2d(2, 2, 3)" in source_of(found[1].source)


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "net.py", NET.format(channels=1))
    engine = LocalEngine({}, trust=True)
    state = State(f"{path}:Net", sample="digit-1")
    before = engine.prepared(state, state.model)
    assert engine.prepared(state, state.model) is before
    written(path, NET.format(channels=1).replace("2, 3)", "4, 3)  # wider"))
    engine.answer(state, lambda: False)
    after = engine.prepared(state, state.model)
    assert (before.output.shape[1], after.output.shape[1]) == (2, 4)
    written(path, "raise ValueError('half saved')")
    assert engine.prepared(state, state.model) is after
    stale = engine.answer(state, lambda: False).stale
    assert stale is not None and stale.sentence.startswith("net.py, line 1: ValueError: half saved")


def test_a_card_that_cannot_be_built_says_so() -> None:
    def build() -> nn.Module:
        raise AssertionError("no good")

    with pytest.raises(ModelError, match="bad could not be built: AssertionError: no good") as caught:
        load_model(card("bad", build))
    assert caught.value.where == "bad"
    with pytest.raises(ModelError, match="no parameter 'depth'; it has: width"):
        load_model(CARDS["wide"], {"depth": 2.0})


def test_building_leaves_the_random_numbers_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_model(CARDS["fine"])
    assert torch.equal(torch.rand(3), expected)


def test_weights_are_read_in_half_precision_and_as_checkpoints(tmp_path: Path) -> None:
    net = symmetric_net().half()
    save_file(net.state_dict(), tmp_path / "w.safetensors")
    torch.save({"state_dict": net.state_dict(), "epoch": 3}, tmp_path / "w.pt")
    for name in ("w.safetensors", "w.pt"):
        tensors = read_weights(tmp_path / name)
        assert all(t.dtype == torch.float32 for t in tensors.values())
        other = symmetric_net(fault=True)
        load_weights(other, tmp_path / name)
        assert torch.equal(other.state_dict()["2.weight"], net.state_dict()["2.weight"].float())


class Payload:
    """Stand for what a hostile checkpoint does when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_pickle_with_code_is_refused_and_not_run(tmp_path: Path) -> None:
    torch.save({"0.weight": Payload(tmp_path / "run")}, tmp_path / "evil.pt")
    (tmp_path / "evil.pth").write_bytes(pickle.dumps(Payload(tmp_path / "run")))
    for name in ("evil.pt", "evil.pth"):
        with pytest.raises(ModelError, match=r"no readable weights file: its pickle asks for .*pathlib.*code"):
            read_weights(tmp_path / name)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda w: w.pop("5.bias"),
            r"'5.bias' is missing; all its tensors fit, and 1 of",
        ),
        (
            lambda w: w.update({"5.bias": torch.zeros(3)}),
            r"'5.bias' has the shape \(3,\), and in this network \(\d+,\)",
        ),
        (
            lambda w: w.update({"extra": torch.zeros(3)}),
            "'extra' is none of this network; 1 of its .* tensors do not fit, and 0 of",
        ),
    ],
)
def test_weights_that_do_not_fit_are_told(tmp_path: Path, change: Any, message: str) -> None:
    weights = dict(symmetric_net().state_dict())
    change(weights)
    save_file(weights, tmp_path / "w.safetensors")
    with pytest.raises(ModelError, match=message) as caught:
        load_weights(symmetric_net(), tmp_path / "w.safetensors")
    assert caught.value.where == str(tmp_path / "w.safetensors")


def test_what_fits_is_loaded_and_the_rest_is_told(tmp_path: Path) -> None:
    weights = dict(symmetric_net().state_dict())
    first = next(iter(weights))
    weights |= {"5.bias": torch.zeros(3), "extra": torch.zeros(3), first: torch.full_like(weights[first], 0.5)}
    save_file(weights, tmp_path / "w.safetensors")
    network = symmetric_net()
    before = network.state_dict()["5.bias"].clone()
    (note,) = load_weights(network, tmp_path / "w.safetensors", strict=False)
    assert note == f"w.safetensors fits {len(weights) - 2} of {len(weights) - 1} tensors; untrained are 5.bias"
    assert bool((network.state_dict()[first] == 0.5).all()) and torch.equal(network.state_dict()["5.bias"], before)
    save_file(dict(network.state_dict()), tmp_path / "all.safetensors")
    assert load_weights(symmetric_net(), tmp_path / "all.safetensors", strict=False) == ()


def test_weights_are_found_within_a_checkpoint_wherever_they_lie(tmp_path: Path) -> None:
    """A checkpoint with the weights beside their running means was said to hold no tensors at all."""
    own, mean = symmetric_net().state_dict(), {k: v + 1 for k, v in symmetric_net().state_dict().items()}
    first = next(iter(own))
    optimizer = {"state": {0: {"exp_avg": torch.zeros(3)}}, "param_groups": [{"lr": 0.1}]}
    torch.save({"epoch": 3, "model": own, "model_ema": mean, "optimizer": optimizer}, tmp_path / "both.pt")
    network = symmetric_net(fault=True)
    (note,) = load_weights(network, tmp_path / "both.pt")
    assert "of model, and not of model_ema" in note
    assert torch.equal(network.state_dict()[first], own[first])
    torch.save({"ema": {"decay": 0.9, "shadow": {f"module.{k}": v for k, v in mean.items()}}}, tmp_path / "deep.pt")
    assert load_weights(network, tmp_path / "deep.pt") == ()
    assert torch.equal(network.state_dict()[first], mean[first])
    torch.save({"epoch": 3, "model": {"other": torch.zeros(3)}, "loss": torch.zeros(1)}, tmp_path / "none.pt")
    with pytest.raises(ModelError, match=r"none\.pt: the tensor .* is none of this network; 1 of its 1 tensors do not"):
        load_weights(network, tmp_path / "none.pt")


def test_a_prefix_is_known_where_some_tensors_are_missing(tmp_path: Path) -> None:
    """One tensor that was missing behind a prefix made all the others none of this network."""
    own = dict(symmetric_net().state_dict())
    gone = list(own)[-1]
    stored = {f"model.net.{k}": v + 1 for k, v in own.items() if k != gone}
    save_file(stored, tmp_path / "w.safetensors")
    with pytest.raises(ModelError, match=f"'{gone}' is missing; all its tensors fit, and 1 of"):
        load_weights(symmetric_net(), tmp_path / "w.safetensors")
    network = symmetric_net()
    (note,) = load_weights(network, tmp_path / "w.safetensors", strict=False)
    assert note.endswith(f"untrained are {gone}")
    first = next(iter(own))
    assert torch.equal(network.state_dict()[first], own[first] + 1)
    # one name that fits by chance is no prefix
    save_file({"a.5.bias": own["5.bias"], "b": torch.zeros(1), "c": torch.zeros(1)}, tmp_path / "chance.safetensors")
    with pytest.raises(ModelError, match="none of its 3 tensors fits"):
        load_weights(symmetric_net(), tmp_path / "chance.safetensors", strict=False)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"not weights"])
def test_a_broken_weights_file_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    for name in ("w.safetensors", "w.pt"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelError, match=f"{name} is no readable weights file") as caught:
            read_weights(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="no weights file"):
        read_weights(tmp_path / "none.safetensors")
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(ModelError, match="holds a list"):
        read_weights(tmp_path / "list.pt")


COUNTED = """
from torch import nn
made = []
{said}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        made.append(self)
        self.conv = nn.{kind}
    def forward(self, {argument}):
        return {answer}
"""


@pytest.mark.parametrize(
    ("said", "kind", "argument", "answer", "times"),
    [
        ("INPUT_SHAPE = (3, 8, 8)", "Conv2d(3, 2, 3)", "x", "self.conv(x)", 1),
        # trials run it: it is made anew, whatever they have left behind
        ("", "Linear(3, 2)", "x, adjacency", "adjacency @ self.conv(x)", 2),
    ],
)
def test_a_network_that_has_not_run_is_made_once(
    tmp_path: Path, said: str, kind: str, argument: str, answer: str, times: int
) -> None:
    path = written(tmp_path / "net.py", COUNTED.format(said=said, kind=kind, argument=argument, answer=answer))
    found = file_card(path, "Net", trust=True)
    first = load_model(found)
    made = type(first).__init__.__globals__["made"]
    assert len(made) == times
    second = load_model(found)
    assert len(made) == times + 1
    assert second is not first
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.nn.modules.module._global_forward_hooks
