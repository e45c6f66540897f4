"""Listing of what lies in an archive without executing it: members, opcodes, weights of exported programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from explorer.network.opening.files.contents import attacks
from explorer.network.opening.files.looking import contents


class Attack:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


@pytest.mark.parametrize("new", [True, False])
def test_the_opcodes_of_an_attack_are_listed_and_not_executed(tmp_path: Path, new: bool) -> None:
    mark, path = tmp_path / "ran", tmp_path / "evil.pt"
    torch.save({"w": torch.zeros(2), "x": Attack(mark)}, path, _use_new_zipfile_serialization=new)
    found = contents(path)
    lines = [" ".join(line.split()) for line in found.listing]
    assert any("GLOBAL 'posix system'" in line for line in lines) and any("REDUCE" in line for line in lines)
    assert any(f"touch {mark}"[:40] in line for line in lines)
    assert any(line.endswith("evil/data.pkl") for line in lines) == new
    assert found.to_json()["listing"] and not mark.exists()


def test_an_exported_program_tells_its_weights(tmp_path: Path) -> None:
    net, path = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval(), tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net, (torch.rand(1, 3, 8, 8),)), path)
    told = {t.name: (t.shape, t.dtype) for t in contents(path).tensors}
    assert told == {n: (tuple(v.shape), str(v.dtype).removeprefix("torch.")) for n, v in net.state_dict().items()}


def test_what_a_script_asks_for_is_no_attack(tmp_path: Path) -> None:
    path = tmp_path / "net.ts"
    torch.jit.trace(nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU()), torch.rand(1, 1, 8, 8)).save(path)  # type: ignore[no-untyped-call]
    found = contents(path)
    assert not any(attacks(n) for n in found.names) and not any("attack" in danger for danger in found.dangers)
