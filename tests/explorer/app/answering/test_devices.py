"""A network runs where it can: on the GPU, or on the processor with a note or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from explorer.app.answering import devices
from explorer.app.answering.devices import PROCESSOR, placed
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.network.tracing.layers import LayerError
from explorer.state.state import State

APART = "layer mix raised RuntimeError: Expected all tensors to be on the same device"
KEEPS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 3, 1)
        self.shade = torch.tensor([0.5])  # no buffer: `to` leaves it where it is

    def forward(self, x):
        return float((x.mean() * self.shade).sum()) + self.first(x)
"""


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """Give this machine a device beside the processor, on which nothing has values."""
    device = torch.device("meta")
    monkeypatch.setattr(devices, "device_of", lambda name: PROCESSOR if name == "cpu" else device)
    return device


def only_on(*there: str) -> Callable[[torch.device], str]:
    def make(device: torch.device) -> str:
        if device.type not in there:
            raise LayerError("mix", f"{APART}\nand more")
        return device.type

    return make


def test_what_runs_there_stays_there() -> None:
    assert placed(only_on("cpu", "meta"), "auto") == ("meta", ())
    assert placed(only_on("cpu", "meta"), "cuda:0") == ("meta", ())


def test_where_no_device_was_asked_for_the_processor_is_taken_with_a_note() -> None:
    assert placed(only_on("cpu"), "auto") == ("cpu", (f"the network runs on the processor, and not on meta: {APART}",))


def test_a_device_that_was_asked_for_is_refused_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"not on meta .*device=x\.device .*or ask for the device 'cpu'$") as told:
        placed(only_on("cpu"), "cuda:0")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["auto", "cuda:0", "cpu"])
def test_what_runs_nowhere_is_told_as_on_the_processor(name: str) -> None:
    with pytest.raises(LayerError, match=r"^layer mix raised"):
        placed(only_on(), name)


def test_memory_of_a_gpu_that_does_not_suffice_is_told() -> None:
    def make(device: torch.device) -> str:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        placed(make, "auto")


def test_a_network_that_runs_on_the_processor_only_is_checked_there(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(KEEPS)
    engine = LocalEngine({}, trust=True)
    state = State(f"{tmp_path}/net.py:Net")
    (report,) = audit(engine, state, "C4", "float64", None, {})
    assert report.holds
    assert any(note.startswith("the network runs on the processor, and not on meta: ") for note in report.warnings)
    frame = engine.answer(state, lambda: False)
    assert frame.device == "cpu"
    assert any("and not on meta" in note for note in frame.model_notes)
