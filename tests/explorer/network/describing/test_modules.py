"""The tree of modules, and the operations that each makes, against closed forms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from explorer.declare.inputs import Inputs, inputs_of
from explorer.declare.types.fields import FieldType, Point
from explorer.network.describing.modules import flops, module_infos
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import grid
from models.images.resnet import build_resnet18


class _Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.again = self.one
        self.block = nn.Sequential(self.one, nn.ReLU())
        self.idle = nn.Linear(7, 3)

    def forward(self, x):
        return self.block(self.again(self.one(x)))


def _plain(*shape: int) -> Inputs:
    return Inputs((torch.randn(*shape),), (FieldType(Point()),))


def test_resnet18_makes_the_published_number_of_operations():
    """1.814 billion multiply-adds on 224x224 pixels, as torchvision's page of its weights has them."""
    found = flops(build_resnet18().eval(), inputs_of(torch.randn(1, 3, 224, 224), grid()))
    assert found[""] == 2 * 1_814_073_344
    assert found["conv1"] == 2 * 112 * 112 * 64 * 3 * 49
    assert found[""] == sum(found[n] for n in ("conv1", "layer1", "layer2", "layer3", "layer4", "fc"))


def test_shared_modules_are_counted_under_their_first_name():
    assert flops(_Shared().eval(), _plain(1, 4)) == {"": 96, "one": 96, "block": 32}


@pytest.mark.parametrize("kind, gates", [(nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)])
def test_fused_recurrent_layers_are_counted(kind, gates):
    model = nn.Sequential(kind(4, 8)).eval()
    assert flops(model, _plain(5, 1, 4))["0"] == 2 * 5 * gates * 8 * (4 + 8)


def test_fused_attention_is_counted():
    t, c = 6, 8
    model = nn.TransformerEncoderLayer(c, 2, dim_feedforward=16, batch_first=True).eval()
    found = flops(model, _plain(1, t, c))
    assert found["self_attn"] == 2 * (4 * t * c * c + 2 * t * t * c)
    assert found["linear1"] == found["linear2"] == 2 * t * c * 16
    assert torch.backends.mha.get_fastpath_enabled()


def test_shared_and_idle_modules_are_told():
    model = _Shared().eval()
    values = {n: torch.zeros(1, 4) for n in ("one", "one#2", "one#3", "block.1", "block")}
    traced = trace(model, inputs_of(torch.randn(1, 1, 4, 4), grid()))
    found = {m.name: m for m in module_infos(model, traced.layers, values)}
    assert list(found) == ["one", "again", "block", "block.0", "block.1", "idle"]
    assert found["one"].calls == 3 and found["one"].names == 3 and found["one"].nbytes == 3 * 16
    assert found["one"].shared == "called 3 times and held under 3 names"
    assert found["again"].first == "one" == found["block.0"].first and "same module as one" in found["again"].shared
    assert found["idle"].calls == 0 and found["idle"].params == 24 and found["block"].own == 0


@pytest.mark.slow
def test_counting_imports_no_compiler() -> None:
    code = """import sys, torch
from explorer.network.describing.modules import flops
from explorer.declare.inputs import inputs_of
from explorer.spaces.grid.fields import grid
flops(torch.nn.Conv2d(1, 1, 3), inputs_of(torch.rand(1, 1, 5, 5), grid()))
assert 'torch._dynamo' not in sys.modules"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parents[4], timeout=100)
