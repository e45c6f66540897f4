"""Audits of `check`: on real data of the kind that the network was made for, and no verdict on what breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.data.choosing import several
from explorer.data.finding import fitted, samples
from explorer.declare.elements import parse_chain
from explorer.equivariance.verdict.outcome import Report
from explorer.network.opening.refusals import Unknown
from explorer.network.tracing.layers import LayerError
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.grid.network.form import InputSpec
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS, card, symmetric_net

REPOSITORIES = Path(__file__).parents[3] / "foreign" / "networks" / "repositories" / "theirs"


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    made = LocalEngine(CARDS)
    yield made
    made.close()


def test_a_network_that_breaks_on_moved_data_gets_no_verdict(tmp_path: Path) -> None:
    class First(nn.Module):
        """Infinite as soon as the top row of the picture has ink."""

        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Identity()

        def forward(self, x: Tensor) -> Tensor:
            top = x[..., 0, :].abs().amax((1, 2), keepdim=True)[..., None]
            return self.inner(x / (top < 0.5))

    engine = LocalEngine({"brittle": card("brittle", First)})
    values = np.zeros((1, 29, 29), np.float32)
    values[:, 20:] = 1.0
    low = str(tmp_path / "low.npy")
    np.save(low, values)
    with pytest.raises(LayerError, match="NaN"):
        audit(engine, State("brittle", sample=low), "D4", "float64", None, {})
    with pytest.raises(LayerError, match="NaN"):
        engine.report(State("brittle", sample=low, steps=parse_chain("rotate:180")))


def test_an_audit_uses_real_data_of_the_same_kind(engine: LocalEngine) -> None:
    reports = audit(engine, State("faulty"), "", "float64", None, {})
    assert [r.group for r in reports] == ["C4", "D4"] and {r.samples for r in reports} == {4}
    assert {r.guilty for r in reports} == {("2",)} and all(r.dtype == "float64" for r in reports)
    one = audit(engine, State("faulty", sample="digit-1"), "D4", "float32", None, {})
    assert one[0].samples == 1 and one[0].dtype == "float32"


def test_of_a_large_network_fewer_samples_are_taken_and_that_is_told(
    engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ViT-base on 224 x 224 would have held 28 GB."""
    monkeypatch.setattr("explorer.app.command.audit.MOST", 1)
    (report,) = audit(engine, State("faulty"), "D4", "float64", None, {})
    assert report.guilty == ("2",) and report.samples < 4
    (told,) = (note for note in report.warnings if "samples were taken" in note)
    assert told.startswith("1 of 4 samples were taken: the values of all layers on one are ")


@pytest.mark.parametrize(
    ("domain", "given", "sample"),
    [
        ("grid", InputSpec((1, 29, 29)), "digit-3"),
        ("grid", InputSpec((3, 32, 32)), "photo-china"),
        ("graph", GraphInput(channels=6), "karate"),
        ("graph", GraphInput(channels=6, most=20), "path-20"),
        ("graph", GraphInput(channels=8, signals=("x", "edge_index", "edge_attr"), features="atoms"), "caffeine"),
        ("graph", GraphInput(channels=3, signals=("x", "edge_index", "position"), features="position"), "knn-torus"),
        ("set", GraphInput(channels=10, signals=("x",)), "digit-set-5"),
        ("set", GraphInput(channels=3, signals=("x", "batch"), features="position", most=512), "torus"),
    ],
    ids=str,
)
def test_a_check_draws_what_the_network_takes(domain: str, given: Any, sample: str) -> None:
    """An image network is never given a set because their names begin alike."""
    found = several(card("any", symmetric_net, domain=domain, input=given, sample=sample), 4)
    assert found[0] == sample and len(set(found)) == len(found) > 1
    for name in found:
        assert samples()[name].domain == domain
        assert fitted(samples()[name].make(), given).domain == domain
    if domain == "grid":
        assert {name.split("-")[0] for name in found} == {sample.split("-")[0]}


STEERABLE = """
import torch, torch.nn.functional as F
from torch import nn
from explorer.declare.groups import group
from explorer.declare.types.fields import Regular, Scalar

class Lift(nn.Module):
    out_rep = Regular(group("C4"))
    def __init__(self, turns):
        super().__init__()
        self.weight, self.turns = nn.Parameter(torch.randn(3, 1, 3, 3)), turns
    def forward(self, x):
        filters = [self.weight.rot90(k, (-2, -1)) for k in self.turns]
        return torch.stack([F.conv2d(x, w, padding=1) for w in filters], 2).flatten(1, 2)

class Mean(nn.Module):
    out_rep = Scalar()
    def forward(self, x):
        return x.unflatten(1, (-1, 4)).mean(2)

class Net(nn.Module):
    input_shape = (1, None, None)
    def __init__(self, *turns):
        super().__init__()
        self.lift, self.act, self.mean = Lift(turns), nn.ReLU(), Mean()
        self.last = nn.Conv2d(3, 2, 1)
    def forward(self, x):
        return self.last(self.mean(self.act(self.lift(x))))

def sound():
    return Net(0, 1, 2, 3)

def faulty():
    return Net(0, 1, 1, 3)
"""


@pytest.mark.parametrize("maker", ["sound", "faulty"])
def test_a_network_is_tested_with_the_group_that_its_types_know(maker: str, tmp_path: Path) -> None:
    """Under mirrors, which nobody has claimed, the sound one was called broken and its first layer blamed."""
    (tmp_path / "net.py").write_text(STEERABLE)
    engine = LocalEngine({}, trust=True)
    (report,) = audit(engine, State(f"{tmp_path}/net.py:{maker}"), "", "float64", None, {}, details=False)
    assert report.group == "C4" and report.verdict == ("holds" if maker == "sound" else "broken")
    assert report.guilty == (() if maker == "sound" else ("lift",))
    assert any("has no action, so C4 was tested" in note for note in report.warnings)
    (asked,) = audit(engine, State(f"{tmp_path}/net.py:{maker}"), "D4", "float64", None, {}, details=False)
    assert asked.group == "D4" and asked.verdict == "broken"
    engine.close()


FRAMES = """
import torch
from torch import nn


class Frames(nn.Module):
    \"\"\"Places in a frame that the points themselves make: symmetric ones leave it open.\"\"\"

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.out = nn.Linear(3, 4)

    def forward(self, pos):
        c = pos - pos.mean(0)
        far = c.norm(dim=-1, keepdim=True)
        u, v = (far * c).sum(0), (far ** 2 * c).sum(0)
        first = u / u.norm()
        second = v - (v @ first) * first
        second = second / second.norm()
        third = torch.linalg.cross(first, second)
        return self.out(c @ torch.stack([first, second, third], 1)).amax(0)
"""


def test_a_symmetric_sample_that_nobody_chose_leaves_no_network_without_a_verdict(tmp_path: Path) -> None:
    path = tmp_path / "frames.py"
    path.write_text(FRAMES)
    (report,) = audit(LocalEngine({}, trust=True), State(f"{path}:Frames"), "SE3", "float64", None, {})
    assert report.holds
    assert any("samples the network gives NaN or infinite values" in note for note in report.warnings)
    chosen = State(f"{path}:Frames", sample="ethanol-3d")
    (report,) = audit(LocalEngine({}, trust=True), chosen, "SE3", "float64", None, {})
    assert not any("NaN" in note for note in report.warnings)


SPECTRUM = """
import torch
from torch import nn


class Spectrum(nn.Module):
    \"\"\"Heat that the eigenvalues of a graph keep.\"\"\"

    def __init__(self, fault=0.0):
        super().__init__()
        torch.manual_seed(0)
        self.fault, self.out = fault, nn.Linear(3, 2)

    def forward(self, adj):
        values = torch.linalg.eigvalsh(torch.diag_embed(adj.sum(-1)) - adj)
        heat = torch.stack([torch.exp(-t * values).sum(-1) for t in (0.1, 0.5, 1.0)], -1)
        return self.out(heat + self.fault * adj[0].sum())
"""


@pytest.mark.parametrize(("fault", "verdict"), [("0.0", "holds"), ("1e-4", "broken")])
def test_a_matrix_between_nodes_may_be_all_that_is_given_of_a_graph(tmp_path: Path, fault: str, verdict: str) -> None:
    path = tmp_path / "spectrum.py"
    path.write_text(SPECTRUM.replace("fault=0.0", f"fault={fault}"))
    (report,) = audit(LocalEngine({}, trust=True), State(f"{path}:Spectrum"), "permutation", "float64", None, {})
    assert report.verdict == verdict


def test_a_network_of_which_nothing_says_what_it_takes_is_told_with_what_it_runs() -> None:
    engine = LocalEngine({}, trust=True)
    name = f"{REPOSITORIES / 'small.py'}:Pairs"
    with pytest.raises(Unknown) as caught:
        audit(engine, State(name), "", "float64", None, {})
    told = str(caught.value)
    assert "'set channels=3 axes=1NC' (permutation)" in told and "'sequence channels=3 layout=NTC' (shift)" in told
    assert "a dense layer of it takes" in told and "\n" not in told
    said = f"{name}[set channels=3 axes=1NC]"
    (report,) = audit(engine, State(said), "", "float64", None, {})
    assert report.holds and report.group == "permutation"
    engine.close()


def judged(folder: Path, source: str, name: str, group: str) -> Report:
    """Return the report on a network of somebody's file, on data that nobody chose."""
    path = folder / "net.py"
    path.write_text(source)
    engine = LocalEngine({}, trust=True)
    (report,) = audit(engine, State(f"{path}:{name}"), group, "float64", None, {})
    engine.close()
    return report


DRIFT = """
import torch
from torch import nn

class Drift(nn.Module):
    def __init__(self, drifts=True):
        super().__init__()
        self.net = nn.Conv1d(6, 8, 5, padding=2, padding_mode="circular")
        self.drifts = drifts

    def forward(self, x):
        x = x.clone()
        if self.drifts:
            x[:, 4] *= torch.linspace(1, 2, x.shape[-1], dtype=x.dtype)
        return torch.relu(self.net(x)).mean(-1)

class Half(Drift):
    def forward(self, x):
        h = torch.relu(self.net(x))
        return h[..., : h.shape[-1] // 2].mean(-1)

def sound():
    return Drift(False)
"""


@pytest.mark.parametrize(("name", "verdict"), [("sound", "holds"), ("Drift", "broken"), ("Half", "broken")])
def test_a_network_of_somebodys_is_tested_in_all_channels_and_on_what_does_not_repeat(
    tmp_path: Path, name: str, verdict: str
) -> None:
    """Of a sine in the first channel, zeros in the others show no fault there, nor does half of its periods."""
    report = judged(tmp_path, DRIFT, name, "circular-shift")
    assert report.verdict == verdict and report.samples == 2


FLUORINE = """
import torch
from torch import nn

class Energy(nn.Module):
    def __init__(self, leans=0.1):
        super().__init__()
        self.e, self.out, self.leans = nn.Embedding(20, 8), nn.Linear(9, 1), leans

    def forward(self, z, pos):
        apart = torch.cdist(pos, pos).sum(1, keepdim=True)
        y = self.out(torch.cat([self.e(z), apart], -1))
        return (y + self.leans * (z == 9).to(y.dtype)[:, None] * pos[:, 2:]).sum(0)

def sound():
    return Energy(0.0)
"""


@pytest.mark.parametrize(("name", "verdict"), [("sound", "holds"), ("Energy", "broken")])
def test_a_network_of_somebodys_is_tested_on_codes_that_the_sample_has_not(
    tmp_path: Path, name: str, verdict: str
) -> None:
    assert judged(tmp_path, FLUORINE, name, "E3").verdict == verdict


SIAMESE = """
import torch
from torch import nn

class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular")

    def forward(self, image, image2):
        return torch.relu(self.c(image) - self.c(image2))
"""


def test_chance_is_measured_on_another_second_image_too(tmp_path: Path) -> None:
    report = judged(tmp_path, SIAMESE, "Siamese", "translation")
    assert report.holds
    assert all(row.chance is not None and row.chance > 0.1 for row in report.layers if row.name in ("c", "c#2"))
    assert {"c", "c#2"} <= {row.name for row in report.layers}


CAPTIONED = """
import torch
from torch import nn

INPUT_SHAPE = {"image": (3, 16, 16), "input_ids": "12 below 50"}

class Captioned(nn.Module):
    def __init__(self, fault=0.1):
        super().__init__()
        self.c = nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular")
        self.e, self.fault = nn.Embedding(50, 8), fault

    def forward(self, image, input_ids):
        a, t = torch.relu(self.c(image)), self.e(input_ids).mean(1)
        a = a * torch.linspace(1, 1 + self.fault, a.shape[-1], dtype=a.dtype)
        return a * t[:, :, None, None]

def sound():
    return Captioned(0.0)
"""


@pytest.mark.parametrize(("name", "verdict"), [("sound", "holds"), ("Captioned", "broken")])
def test_a_text_beside_an_image_can_be_declared_and_said(tmp_path: Path, name: str, verdict: str) -> None:
    path = tmp_path / "captioned.py"
    path.write_text(CAPTIONED)
    engine, network = LocalEngine({}, trust=True), f"{path}:{name}"
    (report,) = audit(engine, State(network), "translation", "float64", None, {})
    assert report.verdict == verdict
    card = engine.card(network)
    ids = ",".join(map(str, range(12)))
    told = engine.sample(State(network, sample=f"image=random:1x3x16x16,input_ids=numbers:{ids}"), card)
    assert told.signals["input_ids"].values.tolist() == list(range(12))
    for wrong in ("numbers:1,2", "numbers:" + ",".join(["50"] * 12), "numbers:" + ",".join(["0.5"] * 12)):
        with pytest.raises(ValueError, match="input_ids takes 12 whole numbers from 0 to 49"):
            engine.sample(State(network, sample=f"image=random:1x3x16x16,input_ids={wrong}"), card)
    path.write_text(CAPTIONED.replace("INPUT_SHAPE", "NOTHING"))
    engine.close()
    engine = LocalEngine({}, trust=True)
    said = f"{network}[grid images=image:3x16x16,input_ids:12below50]"
    (report,) = audit(engine, State(said), "translation", "float64", None, {})
    assert report.verdict == verdict
    engine.close()


SHARES = """
import torch
from torch import nn
from torch.nn import functional as F


class Pyramid(nn.Module):
    def __init__(self, bins=1):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular")
        self.pool, self.head = nn.AdaptiveAvgPool2d(bins), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        h = self.stem(x).relu()
        return self.head(torch.cat([h, F.interpolate(self.pool(h), size=h.shape[-2:])], 1))


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.mix = nn.Conv2d(3, 4, 2, 2), nn.Linear(16, 16)

    def forward(self, x):
        h = self.embed(x)
        n, c, rows, columns = h.shape
        h = h.reshape(n, c, rows // 2, 2, columns // 2, 2).permute(0, 2, 4, 1, 3, 5).flatten(3)
        h = self.mix(h).unflatten(3, (c, 2, 2)).permute(0, 3, 1, 4, 2, 5)
        return h.reshape(n, c, rows, columns)
"""


def under_shifts(folder: Path, call: str) -> Report:
    path = folder / "net.py"
    path.write_text(SHARES)
    (report,) = audit(LocalEngine({}, trust=True), State(f"{path}:{call}"), "translation", "float64", None, {})
    return report


def test_shares_of_an_image_are_no_steps_of_a_network(tmp_path: Path) -> None:
    """Pooled to 2x2 a network keeps the law under shifts by half an image, and was tested under these alone."""
    assert under_shifts(tmp_path, "Pyramid(bins=1)").verdict == "holds"
    report = under_shifts(tmp_path, "Pyramid(bins=2)")
    assert report.verdict == "broken" and "+1,+0 px" in report.elements
    assert any("pool" in note for note in report.warnings) or "pool" in report.guilty


def test_data_that_nobody_chose_hold_whole_windows(tmp_path: Path) -> None:
    """Two steps to a side of a window: 30 pixels, 15 steps, do not run, and on 29 its first layer was blamed."""
    report = under_shifts(tmp_path, "Windows()")
    assert report["embed"].verdict == "holds" and "embed" not in report.guilty
    assert any("in steps of 4" in note for note in report.warnings)


OBJECTS = """
import torch
from torch import nn

class Bagged(nn.Module):
    def __init__(self, short=False):
        super().__init__()
        torch.manual_seed(0)
        self.short, self.phi, self.rho = short, nn.Linear(5, 8), nn.Linear(8, 2)

    def forward(self, batch):
        h, here = torch.relu(self.phi(batch["x"])), batch["mask"].to(batch["x"].dtype)
        if self.short:
            here = here * torch.arange(here.shape[1]).gt(0)
        return {"logits": self.rho((h * here[..., None]).sum(1) / here.sum(1, keepdim=True).clamp(min=1))}

Short = lambda: Bagged(True)
"""


@pytest.mark.parametrize(("name", "verdict"), [("Bagged", "holds"), ("Short", "broken")])
def test_a_set_and_its_mask_may_be_items_of_one_object(tmp_path: Path, name: str, verdict: str) -> None:
    assert judged(tmp_path, OBJECTS, name, "permutation").verdict == verdict
