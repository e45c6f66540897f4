"""torch's compiler, which takes seconds to import, stays away where nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DERIVED = """
import sys
import torch
from torch.autograd import forward_ad
from explorer.work.compiler import ASKED, formulas, not_asked

def slope():
    with torch.no_grad(), forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2, 3, 4), torch.full((2, 3, 4), 2.0))
        y = torch.nn.functional.layer_norm(x * torch.arange(4.0) + 1, (4,), torch.ones(4), torch.zeros(4))
        return forward_ad.unpack_dual(y).tangent

if sys.argv[1] == "not asked":
    with not_asked():
        found = slope()
    assert not any(ASKED in vars(f) for f in formulas())
else:
    found = slope()
assert torch.allclose(found, torch.autograd.functional.jvp(
    lambda x: torch.nn.functional.layer_norm(x * torch.arange(4.0) + 1, (4,)), torch.ones(2, 3, 4),
    torch.full((2, 3, 4), 2.0))[1], atol=1e-4)
print("torch._dynamo" in sys.modules)
"""


@pytest.mark.parametrize("how", ["not asked", "asked"])
@pytest.mark.slow
def test_a_derivative_in_forward_mode_does_not_import_it(how: str) -> None:
    said = subprocess.run([sys.executable, "-c", DERIVED, how], capture_output=True, text=True, check=False)
    # as long as torch imports it of itself, there is something to keep away
    assert (said.returncode, said.stdout.strip()) == (0, str(how == "asked")), said.stderr


TRAINED = """
import os
import sys
from explorer.work.threads import tune

if sys.argv[1] == "tuned":
    tune()
before = dict(os.environ)
import torch
optimizer = torch.optim.Adam(torch.nn.Linear(2, 2).parameters())
optimizer.step()
print("torch._dynamo" in sys.modules, dict(os.environ) == before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["tuned", "plain"])
def test_an_optimizer_leaves_no_folder_among_the_temporary_files(how: str, tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    environment.pop("TORCHINDUCTOR_CACHE_DIR", None)
    said = subprocess.run([sys.executable, "-c", TRAINED, how], capture_output=True, text=True, env=environment)
    assert (said.returncode, said.stdout.strip()) == (0, f"True {how == 'tuned'}"), said.stderr
    # as long as torch makes it of itself, there is something to take back
    assert len(list(tmp_path.iterdir())) == (how == "plain")
