"""`inspect`: what it tells of any module, and that it leaves no trace in it."""

from __future__ import annotations

import json
import random
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import equiscope
from equiscope import Regular, check_equivariance, group, inspect
from explorer.network.tracing.layers import LayerError

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]


def network() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(inplace=True), nn.Sequential(nn.Conv2d(4, 2, 3, stride=2, padding=1)),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 3),
    )  # fmt: skip


def test_the_tree_and_the_calls() -> None:
    found = inspect(network(), torch.rand(2, 1, 9, 9))
    assert [row.name for row in found.modules] == ["", "0", "1", "2", "2.0", "3", "4", "5"]
    assert [call.name for call in found.calls] == ["0", "1", "2.0", "2", "3", "4", "5", ""]
    assert found.parameters == 40 + 74 + 9 == found.module("").trainable and found.module("2").parameters == 74
    assert found["2.0"].given == ((2, 4, 9, 9),) and found["2.0"].shapes == ((2, 2, 5, 5),)
    assert found["0"].dtypes == ("float32",) and found.module("5").bytes == 36
    assert found["0"].field == "grid scalar" and found["2.0"].field == "grid scalar /2" and found["5"].guessed
    assert found["0"].receptive == 1.0 and "0" in found and "nope" not in found


def test_every_guess_has_its_reason() -> None:
    class Lift(nn.Module):
        out_rep = Regular(group("C4"))

        def forward(self, x: Tensor) -> Tensor:
            return x.repeat(1, 4, 1, 1)

    found = inspect(nn.Sequential(Lift(), nn.ReLU(), *network()[2:4]), torch.rand(1, 1, 9, 9))
    said = {call.name: call.reason for call in found.calls}
    assert said["0"] == "its out_rep declares it" and not found["0"].guessed
    assert said["1"] == "it keeps the declared field of its input" and found["1"].field == found["0"].field
    assert said["2.0"] == "its shape leaves places at a spacing of 2" and said["3"] == "one place is left"
    plain = inspect(network(), torch.rand(1, 1, 9, 9))
    assert plain["0"].reason == "nothing says how a Conv2d arranges its channels"
    assert plain["1"].reason == "a ReLU is taken to keep the field of its input"
    assert plain["4"].reason == "its shape leaves no places" and plain[""].reason.startswith("a layer inside made it")
    assert all(call.reason for call in plain.calls)


def test_any_call_is_described() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.twice = nn.Linear(3, 3)

        def forward(self, x: Tensor, *, more: dict[str, Any]) -> dict[str, Any]:
            return {"a": self.twice(self.twice(x)), "b": more["k"].long(), "c": "text"}

    found = inspect(Odd(), torch.rand(5, 3), more={"k": torch.rand(2)})
    assert found["twice#2"].module == "twice" and found.module("twice").calls == ("twice", "twice#2")
    assert found[""].given == ((5, 3), (2,)) and found[""].dtypes == ("float32", "int64")
    assert "no field types" in found.notes[0]
    tokens = inspect(nn.Embedding(5, 3), torch.tensor([[1, 2]]))
    assert tokens[""].shapes == ((1, 2, 3),) and tokens[""].field == ""
    assert inspect(nn.LSTM(3, 4), torch.rand(7, 1, 3))[""].shapes == ((7, 1, 4), (1, 1, 4), (1, 1, 4))
    assert inspect(nn.LazyLinear(3), torch.rand(2, 4)).parameters == 15
    assert inspect(network()).calls == () and "it was not called" not in inspect(network()).text()


def test_inputs_of_every_maker_have_fields() -> None:
    class Hear(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return x.index_add(0, edge_index[1], x[edge_index[0]])

    x, edges = torch.rand(4, 3), torch.tensor([[0, 1, 2], [1, 2, 3]])
    for found in (
        inspect(Hear(), x, edges),
        inspect(Hear(), equiscope.graph(x, edges)),
        inspect(Hear(), {"x": x, "edge_index": edges}),
    ):
        assert found[""].shapes == ((4, 3),)
    assert inspect(Hear(), x, edges)[""].field.startswith("node")
    steps = inspect(nn.Conv1d(3, 2, 3, padding=1), equiscope.sequence(torch.rand(20, 3), "NCT"))
    assert steps[""].field.startswith("step")
    given = inspect(nn.ReLU(), torch.rand(1, 4, 5, 5), x_field=equiscope.fields.regular("C4"))
    assert given[""].field == "grid regular(C4)"


def test_activations_are_copies() -> None:
    model, x = network(), torch.rand(2, 1, 9, 9)
    found = inspect(model, x, activations=["0", "1"])
    assert list(found.activations) == ["0", "1"]
    assert torch.equal(found.activations["0"], model[0](x))  # though the next layer worked in place
    assert torch.equal(found.activations["1"], model[0](x).relu())
    assert list(inspect(model, x, activations=True).activations) == ["0", "1", "2.0", "2", "3", "4", "5", ""]
    with pytest.raises(TypeError):
        found.activations["0"] = x  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        found.model = "other"  # type: ignore[misc]
    with pytest.raises(KeyError, match=r"no call is named '2\.1'; did you mean '2\.0'"):
        inspect(model, x, activations=["2.1"])


def test_it_is_written_as_text_html_and_json() -> None:
    found = inspect(network(), torch.rand(2, 1, 9, 9))
    lines = str(found).splitlines()
    assert lines[0].startswith("Sequential: 7 modules, 123 parameters, 123 of them trained")
    assert any(line.startswith("  0  ") and "(2, 2, 5, 5)" in line for line in lines)
    html = next(getattr(found, name) for name in dir(found) if name.endswith("repr_html_"))()  # as a notebook asks
    assert html.startswith("<pre>Sequential") and "&lt;" not in html
    again = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert again["calls"][0]["name"] == "0" and again["modules"][0]["parameters"] == 123


def test_what_is_wrong_is_told() -> None:
    found = inspect(network(), torch.rand(2, 1, 9, 9))
    with pytest.raises(KeyError, match=r"no call '2\.7'; did you mean '2\.0'"):
        found["2.7"]
    with pytest.raises(KeyError, match="no module 'nope'; there are '', '0', '1'"):
        found.module("nope")
    with pytest.raises(TypeError, match=r"not of type type; ReLU\(\) makes one"):
        inspect(nn.ReLU, torch.rand(1))  # type: ignore[arg-type]
    with pytest.raises(LayerError, match=r"^layer 5 raised RuntimeError") as caught:
        inspect(nn.Sequential(*network()[:5], nn.Linear(7, 1)), torch.rand(1, 1, 9, 9))
    assert caught.value.where == "5"
    for ask in (inspect, check_equivariance):
        with pytest.raises(LayerError, match=r"0\.weight is on the meta device and holds no values"):
            ask(network().to("meta"), torch.rand(1, 1, 9, 9))
    with pytest.raises(ValueError, match="the data is on the device 'meta'"):
        check_equivariance(network(), torch.rand(1, 1, 9, 9, device="meta"))


def test_code_for_a_gpu_that_is_not_there_is_named() -> None:
    class There(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.to("cuda:99")

    with pytest.raises(LayerError, match=r"layer 0 raised \w+: ") as caught:
        check_equivariance(nn.Sequential(There()), torch.rand(1, 1, 9, 9), "C4")
    assert caught.value.where == "0"


class Drawing(nn.Module):
    """Draws from three generators, counts its calls, and writes into its input."""

    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2d(2)

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        x += float(torch.rand(())) + random.random() + float(np.random.rand())  # noqa: NPY002
        return self.norm(self.conv(x))


def everything(model: nn.Module) -> list[Any]:
    """Return all that a measurement could change: of the network, and of what is drawn next."""
    kept: list[Any] = [(n, v.clone(), v.device, v.dtype) for n, v in model.state_dict().items()]
    kept += [(p.grad, p.requires_grad) for p in model.parameters()]
    kept += [(m.training, dict(m._forward_hooks), dict(m._forward_pre_hooks)) for m in model.modules()]
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    return [*kept, *states, torch.get_default_dtype(), torch.is_grad_enabled()]


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return torch.equal(one, other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ask", [inspect, lambda m, x: check_equivariance(m, x, "C4", dtype=None)])
def test_the_network_is_left_as_it_was(ask: Any, dtype: torch.dtype, device: str) -> None:
    model = Drawing().to(device, dtype).train()
    model.conv.weight.grad = torch.ones_like(model.conv.weight)
    x = torch.rand(1, 1, 9, 9, device=device, dtype=dtype, requires_grad=True)
    before, given = everything(model), x.detach().clone()
    ask(model, x)
    assert alike(before, everything(model))
    assert torch.equal(x, given) and x.grad is None and x.requires_grad
    assert bool((model.conv.weight.grad == 1).all())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, None])
def test_precisions_and_devices(dtype: torch.dtype | None, device: str) -> None:
    model = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular").to(device)
    report = equiscope.assert_equivariant(model, torch.rand(1, 1, 8, 8), "translation", dtype=dtype)
    assert report.device.startswith(device) and report.dtype == str(dtype or torch.float32).removeprefix("torch.")
    with pytest.raises(AssertionError, match="the law is broken"):
        equiscope.assert_equivariant(model, torch.rand(1, 1, 8, 8), "C4", dtype=dtype)


def compiled_inside() -> nn.Module:
    model = network()
    model.compile(backend="eager")
    return model


@pytest.mark.parametrize(
    "wrapped", [lambda: torch.compile(network(), backend="eager"), compiled_inside, lambda: nn.DataParallel(network())]
)
def test_what_wraps_a_network_is_looked_through(wrapped: Any) -> None:
    model = wrapped()
    assert [row.name for row in inspect(model, torch.rand(2, 1, 9, 9)).modules][1:3] == ["0", "1"]
    assert check_equivariance(model, torch.rand(2, 1, 9, 9), "C4").guilty == ("0", "2.0")


def test_inside_inference_mode() -> None:
    torch.manual_seed(0)
    model = nn.Conv2d(1, 2, 3)
    with torch.inference_mode():
        assert check_equivariance(model, torch.rand(1, 1, 8, 8), "C4").verdict == "broken"
        assert inspect(model, torch.rand(1, 1, 8, 8))[""].shapes == ((1, 2, 6, 6),)


def test_the_first_line_of_a_failure_says_what_matters() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.Conv2d(2, 2, 3, padding=1))
    report = check_equivariance(model, torch.rand(1, 1, 8, 8), "C4")
    first = report.first_broken
    assert first is not None and first.name == "0" == report.guilty[0]
    assert report.sentence() == (
        f"Sequential under C4: the law is broken, first in layer '0' (Conv2d): local error {first.local_max:.2g}, "
        f"tolerance {first.local_tolerance:.2g}, floor {first.floor:.2g}, chance {first.chance:.2g}"
    )
    with pytest.raises(AssertionError) as caught:
        equiscope.assert_equivariant(model, torch.rand(1, 1, 8, 8), "C4", seed=0)
    assert str(caught.value).splitlines()[0].startswith("Sequential under C4: the law is broken, first in layer '0'")
    holds = check_equivariance(nn.ReLU(), torch.rand(1, 1, 8, 8), "C4")
    assert holds.first_broken is None and holds.sentence() == "ReLU under C4: the law holds"
    untested = check_equivariance(nn.ReLU(), torch.rand(1, 1, 8, 8), "SO2")
    assert untested.verdict == "no law" and untested.sentence().endswith("no law could be tested")
    with pytest.raises(AssertionError, match="no law could be tested"):
        equiscope.assert_equivariant(nn.ReLU(), torch.rand(1, 1, 8, 8), "SO2")


def test_code_between_the_layers_is_where_the_fault_first_shows() -> None:
    class Between(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x: Tensor) -> Tensor:
            return self.act(x + torch.arange(x.shape[-1], dtype=x.dtype))

    report = check_equivariance(Between(), torch.rand(1, 1, 8, 8), "C4")
    assert report.first_broken is not None and report.first_broken.name == "act"
    assert "first in layer 'act' (ReLU): error " in report.sentence()


def test_another_precision_is_named() -> None:
    with pytest.raises(LayerError, match=r"its weights are float16, and it was given float32\)"):
        inspect(nn.Conv2d(1, 2, 3).half(), torch.zeros(1, 1, 9, 9))
