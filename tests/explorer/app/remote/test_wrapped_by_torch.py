"""Functions that torch's compiler or an installed package puts in the place of others are no tampering."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch._compile import _disable_dynamo

from explorer.app.remote.tampering import of_a_package, wrapped_by_torch
from explorer.network.tracing.running import Entering


def test_only_wrappers_of_torch_itself_are_let_through() -> None:
    def drawn(seed: int) -> int:
        return seed

    @functools.wraps(drawn)
    def other(seed: int) -> int:
        return drawn(seed) + 1

    assert wrapped_by_torch(_disable_dynamo(drawn), drawn)
    assert not wrapped_by_torch(other, drawn) and not wrapped_by_torch(_disable_dynamo(other), drawn)
    assert not wrapped_by_torch(torch.manual_seed, drawn) and not wrapped_by_torch(None, drawn)


def test_functions_of_an_installed_package_are_let_through() -> None:
    hashed = pytest.importorskip("torch_geometric.hash_tensor")  # puts its own in torch's place as it is imported
    assert torch.index_select is hashed._new_index_select and of_a_package(torch.index_select)

    def mine(*given: object) -> object:
        return given

    assert not of_a_package(mine) and not of_a_package(torch.no_grad()(mine))
    assert not of_a_package(functools.partial(hashed._new_index_select)) and not of_a_package(None)
    mine.__module__, mine.__qualname__ = hashed.__name__, "_new_index_select"
    assert not of_a_package(mine)


def test_a_network_of_torch_geometric_is_judged_in_a_fresh_process(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric")
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "from torch_geometric.nn import GATConv\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.gat = GATConv(4, 3)\n"
        "    def forward(self, x, edge_index):\n"
        "        return self.gat(x, edge_index)\n"
    )
    command = [sys.executable, "main.py", "check", f"{tmp_path}/net.py:Net", "--trust", "--group", "permutation"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "verdict: holds" in done.stdout, done.stdout + done.stderr


def test_the_library_of_the_window_is_no_tampering_when_it_is_imported_in_between() -> None:
    code = (
        "from explorer.app.remote.tampering import Untouched\n"
        "before = Untouched()\n"
        "import PySide6.QtWidgets\n"  # as `run` does for its pictures
        "assert not before.replaced(), before.replaced()\n"
        "import torch\n"
        "torch.sum = lambda *given: 0\n"
        "assert before.replaced() == 'torch.sum', before.replaced()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_run_writes_the_pictures_of_a_network_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n\ndef net():\n    return nn.Sequential(nn.Conv2d(1, 2, 3, padding=1))\n"
    )
    command = [sys.executable, "main.py", "run", f"{tmp_path}/net.py:net", "--trust", "--data", "random:1x1x9x9"]
    out = ["--transform", "rotate:90", "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *out], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and (tmp_path / "out" / "stage.png").exists(), done.stderr


def test_a_hook_is_shared_by_copies_and_silent_when_stored() -> None:
    heard: list[str] = []
    hook = Entering(heard.append, "conv", None)
    assert copy.deepcopy(hook) is hook
    pickle.loads(pickle.dumps(hook))()
    assert not heard
    hook()
    assert heard == ["conv"]
