"""Check traces of networks: order, names, field types, spacing, receptive field; and that it leaves no trace."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.groups import group
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import INVARIANT, FieldType, Regular, Scalar
from explorer.network.inner.attention import Watch
from explorer.network.tracing.layers import FORWARD, OUTPUT, LayerError, Trace
from explorer.network.tracing.running import evaluating, first_tensor
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import Grid, grid, regular

IMAGE = grid(Scalar(intensity=True))


def image(side: int = 9, channels: int = 1) -> Tensor:
    return torch.randn(2, channels, side, side)


def seen(model: nn.Module, x: Tensor | None = None, **options: Any) -> Trace:
    return trace(model, image() if x is None else x, IMAGE, **options)


def hooks(model: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.conv(self.relu(self.conv(x))))


class Residual(nn.Module):
    """A block whose sum is functional code."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class Structured(nn.Module):
    """Layers that return a dict and a tuple."""

    class Both(nn.Module):
        def forward(self, x: Tensor) -> dict[str, Any]:
            return {"maps": [x * 2], "size": 3}

    class Pair(nn.Module):
        def forward(self, x: Tensor) -> tuple[Tensor, None]:
            return x.mean((2, 3)), None

    def __init__(self) -> None:
        super().__init__()
        self.both, self.pair = self.Both(), self.Pair()

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"scores": self.pair(self.both(x)["maps"][0])[0]}


def test_names_and_order_are_those_of_named_modules() -> None:
    model = nn.Sequential(
        OrderedDict(
            first=nn.Conv2d(1, 2, 3), block=nn.Sequential(nn.ReLU(), nn.Conv2d(2, 3, 3)), head=nn.AdaptiveAvgPool2d(1)
        )
    )
    found = seen(model)
    assert [layer.name for layer in found.layers] == ["first", "block.0", "block.1", "block", "head"]
    assert {layer.name for layer in found.layers} == {n for n, _ in model.named_modules() if n}
    assert found.output == "head" and not found.clones
    assert [layer.leaf for layer in found.layers] == [True, True, True, False, True]
    assert [layer.kind for layer in found.layers][:2] == ["Conv2d", "ReLU"]
    assert found["block.1"].shape == (2, 3, 5, 5) and found["block.1"].shape_in == (2, 2, 7, 7)
    assert found["block"].params == 2 * 3 * 9 + 3
    assert [layer.rank for layer in found.layers] == [1, 1, 2, 2, 2]


def test_a_module_called_again_has_a_number() -> None:
    found = seen(Twice())
    assert [layer.name for layer in found.layers] == ["conv", "relu", "conv#2", "relu#2"]
    assert [(layer.module, layer.call) for layer in found.layers] == [
        ("conv", 0),
        ("relu", 0),
        ("conv", 1),
        ("relu", 1),
    ]
    assert found["conv#2"].receptive == 2 and found["conv#2"].rank == 2
    assert found.output == "relu#2"


def test_a_shared_module_keeps_its_first_name() -> None:
    conv = nn.Conv2d(1, 1, 3, padding=1)
    assert [layer.name for layer in seen(nn.Sequential(conv, nn.ReLU(), conv)).layers] == ["0", "1", "0#2"]


def test_dicts_tuples_and_functional_results() -> None:
    found = seen(Structured())
    assert [layer.name for layer in found.layers] == ["both", "pair"]
    assert found["both"].field == grid().guess() and found["pair"].field == INVARIANT.guess()
    assert first_tensor({"a": [None, (3, torch.ones(2))]}) is not None
    assert first_tensor([None, {"a": 1}, "text"]) is None


class Functional(nn.Module):
    def __init__(self, end: str = "mean") -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.conv.out_rep = Regular(group("C4"))
        self.end = end

    def forward(self, x: Tensor) -> Any:
        h = F.relu(self.conv(x))
        match self.end:
            case "mean":
                return h.mean((2, 3))
            case "maps":
                return h * 2
            case "flat":
                return h.flatten(1)
            case "text":
                return "nothing"
        return x


@pytest.mark.parametrize(
    ("end", "field", "radius"),
    [
        ("mean", "point regular(C4)", math.inf),
        ("maps", "grid regular(C4)", 1),
        ("flat", "grid regular(C4) flat 9x9", 1),
        ("x", "grid intensity", 0),
    ],
)
def test_functional_code_at_the_end_is_inferred_from_its_shape(end: str, field: str, radius: float) -> None:
    found = seen(Functional(end))
    last = found.layers[-1]
    assert [layer.name for layer in found.layers] == ["conv", OUTPUT] and found.output == OUTPUT
    assert str(last.field) == field and last.kind == "forward" and last.inputs == ()
    assert not last.alone and last.receptive == radius  # found by trial


def test_a_network_that_returns_no_tensor_is_refused() -> None:
    with pytest.raises(LayerError, match="the network returned str, which holds no tensor") as caught:
        seen(Functional("text"))
    assert caught.value.where == OUTPUT


def test_the_result_has_another_name_where_a_layer_is_called_output() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.output = nn.Conv2d(1, 2, 3)

        def forward(self, x: Tensor) -> Tensor:
            return self.output(x).softmax(1)

    assert [layer.name for layer in seen(Named()).layers] == ["output", FORWARD]


def test_a_residual_sum_keeps_the_field_of_its_shape() -> None:
    conv = nn.Conv2d(8, 8, 3, padding=1)
    conv.out_rep = Regular(group("D4"))
    lift = nn.Conv2d(1, 8, 5, padding=2)
    lift.out_rep = Regular(group("D4"))
    found = seen(nn.Sequential(lift, Residual(conv), nn.ReLU()))
    block = found["1"]
    assert block.field == regular("D4").guess() and not block.leaf
    assert block.receptive == 3 and block.alone and block.inputs == (regular("D4"),)
    assert found["2"].field == regular("D4").guess()  # hands on the guess as a guess


@pytest.mark.parametrize(
    ("layers", "spacing", "radius"),
    [
        ([nn.Conv2d(1, 1, 3)], 1, 1),
        ([nn.Conv2d(1, 1, 5, padding=2), nn.Conv2d(1, 1, 3, padding=1)], 1, 3),
        ([nn.Conv2d(1, 1, 3, dilation=2, padding=2)], 1, 2),
        ([nn.Conv2d(1, 1, 3, stride=2, padding=1), nn.Conv2d(1, 1, 3, padding=1)], 2, 1 + 2),
        ([nn.Conv2d(1, 1, 3, stride=2, padding=1)] * 2 + [nn.MaxPool2d(3, 2, 1)], 8, 1 + 2 + 4),
        ([nn.AvgPool2d(2), nn.Conv2d(1, 1, 3)], 2, 0.5 + 2 + 0.5),  # 17 = 2 * 8 + 1: samples lie half a step off
        ([nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.ReLU(), nn.Dropout()], 1, 0),
        ([nn.ConvTranspose2d(1, 1, 2, stride=2)], 0.5, 0.5),
        ([nn.AdaptiveAvgPool2d(4)], 4, 17 / 4),
        ([nn.Conv2d(1, 1, 3), nn.AdaptiveAvgPool2d(1)], math.inf, math.inf),
        ([nn.Conv2d(1, 1, 3), nn.GroupNorm(1, 1)], 1, math.inf),
        ([nn.InstanceNorm2d(1)], 1, math.inf),
        ([nn.Conv2d(1, 1, (1, 5))], 1, 2),
    ],
)
def test_spacing_and_receptive_radius_are_the_closed_forms(
    layers: list[nn.Module], spacing: float, radius: float
) -> None:
    last = seen(nn.Sequential(*layers).eval(), image(17)).layers[-1]
    assert last.field is not None and last.field.spacing == spacing
    assert last.receptive == radius


class Rolled(nn.Conv2d):
    """Derives from a convolution, and sees farther than its kernel says."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + x.roll(3, -1)


class Widening(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 5, padding=2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.relu(nn.functional.conv2d(self.conv(x), torch.ones(1, 1, 3, 3), padding=1))


@pytest.mark.parametrize(
    ("layers", "least", "most"),
    [
        ([Rolled(1, 1, 3, padding=1)], 3, 3),
        ([nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular"), Rolled(1, 1, 3, padding=1)], 4, 4),
        ([Widening()], 3, 3),
        ([Widening(), nn.BatchNorm2d(1), Widening()], 6, 6),
        ([nn.ReflectionPad2d(2), nn.Conv2d(1, 1, 5)], 2, 4),  # near an edge a mirrored pixel lies twice as far
        ([nn.Conv2d(1, 1, 3, stride=2, padding=1), nn.Upsample(scale_factor=2)], 1.5, 3),
        ([nn.ZeroPad2d((4, 0, 0, 0)), nn.Conv2d(1, 1, 1)], 2, 2),  # all is seen 2 pixels from where it lies
    ],
)
def test_the_radius_of_other_layers_is_found_by_trial(layers: list[nn.Module], least: float, most: float) -> None:
    network = nn.Sequential(*layers).eval()
    torch.manual_seed(3)  # those that the tests were collected with hang on what was collected before
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.BatchNorm2d):
            module.reset_parameters()
    assert least <= seen(network, image(17)).layers[-1].receptive <= most


def test_a_mirror_in_a_network_sees_all_of_the_image() -> None:
    class Mirrored(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + x.flip(-1)

    assert math.isinf(seen(Mirrored(), image(17)).layers[-1].receptive)


@pytest.mark.parametrize("side", [32, 33])
def test_the_receptive_radius_bounds_what_a_value_depends_on(side: int) -> None:
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1),
        nn.Conv2d(2, 2, 5, stride=2, padding=2),
        nn.AvgPool2d(2),
        nn.Conv2d(2, 1, 3, dilation=2),
    ).eval()
    x = image(side).requires_grad_(True)
    found = seen(model, x)
    values: Tensor = x
    for name, module in model.named_children():
        values = module(values)
        layer = found[name]
        assert layer.field is not None
        row, column = values.shape[-2] // 2, values.shape[-1] // 2
        (gradient,) = torch.autograd.grad(values[0, :, row, column].sum(), x, retain_graph=True)
        rows = gradient[0, 0].abs().sum(1).nonzero().flatten() - (side - 1) / 2
        centre = (row - (values.shape[-2] - 1) / 2) * layer.field.spacing
        assert float((rows - centre).abs().max()) <= layer.receptive
        assert float((rows - centre).abs().max()) > layer.receptive - 1.01  # and is no wild guess


def test_flatten_and_dense_layers() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.Flatten(), nn.ReLU(), nn.Linear(2 * 81, 5), nn.ReLU())
    found = seen(model)
    flat = FieldType(Grid(1, (9, 9))).guess()
    assert [found[str(k)].field for k in range(1, 5)] == [flat, flat, INVARIANT.guess(), INVARIANT.guess()]
    assert [found[str(k)].receptive for k in range(1, 5)] == [1, 1, math.inf, math.inf]
    assert found["3"].inputs == (flat,) and found["3"].alone


def test_what_is_declared_and_what_is_guessed() -> None:
    lift, mix = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
    lift.out_rep = Regular(group("C8"))
    pool = nn.AdaptiveAvgPool2d(1)
    pool.out_field = grid(spacing=math.inf)
    model = nn.Sequential(lift, nn.ReLU(), mix, pool)
    assert [layer.field for layer in seen(model).layers] == [
        regular("C8"), regular("C8"), grid().guess(), grid(spacing=math.inf)
    ]  # fmt: skip
    assert not any(layer.field.guessed for layer in seen(model, declared=True).layers if layer.field)


def test_guesses_can_be_corrected() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1))
    found = seen(model, overrides={"0": "grid regular(C4)"})
    assert [layer.field for layer in found.layers] == [regular("C4"), regular("C4"), grid().guess()]
    assert seen(Functional("maps"), overrides={OUTPUT: "grid scalar"})[OUTPUT].field == grid()


@pytest.mark.parametrize(
    ("overrides", "error", "message"),
    [
        ({"9": "grid scalar"}, KeyError, "no layer is called '9'"),
        ({"0": "maps"}, ValueError, "unknown field type 'maps'"),
        ({"0": "grid regular(C3)"}, ValueError, r"layer 0 gives \(2, 4, 9, 9\), which .* type 'grid regular\(C3\)'"),
        ({"0": "invariant"}, ValueError, "layer 0 gives"),
        ({"1": "grid scalar flat 2x2"}, ValueError, "layer 1 gives"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(
    overrides: dict[str, str], error: type[Exception], message: str
) -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU())
    with pytest.raises(error, match=message) as caught:
        seen(model, overrides=overrides)
    assert not isinstance(caught.value, LayerError) and hooks(model) == 0


def test_values_of_an_unknown_kind_have_no_field() -> None:
    found = seen(nn.Sequential(nn.Flatten(2), nn.Linear(81, 25)))
    assert [layer.field for layer in found.layers] == [None, None]
    assert found["1"].inputs == (None,) and not found["1"].alone


class Chooser(nn.Module):
    """Raises in a chosen place."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.block = nn.Sequential(nn.ReLU(), nn.Conv2d(2 if where != "block.1" else 7, 2, 3))
        self.where = where

    def forward(self, x: Tensor) -> Tensor:
        x = self.block(self.conv(x))
        if self.where == "":
            raise RuntimeError("after all layers")
        return x


@pytest.mark.parametrize("where", ["block.1", ""])
def test_an_error_names_the_layer_and_leaves_no_hooks(where: str) -> None:
    model = Chooser(where)
    named = f"layer {where}" if where else "the network's forward"
    with pytest.raises(LayerError, match=f"^{named} raised RuntimeError: ") as caught:
        seen(model)
    assert caught.value.where == where and hooks(model) == 0


def test_an_error_that_the_network_itself_handles_does_no_harm() -> None:
    class Careful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bad, self.good = nn.Conv2d(5, 1, 3), nn.Conv2d(1, 1, 3)

        def forward(self, x: Tensor) -> Tensor:
            try:
                return self.bad(x)
            except RuntimeError:
                return self.good(x)

    assert [layer.name for layer in seen(Careful()).layers] == ["good"]


def test_nothing_is_left_behind() -> None:
    model, x = nn.Sequential(nn.ReLU(inplace=True), nn.Conv2d(1, 1, 3)), image()
    before = x.clone()
    found = seen(model, x)
    assert found.clones and torch.equal(x, before)  # the first layer works in place, but not on what was given
    assert hooks(model) == 0


@pytest.mark.parametrize("inplace", [True, False])
def test_overwritten_values_are_noticed(inplace: bool) -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 3, padding=1)

        def forward(self, x: Tensor) -> Tensor:
            h = self.conv(x)
            if inplace:
                h += x  # as in many residual networks
            else:
                h = h + x
            return h

    assert seen(Sum()).clones is inplace


def test_modes_random_state_and_precision_come_back() -> None:
    model = nn.Sequential(nn.Dropout(), nn.BatchNorm2d(1), nn.Sequential(nn.Dropout()))
    model[1].eval()
    modes = [m.training for m in model.modules()]
    state = torch.get_rng_state()
    tf32 = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    for fails in (False, True):
        try:
            with evaluating(model):
                assert not any(m.training for m in model.modules())
                assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
                torch.rand(3)
                if fails:
                    raise RuntimeError
        except RuntimeError:
            assert fails
        assert [m.training for m in model.modules()] == modes
        assert torch.equal(torch.get_rng_state(), state)
        assert (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32) == tf32


def test_fields_written_by_the_trace_can_be_read() -> None:
    for model in (Functional("flat"), Functional("mean"), Twice(), nn.Sequential(nn.Conv2d(1, 8, 3, stride=2))):
        for layer in seen(model).layers:
            assert layer.field is not None and parse_field(str(layer.field)) == layer.field.declared()


def test_what_hooks_look_at_passes_unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mode hears of every attribute of a tensor: of the trace's own that was a third of its time."""
    heard: list[object] = []
    watched = Watch.__torch_function__

    def counted(self: Watch, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        heard.append(func)
        return watched(self, func, types, args, kwargs)

    monkeypatch.setattr(Watch, "__torch_function__", counted)
    layers = 20
    model = nn.Sequential(*(nn.Conv2d(1, 1, 1) for _ in range(layers))).eval()
    trace(model, torch.rand(1, 1, 5, 5), IMAGE)
    assert layers <= sum(func is torch.conv2d or "conv" in getattr(func, "__name__", "") for func in heard)
    assert len(heard) < 12 * layers
