"""Open model files that are wrong or odd: they work, or one sentence says exactly what and where."""

from __future__ import annotations

import gc
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.app.thread.failures import failure_of, sentence
from explorer.declare.elements import parse_chain
from explorer.network.opening.files.looking import contents
from explorer.network.opening.helpers import causes, place_of
from explorer.network.opening.loading import find_card, load_model
from explorer.network.opening.refusals import ModelError, Unknown
from explorer.network.opening.stored_weights import load_weights
from explorer.network.tracing.layers import LayerError
from explorer.state.state import State
from tests.explorer.parts.misbehaving import network, ramp

HEAD = """
import dataclasses, torch
from torch import nn
import torch.nn.functional as F

INPUT_SHAPE = (1, None, None)

def conv(out=2, into=1):
    return nn.Conv2d(into, out, 3, padding=1, padding_mode="circular")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = conv()
    def forward(self, x):
        return self.end(self.conv(x))
    def end(self, x):
        return x
"""
DATA = "random:1x1x12x12"

# {what: (the end of the file, what the sentence says)}
REFUSED = {
    "a syntax error": ("def net(:\n", "could not be run: SyntaxError: .*line 19"),
    "a missing import": (
        "import nowhere_at_all\n",
        r"No module named 'nowhere_at_all' beside it or installed; .*python\S* -m pip install nowhere_at_all adds it, "
        r"if its package is called so \(line 19\)",
    ),
    "a missing part of a package": (
        "import torch.nn.nowhere.further\n",
        r"No module named 'torch.nn.nowhere' in torch \d\S* \(.*torch\) \(line 19\)",
    ),
    "a missing import inside": (
        "class net(Net):\n    def end(self, x):\n        import nowhere_at_all.deep\n",
        r"forward raised ModuleNotFoundError: No module named 'nowhere_at_all' beside .* called so$",
    ),
    "an import with a dot": (
        "from .blocks import Block\n",
        r"a file is run by itself .*write the module's name without the dot, .* \(line 19\)",
    ),
    "an exception": ("1 / 0\n", r"ZeroDivisionError: division by zero \(line 19\)"),
    "an exit": ("raise SystemExit(3)\n", r"could not be run: SystemExit: 3 \(line 19\)"),
    "no such name": ("", "defines no 'net'"),
    "a value": ("net = 5\n", "net in .* is of type int, neither a network nor something that makes one"),
    "no answer": ("def net():\n    Net()\n", r"net in .* returned nothing \(None\), not a torch.nn.Module"),
    "another answer": ("def net():\n    return 5\n", "net in .* returned int, not a torch.nn.Module"),
    "arguments": (
        "def net(depth, *, width):\n    return Net()\n",
        r"needs depth, width: write .*net\(depth=…, width=…\)",
    ),
    "a failing constructor": (
        "def net():\n    raise KeyError('size')\n",
        r"could not be built: KeyError: 'size' \(line 20\)",
    ),
    "a wrong shape inside": (
        "class net(Net):\n    def end(self, x):\n        return x @ torch.zeros(5, 5).to(x)\n",
        "forward raised RuntimeError: .*5x5",
    ),
    "a breakpoint": (
        "import bdb\nclass net(Net):\n    def end(self, x):\n        raise bdb.BdbQuit\n",  # as pdb without a terminal
        r"BdbQuit: it stops for a debugger \(breakpoint\(\) or pdb\), and there is nobody to ask",
    ),
    "a question": (
        "class net(Net):\n    def end(self, x):\n        raise EOFError('EOF when reading a line')\n",  # of input()
        r"EOFError: it asks for a line to be typed \(input\(\)\), and there is nobody to ask",
    ),
    "an exception with objects": (
        "class net(Net):\n    def end(self, x):\n        raise ValueError(object(), type(x), len)\n",
        "ValueError: \\(object object, torch.Tensor, <built-in function len>\\)",
    ),
    "no tensor": (
        "class net(Net):\n    def end(self, x):\n        return None\n",
        r"returned nothing \(None\), which holds no tensor",
    ),
    "whole numbers": (
        "class net(Net):\n    def end(self, x):\n        return x.argmax(1)\n",
        "holds int64 values, and only real numbers",
    ),
    "a sparse answer": (
        "class net(Net):\n    def end(self, x):\n        return x.to_sparse()\n",
        r"gives a sparse tensor: make it dense with \.to_dense\(\)",
    ),
    "a nested answer": (
        "class net(Net):\n    def end(self, x):\n        return torch.nested.nested_tensor([x[0], x[0, :, :3]])\n",
        r"gives a nested tensor: pad it with .*to_padded_tensor",
    ),
    "a fake answer": (
        "from torch._subclasses.fake_tensor import FakeTensorMode\nclass net(Net):\n    def end(self, x):\n"
        "        with FakeTensorMode():\n            return torch.empty(1, 2, 12, 12)\n",
        "gives a fake tensor, which holds no values",
    ),
    "an empty answer": ("class net(Net):\n    def end(self, x):\n        return x[:, :0]\n", "which holds no values"),
    "quantised inside": (
        "class Quantised(nn.Module):\n    def forward(self, x):\n        return torch.quantize_per_tensor(x, 0.1, 0, "
        "torch.qint8)\nclass net(Net):\n    def __init__(self):\n        super().__init__()\n"
        "        self.q = Quantised()\n    def end(self, x):\n        return self.q(x).dequantize()\n",
        "layer q gives a quantised tensor",
    ),
    "complex numbers": (
        "class net(Net):\n    def end(self, x):\n        return torch.fft.fft2(x)\n",
        "only real ones can be compared: return both parts",
    ),
    "no forward but a number": (
        "class net(Net):\n    forward = 7\n",
        "its forward is 7, not a function",
    ),
    "an exit in the forward": (
        "import sys\nclass net(Net):\n    def end(self, x):\n        sys.exit(3)\n",
        "forward raised SystemExit: 3",
    ),
    "itself inside": (
        "def net():\n    made = Net()\n    made.conv.inner = made\n    return made\n",
        "contains itself, as conv.inner: a network is a tree of layers. Keep a reference to what is above a layer in a",
    ),
    "itself inside, from its first run on": (
        "class net(Net):\n    def end(self, x):\n        self.conv.add_module('above', self)\n        return x\n",
        "the network contains itself, as conv.above: a network is a tree of layers",
    ),
    "async": (
        "class net(Net):\n    def forward(self, x):\n        return self.later(x)\n"
        "    async def later(self, x):\n        return x\n",
        "returned a coroutine: its forward is async",
    ),
    "an exception without text": (
        "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\n"
        "class net(Net):\n    def end(self, x):\n        raise Mute\n",
        "forward raised Mute",
    ),
    "several arguments": (
        "class net(Net):\n    def forward(self, x, other):\n        return x\n",
        r"its forward takes \(x, other\)",
    ),
}

WORKS = {
    "in place where a derivative looks": (
        "class net(Net):\n    def end(self, x):\n        x.relu_()\n        x += 1\n        return x * 2\n"
    ),
    "derivatives of its own": (
        "class net(Net):\n    def forward(self, x):\n        with torch.enable_grad():\n"
        "            y = x.detach().requires_grad_(True)\n"
        "            return torch.autograd.grad(self.conv(y).square().sum(), y)[0]\n"
    ),
    "what is chosen before what is measured": (
        "class net(Net):\n    def end(self, x):\n        return x.argmax(1), x, x[:, :0]\n"
    ),
    "float8 beside others": (
        "class net(Net):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('w', self.conv.weight.data.to(torch.float8_e4m3fn))\n"
    ),
    "half": "def net():\n    return Net().half()\n",
    "bfloat16": "def net():\n    return Net().bfloat16()\n",
    "mixed": "def net():\n    made = nn.Sequential(conv(), conv(2, 2))\n    made[1].half()\n    return made\n",
    "in place": "class net(Net):\n    def end(self, x):\n        return x.relu_().mul_(2)\n",
    "in place past torch": (
        "class net(Net):\n    def forward(self, x):\n        y = self.conv(x)\n        x.data.zero_()\n"
        "        return y\n"
    ),
    "in place through NumPy": (
        "class net(Net):\n    def forward(self, x):\n        y = self.conv(x)\n        x.detach().numpy()[:] = 3\n"
        "        return y\n"
    ),
    "another device by default": (
        "class net(Net):\n    def end(self, x):\n        torch.set_default_device('meta')\n        return x\n"
    ),
    "in-place modules": "def net():\n    return nn.Sequential(conv(), nn.ReLU(inplace=True), nn.ELU(inplace=True))\n",
    "dynamic control flow": (
        "class net(Net):\n    def forward(self, x):\n        for _ in range(3 if x.abs().mean() > 0 else 1):\n"
        "            y = self.conv(x)\n        return y if y.sum() != 0 else y * 2\n"
    ),
    "hooks of its own": (
        "def net():\n    made = Net()\n    made.conv.register_forward_hook(lambda m, a, r: r * 2)\n"
        "    made.register_forward_pre_hook(lambda m, a: (a[0] + 1,))\n    return made\n"
    ),
    "hooks that keep values for the forward": (
        "class net(Net):\n    def __init__(self):\n        super().__init__()\n        self.kept = {}\n"
        "        self.conv.register_forward_hook(lambda m, a, r: self.kept.update(conv=r))\n"
        "    def end(self, x):\n        return self.kept.pop('conv') + x\n"
    ),
    "a dict": "class net(Net):\n    def end(self, x):\n        return {'a': x, 'b': [x * 2, None], 'n': 3}\n",
    "a tuple": "class net(Net):\n    def end(self, x):\n        return x, (x.mean((2, 3)), None)\n",
    "a dataclass": (
        "@dataclasses.dataclass\nclass Out:\n    logits: object\n    hidden: object = None\n\n"
        "class net(Net):\n    def end(self, x):\n        return Out(x, (x * 2,))\n"
    ),
    "a named tuple": (
        "import typing\nclass Out(typing.NamedTuple):\n    logits: object\n    hidden: object = None\n\n"
        "class net(Net):\n    def end(self, x):\n        return Out(x, [x * 2])\n"
    ),
    "a compiled layer": "def net():\n    return nn.Sequential(conv(), nn.Identity())\n",
    "gradients off": "def net():\n    return Net().requires_grad_(False)\n",
    "training mode": "def net():\n    return nn.Sequential(conv(), nn.BatchNorm2d(2)).train()\n",
    "a scripted part": "def net():\n    return nn.Sequential(conv(), nn.ReLU())\n",
}


def hooks_of(model: nn.Module) -> list[int]:
    return [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]


def checked(path: Path, engine: LocalEngine) -> Any:
    name = f"{path}:net"
    engine.answer(State(name, sample=DATA), lambda: False)  # the window's way
    (report,) = audit(engine, State(name, sample=DATA), "translation", "float64", None, {})
    return report


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_one_sentence(what: str, tmp_path: Path) -> None:
    end, told = REFUSED[what]
    path = tmp_path / "net.py"
    path.write_text(HEAD + end)
    engine = LocalEngine({}, trust=True)
    for ask in (
        lambda: engine.answer(State(f"{path}:net", sample=DATA), lambda: False),
        lambda: audit(engine, State(f"{path}:net", sample=DATA), "translation", "float64", None, {}),
    ):
        with pytest.raises(Exception, match=told) as caught:
            ask()
        said = sentence(caught.value)
        assert "\n" not in said and "Traceback" not in said


RETURNS = {
    "x.to_sparse()": "gives a sparse tensor: make it dense with",
    "torch.nested.nested_tensor([x[0], x[0]])": "gives a nested tensor: pad it with",
    "x.tolist()": "returned list, which holds no tensor",
    "float(x.mean())": "returned float, which holds no tensor",
    "Answer(x)": "returned Answer, an object that is not looked into: return its x, a tuple, dict or dataclass",
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("answer", RETURNS)
def test_what_a_network_that_runs_returns_is_not_laid_to_its_input(answer: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\nfrom torch import nn\nclass Answer:\n    def __init__(self, x):\n        self.x = x\n"
        "class net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.conv = nn.Conv2d(3, 2, 3)\n    def forward(self, x):\n        x = self.conv(x)\n"
        f"        return {answer}\n"
    )
    with pytest.raises(LayerError, match=RETURNS[answer]) as caught:
        LocalEngine({}, trust=True).answer(State(f"{path}:net"), lambda: False)
    assert "tried" not in str(caught.value)


def test_a_gpu_that_is_not_there_is_not_laid_to_the_input(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        raise AssertionError('Torch not compiled with CUDA enabled')\n"
    )
    with pytest.raises(ModelError, match=r"net.py: its forward raised .* asks for a GPU, .* \(line 5\)$"):
        find_card(f"{path}:Net", {}, trust=True)


@pytest.mark.parametrize("takes", ["x", "p, q", "x, edge_index", "batch"])
def test_a_module_that_a_forward_misses_is_told_in_place_of_what_it_might_take(takes: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        f"from torch import nn\nclass Net(nn.Module):\n    def forward(self, {takes}):\n        import beside\n"
        f"        return {takes}\n"
    )
    (tmp_path / "beside.py").write_text("\nimport nowhere_at_all\n")
    told = r"^\S+net.py: its forward raised .*'nowhere_at_all' beside .* so \(beside.py, line 2\)$"
    with pytest.raises(ModelError, match=told) as caught:
        find_card(f"{path}:Net", {}, trust=True)
    assert not isinstance(caught.value, Unknown), "another input would not bring the module"


def test_nan_is_refused_by_check_and_shown_in_the_window(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + "class net(Net):\n    def end(self, x):\n        return x / 0 * 0\n")
    engine = LocalEngine({}, trust=True)
    assert engine.answer(State(f"{path}:net", sample=DATA), lambda: False).squares
    with pytest.raises(LayerError, match="NaN or infinite"):
        audit(engine, State(f"{path}:net", sample=DATA), "translation", "float64", None, {})


@pytest.mark.parametrize("what", WORKS)
def test_what_is_odd_is_measured(what: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + WORKS[what])
    engine = LocalEngine({}, trust=True)
    report = checked(path, engine)
    assert report.verdict == "holds", report.text()
    kept = engine.network(State(f"{path}:net"), f"{path}:net")
    own = {"hooks of its own": 2, "hooks that keep values for the forward": 1}.get(what, 0)
    assert sum(hooks_of(kept)) == own
    assert sum(hooks_of(engine.prepared(State(f"{path}:net", sample=DATA), f"{path}:net").model)) == own
    gc.collect()


def in_a_window(path: Path) -> tuple[Any, Any]:
    """Return the last frame and the last curve of a network, asked for as a window does."""
    engine = LocalEngine({}, trust=True)
    state = State(f"{path}:net", sample=DATA, steps=parse_chain("rotate:90"), orbit="rotate")
    frame = [first := engine.answer(state, lambda: False), *engine.refine(first)][-1]
    return frame, [*engine.orbit(state)][-1]


@pytest.mark.parametrize(
    "forward",
    [
        "assert len(x) == 1; return self.conv(x)",
        "return self.conv(x).reshape(1, 2, 12, 12)",
        "return self.conv(x.squeeze(0)).unsqueeze(0)",
        "return torch.from_numpy(self.conv(x).numpy() * 2)",
        "x += 1; return self.conv(x)",
    ],
)
def test_a_network_of_one_sample_or_without_gradients_has_frames_and_curves(forward: str, tmp_path: Path) -> None:
    (path := tmp_path / "net.py").write_text(f"{HEAD}class net(Net):\n    def forward(self, x):\n        {forward}\n")
    frame, curve = in_a_window(path)
    assert {m.verdict for m in frame.squares[0].measures.values()} == {"broken"}  # a random filter
    assert curve.errors and all(np.isfinite(found).all() for found in curve.errors.values())


@pytest.mark.parametrize("first", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("x[..., : 12 - n % 5]", r"gave the shape .* at first and .* on the same input|$"),
        ("torch.cat([x] * (1 + (n > first)))", "first axis.* must be the batch"),
        ("x.to('meta') if n > first else x", "a tensor on the meta device, which holds no values"),
        ("x.to_mkldnn() if n > first else x", "oneDNN's own layout|mkldnn.*to_dense"),
        ("torch._to_functional_tensor(x) if n > first else x", "a tensor of torch's functionalisation"),
    ],
)
def test_what_is_odd_from_a_later_call_on_is_told(end: str, told: str, first: int, tmp_path: Path) -> None:
    numbers = f"CALLS.append(1); n, first, x = len(CALLS), {first}, x * 1"
    forward = f"    def end(self, x):\n        {numbers}\n        return {end}\n"
    (path := tmp_path / "net.py").write_text(f"{HEAD}CALLS = []\nclass net(Net):\n{forward}")
    try:
        said = in_a_window(path)[0].squares[0].message
    except Exception as error:
        said = sentence(error)
    assert re.search(told, said) and "out of bounds" not in said and "zip()" not in said, said


@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("end", ["x + odd", "x * float(odd.mean())", "torch.where(odd > 0, x, -x)", "x.copy_(odd)"])
def test_a_tensor_without_values_that_meets_others_is_told_in_words_of_ours(
    end: str, first: int, tmp_path: Path
) -> None:
    numbers = f"CALLS.append(1); odd = x.to('meta') if len(CALLS) > {first} else x"
    forward = f"    def end(self, x):\n        {numbers}\n        return {end}\n"
    (path := tmp_path / "net.py").write_text(f"{HEAD}CALLS = []\nclass net(Net):\n{forward}")
    with pytest.raises((LayerError, RuntimeError)) as raised:
        in_a_window(path)
    told = failure_of(raised.value, State(f"{path}:net")).sentence
    assert "it meets a tensor on the meta device, which holds no values: make the network on a real device" in told
    assert "net.py, line" in told and "Tensor" not in told


@pytest.mark.parametrize("end", ["x.data.zero_()", "x.detach().numpy()[:] = 3", "x.zero_()"])
def test_a_network_that_changes_its_input_is_named(end: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        f"{HEAD}class net(Net):\n    def forward(self, x):\n        y = self.conv(x)\n        {end}\n        return y\n"
    )
    report = checked(path, LocalEngine({}, trust=True))
    assert sum("changes its input in place; it was given a copy" in told for told in report.warnings) == 1


@pytest.mark.timeout(60)
def test_an_odd_tensor_on_moved_data_only_is_told(tmp_path: Path) -> None:
    state = State(network(tmp_path, "return x.to_sparse()"), sample=ramp(tmp_path), steps=parse_chain("rotate:90"))
    engine = LocalEngine({}, trust=True)
    assert engine.answer(state, lambda: False).squares
    with pytest.raises(LayerError, match="gives a sparse tensor"):
        engine.answer(replace(state, steps=parse_chain("rotate:180")), lambda: False)


def test_what_is_its_own_cause_is_looked_at_once(tmp_path: Path) -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert list(causes(one)) == [one, other] and place_of(one, tmp_path / "net.py") is None


def test_a_network_that_changes_moved_data_only_is_named_in_a_window(tmp_path: Path) -> None:
    engine = LocalEngine({}, trust=True)
    state = State(network(tmp_path, "return x.zero_()"), sample=ramp(tmp_path), steps=parse_chain("rotate:90"))
    named = "the network changes its input in place; it was given a copy each time"
    assert named not in engine.answer(state, lambda: False).model_notes
    upside_down = replace(state, steps=parse_chain("rotate:180"))
    assert named in engine.answer(upside_down, lambda: False).model_notes


@pytest.mark.parametrize("sound", [True, False])
def test_what_varies_is_said_to_vary_also_where_it_is_broken(sound: bool, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    fault = "" if sound else "x = x + torch.arange(x.shape[-1]); "
    forward = f"    def end(self, x):\n        CALLS.append(1); {fault}return x + len(CALLS) % 3\n"
    path.write_text(f"{HEAD}CALLS = []\nclass net(Net):\n{forward}")
    report = checked(path, LocalEngine({}, trust=True))
    assert report.verdict != "holds"
    assert sum("another answer to the same input from call to call" in told for told in report.warnings) == 1


@pytest.mark.parametrize("kind", ["safetensors", "pt"])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, ""),
        ({"conv.bias": None}, "the tensor 'conv.bias' is missing; all its tensors fit, and 1 of the"),
        ({"other": (3,)}, "the tensor 'other' is none of this network; 1 of its 3 tensors do not fit"),
        ({"conv.bias": (5,)}, r"the tensor 'conv.bias' has the shape \(5,\), and in this network \(2,\)"),
    ],
    ids=["fits", "missing", "unexpected", "misshaped"],
)
def test_keys_of_a_checkpoint_are_told_exactly(kind: str, change: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + "net = Net\n")
    state = {"conv.weight": torch.zeros(2, 1, 3, 3, dtype=torch.bfloat16), "conv.bias": torch.ones(2).half()}
    for name, shape in change.items():
        state.pop(name, None)
        if shape is not None:
            state[name] = torch.zeros(shape)
    file = tmp_path / f"w.{kind}"
    if kind == "pt":
        torch.save({"state_dict": state, "epoch": 3}, file)
    else:
        save_file(state, file)
    assert contents(file).tier == "weights"
    engine = LocalEngine({}, trust=True)
    state_ = State(f"{path}:net@{file}", sample=DATA)
    if told:
        with pytest.raises(Exception, match=told):
            engine.answer(state_, lambda: False)
    else:
        frame = engine.answer(state_, lambda: False)
        assert float(frame.squares[0].output.max()) == 1.0 == float(frame.squares[0].output.min())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda v: v.to("meta"), "the tensor 'conv.weight' is on the device 'meta' and has no numbers"),
        (lambda v: v.to_sparse(), ""),
        (lambda v: torch.quantize_per_tensor(v, 0.1, 0, torch.qint8), ""),
        (lambda v: v.to(torch.float8_e4m3fn), ""),
    ],
    ids=["meta", "sparse", "quantised", "float8"],
)
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor", "ignore:TypedStorage is deprecated")
def test_a_checkpoint_may_keep_its_numbers_in_another_form(change: Any, told: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + "net = Net\n")
    torch.save({"conv.weight": change(torch.ones(2, 1, 3, 3)), "conv.bias": torch.ones(2)}, tmp_path / "w.pt")
    state = State(f"{path}:net@{tmp_path / 'w.pt'}", sample=DATA.replace("random", "ones"))
    engine = LocalEngine({}, trust=True)
    if told:
        with pytest.raises(Exception, match=told):
            engine.answer(state, lambda: False)
    else:
        assert float(engine.answer(state, lambda: False).squares[0].output.min()) == pytest.approx(10.0)


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model.net."])
def test_a_checkpoint_of_a_wrapped_network_fits(prefix: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(HEAD + "net = Net\n")
    ones = {"conv.weight": torch.ones(2, 1, 3, 3), "conv.bias": torch.ones(2)}
    torch.save({prefix + name: value for name, value in ones.items()}, tmp_path / "w.pt")
    state = State(f"{path}:net@{tmp_path / 'w.pt'}", sample=DATA.replace("random", "ones"))
    assert float(LocalEngine({}, trust=True).answer(state, lambda: False).squares[0].output.min()) == 10.0
    torch.save(ones, tmp_path / "bare.pt")
    network = nn.ModuleDict({"net": nn.ModuleDict({"conv": nn.Conv2d(1, 2, 3)})})
    load_weights(network, tmp_path / "bare.pt")
    assert all(bool((p == 1).all()) for p in network.parameters())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (r"\x1b[31mred", "?[31mred"), (r"a\nb", "a?b"), (r"\u202eevil", "?evil"), (r"\udc80", "?"),
        ("n" * 5000, "n" * 40 + "…"), (r"a\0b", "a?b"), (r"x\r", "x?"),
    ],
)  # fmt: skip
def test_a_layer_whose_name_cannot_be_told_is_refused(name: str, shown: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "from torch import nn\nINPUT_SHAPE = (1, 9, 9)\n\nclass Net(nn.Sequential):\n    def __init__(self):\n"
        f"        super().__init__(nn.Conv2d(1, 2, 1))\n        self.add_module('{name}', nn.ReLU())\n"
    )
    with pytest.raises(ModelError) as caught:
        load_model(find_card(f"{path}:Net", {}, trust=True))
    assert f"has a layer {shown!r}: a name has at most 200 characters" in str(caught.value)


def test_what_a_network_overwrites_stays_as_it_was_given(tmp_path: Path) -> None:
    text = "class net(Net):\n    def forward(self, x):\n        x.mul_(2).sub_(1)\n        return self.conv(x)\n"
    path = tmp_path / "net.py"
    path.write_text(HEAD + text)
    state = State(f"{path}:net", sample=DATA, steps=parse_chain("rotate:90"))
    engine = LocalEngine({}, trust=True)
    given = engine.prepared(state, state.model).inputs.x.clone()
    frame = engine.answer(state, lambda: False)
    assert [*engine.refine(frame)] and [*engine.orbit(state)]
    assert torch.equal(engine.prepared(state, state.model).inputs.x, given)
